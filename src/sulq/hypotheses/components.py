"""A few directions in the space of the features, and where rows lie along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.numbers import several
from sulq.pictures import bars
from sulq.pictures.svg import percent
from sulq.queries.attributes import interval
from sulq.queries.missing import coordinate
from sulq.queries.node import Node
from sulq.queries.products import dot
from sulq.queries.vectors import features, vector
from sulq.schema import Schema

NAMED = 4
"""How many loadings of a component are worth reading."""
DRAWN = 12
"""How many are worth drawing."""
TURNED = "turned by at most"
ANYWHERE = 60.0
"""A direction that may be turned by so many degrees says nothing."""
LONG = 0.1
"""Shortened rows are worth a word if variances may be larger by this part of their sum."""


@dataclass(frozen=True, eq=False)
class Components(Hypothesis):
    """A few orthonormal directions in the space of the features, each of them scaled to [−1, 1] unless said.

    The numbers are as the oracle answered, so they are noisy under a curator, and of rows shortened to the
    learner's `norm`. Errors are those of the shortened rows; where `PCA` chose the norm, of the rows as they
    are.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        features: the columns that span the space.
        mean: what is taken off a row first; zeros after SVD.
        directions: the directions, the one with the largest variance first.
        variances: the mean squared length of the rows along each direction.
        whole: the mean squared length of the rows along all directions there are.
        error: how far off each of the variances is, at 95 %; 0 if they are exact, or nobody said.
        angles: by how many degrees each direction may be turned, up to 90; empty if there is no error.
        scaled: whether features are scaled to [−1, 1], and not in their own units.
        shortened: the part of the error that rows may have caused which the learner shortened.

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
    >>> both, variances = ((0.6, 0.8), (0.8, -0.6)), (0.9, 0.1)
    >>> noisy = Components(schema, None, ("a", "b"), (0.0, 0.0), both, variances, 1.0, 0.12, (10.2, 10.2))
    >>> print(noisy.describe())
    component 1 (90 % ± 26 of the variance, turned by at most 10°): +0.80 b, +0.60 a
    component 2 (10 % ± 15 of the variance, within the noise): +0.80 a, -0.60 b
    Component 2 is within the noise.
    """

    wire = "components"
    no_label = "coordinates, which are no label"

    features: tuple[str, ...]
    mean: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...]
    variances: tuple[float, ...]
    whole: float
    error: float = 0.0
    angles: tuple[float, ...] = ()
    scaled: bool = field(default=True, metadata={"written": "if stated"})
    shortened: float = field(default=0.0, metadata={"written": "if stated"})

    @property
    def expression(self) -> Node:
        centred = point(self.schema, self.features, self.scaled) - vector(*self.mean)
        return vector(*(dot(centred, direction) for direction in self.directions))

    def predict(self, frame: Any) -> NDArray[np.float64]:
        """Each row's coordinates along the directions, scaled as the features are: a column for each."""
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
        if not self.scaled:
            return self.directions
        widths = [(high - low) / 2 for low, high in (interval(self.schema, name) for name in self.features)]
        return tuple(
            tuple(loading / width for loading, width in zip(direction, widths, strict=True))
            for direction in self.directions
        )

    @property
    def drowned(self) -> tuple[int, ...]:
        """The places of the components whose variance is within the noise."""
        noise = self.error - self.shortened
        return tuple(place for place, each in enumerate(self.variances) if 0 < noise >= each)

    @property
    def headline(self) -> str:
        known = len(self.directions) - len(self.drowned)
        if known == 0:
            return f"No direction of {', '.join(self.features)} can be told from noise."
        many = several(known, "direction holds", "directions hold")
        share = sum(share for place, share in enumerate(self.shares) if place not in self.drowned)
        return f"{many} {percent(share)} of how the rows differ in {', '.join(self.features)}."

    @property
    def doubts(self) -> tuple[str, ...]:
        sentences = []
        if drowned := [place + 1 for place in self.drowned]:
            start, are = ("Components", "are") if len(drowned) > 1 else ("Component", "is")
            sentences.append(f"{start} {enumerated(drowned)} {are} within the noise.")
        turned = [place + 1 for place, angle in enumerate(self.angles) if angle >= ANYWHERE]
        if anywhere := [number for number in turned if number not in drowned]:
            start, its = ("Components", "their") if len(anywhere) > 1 else ("Component", "its")
            sentences.append(
                f"{start} {enumerated(anywhere)} may point elsewhere: {self._causes} could have made {its} "
                "variance differ from others."
            )
        if self.shortened > LONG * self.whole:
            sentences.append(
                f"Long rows were shortened, to hide them in less noise: variances may be larger by up to "
                f"{self.shortened:.2g}."
            )
        return tuple(sentences)

    @property
    def _causes(self) -> str:
        return "noise, or rows that were shortened," if self.shortened else "noise"

    @property
    def outlook(self) -> str:
        if self.error == 0:
            return ""
        noise = self.error - self.shortened
        off = f"Variances are off by up to {noise:.2g} at 95 %"
        longer = f" Rows that are shortened add up to {self.shortened:.2g}." if self.shortened else ""
        if not self.scaled:
            return f"{off}: below that they are noise.{longer}"
        even = 1 / 3
        told = "components below that are" if noise < even else "expect that all components are"
        return (
            f"{off} by noise; a column that spreads evenly over its bounds has {even:.2f}: {told} within the "
            f"noise.{longer}"
        )

    def describe(self) -> str:
        lines = []
        for place, direction in enumerate(self.directions):
            largest = sorted(zip(direction, self.features, strict=True), key=lambda pair: -abs(pair[0]))
            loadings = ", ".join(f"{loading:+.2f} {name}" for loading, name in largest[:NAMED])
            lines.append(f"component {place + 1} ({self._share(place)}): {loadings}")
        return "\n".join([*lines, *self.doubts])

    def _share(self, place: int) -> str:
        """Which part of the variance a component has, in words."""
        off = turned = ""
        if self.error:
            # The sum of the variances is no further off than the norm that bounds each of them.
            least = self.whole - self.error
            error = self.error * (1 + self.shares[place]) / least if least > 0 else 1.0
            off = f" ± {100 * min(1.0, error):.{1 if error < 0.1 else 0}f}"
        if self.angles and self.angles[place] < ANYWHERE:
            turned = f", {TURNED} {self.angles[place]:.2g}°"
        quiet = ", within the noise" if place in self.drowned else turned
        return f"{percent(self.shares[place])}{off} of the variance{quiet}"

    def picture(self) -> str:
        units = "scaled to [−1, 1]" if self.scaled else "in their own units"
        return bars.picture(f"Loadings of features {units}", self._panels(), DRAWN, self._caption)

    def drawing(self) -> RenderableType:
        return bars.drawing(self._panels(), DRAWN)

    def _panels(self) -> list[bars.Panel]:
        return [
            bars.Panel(
                f"component {place + 1}: {self._share(place).replace(TURNED, '±')}",
                tuple(zip(self.features, direction, strict=True)),
                0.0 if place not in self.drowned else 2.0,
            )
            for place, direction in enumerate(self.directions)
        ]


def point(schema: Schema, names: Sequence[str], scaled: bool) -> Node:
    """A row as a point: its features scaled to [−1, 1], or its columns as they are.

    Args:
        schema: what is public about the columns.
        names: the columns that span the space.
        scaled: whether public intervals are scaled.
    """
    return features(*names) if scaled else vector(*(coordinate(name, schema) for name in names))
