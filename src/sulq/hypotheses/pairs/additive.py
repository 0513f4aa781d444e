"""Additive models from tables of pairs: effects on any of the columns, without a further question.

For a number, the tables say what any effects make of the rows with each value. For a class that needs all
columns of a row at once: there, rows drawn from the joint distribution stand for the real ones, and the
noisy sums of labels stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sulq.effects.effect_errors import deviations
from sulq.effects.estimate import Estimate
from sulq.effects.layout import Floats
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import drawn
from sulq.hypotheses.pairs.label_sums import LabelSums
from sulq.hypotheses.pairs.rehearsed import stretch
from sulq.hypotheses.target import Target
from sulq.loops.one_thread import on_one_thread
from sulq.queries.expressions import Column

STEPS, DRAWN, AGAIN = 4, 50_000, 10_000
"""How often the gradient is taken anew, on how many drawn rows, and on how many to see how far off it is."""


@on_one_thread
def additive(facts: PairsFacts, label: str) -> AdditiveModel:
    """The additive model for one of the columns.

    Args:
        facts: what a release says.
        label: the column to predict.
    """
    sums = LabelSums(facts, Target(facts.schema, Column(label), others=True), facts.place(label))
    sums.check()
    number = sums.target.classes is None

    def again(others: PairsFacts) -> tuple[Floats, Floats]:
        other = replace(sums, facts=others)
        estimates = _number(other) if number else _classes(other, AGAIN)
        return centred(other, estimates)

    wider = stretch(facts, again)
    if not number:
        return _published(sums, _log_odds(sums), _classes(sums, DRAWN), 1.0, wider)
    low, high = sums.target.bounds
    half, middle = (high - low) / 2, low / 2 + high / 2
    base, unit = np.array([(sums.average - middle) / half]), sums.deviation / half
    return _published(sums, base, _number(sums), unit, wider * unit)


def centred(sums: LabelSums, estimates: list[Estimate]) -> tuple[Floats, Floats]:
    """Effects, 0 on average for each column, and their deviations as the estimates themselves say.

    Args:
        sums: what the tables say.
        estimates: the effects on each number.
    """
    added = np.stack([each.effects for each in estimates], axis=1)
    for part in sums.layout.slices:
        added[part] -= np.average(added[part], axis=0, weights=sums.counts[part])
    return added, np.stack([deviations(each) for each in estimates], axis=1)


def _log_odds(sums: LabelSums) -> Floats:
    return np.asarray(np.log(sums.base / (1 - sums.base)))


def _classes(sums: LabelSums, many: int) -> list[Estimate]:
    base = _log_odds(sums)
    estimates = [sums.begun(which) for which in range(sums.target.width)]
    rows = drawn(sums.facts.positive, many, np.random.default_rng(0))
    for step in range(STEPS):
        for which, estimate in enumerate(estimates):
            expected = np.full(sums.layout.width, sums.base[which])
            if step:
                expected = sums.likely(estimate.effects, float(base[which]), rows)
            estimates[which] = sums.refined(which, estimate, expected)
    return estimates


def _number(sums: LabelSums) -> list[Estimate]:
    estimate = sums.begun(0)
    for _ in range(STEPS):
        estimate = sums.refined(0, estimate, sums.expected(estimate.effects))
    return [estimate]


def _published(
    sums: LabelSums, base: Floats, estimates: list[Estimate], unit: float, wider: float
) -> AdditiveModel:
    """The model as it is published: effects of a column are 0 on average.

    Args:
        sums: what the tables say.
        base: what is added for every row.
        estimates: the effects.
        unit: in which unit the effects are.
        wider: by how much their own deviations are multiplied.
    """
    added = unit * np.stack([each.effects for each in estimates], axis=1)
    offs = wider * np.stack([deviations(each) for each in estimates], axis=1)
    intercept, effects = base.copy(), []
    for feature, part in zip(sums.features, sums.layout.slices, strict=True):
        middle = np.average(added[part], axis=0, weights=sums.counts[part])
        intercept += middle
        shares = tuple((sums.counts[part] / sums.facts.positive.total).tolist())
        code = sums.facts.columns[feature].code
        effects.append(Effect(code, shares, _rows(added[part] - middle), _rows(offs[part])))
    target = sums.target
    return AdditiveModel(target.schema, None, target.label, tuple(intercept.tolist()), tuple(effects))


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
