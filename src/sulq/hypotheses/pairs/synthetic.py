"""Synthetic rows: drawn from what a release says, and not from the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sulq.dates import Date
from sulq.effects.layout import Floats
from sulq.errors import SulqError
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import Codes, drawn
from sulq.loops.one_thread import on_one_thread
from sulq.numbers import whole
from sulq.schema import Boolean, Category, Integer
from sulq.talk.answers import BETA
from sulq.talk.columns import Library, csv_text, frame, plain_table, written

MANY, FEWEST, MOST = 4, 20_000, 400_000
"""So many times as many rows are drawn first, at least and at most so many; weights decide which are kept."""
MOST_CELLS = 10**8
"""Rows times columns that are drawn at once: some gigabytes."""


@dataclass(frozen=True, eq=False)
class ComparedCounts:
    """Counts of one column, or of two, that are known twice.

    Args:
        columns: the places of the columns.
        published: the counts as the release has them.
        likely: the same, positive and without what noise explains in each table alone.
        given: how many synthetic rows there are, scaled to as many rows as the release is about.
        radius: how far off a published count may be, at 95 % for all of these.
    """

    columns: tuple[int, ...]
    published: Floats
    likely: Floats
    given: Floats
    radius: float


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """Rows that nobody is behind, with nearly the tables of a release. `release.sample` draws them.

    They are made of the release alone, so they cost nothing, and whoever may see the release may see them.

    Args:
        facts: what the release says.
        codes: for each row and column, which value in the tables it has.
        columns: the rows, as columns.

    >>> import sulq
    >>> release = sulq.Pairs(["sex", "plan", "age"]).learn(sulq.randhie().curator(epsilon=1))
    >>> rows = release.sample(1000, seed=1)
    >>> rows.to_frame("polars").shape
    (1000, 3)
    >>> list(rows.differences())
    ['counts', 'cells', 'total variation', 'largest difference', 'error of the release']
    """

    facts: PairsFacts
    codes: Codes
    columns: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.codes)

    def to_frame(self, library: Library | None = None) -> Any:
        """The rows as a data frame.

        Args:
            library: "pandas" or "polars"; None for the first of them that is installed.
        """
        return frame({name: values.tolist() for name, values in self.columns.items()}, library)

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The rows as CSV.

        Args:
            path: the file to write; None returns the text.
        """
        return written(csv_text({name: values.tolist() for name, values in self.columns.items()}), path)

    def to_parquet(self, path: str | Path) -> None:
        """The rows as a Parquet file.

        Args:
            path: the file to write.
        """
        try:
            pq.write_table(pa.table({name: pa.array(values) for name, values in self.columns.items()}), path)
        except OSError as error:
            raise SulqError(f"cannot write {path}: {error.strerror or error}") from None

    def differences(self) -> dict[str, list[Any]]:
        """Every published table beside that of these rows, as columns; differences are parts of all rows.

        The total variation is half the sum of all differences. It is measured from the tables without what
        noise explains. The error is that of a single count of the release, at 95 % for all counts of a table.
        """
        many, compared = self.facts.positive.total, self.compared
        apart = [np.abs(each.given - each.likely) / many for each in compared]
        columns: list[list[Any]] = [
            [self.name(each) for each in compared],
            [off.size for off in apart],
            [float(off.sum() / 2) for off in apart],
            [float(off.max()) for off in apart],
            [each.radius / many for each in compared],
        ]
        heads = ["counts", "cells", "total variation", "largest difference", "error of the release"]
        return dict(zip(heads, columns, strict=True))

    @cached_property
    def compared(self) -> tuple[ComparedCounts, ...]:
        """Every column's counts and every table, as they were published and as these rows have them."""
        agreed, positive = self.facts.agreement, self.facts.positive
        every = [
            ComparedCounts(
                (place,), agreed.margin(place), positive.margins[place], self._given(place), law.radius(BETA)
            )
            for place, law in enumerate(map(agreed.margin_law, range(len(self.facts.columns))))
        ]
        for pair, likely in positive.tables.items():
            radius = agreed.table_law(pair).radius(BETA)
            every.append(ComparedCounts(pair, agreed.table(pair), likely, self._given(*pair), radius))
        return tuple(every)

    def name(self, compared: ComparedCounts) -> str:
        """What a table is called."""
        return " × ".join(self.facts.names[place] for place in compared.columns)

    def _given(self, *places: int) -> Floats:
        """How many of these rows have each value, or each two values; scaled to the rows of the release."""
        sizes = [self.facts.agreement.sizes[place] for place in places]
        cells = np.ravel_multi_index(tuple(self.codes[:, place] for place in places), sizes)
        counts = np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes)
        return np.asarray(counts * (self.facts.positive.total / max(1, len(self))))

    def report(self, most: int = 10) -> str:
        """How far these rows are from what was published, for people: the tables furthest off.

        Args:
            most: how many tables to name.
        """
        columns = self._differences
        order = np.argsort([-each for each in columns["total variation"]])
        heads = list(columns)
        lines = [
            [
                columns["counts"][i],
                str(columns["cells"][i]),
                *(f"{100 * columns[head][i]:.2f} %" for head in heads[2:]),
            ]
            for i in order[:most].tolist()
        ]
        mean = 100 * float(np.mean(columns["total variation"]))
        about = (
            f"{len(self):,} synthetic rows. On average {mean:.2f} % are in another cell than was published."
        )
        return "\n".join([about, plain_table(heads, lines, 1)])

    @cached_property
    def _differences(self) -> dict[str, list[Any]]:
        return self.differences()


@on_one_thread
def sampled(facts: PairsFacts, rows: int, seed: int | None) -> SyntheticRows:
    """So many synthetic rows.

    Args:
        facts: what the release says.
        rows: how many; with all their columns at most 10^8 cells.
        seed: makes the rows the same every time; None takes randomness from the operating system.
    """
    rows = whole("rows", rows, 1, MOST_CELLS // len(facts.names))
    generator = np.random.default_rng(seed)
    many = min(max(MANY * rows, FEWEST), max(rows, MOST))
    codes = drawn(facts.positive, many, generator).resampled(rows, generator)
    columns = {
        name: _values(facts, place, codes[:, place], generator) for place, name in enumerate(facts.names)
    }
    return SyntheticRows(facts, codes, columns)


def _values(
    facts: PairsFacts, place: int, codes: NDArray[np.int32], generator: np.random.Generator
) -> NDArray[Any]:
    """The values of a column that a row could have: a number is drawn inside of its interval."""
    kind = facts.schema[facts.names[place]]
    if isinstance(kind, Category):
        return np.array(kind.levels, dtype=object)[codes]
    if isinstance(kind, Boolean):
        return codes > 0
    low, high = facts.intervals(place)
    chosen = _intervals(facts.columns[place].groups, facts.within(place), codes, generator)
    numbers = low[chosen] + generator.random(len(codes)) * (high - low)[chosen]
    if not isinstance(kind, Integer):
        return numbers.clip(kind.low, kind.high)
    days = np.floor(numbers).clip(kind.low, kind.high).astype(np.int64)
    if isinstance(kind, Date):
        return np.array([kind.date(int(day)) for day in days], dtype=object)
    return days


def _intervals(
    groups: NDArray[np.intp], rows: Floats, codes: NDArray[np.int32], generator: np.random.Generator
) -> NDArray[np.intp]:
    """For each row one of the fine intervals of its value in the tables, by how many rows they have."""
    chosen = np.zeros(len(codes), dtype=np.intp)
    for group in range(int(groups[-1]) + 1):
        inside, here = np.flatnonzero(groups == group), np.flatnonzero(codes == group)
        shares = rows[inside] + 1e-9
        chosen[here] = generator.choice(inside, len(here), p=shares / shares.sum())
    return chosen
