"""What is said to a curator elsewhere, and what its responses mean. Nothing is sent here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from sulq.errors import (
    AccessError,
    AdaptivityError,
    BudgetError,
    QueryError,
    ReleaseError,
    RemoteError,
    SulqError,
)
from sulq.queries.rounds import Round
from sulq.talk.answers import Answer
from sulq.talk.offer import Offer
from sulq.wire import canonical, listed, members, of_json, reading

API = "1"
"""The version of the API that is spoken here."""
VERSION_HEADER = "sulq-api"
AGAIN = (408, 429, 502, 503, 504)
"""Statuses after which it may go better."""
GOES_ON = "nothing is lost: the same run asked again goes on from there, and pays for nothing twice"


@dataclass(frozen=True)
class RemoteCall:
    """A request, as plain data.

    Args:
        method: GET or POST.
        path: what comes after the address.
        body: what it brings, as JSON; None for nothing.
    """

    method: str
    path: str
    body: str | None = None


@dataclass(frozen=True)
class Standing:
    """What was spent, and what is left for whoever asks."""

    spent: Fraction
    remaining: Fraction


def list_call() -> RemoteCall:
    return RemoteCall("GET", "/v1/datasets")


def about_call(dataset: str) -> RemoteCall:
    return RemoteCall("GET", f"/v1/datasets/{quote(dataset, safe='')}")


def run_call(dataset: str, run: str) -> RemoteCall:
    return RemoteCall("GET", f"/v1/datasets/{quote(dataset, safe='')}/runs?run={quote(run, safe='')}")


def ask_call(dataset: str, run: str, question: str) -> RemoteCall:
    """A round that is asked; `question` is the text that `question_text` wrote."""
    return _round_call(dataset, "ask", run, question)


def quote_call(dataset: str, run: str, question: str) -> RemoteCall:
    """A round whose cost is wanted, and whether it was charged before."""
    return _round_call(dataset, "quote", run, question)


def question_text(round_: Round, allowance: Fraction) -> str:
    """A round, and what its shares are shares of."""
    return canonical({"round": round_.form, "allowance": str(allowance)})


def names_in(data: Any) -> list[str]:
    """The data sets that a key is for."""
    with _understood():
        return [str(each["name"]) for each in listed(data["datasets"], "the data sets")]


def offer_in(data: Any) -> Offer:
    """What a data set offers."""
    with _understood():
        return Offer.of(data["offer"])


def standing_in(data: Any) -> Standing:
    """What was spent of a data set, and what is left."""
    with _understood():
        return Standing(Fraction(data["spent"]), Fraction(data["remaining"]))


def charged_in(data: Any) -> tuple[bool, Fraction]:
    """Whether a round was charged before, and what its run may still be charged."""
    with _understood():
        return bool(data["charged"]), Fraction(data["remaining"])


def answers_in(data: Any, expected: int) -> list[Answer]:
    """One answer for each query of a round."""
    with _understood():
        answers = [Answer.of(form) for form in listed(data["answers"], "the answers")]
        if len(answers) != expected:
            raise QueryError(f"{expected} answers were expected, and {len(answers)} came")
        return answers


def spent_in(data: Any, run: str) -> Fraction:
    """What a run was charged."""
    with _understood():
        return sum((Fraction(each["spent"]) for each in data["runs"] if each["run"] == run), Fraction(0))


def response_in(url: str, status: int, headers: Mapping[str, str], text: str) -> Any:
    """What a response holds; a refusal is raised as the error that it would be in process.

    Args:
        url: who was asked, for messages.
        status: the status of the response.
        headers: its headers, by names in small letters.
        text: its body.
    """
    version = headers.get(VERSION_HEADER)
    if version is None:
        raise RemoteError(f"what answers at {url} is not a curator of sulq (HTTP status {status})")
    if version != API:
        raise RemoteError(
            f"the curator at {url} speaks version {version[:20]}, and this sulq speaks version {API}: update "
            f"{'sulq' if version > API else 'the curator'}"
        )
    try:
        data = of_json(text, "a response")
    except QueryError:
        raise RemoteError(f"what the curator at {url} says cannot be read") from None
    if status >= 400:
        raise _error_in(data, url, status)
    return data


def _error_in(data: Any, url: str, status: int) -> SulqError:
    error = data.get("error") if isinstance(data, Mapping) else None
    if not isinstance(error, Mapping) or not isinstance(error.get("message"), str):
        return RemoteError(f"the curator at {url} failed (HTTP status {status})")
    code, message = error.get("code"), error["message"]
    if code == "budget":
        with _understood():
            names = ["unit", "requested", "remaining", "account", "what"]
            numbers = members(error["budget"], "a refusal", names)
            return BudgetError(
                numbers["unit"],
                Fraction(numbers["requested"]),
                Fraction(numbers["remaining"]),
                numbers["account"],
                numbers["what"],
            )
    if code == "release_failed":
        return ReleaseError()
    if code == "second_round":
        return AdaptivityError(message)
    if code == "refused":
        return QueryError(message)
    if code == "not_allowed" or str(code).startswith("key_"):
        return AccessError(message)
    return RemoteError(message)


def _round_call(dataset: str, what: str, run: str, question: str) -> RemoteCall:
    body = canonical(of_json(question, "a question") | {"run": run})
    return RemoteCall("POST", f"/v1/datasets/{quote(dataset, safe='')}/{what}", body)


@contextmanager
def _understood() -> Iterator[None]:
    """Whatever cannot be understood is a RemoteError: the other side may be newer."""
    try:
        with reading("a response"):
            yield
    except QueryError as refusal:
        raise RemoteError(f"what the curator says is not understood: {refusal}; update sulq") from None
