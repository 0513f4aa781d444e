"""Quantiles of Adult's columns, beside OpenDP's: errors in the column's unit and in rank, and how often bounds hold."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

import data_sets
import sulq
from measure import ABSENT, REPETITIONS, Cell, say, table, verdict
from sulq.learners.edges import quantile_edges

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
EPSILONS = ("0.1", "1")
WIDE = 1_000_000
COLUMNS = {
    "age": (120, WIDE),
    "hours_per_week": (100, WIDE),
    "capital_gain": (100_000, WIDE),
    "fnlwgt": (2_000_000,),
}
CANDIDATES = 1001
MOST_LISTED = 10_000
"""All whole numbers are candidates if they are no more than this; more of them take OpenDP long."""
Values = NDArray[np.int64]
Quantiles = Callable[[Values], list[float]]


def section() -> str:
    """The section of RESULTS.md."""
    adult = data_sets.load("adult")
    lines = [
        "## Quantiles",
        "",
        f"Adult, {'no' if adult is None else f'{len(adult.rows):,}'} rows: the quantiles at {', '.join(f'{x:g}' for x in LEVELS)} of one column, all five for one ε",
        "(pure, a row that is replaced by any other). The bounds are what is public about a column; nothing else is. Most values of",
        "age, hours and gains occur many times (92 % of gains are 0), those of fnlwgt, the survey's weights, do not. Mean of",
        f"{REPETITIONS} runs ± its standard error, over the five: how far off in the column's unit, and in ranks (how many rows lie between",
        "the answer and the quantile; 0 if the answer is one). OpenDP 0.16 has two ways: a choice for each quantile with a fifth of",
        "ε (`make_private_quantile`), and a tree of counts (`make_b_ary_tree` with the branching factor it proposes, made",
        f"consistent, rounded down to whole numbers). Both need candidates: all whole numbers if the bound is at most {MOST_LISTED:,}, else {CANDIDATES:,} that are evenly spaced, or sulq's own",
        "edges; the best of these in each cell is shown. Inside: how many of sulq's quantiles were within the bounds that it states",
        "at 95 %. In the second table there is the median alone, for all of ε. A peer that is ahead is in bold.",
        "",
    ]
    if adult is None:
        return "\n".join([*lines, ABSENT])
    lost: list[str] = []
    for levels, what in ((LEVELS, "five quantiles"), (LEVELS[2:3], "median alone")):
        lines += [*_compared(adult, levels, what, lost), ""]
    return "\n".join([*lines, verdict(lost), ""])


def _compared(adult: Any, levels: Sequence[float], what: str, lost: list[str]) -> list[str]:
    head = [
        what,
        "ε",
        "sulq",
        "OpenDP choice",
        "OpenDP tree",
        "sulq, ranks",
        "choice, ranks",
        "tree, ranks",
        "inside",
    ]
    lines = []
    for column, high in [(column, high) for column, bounds in COLUMNS.items() for high in bounds]:
        values = adult.rows[column].to_numpy(dtype=np.int64)
        for epsilon in EPSILONS:
            say("quantiles", what, column, high, epsilon)
            name = f"{column}, 0 to {high:,}"
            ours, inside = _ours(column, values, high, epsilon, levels)
            peers = [
                _best([_errors(setting, values, levels) for setting in settings])
                for settings in (
                    _choices(values, high, epsilon, levels),
                    _trees(values, high, epsilon, levels),
                )
            ]
            cells = [[pair[i] for pair in (ours, *peers)] for i in (0, 1)]
            for unit, part in zip(("unit", "ranks"), cells, strict=True):
                lost += _behind(part, f"{what}, {name}, ε = {epsilon}, {unit}")
            lines.append([name, epsilon, *(_shown(cell, part[0]) for part in cells for cell in part), inside])
    return table(head, lines)


def _ours(
    column: str, values: Values, high: int, epsilon: str, levels: Sequence[float]
) -> tuple[tuple[Cell, Cell], str]:
    source = sulq.open({column: values}, {column: sulq.Integer(0, high)})
    learner, truth = sulq.Table(quantiles={column: list(levels)}), _truth(values, levels)
    inside: list[bool] = []

    def run(_: Values) -> list[float]:
        learned = learner.learn(source.curator(epsilon=epsilon))
        figures = [learned.figures(name) for name in learned.names[1:]]
        inside.extend(bool(x.low <= right <= x.high) for x, right in zip(figures, truth, strict=True))
        return [float(each.value) for each in figures]

    return _errors(run, values, levels), f"{sum(inside)} of {len(inside)}"


def _choices(values: Values, high: int, epsilon: str, levels: Sequence[float]) -> list[Quantiles]:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int), size=len(values)), dp.symmetric_distance()
    settings: list[Quantiles] = []
    for candidates in _grids(high):
        made = functools.partial(dp.m.make_private_quantile, *space, dp.max_divergence(), candidates)
        # The ε of a mechanism is inverse to its scale; the last bits are left to spare.
        most = float(epsilon) / len(levels) * (1 - 1e-9)
        each: list[Any] = [made(level, made(level, 1.0).map(2) / most) for level in levels]
        assert all(one.map(2) <= float(epsilon) / len(levels) for one in each)
        settings.append(functools.partial(_chosen, each))
    return settings


def _chosen(each: list[Any], rows: Values) -> list[float]:
    return [float(one(rows.tolist())) for one in each]


def _trees(values: Values, high: int, epsilon: str, levels: Sequence[float]) -> list[Quantiles]:
    dp.enable_features("contrib")
    settings: list[Quantiles] = []
    for candidates in _grids(high):
        edges = [*candidates[1:]]
        leaves, branches = len(edges) + 1, dp.t.choose_branching_factor(len(values))
        numbers = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        counted = (
            dp.t.make_find_bin(*numbers, edges=edges)
            >> dp.t.then_count_by_categories(
                categories=list(range(leaves)), null_category=False, MO=dp.L1Distance[int]
            )
            >> dp.t.then_b_ary_tree(leaf_count=leaves, branching_factor=branches)
        )
        noisy = counted >> dp.m.then_laplace(counted.map(2) / float(epsilon) * (1 + 1e-9))
        assert noisy.map(2) <= float(epsilon)
        agreed = dp.t.make_consistent_b_ary_tree(branches)
        ends = [*(float(x) for x in candidates), float(high + 1)]
        found = dp.t.make_quantiles_from_counts(ends, list(levels), interpolation="linear", TA=float)
        settings.append(functools.partial(_counted, noisy, agreed, found, leaves))
    return settings


def _counted(noisy: Any, agreed: Any, found: Any, leaves: int, rows: Values) -> list[float]:
    return [float(math.floor(x)) for x in found(agreed(noisy(rows.tolist()))[:leaves])]


def _grids(high: int) -> list[list[int]]:
    """What OpenDP is given: all whole numbers if they are not too many to be listed; evenly spaced ones; sulq's."""
    even = [high * i // (CANDIDATES - 1) for i in range(CANDIDATES)]
    every = [list(range(high + 1))] if high <= MOST_LISTED else []
    near_zero = [0, *map(int, quantile_edges(0.0, float(high), integers=True))]
    return every if high < CANDIDATES else [*every, even, near_zero]


def _errors(run: Quantiles, values: Values, levels: Sequence[float]) -> tuple[Cell, Cell]:
    truth, ordered = _truth(values, levels), np.sort(values)
    off, ranks = [], []
    for _ in range(REPETITIONS):
        answers = run(values)
        off.append(float(np.mean(np.abs(np.array(answers) - truth))))
        ranks.append(
            float(np.mean([_ranks(ordered, x, level) for x, level in zip(answers, levels, strict=True)]))
        )
    return Cell(tuple(off)), Cell(tuple(ranks))


def _truth(values: Values, levels: Sequence[float]) -> Values:
    """The smallest values that these parts of the rows do not exceed."""
    ordered = np.sort(values)
    return np.array([ordered[math.ceil(level * len(ordered)) - 1] for level in levels])


def _ranks(ordered: Values, answer: float, level: float) -> float:
    wanted, (first, last) = (
        level * len(ordered),
        (np.searchsorted(ordered, answer, side) for side in ("left", "right")),
    )
    return float(max(0.0, first - wanted, wanted - last))


def _best(settings: Sequence[tuple[Cell, Cell]]) -> tuple[Cell, Cell]:
    """Of several settings the best one for each of the errors."""
    off, ranks = (min((setting[i] for setting in settings), key=lambda cell: cell.mean) for i in (0, 1))
    return off, ranks


def _behind(cells: Sequence[Cell], name: str) -> list[str]:
    """Whether a peer is ahead, with a question mark if by less than two standard errors."""
    own, best = cells[0], min(cells[1:], key=lambda cell: cell.mean)
    if own.mean <= best.mean:
        return []
    sure = own.mean - best.mean > 2 * math.hypot(own.error, best.error)
    return [name if sure else f"{name} (?)"]


def _shown(cell: Cell, own: Cell) -> str:
    digits = 2 if cell.mean < 100 else 0
    text = f"{cell.mean:,.{digits}f} ± {cell.error:,.{digits}f}"
    return f"**{text}**" if cell.mean < own.mean else text


if __name__ == "__main__":
    print(section())
