"""Additive models from tables of pairs: effects on any of the columns, without a further question.

For a number, the tables say what any effects make of the rows with each value. For a class that needs all
columns of a row at once: there, rows drawn from the joint distribution stand for the real ones, and the
noisy sums of labels stay as they are.
"""

from __future__ import annotations

import numpy as np

from sulq.effects.estimate import Estimate
from sulq.effects.layout import Floats
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import drawn
from sulq.hypotheses.pairs.label_sums import LabelSums
from sulq.hypotheses.target import Target
from sulq.queries.expressions import Column

STEPS, DRAWN = 4, 50_000
"""How often the gradient is taken anew, and on how many drawn rows."""


def additive(facts: PairsFacts, label: str) -> AdditiveModel:
    """The additive model for one of the columns.

    Args:
        facts: what a release says.
        label: the column to predict.
    """
    sums = LabelSums(facts, Target(facts.schema, Column(label)), facts.place(label))
    sums.check()
    return _number(sums) if sums.target.classes is None else _classes(sums)


def _classes(sums: LabelSums) -> AdditiveModel:
    base = np.log(sums.base / (1 - sums.base))
    estimates = [sums.begun(which) for which in range(sums.target.width)]
    rows = drawn(sums.facts.positive, DRAWN, np.random.default_rng(0))
    for step in range(STEPS):
        for which, estimate in enumerate(estimates):
            expected = np.full(sums.layout.width, sums.base[which])
            if step:
                expected = sums.likely(estimate.effects, float(base[which]), rows)
            estimates[which] = sums.refined(which, estimate, expected)
    return _published(sums, base, estimates, 1.0)


def _number(sums: LabelSums) -> AdditiveModel:
    estimate = sums.begun(0)
    for _ in range(STEPS):
        estimate = sums.refined(0, estimate, sums.expected(estimate.effects))
    low, high = sums.target.bounds
    half, middle = (high - low) / 2, low / 2 + high / 2
    return _published(sums, np.array([(sums.average - middle) / half]), [estimate], sums.deviation / half)


def _published(sums: LabelSums, base: Floats, estimates: list[Estimate], unit: float) -> AdditiveModel:
    """The model as it is published: effects of a column are 0 on average.

    Args:
        sums: what the tables say.
        base: what is added for every row.
        estimates: the effects.
        unit: in which unit the effects are.
    """
    added = unit * np.stack([each.effects for each in estimates], axis=1)
    deviations = unit * np.stack([each.deviations for each in estimates], axis=1)
    intercept, effects = base.copy(), []
    for feature, part in zip(sums.features, sums.layout.slices, strict=True):
        middle = np.average(added[part], axis=0, weights=sums.counts[part])
        intercept += middle
        shares = tuple((sums.counts[part] / sums.facts.positive.total).tolist())
        code = sums.facts.columns[feature].code
        effects.append(Effect(code, shares, _rows(added[part] - middle), _rows(deviations[part])))
    target = sums.target
    return AdditiveModel(target.schema, None, target.label, tuple(intercept.tolist()), tuple(effects))


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
