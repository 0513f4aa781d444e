"""Linear models: a number as a weighted sum of others."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.hypotheses.halfspace import score
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.measures import bounds_of
from sulq.pictures import measured
from sulq.queries.attributes import interval
from sulq.queries.cases import clip
from sulq.queries.expressions import Column
from sulq.queries.node import Node

SURELY = 1.96
"""So many standard deviations are 95 % of a bell curve."""


@dataclass(frozen=True, eq=False)
class LinearModel(Hypothesis):
    """A number as a weighted sum of numbers and truth values, kept within its public bounds.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        target: the column that is predicted.
        features: the columns that it is predicted by.
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

    target: str
    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    deviations: tuple[float, ...]
    intercept: float

    @property
    def expression(self) -> Node:
        ends = [interval(self.schema, name) for name in self.features]
        halves = [(high - low) / 2 for low, high in ends]
        weights = [coefficient * half for coefficient, half in zip(self.coefficients, halves, strict=True)]
        middles = [(low + high) / 2 for low, high in ends]
        middle = self.intercept + sum(c * m for c, m in zip(self.coefficients, middles, strict=True))
        low, high = bounds_of(self.schema, Column(self.target))
        return clip(score(self.features, (*weights, middle)), low, high)

    def describe(self) -> str:
        terms = [
            f" {'−' if coefficient < 0 else '+'} {abs(coefficient):.4g} {name} (± {SURELY * deviation:.2g})"
            for name, coefficient, deviation in zip(
                self.features, self.coefficients, self.deviations, strict=True
            )
        ]
        return f"{self.target} = {self.intercept:.4g}{''.join(terms)}".replace("= -", "= −")

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
        return measured.picture(title, [measured.MeasuredPanel(self.target, tuple(bars))], 30, self._caption)

    def _check(self) -> None:
        if not len(self.features) == len(self.coefficients) == len(self.deviations):
            raise QueryError("a linear model has a coefficient and a deviation for each feature")
        super()._check()
