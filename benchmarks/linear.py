"""Linear regression: R² on rows held out, against AdaSSP and diffprivlib, and how often error bars hold."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sulq
from data_sets import FOLDER, DataSet, Floats, load
from measure import PEERS, PYTHON, REPETITIONS, Cell, behind, cells, say, table, verdict

EPSILONS = ("0.1", "0.5", "1", "3")
DELTA = 1e-6
NUMBERS = ("age", "education_num", "hours_per_week", "capital_gain", "capital_loss")
STATED = 0.95
CLOSE = 0.005
"""At ε = 1, R² is to be so close to that of least squares."""


@dataclass(frozen=True)
class Task:
    """A number to predict.

    Args:
        name: what it is called in the results.
        data: the rows and their schema.
        target: the number.
        features: what it is predicted by.
        train: which rows to learn from.
    """

    name: str
    data: DataSet
    target: str
    features: tuple[str, ...]
    train: Any

    @property
    def truth(self) -> Floats:
        return np.asarray(self.data.rows[self.target], dtype=float)

    @property
    def ends(self) -> tuple[float, float]:
        kind: Any = self.data.schema[self.target]
        return kind.low, kind.high

    def columns(self) -> tuple[Floats, Floats]:
        """The features as numbers, a column for each value of a category but the first, and their bounds."""
        columns, bounds = [], []
        for name in self.features:
            kind: Any = self.data.schema[name]
            if isinstance(kind, sulq.Category):
                values = self.data.rows[name].to_numpy()
                columns += [(values == level).astype(float) for level in kind.levels[1:]]
                bounds += [(0.0, 1.0)] * (len(kind.levels) - 1)
            else:
                columns.append(self.data.rows[name].to_numpy(dtype=float).clip(kind.low, kind.high))
                bounds.append((kind.low, kind.high))
        return np.stack(columns, axis=1), np.array(bounds).T

    def scored(self, said: Floats) -> float:
        """R² on the rows held out."""
        truth = self.truth[~self.train]
        said = said.reshape(-1).clip(*self.ends)
        return float(1 - ((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def section() -> str:
    lines = [
        "## Linear regression",
        "",
        f"R² on rows held out, kept within the target's public bounds: mean of {REPETITIONS} runs ± its standard error, and the",
        f"worst run. δ = {DELTA:g}, or pure ε. AdaSSP has the same δ, the same public bounds and the same ε; diffprivlib has pure",
        "ε. Least squares has no privacy; sulq may be above it, because numbers far from all others are taken for less far. At",
        f"ε = 1, R² with δ was to be at least that of least squares less {CLOSE}. A cell that is missed or lost is shown as such.",
        "The learner's constants were chosen by trials that were scored on these same rows, so the figures flatter it a little.",
        "Error bars are about exact answers to the same questions, after the same first look; beside how many held stands how many",
        "times as long as the error a bar is, in the middle of all (2.9 if errors are a bell curve and bars are no longer than they need be).",
        "",
    ]
    lost: list[str] = []
    for task in tasks():
        lines += _task(task, lost)
    return "\n".join([*lines, verdict(lost), ""])


def tasks() -> list[Task]:
    """Numbers to predict: of Adult as stated beforehand, of two small tables, and of one with wide bounds."""
    made: list[Task] = []
    adult = load("adult")
    if adult is not None:
        train = (adult.rows["split"] == "train").to_numpy()
        for target in ("hours_per_week", "education_num"):
            features = (*(name for name in NUMBERS if name != target), "sex", "marital_status")
            made.append(Task(f"Adult, {target}", adult, target, features, train))
    if (FOLDER / "pums1000.csv.gz").exists():
        made.append(_pums())
    wdbc = load("wdbc")
    if wdbc is not None:
        features = tuple(f"f{place}" for place in (1, 2, 4, 5, 6))
        train = np.random.default_rng(0).random(len(wdbc.rows)) < 0.7
        made.append(Task("wdbc, f3 (area)", wdbc, "f3", features, train))
    return [*made, _wide()]


def _pums() -> Task:
    rows = pd.read_csv(FOLDER / "pums1000.csv.gz").astype({"sex": str, "married": str})
    kinds = {
        "age": sulq.Integer(0, 100),
        "sex": sulq.Category(["0", "1"], missing="0"),
        "educ": sulq.Integer(1, 16),
        "married": sulq.Category(["0", "1"], missing="0"),
        "income": sulq.Integer(0, 500_000),
    }
    train = np.random.default_rng(0).random(len(rows)) < 0.7
    features = ("age", "sex", "educ", "married")
    return Task("PUMS, income", DataSet(rows, sulq.Schema(kinds)), "income", features, train)


def _wide() -> Task:
    """Numbers that keep to a hundredth of their public bounds."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(30, 10, size=(10_000, 4)), columns=list("abcd"))
    rows["y"] = rows["a"] - 0.5 * rows["b"] + rng.normal(0, 10, len(rows))
    schema = sulq.Schema({name: sulq.Real(-5000, 5000) for name in rows})
    train = rng.random(len(rows)) < 0.7
    return Task("generated, wide bounds", DataSet(rows, schema), "y", ("a", "b", "c", "d"), train)


def _task(task: Task, lost: list[str]) -> list[str]:
    say(task.name)
    people, test = sulq.open(task.data.rows[task.train], task.data.schema), task.data.rows[~task.train]
    learner = sulq.LinearRegression(task.target, task.features)
    least = task.scored(_least_squares(task))
    with_delta: dict[str, list[float]] = {epsilon: [] for epsilon in EPSILONS}
    without: dict[str, list[float]] = {epsilon: [] for epsilon in EPSILONS}

    def runs(epsilon: str, **promise: Any) -> Cell:
        scores = []
        for _ in range(REPETITIONS):
            model, bars = _learned(learner, people, people.curator(epsilon=epsilon, **promise))
            scores.append(task.scored(model.predict(test)))
            (with_delta if promise else without)[epsilon].extend(bars)
        return Cell(tuple(scores))

    ours = [runs(epsilon, delta=DELTA) for epsilon in EPSILONS]
    pure = [runs(epsilon) for epsilon in EPSILONS]
    plain = _adassp(task)
    peer = _diffprivlib(task)
    names = [f"{task.name} at ε = {epsilon}" for epsilon in EPSILONS]
    lost += behind(ours, plain, [f"{name} (AdaSSP)" for name in names], most=True)
    lost += behind(pure, peer, [f"{name} (diffprivlib)" for name in names], most=True)
    bars, pure_bars = ([_held(held[epsilon]) for epsilon in EPSILONS] for held in (with_delta, without))
    goal = ours[EPSILONS.index("1")].mean >= least - CLOSE
    return [
        f"### {task.name}",
        "",
        f"Least squares: {least:.4f}. Within {CLOSE} of it at ε = 1: {'reached' if goal else 'missed'}. "
        f"{task.train.sum()} rows to learn from.",
        "",
        *table(
            ["", *(f"ε = {epsilon}" for epsilon in EPSILONS)],
            [
                ["sulq", *map(_shown, ours)],
                [f"AdaSSP, δ = {DELTA:g}", *map(_shown, plain)],
                ["sulq, pure ε", *map(_shown, pure)],
                ["diffprivlib, pure ε", *map(_shown, peer)],
                ["coefficients within their error bars (95 % stated)", *bars],
                ["the same, pure ε", *pure_bars],
            ],
        ),
        "",
    ]


def _shown(cell: Cell) -> str:
    if not cell.values:
        return cell.why
    mean, error, worst = (
        f"{x:.4f}" if cell.mean > -10 else f"{x:.1g}" for x in (cell.mean, cell.error, min(cell.values))
    )
    return f"{mean} ± {error} (worst {worst})"


def _held(ratios: list[float]) -> str:
    """How many error bars held, and how many times as long as the error a bar is, in the middle of all."""
    if not ratios:
        return "– (none claimed)"
    share = float(np.mean(np.array(ratios) >= 1))
    said = f"{share:.1%} (bar {np.median(ratios):.2g} × error)"
    return said if share >= STATED else f"**{said}** (missed)"


def _learned(
    learner: sulq.LinearRegression, people: sulq.Source, curator: sulq.Curator
) -> tuple[Any, list[float]]:
    """A model, and for each coefficient its error bar in units of how far it is from what exact answers give.

    The questions after a look at histograms depend on its answers, so these are the same for both.
    """
    exact = people.exact()
    noisy, clean = learner.rounds(people.schema), learner.rounds(people.schema)
    model, truth = next(noisy), next(clean)
    while isinstance(model, sulq.Round):
        answers = curator.ask(model)
        look = all(getattr(query, "statistic", None) == "count" for query in model.queries)
        # Their questions differ once the first gradients do, so each is asked its own.
        also = answers if look else exact.ask(truth)
        model, truth = _sent(noisy, answers), _sent(clean, also)
    offs = np.abs(np.array(model.coefficients) - np.array(truth.coefficients))
    return model, (1.96 * np.array(model.deviations) / np.maximum(offs, 1e-300)).tolist()


def _sent(rounds: Any, answers: Any) -> Any:
    try:
        return rounds.send(answers)
    except StopIteration as stop:
        return stop.value


def _least_squares(task: Task) -> Floats:
    columns, _ = task.columns()
    design = np.column_stack([np.ones(len(columns)), columns])
    weights = np.linalg.lstsq(design[task.train], task.truth[task.train], rcond=None)[0]
    return np.asarray(design[~task.train] @ weights)


def _adassp(task: Task) -> list[Cell]:
    """Wang, Revisiting differentially private linear regression (2018), algorithm 2, on scaled columns."""
    columns, (low, high) = task.columns()
    design = np.column_stack([np.ones(len(columns)), 2 * (columns - low) / (high - low) - 1])
    # A value of a category is 0 or 1, and a row has one of them at most.
    flags = (low == 0) & (high == 1)
    design[:, 1:][:, flags] = columns[:, flags]
    bottom, top = task.ends
    numbers = 2 * (task.truth - bottom) / (top - bottom) - 1
    categories = sum(isinstance(task.data.schema[name], sulq.Category) for name in task.features)
    length = math.sqrt(1 + (~flags).sum() + categories)
    x, y, others = design[task.train], numbers[task.train], design[~task.train]
    rng = np.random.default_rng()

    def once(epsilon: float) -> float:
        width, root = x.shape[1], math.sqrt(math.log(6 / DELTA))
        part = epsilon / 3
        gram = x.T @ x
        least = np.linalg.eigvalsh(gram)[0]
        known = max(0.0, least + root / part * length**2 * rng.normal() - root**2 / part * length**2)
        far = math.sqrt(width * math.log(6 / DELTA) * math.log(2 * width**2 / 0.05))
        ridge = max(0.0, far * length**2 / part - known)
        noise = np.triu(rng.normal(size=(width, width)))
        noise = noise + np.triu(noise, 1).T
        matrix = gram + root / part * length**2 * noise + ridge * np.eye(width)
        sums = x.T @ y + root / part * length * rng.normal(size=width)
        said = others @ np.linalg.solve(matrix, sums)
        return task.scored((said + 1) / 2 * (top - bottom) + bottom)

    return cells([[once(float(epsilon)) for _ in range(REPETITIONS)] for epsilon in EPSILONS])


def _diffprivlib(task: Task) -> list[Cell]:
    if not PYTHON.exists():
        return [Cell((), "not installed")] * len(EPSILONS)
    columns, bounds = task.columns()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.npz"
        np.savez(
            path,
            rows=columns[task.train],
            numbers=task.truth[task.train],
            others=columns[~task.train],
            truth=task.truth[~task.train],
            bounds=bounds,
            ends=np.array(task.ends, dtype=float),
            epsilons=np.array([float(epsilon) for epsilon in EPSILONS]),
            repetitions=REPETITIONS,
        )
        command = [str(PYTHON), str(PEERS / "diffprivlib_linear.py"), str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return cells(json.loads(done.stdout))
