"""`make serve-demo`: the service on the sample, with an owner and two analysts, gone when it is stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sulq.samples import randhie
from sulq.serve.config import ServiceSettings, account_of
from sulq.serve.console.visiting import HOME
from sulq.serve.keys import Keys
from sulq.serve.logs import log_to
from sulq.serve.server import Server

PORT = 8443
EPSILON, CAP = 4, 1
NAMES = {"olga": "owner", "ada": "analyst", "bob": "analyst"}


def serve_sample(port: int = PORT) -> None:
    """Serve the sample until the process is told to stop, and say with which keys.

    Args:
        port: the port to listen at, on this machine alone; 0 for any that is free.
    """
    with TemporaryDirectory() as folder:
        settings = ServiceSettings((), str(Path(folder, "curator.keys")), port=port)
        curator = randhie().curator(EPSILON, ledger=Path(folder, "people.ledger"))
        for name, scope in NAMES.items():
            if scope == "analyst":
                curator.ledger.set_cap(account_of(name), curator.offer.total * CAP / EPSILON)
        server = Server(settings, {"people": curator})
        with Keys(settings.keys) as keys:
            for name, scope in NAMES.items():
                print(f"{scope:8} {name:5} {keys.add(name, scope)}")  # type: ignore[arg-type]
        print(f"open {server.url}{HOME} and sign in with one of these keys; stop with Ctrl-C", flush=True)
        log_to(sys.stderr)
        server.run()


if __name__ == "__main__":
    serve_sample(int(sys.argv[1]) if len(sys.argv) > 1 else PORT)
