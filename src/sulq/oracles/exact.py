"""The oracle that tells the truth."""

from __future__ import annotations

from dataclasses import dataclass, field

from sulq.queries.choose import Choice
from sulq.queries.query import Query
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round, asked_of
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.sources.rows import rows_of
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.interaction import check_single, second_round
from sulq.talk.row_questions import PublicFacts, RowQuestion, check_kinds
from sulq.talk.statistics import answer_to, chosen
from sulq.wire import check_run


@dataclass
class Exact:
    """True sums, no privacy: the baseline that shows what privacy costs. Never publish what it says.

    Args:
        source: the rows, or whatever gives sums over them.
        interactive: whether there may be a second round. False is the model of nonadaptive queries.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False, True]}, {"sick": sulq.Boolean()})
    >>> people.exact().ask(sulq.Round([sulq.mean(sulq.col("sick"))]))[0].value
    0.6666666666666666
    """

    source: Sums
    interactive: bool = True
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    _first: list[tuple[str, str]] = field(default_factory=list, init=False, repr=False, compare=False)

    denoised = denoised

    @property
    def schema(self) -> Schema:
        return self.source.schema

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return "none: exact answers"

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse a run of several rounds if there may be one only; nothing is spent in any case."""
        check_single("oracle", self.interactive, round_, ahead)
        if self._first and self._first[0] != (run, asked_of(round_, self.schema).key):
            raise second_round("oracle")
        return True

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order; of equally good candidates the first.

        No answer is kept, so it does not matter which run asks.
        """
        check_run(run)
        check_kinds(round_)
        round_ = asked_of(round_, self.schema)
        scope, public = scope_of(self.schema), PublicFacts(self.schema)
        parts = [part for query in round_.queries for part in query.parts]
        for part in parts:
            scope.number(part)
        for query in round_.queries:
            if isinstance(query, RowQuestion):
                query.contest(public)
                rows_of(self.source, "this question")
        if not self.interactive:
            self._first.append((run, round_.key))
            if self._first[0] != (run, round_.key):  # of all who ask at once, one was the first
                raise second_round("oracle")
        sums = iter(self.source.sums(parts) if parts else ())
        answers = []
        for query in round_.queries:
            exact = [next(sums) for _ in query.parts]
            if isinstance(query, RowQuestion):
                released = query.look(rows_of(self.source, "this question"), public, None)
                answers.append(query.answer(released, public, None))
            elif isinstance(query, Choice):
                best = query.scores(exact, scope).argmax(axis=0)
                answers.append(chosen(query, best.tolist(), None, scope))
            else:
                assert isinstance(query, Query)
                answers.append(answer_to(query, exact, [None] * len(exact), scope))
        self.rounds += 1
        self.queries += len(round_.queries)
        return answers
