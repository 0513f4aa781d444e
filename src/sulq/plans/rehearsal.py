"""A rehearsal: what a learner would ask, at what cost and how well answered, before a row is looked at.

The learner runs against rows that are made up from the schema, under the same budget. Costs and errors
follow from the questions, so for the same questions they are those of the real run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, whole
from sulq.oracles.assembly import IN_MEMORY, offered
from sulq.plans.search import MOST_ROWS
from sulq.plans.watching import BETA, AskedRound, Watched, questions_of
from sulq.privacy.budget import Budget, stated
from sulq.privacy.budget import budget as budget_named
from sulq.privacy.calibrated import tight
from sulq.queries.node import Node
from sulq.queries.query import Neighbours
from sulq.queries.scope import Scope
from sulq.schema import Boolean, Category, Integer, Kind, Schema
from sulq.sources.loading import Columns
from sulq.sources.pieces import Piece
from sulq.sources.readers import PIECE
from sulq.sources.table import TableSource
from sulq.talk.offer import Offer
from sulq.talk.row_questions import RowQuestion

MEMORY = 2**30
"""Bytes of made-up rows before they go to temporary files."""
MOST = 2**20
"""So many rows are made up for a rehearsal; of more rows, each of these stands for several."""
Floats = NDArray[np.float64]
Known = Mapping[str, ArrayLike]
"""Columns, each with noisy counts of its levels or of the parts of its interval."""


@dataclass(frozen=True)
class Rehearsal:
    """The rounds of a rehearsal, and the budget they were charged to.

    The first round is the one that will be asked. Later rounds depend on answers, and in a rehearsal the
    answers are about made-up rows. So the number of rounds, and their groups, are an estimate.

    Args:
        rounds: what would be asked.
        promise: what would be promised to every person, in words.
        unit: what the budget is counted in.
        total: the whole budget.
        rows: how many rows it is a rehearsal for; None where the first round is all there is to know.
        hypothesis: what was learned from them, if anything was.
    """

    rounds: tuple[AskedRound, ...]
    promise: str
    unit: str
    total: Fraction
    rows: int | None = None
    hypothesis: Hypothesis | None = None

    @property
    def cost(self) -> Fraction:
        """What all rounds cost, in the unit of the budget."""
        return sum((round_.cost for round_ in self.rounds), Fraction(0))


def rehearse(
    learner: Learner[Hypothesis],
    schema: Schema,
    rows: int,
    *,
    epsilon: Numeric | None = None,
    delta: Numeric | None = None,
    rho: Numeric | None = None,
    neighbours: Neighbours = "replace",
    seed: int = 0,
    known: Known | None = None,
    budget: Budget | None = None,
) -> Rehearsal:
    """What a learner would ask a curator of so many rows, and what it would pay.

    No data is needed and nothing is spent. At most 2^20 rows are made up; of more rows, each of these stands
    for several.

    Args:
        learner: the learner.
        schema: what is public about the columns.
        rows: how many rows there are.
        epsilon: ε of the budget, as for `Source.curator`.
        delta: δ of the budget.
        rho: ρ of the budget.
        neighbours: "replace" or "add-remove".
        seed: decides which rows are made up.
        known: counts that were paid for already, so that the rows look more like the real ones; see
            `made_up`.
        budget: the budget itself, in place of `epsilon`, `delta` and `rho`.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "old", "flu")})
    >>> plan = rehearse(sulq.Conjunction("flu", share=0.5), schema, rows=10_000, epsilon=1)
    >>> for round_ in plan.rounds:
    ...     print(round_.cost, round_.describe(), round_.errors())
    1/2 3 × which share of the rows meets a condition ± 0.18 %
    """
    numbers = stated(budget, epsilon, delta, rho)
    promised = budget or budget_named(*numbers)
    rows = whole("rows", rows, 1, MOST_ROWS)
    source = _Enlarged(made_up(schema, min(rows, MOST), seed, known).columns, rows)
    try:
        offer = offered(source, tight(promised), neighbours)
        if (plan := priced(learner, offer)) is not None:
            return plan
        curator = source.curator(promised, neighbours=neighbours, ledger=IN_MEMORY)
        watched = Watched(curator)
        learned = learner.learn(watched)
        return Rehearsal(tuple(watched.asked), offer.promise, offer.unit, offer.total, rows, learned)
    finally:
        source.close()


def priced(learner: Learner[Hypothesis], offer: Offer) -> Rehearsal | None:
    """What a learner would ask and pay if it needs the rows themselves; None if it asks for sums.

    A learner that needs the rows themselves asks once, so there is nothing to answer, only to price.
    """
    first = next(learner.rounds(offer.schema))
    if not any(isinstance(query, RowQuestion) for query in first.queries):
        return None
    errors, promises = offer.error(first, BETA), offer.promises(first)
    lines = questions_of(first, offer.scope, promises=promises, errors=errors)
    only = AskedRound(1, lines, offer.cost(first))
    return Rehearsal((only,), offer.promise, offer.unit, offer.total)


def made_up(schema: Schema, rows: int, seed: int = 0, known: Known | None = None) -> TableSource:
    """Rows drawn at random from what the schema says a row could hold.

    Columns are drawn independently. Where a person may have several rows, everybody has as many as may count.

    Args:
        schema: what is public about the columns.
        rows: how many rows to make up.
        seed: decides which rows are made up.
        known: for some columns, noisy counts of the rows with each level, or in each of so many equal parts
            of the column's interval. Counts below 0 are taken for 0. Other columns are drawn uniformly.

    >>> import sulq
    >>> source = made_up(sulq.Schema({"sick": sulq.Boolean()}), rows=1000)
    >>> [sick] = source.exact().ask(sulq.Round([sulq.count(where=sulq.col("sick"))]))
    >>> 400 < sick.value < 600
    True
    >>> source = made_up(sulq.Schema({"age": sulq.Integer(0, 99)}), 1000, known={"age": [5.2, -0.3]})
    >>> source.exact().ask(sulq.Round([sulq.count(where=sulq.col("age") < 50)]))[0].value
    1000.0
    """
    rows = whole("rows", rows, 1)
    reader = _MadeUp(schema, rows, seed, _shares(schema, known or {}))
    return TableSource(Columns(reader, Scope(schema), MEMORY, threads=1))


class _Enlarged(TableSource):
    """A table taken for one of more rows: sums grow as the rows do, rounded down; single rows are its own."""

    def __init__(self, columns: Columns, rows: int) -> None:
        super().__init__(columns)
        self._rows = rows

    @property
    def rows(self) -> int:
        return self._rows

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        return [total * self._rows // self.columns.rows for total in super().sums(parts)]


class _MadeUp:
    """A reader of made-up rows: a piece is drawn when it is read, and is the same when it is read again."""

    whole = False
    ordered = True

    def __init__(self, schema: Schema, rows: int, seed: int, shares: Mapping[str, Floats]) -> None:
        self._schema = schema
        self._shares = shares
        self._seed = seed
        self._unit = schema.unit
        self.rows = rows
        names = list(schema) if self._unit is None else list(dict.fromkeys([*schema, self._unit.column]))
        self._places = {name: place for place, name in enumerate(names)}
        self.types: Mapping[str, pa.DataType] = {name: self._column(name, 0, 1).type for name in names}

    def parts(self, columns: Sequence[str], many: int) -> list[Iterator[Piece]]:
        pieces = (
            (name, start, self._column(name, start, min(PIECE, self.rows - start)))
            for start in range(0, self.rows, PIECE)
            for name in columns
        )
        return [pieces]

    def _column(self, name: str, start: int, many: int) -> Any:
        if self._unit is not None and name == self._unit.column:
            return pa.array(np.arange(start, start + many, dtype=np.int64) // self._unit.rows)
        rng = np.random.default_rng([self._seed, self._places[name], start])
        if name in self._shares:
            return _drawn_as(self._schema[name], self._shares[name], many, rng)
        return _drawn(self._schema[name], many, rng)


def _shares(schema: Schema, known: Known) -> dict[str, Floats]:
    """How often each level or part of a column is drawn, or a refusal."""
    shares = {}
    for name, counts in known.items():
        kind, positive = schema[name], np.maximum(np.ravel(np.asarray(counts, dtype=np.float64)), 0)
        levels = len(kind.levels) if isinstance(kind, Category) else 2 if isinstance(kind, Boolean) else None
        if levels not in (None, positive.size) or not 0 < positive.sum() < np.inf:
            wanted = "as many counts as it has parts" if levels is None else f"{levels} counts"
            raise QueryError(f"column {name!r} takes {wanted}, not all of them 0 or less")
        shares[name] = positive / positive.sum()
    return shares


def _drawn_as(kind: Kind, shares: Floats, many: int, rng: np.random.Generator) -> Any:
    part = rng.choice(shares.size, size=many, p=shares)
    if isinstance(kind, Category):
        return pa.DictionaryArray.from_arrays(
            pa.array(part.astype(np.int32)), pa.array(kind.levels, pa.string())
        )
    if isinstance(kind, Boolean):
        return pa.array(part > 0)
    values = kind.low + (part + rng.random(many)) / shares.size * (
        kind.high - kind.low + isinstance(kind, Integer)
    )
    return pa.array(np.floor(values).astype(np.int64) if isinstance(kind, Integer) else values)


def _drawn(kind: Kind, many: int, rng: np.random.Generator) -> Any:
    if isinstance(kind, Category):
        # The level "(other)" is what no declared value is, so its own name will do for it.
        codes = rng.integers(len(kind.levels), size=many, dtype=np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(kind.levels, pa.string()))
    if isinstance(kind, Boolean):
        return pa.array(rng.integers(2, size=many, dtype=np.int8).astype(bool))
    if isinstance(kind, Integer):
        return pa.array(rng.integers(kind.low, kind.high, size=many, endpoint=True, dtype=np.int64))
    return pa.array(rng.uniform(kind.low, kind.high, size=many))
