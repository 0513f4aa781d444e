"""The defaults on several tables, beside DP-EBM and diffprivlib: accuracy and AUROC."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sulq
import tables
from data_sets import DataSet, load, pums
from measure import DATA, EPSILONS, PEERS, Cell, best_of, masks, parts, say, table

PYTHON = PEERS / ".venv-defaults" / "bin" / "python"
RUNS, PEER_RUNS = 20, 5
DELTA = "1e-5"
TABLES: dict[str, Callable[[], DataSet | None]] = {
    **{name: partial(load, name) for name in ("mushroom", "car", "wdbc", "skin")},
    "pums1000": pums,
    "sensors (made up)": tables.sensors,
    "hospital (made up)": tables.hospital,
    "few rows (made up)": tables.few,
}
OURS: dict[str, Callable[[str], sulq.Learner[Any]]] = {
    "Classifier": sulq.Classifier,
    "Additive": sulq.Additive,
    "ID3": sulq.ID3,
}
RATES: list[dict[str, Any]] = [{"learning_rate": rate} for rate in (0.01, 0.05, 0.2)]
HEAD = f"""## Defaults on several tables

Accuracy / AUROC, mean ± standard error of {RUNS} runs of sulq and {PEER_RUNS} of the peers. δ = {DELTA} and add-remove for sulq and
DP-EBM; diffprivlib's promises are pure and about a row that is replaced (logistic regression, naive Bayes) or added or removed
(forest), so that its noise is for a stronger promise. The peers have the same public bounds and classes, and of DP-EBM's learning
rates 0.01 (its default), 0.05 and 0.2 the best in each cell is shown. DP-EBM reads which categories there are and how
many rows from the data, which is not part of its promise. Majority: the most frequent class of the rows learned from.

"""

FOREST = """diffprivlib's forest cuts at random between public bounds, so it pays for no choice of cuts, and each of its trees has
rows of its own and therefore all of ε. The thirty columns of wdbc nearly all say the same, so that any cut helps. At this ε
`Classifier` makes one choice among all cuts of all columns, which noise decides now and then. Where few columns matter, the same
forest has nothing to say: see sensors and few rows"""
REASONS = {"wdbc at ε = 0.1, AUROC": FOREST}
"""Why a peer is ahead, where that is known."""


@dataclass(frozen=True)
class Figures:
    """Accuracy and AUROC of several runs, for one epsilon."""

    accuracy: Cell
    area: Cell

    @classmethod
    def of(cls, runs: Sequence[Sequence[float]]) -> Figures:
        pairs = np.array(runs, dtype=float).reshape(-1, 2)
        return cls(Cell(tuple(pairs[:, 0])), Cell(tuple(pairs[~np.isnan(pairs[:, 1]), 1])))

    def __str__(self) -> str:
        return f"{self.accuracy} / {self.area}"


def section() -> str:
    lines, lost, below = [HEAD], list[str](), list[str]()
    for name, get in TABLES.items():
        data = get()
        if data is None:
            lines.append(f"{name}: skipped, the data is not there.\n")
            continue
        majority = Cell(tuple(_majorities(data)))
        ours = {learner: _ours(name, learner, data) for learner in OURS}
        peers = _peers(name, data)
        rows = [[learner, *map(str, figures)] for learner, figures in [*ours.items(), *peers.items()]]
        lines += [f"### {name}: {len(data.rows):,} rows, majority {majority}\n"]
        lines += [*table(["", *(f"ε = {e}" for e in EPSILONS)], rows), ""]
        lost += _lost(name, ours["Classifier"], peers)
        below += _below(name, ours, data)
    verdict = "; ".join(lost) or "none"
    worse = "; ".join(below) or "none"
    closing = f"`Classifier` behind a peer by more than two standard errors in: {verdict}.\n"
    closing += "".join(f"\n{cell}: {reason}.\n" for cell, reason in REASONS.items() if cell in lost)
    return "\n".join(lines) + f"\n{closing}\nBelow the majority by more than two standard errors: {worse}.\n"


def _majorities(data: DataSet) -> list[float]:
    found = []
    for mask in masks(data):
        values, counts = np.unique(data.truth[mask], return_counts=True)
        found.append(float((data.truth[~mask] == values[counts.argmax()]).mean()))
    return found


def _ours(name: str, learner: str, data: DataSet) -> list[Figures]:
    assert data.label is not None
    runs: dict[str, list[tuple[float, float]]] = {epsilon: [] for epsilon in EPSILONS}
    for training, test, truth in parts(data):
        people = sulq.open(training, data.schema)
        for epsilon in EPSILONS:
            curator = people.curator(epsilon=epsilon, delta=DELTA, neighbours="add-remove")
            model = OURS[learner](data.label).learn(curator)
            runs[epsilon].append(_measured(model, test, truth, data))
    say(name, learner)
    return [Figures.of(each) for each in runs.values()]


def _measured(model: Any, test: Any, truth: NDArray[np.str_], data: DataSet) -> tuple[float, float]:
    right = float((model.predict(test).astype(str) == truth).mean())
    values = [str(value) for value in _classes(data)]
    if len(values) > 2:
        return right, float("nan")
    return right, area(model.predict_proba(test)[:, 1], truth == values[1])


def area(likely: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The area under the ROC curve: how often a true row is ranked above a false one, ties by half."""
    _, places, ties = np.unique(likely, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]
    yes, no = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - yes * (yes + 1) / 2) / (yes * no))


def _classes(data: DataSet) -> tuple[Any, ...]:
    kind = data.schema[data.label or ""]
    return kind.values if isinstance(kind, sulq.Category) else (False, True)


def _peers(name: str, data: DataSet) -> dict[str, list[Figures]]:
    codes, bounds = data.codes()
    hot, norm = data.one_hot()
    kinds = [kind for column, kind in data.schema.items() if column != data.label]
    labels = np.array([[str(value) for value in _classes(data)].index(each) for each in data.truth])
    given = {"labels": labels, "masks": masks(data)[:PEER_RUNS]}
    coded = given | {"rows": codes, "bounds": bounds}
    coded["categories"] = np.array([isinstance(kind, sulq.Category | sulq.Boolean) for kind in kinds])
    flat = given | {"rows": hot, "bounds": np.array([[0.0] * hot.shape[1], [1.0] * hot.shape[1]])}
    results = {
        "diffprivlib, naive Bayes": _peer("bayes", {}, flat),
        "diffprivlib, logistic": _peer("logistic", {"data_norm": norm}, flat),
        "diffprivlib, forest": _peer("forest", {"n_estimators": 10, "max_depth": 5}, coded),
    }
    if len(_classes(data)) == 2:
        tried = [_peer("ebm", {"delta": float(DELTA)} | rate, coded) for rate in RATES]
        results["DP-EBM, best rate"] = [
            max(cell, key=lambda figures: figures.accuracy.mean) for cell in zip(*tried, strict=True)
        ]
    say(name, "peers")
    return results


def _peer(learner: str, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[Figures]:
    """What a peer's runs gave; kept in `data`, because it takes long and does not change when sulq does."""
    script, pinned = PEERS / "classifiers.py", PEERS / "requirements-defaults.txt"
    job = {"learner": learner, "settings": settings, "repetitions": PEER_RUNS}
    text = json.dumps(job | {"epsilons": [float(e) for e in EPSILONS]})
    digest = hashlib.sha256(text.encode() + script.read_bytes() + pinned.read_bytes())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).tobytes())
    kept = DATA / f"peer-{digest.hexdigest()[:20]}.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "job.npz"
            np.savez(path, job=text, **arrays)  # type: ignore[arg-type]
            one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            command = [str(PYTHON), str(script), str(path)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=one_thread, check=True)
        DATA.mkdir(exist_ok=True)
        kept.write_text(done.stdout, encoding="utf-8")
    return [Figures.of(runs) for runs in json.loads(kept.read_text(encoding="utf-8"))]


def _lost(name: str, ours: Sequence[Figures], peers: dict[str, list[Figures]]) -> list[str]:
    lost = []
    for what in ("accuracy", "area"):
        best = best_of([[getattr(each, what) for each in figures] for figures in peers.values()], most=True)
        for epsilon, mine, theirs in zip(EPSILONS, ours, best, strict=True):
            own = getattr(mine, what)
            apart = 2 * float(np.hypot(own.error, theirs.error))
            if theirs.values and own.values and theirs.mean - own.mean > apart:
                lost.append(f"{name} at ε = {epsilon}, {'AUROC' if what == 'area' else what}")
    return lost


def _below(name: str, ours: dict[str, list[Figures]], data: DataSet) -> list[str]:
    majority, below = np.array(_majorities(data)), []
    for learner, figures in ours.items():
        for epsilon, each in zip(EPSILONS, figures, strict=True):
            apart = np.array(each.accuracy.values) - majority
            if apart.mean() < -2 * apart.std(ddof=1) / len(apart) ** 0.5:
                below.append(f"{learner}, {name} at ε = {epsilon}")
    return below
