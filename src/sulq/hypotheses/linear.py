"""Linear models: a number as a weighted sum of others, and of what the values of categories add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from sulq.dates import Date
from sulq.errors import QueryError
from sulq.hypotheses.effect import SURELY, Effect
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.target import kept_between
from sulq.pictures import measured
from sulq.queries.arithmetic import Add
from sulq.queries.attributes import interval
from sulq.queries.expressions import Column, Constant
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.vectors import features
from sulq.schema import Boolean

DRAWN = 12
"""How many values of a category are worth drawing."""


@dataclass(frozen=True, eq=False)
class LinearModel(Hypothesis):
    """A number as a weighted sum of numbers and truth values, kept within its public bounds.

    Values of categories add what they add, 0 on average.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        target: the column that is predicted.
        features: the columns that it is predicted by.
        coefficients: by how much the target grows where a feature grows by 1.
        deviations: one standard deviation of the error that noise makes in each coefficient.
        intercept: the target where all features are 0, before categories add anything.
        effects: what the values of each category add.

    >>> import sulq
    >>> schema = sulq.Schema({"years": sulq.Real(0, 50), "pay": sulq.Real(0, 200)})
    >>> model = LinearModel(schema, None, "pay", ("years",), (3.0,), (0.1,), 20.0)
    >>> print(model.describe())
    pay = 20 + 3 years (± 0.2)
    >>> model.predict({"years": [0, 10]}).round(1).tolist()
    [20.0, 50.0]
    """

    wire = "linear"

    target: str
    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    deviations: tuple[float, ...]
    intercept: float
    effects: tuple[Effect, ...] = ()

    @property
    def expression(self) -> Node:
        terms: list[Node] = [Constant(self.intercept)]
        for name, coefficient in zip(self.features, self.coefficients, strict=True):
            terms.append(self._term(name, coefficient))
        terms += [Lookup(effect.code, effect.added) for effect in self.effects]
        low, high = bounds_of(self.schema, Column(self.target))
        return kept_between(self.schema, reduce(Add, terms), low, high)

    def _term(self, name: str, coefficient: float) -> Node:
        kind = self.schema[name]
        if isinstance(kind, Boolean):
            return Lookup(Column(name), ((0.0,), (coefficient,)))
        if isinstance(kind, Date):
            low, high = interval(self.schema, name)
            return features(name) * (coefficient * (high - low) / 2) + coefficient * (low + high) / 2
        return Column(name) * coefficient

    def describe(self) -> str:
        terms = [
            f" {'−' if coefficient < 0 else '+'} {abs(coefficient):.4g} {name} (± {SURELY * deviation:.2g})"
            for name, coefficient, deviation in zip(
                self.features, self.coefficients, self.deviations, strict=True
            )
        ]
        whole = f"{self.target} = {self.intercept:.4g}{''.join(terms)}".replace("= -", "= −")
        lines = [f"  {effect.name}: {effect.told(self.schema, 0)}" for effect in self.effects]
        return "\n".join([f"{whole}, and" if lines else whole, *lines])

    def picture(self) -> str:
        bars = []
        for name, coefficient, deviation in zip(
            self.features, self.coefficients, self.deviations, strict=True
        ):
            low, high = interval(self.schema, name)
            value, radius = coefficient * (high - low), SURELY * deviation * (high - low)
            bars.append(
                measured.MeasuredBar(name, value, value - radius, value + radius, abs(value) > radius)
            )
        title = f"how far {self.target} moves between a feature's bounds"
        panels = [measured.MeasuredPanel(self.target, tuple(bars))] if bars else []
        effects = [effect.panel(self.schema, 0, effect.name) for effect in self.effects]
        return measured.picture(title, [*panels, *effects], DRAWN, self._caption)

    def _check(self) -> None:
        if not len(self.features) == len(self.coefficients) == len(self.deviations):
            raise QueryError("a linear model has a coefficient and a deviation for each feature")
        if any(deviation < 0 for deviation in self.deviations):
            raise QueryError("the deviations of a linear model are at least 0")
        for effect in self.effects:
            effect.check(self.schema, 1)
        super()._check()
