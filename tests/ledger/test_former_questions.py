"""A question that an earlier version stored under another text is found, and not charged again."""

from __future__ import annotations

import pytest

from tests.ledger.ledgers import COST, never, opened


def test_a_question_is_found_under_its_former_text() -> None:
    ledger = opened(None)
    ledger.release("tree", "old text", COST, lambda: "42")
    assert ledger.release("tree", "new text", COST, never, formerly="old text") == "42"
    assert ledger.charged("tree", "new text", formerly="old text")
    assert not ledger.charged("tree", "new text")
    assert not ledger.charged("means", "new text", formerly="old text")
    assert ledger.spent == COST


def test_a_question_that_was_charged_under_its_former_text_is_answered_under_that_charge() -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("tree", "old text", COST, lambda: str(1 / 0))
    assert ledger.release("tree", "new text", COST, lambda: "42", formerly="old text") == "42"
    assert ledger.release("tree", "old text", COST, never) == "42"
    assert [entry.question for entry in ledger.entries()] == ["old text", "old text"]
    assert (ledger.spent, ledger.verify()) == (COST, [])


def test_what_is_stored_under_a_questions_own_text_comes_first() -> None:
    ledger = opened(None)
    ledger.release("tree", "old text", COST, lambda: "41")
    ledger.release("tree", "new text", COST, lambda: "42")
    assert ledger.release("tree", "new text", COST, never, formerly="old text") == "42"
    assert ledger.release("tree", "newest text", COST, lambda: "43", formerly="unknown text") == "43"
    assert [entry.question for entry in ledger.entries()][-1] == "newest text"


def test_a_ledger_says_what_it_was_asked_first() -> None:
    ledger = opened(None)
    assert ledger.first_question is None
    for question in ("first text", "second text"):
        ledger.release("tree", question, COST, lambda: "42")
        assert ledger.first_question == "first text"
