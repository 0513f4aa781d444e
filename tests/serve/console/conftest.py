"""A service with a console, somebody who analyses, and its owner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.console.visitors import Visitor, console, visitor
from tests.serve.services import Running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with console(tmp_path_factory.mktemp("console")) as service:
        yield service


@pytest.fixture(scope="module")
def ada(service: Running) -> Visitor:
    return visitor(service)


@pytest.fixture(scope="module")
def olga(service: Running) -> Visitor:
    return visitor(service, "olga", owner=True)
