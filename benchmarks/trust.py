"""What trust buys: every learner under every trust model, against ε.

A learner is the same under all of them, with settings small enough for a crowd, where each question has people of its
own. What it learns is judged by one number that is better the larger it is, and at most 1.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator, NullLocator

import sulq
from measure import DOCS, EPSILONS, REPETITIONS, Cell, say, table
from trust_tasks import ROWS_THEMSELVES, TASKS, Task

RATE = "0.1"
"""How many of the labels are wrong, where some are."""
NOISY = ("curator", "wrong labels", "crowd")
MODELS = {
    "exact": "`exact()`",
    "sample": "`sample()`",
    "curator": "`curator(epsilon=1)`",
    "wrong labels": "the same, 10 % of the labels wrong",
    "crowd": "`crowd(epsilon=1)`",
    "adversary": "`Adversary`",
}


@dataclass(frozen=True)
class Outcome:
    """What the runs gave, and how many were refused because there were too few people."""

    cell: Cell
    refused: int = 0

    def shown(self, nothing: Cell) -> str:
        if not self.cell.values:
            return self.cell.why
        lost = self.cell.mean <= nothing.mean + 2 * math.hypot(self.cell.error, nothing.error)
        told = f"**{self.cell}** (lost)" if lost else str(self.cell)
        return f"{told} ({self.refused} refused)" if self.refused else told


Results = dict[str, dict[tuple[str, str], Outcome]]


def section(
    repetitions: int = REPETITIONS,
    epsilons: Sequence[str] = EPSILONS,
    names: Sequence[str] | None = None,
    picture: Path = DOCS / "trust.png",
) -> str:
    """The section of RESULTS.md; `names` are some of TASKS, and `epsilons` hold 1."""
    wanted = list(TASKS if names is None else names)
    found = {}
    # Rows are few, so each of two processes works with one thread on a task of its own, the longest tasks first.
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        first = sorted(wanted, key=lambda name: "KMeans" not in name)
        jobs = {pool.submit(measured, name, repetitions, epsilons): name for name in first}
        for job in as_completed(jobs):
            found[jobs[job]] = job.result()
            say("trust,", jobs[job], "" if job.result() else "(skipped: the data is not there)")
    results: Results = {name: own for name in wanted if (own := found[name])}
    draw(picture, results, epsilons)
    lines = [
        "## Trust models",
        "",
        f"Mean of {repetitions} runs ± its standard error, pure ε, a row that is replaced by any other is protected (randhie: a person",
        "with up to five rows). Splits and wrong labels are seeded; noise never is. Trees, halfspaces, conjunctions and parities:",
        "accuracy on rows not learned from (Adult: its own split, randhie: other people, others: 30 %). `KMeans`: scikit-learn's",
        "sum of squared distances over the one reached. `PCA`: the variance along three components (randhie: two), over the most",
        "there is. Nothing learned: the majority, one centre in the middle, random directions. A cell that is not better by",
        "two standard errors is lost.",
        "Trees have depth 2 and ask about five columns at most: with its defaults `ID3` asks more questions than some of these crowds",
        "have people for. Of Adult, Mushroom and skin the depth, columns and edges were picked by hand after several had been tried on",
        "the same rows, those judged by included, so the trees' numbers flatter, and the crowd's most. `Conjunction`: 3 of 20 attributes, 70,000 rows. `MaskedParity`: d = 8, 14,000 rows.",
        "`Parity`: 3 of 16 bits, 21,000 rows; none found counts as a guess. `Select`: at most two conditions. These two take wrong",
        "labels as they are, the others denoise them. The adversary: the worst of eight ways to answer, with an error of 0.1 asked",
        "for, or exact recovery (its tolerance is enough for uniform rows, and rows that were drawn are a little off). Refused: there",
        "were too few people for the questions.",
        "",
        "In percent, at ε = 1 where there is one:",
        "",
        compact(results),
        "",
        "![Quality against ε under each trust model](../docs/trust.png)",
        "",
        "Against ε:",
        "",
        *_against_epsilon(results, epsilons),
        "",
        "Without noise:",
        "",
        *_without_noise(results),
    ]
    return "\n".join(lines) + "\n"


def compact(results: Results) -> str:
    """Trust models and learners, at ε = 1: the README's table."""
    shown = {name: results[name] for name in COMPACT if name in results}
    lines = []
    for model, meaning in MODELS.items():
        cells = [its[model, "1" if model in NOISY else ""].cell for its in shown.values()]
        lines.append([meaning, *(_percent(cell) if cell.values else "–" for cell in cells)])
    lines.append(["nothing learned", *(_percent(its["nothing", ""].cell) for its in shown.values())])
    return "\n".join(table(["who answers", *shown], lines))


def _percent(cell: Cell) -> str:
    return f"{100 * cell.mean:.1f} ± {100 * cell.error:.1f}"


def measured(name: str, repetitions: int, epsilons: Sequence[str]) -> dict[tuple[str, str], Outcome] | None:
    """Everything about one task, or nothing if its data is not there."""
    task = TASKS[name]()
    if task is None:
        return None
    cases = [(model, epsilon) for model in MODELS for epsilon in (epsilons if model in NOISY else [""])]
    values: dict[tuple[str, str], list[float]] = {case: [] for case in [*cases, ("nothing", "")]}
    refused = dict.fromkeys(values, 0)
    for r in range(repetitions):
        train, test = task.parts(r)
        values["nothing", ""].append(task.nothing(train, test))
        source = sulq.open(train, task.data.schema, threads=1)
        flipped = None if task.barred("wrong labels") else _flipped(task, train, r)
        for model, epsilon in cases:
            # What has no randomness is the same again for the same rows.
            if task.barred(model) or (model in ("exact", "adversary") and r >= len(task.masks)):
                continue
            try:
                found = _judged(task, model, epsilon, flipped if model == "wrong labels" else source, test)
                values[model, epsilon].append(found)
            except (sulq.QueryError, sulq.BudgetError):
                if model not in ("crowd", "sample"):
                    raise
                refused[model, epsilon] += 1
    return {
        (model, epsilon): Outcome(
            Cell(tuple(own), task.barred(model) or "– (too few people)"),
            refused[model, epsilon] if own else 0,
        )
        for (model, epsilon), own in values.items()
    }


def _judged(task: Task, model: str, epsilon: str, source: Any, test: pd.DataFrame) -> float:
    if model == "adversary":
        return float(
            1 - sulq.theory.worst_answers(task.stating, source, lambda h: 1 - task.judge(h, test), tries=5)[0]
        )
    if model == "exact":
        oracle = source.exact()
    elif model == "sample":
        oracle = source.sample()
    elif model == "crowd":
        oracle = source.crowd(epsilon=epsilon)
    else:
        oracle = source.curator(epsilon=epsilon)
        if model == "wrong labels" and not isinstance(task.learner, ROWS_THEMSELVES):
            oracle = oracle.denoised(task.data.label, RATE)
    return task.judge(task.learner.learn(oracle), test)


def _flipped(task: Task, train: pd.DataFrame, repetition: int) -> sulq.Source:
    wrong = np.random.default_rng(repetition).random(len(train)) < float(RATE)
    label = task.data.label
    assert label is not None
    return sulq.open(train.assign(**{label: train[label] ^ wrong}), task.data.schema, threads=1)


COMPACT = (
    "`ID3`, Adult",
    "`Perceptron`, skin",
    "`KMeans`, skin",
    "`PCA`, Adult",
    "`Conjunction`",
    "`MaskedParity`",
    "`Select`, Adult",
    "`Parity`",
)
PANELS = {
    "`ID3`, Adult": ("Decision tree, Adult", "accuracy"),
    "`ID3`, Mushroom": ("Decision tree, Mushroom", "accuracy"),
    "`ID3`, randhie": ("Decision tree, randhie", "accuracy"),
    "`Perceptron`, skin": ("Halfspace, skin", "accuracy"),
    "`KMeans`, skin": ("k-means, skin", "squared distances, best / own"),
    "`PCA`, Adult": ("Components, Adult", "variance captured"),
    "`Conjunction`": ("Conjunction", "accuracy"),
    "`MaskedParity`": ("Masked parity", "accuracy"),
}
# Okabe and Ito's colours, which the colour-blind can tell apart.
LINES: dict[str, tuple[str, dict[str, Any]]] = {
    "curator": ("trusted curator", {"color": "#0072B2", "linewidth": 2.2}),
    "wrong labels": ("trusted curator, 10 % wrong labels", {"color": "#56B4E9", "linewidth": 1.4}),
    "crowd": ("crowd, nobody trusted", {"color": "#D55E00", "linewidth": 2.2}),
    "exact": ("exact answers", {"color": "#000000", "linestyle": ":"}),
    "sample": ("fresh sample", {"color": "#009E73", "linestyle": "--", "linewidth": 1.2}),
    "adversary": ("adversary", {"color": "#CC79A7", "linestyle": "-.", "linewidth": 1.2}),
    "nothing": ("majority, or nothing learned", {"color": "#999999", "linewidth": 1}),
}


def draw(path: Path, results: Results, epsilons: Sequence[str]) -> None:
    """Small multiples: quality against ε, a panel for each task and a line for each model."""
    names = [name for name in PANELS if name in results]
    if not names:
        return
    wide = min(4, len(names))
    high = -(-len(names) // wide)
    figure, axes = plt.subplots(high, wide, figsize=(2.9 * wide, 2.5 * high + 0.5), dpi=150, squeeze=False)
    x = [float(epsilon) for epsilon in epsilons]
    known: dict[str, Any] = {}
    for ax, name in zip(axes.flat, names, strict=False):
        for model, (label, style) in LINES.items():
            if model in NOISY:
                cells = [results[name][model, epsilon].cell for epsilon in epsilons]
                points = [
                    (at, cell.mean, cell.error) for at, cell in zip(x, cells, strict=True) if cell.values
                ]
                if points:
                    at, mean, error = zip(*points, strict=True)
                    known[label] = ax.errorbar(
                        at, mean, error, marker="o", markersize=3.5, capsize=2, elinewidth=1, **style
                    )
            elif results[name][model, ""].cell.values:
                known[label] = ax.axhline(results[name][model, ""].cell.mean, **style)
        _dressed(ax, *PANELS[name], x, epsilons)
    for ax in list(axes.flat)[len(names) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("ε")
    order = [label for label, _ in LINES.values() if label in known]
    figure.tight_layout(rect=(0, 0.6 / figure.get_figheight(), 1, 1))
    figure.legend(
        [known[label] for label in order], order, loc="lower center", ncols=4, frameon=False, fontsize=9
    )
    figure.savefig(path)
    plt.close(figure)


def _dressed(ax: Any, title: str, judged: str, x: Sequence[float], epsilons: Sequence[str]) -> None:
    ax.set_title(title, loc="left", fontweight="bold", fontsize=10)
    ax.set_ylabel(judged, fontsize=8)
    ax.set_xscale("log")
    ax.set_xticks(x, epsilons)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.spines[["top", "right"]].set_visible(False)


def _against_epsilon(results: Results, epsilons: Sequence[str]) -> list[str]:
    lines = []
    for name, its in results.items():
        for model in NOISY:
            found = [its[model, epsilon] for epsilon in epsilons]
            if any(each.cell.values for each in found):
                lines.append([name, model, *(each.shown(its["nothing", ""].cell) for each in found)])
            else:
                lines.append([name, model, found[0].cell.why, *[""] * (len(found) - 1)])
    return table(["learner, data", "who answers", *(f"ε = {epsilon}" for epsilon in epsilons)], lines)


def _without_noise(results: Results) -> list[str]:
    quiet = [model for model in MODELS if model not in NOISY]
    lines = []
    for name, its in results.items():
        nothing = its["nothing", ""].cell
        lines.append([name, *(its[model, ""].shown(nothing) for model in quiet), nothing])
    return table(["learner, data", *quiet, "nothing learned"], lines)
