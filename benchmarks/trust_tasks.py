"""What is learned under every trust model: learners, rows, and how good what they learn is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import cluster

import sulq
from clusters import _captured, _inertia
from data_sets import DataSet, census_numbers, load, separable
from measure import REPETITIONS, masks
from sulq.hypotheses import Nothing

TREES: dict[str, tuple[list[str], dict[str, list[float]]]] = {
    "Adult": (
        ["marital_status", "education_num", "age", "capital_gain", "hours_per_week"],
        {"education_num": [9, 13], "age": [30, 45], "capital_gain": [5_000], "hours_per_week": [35, 45]},
    ),
    "Mushroom": (["odor", "spore-print-color", "gill-size", "gill-color", "habitat"], {}),
    "randhie": (
        ["doctor_visits", "plan", "health", "age", "sex"],
        {"doctor_visits": [1, 2, 4], "age": [18, 40]},
    ),
    "skin": (["R", "G", "B"], {colour: [64, 128, 192] for colour in "RGB"}),
}
ROWS_THEMSELVES = (sulq.Parity, sulq.Select)
"""What these ask about the rows themselves no sample and no crowd can answer; wrong labels they take as they are."""
TRUE = {"adult": ">50K", "mushroom": "p", "skin": "1", "separable": "in"}
Judge = Callable[[Any, pd.DataFrame], float]


@dataclass(frozen=True)
class Task:
    """A learner, rows, and how good what it learns is.

    `masks`: which rows to learn from, in each repetition; the others judge it, or all do if there are none.
    `nothing`: how good is what nobody needs to learn. `stating`: the same learner with tolerances stated.
    """

    learner: Any
    data: DataSet
    masks: NDArray[np.bool_]
    judge: Judge
    nothing: Callable[[pd.DataFrame, pd.DataFrame], float]
    stating: Any = None

    def parts(self, repetition: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        mask = self.masks[repetition % len(self.masks)]
        return self.data.rows[mask], self.data.rows[mask if mask.all() else ~mask]

    def barred(self, model: str) -> str | None:
        """Why the learner cannot run under a model."""
        if isinstance(self.learner, ROWS_THEMSELVES) and model in ("sample", "crowd"):
            return "– (needs a curator)"
        if model == "wrong labels" and self.data.label is None:
            return "– (has no labels)"
        return "– (states no tolerances)" if model == "adversary" and self.stating is None else None


def _labelled(
    name: str, learner: Callable[[str], Any], data: DataSet | None, stating: Any = None
) -> Task | None:
    """A task of predicting a label, which is made a truth value: wrong labels can be denoised where it is one."""
    if data is None:
        return None
    label = data.label
    assert label is not None
    if name in TRUE:
        rows = data.rows.assign(**{label: data.truth == TRUE[name]})
        kinds = {column: data.schema[column] for column in data.schema}
        data = DataSet(rows, sulq.Schema(kinds | {label: sulq.Boolean()}), label)

    def accuracy(hypothesis: Any, test: pd.DataFrame) -> float:
        if isinstance(hypothesis, Nothing):
            return 0.5
        return float(np.mean(hypothesis.predict(test) == test[label]))

    def majority(train: pd.DataFrame, test: pd.DataFrame) -> float:
        return float(np.mean(test[label] == (train[label].mean() > 0.5)))

    own = _by_person(data) if name == "randhie" else masks(data)
    return Task(learner(label), data, own, accuracy, majority, stating)


def _clusters(k: int, data: DataSet | None) -> Task | None:
    if data is None:
        return None
    rows = data.scaled()
    best = cluster.KMeans(k, n_init=10, random_state=0).fit(rows).inertia_
    middle = float(best / _inertia(rows, [rows.mean(axis=0).tolist()]))
    return _unlabelled(
        sulq.KMeans(k, data.numeric), data, lambda h, _: float(best / _inertia(rows, h.centres)), middle
    )


def _components(k: int, data: DataSet | None) -> Task | None:
    if data is None:
        return None
    numbers = sulq.Schema({name: data.schema[name] for name in data.numeric})
    captured = _captured(DataSet(data.rows, numbers).scaled(), k)
    # A random direction captures as much as the axes do on average.
    guess = k * float(np.mean([captured([axis]) for axis in np.eye(len(numbers)).tolist()]))
    return _unlabelled(sulq.PCA(k, data.numeric), data, lambda h, _: captured(h.directions), guess)


def _unlabelled(learner: Any, data: DataSet, judge: Judge, nothing: float) -> Task:
    """A task of describing the rows, all of which judge it."""
    every = np.ones((1, len(data.rows)), dtype=bool)
    return Task(learner, DataSet(data.rows, data.schema), every, judge, lambda *_: nothing)


def _tree(name: str) -> Task | None:
    columns, bins = TREES[name]
    data = _randhie() if name == "randhie" else load(name.lower())
    return _labelled(
        name.lower(),
        lambda label: sulq.ID3(label, columns, depth=2, bins=bins, split="multiway"),
        data,
    )


def _select(name: str) -> Task | None:
    data = _randhie() if name == "randhie" else load(name.lower())
    edges = TREES[name][1]
    return _labelled(
        name.lower(), lambda label: sulq.Select(sulq.classes.SmallConjunctions(2, edges=edges), label), data
    )


def _randhie() -> DataSet:
    path = Path(sulq.__file__).parent / "samples" / "randhie.parquet"
    schema = sulq.randhie().schema
    rows = pd.read_parquet(path)
    return DataSet(rows.fillna({"education": schema["education"].missing}), schema, "bought_drugs")


def _by_person(data: DataSet) -> NDArray[np.bool_]:
    """Random 70 % of the people, for each repetition."""
    person = data.rows["person"].to_numpy()
    return np.array(
        [(np.random.default_rng(r).random(person.max() + 1) < 0.7)[person] for r in range(REPETITIONS)]
    )


def _conjunctions() -> Task | None:
    bits = np.random.default_rng(0).random((100_000, 20)) < 0.7
    rows = pd.DataFrame({f"x{i}": bits[:, i] for i in range(20)} | {"y": bits[:, :3].all(axis=1)})
    data = DataSet(rows, sulq.Schema(dict.fromkeys(rows, sulq.Boolean())), "y")
    return _labelled("", lambda label: sulq.Conjunction(label, share=1), data, sulq.Conjunction("y"))


def _masked_parities() -> Task | None:
    secret = [1, 0, 1, 1, 0, 0, 1, 0]
    rows = pd.DataFrame(sulq.theory.masked_parity_rows(secret, 1, 20_000, np.random.default_rng(0)))
    data = DataSet(rows, sulq.theory.masked_parity_schema(len(secret)), "label")
    return _labelled("", lambda _: sulq.theory.MaskedParity(share=1), data, sulq.theory.MaskedParity())


def _parities() -> Task | None:
    bits = np.random.default_rng(0).random((30_000, 16)) < 0.5
    odd = np.logical_xor.reduce(bits[:, [2, 3, 11]], axis=1)
    rows = pd.DataFrame({f"x{i}": bits[:, i] for i in range(16)} | {"y": odd})
    data = DataSet(rows, sulq.Schema(dict.fromkeys(rows, sulq.Boolean())), "y")
    return _labelled("", lambda label: sulq.Parity(label), data)


TASKS: dict[str, Callable[[], Task | None]] = {
    "`ID3`, Adult": lambda: _tree("Adult"),
    "`ID3`, Mushroom": lambda: _tree("Mushroom"),
    "`ID3`, randhie": lambda: _tree("randhie"),
    "`ID3`, skin": lambda: _tree("skin"),
    "`Perceptron`, Adult": lambda: _labelled("adult", sulq.Perceptron, census_numbers()),
    "`Perceptron`, randhie": lambda: _labelled("randhie", sulq.Perceptron, _randhie()),
    "`Perceptron`, skin": lambda: _labelled("skin", sulq.Perceptron, load("skin")),
    "`Perceptron`, separable": lambda: _labelled("separable", sulq.Perceptron, separable()),
    "`KMeans`, s1": lambda: _clusters(15, load("s1")),
    "`KMeans`, Adult": lambda: _clusters(5, load("adult")),
    "`KMeans`, skin": lambda: _clusters(5, load("skin")),
    "`KMeans`, digits": lambda: _clusters(10, load("digits")),
    "`PCA`, Adult": lambda: _components(3, load("adult")),
    "`PCA`, randhie": lambda: _components(2, _randhie()),
    "`PCA`, digits": lambda: _components(3, load("digits")),
    "`Conjunction`": _conjunctions,
    "`MaskedParity`": _masked_parities,
    "`Select`, Adult": lambda: _select("Adult"),
    "`Select`, Mushroom": lambda: _select("Mushroom"),
    "`Select`, randhie": lambda: _select("randhie"),
    "`Select`, skin": lambda: _select("skin"),
    "`Parity`": _parities,
}
