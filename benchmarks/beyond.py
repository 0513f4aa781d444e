"""The learners that need more than sums: equations over GF(2), and choosing among very many hypotheses.

Elimination is compared with the method of the four Russians in C (`m4ri.c`, compiled here), on the same packed
equations. Memory is that of a process of its own, data included. OpenDP and diffprivlib choose by the same
scores; diffprivlib in an environment of its own, set up beside the data on first use.
"""

from __future__ import annotations

import ctypes
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sulq
from sulq.classes.boolean import MonotoneConjunctions, Parities
from sulq.learners.select import Select
from sulq.privacy.gf2 import Words, equations, solve
from sulq.privacy.many_candidates import choose
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip

HERE = Path(__file__).parent
DATA = HERE / "data"
SYSTEMS = {"independent": 1024, "of rank 512": 512}
CLASSES = {"2^24 parities": (Parities, 24), "2^20 monotone conjunctions": (MonotoneConjunctions, 20)}
PEER = """
import json, sys, time
import numpy as np
from diffprivlib.mechanisms import Exponential
scores = np.load(sys.argv[1])
start = time.perf_counter()
Exponential(epsilon=1, sensitivity=1, utility=scores.tolist()).randomise()
print(json.dumps(time.perf_counter() - start))
"""


def section(rows: int = 1_000_000, equations_: int = 100_000, repetitions: int = 5) -> str:
    """The section of RESULTS.md."""
    lines = [
        "## Beyond sums",
        "",
        f"A system of {equations_:,} consistent equations in 1024 unknowns over GF(2), median of {repetitions}. The",
        "learner reduces a random part of the equations and sees which of the others follow; in C all are eliminated",
        "(four Russians, eight columns at a time, one thread).",
        "",
        "| equations | sulq, s | C, s | ratio | goal |",
        "|---|---|---|---|---|",
    ]
    for name, rank in SYSTEMS.items():
        mine, theirs = elimination(rank, equations_, repetitions)
        lines.append(f"| {name} | {mine:.3f} | {theirs:.3f} | {_mark(mine / theirs, 2)} | 2 |")
    lines += [
        "",
        f"`Select(…).learn(curator)` at ε = 1 on {rows:,} rows: the first time, with reading and cleaning, and again in",
        "another run; peak memory of the process with the data in it. The goal is 10 s and a few GB.",
        "",
        "| class | first, s | again, s | peak, MB |",
        "|---|---|---|---|",
    ]
    for name in CLASSES:
        t = _child(name, rows)
        lines.append(f"| {name} | {_mark(t['first'], 10)} | {_mark(t['again'], 10)} | {t['peak']:.0f} |")
    lines += [
        "",
        "One of 10^6 candidates at ε = 1, in seconds. sulq and OpenDP draw exact laws; diffprivlib uses floats.",
        "",
        "| mechanism | seconds |",
        "|---|---|",
    ]
    lines += [f"| {name} | {seconds} |" for name, seconds in peers().items()]
    return "\n".join(lines) + "\n"


def elimination(rank: int, number: int, repetitions: int) -> tuple[float, float]:
    """Median seconds of sulq and of C on one consistent system; both must find the same rank."""
    system, c = _system(rank, number), _compiled()
    mine, theirs = [], []
    for _ in range(repetitions):
        copy = system.copy()
        pointer = copy.ctypes.data_as(ctypes.c_void_p)
        ranks: list[int] = []
        mine.append(_seconds(lambda: ranks.append(solve(system, 1024).rank)))  # noqa: B023
        theirs.append(_seconds(lambda: ranks.append(c.eliminate(pointer, *copy.shape, 1025))))  # noqa: B023
        assert ranks == [rank, rank]
    return statistics.median(mine), statistics.median(theirs)


def selection(name: str, rows: int) -> dict[str, float]:
    """Seconds and peak memory of choosing from a whole class."""
    kind, features = CLASSES[name]
    rng = np.random.default_rng(0)
    data = {f"x{i}": rng.integers(0, 2, rows, dtype=np.uint8).view(bool) for i in range(features)}
    data["y"] = data["x1"] ^ data["x2"] if kind is Parities else data["x1"] & data["x2"]
    data["y"] = data["y"] ^ (rng.random(rows) < 0.3)
    source = sulq.open(data, {column: sulq.Boolean() for column in data})
    learner = Select(kind(), label="y")
    first = _seconds(lambda: learner.learn(source.curator(epsilon=1), "first"))
    again = _seconds(lambda: learner.learn(source.curator(epsilon=1), "again"))
    return {"first": first, "again": again, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def peers(candidates: int = 1_000_000) -> dict[str, str]:
    """Seconds that each library takes to choose by the same scores."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    scores = np.random.default_rng(0).integers(-600_000, -400_000, candidates)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    opendp = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    listed = scores.tolist()
    times = {
        "sulq, permute-and-flip": _seconds(lambda: choose(PermuteAndFlip(1, 1), scores)),
        "sulq, exponential mechanism": _seconds(lambda: choose(ExponentialMechanism(1, 1), scores)),
        "OpenDP, `make_noisy_max`": _seconds(lambda: opendp(listed)),
    }
    shown = {name: f"{seconds:.2f}" for name, seconds in times.items()}
    return shown | {"diffprivlib, `Exponential`": _diffprivlib(scores)}


def _diffprivlib(scores: np.ndarray[Any, Any]) -> str:
    python = DATA / "peers" / "bin" / "python"
    DATA.mkdir(exist_ok=True)
    np.save(DATA / "scores.npy", scores)
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", DATA / "peers"], check=True)
            wanted = ["diffprivlib", "scikit-learn<1.6"]  # the last that diffprivlib 0.6 works with
            subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        done = subprocess.run(
            [python, "-c", PEER, DATA / "scores.npy"], check=True, capture_output=True, text=True
        )
        return f"{json.loads(done.stdout):.2f}"
    except (subprocess.CalledProcessError, OSError):
        return "not available"


def _system(rank: int, number: int) -> Words:
    """Equations of this rank in 1024 unknowns, with a solution."""
    rng = np.random.default_rng(rank)
    x = rng.integers(0, 2, (1024, number), dtype=np.uint8).view(bool)
    if rank < 1024:
        x[rank:] = x[rng.integers(0, rank, 1024 - rank)]
    return equations(x, np.logical_xor.reduce(x[::3], axis=0))


def _compiled() -> Any:
    DATA.mkdir(exist_ok=True)
    library = DATA / "m4ri.so"
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(HERE / "m4ri.c")]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.eliminate.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_long]
    loaded.eliminate.restype = ctypes.c_long
    return loaded


def _child(name: str, rows: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, name, str(rows)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _mark(value: float, goal: float) -> str:
    return f"{value:.2f}" if value <= goal else f"**{value:.2f}** (missed)"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(selection(sys.argv[1], int(sys.argv[2]))))
    else:
        print(section())
