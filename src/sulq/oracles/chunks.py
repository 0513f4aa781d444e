"""A curator who answers every query from rows of its own: Theorem 7 of the lecture notes."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sulq.errors import BudgetError, QueryError
from sulq.ledger.ledger import Ledger
from sulq.ledger.places import Place
from sulq.numbers import Numeric, several, whole
from sulq.oracles.curator import Curator
from sulq.oracles.one_round import check_own
from sulq.queries.former import former_form
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round, asked_of
from sulq.sources.rows import Rows, rows_of
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.interaction import check_single
from sulq.talk.offer import Offer
from sulq.talk.row_questions import RowQuestion
from sulq.wire import canonical, digest

CHUNKS = "(chunks)"
"""The run of the ledger that says which chunk went to which question."""
ORDER = "(order)"
"""The run of the ledger that says in which order rows are dealt."""


@dataclass
class ChunkCurator(Curator):
    """Answers each query from a chunk of rows that no other query sees. Made by `Source.curator`.

    Rows are dealt into equal chunks, in an order drawn by lot and kept in the ledger, and each query takes
    the next chunk. The answer about a chunk, scaled to all rows, is taken for the answer about all rows. So
    rows must be a sample: then the answers are independent, and their error is as stated however later
    questions depend on earlier answers.

    Privacy: neighbours differ in one row. That row is in one chunk, which follows from the order and not from
    what the row says. So of all answers only that of one query has another law, and its likelihoods differ by
    a factor of at most e^ε′, ε′ being what a query may spend: all answers together are ε′-differentially
    private, however the questions were chosen. (Likewise in ρ.) ε′ is all of ε, charged as a whole with the
    first query; the others are charged nothing more.

    A row is known by its place, so the table must not change while the ledger is in use.

    The `share` of a round is not looked at: each query has its part already. A query that states a tolerance
    is refused if the noise would exceed it.

    Args:
        offer: what a curator of all rows offers.
        source: the rows.
        ledger: the record of what was spent.
        held: the part of the budget that this curator was handed out, or None if it has the whole.
        account: the account of whoever asks, or None.
        interactive: whether there may be a second round.
        chunks: how many queries can be answered: M.
        as_printed: spend ε/M on a query, as the lecture notes have it. Every query is charged that, although
            it need not be.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False] * 5_000}, {"sick": sulq.Boolean()})
    >>> curator = people.curator(epsilon=1, answering="chunks", queries=4)
    >>> round_ = sulq.Round([sulq.mean(sulq.col("sick")), sulq.mean(~sulq.col("sick"))])
    >>> sick, well = curator.ask(round_)
    >>> abs(sick.value - 0.5) < 0.2, curator.spent, curator.left
    (True, Fraction(1, 1), 2)
    """

    chunks: int = 1
    as_printed: bool = False

    def __post_init__(self) -> None:
        # Which of a person's rows counts depends on what they say, so with a unit one person could move all
        # others by a place.
        if self.offer.rows is None:
            raise QueryError(
                "chunks need one row a person and a public number of rows: with neighbours='add-remove', or "
                "a unit, answer with all rows (answering='joint')"
            )
        whole("the number of queries, which chunks need beforehand,", self.chunks, 1)
        if self.source.rows < self.chunks:
            raise QueryError(
                f"{several(self.source.rows, 'row', 'rows', 'd')} cannot be dealt to {self.chunks} queries"
            )
        if not self._rows.ordered:
            raise QueryError(
                "the rows of a database may come in another order when they are read again, and one of them "
                "in a second chunk: use Parquet or CSV, or open a table that is in memory"
            )
        if self.offer.unit == "queries":
            raise QueryError("the SuLQ paper's calibrations answer with all rows: answering='joint'")

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order. The same round in the same run is answered alike.

        Raises BudgetError, with nothing spent, if too few chunks are left.
        """
        _check(run)
        round_ = asked_of(round_, self.schema)
        self.check_open(round_, run)
        alone = [self._alone(query) for query in self._queries(round_)]
        # All chunks have equally many rows, so what one would refuse is refused before any is taken.
        offer = replace(self.offer, rows=self._size)
        terms = [offer.terms(one) for one in alone]
        answers = []
        for number, place in enumerate(self._taken(round_, run)):
            chunk = self._of(self._order[place * self._size : (place + 1) * self._size])
            form = {"chunk": place, "round": round_.form, "query": number}
            question, formerly = self._entry({"release": form}, round_)
            look = partial(chunk._release, alone[number], terms[number])
            released = json.loads(self._paid(run, question, Fraction(0), look, formerly))
            [answer] = offer.read(alone[number], terms[number], released)
            answers.append(self._scaled(answer, round_.queries[number]))
        self.rounds += 1
        self.queries += len(answers)
        return answers

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """How many chunks a run takes is not known before its end, so only a second round is refused here."""
        check_single("curator", self.interactive, round_, ahead)
        self.check_open(round_, run)
        return True

    def cost(self, round_: Round) -> Fraction:
        """What a round would be charged, in the unit of the budget. Nothing is spent and no row is read."""
        queries = len(self._queries(round_))
        if self.as_printed:
            return queries * self._each * self.offer.total
        return self.offer.total if self.left == self.chunks else Fraction(0)

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be by its noise, but for a chance of `beta` each; see `Curator`."""
        alone = self._of(np.arange(self._size))
        errors = [alone.error(self._alone(query), beta)[0] for query in self._queries(round_)]
        # What is said in shares of the population holds for all rows as it is.
        scales = [1.0 if _in_shares(query) else self._scale(query) for query in round_.queries]
        return [None if error is None else scale * error for error, scale in zip(errors, scales, strict=True)]

    def part(self, share: Numeric) -> Curator:
        raise QueryError("what is dealt in chunks has no parts: every query has all that it may spend")

    @property
    def left(self) -> int:
        """How many queries can still be answered."""
        return self.chunks - sum(run.answers for run in self.ledger.runs() if run.name == CHUNKS)

    @property
    def _rows(self) -> Rows:
        return rows_of(self.source, "a curator who deals rows in chunks")

    @property
    def _each(self) -> Fraction:
        """The part of the budget that is spent on each chunk."""
        return Fraction(1, self.chunks) if self.as_printed else Fraction(1)

    @property
    def _size(self) -> int:
        """How many rows a chunk has; what is left over is not used."""
        return self.source.rows // self.chunks

    def _of(self, at: NDArray[np.intp]) -> Curator:
        """The same curator, of some of the rows."""
        return Curator(replace(self.offer, rows=len(at)), self._rows.only(at), self.ledger)

    def _queries(self, round_: Round) -> Sequence[Question]:
        return asked_of(round_, self.schema).queries

    def _alone(self, query: Question) -> Round:
        """The round that a chunk is asked: the query by itself, with all that it may spend."""
        if query.caller_promises:
            raise QueryError("a promised function is one of all rows: ask a curator with answering='joint'")
        if not isinstance(query, Query) or query.tolerance is None:
            return Round([query], self._each)
        scaled = replace(query, tolerance=query.tolerance / Fraction(self._scale(query)))
        needed = self._of(np.arange(self._size)).cost(Round([scaled]))
        if needed > self._each * self.offer.total:
            raise BudgetError(self.offer.unit, needed, self._each * self.offer.total)
        return Round([replace(query, tolerance=None, beta=None)], self._each)

    def _scale(self, query: Question) -> float:
        """What an answer about a chunk is multiplied by, to be one about all rows. A mean stays."""
        mean = isinstance(query, Query) and query.statistic == "mean"
        return 1.0 if mean else self.source.rows / self._size

    def _scaled(self, answer: Answer, query: Question) -> Answer:
        scale = self._scale(query)
        value = answer.value * scale if isinstance(query, Query) else answer.value
        return replace(answer, value=value, law=answer.law.times(scale))

    def _taken(self, round_: Round, run: str) -> list[int]:
        """The chunks of a round's queries: those that it took before, or the next that nobody took."""
        former = former_form(round_)
        keys = [round_.key] if former is None else [round_.key, digest(canonical(former))]
        known = {
            entry.answer: json.loads(entry.question)["chunk"]
            for entry in self.ledger.entries()
            if entry.kind == "answer" and entry.run == CHUNKS
        }
        names = []
        for number in range(len(round_.queries)):
            now, *before = [f"{digest(run)} {key} {number}" for key in keys]
            names.append(next((name for name in before if name in known and now not in known), now))
        wanted, left = sum(name not in known for name in names), self.chunks - len(known)
        if wanted > left:
            raise BudgetError("chunks", requested=Fraction(wanted), remaining=Fraction(left))
        self._claim(round_, run, self.cost(round_), CHUNKS)
        for name in names:
            if name not in known:
                known[name] = self._take(name, len(known))
        return [known[name] for name in names]

    def _take(self, name: str, first: int) -> int:
        """The next chunk, for a question of this name.

        Taking one is a release: of all who want a chunk at once, one finds its own name in the ledger. A
        chunk that was charged and never taken, after a crash, is the next.
        """
        for place in range(first, self.chunks):
            charged = self._each * self.offer.total if self.as_printed or place == 0 else Fraction(0)
            question = json.dumps({"chunk": place})
            taken = self.ledger.release(CHUNKS, question, charged, lambda: name, account=self.account)
            if taken == name:
                return place
        raise BudgetError("chunks", requested=Fraction(1), remaining=Fraction(0))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The rows in the order in which they are dealt: the same whenever the ledger is opened again.

        The order is no secret. That it never changes is what keeps a row out of two chunks. So it comes from
        a hash, and not from a generator that could be different in another version.
        """
        seed = self.ledger.release(ORDER, "seed", Fraction(0), lambda: secrets.token_hex(16))
        drawn = hashlib.shake_256(bytes.fromhex(seed)).digest(8 * self.source.rows)
        return np.argsort(np.frombuffer(drawn, dtype="<u8"), kind="stable")


def _in_shares(query: Question) -> bool:
    return isinstance(query, RowQuestion) and query.measured_in == "share"


def _check(run: str) -> None:
    check_own(run)
    if run in (CHUNKS, ORDER):
        raise QueryError(f"the run {run!r} is the curator's own: name yours otherwise")


def dealt(
    offer: Offer,
    source: Sums,
    path: Place | None,
    facts: dict[str, str | int],
    queries: int | None,
    as_printed: bool,
    interactive: bool,
) -> ChunkCurator:
    """A curator who deals rows to so many queries; its ledger is for these chunks and no others."""
    if queries is None:
        raise QueryError("chunks need the number of queries beforehand: curator(…, queries=M)")
    kept = facts | {"answering": "printed" if as_printed else "chunks", "chunks": queries}

    def book(at: Place | None) -> Ledger:
        return Ledger(at, offer.unit, offer.total, kept, schema=offer.schema.form())

    # What makes no sense is refused before there is a file.
    curator = ChunkCurator(offer, source, book(None), None, None, interactive, queries, as_printed)
    return curator if path is None else replace(curator, ledger=book(path))
