"""Centres: a row belongs to the nearest."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import RenderableType

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.numbers import several
from sulq.pictures import centres as pictures
from sulq.queries.attributes import interval
from sulq.queries.codes import nearest
from sulq.queries.node import Node
from sulq.queries.vectors import features
from sulq.talk.columns import with_error

HOLDS = "± holds at 95 %, for all clusters at once."


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
        size_error: how far off the sizes are by noise, at 95 % for all of them; 0 if there is no noise, or
            nobody said.
        errors: how far each centre is by noise from the mean of the rows that were nearest to it, at 95 %
            for all of them; scaled like the centres, so 2 is anywhere. Empty if there is no noise, or nobody
            said.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100)})
    >>> young_and_old = Centres(schema, None, ("age",), ((-0.5,), (0.5,)), (10.0, 20.0))
    >>> print(young_and_old.describe())
    cluster  rows  age
          0    10   25
          1    20   75
    >>> young_and_old.predict({"age": [10.0, 90.0]})
    array([0, 1], dtype=uint8)
    >>> noisy = Centres(schema, None, ("age",), ((-0.5,), (0.5,)), (10.0, 20.0), 12.0, ((2.0,), (0.1,)))
    >>> print(noisy.describe())
    cluster       rows         age
        [0]  [10 ± 12]        [25]
          1    20 ± 12  75.0 ± 5.0
    ± holds at 95 %, for all clusters at once.
    Cluster 0 is within the noise: its size and its centre are guesses.
    >>> print(noisy.headline)
    2 groups of rows by age, the largest of 20 ± 12 rows.
    """

    wire = "centres"
    no_label = "clusters, which are no labels"

    features: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    size_error: float = 0.0
    errors: tuple[tuple[float, ...], ...] = ()

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

    @property
    def natural_errors(self) -> tuple[tuple[float, ...], ...]:
        """The errors of the centres, in the columns' own units."""
        widths = [(high - low) / 2 for low, high in (interval(self.schema, name) for name in self.features)]
        return tuple(tuple(x * wide for x, wide in zip(each, widths, strict=True)) for each in self.errors)

    @property
    def drowned(self) -> tuple[int, ...]:
        """The clusters whose sizes are within the noise."""
        return tuple(number for number, size in enumerate(self.sizes) if 0 < self.size_error >= size)

    @property
    def headline(self) -> str:
        largest = with_error(max(self.sizes), self.size_error, 0)
        many = several(len(self.sizes), "group", "groups")
        return f"{many} of rows by {', '.join(self.features)}, the largest of {largest} rows."

    @property
    def doubts(self) -> tuple[str, ...]:
        if not self.drowned:
            return ()
        if len(self.drowned) == 1:
            return (f"Cluster {self.drowned[0]} is within the noise: its size and its centre are guesses.",)
        which = enumerated(self.drowned)
        return (f"Clusters {which} are within the noise: their sizes and their centres are guesses.",)

    def describe(self) -> str:
        table = [["cluster", "rows", *self.features]]
        axes, points = self._drawn()
        for point in points:
            name = f"[{point.number}]" if point.drowned else str(point.number)
            values = [
                pictures.shown(axis, place, point) if self.errors else f"{point.values[place]:.6g}"
                for place, axis in enumerate(axes)
            ]
            table.append([name, point.rows if self.size_error else f"{point.size:.0f}", *values])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table
        ]
        return "\n".join([*lines, *([HOLDS] if self.size_error or self.errors else []), *self.doubts])

    def picture(self) -> str:
        return pictures.picture(*self._drawn(), note=self._caption)

    def drawing(self) -> RenderableType:
        return pictures.drawing(*self._drawn())

    def _drawn(self) -> tuple[list[pictures.Side], list[pictures.Centre]]:
        axes = [pictures.Side(name, *interval(self.schema, name)) for name in self.features]
        return axes, pictures.centres(self.sizes, self.natural, self.size_error, self.natural_errors)

    def _check(self) -> None:
        spaces = [len(each) for each in (*self.centres, *self.errors)]
        if len({len(self.centres), len(self.sizes), len(self.errors or self.sizes)}) > 1 or any(
            many != len(self.features) for many in spaces
        ):
            raise QueryError("centres, their sizes and their errors go together, with a number each feature")
        super()._check()
