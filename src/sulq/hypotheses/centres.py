"""Centres: a row belongs to the nearest."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import RenderableType

from sulq.hypotheses.hypothesis import Hypothesis
from sulq.pictures import centres as pictures
from sulq.queries.attributes import interval
from sulq.queries.codes import nearest
from sulq.queries.node import Node
from sulq.queries.vectors import features


@dataclass(frozen=True, eq=False)
class Centres(Hypothesis):
    """k centres: a row belongs to the nearest.

    `natural` has the centres in the columns' units.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        features: the columns that span the space.
        centres: where the centres are, with each public interval scaled to [−1, 1].
        sizes: about how many rows are nearest to each centre.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100)})
    >>> young_and_old = Centres(schema, None, ("age",), ((-0.5,), (0.5,)), (10.0, 20.0))
    >>> print(young_and_old.describe())
    cluster  rows  age
          0    10   25
          1    20   75
    >>> young_and_old.predict({"age": [10.0, 90.0]})
    array([0, 1], dtype=uint8)
    """

    wire = "centres"

    features: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]

    @property
    def expression(self) -> Node:
        return nearest(features(*self.features), self.centres)

    @property
    def natural(self) -> tuple[tuple[float, ...], ...]:
        """The centres in the columns' own units."""
        ends = [interval(self.schema, name) for name in self.features]
        return tuple(
            tuple(low + (x + 1) / 2 * (high - low) for x, (low, high) in zip(centre, ends, strict=True))
            for centre in self.centres
        )

    def describe(self) -> str:
        table = [["cluster", "rows", *self.features]]
        for number, (size, centre) in enumerate(zip(self.sizes, self.natural, strict=True)):
            table.append([str(number), f"{size:.0f}", *(f"{x:.6g}" for x in centre)])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table
        )

    def picture(self) -> str:
        return pictures.picture(*self._drawn(), note=self._caption)

    def drawing(self) -> RenderableType:
        return pictures.drawing(*self._drawn())

    def _drawn(self) -> tuple[list[pictures.Side], list[pictures.Centre]]:
        axes = [pictures.Side(name, *interval(self.schema, name)) for name in self.features]
        return axes, pictures.centres(self.sizes, self.natural)
