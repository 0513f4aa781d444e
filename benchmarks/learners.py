"""How good trees, halfspaces and conjunctions are under a curator, beside exact ones and beside diffprivlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import linear_model, tree

import curves
import sulq
from data_sets import DataSet, Floats, census_numbers, load, separable
from measure import (
    ABSENT,
    DOCS,
    EPSILONS,
    HOW,
    REPETITIONS,
    Cell,
    against,
    behind,
    best_of,
    cells,
    masks,
    parts,
    peer,
    say,
    table,
    verdict,
)

TREE_GOALS = {
    "adult": dict(zip(EPSILONS, (0.81, 0.83, 0.84, 0.845, 0.85), strict=True)),
    "mushroom": {"0.1": 0.97, "1": 0.995},
}


def trees() -> str:
    """Decision trees: accuracy on rows not learned from."""
    shown, lost, drawn = [], [], {}
    exact: list[list[Any]] = []
    for name in ("adult", "mushroom", "car", "wdbc"):
        data = load(name)
        if data is None:
            continue
        assert data.label is not None
        say("trees,", name)
        own = _accuracies(data, lambda label: sulq.ID3(label), EPSILONS)
        paper = _accuracies(data, lambda label: sulq.ID3(label, pick="counts"), EPSILONS)
        theirs = _diffprivlib_classifiers(data)
        goals = TREE_GOALS.get(name, {})
        for i, epsilon in enumerate(EPSILONS):
            mark = against(own[i], goals[epsilon]) if epsilon in goals else own[i]
            others = [column[i] for column in theirs.values()]
            shown.append([name, epsilon, mark, goals.get(epsilon, ""), paper[i], *others])
        for column in theirs.values():
            lost += behind(own, column, [f"{name} at {e}" for e in EPSILONS], most=True)
        drawn[name] = {"sulq": own, "sulq, by counts": paper, **theirs}
        exact.append([name, *_without_privacy(data)])
        drawn[name]["exact"] = [exact[-1][1]] * len(EPSILONS)
    if not shown:
        return f"## Decision trees\n\n{ABSENT}\n"
    curves.accuracies(DOCS / "trees.png", {name: drawn[name] for name in TREE_GOALS if name in drawn})
    head = [
        "data",
        "ε",
        "sulq `ID3`",
        "goal",
        "by counts",
        "diffprivlib tree",
        "forest",
        "logistic regression",
    ]
    plain = ["data", "sulq, exact", "by counts, exact", "scikit-learn, depth 5", "majority class"]
    lines = [
        "## Decision trees",
        "",
        "Accuracy on rows not learned from (Adult: its own split, others: 30 %).",
        HOW,
        "`by counts` is the paper's way of picking questions. diffprivlib: trees and forests (10 trees, shuffled rows) of",
        "depths 5 and 10 on codes, logistic regression on one-hot columns, and labels recoded to 0, 1, …, because with",
        "any others its forest guesses.",
        "",
        *table(head, shown),
        "",
        verdict(lost),
        "",
        "Without privacy:",
        "",
        *table(plain, exact),
        "",
        "![Accuracy against ε](../docs/trees.png)",
    ]
    return "\n".join(lines) + "\n"


def halfspaces() -> str:
    """The perceptron: accuracy on rows not learned from. Conjunctions: how often the promise is kept."""
    shown, lost = [], []
    sets = {"wdbc": load("wdbc"), "skin": load("skin"), "adult": census_numbers(), "separable": separable()}
    for name, data in sets.items():
        if data is None:
            continue
        say("perceptron,", name)
        own = _accuracies(data, lambda label: sulq.Perceptron(label), EPSILONS)
        average = _accuracies(data, lambda label: sulq.Perceptron(label, keep="average"), EPSILONS)
        [exact] = _accuracies(data, lambda label: sulq.Perceptron(label), ["exact"])
        rows = data.scaled()
        norm = {"data_norm": math.sqrt(rows.shape[1])}
        theirs = _classified("logistic", data, rows, [norm])
        plain = _scikit(data, rows, lambda: linear_model.Perceptron(random_state=0))
        for i, epsilon in enumerate(EPSILONS):
            shown.append([name, epsilon, own[i], average[i], theirs[i], exact, plain, _majority(data)])
        lost += behind(own, theirs, [f"{name} at {e}" for e in EPSILONS], most=True)
    head = [
        "data",
        "ε",
        "sulq `Perceptron`",
        '`keep="average"`',
        "diffprivlib logistic regression",
        "sulq, exact",
    ]
    lines = [
        "## The perceptron",
        "",
        "Accuracy on rows not learned from, numeric and boolean columns only.",
        HOW,
        "`separable`: 20,000 synthetic points with a margin of 0.1.",
        "",
        *table([*head, "scikit-learn `Perceptron`", "majority class"], shown),
        "",
        verdict(lost),
        "",
        *_conjunctions(),
    ]
    return "\n".join(lines) + "\n"


def _conjunctions(error: float = 0.1, columns: int = 20, repetitions: int = 100) -> list[str]:
    shown = []
    for size in (1_000, 10_000, 100_000):
        say("conjunctions,", size, "rows")
        bits = np.random.default_rng(0).random((size, columns)) < 0.7
        rows = {f"x{i}": bits[:, i] for i in range(columns)} | {"y": bits[:, :3].all(axis=1)}
        source = sulq.open(rows, {name: sulq.Boolean() for name in rows})
        asked = sulq.Conjunction("y", error=str(error), share=1)
        line: list[object] = [f"{size:,}"]
        for epsilon in EPSILONS:
            rules = [asked.learn(source.curator(epsilon=epsilon)) for _ in range(repetitions)]
            kept = np.mean([np.mean(rule.predict(rows) != rows["y"]) <= error for rule in rules])
            line.append(f"{kept:.2f}")
        promised = next(sulq.Conjunction("y", error=str(error)).rounds(source.schema))
        shown.append([*line, f"{float(source.curator(epsilon=1).cost(promised)):.2f}"])
    return [
        "## Conjunctions",
        "",
        f"Three of {columns} attributes, each true of 70 % of the rows: the share of {repetitions} runs whose rule errs on at",
        f"most {error:.0%} of the rows, given all of ε; and the ε at which sulq would promise that at 95 %.",
        "",
        *table(["rows", *(f"ε = {e}" for e in EPSILONS), "promised from ε ="], shown),
    ]


def _accuracies(
    data: DataSet, learner: Callable[[str], sulq.Learner[Any]], epsilons: Sequence[str]
) -> list[Cell]:
    assert data.label is not None
    label, found = data.label, []
    split = [(sulq.open(train, data.schema), test, truth) for train, test, truth in parts(data)]
    for epsilon in epsilons:
        scores = []
        for r in range(REPETITIONS if epsilon != "exact" else len(split)):
            source, test, truth = split[r % len(split)]
            oracle = source.exact() if epsilon == "exact" else source.curator(epsilon=epsilon)
            scores.append(float(np.mean(learner(label).learn(oracle).predict(test) == truth)))
        found.append(Cell(tuple(scores)))
    return found


def _diffprivlib_classifiers(data: DataSet) -> dict[str, list[Cell]]:
    codes, bounds = data.codes()
    hot, norm = data.one_hot()
    depths = [{"max_depth": 5}, {"max_depth": 10}]
    say("diffprivlib's classifiers")
    return {
        "diffprivlib tree": _classified("tree", data, codes, depths, bounds),
        "diffprivlib forest": _classified(
            "forest", data, codes, [{"shuffle": True, **d} for d in depths], bounds
        ),
        "diffprivlib logistic": _classified("logistic", data, hot, [{"data_norm": norm}]),
    }


def _classified(
    learner: str, data: DataSet, rows: Floats, settings: list[dict[str, Any]], bounds: Floats | None = None
) -> list[Cell]:
    """A peer's accuracies, with the best of the settings for each epsilon."""
    labels = np.unique(data.truth, return_inverse=True)[1]
    arrays: dict[str, Any] = {"rows": rows, "labels": labels, "masks": masks(data)}
    if bounds is not None:
        arrays["bounds"] = bounds
    found = [peer(learner, EPSILONS, each, arrays) for each in settings]
    return best_of([cells(each) for each in found if each is not None], most=True)


def _without_privacy(data: DataSet) -> list[Cell]:
    [exact] = _accuracies(data, lambda label: sulq.ID3(label), ["exact"])
    [paper] = _accuracies(data, lambda label: sulq.ID3(label, pick="counts"), ["exact"])
    five = _scikit(data, data.codes()[0], lambda: tree.DecisionTreeClassifier(max_depth=5, random_state=0))
    return [exact, paper, five, _majority(data)]


def _scikit(data: DataSet, rows: Floats, model: Callable[[], Any]) -> Cell:
    truth = data.truth
    return Cell(tuple(float(model().fit(rows[m], truth[m]).score(rows[~m], truth[~m])) for m in masks(data)))


def _majority(data: DataSet) -> Cell:
    truth = data.truth
    shares = []
    for mask in masks(data):
        values, counts = np.unique(truth[mask], return_counts=True)
        shares.append(float(np.mean(truth[~mask] == values[counts.argmax()])))
    return Cell(tuple(shares))
