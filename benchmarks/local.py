"""Local randomizers: reports a second and squared errors, side by side with pure-ldp and multi-freq-ldpy.

Each peer runs in an environment of its own, made here at first use. Everybody is given the same people. What a report
costs does not depend on how many there are, so the slow ones are stopped after some seconds; squared errors are those
of cohorts of one size for all.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measure import PEERS, environment
from sulq.local.best import best_randomizer
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.local.unary import UnaryResponse
from sulq.simplex import nearest_distribution

PEOPLE = 1_000_000
COHORT = 10_000
COHORTS = 20
EPSILON = 1
DOMAINS = (128, 1024)
SECONDS = 8


def section() -> str:
    """The section of RESULTS.md."""
    lines = [
        "## Local randomizers",
        "",
        f"ε = {EPSILON}, one core. Frequencies of 128 and 1024 possibilities, the i-th of which is 1/i as frequent as the",
        f"first. sulq makes and reads {PEOPLE:,} reports; a peer as many as it can in {SECONDS} s. Squared errors are the mean over",
        f"all possibilities and up to {COHORTS} cohorts of {COHORT:,} people, in units of 1e-6, ± a standard error; in brackets what",
        "is expected of sulq's. pure-ldp's estimates are without bias, like sulq's own; multi-freq-ldpy cuts off at 0 and",
        "divides by the sum, and stands beside sulq's nearest distribution. sulq draws from the operating system's randomness",
        "with exact chances, the peers from NumPy's or Python's generator, in floating point. A peer that is ahead by more",
        "than the measurement can be wrong is in bold.",
        "",
    ]
    for k in DOMAINS:
        lines += [*_compared(k), ""]
    lines += [
        f"Every shape a value can have, best randomizer for ε = {EPSILON}, {PEOPLE:,} people, seconds of processor time:",
        "",
        "| value | randomizer | million reports a second | read, million a second |",
        "|---|---|---|---|",
    ]
    lines += [_speed(*case) for case in _shapes()]
    return "\n".join(lines) + "\n"


def _compared(k: int) -> list[str]:
    weights = 1 / np.arange(1, k + 1)
    values = np.random.default_rng(k).choice(k, PEOPLE, p=weights / weights.sum())
    best: Any = best_randomizer(OneOf(k), EPSILON)
    name = f"sulq: {type(best).__name__}, {best.reports} different reports"
    client, server = _rates(best, values)
    # The variance is linear in the frequency, and frequencies are 1/k on average.
    expected = 1e6 * best.variance(COHORT, 1 / k)
    found = [_estimated(best, cohort, k) for cohort in np.split(values[: COHORT * COHORTS], COHORTS)]
    plain, nearest = ([pair[i] for pair in found] for i in (0, 1))
    lines = [
        f"| k = {k} | reports a second | read a second | squared error | nearest distribution |",
        "|---|---|---|---|---|",
        f"| {name} | {client:,.0f} | {server:,.0f} | {_error(plain, k)} ({expected:.1f}) | {_error(nearest, k)} |",
    ]
    for peer, its in _peers(values[: COHORT * COHORTS], k).items():
        beside = nearest if peer.startswith("multi-freq") else plain
        # Ahead by more than the measurement can be wrong: two standard errors of the difference.
        apart = 2 * np.hypot(_spread(its["errors"], k), _spread(beside, k))
        error = _mark(_error(its["errors"], k), np.mean(its["errors"]) + apart < np.mean(beside))
        columns = ("–", error) if beside is nearest else (error, "–")
        rates = (
            _mark(f"{its[side]:,.0f}", its[side] > own)
            for side, own in (("client", client), ("server", server))
        )
        lines.append(f"| {peer} | {' | '.join(rates)} | {' | '.join(columns)} |")
    return lines


def _rates(randomizer: Any, values: Any) -> tuple[float, float]:
    """Reports a second, and reports a second turned into an estimate: the median of five."""
    count = len(values[0]) if isinstance(values, tuple) else len(values)
    randomizer.sample(tuple(part[:100] for part in values) if isinstance(values, tuple) else values[:100])
    reports = randomizer.sample(values)
    sides = (lambda: randomizer.sample(values), lambda: randomizer.estimate(reports))
    client, server = (count / float(np.median([_seconds(work) for _ in range(5)])) for work in sides)
    return client, server


def _estimated(randomizer: Any, values: Any, k: int) -> tuple[float, float]:
    true = np.bincount(values, minlength=k) / values.size
    found = randomizer.estimate(randomizer.sample(values))
    plain, nearest = (float(np.square(each - true).mean()) for each in (found, nearest_distribution(found)))
    return plain, nearest


def _peers(values: Any, k: int) -> dict[str, Any]:
    python = environment("local")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.npy"
        np.save(path, values)
        command = [str(python), "-W", "ignore", str(PEERS / "local_reports.py"), str(path)]
        done = subprocess.run(
            [*command, str(k), str(EPSILON), str(COHORT), str(SECONDS)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _shapes() -> list[tuple[str, Any, Any]]:
    rng = np.random.default_rng(0)
    codes, numbers, points = rng.integers(0, 128, PEOPLE), rng.random(PEOPLE), rng.random((PEOPLE, 8))
    box = Box((0.0,) * 8, (1.0,) * 8)
    cases: list[tuple[str, Shape, Any]] = [
        ("a truth value", Flag(), codes < 40),
        ("one of 4", OneOf(4), codes % 4),
        ("one of 128", OneOf(128), codes),
        ("a number", Interval(0, 1), numbers),
        ("8 numbers in a box", box, points),
        ("8 numbers in a ball", Ball(8, 1.0), points),
        ("one of 8 groups and 8 numbers", Keyed(8, box), (codes % 8, points)),
    ]
    made = [(name, best_randomizer(shape, EPSILON), values) for name, shape, values in cases]
    paper = ("a number, the paper's way", best_randomizer(Interval(0, 1), EPSILON, "paper"), numbers)
    return [*made, ("one of 128, 128 bits", UnaryResponse(128, EPSILON, optimised=True), codes), paper]


def _speed(name: str, randomizer: Any, values: Any) -> str:
    client, server = _rates(randomizer, values)
    return f"| {name} | {type(randomizer).__name__} | {client / 1e6:.1f} | {server / 1e6:.0f} |"


def _seconds(work: Callable[[], object]) -> float:
    """Of processor time: all of it is on one core, and others may use that too."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _error(errors: list[float], k: int) -> str:
    return f"{1e6 * np.mean(errors):.1f} ± {1e6 * _spread(errors, k):.1f}"


def _spread(errors: list[float], k: int) -> float:
    """The standard error of a mean of squared errors; of k nearly independent ones where there is one cohort."""
    if len(errors) > 1:
        return float(np.std(errors) / (len(errors) - 1) ** 0.5)
    return float(errors[0] * (2 / k) ** 0.5)


def _mark(text: str, ahead: bool) -> str:
    return f"**{text}**" if ahead else text


if __name__ == "__main__":
    print(section())
