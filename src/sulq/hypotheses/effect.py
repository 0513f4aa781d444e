"""What the values of one attribute add, in words and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.words import ends_in_words, enumerated, words
from sulq.pictures.measured import MeasuredBar, MeasuredPanel
from sulq.pictures.stairs import Stair, StairsPanel
from sulq.queries.attributes import looked_at
from sulq.queries.codes import Bins
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import scope_of
from sulq.queries.value_names import dates_of, edge_names, value_names
from sulq.schema import Schema

SURELY = 1.96
"""So many standard deviations hold 95 % of a bell curve."""
NAMED = 8
"""So many values of an attribute are worth naming."""


@dataclass(frozen=True)
class Effect:
    """What the values of one attribute add.

    Args:
        code: which of its values a row has.
        shares: the part of the rows that has each value, as far as noise lets it be known.
        added: for each value what it adds, to each number that stands for the label.
        deviations: one standard deviation of the error of each.

    >>> from sulq.queries.expressions import col
    >>> effect = Effect(col("old"), (0.6, 0.4), ((-1.0,), (1.5,)), ((0.1,), (0.1,)))
    >>> effect.name, round(effect.importance, 2), effect.telling
    ('old', 1.2, True)
    """

    code: Node
    shares: tuple[float, ...]
    added: tuple[tuple[float, ...], ...]
    deviations: tuple[tuple[float, ...], ...]

    @property
    def name(self) -> str:
        """What the attribute is called."""
        if isinstance(self.code, Route):
            return f"questions about {enumerated(sorted(looked_at(self.code)))}"
        return words(self.code.inner if isinstance(self.code, Bins) else self.code)

    @property
    def importance(self) -> float:
        """How much the attribute adds to a row on average, whichever way."""
        return float(np.abs(self._table).max(axis=1, initial=0.0) @ np.array(self.shares))

    @property
    def telling(self) -> bool:
        """Whether some value adds more than its error bar: not all of its picture is grey."""
        radius = SURELY * np.array(self.deviations, dtype=np.float64).reshape(self._table.shape)
        return bool((np.abs(self._table) > radius).any())

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        return np.array(self.added, dtype=np.float64).reshape(len(self.shares), -1)

    def check(self, schema: Schema, width: int) -> None:
        """Refuse what is no effect on so many numbers.

        Args:
            schema: what is public about the columns.
            width: how many numbers stand for the label.
        """
        size = scope_of(schema).code(self.code).size
        if len(self.shares) != size:
            raise QueryError(f"an effect has shares of {size} values, not of {len(self.shares)}")
        for table in (self.added, self.deviations):
            if len(table) != size or any(len(row) != width for row in table):
                raise QueryError(f"an effect has {width} numbers for each of {size} values")

    def told(self, schema: Schema, place: int) -> str:
        """What the values add to one of the numbers, in words.

        Neighbouring intervals are taken together where their error bars do not tell them apart.

        Args:
            schema: what is public about the columns.
            place: which of the numbers that stand for the label.
        """
        if isinstance(self.code, Bins):
            runs = self._runs(place)
            named = [self._interval(run, schema) for run in runs]
        else:
            values = sorted(range(len(self.shares)), key=lambda value: -abs(self.added[value][place]))
            runs = [[value] for value in values]
            labels = self._labels(schema)
            named = [labels[run[0]] for run in runs]
        pieces = [f"{name} {self._number(run, place)}" for name, run in zip(named, runs, strict=True)]
        rest = len(pieces) - NAMED
        return ", ".join(pieces[:NAMED]) + (f", and {rest} more" if rest > 0 else "")

    def panel(self, schema: Schema, place: int, title: str) -> MeasuredPanel | StairsPanel:
        """What the values add to one of the numbers, as a part of a picture.

        Args:
            schema: what is public about the columns.
            place: which of the numbers that stand for the label.
            title: what stands above it.
        """
        measures = [
            (added[place], SURELY * off[place])
            for added, off in zip(self.added, self.deviations, strict=True)
        ]
        if isinstance(self.code, Bins):
            low, high = bounds_of(schema, self.code.inner)
            ends = [low, *(min(max(edge, low), high) for edge in self.code.edges), high]
            return StairsPanel(
                title,
                tuple(
                    Stair(ends[number], ends[number + 1], value, value - radius, value + radius)
                    for number, (value, radius) in enumerate(measures)
                ),
                dates_of(self.code.inner, schema),
            )
        bars = [
            MeasuredBar(label, value, value - radius, value + radius, abs(value) > radius)
            for label, (value, radius) in zip(self._labels(schema), measures, strict=True)
        ]
        return MeasuredPanel(title, tuple(sorted(bars, key=lambda bar: -abs(bar.value))))

    def _labels(self, schema: Schema) -> list[str]:
        if isinstance(self.code, Route):
            return ends_in_words(self.code, schema)
        return list(value_names(self.code, scope_of(schema)) or map(str, range(len(self.shares))))

    def _runs(self, place: int) -> list[list[int]]:
        """Neighbouring intervals whose effects are alike, each run told from the one before."""
        runs: list[list[int]] = []
        for value in range(len(self.shares)):
            if runs:
                before, radius = self._mean(runs[-1], place), SURELY * self.deviations[value][place]
                if abs(self.added[value][place] - before) <= radius:
                    runs[-1].append(value)
                    continue
            runs.append([value])
        return runs

    def _mean(self, run: list[int], place: int) -> float:
        shares = np.array([self.shares[value] for value in run]) + 1e-9
        return float(np.average([self.added[value][place] for value in run], weights=shares))

    def _interval(self, run: list[int], schema: Schema) -> str:
        assert isinstance(self.code, Bins)
        edges, first, last = edge_names(self.code, schema), run[0], run[-1]
        if first == 0 and last == len(edges):
            return "everywhere"
        if first == 0:
            return f"below {edges[last]}"
        return f"{edges[first - 1]} and up" if last == len(edges) else f"{edges[first - 1]} to {edges[last]}"

    def _number(self, run: list[int], place: int) -> str:
        shares = [self.shares[value] + 1e-9 for value in run]
        off = SURELY * np.average([self.deviations[value][place] for value in run], weights=shares)
        return f"{self._mean(run, place):+.2f} ± {off:.2f}".replace("-", "−")
