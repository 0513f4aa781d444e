"""Response times: a small version of `benchmarks/serve_timing.py`, on a source that leaks a lot."""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.serve.config import ServiceSettings
from sulq.serve.keys import Keys
from sulq.serve.limits import Limits
from sulq.serve.schedule import Schedule
from sulq.serve.server import Server
from tests.serve.services import Client, Running

pytest.importorskip("scipy", reason="the statistics of the benchmark need scipy")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LEAK, FIRST = 0.1, 0.5
"""Seconds that the source takes longer if a row is selected, and the schedule's first time."""
EACH, CLIENTS = 24, 12
RARE = sulq.col("plan") == "rare"


class Leaking(sulq.Source):
    """A table that takes longer to add up if one of its rows is of the rare plan."""

    def __init__(self, rare: bool) -> None:
        plans = ["free"] * 49 + ["rare" if rare else "free"]
        self.inner = sulq.open({"plan": plans}, {"plan": sulq.Category(["free", "rare"])})
        self.rare = rare
        super().__init__(self.inner.schema)

    @property
    def rows(self) -> int:
        return int(self.inner.rows)

    def sums(self, parts: Any) -> Any:
        time.sleep(LEAK * self.rare)
        return self.inner.sums(parts)


@pytest.fixture
def statistics(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import serve_timing

    monkeypatch.setattr(serve_timing, "ALARM", 1e-6)
    yield serve_timing
    for name in ("serve_timing", "measure", "data_sets"):
        sys.modules.pop(name, None)


def times(folder: Path, first: float, clients: int) -> list[Any]:
    """Seconds of responses, without and with the row, asked for in a random order."""
    limits = Limits(at_once=64)
    told = ServiceSettings((), str(folder / "keys"), port=0, limits=limits, schedule=Schedule(first))
    sides = {f"side-{side}": Leaking(bool(side)).curator(epsilon=100, ledger=":memory:") for side in (0, 1)}
    order = [side for side in (0, 1) for _ in range(EACH)]
    random.shuffle(order)
    with Server(told, sides) as server, Keys(told.keys) as keys:
        ada = Running(server, keys).client()

        def seconds(place: int) -> float:
            body = {"round": sulq.Round([sulq.count(where=RARE)], "1/100").form, "run": f"run {place}"}
            return timed(ada, f"/v1/datasets/side-{order[place]}/ask", body)

        with ThreadPoolExecutor(clients) as pool:
            taken = np.array(list(pool.map(seconds, range(len(order)))))
    return [(taken[np.array(order) == 0], taken[np.array(order) == 1])]


def timed(ada: Client, path: str, body: Any) -> float:
    begun = time.perf_counter()
    assert ada.post(path, body).status_code == 200
    return time.perf_counter() - begun


def test_the_schedule_hides_a_leak_that_the_same_statistics_catch_without_it(
    tmp_path: Path, statistics: ModuleType
) -> None:
    """The order is drawn, so a false alarm of the first part has a chance of at most 10^-6, whatever the load.

    Without the schedule a tenth of a second lies between the sides, which no load of this machine hides.
    """
    (tmp_path / "on").mkdir()
    (tmp_path / "off").mkdir()
    assert not statistics.compared(times(tmp_path / "on", FIRST, CLIENTS)).caught
    assert statistics.compared(times(tmp_path / "off", 0.0, 1)).caught


def test_the_statistics_are_calibrated_and_see_what_they_should(statistics: ModuleType) -> None:
    drawn = np.random.default_rng(7)
    same = [(drawn.exponential(size=2_000), drawn.exponential(size=2_000)) for _ in range(5)]
    verdict = statistics.compared(same)
    assert not verdict.caught and verdict.pair < 0.08 < verdict.pair_at_most < 0.25
    one = [*same[1:], (same[0][0], same[0][1] + 0.3)]  # one pair that differs is enough
    wide = [*same[1:], (1 + drawn.normal(size=2_000), 1 + 1.5 * drawn.normal(size=2_000))]
    seldom = [(a, np.where(drawn.random(2_000) < 0.03, b + 50, b)) for a, b in same]
    for differ in (one, wide, seldom):
        assert statistics.compared(differ).caught
    assert statistics.compared(one).pair_at_most > 0.25
