"""One of several parties: a curator who holds some columns, and how people are told apart there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sulq.errors import QueryError, SulqError
from sulq.oracles.chunks import ChunkCurator
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.oracles.remote import Remote
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP
from sulq.queries.buckets import check_identifier
from sulq.queries.rounds import Ahead, Round, numbers_of
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly

P = ParamSpec("P")
T = TypeVar("T")


def _by_name(method: Callable[Concatenate[Party, P], T]) -> Callable[Concatenate[Party, P], T]:
    """A method of a party whose refusals say which party refuses."""

    @wraps(method)
    def called(self: Party, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except SulqError as error:
            error.args = (f"{self.name}: {error}",)
            raise

    return called


@dataclass(frozen=True)
class Party:
    """A party: whoever answers about its columns, and the column that names people there.

    Args:
        name: what it is called in messages.
        oracle: a curator, here or elsewhere; or exact answers, for comparison.
        key: the column that names people.
    """

    name: str
    oracle: Curator | Remote | Exact
    key: str

    @_by_name
    def __post_init__(self) -> None:
        if isinstance(self.oracle, ChunkCurator) or not isinstance(self.oracle, Curator | Remote | Exact):
            raise QueryError(
                f"a {type(self.oracle).__name__} is no party: parties are curators who answer from all of "
                "their rows (source.curator(...) or sulq.connect(...)), or exact oracles, for comparison"
            )
        if not isinstance(self.oracle, Exact) and self.oracle.offer.truncate:
            raise QueryError(
                "it truncates its answers, and what is cut off does not average out: open its curator with "
                "truncate=False"
            )
        check_identifier(self.schema, self.key)

    @property
    def schema(self) -> Schema:
        """What is public about its columns."""
        return self.oracle.schema

    @property
    def rows(self) -> int | None:
        """How many rows it has, if that is public."""
        return self.oracle.source.rows if isinstance(self.oracle, Exact) else self.oracle.offer.rows

    @property
    def change(self) -> tuple[str, str]:
        """What its promise is about: whether rows are replaced or come and go, and whose they are."""
        neighbours = "" if isinstance(self.oracle, Exact) else self.oracle.offer.neighbours
        unit = self.schema.unit
        # Nobody knows how a unit that is not the person goes with the units of other parties.
        return neighbours, "row" if unit is None else "person" if unit.column == self.key else self.name

    @_by_name
    def cost(self, rounds: Sequence[Round]) -> Fraction:
        """What rounds cost together, in the unit of its budget."""
        if isinstance(self.oracle, Exact):
            return Fraction(0)
        return sum((self.oracle.cost(each) for each in rounds), Fraction(0))

    @_by_name
    def laws(self, round_: Round) -> list[Law | None]:
        """What law the error of each answer has; None for a mean whose error depends on its count."""
        if isinstance(self.oracle, Exact):
            return [Exactly() for _ in round_.queries]
        return self.oracle.offer.laws(round_)

    @_by_name
    def afford(self, rounds: Sequence[Round], run: str, ahead: Ahead, last: bool = False) -> bool:
        """Refuse rounds that could not all be paid; False if all of them were charged before.

        Args:
            rounds: what it is asked for one round of a learner.
            run: the name of the run that asks.
            ahead: what that round and all later ones may cost.
            last: whether no later one is asked by shares.
        """
        fresh, share = False, ahead.share
        numbers = [numbers_of(each, self.schema) for each in rounds]
        for place, each in enumerate(rounds):
            after = rounds[place + 1 :] if share is None else ()
            later = tuple(other for other in after if self.oracle.afford(other, run))
            part = Ahead(share, later, ahead.reserve)
            if last and share is not None:
                part = replace(part, numbers=partial(sum, numbers[place:]))
            fresh = self.oracle.afford(each, run, part) or fresh
            share = None if share is None else share - (each.share or 0)
        return fresh

    @_by_name
    def ask(self, rounds: Sequence[Round], run: str) -> list[Answer]:
        """The answers to all rounds, one after the other."""
        return [answer for each in rounds for answer in self.oracle.ask(each, run)]


def promised_together(members: Sequence[Party]) -> str:
    """What is promised to a person whose rows all parties have: budgets for the same change add up.

    Args:
        members: the parties.
    """
    budgets: list[Any] = [
        None if isinstance(party.oracle, Exact) else getattr(party.oracle.offer.calibration, "budget", None)
        for party in members
    ]
    if len({party.change for party in members}) > 1:
        return "all of these together"
    if all(isinstance(each, PureDP) for each in budgets):
        return PureDP(sum(each.epsilon for each in budgets)).describe()
    if all(isinstance(each, ZCDP) for each in budgets):
        return ZCDP(sum(each.rho for each in budgets)).describe()
    if all(isinstance(each, PureDP | ApproxDP) for each in budgets):
        delta = sum(each.delta for each in budgets if isinstance(each, ApproxDP))
        return ApproxDP(sum(each.epsilon for each in budgets), delta).describe()
    return "all of these together"


def warn_of_sizes(members: Sequence[Party]) -> None:
    """Warn whoever learns from parties if it is certain that some people are in one table only.

    Args:
        members: the parties.
    """
    sizes = sorted({party.rows for party in members if party.rows is not None})
    if len(sizes) > 1:
        warnings.warn(
            f"the parties have tables of {' and '.join(f'{size:,}' for size in sizes)} rows, and what is "
            "learned from columns of several of them takes it that all tables are about the same people: "
            "with about='common' it is about those whom all of them have",
            stacklevel=5,
        )
