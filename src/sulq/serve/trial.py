"""A service to try things out with: in this process, at this machine alone, gone when the block ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sulq.oracles.curator import Curator
from sulq.serve.config import ServiceSettings
from sulq.serve.keys import Keys
from sulq.serve.schedule import Schedule
from sulq.serve.server import Server


@contextmanager
def trial(**curators: Curator) -> Iterator[tuple[str, str]]:
    """The address of a service, and a key of an analyst there.

    Args:
        curators: the data sets, by name.

    >>> import sulq
    >>> with trial(people=sulq.randhie().curator(epsilon=1)) as (url, key):
    ...     sulq.connect(url, key).promise
    'ε = 1 (pure)'
    """
    with TemporaryDirectory() as folder:
        settings = ServiceSettings((), str(Path(folder, "curator.keys")), port=0, schedule=Schedule(0.01))
        with Server(settings, curators) as server, Keys(settings.keys) as keys:
            yield server.url, keys.add("ada")
