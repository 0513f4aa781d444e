"""What a collector keeps of reports: whole numbers that add up, so that tallies merge, in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.forms import VERSION, Versioned, opened
from sulq.numbers import whole

MOST_REPORTS = 2**60
_SPLIT = 24
# So many numbers below 2^_SPLIT, or twice as large, add up to less than 2^53, so floats add them exactly.
_MANY = 2**26


@dataclass(frozen=True, eq=False)
class Tally(Versioned):
    """How many reports there were on one item, and the sums that an estimate is made of.

    The sums are whole numbers, so a tally of some reports plus a tally of others is the tally of all, to the
    last bit, however the reports were divided and in whatever order the tallies were added.

    Args:
        item: the name of the item that was reported on (`Item.key`); "" for reports on no questionnaire.
        reports: how many reports there were.
        sums: whole numbers; what they count is the randomizer's matter.

    >>> from sulq.local.response import RandomizedResponse
    >>> warner = RandomizedResponse(epsilon=1)
    >>> some, others = warner.tally([True, False, True]), warner.tally([True])
    >>> some + others
    Tally(item='', reports=4, sums=array([3]))
    >>> Tally.from_json((some + others).to_json()) == others + some
    True
    """

    kind: ClassVar[str] = "tally"
    item: str
    reports: int
    sums: NDArray[Any]

    def __post_init__(self) -> None:
        whole("the number of reports of a tally", self.reports, 0, MOST_REPORTS)
        object.__setattr__(self, "sums", _whole(self.sums))

    def __reduce__(self) -> tuple[type[Tally], tuple[Any, ...]]:
        return Tally, (self.item, self.reports, self.sums)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.item != self.item or other.sums.shape != self.sums.shape:
            raise QueryError("these tallies are of different items: only tallies of the same item add up")
        return Tally(self.item, self.reports + other.reports, _added(self.sums, other.sums))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.form() == other.form()

    def __hash__(self) -> int:
        return hash((self.item, self.reports, tuple(self.sums.tolist())))

    def form(self) -> dict[str, Any]:
        sums = self.sums.tolist()
        return {self.kind: VERSION, "item": self.item, "reports": self.reports, "sums": sums}

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Tally:
        given = opened(form, cls.kind, ("item", "reports", "sums"))
        if not isinstance(given["item"], str) or not isinstance(given["sums"], list):
            raise QueryError("a tally has the name of its item and a list of whole numbers")
        return cls(given["item"], given["reports"], np.array(given["sums"], dtype=object))


class Tallied(ABC):
    """A randomizer whose estimates are made from tallies."""

    @abstractmethod
    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """What the estimate needs of the reports; see `Randomizer.tally`."""

    @abstractmethod
    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the values behind the reports of a tally, without bias."""

    def estimate(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The mean of the values behind the reports, without bias."""
        return self.estimate_of(self.tally(reports))


def sums_of(tally: Tally, size: int, least: int, most: int) -> NDArray[Any]:
    """The sums of a tally, if so many reports can have them; else it is another randomizer's, or made up.

    So a tally that somebody made up counts for no more than as many made-up reports would.

    Args:
        tally: the tally.
        size: how many sums it has.
        least: the least that one report adds to a sum.
        most: the most that one report adds to a sum.
    """
    sums, reports = tally.sums, tally.reports
    if sums.shape != (size,):
        raise QueryError(f"a tally of these reports has {size} sums, not {len(sums)}: take its own item")
    if sums.min(initial=0) < least * reports or sums.max(initial=0) > most * reports:
        raise QueryError(
            f"a sum of this tally is not one that {reports} reports add up to: take the tally's own item"
        )
    return sums


def counts_of(tally: Tally, size: int) -> NDArray[np.int64]:
    """The same where each sum counts some of the reports."""
    return sums_of(tally, size, 0, 1)


def histogram_of(tally: Tally, size: int) -> NDArray[np.int64]:
    """The same where every report is counted once."""
    counts = counts_of(tally, size)
    if sum(counts.tolist()) != tally.reports:
        raise QueryError("a tally of these reports counts every report once: take the tally's own item")
    return counts


def exact_sum(steps: NDArray[np.int64]) -> int:
    """The sum of whole numbers, however large it is.

    >>> exact_sum(np.array([2**62, 2**62, 2**62])) == 3 * 2**62
    True
    """
    return (int((steps >> _SPLIT).sum()) << _SPLIT) + int((steps & (2**_SPLIT - 1)).sum())


def exact_sums(places: NDArray[np.int64], steps: NDArray[np.int64], size: int) -> NDArray[Any]:
    """The sums of those numbers that stand at each place, from 0 to size − 1, however large they are.

    >>> exact_sums(np.array([0, 1, 0]), np.array([2**62, 5, 2**62]), 2).tolist() == [2**63, 5]
    True
    """
    if len(steps) > _MANY:
        first, rest = slice(None, _MANY), slice(_MANY, None)
        return _added(
            exact_sums(places[first], steps[first], size), exact_sums(places[rest], steps[rest], size)
        )
    # As floats, because NumPy adds those up fast; every partial sum is a whole number below 2^53.
    if int(np.abs(steps).max(initial=0)) * len(steps) < 2**53:
        return np.bincount(places, weights=steps, minlength=size).astype(np.int64)
    high, low = (exact_sums(places, part, size) for part in (steps >> _SPLIT, steps & (2**_SPLIT - 1)))
    return np.asarray(high.astype(object) * 2**_SPLIT + low)


def _added(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(a.astype(object) + b if _large(a) or _large(b) else a + b)


def _large(numbers: NDArray[Any]) -> bool:
    """Whether twice such a number might not fit into 64 bits."""
    return numbers.dtype == object or bool(
        numbers.max(initial=0) >= 2**62 or numbers.min(initial=0) < -(2**62)
    )


def _whole(sums: NDArray[Any]) -> NDArray[Any]:
    """A copy that nobody writes to: of 64-bit numbers where they fit, else of Python's."""
    if sums.ndim != 1 or not (
        sums.dtype.kind in "iu" or all(type(number) is int for number in sums.tolist())
    ):
        raise QueryError("the sums of a tally are a list of whole numbers")
    fits = sums.dtype == np.int64 or all(-(2**63) <= number < 2**63 for number in sums.tolist())
    kept = sums.astype(np.int64 if fits else object)
    kept.flags.writeable = False
    return kept
