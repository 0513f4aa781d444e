"""How often error bars of additive models hold: against what exact answers to the same questions give."""

from __future__ import annotations

from typing import Any

import numpy as np

import sulq
from data_sets import DataSet, Floats, census_numbers, load, pums
from measure import say, table
from sulq.queries.codes import Bins

EPSILONS = ("0.5", "1", "3")
DELTA = "1e-5"
RUNS, ROWS = 2, 33_000
STATED = 0.95


def section() -> str:
    """The part of all effects that are within their error bars."""
    shown = []
    for name, data in {"adult": load("adult"), "adult, numbers": census_numbers(), "pums": pums()}.items():
        for epsilon in EPSILONS if data is not None else ():
            say("coverage,", name, epsilon)
            assert data is not None
            within, wide, many = _measured(data, epsilon)
            mark = "" if within >= STATED - 0.02 else " (missed)"
            shown.append([name, epsilon, f"{within:.1%}{mark}", f"{wide:.2f}", many])
    lines = [
        "## Error bars of additive models",
        "",
        "How often the effect of a value is within 1.96 of its stated deviations of what the same learner makes of exact answers, in",
        f"the same bins; {RUNS} runs each, all values alike, δ = {DELTA}, add-remove. 95 % are stated.",
        "",
        *table(["data", "ε", "within", "median deviation (log-odds)", "effects"], shown),
    ]
    return "\n".join(lines) + "\n"


def _measured(data: DataSet, epsilon: str) -> tuple[float, float, int]:
    assert data.label is not None
    rows = data.rows.sample(min(ROWS, len(data.rows)), random_state=0).reset_index(drop=True)
    people = sulq.open(rows, data.schema)
    within: list[bool] = []
    wide: list[float] = []
    for _ in range(RUNS):
        curator = people.curator(epsilon=epsilon, delta=DELTA, neighbours="add-remove")
        model: Any = sulq.Additive(data.label).learn(curator)
        bins = {effect.code.inner.name: effect.code.edges for effect in model.effects if _in_bins(effect)}
        exact: Any = sulq.Additive(data.label, bins=bins).learn(people.exact())
        known = {_column(effect): effect for effect in exact.effects}
        for effect in model.effects:
            if _column(effect) in known:
                off = np.array(effect.added)[:, 0] - _there(effect, known[_column(effect)])
                deviations = np.array(effect.deviations)[:, 0]
                within += (np.abs(off) <= 1.96 * deviations).tolist()
                wide += deviations.tolist()
    return float(np.mean(within)), float(np.median(wide)), len(within)


def _there(effect: Any, exact: Any) -> Floats:
    """The exact effects of the values of another effect, 0 on average by its shares."""
    added = np.array(exact.added)[:, 0]
    if _in_bins(effect):
        starts = [-np.inf, *effect.code.edges]
        added = added[np.searchsorted(np.array(exact.code.edges), starts, side="right")]
    return np.asarray(added - np.average(added, weights=effect.shares))


def _in_bins(effect: Any) -> bool:
    return isinstance(effect.code, Bins)


def _column(effect: Any) -> str:
    return str((effect.code.inner if _in_bins(effect) else effect.code).name)
