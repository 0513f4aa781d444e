"""Linear models: a number as a weighted sum of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, enumerated, words
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.target import kept_between
from sulq.hypotheses.words import phrased
from sulq.pictures import measured
from sulq.queries.cases import Clip
from sulq.queries.expressions import Column, Constant
from sulq.queries.facts import Code
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.products import dot
from sulq.queries.scope import scope_of
from sulq.queries.vectors import features as scaled_features
from sulq.queries.vectors import vector
from sulq.schema import Schema

SURELY = 1.96
"""So many standard deviations are 95 % of a bell curve."""
DRAWN = 30
"""How many features are worth drawing."""
BARS = "95 of 100 hold what exact answers would give; grey: within the noise"
"""What error bars say."""


@dataclass(frozen=True, eq=False)
class LinearModel(Hypothesis):
    """A number as a weighted sum of features, kept within its public bounds.

    Error bars are 1.96 standard deviations of what noise does to a coefficient: how far it is from what exact
    answers to the same questions would have given. That rows are a sample is not part of them.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        target: the number that is predicted: a column or an expression.
        features: what it is predicted by: numbers and truth values, as columns or expressions. A value of a
            category is a feature that is 1 where a row has it and else 0.
        coefficients: by how much the target grows where a feature grows by 1.
        deviations: one standard deviation of the error that noise makes in each coefficient.
        intercept: the target where all features are 0.

    >>> import sulq
    >>> schema = sulq.Schema({"years": sulq.Real(0, 50), "pay": sulq.Real(0, 200)})
    >>> model = LinearModel(schema, None, "pay", ("years",), (3.0,), (0.1,), 20.0)
    >>> print(model.describe())
    pay = 20 + 3 years (± 0.2)
    >>> model.predict({"years": [0, 10]}).round(1).tolist()
    [20.0, 50.0]
    """

    wire = "linear"

    target: Node
    features: tuple[Node, ...]
    coefficients: tuple[float, ...]
    deviations: tuple[float, ...]
    intercept: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _expression(self.target))
        object.__setattr__(self, "features", tuple(map(_expression, self.features)))

    @property
    def label(self) -> Node:
        """What is predicted, by the name that it has in all models."""
        return self.target

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is called."""
        return tuple(feature_name(self.schema, feature) for feature in self.features)

    @property
    def expression(self) -> Node:
        low, high = bounds_of(self.schema, self.target)
        columns = [(coefficient,) for coefficient in self.coefficients]
        whole = weighted(self.schema, self.features, columns, (self.intercept,))
        return kept_between(self.schema, whole, low, high)

    def describe(self) -> str:
        terms = [
            f" {'−' if coefficient < 0 else '+'} {abs(coefficient):.4g} {name} (± {SURELY * deviation:.2g})"
            for name, coefficient, deviation in zip(
                self.names, self.coefficients, self.deviations, strict=True
            )
        ]
        return f"{words(self.target)} = {self.intercept:.4g}{''.join(terms)}".replace("= -", "= −")

    @property
    def headline(self) -> str:
        ranked = sorted(self._moves, key=lambda bar: -abs(bar.value))
        known = [bar.label for bar in ranked if bar.telling]
        by = f"by {', '.join(known[:4])}" if known else "by no feature that can be told from noise"
        return f"{words(self.target)} is told {by}."

    @property
    def doubts(self) -> tuple[str, ...]:
        return drowned([bar.label for bar in self._moves if not bar.telling])

    def picture(self) -> str:
        name = words(self.target)
        panel = measured.MeasuredPanel(name, self._moves)
        title = f"how far {name} moves between a feature's bounds"
        return measured.picture(title, [panel], DRAWN, self._caption, BARS)

    @property
    def _moves(self) -> tuple[measured.MeasuredBar, ...]:
        return moves(self.schema, self.features, self.coefficients, self.deviations)

    def _check(self) -> None:
        if not len(self.features) == len(self.coefficients) == len(self.deviations):
            raise QueryError("a linear model has a coefficient and a deviation for each feature")
        if any(deviation < 0 for deviation in self.deviations):
            raise QueryError("the deviations of a linear model are at least 0")
        super()._check()


def feature_name(schema: Schema, feature: Node) -> str:
    """What a feature is called: a column's name, or which value of a category it stands for.

    Args:
        schema: what is public about the columns.
        feature: the feature.

    >>> from sulq.schema import Category
    >>> schema = Schema({"town": Category(["x", "y"], missing="x")})
    >>> feature_name(schema, Lookup(Column("town"), ((0.0,), (1.0,))))
    'town is y'
    """
    if isinstance(feature, Clip):
        return words(feature.inner)
    if not isinstance(feature, Lookup):
        return words(feature)
    places = [place for place, entry in enumerate(feature.table) if entry == (1.0,)]
    if not isinstance(scope_of(schema).facts(feature.choice), Code) or len(places) != 1:
        return words(feature.choice)
    subject, link, answers = phrased(feature.choice, schema)
    return f"{subject}{link}{answers[places[0]] if answers else places[0]}"


def one_hots(choice: Node, size: int) -> list[Node]:
    """A feature for each value of a choice: 1 where a row has it, and else 0.

    Args:
        choice: a category.
        size: how many values it has.
    """
    return [Lookup(choice, tuple((float(i == j),) for j in range(size))) for i in range(size)]


def weighted(
    schema: Schema,
    features: Sequence[Node],
    coefficients: Sequence[Sequence[float]],
    intercept: Sequence[float],
) -> Node:
    """Weighted sums of features, one or more, as a row expression.

    Args:
        schema: what is public about the columns.
        features: the features.
        coefficients: for each feature its weight in each of the sums.
        intercept: what is added to each of the sums.
    """
    if not features:
        return Constant(intercept[0]) if len(intercept) == 1 else vector(*intercept)
    ends = [bounds_of(schema, feature) for feature in features]
    point = vector(scaled_features(*features), 1)
    sums = []
    for place, start in enumerate(intercept):
        weights = [each[place] for each in coefficients]
        at = [weight * (high - low) / 2 for weight, (low, high) in zip(weights, ends, strict=True)]
        middle = start + sum(
            weight * (low + high) / 2 for weight, (low, high) in zip(weights, ends, strict=True)
        )
        sums.append(dot(point, [*at, middle]))
    return sums[0] if len(sums) == 1 else vector(*sums)


def moves(
    schema: Schema, features: Sequence[Node], coefficients: Sequence[float], deviations: Sequence[float]
) -> tuple[measured.MeasuredBar, ...]:
    """How far a weighted sum moves where each feature goes from its lowest to its highest value.

    Args:
        schema: what is public about the columns.
        features: the features.
        coefficients: their weights.
        deviations: one standard deviation of the error of each weight.
    """
    bars = []
    for feature, coefficient, deviation in zip(features, coefficients, deviations, strict=True):
        low, high = bounds_of(schema, feature)
        value, radius = coefficient * (high - low), SURELY * deviation * (high - low)
        telling = abs(value) > radius
        name = feature_name(schema, feature)
        bars.append(measured.MeasuredBar(name, value, value - radius, value + radius, telling))
    return tuple(bars)


def drowned(names: Sequence[str]) -> tuple[str, ...]:
    """Which features are within the noise, as a sentence.

    Args:
        names: what they are called.

    >>> drowned(["age", "pay"])
    ('The coefficients of age and pay are within the noise.',)
    """
    if not names:
        return ()
    one = f"The coefficient of {names[0]} is" if len(names) == 1 else ""
    return (f"{one or f'The coefficients of {enumerated(names)} are'} within the noise.",)


def _expression(given: str | Node) -> Node:
    return Column(given) if isinstance(given, str) else given
