"""Whether response times of the service tell a row: `python benchmarks/serve_timing.py REQUESTS`.

Thirty pairs of tables differ in one row each, and the questions are those whose times are most likely to tell it: a
condition that nobody meets or one row does, and a group that nobody or one row is in. Every answer is a new release;
the two tables of a pair are asked in turns, at random; ledgers are in memory, so that no disk adds noise.

The sums of sulq take the same steps whatever the rows say, so there may be little to hide. Therefore all is done a
second time on a source that leaks: like a database with an index, it takes a millisecond longer if a row is selected.
With the schedule turned off, the same statistics must catch that.
"""

from __future__ import annotations

import http.client
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import sulq
from measure import say, table
from sulq.serve.config import ServiceSettings
from sulq.serve.keys import Keys
from sulq.serve.limits import Limits
from sulq.serve.schedule import Schedule
from sulq.serve.server import Server

PAIRS, REQUESTS = 30, 5_000
FIRST = Schedule.first
"""Seconds after which answers leave, where there is a schedule."""
CLIENTS = 8
"""How many ask at once, where there is a schedule: they wait most of the time. Without one, nobody disturbs."""
LEAK = 0.001
"""Seconds that a leaking source takes longer if a row is selected."""
ALARM = 1e-3
"""The chance that a statistic calls out, though times tell nothing."""
SHARE = "1/20000"
SCHEMA = {"plan": sulq.Category(["free", "paid", "rare"]), "age": sulq.Integer(0, 100)}
RARE = sulq.col("plan") == "rare"
QUESTIONS = (sulq.count(where=RARE), sulq.total(sulq.col("age"), where=RARE), sulq.count(by="plan"))

Times = list[tuple[NDArray[np.float64], NDArray[np.float64]]]


class Leaking(sulq.Source):
    """The rows of another source, which takes so many seconds longer, as a database with an index might.

    Args:
        inner: the other source.
        seconds: how much longer it takes.
    """

    def __init__(self, inner: Any, seconds: float) -> None:
        super().__init__(inner.schema)
        self.inner = inner
        self.seconds = seconds

    @property
    def rows(self) -> int:
        return int(self.inner.rows)

    def sums(self, parts: Any) -> Any:
        deadline = time.perf_counter() + self.seconds
        while time.perf_counter() < deadline:
            pass
        return self.inner.sums(parts)


def section(requests: int = REQUESTS) -> str:
    """The section of RESULTS.md.

    Args:
        requests: of each side, over all pairs.
    """
    each = -(-requests // PAIRS)
    lines, verdicts = [], []
    for leaks in (False, True):
        for first in (FIRST, 0.0):
            told = compared(measured(first, leaks, each))
            say("timing,", "leaking" if leaks else "plain", first, told)
            lines.append(
                [
                    "takes 1 ms longer if a row is selected" if leaks else "as it is",
                    f"{1000 * first:.0f} ms" if first else "off",
                    f"{told.advantage:.3f}",
                    f"{told.at_most:.3f}",
                    f"{told.microseconds:+.0f}",
                    f"{told.chance:.2g}",
                    "yes" if told.caught else "no",
                ]
            )
            verdicts.append(told.caught)
    plain, _, hidden, open_ = verdicts
    met = not plain and not hidden and open_
    head = ["source", "schedule", "advantage", "at most", "medians apart, µs", "smallest p", "caught"]
    return "\n".join(
        [
            "## Response times of the service",
            "",
            f"{PAIRS} pairs of tables that differ in one row, {each * PAIRS:,} requests of each side over all pairs; {CLIENTS} clients at once, and",
            "one where the schedule is off. Questions: a condition that nobody meets, or one row; a group that nobody is in, or one",
            "row. The advantage is by how much the best threshold on the time of one response beats a guess (all pairs together, by",
            f"ranks within a pair); at most: with what so many requests cannot rule out, at {1 - 2 * ALARM:.1%}. Five statistics: location,",
            "spread, the slowest hundredth, the whole distribution, and that of the pair that differs most; times are caught if the",
            f"smallest p-value is below a fifth of {ALARM}.",
            "",
            *table(head, lines),
            "",
            "The schedule hides what there is, and the same statistics catch the source that leaks without it."
            if met
            else "**The schedule does not hide everything, or the statistics are too weak** (missed).",
            "",
        ]
    )


@dataclass(frozen=True)
class Verdict:
    """What response times tell.

    Args:
        advantage: by how much the best threshold is better than a guess.
        at_most: what it may be, as far as so many requests can say.
        microseconds: how far the medians are apart.
        chance: the smallest p-value of all statistics.
        caught: whether a statistic tells the sides apart.
    """

    advantage: float
    at_most: float
    microseconds: float
    chance: float
    caught: bool


def compared(times: Times) -> Verdict:
    """What times tell, by every statistic.

    Args:
        times: of each pair those without and those with the row.
    """
    ranks = [_ranks(*pair) for pair in times]
    without, with_row = (np.concatenate([pair[side] for pair in ranks]) for side in (0, 1))
    whole = stats.ks_2samp(without, with_row)
    late = [np.count_nonzero(side > 0.99) for side in (without, with_row)]
    chances = {
        "distribution": whole.pvalue,
        "location": stats.mannwhitneyu(without, with_row).pvalue,
        "spread": stats.mannwhitneyu(abs(without - 0.5), abs(with_row - 0.5)).pvalue,
        "slowest": stats.binomtest(late[0], max(1, sum(late))).pvalue,
        "a pair": min(1.0, len(times) * min(stats.ks_2samp(*pair).pvalue for pair in times)),
    }
    margin = 2 * math.sqrt(math.log(2 / ALARM) / (2 * len(without)))  # Dvoretzky, Kiefer, Wolfowitz, Massart
    apart = 1e6 * np.median([np.median(pair[1]) - np.median(pair[0]) for pair in times])
    smallest = float(min(chances.values()))
    return Verdict(
        float(whole.statistic),
        float(whole.statistic) + margin,
        float(apart),
        smallest,
        smallest < ALARM / len(chances),
    )


def _ranks(*sides: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Where each time lies among all of its pair, from 0 to 1."""
    together = stats.rankdata(np.concatenate(sides)) / sum(map(len, sides))
    return np.split(together, [len(sides[0])])


def measured(first: float, leaks: bool, each: int) -> Times:
    """Seconds of responses, for each pair those without and those with the row.

    Args:
        first: when answers leave; 0 turns the schedule off.
        leaks: whether the source leaks.
        each: requests of each side of a pair.
    """
    with _served(first, leaks) as (url, key), ThreadPoolExecutor(CLIENTS if first else 1) as pool:
        return list(pool.map(lambda pair: _asked(url, key, pair, each), range(PAIRS)))


def _asked(url: str, key: str, pair: int, each: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    link = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    form = sulq.Round([QUESTIONS[pair % len(QUESTIONS)]], SHARE).form
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    sides: Sequence[list[float]] = ([], [])
    order = [side for side in (0, 1) for _ in range(each)]
    random.shuffle(order)
    warm = [(side, f"warm {turn}") for turn in range(3) for side in (0, 1)]
    for side, run in [*warm, *((side, f"run {place:06}") for place, side in enumerate(order))]:
        body = json.dumps({"round": form, "run": run})
        begun = time.perf_counter()
        link.request("POST", f"/v1/datasets/pair-{pair}-{side}/ask", body, headers)
        response = link.getresponse()
        response.read()
        seconds = time.perf_counter() - begun
        if response.status != 200:
            raise SystemExit(f"the service refused a question: {response.status}")
        if run.startswith("run"):
            sides[side].append(seconds)
    return np.array(sides[0]), np.array(sides[1])


@contextmanager
def _served(first: float, leaks: bool) -> Iterator[tuple[str, str]]:
    """A service in a process of its own: its address and a key."""
    command = [sys.executable, __file__, "--served", str(first), str(int(leaks))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        url, key = process.stdout.readline().split()
        yield url, key
        process.stdin.close()


def _serve(first: float, leaks: bool) -> None:
    """Serve all pairs until there is nothing more to read."""
    curators = {
        f"pair-{pair}-{side}": _curator(pair, side, leaks) for pair in range(PAIRS) for side in (0, 1)
    }
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(rounds_a_minute=10**9, at_once=64)
        keys = str(Path(folder, "keys"))
        settings = ServiceSettings((), keys, port=0, limits=limits, schedule=Schedule(first))
        with Server(settings, curators) as server, Keys(keys) as kept:
            print(server.url, kept.add("ada"), flush=True)
            sys.stdin.read()


def _curator(pair: int, side: int, leaks: bool) -> sulq.Curator:
    """The curator of a table; with side 1, one of its rows is of the rare plan."""
    rows = (1_000, 5_000, 20_000)[pair // len(QUESTIONS) % 3]
    drawn = np.random.default_rng(pair)
    plan = drawn.choice(np.array(["free", "paid"], dtype=object), rows)
    age = drawn.integers(0, 101, rows)
    if side:
        plan[drawn.integers(rows)] = "rare"
    source = sulq.open({"plan": plan, "age": age}, SCHEMA, threads=1)
    return (Leaking(source, LEAK * side) if leaks else source).curator(epsilon=1000, ledger=":memory:")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--served"]:
        _serve(float(sys.argv[2]), sys.argv[3] == "1")
    else:
        print(section(*map(int, sys.argv[1:])))
