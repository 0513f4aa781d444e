"""How properties are tried, for all tests. No example has a deadline: the machine may be busy."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.effort import EFFORT, examples
from tests.postgres import PostgresServer

settings.register_profile(EFFORT, max_examples=examples(100), deadline=None)
settings.load_profile(EFFORT)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres server, which is started once; where there is none, the test is skipped."""
    server = PostgresServer()
    yield server
    server.stop()
