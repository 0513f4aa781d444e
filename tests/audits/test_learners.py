"""Learners, as the audit runs them: each asks under every budget, and learns something on few rows."""

from __future__ import annotations

import pytest

from sulq.audits.learners import BUDGETS, CASES, neighbouring, table, transcript


@pytest.mark.parametrize("budget", BUDGETS, ids=["pure", "rho", "delta"])
@pytest.mark.parametrize("name", CASES)
def test_a_transcript_has_rounds_whose_losses_can_be_added_up(name: str, budget: dict[str, object]) -> None:
    case = CASES[name]
    ratio, words, rounds = transcript(case.make(), budget, "replace", seed=1)
    assert rounds > 0, words
    assert ratio <= 1 + 1e-9, words


@pytest.mark.parametrize("name", ["Parity", "Compress", "Classifier"])
def test_as_a_black_box_a_learner_learns_and_is_not_refused(name: str) -> None:
    case = CASES[name]
    one, _ = neighbouring("replace", 1)
    people = table(one[-case.rows :])
    assert case.make().learn(people.curator(epsilon=1, ledger=":memory:")) is not None
