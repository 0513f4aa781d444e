"""The kernel: the exact integer sums of some row expressions, block by block.

A source maps one kernel over blocks of encoded rows and adds up the integers it returns. Integers add up
to the same total in any order and any grouping, so every source, partition and number of threads gives
bit for bit the same answer.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq import loops
from sulq.errors import QueryError
from sulq.queries.apart import apart
from sulq.queries.facts import BLOCK, EXACT, Integers
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Batch, Floats, Scope, Values
from sulq.queries.summands import Summand

JOINT_CELLS, MANY_JOINT_CELLS = 2**12, 2**14
"""How many cells a joint table may have: the more, the fewer counts a row; but all of them are added up."""
MANY_ROWS = 2**21
WORKING_SET = 2**20
"""How many numbers the columns of a block may hold to stay in a core's cache."""
COUNTED_AT_ONCE = 2**18
"""How many rows are counted at once where nothing but counts is asked: they need no room, and are exact."""
MOST_NUMBERS = 2**23
"""How many numbers any step of a block may build, whatever is asked."""
BLOCKS_PER_FOLD = 2**63 // EXACT // 2


class Marginals:
    """Many contingency tables counted together.

    Tables that share attributes (every attribute with the label) are counted as one joint table as long as
    that stays small; each table is then a marginal of it. One count a row serves several tables.
    """

    def __init__(self, attributes: Mapping[str, tuple[Node, int]]) -> None:
        self.attributes = dict(attributes)
        """Each attribute's choice and its number of possibilities, by the choice's key."""

    @property
    def cells(self) -> int:
        return math.prod(size for _, size in self.attributes.values())

    def counts(self, batch: Batch) -> Integers:
        choices, sizes = zip(*self.attributes.values(), strict=True)
        return loops.joint_counts([batch.code(choice) for choice in choices], sizes)

    def table(self, joint: NDArray[Any], wanted: Sequence[str]) -> NDArray[Any]:
        """The counts of some of the attributes, in the order asked for."""
        axes = {key: axis for axis, key in enumerate(self.attributes)}
        sizes = [size for _, size in self.attributes.values()]
        kept = [axes[key] for key in dict.fromkeys(wanted)]
        others = tuple(axis for axis in axes.values() if axis not in kept)
        counts = joint.reshape(sizes).sum(axis=others).transpose(np.argsort(np.argsort(kept)))
        if len(kept) == len(wanted):
            return np.asarray(counts)
        # A row has the same value of an attribute wherever that is asked for: all else are zeros.
        table = np.zeros([sizes[axes[key]] for key in wanted], dtype=counts.dtype)
        np.einsum(table, [axes[key] for key in wanted], kept)[...] = counts
        return table


class Kernel:
    """The sums of several row expressions, with whatever they share computed once a block."""

    def __init__(self, parts: Sequence[Node], scope: Scope, rows: int) -> None:
        self.scope = scope
        for part in parts:
            scope.number(part)
        self.leaves = {key: leaf for part in parts for key, leaf in _leaves(part, scope).items()}
        self._apart = [apart(part, scope) for part in parts]
        summands = _sharing({key: each for part in self._apart for key, each in part.summands.items()}, scope)
        cells = JOINT_CELLS if rows < MANY_ROWS else MANY_JOINT_CELLS
        tables = ((summand, _table(summand, scope, cells)) for summand in summands.values())
        self._tables = {summand.key: (summand, table) for summand, table in tables if table is not None}
        self._joint = _packed([table for _, table in self._tables.values()], cells)
        self._sums: dict[tuple[str, ...], list[Summand]] = {}
        """What is not counted in tables, by its conditions: rows are chosen once for all that share them."""
        for key, summand in summands.items():
            if key not in self._tables:
                chosen = () if summand.masked else summand.conditions
                conditions = tuple(condition.key for condition in chosen)
                self._sums.setdefault(conditions, []).append(summand)
        in_cache = min(BLOCK, max(2**13, 2 ** round(math.log2(WORKING_SET / max(len(self.leaves), 1)))))
        in_memory = max(1, MOST_NUMBERS // max(separated.breadth for separated in self._apart))
        self.block = min(in_cache if self._sums else COUNTED_AT_ONCE, 2 ** (in_memory.bit_length() - 1))

    def sums(self, columns: Mapping[str, Values], rows: int, room: dict[str, Floats]) -> list[Integers]:
        """The integers that one block of encoded rows adds to the running totals.

        Args:
            columns: the encoded columns, by key.
            rows: how many rows there are, at most `block`.
            room: working memory that one thread hands over block after block.
        """
        batch = Batch(self.scope, columns, rows, room)
        sums = [marginals.counts(batch) for marginals in self._joint]
        for conditions, summands in self._sums.items():
            chosen = batch.only(summands[0].conditions) if conditions else batch
            sums += [summand.sums(chosen).astype(np.int64) for summand in summands]
        return sums

    def totals(self, running: Totals) -> list[NDArray[np.object_]]:
        """Each expression's exact sum, as Python integers in steps of its grid."""
        sums = running.result()
        keys = [summand.key for summands in self._sums.values() for summand in summands]
        by_key = dict(zip(keys, sums[len(self._joint) :], strict=True))
        for summand, table in self._tables.values():
            wanted = table.attributes
            home = next(i for i, m in enumerate(self._joint) if m.attributes.keys() >= wanted.keys())
            keys = [node.key for node in (*summand.conditions, *summand.groups)]
            # Of the truth values of all conditions together, the last is that all hold.
            counts = self._joint[home].table(sums[home], keys).reshape(2 ** len(summand.conditions), -1)
            by_key[summand.key] = counts[-1]
        return [separated.total(by_key) for separated in self._apart]

    def nothing(self) -> Totals:
        """The totals of no rows at all."""
        widths = [m.cells for m in self._joint]
        widths += [summand.width(self.scope) for summands in self._sums.values() for summand in summands]
        return Totals([np.zeros(width, dtype=np.int64) for width in widths])


class Totals:
    """Running totals that cannot overflow.

    A block adds at most EXACT = 2^53 to any of them, so 512 blocks fit 64 bits. Before there are more blocks,
    the totals are folded into Python's integers, which have no limit and are slow.
    """

    def __init__(self, zeros: list[Integers]) -> None:
        self._recent = [zero.copy() for zero in zeros]
        self._blocks = 0
        self._folded: list[NDArray[np.object_]] | None = None

    def add(self, sums: Sequence[Integers], blocks: int = 1) -> None:
        if self._blocks + blocks > BLOCKS_PER_FOLD:
            self._fold()
        for recent, more in zip(self._recent, sums, strict=True):
            recent += more
        self._blocks += blocks

    def merge(self, other: Totals) -> None:
        self.add(other._recent, other._blocks)
        if other._folded is not None:
            self._fold()
            self._folded = _added(self._folded, other._folded)

    def packed(self) -> tuple[int, bytes, str]:
        """The totals as plain data: how many blocks are not folded, their integers, and what was folded."""
        folded = None if self._folded is None else [each.tolist() for each in self._folded]
        recent = b"".join(each.astype("<i8").tobytes() for each in self._recent)
        return self._blocks, recent, json.dumps(folded)

    def merge_packed(self, blocks: int, recent: bytes, folded: str) -> None:
        """Add totals of the same kernel, which may come from another machine.

        Args:
            blocks: how many blocks are not folded.
            recent: their integers.
            folded: what was folded.
        """
        widths = [len(each) for each in self._recent]
        if len(recent) != 8 * sum(widths) or not 0 <= blocks <= BLOCKS_PER_FOLD:
            raise QueryError("a partial result does not have the numbers that were asked for")
        numbers = np.split(np.frombuffer(recent, dtype="<i8").astype(np.int64), np.cumsum(widths)[:-1])
        other = Totals(numbers[: len(widths)])  # of no sums at all, NumPy makes one that is empty
        other._blocks = blocks
        many = json.loads(folded)
        other._folded = None if many is None else [np.array(each, dtype=object) for each in many]
        self.merge(other)

    def result(self) -> Sequence[NDArray[Any]]:
        """The totals, as 64-bit integers where they fit, else as Python's."""
        if self._folded is None:
            return self._recent
        self._fold()
        return self._folded

    def _fold(self) -> None:
        self._folded = _added(self._folded, [recent.astype(object) for recent in self._recent])
        for recent in self._recent:
            recent[:] = 0
        self._blocks = 0


def _added(
    some: list[NDArray[np.object_]] | None, more: list[NDArray[np.object_]]
) -> list[NDArray[np.object_]]:
    return more if some is None else [one + other for one, other in zip(some, more, strict=True)]


def _leaves(part: Node, scope: Scope) -> dict[str, Leaf]:
    return scope.remember((part.key, "leaves"), part.leaves)


def _sharing(summands: Mapping[str, Summand], scope: Scope) -> dict[str, Summand]:
    """The same, but single numbers that are summed over several sets of rows are computed on all rows."""
    alone = {key: summand for key, summand in summands.items() if not summand.groups}
    times = Counter(summand.value.key for summand in alone.values() if summand.value is not None)

    def shared(summand: Summand) -> bool:
        value = summand.value
        return value is not None and times[value.key] > 1 and scope.number(value).width == 1

    return {
        key: replace(summand, shared=True) if key in alone and shared(summand) else summand
        for key, summand in summands.items()
    }


def _table(summand: Summand, scope: Scope, cells: int) -> Marginals | None:
    """The table in which a summand's rows are counted, if that is what it does."""
    if not summand.counts or any(scope.code(condition).size != 2 for condition in summand.conditions):
        return None
    attributes = (*summand.conditions, *summand.groups)
    table = Marginals({node.key: (node, scope.code(node).size) for node in attributes})
    # Where there are many groups, it takes less time to look at the chosen rows alone.
    return table if not summand.conditions or table.cells <= cells else None


def _packed(tables: Iterable[Marginals], cells: int) -> list[Marginals]:
    """Joint tables, if possible of at most so many cells: every table is a marginal of one of them."""
    joint: list[Marginals] = []
    for table in sorted(tables, key=lambda table: -table.cells):
        unions = [Marginals(other.attributes | table.attributes) for other in joint]
        smallest = min(range(len(joint)), key=lambda i: unions[i].cells, default=None)
        if smallest is not None and unions[smallest].cells <= max(cells, joint[smallest].cells):
            joint[smallest] = unions[smallest]
        else:
            joint.append(table)
    return joint
