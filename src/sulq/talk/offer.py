"""What a data set offers before anything is spent: what a round costs, and how well it is answered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from sulq.errors import LedgerError, QueryError
from sulq.faces import columns_grid, face, facts, offered
from sulq.numbers import Numeric, make_rational, rational, whole
from sulq.privacy.calibration import Calibration, Gaussian
from sulq.privacy.reading import calibration_of
from sulq.privacy.repeated import AddedNoise, bits_of, times_of
from sulq.privacy.terms import Contest, Settled, Terms
from sulq.queries.choose import Choice
from sulq.queries.facts import Number
from sulq.queries.query import Neighbours, Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round, asked_of
from sulq.queries.scope import Scope, scope_of
from sulq.schema import Schema
from sulq.talk.answers import Answer, errors_of
from sulq.talk.law_forms import Law
from sulq.talk.row_questions import PublicFacts, RowQuestion, check_kinds
from sulq.talk.statistics import Steps, answer_to, chosen
from sulq.talk.sum_facts import round_facts
from sulq.wire import canonical, exact, members, of_json, reading, shown, versioned

LARGEST_SCORE = 2**62
MOST_ROWS = 2**60
VERSION = 1
"""Of the form of an offer."""


@dataclass(frozen=True)
class Offer:
    """What a curator offers, with no rows and no ledger in it.

    Whoever has the offer knows what a round costs and how well it is answered, and reads what was released.

    Args:
        schema: what is public about the columns.
        calibration: the budget, and the noise that spends it.
        neighbours: what one person's presence means: "replace" or "add-remove".
        rows: how many rows there are, or None if that is not public.
        truncate: whether answers are brought into the range that is public.
        allowance: the part of the whole budget that the shares of rounds are shares of.
        interactive: whether there may be a second round.

    >>> import sulq
    >>> from sulq.privacy.calibration import Laplace
    >>> offer = Offer(sulq.Schema({"sick": sulq.Boolean()}), Laplace(sulq.PureDP(1)), rows=1000)
    >>> round_ = sulq.Round([sulq.count(where="sick")], share=0.1)
    >>> offer.cost(round_), offer.error(round_, beta=0.05)
    (Fraction(1, 10), [30.0])
    """

    schema: Schema
    calibration: Calibration
    neighbours: Neighbours = "replace"
    rows: int | None = None
    truncate: bool = False
    allowance: Fraction = Fraction(1)
    interactive: bool = True

    def __post_init__(self) -> None:
        make_rational(self, "allowance", most=1)
        if self.rows is not None:
            whole("rows", self.rows, 0, MOST_ROWS)
        if self.neighbours not in get_args(Neighbours):
            raise QueryError(f"neighbours are 'replace' or 'add-remove', not {self.neighbours!r}")
        if self.unit == "queries" and self.neighbours != "replace":
            raise QueryError("the SuLQ paper's promise is about a row that is replaced: neighbours='replace'")
        if self.rows is not None and (self.schema.unit is not None or self.neighbours != "replace"):
            raise QueryError(
                "the number of rows is public only where a row is replaced, and there is no unit"
            )

    @property
    def scope(self) -> Scope:
        """The schema, to read expressions against."""
        return scope_of(self.schema)

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return self.calibration.describe()

    @property
    def unit(self) -> str:
        """What the budget is counted in: "epsilon", "rho" or "queries"."""
        return self.calibration.unit

    @property
    def total(self) -> Fraction:
        """The whole budget, in its unit."""
        return self.calibration.total

    @property
    def public(self) -> PublicFacts:
        """What is public about the table."""
        return PublicFacts(self.schema, self.neighbours, self.rows, self.truncate)

    @property
    def form(self) -> dict[str, Any]:
        """The offer as plain data; `Offer.of` reads it back."""
        once = {} if self.interactive else {"interactive": False}
        return once | {
            "offer": VERSION,
            "schema": self.schema.form(),
            "calibration": self.calibration.form,
            "neighbours": self.neighbours,
            "rows": self.rows,
            "truncate": self.truncate,
            "allowance": str(self.allowance),
        }

    @classmethod
    def of(cls, form: Any) -> Offer:
        """The offer with this form. A version that is not known is refused."""
        names = ["offer", "schema", "calibration", "neighbours", "rows", "truncate", "allowance"]
        with reading("an offer"):
            if isinstance(form, Mapping) and form.get("interactive") is False:
                names.append("interactive")  # written where it is not as usual
            given = members(versioned(form, "offer", VERSION), "an offer", names)
            if not isinstance(given["schema"], Mapping):
                raise QueryError("the schema of an offer is an object with its columns")
            if not isinstance(given["truncate"], bool):
                raise QueryError(f"truncate is true or false, not {shown(given['truncate'])}")
            return cls(
                Schema.of(dict(given["schema"])),
                calibration_of(given["calibration"]),
                given["neighbours"],
                given["rows"],
                given["truncate"],
                Fraction(exact(given["allowance"], "an allowance")),
                "interactive" not in given,
            )

    def to_json(self) -> str:
        """The offer as JSON, for `from_json`."""
        return canonical(self.form)

    @classmethod
    def from_json(cls, text: str) -> Offer:
        """The offer that `to_json` wrote.

        >>> Offer.from_json('{"offer": 2}')
        Traceback (most recent call last):
        sulq.errors.QueryError: this is an offer of version 2, and version 1 is the one that is known here
        """
        return cls.of(of_json(text, "an offer"))

    def _repr_html_(self) -> str:
        return face("Offer", facts(offered(self)), columns_grid(self.schema))

    def part(self, share: Numeric) -> Offer:
        """The same offer, where only this share of the budget is the whole."""
        return replace(self, allowance=self.allowance * rational("share", share, most=1))

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, in the unit of the budget."""
        return self.terms(round_).cost

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each.

        None for a mean whose count is not public: its error depends on that count.
        """
        return errors_of(self.laws(round_), beta)

    def laws(self, round_: Round) -> list[Law | None]:
        """What law the error of each answer would have; None where `error` says None."""
        terms = self.terms(round_)
        return [self._law(*each) for each in self._with_terms(asked_of(round_, self.schema), terms)]

    def terms(self, round_: Round, former: bool = False, vectors: bool = True, finer: bool = True) -> Terms:
        """What the round costs and the noise it gets, or a refusal.

        Args:
            round_: what is asked.
            former: account every sum on its own, with looser facts, as earlier versions did.
            vectors: draw noise for whole vectors where that is narrower, and choices under ρ with all of ε.
            finer: add noise on finer grids where that is narrower, as earlier versions did not.
        """
        check_kinds(round_)
        round_ = asked_of(round_, self.schema)
        sums = round_facts(self.public, round_, former, vectors)
        scope = scope_of(self.schema, former)
        contests = [self._contest(query, scope) for query in round_.queries if not isinstance(query, Query)]
        calibration = self.calibration
        if isinstance(calibration, Gaussian) and not (vectors and finer):
            calibration = replace(calibration, printed=not vectors, finer=finer)
        if any(stated := [isinstance(q, Query) and q.tolerance is not None for q in round_.queries]):
            if not all(stated) or round_.share is not None:
                raise QueryError(
                    "a round is asked by tolerances or by a share: state a tolerance and beta for every "
                    "query (a choice cannot have one) and no share, or a share alone"
                )
            return calibration.for_tolerances(sums).check(sums, contests)
        cost = None if round_.share is None else round_.share * self.allowance * self.total
        terms = calibration.for_cost(sums, contests, cost).check(sums, contests)
        for query, settled in self._settled(round_, terms):
            query.check(self.public, settled)
        return terms

    def promises(self, round_: Round) -> list[str | None]:
        """What is promised about the population that the rows were drawn from, in words, for each query."""
        return [
            query.promise(self.public, settled) if isinstance(query, RowQuestion) and settled else None
            for query, _, settled in self._with_terms(round_, self.terms(round_))
        ]

    def read(self, round_: Round, terms: Terms, released: Mapping[str, Any]) -> list[Answer]:
        """What was released, as answers.

        Args:
            round_: what was asked.
            terms: its terms.
            released: noisy sums, choices, and what others said; noise of earlier versions was wider.
        """
        jointly, vectors, finer = (each in released for each in ("jointly", "vectors", "finer"))
        scope = scope_of(self.schema, not jointly)
        if not (jointly and vectors and finer):
            terms = self.terms(round_, not jointly, vectors, finer)
        if finer and released["finer"] != [bits_of(noise) for noise in terms.noises]:
            raise LedgerError("this was released on other grids: read it with the version that released it")
        sums, choices, others = (iter(released.get(kind, ())) for kind in ("sums", "choices", "others"))
        answers, round_ = [], asked_of(round_, self.schema)
        for query, noises, settled in self._with_terms(round_, terms):
            if isinstance(query, Query):
                parts = zip(query.parts, noises, strict=True)
                steps = [
                    self._truncated(scope.number(part), noise, np.array(next(sums), dtype=object))
                    for part, noise in parts
                ]
                answers.append(answer_to(query, steps, noises, scope))
            elif isinstance(query, RowQuestion):
                answers.append(query.answer(next(others), self.public, settled))
            else:
                assert isinstance(query, Choice)
                answers.append(chosen(query, next(choices), settled, scope))
        return answers

    def _with_terms(
        self, round_: Round, terms: Terms
    ) -> Iterator[tuple[Question, list[AddedNoise | None], Settled | None]]:
        """Each question of a round, with the noise of its sums or the mechanism that settles it."""
        noises, selections = iter(terms.noises), iter(terms.selections)
        for query in round_.queries:
            if isinstance(query, Query):
                yield query, [next(noises) for _ in query.parts], None
            else:
                yield query, [], next(selections)

    def _settled(self, round_: Round, terms: Terms) -> Iterator[tuple[RowQuestion, Settled]]:
        for query, _, settled in self._with_terms(round_, terms):
            if isinstance(query, RowQuestion):
                assert settled is not None
                yield query, settled

    def _law(self, query: Question, noises: list[AddedNoise | None], settled: Settled | None) -> Law | None:
        if isinstance(query, RowQuestion):
            return query.law(self.public, settled)
        if isinstance(query, Choice):
            return chosen(query, [0] * math.prod(query.shape(self.scope)), settled, self.scope).law
        assert isinstance(query, Query)
        sums = [np.zeros(self.scope.number(part).width, dtype=object) for part in query.parts]
        if query.statistic == "mean":
            if noises[1] is not None or self.rows is None:
                return None
            sums[1] += self.rows
        return answer_to(query, sums, noises, self.scope).law

    def _contest(self, query: Question, scope: Scope) -> Contest:
        if isinstance(query, RowQuestion):
            return query.contest(self.public)
        assert isinstance(query, Choice)
        if query.size(scope) * (self.rows or 2**30) >= LARGEST_SCORE:
            raise QueryError("the scores of this choice could leave 62 bits: clip or scale the candidates")
        return Contest(
            moves=query.moves(scope, self.neighbours),
            monotone=query.monotone(scope, self.neighbours),
            size=query.size(scope),
            weight=query.weight,
        )

    def _truncated(self, facts: Number, noise: AddedNoise | None, sums: Steps) -> Steps:
        """The sums brought into the range that is public, if truncation was asked for."""
        if not self.truncate:
            return sums
        if self.rows is not None:
            low, high = (end.astype(object) * self.rows * times_of(noise) for end in (facts.low, facts.high))
            return np.clip(sums, low, high)
        return np.where(facts.low >= 0, np.maximum(sums, 0), sums)
