"""How tests are tried, for all of them. No example has a deadline: the machine may be busy."""

import gc
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from tests.effort import EFFORT, covering, examples
from tests.postgres import PostgresServer
from tests.spark import SparkCluster, spark_or_skip

settings.register_profile(EFFORT, max_examples=examples(100), deadline=None)
settings.load_profile(EFFORT)

gc.disable()  # while tests are collected: all of them stay


def pytest_collection_finish() -> None:
    """From now on look for garbage, but not among the tests: there are thousands, and forks share their memory.

    Nor after every 700 objects: a twentieth of the time would go into it.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # what libraries hold is given back before they ask for it


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for examples in docstrings only where there is one: to look takes a second for all files."""
    collectors = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return collectors
    return [each for each in collectors if not isinstance(each, DoctestModule)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With the quick effort one process runs all tests of a file: what they share is made once.

    Each test by itself goes to whichever process is free with the thorough effort, where some take minutes.
    """
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).partition("::")[0]

    return ByFile(config, log) if EFFORT == "quick" and config.option.dist == "loadgroup" else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres server, which is started once; where there is none, the test is skipped."""
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def cluster() -> Iterator[SparkCluster]:
    """A cluster of Spark, which is started once; where there is none, or little time, the test is skipped.

    Tests that use it are of one group, so that one process has the cluster.
    """
    spark_or_skip()
    started = SparkCluster()
    yield started
    started.stop()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With the quick effort, of parameters that are crossed try each value, and not each combination.

    Tests that were asked for by the name of their combination are all run.
    """
    if EFFORT != "quick" or any("[" in argument for argument in config.args):
        return
    crossed: dict[str, list[Any]] = {}
    for item in items:
        if hasattr(item, "callspec"):
            crossed.setdefault(item.nodeid.partition("[")[0], []).append(item)
    dropped: set[pytest.Item] = set()
    for name, cases in crossed.items():
        chosen = covering([values_of(case) for case in cases], name)
        dropped |= set(cases) - {cases[place] for place in chosen}
    config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = [item for item in items if item not in dropped]


def values_of(case: Any) -> dict[str, tuple[int, ...]]:
    """The values of a test's parameters; those that one list names together are one value."""
    lists = [mark.args[0] for mark in case.iter_markers("parametrize")]
    together = [names.split(",") if isinstance(names, str) else names for names in lists]
    listed = {names[0].strip(): [name.strip() for name in names] for names in together}
    alone = set(case.callspec.params).difference(*listed.values())
    return {
        first: tuple(id(case.callspec.params[name]) for name in names)
        for first, names in (listed | {name: [name] for name in alone}).items()
    }
