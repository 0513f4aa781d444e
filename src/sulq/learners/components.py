"""Singular vectors and principal components: the few directions in which rows are long, or differ."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

import numpy as np

from sulq.hypotheses.components import Components, point
from sulq.learners.component_errors import angles, shortening, variance_error
from sulq.learners.coordinates import value
from sulq.learners.estimates import ROUND, shrunk
from sulq.learners.learner import LATER, Learner
from sulq.learners.row_lengths import RowLengths, best_norms, clear, squared_length, worth_counting
from sulq.numbers import Numeric, rational, truth, whole
from sulq.queries.attributes import feature_names, in_hands, side_by_side
from sulq.queries.node import Node
from sulq.queries.products import gram
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round, numbers_of
from sulq.queries.scope import scope_of
from sulq.queries.vectors import clip_norm, features, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

MEAN_STEPS = 2**10
"""The public mean is rounded to multiples of 1/1024, far finer than noise and exact on the features' grid."""
COUNT_WEIGHT = Fraction(1, 10)
"""The count only scales the variances, so where it has to be paid for it gets a small part of the budget."""
LENGTH_WEIGHT = Fraction(1, 4)
"""The sum of squared lengths only says by how much shortened rows can be wrong."""
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
            which has a third of the noise of √d, where no row is shortened. Errors are those of the shortened
            rows. Of the table itself no row is shortened by default.
        share: the part of the budget to spend.
        scaled: whether public intervals are scaled to [−1, 1]. Where they are not, values are cut towards 0,
            to a grid of up to 2^-17 of the largest public bound of all columns, and no error counts that: of
            columns that are far smaller than another, little or nothing is left.

    >>> import sulq
    >>> table = {"a": [8.0, 2.0, 8.0, 2.0], "b": [6.0, 4.0, 6.0, 4.0]}
    >>> people = sulq.open(table, {"a": sulq.Real(0, 10), "b": sulq.Real(0, 10)})
    >>> print(SVD(1).learn(people.exact()).describe())
    component 1 (100 % of the variance): +0.95 a, +0.32 b
    >>> print(SVD(1, scaled=False).learn(people.exact()).describe())
    component 1 (97 % of the variance): +0.76 a, +0.66 b
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
        points = [point(schema, hand, self.scaled) for hand in hands]
        if norm is None and self.scaled:
            norm = math.sqrt(len(names) / 3)
        norms = _norms(hands, norm)
        row = side_by_side([_shortened(each, bound) for each, bound in zip(points, norms, strict=True)])
        answers = yield Round(_moments(row), self.share)
        return _top(self.components, schema, hands, [0.0] * len(names), answers, bool(self.scaled))


@dataclass(frozen=True)
class PCA(Learner[Components]):
    """The principal components of the table: section 4.1 of the SuLQ paper.

    The first round asks for the mean of the features; the last for the products of the rows minus that mean,
    which by then is public. Whatever is off in the mean is added to the variances as its square. Unless a
    `norm` is given, a round between them asks how far rows are from the mean, and the last one for the sum of
    their squared lengths: errors of variances and angles count the rows that the learner shortened.

    Args:
        components: how many components.
        features: numeric or boolean columns, by default all numeric ones.
        norm: rows that are further than this from the mean are brought nearer, and the sum of the absolute
            values of their differences is kept below 4/5·√d times it. By default a round between the two,
            with a twentieth of what the mean leaves, counts how far rows are from the mean. The norm is then
            the one at which noise and shortened rows do the least harm together. Where noise would hide how
            far rows are, nothing is spent on that and the norm is √d/50: then rows nearly all have the same
            length, and directions matter alone. Of exact answers no row is shortened, and that round is left
            out. Where columns are in several hands, each has a norm of its own for its part of a row; of a
            norm that is given it has √(its part of the columns).
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
        points = [_centred(hand, centre, names) for hand in hands]
        wide = list(zip(points, map(len, hands), strict=True))
        default = norm is None and noise > 0  # of exact answers no row is shortened
        norms = _norms(hands, SHORT * math.sqrt(len(names)) if default else norm)
        power, widest = float(sums.law.power), max(map(len, hands))
        # The sum of d features has d times the noise of a count, and with Gaussian noise √d times.
        if default and worth_counting(noise * float(first / (second * LENGTHS) / widest) ** power):
            look, second = second * LENGTHS, second * (1 - LENGTHS)
            lengths = [RowLengths(4.0 * len(hand)) for hand in hands]
            asked = [each.question(*of) for each, of in zip(lengths, wide, strict=True)]
            counts, many = (yield Round(asked, look)), max(1.0, rows.value)
            noise *= float(first / second) ** power * _growth(hands, power, many)
            norms = _affordable(lengths, counts, many, noise) or norms
        row = side_by_side([_nearer(*each) for each in zip(hands, points, norms, strict=True)])
        answers = yield Round(_moments(row, wide if default else []), second)
        return _top(self.components, schema, hands, centre, answers)

    def most_numbers(self, schema: Schema) -> int:
        x = features(*feature_names(schema, self.features))
        rounds = [Round([total(x), count()]), Round(_moments(clip_norm(x, 1)))]
        if self.norm is None:
            hands = in_hands(schema, feature_names(schema, self.features))
            lengths = [RowLengths(1.0).question(features(*hand), len(hand)) for hand in hands]
            rounds.append(Round([*lengths, total(squared_length(x, sum(map(len, hands))))]))
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


def _norms(hands: Sequence[tuple[str, ...]], norm: float | None) -> list[float | None]:
    """To which length to shorten each hand's part of a row, if all of it is to be no longer than a norm."""
    d = sum(map(len, hands))
    return [None if norm is None else norm * math.sqrt(len(hand) / d) for hand in hands]


def _shortened(row: Node, norm: float | None) -> Node:
    """One hand's part of a row, shortened if the row is to be."""
    return row if norm is None else clip_norm(row, norm)


def _nearer(hand: tuple[str, ...], row: Node, norm: float | None) -> Node:
    """The same of a part minus its mean, whose 1-norm is bounded as well."""
    if norm is None:
        return row
    # Laplace noise follows the 1-norm, of which few rows have as much as their 2-norm allows.
    return clip_norm(clip_norm(row, norm), ROUND * math.sqrt(len(hand)) * norm, order=1)


def _centred(hand: tuple[str, ...], centre: Sequence[float], names: tuple[str, ...]) -> Node:
    """The columns of one hand minus their mean."""
    return features(*hand) - vector(*(centre[names.index(name)] for name in hand))


def _moments(row: Node, parts: Sequence[tuple[Node, int]] = ()) -> list[Query]:
    """The sums of products of a row, and how long rows are if the learner decided how long they may be.

    Args:
        row: the row, which may be shortened.
        parts: each hand's part of it as it is, and how many columns that has; none if nobody needs to know.
    """
    moments = [total(gram(row)), count(weight=COUNT_WEIGHT)]
    squares = [squared_length(*part) for part in parts]
    return [*moments, total(reduce(operator.add, squares), weight=LENGTH_WEIGHT)] if squares else moments


def _mean(sums: Answer, rows: Answer) -> tuple[list[float], float]:
    """The mean as far as it was answered, and the noise in each of its coordinates."""
    many = max(1.0, rows.value)
    noise = float(np.max(sums.deviation)) / many
    mean = shrunk(np.atleast_1d(sums.value) / many, noise).clip(-1, 1)
    return [round(coordinate * MEAN_STEPS) / MEAN_STEPS for coordinate in mean.tolist()], noise


def _affordable(
    lengths: Sequence[RowLengths], answers: Sequence[Answer], rows: float, noise: float
) -> list[float | None]:
    """To which norm to shorten each hand's part of a row; none if the answers do not say it.

    Args:
        lengths: intervals of how far rows are from the mean, in each hand.
        answers: how many rows are in each of them.
        rows: how many rows there are.
        noise: by how much noise lengthens a direction of the products' average, for rows of length 1.
    """
    off = [float(np.max(answer.deviation)) for answer in answers]
    return best_norms(lengths, list(map(value, answers)), off, noise * rows) if clear(max(off) / rows) else []


def _growth(hands: Sequence[tuple[str, ...]], power: float, rows: float) -> float:
    """By how much noise lengthens a direction of products of rows of length 1, beside that of their sums.

    Laplace noise follows the 1-norm, in which a row of features has d and the products of a row half of the
    square of its own; Gaussian noise follows the 2-norm, with √d and 1. A matrix of d² such numbers has a
    norm of about 2√d times one of them.

    Products of columns in several hands are estimated from sketches. Beside noise of 1 in sums of features,
    rows of length 1 have noise of c = 1/√d in a bucket, and there are about n/(dc²) buckets. If the sum of
    their squared lengths is S, products are off by c·√(d/n)·(1 + n/S) times the root mean squares of their
    factors, and a direction is longer by about c·√n for the part n/S.

    Args:
        hands: the columns of each hand.
        power: noise is inverse to the budget to this power: 1 for Laplace noise, 1/2 for Gaussian.
        rows: how many rows there are.
    """
    d = sum(map(len, hands))
    if len(hands) > 1:
        return math.sqrt(rows / d)
    each = (ROUND**2 * d + 1) / (2 * d) if power >= 1 else 1 / math.sqrt(d)
    return 2 * math.sqrt(d) * each


def _top(
    k: int,
    schema: Schema,
    hands: Sequence[tuple[str, ...]],
    centre: Sequence[float],
    answers: list[Answer],
    scaled: bool = True,
) -> Components:
    """The k top eigenvectors of the matrix whose upper triangle was answered."""
    names = tuple(name for hand in hands for name in hand)
    products, many, *lengths = answers
    matrix = np.zeros((len(names), len(names)))
    matrix[np.triu_indices(len(names))] = np.atleast_1d(products.value) / max(1.0, many.value)
    values, vectors = np.linalg.eigh(matrix, UPLO="U")
    shortened = shortening(len(names), len(hands), products, many, *lengths) if lengths else 0.0
    error = variance_error(len(names), products, many, float(np.abs(values).max())) + shortened
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
        angles(values, best, error),
        scaled,
        shortened,
    )
