"""What the sections on learners share: cells of a table, random splits, and running the peers."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_sets import DataSet

PEERS = Path(__file__).parent / "peers"
DOCS = Path(__file__).parents[1] / "docs"
DATA = Path(__file__).parent / "data"
PYTHON = PEERS / ".venv" / "bin" / "python"
REPETITIONS = 20
EPSILONS = ("0.1", "0.5", "1", "3", "10")
HOW = f"""Mean of {REPETITIONS} runs ± its standard error; pure ε unless said otherwise. Splits of the data are seeded; noise never
is. sulq protects a row that is replaced by any other, and has its defaults. The peers' ε is as they state it, with the same
public bounds (diffprivlib's trees and k-means protect a row that is added or removed, so that a replaced one can cost up to
twice that); of several settings the best in each cell is shown."""
ABSENT = "Skipped: the data is not there."


@dataclass(frozen=True)
class Cell:
    """What repeated runs gave, or in a word why there is nothing."""

    values: tuple[float, ...]
    why: str = "–"

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(np.std(self.values, ddof=1) / len(self.values) ** 0.5) if len(self.values) > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}" if self.values else self.why


def verdict(lost: Sequence[str]) -> str:
    """Where a peer is ahead, in words."""
    if not lost:
        return "A peer is ahead in no cell."
    return f"A peer is ahead, (?) by less than two standard errors, in: {', '.join(dict.fromkeys(lost))}."


def cells(results: Sequence[Sequence[float]]) -> list[Cell]:
    return [Cell(tuple(values)) for values in results]


def best_of(tried: Sequence[Sequence[Cell]], most: bool) -> list[Cell]:
    """Of several settings the one that did best, for each epsilon on its own: the peers' best case."""
    sign = 1 if most else -1
    return [
        max(cell, key=lambda c: sign * c.mean if c.values else -np.inf) for cell in zip(*tried, strict=True)
    ]


def against(cell: Cell, goal: float, most: bool = True) -> str:
    """The cell, marked if it misses a goal."""
    met = cell.mean >= goal if most else cell.mean <= goal
    return str(cell) if met else f"**{cell}** (missed)"


def behind(own: Sequence[Cell], other: Sequence[Cell], names: Sequence[str], most: bool) -> list[str]:
    """The cells where a peer's mean is better, with a question mark if by less than two standard errors."""
    found = []
    for mine, theirs, name in zip(own, other, names, strict=True):
        lead = (theirs.mean - mine.mean) * (1 if most else -1)
        if theirs.values and lead > 0:
            found.append(name if lead > 2 * math.hypot(mine.error, theirs.error) else f"{name} (?)")
    return found


def table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> list[str]:
    return ["| " + " | ".join(map(str, line)) + " |" for line in [head, ["---"] * len(head), *lines]]


def masks(data: DataSet) -> NDArray[np.bool_]:
    """Which rows to learn from: the data set's own split if it has one, else a random 70 % for each repetition."""
    if "split" in data.rows:
        return np.asarray(data.rows["split"] == "train")[None]
    return np.array([np.random.default_rng(r).random(len(data.rows)) < 0.7 for r in range(REPETITIONS)])


def parts(data: DataSet) -> Iterator[tuple[Any, Any, NDArray[np.str_]]]:
    """For each mask the rows to learn from, the others, and the truth about those."""
    for mask in masks(data):
        yield data.rows[mask], data.rows[~mask], data.truth[~mask]


def peer(
    learner: str,
    epsilons: Sequence[str],
    settings: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    repetitions: int = REPETITIONS,
    seconds: int = 3600,
) -> list[list[Any]] | None:
    """What a peer's learner gave for each epsilon, or None if it needed more than `seconds` of processor time.

    Results are kept in `data`, because they take long and do not change when sulq does.
    """
    job = {"learner": learner, "epsilons": [float(e) for e in epsilons], "settings": settings}
    text = json.dumps(job | {"repetitions": repetitions, "seconds": seconds})
    script, pinned = PEERS / "diffprivlib_learners.py", PEERS / "requirements.txt"
    digest = hashlib.sha256(text.encode() + script.read_bytes() + pinned.read_bytes())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).tobytes())
    kept = DATA / f"peer-{digest.hexdigest()[:20]}.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "job.npz"
            np.savez(path, job=text, **arrays)  # type: ignore[arg-type]
            command = [str(PYTHON), str(script), str(path)]
            one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=one_thread)
        if done.returncode not in (0, -signal.SIGXCPU):
            done.check_returncode()
        DATA.mkdir(exist_ok=True)
        kept.write_text(done.stdout if done.returncode == 0 else "null", encoding="utf-8")
    results: list[list[Any]] | None = json.loads(kept.read_text(encoding="utf-8"))
    return results


def environment(name: str) -> Path:
    """The Python of an environment of peers, made if it is not there or not the one that `requirements-name.txt` asks for."""
    folder, pinned = PEERS / f".venv-{name}", PEERS / f"requirements-{name}.txt"
    ready, python = folder / ".ready", folder / "bin" / "python"
    if not ready.exists() or ready.read_text(encoding="utf-8") != pinned.read_text(encoding="utf-8"):
        say("an environment for peers,", name)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            str(pinned),
        ]
        subprocess.run([str(python), *install], check=True)
        ready.write_text(pinned.read_text(encoding="utf-8"), encoding="utf-8")
    return python


def say(*words: object) -> None:
    """Progress, for whoever waits."""
    print("·", *words, flush=True)
