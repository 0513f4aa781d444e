"""The oracle that tells the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sulq.errors import QueryError
from sulq.queries.choose import Choice
from sulq.queries.rounds import Round
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.statistics import answer_to, chosen

if TYPE_CHECKING:
    from sulq.schema import Schema
    from sulq.sources.source import Source


@dataclass
class Exact:
    """True sums, no privacy: the baseline that shows what privacy costs. Never publish what it says.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False, True]}, {"sick": sulq.Boolean()})
    >>> people.exact().ask(sulq.Round([sulq.mean(sulq.col("sick"))]))[0].value
    0.6666666666666666
    """

    source: Source
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    denoised = denoised

    @property
    def schema(self) -> Schema:
        return self.source.schema

    @property
    def promise(self) -> str:
        return "none: exact answers"

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order; of equally good candidates the first.

        Nothing is kept, so it does not matter which run asks.
        """
        if not isinstance(round_, Round):
            raise QueryError(f"ask takes a Round of queries, not {type(round_).__name__}")
        scope = self.source.scope
        sums = iter(self.source.sums([part for query in round_.by_sums for part in query.parts]))
        answers = []
        for query in round_.by_sums:
            own = [next(sums) for _ in query.parts]
            if isinstance(query, Choice):
                best = query.scores(own, scope).argmax(axis=0)
                answers.append(chosen(query, best.tolist(), None, scope))
            else:
                answers.append(answer_to(query, own, [None] * len(own), scope))
        self.rounds += 1
        self.queries += len(round_.queries)
        return answers
