"""A curator elsewhere: an offer and a connection. Costs and errors are known here, answers come from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sulq.errors import BudgetError, RemoteError
from sulq.ledger.parts import Part
from sulq.numbers import Numeric, rational
from sulq.oracles import remote_calls as calls
from sulq.oracles.remote_http import Connection, client_of
from sulq.oracles.remote_key import address, key_for
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.schema import Schema
from sulq.talk.affording import needed_for
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.offer import Offer
from sulq.wire import check_run, of_json


@dataclass(frozen=True)
class RemoteBook:
    """The ledger of a curator elsewhere, as a part of a budget sees it."""

    connection: Connection

    @property
    def remaining(self) -> Fraction:
        return self.standing.remaining

    @property
    def standing(self) -> calls.Standing:
        """What was spent, and what is left."""
        return calls.standing_in(self.connection.send(calls.about_call(self.connection.dataset)))

    def charged(self, run: str, question: str, *, formerly: str | None = None) -> bool:
        """Whether a question was charged before; one that nobody can be asked about may have been."""
        try:
            return self.quoted(run, question, patience=0)[0]
        except RemoteError:
            return True

    def quoted(self, run: str, question: str, patience: float | None = None) -> tuple[bool, Fraction]:
        """Whether a question was charged before, and what its run may still be charged."""
        call = calls.quote_call(self.connection.dataset, run, question)
        return calls.charged_in(self.connection.send(call, patience))

    def release(
        self,
        run: str,
        question: str,
        cost: Fraction,
        answer: Callable[[], str],
        *,
        account: str | None = None,
        formerly: str | None = None,
    ) -> str:
        """The answers, which are charged and stored there."""
        return json.dumps(self.connection.send(calls.ask_call(self.connection.dataset, run, question)))


@dataclass
class Remote:
    """A curator elsewhere, whom every learner asks like any other. Made by `sulq.connect`.

    What a round costs, and how far off its answers are, is worked out here, from the offer. A round that is
    asked again in its run is answered from the store there, at no cost: so a request whose response was lost
    is sent again, and a run that was interrupted goes on.

    Args:
        offer: what the data set offers.
        book: the ledger there.
        whole: the whole budget, of which parts are handed out.
        held: the part of the budget that this oracle was handed out, or None if it has the whole.

    >>> import sulq
    >>> from sulq.serve.trial import trial
    >>> plans = sulq.Round([sulq.count(by="plan")], share=0.1)
    >>> with trial(people=sulq.randhie().curator(epsilon=1)) as (url, key):
    ...     people = sulq.connect(url, key, "people")
    ...     print(people.cost(plans), people.error(plans, beta=0.05))
    ...     [answer] = people.ask(plans)
    ...     print(answer.value.shape, people.spent, people.remaining)
    1/10 [458.0]
    (5,) 1/10 9/10
    """

    offer: Offer
    book: RemoteBook
    whole: Part = field(repr=False)
    held: Part | None = None
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    denoised = denoised

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order; see `Curator.ask`.

        Args:
            round_: the queries.
            run: the name of the run that asks. Runs of other keys are others, whatever they are called.
        """
        cost = self.offer.cost(round_)
        check_run(run)
        released = self._part.release(self.book, run, self._question(round_), cost, _elsewhere)
        answers = calls.answers_in(of_json(released, "a response"), len(round_.queries))
        self.rounds += 1
        self.queries += len(round_.queries)
        return answers

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end; see `Curator.afford`.

        Args:
            round_: the round that is asked next.
            run: the name of the run that asks.
            ahead: what this round and all later ones may cost.
        """
        needed = needed_for(self.offer, round_, ahead)
        charged, left_of_run = self.book.quoted(run, self._question(round_))
        if charged:
            return False
        left = min(self.remaining, left_of_run)
        if needed > left:
            raise BudgetError(self.offer.unit, needed, left)
        return True

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, in the unit of the budget. Nobody is asked and nothing is spent."""
        return self.offer.cost(round_)

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each; see `Curator.error`."""
        return self.offer.error(round_, beta)

    def part(self, share: Numeric) -> Remote:
        """The same curator, to whom only this share of the budget is the whole; see `Curator.part`.

        Args:
            share: the share, from 0 to 1.
        """
        portion = rational("share", share, most=1)
        return replace(self, offer=self.offer.part(portion), held=self._part.hand_out(portion))

    def close(self) -> None:
        """Let go of the connection."""
        self.book.connection.http.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def schema(self) -> Schema:
        return self.offer.schema

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return self.offer.promise

    @property
    def spent(self) -> Fraction:
        """What was charged so far, in the unit of the budget, by all who ask the data set."""
        return self.book.standing.spent

    @property
    def remaining(self) -> Fraction:
        """What is left: of the budget, of the part that this oracle has, and of the cap of whoever asks."""
        return self._part.remaining(self.book)

    def spent_by(self, run: str) -> Fraction:
        """What a run was charged so far.

        Args:
            run: the name of the run.
        """
        check_run(run)
        connection = self.book.connection
        return calls.spent_in(connection.send(calls.run_call(connection.dataset, run)), run)

    @property
    def _part(self) -> Part:
        return self.whole if self.held is None else self.held

    def _question(self, round_: Round) -> str:
        return calls.question_text(round_, self.offer.allowance)


def connect(
    url: str,
    key: str | None = None,
    dataset: str | None = None,
    *,
    patience: float = 30.0,
    certificate: str | None = None,
) -> Remote:
    """The oracle of a data set at a curator elsewhere, which `sulq serve` made. Nothing is spent.

    Args:
        url: the address of the curator, as "https://curator.example:8443".
        key: the key, from its owner. None takes it from the environment, SULQ_KEY, or from the file
            ~/.config/sulq/keys.toml, which has a line "https://curator.example:8443" = "sulq_…".
        dataset: the data set; it may be left out if the key is for one only.
        patience: for how many seconds a request is sent again, if nobody answers. What is sent again is
            answered once and charged once.
        certificate: a file with the certificate to trust, if the curator's own is from no public authority.

    >>> import sulq
    >>> from sulq.serve.trial import trial
    >>> with trial(people=sulq.randhie().curator(epsilon=1)) as (url, key):
    ...     people = sulq.connect(url, key)
    ...     tree = sulq.ID3("bought_drugs", depth=1, share=0.5).learn(people)
    ...     people.remaining
    Fraction(1, 2)
    """
    at = address(url)
    http = client_of(at, key_for(at, key), certificate)
    connection = Connection(at, "", http, patience)
    if dataset is None:
        dataset = only(calls.names_in(connection.send(calls.list_call())), at)
    connection = replace(connection, dataset=dataset)
    offer = calls.offer_in(connection.send(calls.about_call(dataset)))
    return Remote(offer, RemoteBook(connection), Part(offer.unit, offer.total, whole=True))


def only(names: list[str], url: str) -> str:
    """The one data set that a key is for, or a refusal."""
    if len(names) != 1:
        raise RemoteError(f"which data set at {url}? Give dataset=, one of: {', '.join(names) or 'none'}")
    return names[0]


def _elsewhere() -> str:
    raise AssertionError("answers are computed elsewhere")
