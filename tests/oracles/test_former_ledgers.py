"""Ledgers that version 0 wrote are read: it knew questions by forms without a version."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sulq
from sulq.errors import LedgerError
from sulq.oracles.chunks import CHUNKS
from sulq.privacy.budget import Budget
from sulq.privacy.calibration import Gaussian
from sulq.privacy.prices import Accounting
from sulq.queries.former import former_form
from sulq.runs.run import Run
from sulq.wire import canonical, digest


def test_answers_in_a_ledger_of_version_0_are_replayed_at_no_cost(tmp_path: Path) -> None:
    """A ledger knew questions by forms without a version; such answers are found, and nothing is charged."""
    rows = {"b": [True, False], "c": ["u", "v"]}
    schema = {"b": sulq.Boolean(), "c": sulq.Category(["u", "v"], missing="u")}
    [node, other] = [f'{{"name":"{name}","node":"Column"}}' for name in "cb"]
    query = f'{{"beta":null,"by":[{node}],"statistic":"count","tolerance":null,"value":'
    query += f'{{"constant":1,"node":"Constant"}},"weight":"1","where":{other}}}'
    choice = f'{{"by":[],"choose":[{node}],"label":{other},"score":"majority","weight":"1"}}'
    former = f'{{"allowance":"1","round":{{"queries":[{query},{choice}],"share":"1/4"}}}}'
    stored = '{"sums": [[171, 0]], "choices": [[0]]}'

    curator = sulq.open(rows, schema).curator(epsilon=1, ledger=tmp_path / "people.ledger")
    curator.ledger.release("r", former, Fraction(1, 4), lambda: stored)
    asked = sulq.Round([sulq.count(where="b", by="c"), sulq.choose(["c"], label="b")], share=0.25)
    assert curator.afford(asked, run="r") is False, "it is paid already"
    assert curator.afford(asked, run="another") is True
    table, best = curator.ask(asked, run="r")
    assert table.value.tolist() == [171, 0] and best.value == 0
    assert curator.spent == Fraction(1, 4) and len(list(curator.ledger.entries())) == 2
    curator.ask(asked, run="another")
    assert curator.spent == Fraction(1, 2)


def test_a_charge_of_version_0_without_an_answer_is_answered_under_that_charge(tmp_path: Path) -> None:
    round_ = sulq.Round([sulq.count(where="b")], share=0.25)
    curator = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}).curator(
        epsilon=1, ledger=tmp_path / "people.ledger"
    )
    former = canonical({"round": former_form(round_), "allowance": "1"})
    with pytest.raises(ZeroDivisionError):
        curator.ledger.release("r", former, Fraction(1, 4), lambda: str(1 / 0))
    [answer] = curator.ask(round_, run="r")
    assert curator.spent == Fraction(1, 4) and curator.ask(round_, run="r")[0].value == answer.value
    assert {entry.question for entry in curator.ledger.entries()} == {former}


def test_chunks_that_version_0_took_are_taken_again(tmp_path: Path) -> None:
    """What a run took is known by the hash of the round's form."""
    round_ = sulq.Round([sulq.count(where="b"), sulq.count()])
    rows = {"b": np.arange(100) % 2 == 0}
    people = sulq.open(rows, {"b": sulq.Boolean()})
    curator = people.curator(epsilon=1, answering="chunks", queries=4, ledger=tmp_path / "people.ledger")
    key = digest(canonical(former_form(round_)))
    for chunk, number in ((0, 1), (1, 0)):
        name, cost = f"{digest('r')} {key} {number}", Fraction(1 if chunk == 0 else 0)
        curator.ledger.release(CHUNKS, json.dumps({"chunk": chunk}), cost, lambda name=name: name)
        former = canonical(
            {"release": {"chunk": chunk, "round": former_form(round_), "query": number}, "allowance": "1"}
        )
        stored = json.dumps({"sums": [[7 + number]], "choices": []})
        curator.ledger.release("r", former, Fraction(0), lambda stored=stored: stored)
    assert [answer.value for answer in curator.ask(round_, run="r")] == [28, 32]
    assert curator.left == 2


def test_no_former_text_is_made_for_a_ledger_that_todays_version_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Version 0 cannot write in it, and the text costs more than many an answer."""
    curator = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}).curator(epsilon=1)
    monkeypatch.setattr("sulq.oracles.curator.former_data", lambda form: 1 / 0)
    for share in (0.25, 0.5):
        round_ = sulq.Round([sulq.count(where="b")], share=share)
        assert curator.afford(round_)
        curator.ask(round_)
    assert curator.spent == Fraction(3, 4)


def test_a_question_of_version_0_is_found_after_others_of_today(tmp_path: Path) -> None:
    first, later, new = (sulq.Round([sulq.count(where="b")], share=share) for share in (0.125, 0.25, 0.5))
    curator = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}).curator(
        epsilon=1, ledger=tmp_path / "people.ledger"
    )
    for round_ in (first, later):
        former = canonical({"round": former_form(round_), "allowance": "1"})
        curator.ledger.release("r", former, Fraction(1, 8), lambda: '{"sums": [[171]], "choices": []}')
    curator.ask(new, run="r")
    assert [curator.ask(round_, run="r")[0].value for round_ in (first, later)] == [171, 171]


@pytest.mark.parametrize("accounting", ["zcdp", "gaussian"])
def test_a_ledger_of_an_epsilon_with_a_delta_goes_on_with_the_accounting_that_it_was_made_with(
    tmp_path: Path, accounting: Accounting
) -> None:
    """Earlier versions accounted by zCDP alone: the total is another, and no error says so."""
    people, path = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}), tmp_path / "people.ledger"
    round_ = sulq.Round([sulq.count(where="b")], share=0.5)
    former = sulq.ApproxDP(1, "1e-6", accounting)
    curator = people.curator(former, ledger=path)
    with curator.ledger:
        [answer] = curator.ask(round_)
        noises, total = curator.offer.terms(round_).noises, curator.offer.total
    again = people.curator(epsilon=1, delta="1e-6", ledger=path)
    with again.ledger:
        assert again.offer.total == total == former.total != sulq.ApproxDP(1, "1e-6").total
        assert again.offer.terms(round_).noises == noises
        assert again.ask(round_)[0].value == answer.value and again.spent == total / 2
        again.ask(round_, run="another")
        assert again.remaining == 0 and again.ledger.verify() == []
    assert Run(sulq.ID3("b"), people, sulq.ApproxDP(1, "1e-6"), ledger=path).offer.total == total


def test_sums_that_an_earlier_version_stored_are_in_whole_steps(tmp_path: Path) -> None:
    people, path = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}), tmp_path / "people.ledger"
    by_share = sulq.Round([sulq.count(where="b")], share=0.5)
    by_tolerance = sulq.Round([sulq.count(where="b", tolerance=20, beta=0.05)])
    curator = people.curator(epsilon=3, delta="1e-6", ledger=path)
    for round_ in (by_share, by_tolerance):
        question, _ = curator._question(round_)
        stored = '{"sums": [[7]], "choices": [], "jointly": true, "vectors": true}'
        curator.ledger.release("main", question, Fraction(1, 100), lambda stored=stored: stored)
        spent = curator.spent
        [answer] = curator.ask(round_)
        former = Gaussian(curator.offer.calibration.budget, finer=False)  # type: ignore[attr-defined]
        [law] = replace(curator.offer, calibration=former).laws(round_)
        assert answer.value == 7 and answer.law == law and law.step == 1 and curator.spent == spent
        [fresh] = curator.ask(round_, run="another")
        assert (fresh.law.step < 1) == (round_ is by_share)


@pytest.mark.parametrize("budget", [sulq.ZCDP(2), sulq.ApproxDP(8, "1e-6", "zcdp")])
def test_a_choice_that_an_earlier_version_stored_keeps_its_wider_bar(budget: Budget) -> None:
    """Earlier versions charged ε²/8 for the exponential mechanism, so that its ε was smaller."""
    names = ["a", "b", "c", "d"]
    schema = {name: sulq.Boolean() for name in names}
    curator = sulq.open({name: [True, False] for name in names}, schema).curator(budget)
    round_ = sulq.Round([sulq.choose(names[1:], label="a")], share="1/4")
    terms = curator.offer.terms(round_)
    stored = json.loads(curator._release(round_, terms))
    [new] = curator.offer.read(round_, terms, stored)
    [old] = curator.offer.read(
        round_, terms, {key: value for key, value in stored.items() if key != "vectors"}
    )
    assert 0.999 < float(old.law.epsilon**2 / 8 / terms.cost) <= 1
    assert old.law.epsilon < new.law.epsilon and old.radius(1e-40) > new.radius(1e-40)


def test_a_ledger_of_another_promise_is_refused_as_before(tmp_path: Path) -> None:
    people, path = sulq.open({"b": [True, False]}, {"b": sulq.Boolean()}), tmp_path / "people.ledger"
    people.curator(epsilon=1, delta="1e-6", ledger=path).ledger.close()
    with pytest.raises(LedgerError, match=r"the promise was \(ε, δ\) = \(1, 1e-06\) and is"):
        people.curator(epsilon=1, delta="1e-7", ledger=path)
    with pytest.raises(LedgerError, match=r"the budget was rho = .* and is rho = "):
        people.curator(epsilon=1, delta="1e-6", calibration="zcdp", ledger=path)
