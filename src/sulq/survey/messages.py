"""What crosses between the devices and the collector, as plain data with a version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sulq.errors import QueryError
from sulq.local.forms import opened
from sulq.survey.accepting import SentOutcome
from sulq.survey.collector import Collector
from sulq.survey.kept import KeptRound, Sent, token_hash
from sulq.wire import encodable, members, versioned

VERSION = 1
POLL = 60
"""Seconds after which a device that waits looks again."""
MOST_GATHERED = 1000
LONGEST_TOKEN = 200
LARGEST = 2**53
STATUS: Mapping[SentOutcome, int] = {
    "accepted": 200, "unknown": 403, "used": 409, "closed": 410, "malformed": 422,
}  # fmt: skip
WHY: Mapping[SentOutcome, str] = {
    "unknown": "this survey is for people with a link, and this link is not one of them",
    "used": "this link was used: what it brought is counted, once",
    "closed": "this round is closed",
    "malformed": "this does not report on what the round asks, each item once",
}


def sent_of(form: object, survey: str) -> Sent:
    """What a device sent, from `{"reports-sent": 1, …}`.

    Args:
        form: what was received.
        survey: the id of the survey.
    """
    given = versioned(form, "reports-sent", VERSION)
    return _sent(members(given, "what is sent", ["reports-sent", "survey", *_ONE]), survey)


def gathered_of(form: object, survey: str) -> list[Sent]:
    """What a gateway gathered from several devices, from `{"reports-gathered": 1, …}`.

    Args:
        form: what was received.
        survey: the id of the survey.
    """
    given = versioned(form, "reports-gathered", VERSION)
    given = members(given, "what is gathered", ["reports-gathered", "survey", "sent"])
    if not isinstance(given["sent"], list) or len(given["sent"]) > MOST_GATHERED:
        raise QueryError(f"sent is a list of what up to {MOST_GATHERED} devices sent")
    return [
        _sent({**members(each, "what a device sent", _ONE), "survey": given["survey"]}, survey)
        for each in given["sent"]
    ]


def _sent(given: Mapping[str, Any], survey: str) -> Sent:
    if given["survey"] != survey:
        raise QueryError("this is for another survey: load the page again")
    if type(given["round"]) is not int or not 0 < given["round"] < 2**31:
        raise QueryError("round is the number of a round")
    token, reports = given["invitation"], given["reports"]
    if token is not None and not (encodable(token) and 0 < len(token) <= LONGEST_TOKEN):
        raise QueryError(f"an invitation is a text of at most {LONGEST_TOKEN} letters, or null")
    if not isinstance(reports, list):
        raise QueryError("reports are a list")
    return Sent(given["round"], None if token is None else token_hash(token), tuple(map(_report, reports)))


def _report(form: object) -> tuple[str, Any]:
    given = opened(form, "report", ("item", "numbers"))
    numbers = given["numbers"]
    if not isinstance(given["item"], str) or not isinstance(numbers, list) or len(numbers) != 1:
        raise QueryError("a report has the name of its item and the report on one row")
    cells = numbers[0] if isinstance(numbers[0], list) else numbers
    if not all(isinstance(cell, int | float) and abs(cell) <= LARGEST for cell in cells):
        raise QueryError("the report on a row is a number, or a list of numbers, none of them beyond 2^53")
    return given["item"], numbers[0]


def round_form(collector: Collector) -> dict[str, Any]:
    """What is open now, as devices read it: the same for everybody.

    Args:
        collector: the collector.
    """
    survey, kept = collector.survey, collector.open_round()
    now = collector.now()
    over = survey.closes is not None and now >= survey.closes
    over = over or (survey.divides != "rounds" and kept is None)
    state = "closed" if over else "open" if kept is not None and survey.is_open(now) else "waiting"
    return {
        "round-open": VERSION,
        "survey": survey.id,
        "number": 0 if kept is None else kept.number,
        "items": _items(collector, kept) if kept is not None and state == "open" else [],
        "asks": "all" if survey.divides == "epsilon" else "one",
        "state": state,
        "poll": POLL,
    }


def _items(collector: Collector, kept: KeptRound) -> list[dict[str, Any]]:
    """The items, and how many people each is still put to: a device draws one with these weights."""
    received = collector.received(kept.number) if kept.fills else {}
    missing = {key: people - received.get(key, 0) for key, people in kept.planned.items()}
    forms = collector.remembered(kept).forms
    return [forms[key] | {"people": people} for key, people in missing.items() if people > 0]


_ONE = ["round", "invitation", "reports"]
