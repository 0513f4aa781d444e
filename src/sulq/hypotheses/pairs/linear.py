"""Linear regression from tables of pairs: second moments, with a ridge as large as their noise."""

from __future__ import annotations

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.queries.attributes import interval
from sulq.schema import Boolean, Category


def linear(facts: PairsFacts, target: str) -> LinearModel:
    """The linear model for a number by all other numbers and truth values.

    Args:
        facts: what a release says.
        target: the column to predict.
    """
    place = facts.place(target)
    if isinstance(facts.schema[target], Category | Boolean):
        raise QueryError(
            f"column {target!r} is no number: .additive({target!r}) tells how likely its values are"
        )
    places = [
        other
        for other in sorted(facts.beside(place))
        if not isinstance(facts.schema[facts.names[other]], Category)
    ]
    if not places:
        raise QueryError(f"there is no table of {target!r} and another number or truth value in this release")
    moments, noise, means = _moments(facts, [*places, place])
    inside, across = moments[:-1, :-1], moments[:-1, -1]
    # Noise alone gives a symmetric matrix an eigenvalue of twice the root of its size times its deviation.
    ridge = 2 * float(np.sqrt(noise[:-1, :-1].mean() * len(places)))
    inverse = np.linalg.inv(inside + (ridge + 1e-9) * np.eye(len(places)))
    weights = inverse @ across
    errors = noise[:-1, -1] + noise[:-1, :-1] @ weights**2
    deviations = np.sqrt(np.diag((inverse * errors) @ inverse))
    ends = np.array(
        [interval(facts.schema, facts.names[each]) for each in (*places, place)], dtype=np.float64
    )
    middles, halves = ends.sum(axis=1) / 2, (ends[:, 1] - ends[:, 0]) / 2
    scale = halves[-1] / halves[:-1]
    coefficients = weights * scale
    average = middles + halves * means
    return LinearModel(
        facts.schema,
        None,
        target,
        tuple(facts.names[each] for each in places),
        tuple(coefficients.tolist()),
        tuple((deviations * scale).tolist()),
        float(average[-1] - coefficients @ average[:-1]),
    )


def _moments(facts: PairsFacts, places: list[int]) -> tuple[Floats, Floats, Floats]:
    """Covariances of columns scaled to [−1, 1], the variance of their noise, and the averages."""
    many, total = len(places), facts.positive.total
    worth, squares, means = [], np.zeros(many), np.zeros(many)
    for which, place in enumerate(places):
        low, high = interval(facts.schema, facts.names[place])
        middle, half = (low + high) / 2, (high - low) / 2
        values, square = facts.means(place)
        average = float(values @ facts.positive.margins[place]) / total
        worth.append((values - middle) / half)
        means[which] = (average - middle) / half
        squares[which] = max(1e-9, square - average**2) / half**2
    moments, noise = np.diag(squares), np.zeros((many, many))
    for i in range(many):
        for j in range(i):
            pair = min(places[i], places[j]), max(places[i], places[j])
            if pair in facts.agreement.pairs:
                one, other = worth[i] - means[i], worth[j] - means[j]
                table = facts.positive.table(places[i], places[j])
                moments[i, j] = moments[j, i] = one @ table @ other / total
                off = facts.agreement.table_law(pair).deviation / total
                noise[i, j] = noise[j, i] = off**2 * float((one**2).sum() * (other**2).sum())
    return moments, noise, means
