"""One release of all pairs of columns: how good the models and the synthetic rows are that are made of it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score

import sulq
from data_sets import DataSet, load
from measure import ABSENT, Cell, cells, say, table
from sulq.hypotheses import PairsRelease

RUNS = 5
EPSILONS = ("1",)
DELTA = "1e-6"
INTERVALS = 10
"""Into so many intervals with about as many real rows each a number is cut to measure distances."""

HEAD = f"""## Pairs

All two-way tables of Adult's columns are published once, by `Pairs(label="income")`; what follows is made of the release alone.
Mean of {RUNS} runs ± its standard error; (ε, {DELTA}), a row is replaced by any other. Four fifths of the rows are learned
from, and models are tested on the others. *Distance*: the total variation between a two-way table of as many synthetic rows as
there are real ones and that of the real rows, mean over all pairs of columns, numbers in {INTERVALS} intervals with about as
many real rows each. *Boosted*: scikit-learn's `HistGradientBoostingClassifier`, trained on the synthetic rows.
"""


def section() -> str:
    data = load("adult")
    if data is None:
        return f"## Pairs\n\n{ABSENT}\n"
    results: dict[str, list[list[float]]] = {name: [] for name in ("exact", *EPSILONS)}
    for run in range(RUNS):
        taken = np.random.default_rng(run).random(len(data.rows)) < 0.8
        rows, others = data.rows[taken].reset_index(drop=True), data.rows[~taken]
        source = sulq.open(rows, data.schema)
        for epsilon in EPSILONS:
            say("pairs, run", run + 1, "at", epsilon)
            release = sulq.Pairs(label=data.label).learn(source.curator(epsilon=epsilon, delta=DELTA))
            results[epsilon].append(_measured(data, release, rows, others))
        results["exact"].append(_without_privacy(data, source, rows, others))
    lines = [[_named(name), *_columns(values)] for name, values in results.items()]
    head = ["ε", "distance", "boosted: AUROC"]
    head += [
        f"`{way}`: {what}" for way in ("additive", "naive_bayes", "tree") for what in ("accuracy", "AUROC")
    ]
    return "\n".join([HEAD, *table(head, lines[1:] + lines[:1]), ""])


def _measured(data: DataSet, release: PairsRelease, rows: pd.DataFrame, others: pd.DataFrame) -> list[float]:
    assert data.label is not None
    drawn = release.sample(len(rows)).to_frame("pandas")
    found = [_distance(data, rows, drawn), _boosted(data, drawn, others)]
    truth = (others[data.label] == ">50K").to_numpy()
    for way in ("additive", "naive_bayes", "tree"):
        likely = getattr(release, way)(data.label).predict_proba(others)[:, 1]
        found += [accuracy_score(truth, likely > 0.5), roc_auc_score(truth, likely)]
    return found


def _without_privacy(
    data: DataSet, source: sulq.Source, rows: pd.DataFrame, others: pd.DataFrame
) -> list[float]:
    """The same from exact answers, but for the boosted model: that one learns from the real rows."""
    measured = _measured(data, sulq.Pairs(label=data.label).learn(source.exact()), rows, others)
    return [measured[0], _boosted(data, rows, others), *measured[2:]]


def _distance(data: DataSet, rows: pd.DataFrame, drawn: pd.DataFrame) -> float:
    places = {name: _places(data, name, rows, drawn) for name in data.schema}
    apart = []
    for one, other in combinations(places, 2):
        size = places[other][2]
        tables = [
            np.bincount(places[one][which] * size + places[other][which], minlength=places[one][2] * size)
            for which in (0, 1)
        ]
        apart.append(np.abs(tables[0] / len(rows) - tables[1] / len(drawn)).sum() / 2)
    return float(np.mean(apart))


def _places(data: DataSet, name: str, rows: pd.DataFrame, drawn: pd.DataFrame) -> tuple[Any, Any, int]:
    """Which value of a column real and synthetic rows have, and how many values there are."""
    kind = data.schema[name]
    if isinstance(kind, sulq.Category):
        given = [pd.Categorical(each[name], categories=list(kind.levels)).codes for each in (rows, drawn)]
        unknown = len(kind.levels) - 1  # the last level is for what is missing
        return (*(np.where(codes < 0, unknown, codes).astype(np.int64) for codes in given), len(kind.levels))
    edges = np.unique(np.quantile(rows[name], np.arange(1, INTERVALS) / INTERVALS))
    return (*(np.searchsorted(edges, each[name], side="right") for each in (rows, drawn)), len(edges) + 1)


def _boosted(data: DataSet, rows: pd.DataFrame, others: pd.DataFrame) -> float:
    label = data.label
    assert label is not None

    def points(frame: pd.DataFrame) -> NDArray[np.float64]:
        columns = [
            pd.Categorical(frame[name], categories=list(kind.levels)).codes
            if isinstance(kind, sulq.Category)
            else frame[name]
            for name, kind in data.schema.items()
            if name != label
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    categories = [isinstance(kind, sulq.Category) for name, kind in data.schema.items() if name != label]
    model = HistGradientBoostingClassifier(random_state=0, categorical_features=categories)
    model.fit(points(rows), rows[label] == ">50K")
    return float(roc_auc_score(others[label] == ">50K", model.predict_proba(points(others))[:, 1]))


def _columns(values: list[list[float]]) -> list[Cell]:
    return cells(np.array(values).T.tolist())


def _named(name: str) -> str:
    return "exact; boosted on real rows" if name == "exact" else name


if __name__ == "__main__":
    print(section())
