"""A curator elsewhere, for programs that await: the twin of `Remote`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sulq.errors import BudgetError, SulqError
from sulq.oracles import remote_calls as calls
from sulq.oracles.remote import only
from sulq.oracles.remote_http import client_of, pauses, received, unreachable
from sulq.oracles.remote_key import address, key_for
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.schema import Schema
from sulq.talk.affording import needed_for
from sulq.talk.answers import Answer
from sulq.talk.offer import Offer
from sulq.wire import check_run

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class AsyncConnection:
    """A way to one data set of a curator elsewhere; see `Connection`."""

    url: str
    dataset: str
    http: httpx.AsyncClient = field(repr=False)
    patience: float

    async def send(self, call: calls.RemoteCall) -> Any:
        """What the response to a request holds. It is sent again while nobody answers: that costs nothing."""
        for pause in pauses(time.monotonic() + self.patience):
            failure: SulqError | None
            try:
                response = await self.http.request(call.method, call.path, content=call.body)
            except Exception as error:
                failure = unreachable(self.url, error)
            else:
                content, failure = received(self.url, response)
            if failure is None:
                return content
            if pause is None:
                raise failure
            await asyncio.sleep(pause)
        raise AssertionError  # pauses end with None


@dataclass
class AsyncRemote:
    """A curator elsewhere, who is awaited. Made by `sulq.connect_async`; learners run by `learn_async`.

    Args:
        offer: what the data set offers.
        connection: the way to it.

    >>> import asyncio, sulq
    >>> from sulq.serve.trial import trial
    >>> async def learn(url: str, key: str) -> sulq.Hypothesis:
    ...     async with await sulq.connect_async(url, key) as people:
    ...         return await sulq.ID3("bought_drugs", depth=1).learn_async(people)
    >>> with trial(people=sulq.randhie().curator(epsilon=1)) as (url, key):
    ...     tree = asyncio.run(learn(url, key))
    >>> tree.origin.promise
    'ε = 1 (pure)'
    """

    offer: Offer
    connection: AsyncConnection

    async def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order; see `Remote.ask`."""
        self.offer.cost(round_)
        check_run(run)
        call = calls.ask_call(self.connection.dataset, run, self._question(round_))
        return calls.answers_in(await self.connection.send(call), len(round_.queries))

    async def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end; see `Curator.afford`."""
        needed = needed_for(self.offer, round_, ahead)
        call = calls.quote_call(self.connection.dataset, run, self._question(round_))
        charged, left = calls.charged_in(await self.connection.send(call))
        if charged:
            return False
        if needed > left:
            raise BudgetError(self.offer.unit, needed, left)
        return True

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, in the unit of the budget. Nobody is asked and nothing is spent."""
        return self.offer.cost(round_)

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each; see `Curator.error`."""
        return self.offer.error(round_, beta)

    async def standing(self) -> calls.Standing:
        """What was spent by all who ask the data set, and what is left for whoever asks."""
        return calls.standing_in(await self.connection.send(calls.about_call(self.connection.dataset)))

    @property
    def schema(self) -> Schema:
        return self.offer.schema

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return self.offer.promise

    async def close(self) -> None:
        """Let go of the connection."""
        await self.connection.http.aclose()

    async def __aenter__(self) -> AsyncRemote:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _question(self, round_: Round) -> str:
        return calls.question_text(round_, self.offer.allowance)


async def connect_async(
    url: str,
    key: str | None = None,
    dataset: str | None = None,
    *,
    patience: float = 30.0,
    certificate: str | None = None,
) -> AsyncRemote:
    """The oracle of a data set at a curator elsewhere, for programs that await; see `sulq.connect`.

    Args:
        url: the address of the curator, as "https://curator.example:8443".
        key: the key; None takes it from SULQ_KEY or from the file of keys.
        dataset: the data set; it may be left out if the key is for one only.
        patience: for how many seconds a request is sent again, if nobody answers.
        certificate: a file with the certificate to trust, if the curator's own is from no public authority.

    >>> import asyncio, sulq
    >>> asyncio.run(sulq.connect_async("https://127.0.0.1:1", key="sulq_5f0c9a1e_secret", patience=0))
    Traceback (most recent call last):
    sulq.errors.RemoteError: cannot reach https://127.0.0.1:1: ...
    """
    at = address(url)
    http = client_of(at, key_for(at, key), certificate, asynchronous=True)
    connection = AsyncConnection(at, "", http, patience)
    try:
        if dataset is None:
            dataset = only(calls.names_in(await connection.send(calls.list_call())), at)
        connection = replace(connection, dataset=dataset)
        offer = calls.offer_in(await connection.send(calls.about_call(dataset)))
    except BaseException:
        await http.aclose()
        raise
    return AsyncRemote(offer, connection)
