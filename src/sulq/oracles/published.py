"""Sketches that were published: kept, looked up, derived from one another, and written down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.oracles.parties_answers import Key, factor_key
from sulq.oracles.party import Party
from sulq.oracles.sketches import FEWEST_BUCKETS, Sketch
from sulq.queries.arithmetic import Not
from sulq.queries.buckets import MOST_BUCKETS
from sulq.queries.codes import Cross, OneHot
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.query import is_one
from sulq.queries.separated import Separation
from sulq.queries.vectors import Vector
from sulq.wire import listed, members, reading, versioned

VERSION = 1
"""Of the form of sketches."""


@dataclass(frozen=True)
class PublishedSketch:
    """A sketch, and what it is of.

    Args:
        factor: the row expression that was sketched.
        sketch: its noisy sums by buckets.
        noise: one standard deviation of the noise in a number of it.
    """

    factor: Node
    sketch: Sketch
    noise: float


@dataclass
class Published:
    """The sketches that parties have published, by the hand that a factor is in and the factor.

    Args:
        separate: takes expressions over the columns of all parties apart.
        sketches: what there is.
    """

    separate: Separation
    sketches: dict[Key, PublishedSketch] = field(default_factory=dict)

    def add(self, hand: int, sketch: PublishedSketch) -> None:
        """Keep a sketch of a party's.

        Args:
            hand: the party.
            sketch: what it published.
        """
        self.sketches[factor_key(hand, sketch.factor)] = sketch

    def of(self, hand: int, factor: Node) -> PublishedSketch | None:
        """The sketch of a factor, or what follows about it from others; None if there is nothing.

        From counts of several attributes together follow those of some of them, those of all people, and
        where a condition holds and where not; from a vector its parts.

        Args:
            hand: the party.
            factor: the row expression.
        """
        key = factor_key(hand, factor)
        if key not in self.sketches:
            every = [known for (whose, _), known in self.sketches.items() if whose == hand]
            derived = [found for known in every if (found := self._derived(known, factor)) is not None]
            if not derived:
                return None
            self.sketches[key] = min(derived, key=lambda each: each.noise)
        return self.sketches[key]

    def _derived(self, known: PublishedSketch, factor: Node) -> PublishedSketch | None:
        whole, sums = known.factor, known.sketch.sums
        if isinstance(whole, Vector):
            start = 0
            for part in whole.parts:
                width = self.separate.scope.number(part).width
                if part.key == factor.key:
                    return PublishedSketch(factor, Sketch(sums[:, start : start + width]), known.noise)
                start += width
        if not isinstance(whole, OneHot):
            return None
        parts = _parts(whole)
        condition = factor.inner if isinstance(factor, Not) else factor
        counts = isinstance(factor, OneHot) or is_one(factor)
        wanted = _parts(factor) if isinstance(factor, OneHot) else () if counts else (condition,)
        keys = [part.key for part in parts]
        if not all(part.key in keys for part in wanted):
            return None
        at = [keys.index(part.key) for part in wanted]
        if len(set(at)) < len(at):
            return None
        cells = sums.reshape(len(sums), *(self.separate.scope.code(part).size for part in parts))
        others = tuple(axis for axis in range(len(parts)) if axis not in at)
        summed = cells.sum(axis=tuple(1 + axis for axis in others))
        kept = sorted(at)
        ordered = np.moveaxis(summed, [1 + kept.index(axis) for axis in at], range(1, len(at) + 1))
        noise = known.noise * math.sqrt(math.prod(cells.shape[1 + axis] for axis in others))
        flat = ordered.reshape(len(sums), -1)
        if counts:
            return PublishedSketch(factor, Sketch(flat), noise)
        if flat.shape[1] != 2 or not self.separate.scope.number(condition).flag:
            return None
        holds = flat[:, :1] if isinstance(factor, Not) else flat[:, 1:]
        return PublishedSketch(factor, Sketch(holds), noise)

    @property
    def form(self) -> list[dict[str, Any]]:
        """The sketches as plain data."""
        return [
            {
                "hand": hand,
                "factor": known.factor.form,
                "buckets": known.sketch.buckets,
                "sums": known.sketch.sums.ravel().tolist(),
                "noise": known.noise,
            }
            for (hand, _), known in self.sketches.items()
        ]

    def read(self, forms: Any) -> None:
        """Keep sketches that were written down.

        Args:
            forms: what `form` said.
        """
        for form in listed(forms, "sketches"):
            given = members(form, "a sketch", ["hand", "factor", "buckets", "sums", "noise"])
            factor, buckets, noise = node_of(given["factor"]), given["buckets"], given["noise"]
            numbers = listed(given["sums"], "the sums of a sketch")
            if not all(type(each) in (int, float) for each in (*numbers, noise)):
                raise QueryError("the sums of a sketch, and its noise, are numbers")
            sums, width = np.array(numbers, dtype=np.float64), self.separate.scope.number(factor).width
            known = type(given["hand"]) is int and given["hand"] in self.separate.hands and buckets in _SIZES
            if not known or sums.size != buckets * width:
                raise QueryError("a sketch has a party, a number of buckets and a number for each of them")
            if not self.separate.hands_of(factor) <= {given["hand"]}:
                raise QueryError("a sketch is of the columns of the party that published it")
            if not (np.isfinite(sums).all() and 0 <= noise < math.inf):
                raise QueryError("the numbers of a sketch are finite")
            sketch = Sketch(sums.reshape(buckets, width))
            self.add(given["hand"], PublishedSketch(factor, sketch, float(noise)))


_SIZES = [2**power for power in range(FEWEST_BUCKETS.bit_length() - 1, MOST_BUCKETS.bit_length())]


def sketches_form(published: Published, salt: str, parties: Sequence[Party]) -> dict[str, Any]:
    """All sketches of some parties as plain data.

    Args:
        published: the sketches.
        salt: what went into the hash of identifiers.
        parties: the parties.
    """
    return {"sketches": VERSION, "salt": salt, "tables": _tables(parties), "published": published.form}


def read_sketches(form: Mapping[str, Any], published: Published, salt: str, parties: Sequence[Party]) -> None:
    """Keep what `sketches_form` said, or refuse it if it is about other people or columns.

    Args:
        form: the plain data.
        published: where the sketches are kept.
        salt: what goes into the hash of identifiers.
        parties: the parties.
    """
    with reading("sketches"):
        given = members(
            versioned(form, "sketches", VERSION, "a set of sketches"),
            "a set of sketches",
            ["sketches", "salt", "tables", "published"],
        )
        if given["salt"] != salt or given["tables"] != _tables(parties):
            raise QueryError(
                "these sketches are of parties with other schemas or keys, or were dealt with another salt"
            )
        published.read(given["published"])


def _tables(parties: Sequence[Party]) -> list[dict[str, str]]:
    """What sketches depend on beside the rows: bounds and categories, and who is dealt into buckets."""
    return [{"schema": party.schema.hash, "key": party.key} for party in parties]


def _parts(factor: OneHot) -> tuple[Node, ...]:
    return factor.choice.parts if isinstance(factor.choice, Cross) else (factor.choice,)
