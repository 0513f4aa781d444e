"""Linear regression from tables of pairs: the effect of a number is a slope, that of a category is free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sulq.effects.effect_errors import deviations
from sulq.effects.estimate import Estimate, Spread
from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.linear import LinearModel, one_hots
from sulq.hypotheses.pairs.additive import centred
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.label_sums import LabelSums
from sulq.hypotheses.pairs.rehearsed import stretch
from sulq.hypotheses.target import Target
from sulq.loops.one_thread import on_one_thread
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.schema import Boolean, Category

STEPS = 12
"""How often the gradient is taken anew: where columns say the same, each step goes a part of the way."""
SLOPE = 0.1
"""The usual square of a slope, both numbers in units of their standard deviations."""


@on_one_thread
def linear(facts: PairsFacts, target: str) -> LinearModel:
    """The linear model for a number by all other columns.

    Args:
        facts: what a release says.
        target: the column to predict.
    """
    place = facts.place(target)
    if isinstance(facts.schema[target], Category | Boolean):
        raise QueryError(
            f"column {target!r} is no number: .additive({target!r}) tells how likely its values are"
        )
    sums = LabelSums(facts, Target(facts.schema, Column(target)), place)
    sums.check()

    def again(others: PairsFacts) -> tuple[Floats, Floats]:
        other = replace(sums, facts=others)
        return centred(other, [_fitted(other)])

    return _published(sums, _fitted(sums), stretch(facts, again))


def _fitted(sums: LabelSums) -> Estimate:
    estimate = _with_slopes(sums, sums.begun(0))
    for _ in range(STEPS):
        estimate = sums.refined(0, estimate, sums.expected(estimate.effects))
    return estimate


def _published(sums: LabelSums, estimate: Estimate, wider: float) -> LinearModel:
    features: list[Node] = []
    slopes: list[float] = []
    errors: list[float] = []
    added, off = sums.deviation * estimate.effects, wider * sums.deviation * deviations(estimate)
    intercept, facts = sums.average, sums.facts
    for feature, part in zip(sums.features, sums.layout.slices, strict=True):
        middle = float(np.average(added[part], weights=sums.counts[part]))
        intercept += middle
        column = Column(facts.names[feature])
        if isinstance(facts.schema[column.name], Category):
            features += one_hots(column, len(added[part]))
            slopes += (added[part] - middle).tolist()
            errors += off[part].tolist()
            continue
        values, _ = facts.means(feature)
        average = float(np.average(values, weights=sums.counts[part]))
        # All values lie on one line, so that the furthest one tells the slope best.
        furthest = int(np.argmax(np.abs(values - average)))
        slope = float((added[part] - middle)[furthest] / (values - average)[furthest])
        features.append(column)
        slopes.append(slope)
        errors.append(float(off[part][furthest] / abs(values - average)[furthest]))
        intercept -= slope * average
    return LinearModel(
        facts.schema,
        None,
        Column(facts.names[sums.place]),
        tuple(features),
        tuple(slopes),
        tuple(errors),
        intercept,
    )


def _with_slopes(sums: LabelSums, estimate: Estimate) -> Estimate:
    """The estimate once the effects of numbers and truth values are slopes."""
    spreads = [estimate.spreads[0]]
    for feature, part in zip(sums.features, sums.layout.slices, strict=True):
        if isinstance(sums.facts.schema[sums.facts.names[feature]], Category):
            spreads += [spread for spread in estimate.spreads[1:] if spread.part == part]
        else:
            values, _ = sums.facts.means(feature)
            line = _standard(values, sums.counts[part])
            spreads.append(Spread(part, np.outer(line, line), SLOPE, SLOPE))
    return replace(estimate, spreads=tuple(spreads))


def _standard(values: Floats, counts: Floats) -> Floats:
    """Numbers, measured from their average in units of their standard deviation."""
    apart = values - np.average(values, weights=counts)
    return np.asarray(apart / np.sqrt(np.average(apart**2, weights=counts)))
