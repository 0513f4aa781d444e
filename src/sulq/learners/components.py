"""Singular vectors and principal components: the few directions in which rows are long, or differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.learners.hypothesis import Hypothesis, Origin
from sulq.learners.learner import Learner, Rounds
from sulq.oracles.answers import Answer
from sulq.queries.expressions import Node
from sulq.queries.products import dot, gram
from sulq.queries.query import Exact, Query, count, mean, rational, total
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.queries.vectors import clip_norm, features, vector
from sulq.schema import Boolean, Category, Integer, Real, Schema

MEAN_STEPS = 2**10
"""The public mean is rounded to multiples of 1/1024, far finer than noise and exact on the features' grid."""
COUNT_WEIGHT = Fraction(1, 10)
"""The count only scales the variances, so where it has to be paid for it gets a small part of the budget."""
NAMED = 4
"""How many loadings of a component are worth reading."""


@dataclass(frozen=True)
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
        widths = [_half_width(self.schema, name) for name in self.features]
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
        k, norm = _checked(schema, names, self.components, self.norm)
        answers = yield Round(_moments(clip_norm(features(*names), norm)), self.share)
        return _top(k, schema, names, [0.0] * len(names), answers)


@dataclass(frozen=True)
class PCA(Learner[Components]):
    """The principal components of the table, from two rounds: section 4.1 of the SuLQ paper.

    The first round asks for the mean of the features; the second for the products of the rows minus that
    mean, which by then is public. Whatever is off in the mean is added to the variances as its square.

    `components`, `features`, `norm` and `share` are as for `SVD`; the norm is that of a row minus the mean,
    and at 2√d no row is shortened. `mean_share`: the part of `share` that the first round gets.

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
    mean_share: Exact = Fraction(1, 10)

    def rounds(self, schema: Schema) -> Rounds[Components]:
        names = feature_names(schema, self.features)
        k, norm = _checked(schema, names, self.components, self.norm)
        first, second = self._shares()
        x = features(*names)
        [answer] = yield Round([mean(x)], first)
        centre = _public(answer)
        answers = yield Round(_moments(clip_norm(x - vector(*centre), norm)), second)
        return _top(k, schema, names, centre, answers)

    def _shares(self) -> tuple[Fraction, Fraction]:
        share, part = rational("share", self.share, most=1), rational("mean_share", self.mean_share, most=1)
        if part == 1:
            raise QueryError("mean_share must be less than 1: the components need the rest")
        return share * part, share * (1 - part)


def feature_names(
    schema: Schema,
    given: Sequence[str] | None,
    *,
    booleans: bool = False,
    but: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns that make up a feature vector, or a refusal.

    By default all numeric ones, and the boolean ones if `booleans`, `but` some; a column whose bounds are
    equal says nothing and is left out. Named columns may be boolean, and must be able to vary.

    >>> from sulq.schema import Category
    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean(), "sex": Category(["f", "m"])})
    >>> feature_names(schema, None), feature_names(schema, ["sick"])
    (('age',), ('sick',))
    """
    if given is None:
        kinds = (Real, Integer, Boolean) if booleans else (Real, Integer)
        numeric = [name for name, kind in schema.items() if isinstance(kind, kinds) and name not in but]
        names = tuple(name for name in numeric if _half_width(schema, name) > 0)
    elif isinstance(given, str):
        raise QueryError(f"features is a list of columns: [{given!r}]")
    else:
        names = tuple(given)
        for name in names:
            if isinstance(schema[name], Category):
                raise QueryError(f"column {name!r} is a category: features are numeric or boolean")
            if not _half_width(schema, name):
                raise QueryError(f"column {name!r} cannot vary, its bounds are equal: leave it out")
    if not names:
        raise QueryError("there are no features: name numeric or boolean columns")
    if len(set(names)) < len(names):
        raise QueryError("a feature is named twice")
    return names


def _half_width(schema: Schema, name: str) -> float:
    """Half the public interval of a column: what becomes 1 when it is scaled to [−1, 1]."""
    kind = schema[name]
    return (kind.high - kind.low) / 2 if isinstance(kind, Real | Integer) else 0.5


def _checked(
    schema: Schema, names: tuple[str, ...], components: int, norm: float | None
) -> tuple[int, float]:
    """How many components and the norm, if all can be asked about: known before anything is spent."""
    d = len(names)
    if isinstance(components, bool) or not isinstance(components, int) or not 1 <= components <= d:
        raise QueryError(f"components must be a whole number from 1 to {d}, the features, not {components!r}")
    bound = math.sqrt(d / 3) if norm is None else norm
    Scope(schema).number(gram(clip_norm(features(*names), bound)))
    return components, bound


def _moments(row: Node) -> list[Query]:
    return [total(gram(row)), count(weight=COUNT_WEIGHT)]


def _public(answer: Answer) -> list[float]:
    """The mean as answered, where it can be: a noisy count may be near zero, or below."""
    told = np.nan_to_num(np.atleast_1d(answer.value), nan=0.0, posinf=1.0, neginf=-1.0)
    return [round(coordinate * MEAN_STEPS) / MEAN_STEPS for coordinate in told.clip(-1, 1).tolist()]


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
