"""A few directions in the space of the features, and where rows lie along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.hypotheses.hypothesis import Hypothesis
from sulq.pictures import bars
from sulq.queries.attributes import interval
from sulq.queries.node import Node
from sulq.queries.products import dot
from sulq.queries.vectors import features, vector

NAMED = 4
"""How many loadings of a component are worth reading."""
DRAWN = 12
"""How many are worth drawing."""


@dataclass(frozen=True, eq=False)
class Components(Hypothesis):
    """A few orthonormal directions in the space of the features, each of them scaled to [−1, 1].

    The numbers are as the oracle answered, so they are noisy under a curator, and of rows shortened to the
    learner's `norm`.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        features: the columns that span the space.
        mean: what is taken off a row first; zeros after SVD.
        directions: the directions, the one with the largest variance first.
        variances: the mean squared length of the rows along each direction.
        whole: the mean squared length of the rows along all directions there are.

    >>> import sulq
    >>> schema = sulq.Schema({"a": sulq.Real(0, 10), "b": sulq.Real(0, 1)})
    >>> components = Components(schema, None, ("a", "b"), (0.0, 0.0), ((0.6, 0.8),), (0.3,), 0.4)
    >>> components.transform({"a": [10, 5], "b": [0.5, 1.0]}).round(3)
    array([[0.6],
           [0.8]])
    >>> print(components.describe())
    component 1 (75 % of the variance): +0.80 b, +0.60 a
    >>> components.per_unit
    ((0.12, 1.6),)
    """

    wire = "components"

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
