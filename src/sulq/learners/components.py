"""Singular vectors and principal components: the few directions in which rows are long, or differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.components import Components, point
from sulq.learners.coordinates import value
from sulq.learners.estimates import ROUND, Floats, shrunk
from sulq.learners.learner import LATER, Learner
from sulq.learners.row_lengths import RowLengths, clear, worth_counting
from sulq.numbers import Numeric, rational, truth, whole
from sulq.queries.attributes import feature_names, in_hands, side_by_side
from sulq.queries.node import Node
from sulq.queries.products import gram
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, numbers_of
from sulq.queries.scope import scope_of
from sulq.queries.vectors import clip_norm, features, vector
from sulq.schema import Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.oracle import Rounds

MEAN_STEPS = 2**10
"""The public mean is rounded to multiples of 1/1024, far finer than noise and exact on the features' grid."""
COUNT_WEIGHT = Fraction(1, 10)
"""The count only scales the variances, so where it has to be paid for it gets a small part of the budget."""
LENGTHS = Fraction(1, 20)
"""The part of what the mean leaves for a histogram of how far rows are from it."""
SHORT = 1 / 50
"""Where noise would hide how far rows are, they are shortened to this times √d. Nearly all are longer."""


@dataclass(frozen=True)
class SVD(Learner[Components]):
    """The top right singular vectors, from one round: section 4.1 of the SuLQ paper.

    It asks for the sum of the products x xᵀ, every pair of coordinates once, and returns the top
    eigenvectors of the answer. By default x has every public interval scaled to [−1, 1], so these are the
    singular vectors of the scaled table. With `scaled=False` x is the row as it is, in the columns' own units
    and public bounds: the singular vectors of the table itself, as in the paper.

    Args:
        components: how many vectors.
        features: numeric or boolean columns, by default all numeric ones.
        norm: rows longer than this are shortened to it; it is public, and the noise grows with its square. By
            default √(d/3), the root mean square length of a row that is uniform over its public intervals,
            which has a third of the noise of √d, where no row is shortened. Of the table itself no row is
            shortened by default.
        share: the part of the budget to spend.
        scaled: whether public intervals are scaled to [−1, 1]. Where they are not, values are cut towards 0,
            to a grid of up to 2^-17 of the largest public bound of all columns, and no error counts that: of
            columns that are far smaller than another, little or nothing is left.

    >>> import sulq
    >>> table = {"a": [9.0, 1.0, 9.0, 1.0], "b": [6.0, 4.0, 6.0, 4.0]}
    >>> people = sulq.open(table, {"a": sulq.Real(0, 10), "b": sulq.Real(0, 10)})
    >>> print(SVD(1).learn(people.exact()).describe())
    component 1 (100 % of the variance): +0.97 a, +0.24 b
    >>> print(SVD(1, scaled=False).learn(people.exact()).describe())
    component 1 (95 % of the variance): +0.79 a, +0.61 b
    """

    components: int
    features: Sequence[str] | None = None
    norm: float | None = None
    share: Numeric = 1
    scaled: bool = field(default=True, metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Components]:
        truth("scaled", self.scaled)
        hands = in_hands(schema, feature_names(schema, self.features))
        names = tuple(name for hand in hands for name in hand)
        norm = _checked(schema, point(schema, names, self.scaled), len(names), self.components, self.norm)
        if norm is None and self.scaled:
            norm = math.sqrt(len(names) / 3)
        points = [(point(schema, hand, self.scaled), part) for hand, part in _parts(hands)]
        row = side_by_side([_shortened(each, norm, part) for each, part in points])
        answers = yield Round(_moments(row), self.share)
        return _top(self.components, schema, names, [0.0] * len(names), answers, bool(self.scaled))


@dataclass(frozen=True)
class PCA(Learner[Components]):
    """The principal components of the table: section 4.1 of the SuLQ paper.

    The first round asks for the mean of the features; the last for the products of the rows minus that mean,
    which by then is public. Whatever is off in the mean is added to the variances as its square. Unless a
    `norm` is given, a round between them asks how far rows are from the mean.

    Args:
        components: how many components.
        features: numeric or boolean columns, by default all numeric ones.
        norm: rows that are further than this from the mean are brought nearer, and the sum of the absolute
            values of their differences is kept below 4/5·√d times it. By default a round between the two,
            with a twentieth of what the mean leaves, counts how far rows are from the mean. The norm is then
            the one at which noise and shortened rows do the least harm together; without noise no row is
            shortened. Where noise would hide how far rows are, nothing is spent on that and the norm is
            √d/50: then rows nearly all have the same length, and directions matter alone.
        share: the part of the budget to spend.
        mean_share: the part of `share` that the first round gets.

    >>> import sulq
    >>> table = {"a": [9.0, 7.0, 9.0, 7.0], "b": [6.0, 4.0, 6.0, 4.0]}
    >>> people = sulq.open(table, {"a": sulq.Real(0, 10), "b": sulq.Real(0, 10)})
    >>> print(PCA(1).learn(people.exact()).describe())
    component 1 (100 % of the variance): +0.71 a, +0.71 b
    """

    components: int
    features: Sequence[str] | None = None
    norm: float | None = None
    share: Numeric = 1
    mean_share: Numeric = Fraction(3, 20)

    def rounds(self, schema: Schema) -> Rounds[Components]:
        hands = in_hands(schema, feature_names(schema, self.features))
        names = tuple(name for hand in hands for name in hand)
        norm = _checked(schema, features(*names), len(names), self.components, self.norm)
        first, second = self._shares()
        sums, rows = yield Round([total(features(*names)), count()], first)
        centre, noise = _mean(sums, rows)
        if norm is None and len(hands) > 1:
            # Products of columns in several hands are estimated from sketches. Those are off by much more, in
            # proportion to the norm and to the length that rows have, whatever the noise is.
            norm = math.sqrt(len(names) / 5)
        elif norm is None:
            norm, part, power = SHORT * math.sqrt(len(names)), second * LENGTHS, float(sums.law.power)
            # The sum of d features has d times the noise of a count, and with Gaussian noise √d times.
            if worth_counting(noise * float(first / part / len(names)) ** power):
                second -= part
                lengths = RowLengths(4.0 * len(names))
                [counts] = yield Round([lengths.question(features(*names) - vector(*centre))], part)
                noise *= float(first / second) ** power * _growth(len(names), power)
                norm = _affordable(lengths, counts, max(1.0, rows.value), noise, norm)
        row = side_by_side([_centred(hand, centre, names, norm * part) for hand, part in _parts(hands)])
        answers = yield Round(_moments(row), second)
        return _top(self.components, schema, names, centre, answers)

    def most_numbers(self, schema: Schema) -> int:
        x = features(*feature_names(schema, self.features))
        rounds = [Round([total(x), count()]), Round(_moments(clip_norm(x, 1)))]
        if self.norm is None:
            rounds.append(Round([RowLengths(1.0).question(x)]))
        return sum(numbers_of(round_, schema) for round_ in rounds)

    def _shares(self) -> tuple[Fraction, Fraction]:
        # The components need what the mean leaves.
        share, part = rational("share", self.share, most=1), rational("mean_share", self.mean_share, below=1)
        return share * part, share * (1 - part)


def _checked(schema: Schema, row: Node, width: int, components: int, norm: float | None) -> float | None:
    """The norm, if an oracle can answer all: known before anything is spent."""
    whole("components", components, 1, width)
    length = None if norm is None else float(rational("norm", norm))
    scope_of(schema).number(gram(clip_norm(row, length or 1)))
    return length


def _parts(hands: Sequence[tuple[str, ...]]) -> list[tuple[tuple[str, ...], float]]:
    """The columns of each hand, and which part of the whole row's length they may have."""
    d = sum(map(len, hands))
    return [(hand, math.sqrt(len(hand) / d)) for hand in hands]


def _shortened(row: Node, norm: float | None, part: float) -> Node:
    """One hand's part of a row, shortened if the row is to be."""
    return row if norm is None else clip_norm(row, norm * part)


def _centred(hand: tuple[str, ...], centre: Sequence[float], names: tuple[str, ...], norm: float) -> Node:
    """The columns of one hand minus their mean, shortened."""
    middle = [centre[names.index(name)] for name in hand]
    centred = clip_norm(features(*hand) - vector(*middle), norm)
    # Laplace noise follows the 1-norm, of which few rows have as much as their 2-norm allows.
    return clip_norm(centred, ROUND * math.sqrt(len(hand)) * norm, order=1)


def _moments(row: Node) -> list[Query]:
    return [total(gram(row)), count(weight=COUNT_WEIGHT)]


def _mean(sums: Answer, rows: Answer) -> tuple[list[float], float]:
    """The mean as far as it was answered, and the noise in each of its coordinates."""
    many = max(1.0, rows.value)
    noise = float(np.max(sums.deviation)) / many
    mean = shrunk(np.atleast_1d(sums.value) / many, noise).clip(-1, 1)
    return [round(coordinate * MEAN_STEPS) / MEAN_STEPS for coordinate in mean.tolist()], noise


def _affordable(lengths: RowLengths, answer: Answer, rows: float, noise: float, short: float) -> float:
    """To which norm to shorten rows.

    Args:
        lengths: intervals of how far rows are from the mean.
        answer: how many rows are in each of them.
        rows: how many rows there are.
        noise: by how much noise lengthens a direction of the products' average, for rows of length 1.
        short: the norm where the answer does not say it.
    """
    counts, off = value(answer), float(np.max(answer.deviation))
    return lengths.best(counts, off, noise * rows) if clear(off / rows) else short


def _growth(d: int, power: float) -> float:
    """By how much noise lengthens a direction of products of rows of length 1, beside that of their sums.

    Laplace noise follows the 1-norm, in which a row of features has d and the products of a row half of the
    square of its own; Gaussian noise follows the 2-norm, with √d and 1. A matrix of d² such numbers has a
    norm of about 2√d times one of them.

    Args:
        d: how many columns there are.
        power: noise is inverse to the budget to this power: 1 for Laplace noise, 1/2 for Gaussian.
    """
    each = (ROUND**2 * d + 1) / (2 * d) if power >= 1 else 1 / math.sqrt(d)
    return 2 * math.sqrt(d) * each


def _top(
    k: int,
    schema: Schema,
    names: tuple[str, ...],
    centre: Sequence[float],
    answers: list[Answer],
    scaled: bool = True,
) -> Components:
    """The k top eigenvectors of the matrix whose upper triangle was answered."""
    triangle, rows = np.atleast_1d(answers[0].value), max(1.0, answers[1].value)
    matrix = np.zeros((len(names), len(names)))
    matrix[np.triu_indices(len(names))] = triangle / rows
    values, vectors = np.linalg.eigh(matrix, UPLO="U")
    error = _error(len(names), answers[0], answers[1], float(np.abs(values).max()))
    best = np.argsort(-values, kind="stable")[:k]
    variances = values[best].clip(min=0)
    directions = vectors[:, best].T
    # An eigenvector's sign means nothing: its largest loading is made positive, so runs can be compared.
    directions = directions * np.sign(directions[np.arange(k), np.abs(directions).argmax(axis=1)])[:, None]
    return Components(
        schema,
        None,
        names,
        tuple(centre),
        tuple(map(tuple, directions.tolist())),
        tuple(variances.tolist()),
        # Noise can make the least eigenvalues negative, and the trace less than their sum.
        max(float(np.trace(matrix)), float(variances.sum())),
        error,
        _angles(values, best, error),
        scaled,
    )


def _error(d: int, products: Answer, rows: Answer, largest: float) -> float:
    """How far off each eigenvalue is by noise, at 95 %: by Weyl's theorem, the norm of the noise's matrix.

    Noise of deviation s in every entry has a norm of about 2s√d, as Wigner's semicircle ends there; a single
    entry that is further off adds no more than itself. With few columns, d times the largest entry is less.

    Args:
        d: how many columns there are.
        products: the answer about the sums of products.
        rows: the answer about the number of rows, whose error moves all eigenvalues by the same part.
        largest: the largest eigenvalue.
    """
    off = float(np.max(products.radius(BETA)))
    norm = min(d * off, 2 * math.sqrt(d) * float(np.max(products.deviation)) + off)
    rows_off = float(np.max(rows.radius(BETA)))
    return (norm + largest * rows_off) / max(1.0, float(rows.value) - rows_off)


def _angles(values: Floats, best: NDArray[np.intp], error: float) -> tuple[float, ...]:
    """By how many degrees each eigenvector may be turned by noise: Davis and Kahan's theorem.

    The sine of the angle is at most the norm of the noise's matrix over the distance of the noisy eigenvalue
    to the nearest other one without noise, which is at least that to the noisy one, less the norm.
    """
    if error == 0:
        return ()
    angles = []
    for place in best:
        others = np.delete(values, place)
        gap = float(np.abs(others - values[place]).min()) - error if others.size else math.inf
        angles.append(math.degrees(math.asin(error / gap)) if gap > error else 90.0)
    return tuple(angles)
