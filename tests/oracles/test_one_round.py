"""The papers' noninteractive models: whoever answers one round refuses a second, and asks and spends nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.errors import AdaptivityError
from sulq.local import LocalRandomness, RandomizedResponse
from sulq.serve.trial import trial
from sulq.talk.offer import Offer
from sulq.theory import Call, Calls, run_locally, simulated
from tests.oracles.curators import people

FIRST = sulq.Round([sulq.count(where="a")], share="1/4")
SECOND = sulq.Round([sulq.count(where="b")], share="1/4")
TOLD = "answers one round, and was asked a second"

ORACLES: dict[str, Callable[[bool], Any]] = {
    "exact": lambda many: people().exact(interactive=many),
    "curator": lambda many: people().curator(epsilon=1, interactive=many),
    "curator with rows that come or go": lambda many: people().curator(
        epsilon=1, neighbours="add-remove", interactive=many
    ),
    "curator in rho": lambda many: people().curator(rho=1, interactive=many),
    "SuLQ database": lambda many: people().curator(
        epsilon=1, calibration="sulq-laplace", queries=9, interactive=many
    ),
    "chunks": lambda many: people().curator(epsilon=1, answering="chunks", queries=4, interactive=many),
    "denoised": lambda many: people().curator(epsilon=1, interactive=many).denoised("y", 0.1),
    "sample": lambda many: people().sample(interactive=many),
    "sample of all rows": lambda many: people().sample(fresh=False, interactive=many),
    "crowd": lambda many: people().crowd(epsilon=1, interactive=many),
}


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_a_second_round_is_refused_and_the_first_is_answered_again(make: Callable[[bool], Any]) -> None:
    oracle = make(False)
    [first] = oracle.ask(FIRST)
    spent = getattr(oracle, "spent", None)
    for round_, run in ((SECOND, "main"), (FIRST, "another run"), (SECOND, "another run")):
        for refused in (oracle.afford, oracle.ask):
            with pytest.raises(AdaptivityError, match=TOLD):
                refused(round_, run)
    oracle.afford(FIRST)
    assert getattr(oracle, "spent", None) == spent
    assert [answer.value for answer in oracle.ask(FIRST)] == [first.value]
    several = make(True)
    assert len(several.ask(FIRST)) == len(several.ask(SECOND)) == 1
    several.afford(SECOND, "another run")


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_a_learner_of_one_round_is_refused_beforehand_if_the_round_is_gone(
    make: Callable[[bool], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = make(False)
    oracle.ask(FIRST)
    monkeypatch.setattr(type(oracle), "ask", lambda *_: pytest.fail("it was asked"))
    with pytest.raises(AdaptivityError, match=TOLD):
        sulq.Table(by=["b"], share="1/4").learn(oracle)


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_a_refused_round_is_not_the_one(make: Callable[[bool], Any]) -> None:
    oracle = make(False)
    with pytest.raises(sulq.SulqError, match="no column"):
        oracle.ask(sulq.Round([sulq.count(where="nobody knows")], share="1/4"))
    assert len(oracle.ask(FIRST)) == 1


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("answer", ["no", 0, None], ids=repr)
def test_whether_there_is_a_second_round_is_yes_or_no(make: Callable[[Any], Any], answer: object) -> None:
    """What Python takes for true would be taken for a yes."""
    with pytest.raises(sulq.QueryError, match="interactive must be True or False"):
        make(answer)
    with pytest.raises(sulq.QueryError, match="interactive must be True or False"):
        LocalRandomness([1], epsilon=1, interactive=answer)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_a_learner_of_several_rounds_is_refused_before_its_first(make: Callable[[bool], Any]) -> None:
    oracle = make(False)
    with pytest.raises(AdaptivityError, match=TOLD):
        sulq.PCA(1).learn(oracle)
    assert oracle.rounds == 0
    assert len(oracle.ask(FIRST)) == 1, "its one round is still there"


@pytest.mark.parametrize("who", ["curator", "crowd", "sample of all rows"])
def test_a_learner_that_runs_again_and_again_is_refused_before_its_first_run(who: str) -> None:
    """For every rate of wrong labels it asks a round by tolerances, and at last one more."""
    oracle = ORACLES[who](False)
    learner = sulq.Conjunction("y", ["a", "b"], error="0.9", confidence="0.6")
    with pytest.raises(AdaptivityError, match=TOLD):
        sulq.learn_at_unknown_rate(learner, oracle, "y", [0, "0.1"])
    assert oracle.rounds == 0


def test_masked_parity_by_tolerances_needs_its_second_round() -> None:
    domain = sulq.theory.masked_parity_domain((1, 0, 1, 1), 1)
    rows = sulq.open(domain, sulq.theory.masked_parity_schema(4))
    with pytest.raises(AdaptivityError, match=TOLD):
        sulq.theory.MaskedParity().learn(rows.exact(interactive=False))
    assert sulq.theory.MaskedParity(adaptive=False).learn(rows.exact(interactive=False)).mask is None


def test_parts_and_analysts_of_a_curator_have_one_round_together() -> None:
    curator = people().curator(epsilon=1, interactive=False)
    half = curator.part("1/2")
    half.ask(FIRST)
    for other in (curator, curator.for_analyst("ada"), half):
        with pytest.raises(AdaptivityError):
            other.ask(SECOND)


def test_of_many_who_ask_at_once_one_is_answered() -> None:
    curator = people().curator(epsilon=1, interactive=False)
    rounds = [sulq.Round([sulq.count(where=sulq.col("age") < edge)], share="1/20") for edge in range(1, 9)]

    def answered(round_: sulq.Round) -> bool:
        try:
            return bool(curator.ask(round_))
        except AdaptivityError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(answered, rounds)) == 1
    assert curator.spent * 20 == 1


def test_the_one_round_of_a_ledger_stays_the_only_one(tmp_path: Path) -> None:
    place = tmp_path / "ledger"
    with people().curator(epsilon=1, ledger=place, interactive=False).ledger:
        pass
    curator = people().curator(epsilon=1, ledger=place, interactive=False)
    [first] = curator.ask(FIRST)
    curator.ledger.close()
    again = people().curator(epsilon=1, ledger=place, interactive=False)
    assert [answer.value for answer in again.ask(FIRST)] == [first.value]
    with pytest.raises(AdaptivityError):
        again.ask(SECOND)
    again.ledger.close()
    with pytest.raises(sulq.errors.LedgerError, match="made for something else"):
        people().curator(epsilon=1, ledger=place)


def test_a_round_that_costs_too_much_is_not_the_one() -> None:
    curator = people().curator(epsilon=1, interactive=False)
    with pytest.raises(sulq.BudgetError):
        curator.ask(sulq.Round([sulq.count(where="a", tolerance="1/10", beta="1e-6")]))
    assert len(curator.ask(FIRST)) == 1


@pytest.mark.parametrize("cap", ["run:main", "run:*", "analyst:ada", "analyst:*"])
def test_a_round_that_a_cap_refuses_is_not_the_one(cap: str) -> None:
    curator = people().curator(epsilon=1, interactive=False).for_analyst("ada")
    curator.ledger.set_cap(cap, Fraction(1, 4))
    with pytest.raises(sulq.BudgetError):
        curator.ask(sulq.Round([sulq.count(where="a")], share="1/2"))
    assert len(curator.ask(FIRST)) == 1 and len(curator.ask(FIRST)) == 1
    with pytest.raises(AdaptivityError):
        curator.ask(SECOND)


@pytest.mark.parametrize("way", ["chunks", "printed"])
def test_a_round_of_more_queries_than_there_are_chunks_is_not_the_one(way: Any) -> None:
    curator = people().curator(epsilon=1, answering=way, queries=2, interactive=False)
    three = [sulq.count(where=name) for name in ("a", "b", "y")]
    with pytest.raises(sulq.BudgetError, match="chunks"):
        curator.ask(sulq.Round(three))
    assert curator.spent == 0
    answers = curator.ask(sulq.Round(three[:2]))
    assert [each.value for each in curator.ask(sulq.Round(three[:2]))] == [each.value for each in answers]
    with pytest.raises(AdaptivityError):
        curator.ask(sulq.Round(three[2:]))


def test_chunks_that_a_cap_refuses_are_not_the_one_round() -> None:
    curator = people().curator(epsilon=1, answering="chunks", queries=4, interactive=False)
    curator.ledger.set_cap("run:*", Fraction(1, 2))
    with pytest.raises(sulq.BudgetError):
        curator.ask(FIRST)
    curator.ledger.set_cap("run:*", Fraction(1))
    assert len(curator.ask(FIRST)) == 1


@pytest.mark.parametrize("who", ["curator", "chunks"])
@pytest.mark.parametrize("run", [7, None, "\ud800"])
def test_a_round_of_what_names_no_run_is_not_the_one(who: str, run: Any) -> None:
    oracle = ORACLES[who](False)
    with pytest.raises(sulq.errors.SulqError):
        oracle.ask(FIRST, run)
    assert len(oracle.ask(FIRST)) == 1


def test_the_curators_own_run_has_a_name_that_nobody_else_takes() -> None:
    with pytest.raises(sulq.QueryError, match="is the curator's own"):
        people().curator(epsilon=1).ask(FIRST, "(one round)")


def test_a_noninteractive_lr_oracle_hears_all_calls_at_once() -> None:
    half = RandomizedResponse("1/2")
    oracle = LocalRandomness([True, False, True], epsilon=1, interactive=False)
    assert len(oracle.ask_at_once([(i, half, bool) for i in (0, 0, 1, 2)])) == 4
    assert [oracle.spent(i) for i in range(3)] == [1.0, 0.5, 0.5]
    with pytest.raises(AdaptivityError, match="make all calls at once"):
        oracle.ask(1, half)
    assert oracle.spent(1) == 0.5


def test_calls_at_once_are_charged_together_or_not_at_all() -> None:
    looked: list[Any] = []
    oracle = LocalRandomness([True, False], epsilon=1, interactive=False)
    with pytest.raises(sulq.BudgetError):
        oracle.ask_at_once([(1, RandomizedResponse(1), looked.append), (0, RandomizedResponse(2), bool)])
    assert looked == [] and oracle.spent(1) == 0
    assert len(oracle.ask_at_once([(1, RandomizedResponse(1), bool)])) == 1


def twice() -> Calls[int]:
    flip = Call(0, RandomizedResponse("1/2"), sulq.col("a"))
    reports = yield [flip]
    reports += yield [flip]
    return len(reports)


def once() -> Calls[int]:
    reports = yield [Call(i, RandomizedResponse("1/2"), sulq.col("a")) for i in range(3)]
    return len(reports)


def test_protocols_are_interactive_or_refused() -> None:
    for run in (
        lambda protocol, many: run_locally(protocol, people(), 1, interactive=many),
        lambda protocol, many: (
            simulated(protocol, people().exact(), epsilon=1, calls=3, beta=0.1, interactive=many).result
        ),
    ):
        assert run(once, False) == 3 and run(twice, True) == 2
        with pytest.raises(AdaptivityError, match=TOLD):
            run(twice, False)


def test_a_noninteractive_protocol_is_simulated_by_nonadaptive_queries() -> None:
    """Claim 5.9: the oracle is asked one round."""
    done = simulated(once, people().exact(interactive=False), epsilon=1, calls=3, beta=0.1, interactive=False)
    assert done.rounds == 1


def test_a_simulation_states_no_distance_that_one_sample_cannot_keep() -> None:
    """All rows answer all questions there, which keeps tolerances for one round only."""
    many = people(300_000)
    sample = many.sample(fresh=False)
    assert simulated(once, sample, epsilon=1, calls=3, beta=0.9).distance == 0.9
    for oracle in (many.sample(fresh=False), many.sample(fresh=False).denoised("y", 0.1)):
        with pytest.raises(AdaptivityError, match="takes a second round"):
            simulated(twice, oracle, epsilon=1, calls=2, beta=0.9)


def test_protocols_beyond_a_persons_epsilon_are_refused_before_any_query() -> None:
    """Definition 5.3: the ε of all calls to one person add up to no more than ε."""
    oracle = people().exact()
    with pytest.raises(sulq.BudgetError):
        simulated(twice, oracle, epsilon="9/10", calls=2, beta=0.1)
    assert oracle.rounds == 1, "the first call was within it"

    def greedy() -> Calls[int]:
        reports = yield [Call(0, RandomizedResponse(2), sulq.col("a"))]
        return len(reports)

    fresh = people().exact()
    with pytest.raises(sulq.BudgetError):
        simulated(greedy, fresh, epsilon=1, calls=1, beta=0.1)
    assert fresh.rounds == 0


def test_elsewhere_it_is_one_round_too_and_nothing_is_spent_on_half_a_run() -> None:
    curator = people().curator(epsilon=1, interactive=False)
    with trial(people=curator) as (url, key):
        remote = sulq.connect(url, key, "people")
        with pytest.raises(AdaptivityError, match=TOLD):
            sulq.PCA(1).learn(remote)
        assert remote.spent == 0
        [first] = remote.ask(FIRST)
        spent = remote.spent
        assert [answer.value for answer in remote.ask(FIRST)] == [first.value]
        for refused in (remote.ask, remote.afford):
            with pytest.raises(AdaptivityError, match=TOLD):
                refused(SECOND)
        assert remote.spent == spent


def test_an_offer_says_that_there_is_one_round_and_only_then() -> None:
    once, often = (people().curator(epsilon=1, interactive=each).offer for each in (False, True))
    assert Offer.from_json(once.to_json()) == once and Offer.from_json(often.to_json()) == often
    assert "interactive" not in often.form and once.form["interactive"] is False
    with pytest.raises(sulq.QueryError, match="interactive"):
        Offer.of(once.form | {"interactive": "no"})
