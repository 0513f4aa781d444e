"""Singular vectors and principal components: the few directions in which rows are long, or differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.errors import QueryError
from sulq.learners.estimates import ROUND, shrunk
from sulq.learners.features import feature_names, interval
from sulq.learners.hypothesis import Hypothesis, Origin
from sulq.learners.learner import Learner, Rounds
from sulq.pictures import bars
from sulq.queries.expressions import Node
from sulq.queries.products import dot, gram
from sulq.queries.query import Exact, Query, count, rational, total
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.queries.vectors import clip_norm, features, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer

MEAN_STEPS = 2**10
"""The public mean is rounded to multiples of 1/1024, far finer than noise and exact on the features' grid."""
COUNT_WEIGHT = Fraction(1, 10)
"""The count only scales the variances, so where it has to be paid for it gets a small part of the budget."""
TELLING = 0.01
"""Noise in the variances that is this small a part of them leaves the top components as they are."""
NAMED = 4
"""How many loadings of a component are worth reading."""
DRAWN = 12
"""How many are worth drawing."""


@dataclass(frozen=True, eq=False)
class Components(Hypothesis):
    """A few orthonormal directions in the space of the features, each of them scaled to [−1, 1].

    `features` names the columns. `mean` is what is taken off a row first (zeros after SVD). `variances` are
    the mean squared lengths of the rows along each direction, `whole` that along all directions there are;
    all as the oracle answered, so noisy under a curator, and of rows shortened to the learner's `norm`.

    >>> import sulq
    >>> schema = sulq.Schema({"a": sulq.Real(0, 10), "b": sulq.Real(0, 1)})
    >>> found = Components(schema, None, ("a", "b"), (0.0, 0.0), ((0.6, 0.8),), (0.3,), 0.4)
    >>> found.transform({"a": [10, 5], "b": [0.5, 1.0]}).round(3)
    array([[0.6],
           [0.8]])
    >>> print(found.describe())
    component 1 (75 % of the variance): +0.80 b, +0.60 a
    >>> found.per_unit
    ((0.12, 1.6),)
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...]
    variances: tuple[float, ...]
    whole: float

    @property
    def expression(self) -> Node:
        centred = features(*self.features) - vector(*self.mean)
        return vector(*(dot(centred, direction) for direction in self.directions))

    def predict(self, frame: Any) -> NDArray[np.float64]:
        """Each row's coordinates along the directions, in scaled units: one column for each component."""
        return np.asarray(super().predict(frame), dtype=np.float64).reshape(-1, len(self.directions))

    def transform(self, frame: Any) -> NDArray[np.float64]:
        """The same as `predict`, by the name that fits a projection."""
        return self.predict(frame)

    @property
    def shares(self) -> tuple[float, ...]:
        """Which part of the variance along all directions lies along each of these."""
        return tuple(variance / self.whole if self.whole > 0 else 0.0 for variance in self.variances)

    @property
    def per_unit(self) -> tuple[tuple[float, ...], ...]:
        """How far each component moves when a column grows by one of its own units."""
        widths = [(high - low) / 2 for low, high in (interval(self.schema, name) for name in self.features)]
        return tuple(
            tuple(loading / width for loading, width in zip(direction, widths, strict=True))
            for direction in self.directions
        )

    def describe(self) -> str:
        lines = []
        for number, (direction, share) in enumerate(zip(self.directions, self.shares, strict=True), 1):
            largest = sorted(zip(direction, self.features, strict=True), key=lambda pair: -abs(pair[0]))
            loadings = ", ".join(f"{loading:+.2f} {name}" for loading, name in largest[:NAMED])
            lines.append(f"component {number} ({100 * share:.0f} % of the variance): {loadings}")
        return "\n".join(lines)

    def picture(self) -> str:
        return bars.picture("Loadings of features scaled to [−1, 1]", self._panels(), DRAWN, self._caption)

    def drawing(self) -> RenderableType:
        return bars.drawing(self._panels(), DRAWN)

    def _panels(self) -> list[bars.Panel]:
        return [
            bars.Panel(
                f"component {number}: {100 * share:.0f} % of the variance",
                tuple(zip(self.features, direction, strict=True)),
            )
            for number, (direction, share) in enumerate(zip(self.directions, self.shares, strict=True), 1)
        ]

    def _own(self) -> dict[str, Any]:
        return {
            "features": list(self.features),
            "mean": list(self.mean),
            "directions": [list(direction) for direction in self.directions],
            "variances": list(self.variances),
            "whole": self.whole,
        }

    @classmethod
    def _read(cls, schema: Schema, origin: Origin | None, own: dict[str, Any]) -> Components:
        return cls(
            schema,
            origin,
            tuple(own["features"]),
            tuple(own["mean"]),
            tuple(tuple(direction) for direction in own["directions"]),
            tuple(own["variances"]),
            own["whole"],
        )


@dataclass(frozen=True)
class SVD(Learner[Components]):
    """The top right singular vectors of the table, from one round: section 4.1 of the SuLQ paper.

    It asks for the sum of the products x xᵀ, every pair of coordinates once, and returns the top
    eigenvectors of the answer.

    `components`: how many. `features`: numeric or boolean columns, by default all numeric ones. `norm`: rows
    longer than this are shortened to it; it is public, and the noise grows with its square. By default
    √(d/3), the root mean square length of a row that is uniform over its public intervals, which has a third
    of the noise of √d, where no row is shortened. `share`: the part of a budget to spend.

    >>> import sulq
    >>> table = {"a": [9.0, 1.0, 9.0, 1.0], "b": [6.0, 4.0, 6.0, 4.0]}
    >>> people = sulq.open(table, {"a": sulq.Real(0, 10), "b": sulq.Real(0, 10)})
    >>> print(SVD(1).learn(people.exact()).describe())
    component 1 (100 % of the variance): +0.97 a, +0.24 b
    """

    components: int
    features: Sequence[str] | None = None
    norm: float | None = None
    share: Exact = 1

    def rounds(self, schema: Schema) -> Rounds[Components]:
        names = feature_names(schema, self.features)
        norm = _checked(schema, names, self.components, self.norm) or math.sqrt(len(names) / 3)
        answers = yield Round(_moments(clip_norm(features(*names), norm)), self.share)
        return _top(self.components, schema, names, [0.0] * len(names), answers)


@dataclass(frozen=True)
class PCA(Learner[Components]):
    """The principal components of the table, from two rounds: section 4.1 of the SuLQ paper.

    The first round asks for the mean of the features; the second for the products of the rows minus that
    mean, which by then is public. Whatever is off in the mean is added to the variances as its square.

    `components`, `features`, `norm` and `share` are as for `SVD`; the norm is that of a row minus the mean,
    and the sum of its absolute values is kept below 4/5·√d times it. By default it follows from the noise
    of the first round: where that is large, √(d/12), half the length of a row that is uniform over its
    public intervals, since most columns keep to a part of theirs; where it is small, longer, to shorten
    fewer rows, and without noise 5/2·√d, which shortens none. `mean_share`: the part of `share` that the
    first round gets.

    >>> import sulq
    >>> table = {"a": [9.0, 7.0, 9.0, 7.0], "b": [6.0, 4.0, 6.0, 4.0]}
    >>> people = sulq.open(table, {"a": sulq.Real(0, 10), "b": sulq.Real(0, 10)})
    >>> print(PCA(1).learn(people.exact()).describe())
    component 1 (100 % of the variance): +0.71 a, +0.71 b
    """

    components: int
    features: Sequence[str] | None = None
    norm: float | None = None
    share: Exact = 1
    mean_share: Exact = Fraction(3, 20)

    def rounds(self, schema: Schema) -> Rounds[Components]:
        names = feature_names(schema, self.features)
        norm = _checked(schema, names, self.components, self.norm)
        first, second = self._shares()
        x = features(*names)
        sums, rows = yield Round([total(x), count()], first)
        centre, noise = _mean(sums, rows)
        norm = norm or _affordable(noise * float(first / second), len(names))
        centred = clip_norm(x - vector(*centre), norm)
        # Laplace noise follows the 1-norm, of which few rows have as much as their 2-norm allows.
        row = clip_norm(centred, ROUND * math.sqrt(len(names)) * norm, order=1)
        answers = yield Round(_moments(row), second)
        return _top(self.components, schema, names, centre, answers)

    def _shares(self) -> tuple[Fraction, Fraction]:
        share, part = rational("share", self.share, most=1), rational("mean_share", self.mean_share, most=1)
        if part == 1:
            raise QueryError("mean_share must be less than 1: the components need the rest")
        return share * part, share * (1 - part)


def _checked(schema: Schema, names: tuple[str, ...], components: int, norm: float | None) -> float | None:
    """The norm, if all can be asked about: known before anything is spent."""
    d = len(names)
    if isinstance(components, bool) or not isinstance(components, int) or not 1 <= components <= d:
        raise QueryError(f"components must be a whole number from 1 to {d}, the features, not {components!r}")
    Scope(schema).number(gram(clip_norm(features(*names), 1 if norm is None else norm)))
    return norm


def _moments(row: Node) -> list[Query]:
    return [total(gram(row)), count(weight=COUNT_WEIGHT)]


def _mean(sums: Answer, rows: Answer) -> tuple[list[float], float]:
    """The mean as far as it was answered, and the noise in each of its coordinates."""
    many = max(1.0, rows.value)
    noise = float(sums.deviation) / many
    told = shrunk(np.atleast_1d(sums.value) / many, noise).clip(-1, 1)
    return [round(coordinate * MEAN_STEPS) / MEAN_STEPS for coordinate in told.tolist()], noise


def _affordable(noise: float, d: int) -> float:
    """The norm up to which noise moves the eigenvalues by a small part of d/12 at most, but at least √(d/12).

    `noise` is that of the mean's coordinates if they had the budget of the products. A row moves the mean's
    sums by 2d, in the 1-norm, and those of the products by (d + 1)·norm², so under Laplace noise products
    have noise·norm²·(d + 1)/2d, and a matrix of d² such numbers has a norm of about 2√d times that.
    """
    usual, longest = d / 12, 25 * d / 4
    each = noise * (d + 1) / (2 * d) * 2 * math.sqrt(d)
    return math.sqrt(longest if each == 0 else min(longest, max(usual, TELLING * usual / each)))


def _top(
    k: int, schema: Schema, names: tuple[str, ...], centre: Sequence[float], answers: list[Answer]
) -> Components:
    """The k top eigenvectors of the matrix whose upper triangle was answered."""
    triangle, rows = np.atleast_1d(answers[0].value), max(1.0, answers[1].value)
    matrix = np.zeros((len(names), len(names)))
    matrix[np.triu_indices(len(names))] = triangle / rows
    values, vectors = np.linalg.eigh(matrix, UPLO="U")
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
        # Noise can make the least eigenvalues negative, and the trace less than what was found.
        max(float(np.trace(matrix)), float(variances.sum())),
    )
