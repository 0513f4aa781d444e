"""Whether response times of the service tell a row: `python benchmarks/serve_timing.py REQUESTS`.

Thirty pairs of tables differ in one row each, and the questions are those whose times are most likely to tell it: a
condition that nobody meets or one row does, and a group that nobody or one row is in. Every answer is a new release;
the two tables of a pair are asked in turns, at random; ledgers are in memory, so that no disk adds noise. Each pair has
a client of its own, and all clients ask at the same time: with the schedule they wait most of the time.

The sums of sulq take the same steps whatever the rows say, so there may be little to hide. Therefore all is done a
second time on a source that leaks: like a database with an index, it takes a millisecond longer if a row is selected.
With the schedule turned off, the same statistics must catch that, and a tenth of the requests is enough for them.
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
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
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
"""How many pairs, and how many requests of each side of each pair."""
FEWER = 10
"""Without the schedule, so many times fewer requests are enough: only one client asks, and nobody disturbs."""
FIRST = 0.2
"""Seconds after which answers leave, where there is a schedule: so one process can answer a client for each pair."""
LEAK = 0.001
"""Seconds that a leaking source takes longer if a row is selected."""
ALARM = 1e-3
"""The chance that any statistic calls out, of any pair, though times tell nothing; and that a bound does not hold."""
INTERVALS = 20
"""Into how many intervals of equally many responses the times of a pair are cut, for the shape."""
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
        requests: of each side of each pair.
    """
    fewer = max(1, requests // FEWER)
    with ProcessPoolExecutor(2) as pool:  # a client of its own for each of the two sources
        scheduled = [pool.submit(measured, FIRST, leaks, requests) for leaks in (False, True)]
        verdicts = [(FIRST, leaks, compared(times.result())) for leaks, times in enumerate(scheduled)]
    verdicts += [(0.0, leaks, compared(measured(0.0, bool(leaks), fewer))) for leaks in (0, 1)]
    for first, leaks, verdict in verdicts:
        say("timing,", "leaking" if leaks else "plain", first, verdict)
    lines = [
        [
            "takes 1 ms longer if a row is selected" if leaks else "as it is",
            f"{1000 * first:.0f} ms" if first else "off",
            f"{requests if first else fewer:,}",
            f"{verdict.pair:.3f}",
            f"{verdict.pair_at_most:.3f}",
            f"{verdict.all:.4f}",
            f"{verdict.microseconds:+.0f}",
            f"{verdict.chance:.2g}",
            "yes" if verdict.caught else "no",
        ]
        for first, leaks, verdict in sorted(verdicts, key=lambda each: (each[1], -each[0]))
    ]
    hidden = not any(verdict.caught for first, _, verdict in verdicts if first)
    met = hidden and verdicts[-1][2].caught
    head = ["source", "schedule", "requests a side of a pair", "advantage, worst pair", "at most, any pair"]
    head += ["advantage, all pairs", "medians apart, µs", "smallest p", "caught"]
    return "\n".join(
        [
            "## Response times of the service",
            "",
            f"{PAIRS} pairs of tables that differ in one row; a client for each pair, all at once, and one in all where the schedule",
            "is off. Questions: a condition that nobody meets, or one row; a group that nobody is in, or one row. The advantage is how",
            "much more often the best threshold on the time of one response calls out with the row than without it; over all pairs, by",
            f"ranks within a pair. At most: with what so many requests cannot rule out, of all {PAIRS} pairs at once, at {1 - ALARM:.1%}",
            "(Dvoretzky, Kiefer, Wolfowitz and Massart). Five statistics (location, spread, the slowest hundredth, the whole",
            f"distribution, and the shape in {INTERVALS} intervals) of each pair and of all together are {5 * (PAIRS + 1)} tests. The smallest p is",
            f"that of all of them, times their number; times are caught if it is below {ALARM}.",
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
        pair: the advantage of the best threshold, of the pair where it is largest.
        pair_at_most: what it may be of any pair, as far as so many requests can say.
        all: the advantage of the best threshold on ranks, over all pairs.
        microseconds: how far the medians are apart, in the median of all pairs.
        chance: the smallest p-value of all statistics, times their number.
        caught: whether a statistic tells the sides apart.
    """

    pair: float
    pair_at_most: float
    all: float
    microseconds: float
    chance: float
    caught: bool


def compared(times: Times) -> Verdict:
    """What times tell, by every statistic of each pair and of all pairs together.

    Args:
        times: of each pair those without and those with the row.
    """
    ranks = [_ranks(*pair) for pair in times]
    together = [np.concatenate([pair[side] for pair in ranks]) for side in (0, 1)]
    tests = [chance for pair in [*ranks, together] for chance in chances(*pair).values()]
    smallest = min(1.0, len(tests) * min(tests))
    advantages = [float(stats.ks_2samp(*pair).statistic) for pair in ranks]
    fewest = min(len(side) for pair in times for side in pair)
    margin = 2 * math.sqrt(math.log(2 * 2 * len(times) / ALARM) / (2 * fewest))
    apart = 1e6 * np.median([np.median(pair[1]) - np.median(pair[0]) for pair in times])
    return Verdict(
        max(advantages),
        min(1.0, max(advantages) + margin),
        float(stats.ks_2samp(*together).statistic),
        float(apart),
        smallest,
        smallest < ALARM,
    )


def chances(without: NDArray[np.float64], with_row: NDArray[np.float64]) -> dict[str, float]:
    """How likely such differences are if times tell nothing: the p-value of every statistic.

    Args:
        without: where the times without the row lie among all of a pair, from 0 to 1.
        with_row: where those with the row lie.
    """
    late = [np.count_nonzero(side > 0.99) for side in (without, with_row)]
    edges = np.linspace(0, 1, INTERVALS + 1)
    counts = np.array([np.histogram(side, edges)[0] for side in (without, with_row)])
    return {
        "distribution": float(stats.ks_2samp(without, with_row).pvalue),
        "location": float(stats.mannwhitneyu(without, with_row).pvalue),
        "spread": float(stats.mannwhitneyu(abs(without - 0.5), abs(with_row - 0.5)).pvalue),
        "slowest": float(stats.binomtest(late[0], max(1, sum(late))).pvalue),
        "shape": float(stats.chi2_contingency(counts[:, counts.sum(0) > 0]).pvalue),
    }


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
    with _served(first, leaks) as (url, key), ThreadPoolExecutor(PAIRS if first else 1) as pool:
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
