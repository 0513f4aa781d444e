"""A budget in memory is spent once: in one process, and by one object."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import sulq
from sulq.errors import LedgerError
from sulq.local import LocalRandomness
from sulq.local.response import RandomizedResponse
from tests.ledger.ledgers import child, ending

SICK = sulq.Round([sulq.count(where=sulq.col("sick"))], share="3/4")
SURVEYS: dict[str, Callable[[sulq.Source], Any]] = {
    "crowd": lambda people: people.crowd(epsilon=1),
    "crowd asked once": lambda people: people.crowd(epsilon=1, interactive=False),
    "sample": lambda people: people.sample(),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "replace": dataclasses.replace,
}


def survey(kind: str) -> Any:
    return SURVEYS[kind](sulq.open({"sick": [True, False] * 200}, {"sick": sulq.Boolean()}))


@pytest.mark.parametrize("kind", SURVEYS)
def test_a_forked_process_cannot_ask_the_people_of_a_survey_again(kind: str) -> None:
    asked = survey(kind)

    def work() -> None:
        with pytest.raises(LedgerError, match=r"after a fork.*second copy of the budget"):
            asked.ask(SICK)

    assert ending(child(work)) == 0
    asked.ask(SICK)
    assert asked.left == 100


def test_a_forked_process_may_look_at_what_was_told_before() -> None:
    asked = survey("crowd")
    [answer] = asked.ask(SICK)
    told, tell = os.pipe()

    def work() -> None:
        os.write(tell, repr(asked.ask(SICK)[0].value).encode())

    assert ending(child(work)) == 0
    assert os.read(told, 100).decode() == repr(answer.value)


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", SURVEYS)
def test_a_survey_cannot_be_copied(kind: str, way: str) -> None:
    asked = survey(kind)
    asked.ask(SICK)
    with pytest.raises(LedgerError, match="a survey in memory cannot be copied"):
        COPIES[way](asked)
    assert asked.left == 100


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_an_lr_oracle_cannot_be_copied(way: str) -> None:
    with pytest.raises(LedgerError, match="cannot be copied"):
        COPIES[way](LocalRandomness([True, False], epsilon=1))


def test_a_forked_process_cannot_ask_a_person_of_an_lr_oracle_again() -> None:
    people = LocalRandomness([True, False], epsilon=1)

    def work() -> None:
        with pytest.raises(LedgerError, match="second copy of the budget"):
            people.ask(0, RandomizedResponse(1))

    assert ending(child(work)) == 0
    assert people.spent(0) == 0
    assert people.ask(0, RandomizedResponse(1)) in (True, False)


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_a_curator_whose_ledger_is_in_memory_cannot_be_copied(way: str) -> None:
    curator = sulq.open({"sick": [True, False] * 200}, {"sick": sulq.Boolean()}).curator(epsilon=1)
    with pytest.raises((LedgerError, TypeError), match="cannot"):
        COPIES[way](curator)


def test_copies_of_a_curator_that_share_its_ledger_share_its_budget() -> None:
    curator = sulq.open({"sick": [True, False] * 200}, {"sick": sulq.Boolean()}).curator(epsilon=1)
    for twin in (copy.copy(curator), dataclasses.replace(curator)):
        twin.ask(SICK)
        assert curator.spent == twin.spent > 0
