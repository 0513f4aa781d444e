"""What is wrong with the cells of one column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sulq.inspection.findings import Finding
from sulq.inspection.hints import as_toml, category_rules, date_rules, numeral_rules
from sulq.schema import Boolean, Category, Date, Integer, Kind, Real, drops
from sulq.sources.cells import days, is_text, numbers, places, plain, truths

MOST_SPELLINGS = 100_000
"""So many different spellings are told apart; what comes later is counted and not told apart."""
NAMED = 8
"""So many spellings are named."""
EXAMPLES = 1_000
"""So many texts that are numbers are kept, to see that a rule would not break them."""
FEW = 0.01
"""Up to this part of a column may be missing or clamped before that is a worry."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".")
"""What people write where there is nothing, in small letters."""


class ColumnTally:
    """Counts what is wrong with a column, piece by piece.

    Args:
        name: the column.
        kind: what the schema says of it.

    >>> tally = ColumnTally("age", Integer(0, 120))
    >>> tally.add(pa.array(["31", "1,031", None, "130"]))
    >>> [(finding.what, finding.many) for finding in tally.findings()]
    [('missing', 1), ('not a number', 1), ('above 120', 1)]
    """

    def __init__(self, name: str, kind: Kind) -> None:
        self._name = name
        self._kind = kind
        self._cells = 0
        self._empty = 0
        self._unread: Counter[str] = Counter()
        self._below = self._above = 0
        self._readable = 0
        self._sum = self._clamped_sum = 0.0
        self._examples: set[str] = set()

    def add(self, array: pa.Array) -> None:
        """Look at a piece of the column."""
        array, kind = plain(array), self._kind
        self._cells += len(array)
        if isinstance(kind, Category):
            unread = np.asarray(places(kind, array).is_null())
        elif isinstance(kind, Boolean):
            unread = np.asarray(truths(array).is_null())
        else:
            unread = self._add_numbers(kind, array)
        self._add_unread(array.filter(pa.array(unread)))

    def _add_numbers(self, kind: Real | Integer, array: pa.Array) -> NDArray[np.bool_]:
        values = days(kind, array) if isinstance(kind, Date) else numbers(kind, array)
        unread = np.isnan(values)
        if is_text(array.type) and len(self._examples) < EXAMPLES:
            self._examples.update(_texts(array.filter(pa.array(~unread)).slice(0, EXAMPLES)))
        known = values[~unread]
        self._below += int((known < kind.low).sum())
        self._above += int((known > kind.high).sum())
        self._readable += len(known)
        self._sum += float(known[np.isfinite(known)].sum())
        self._clamped_sum += float(np.clip(known, kind.low, kind.high).sum())
        return unread

    def _add_unread(self, cells: pa.Array) -> None:
        present = cells.drop_null()
        self._empty += len(cells) - len(present)
        if not is_text(present.type) and not isinstance(self._kind, Category):
            self._empty += len(present)  # NaN is the only number that is none
            return
        for counted in present.value_counts():
            [spelling] = _texts(pa.array([counted["values"].as_py()], present.type))
            many = counted["counts"].as_py()
            if spelling.strip().casefold() in MISSING:
                self._empty += many
            elif spelling in self._unread or len(self._unread) < MOST_SPELLINGS:
                self._unread[spelling] += many
            else:
                self._unread["…"] += many

    def findings(self) -> Iterator[Finding]:
        """What was found, most harmless first."""
        if self._empty:
            worry = self._empty > FEW * self._cells and not (self._has_level() or drops(self._kind))
            rule = ('missing = "drop"',) if worry and not isinstance(self._kind, Category) else ()
            yield self._finding("missing", self._empty, self._effect(), try_=rule, worry=worry)
        if self._unread:
            yield self._unread_finding()
        if isinstance(self._kind, Real | Integer):
            low, high = (self._kind.low, self._below), (self._kind.high, self._above)
            words = ("before", "after") if isinstance(self._kind, Date) else ("below", "above")
            for what, (bound, many) in zip(words, (low, high), strict=True):
                if many:
                    worry, name = many > FEW * self._cells, self._shown(bound)
                    yield self._finding(f"{what} {name}", many, self._clamping(bound), worry=worry)

    def _finding(
        self,
        what: str,
        many: int,
        effect: str,
        spellings: Mapping[str, int] | None = None,
        try_: tuple[str, ...] = (),
        worry: bool = True,
    ) -> Finding:
        return Finding(self._name, what, many, self._cells, effect, spellings or {}, try_, worry)

    def _unread_finding(self) -> Finding:
        kind, many = self._kind, sum(self._unread.values())
        most = dict(self._unread.most_common(NAMED))
        if isinstance(kind, Category):
            rules = category_rules(kind, [text for text, _ in self._unread.most_common(EXAMPLES)])
            return self._finding("not listed", many, self._effect(), most, as_toml(rules))
        what, rules = "neither true nor false", {}
        if isinstance(kind, Date):
            what, rules = "not a date", date_rules(kind, self._unread, self._examples)
        elif isinstance(kind, Real | Integer):
            what, (rules, _) = "not a number", numeral_rules(kind, self._unread, self._examples)
        if not (rules or drops(kind)):
            rules = {"missing": "drop"}
        # Cells that nobody can read, and that the schema leaves out, are as they should be.
        worry = bool(rules) or not drops(kind)
        return self._finding(what, many, self._effect(), most, as_toml(rules), worry=worry)

    def _has_level(self) -> bool:
        return isinstance(self._kind, Category) and self._kind.missing is None

    def _effect(self) -> str:
        kind = self._kind
        if isinstance(kind, Category):
            return f"counted as {kind.levels[-1] if kind.missing is None else kind.missing}"
        if isinstance(kind, Boolean):
            counted = f"counted as {str(kind.missing).lower()}"
            return f"left out of means and shares, in conditions {counted}" if drops(kind) else counted
        assert kind.missing is not None
        became = f"become {self._shown(kind.missing)}"
        if not self._readable:
            return f"{became}; no cell can be read"
        if drops(kind):
            average = self._shown(self._clamped_sum / self._readable)
            return f"left out of sums, means and quantiles: the mean is {average}"
        replaced = self._cells - self._readable
        mean = (self._clamped_sum + replaced * kind.missing) / self._cells
        without = self._clamped_sum / self._readable
        return f"{became}: the mean is {self._shown(mean)}, and {self._shown(without)} without them"

    def _shown(self, value: float) -> str:
        return str(self._kind.date(value)) if isinstance(self._kind, Date) else f"{value:.6g}"

    def _clamping(self, bound: float) -> str:
        clamped, raw = self._clamped_sum / self._readable, self._sum / self._readable
        became, what = self._shown(bound), "dates" if isinstance(self._kind, Date) else "numbers"
        if isinstance(self._kind, Date):  # the mean of days that were never meant may be no date
            return f"become {became}: the mean of the {what} is {self._shown(clamped)}"
        return f"become {became}: the mean of the {what} is {clamped:.6g}, and was {raw:.6g} before"


def _texts(array: pa.Array) -> list[str]:
    """Cells as texts, whatever bytes they have."""
    cells = pc.cast(array, pa.large_string(), safe=False).cast(pa.large_binary()).to_pylist()
    return [cell.decode("utf-8", "replace") for cell in cells if cell is not None]
