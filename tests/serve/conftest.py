"""A service, somebody who asks it, and its owner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.services import Client, Running, running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), limits={"rounds_a_minute": 100_000}) as service:
        yield service


@pytest.fixture(scope="module")
def ada(service: Running) -> Client:
    return service.client("ada")


@pytest.fixture(scope="module")
def owner(service: Running) -> Client:
    return service.client("olga", owner=True)
