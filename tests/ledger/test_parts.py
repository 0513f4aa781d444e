"""A part of a budget that is handed out is taken away for good, and is a limit for whoever has it."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import sulq
from sulq.errors import BudgetError, LedgerError
from sulq.ledger.ledger import Ledger
from sulq.ledger.parts import Part
from tests.ledger.ledgers import COST, never, opened, token
from tests.oracles.curators import people

col = sulq.col
TENTHS = [Fraction(number, 10) for number in range(11)]


def ask(ledger: Ledger, part: Part, question: str, cost: Fraction, run: str = "run") -> str:
    return part.release(ledger, run, question, cost, token)


@pytest.mark.parametrize("spends", [False, True])
def test_two_parts_are_disjoint_and_the_rest_is_what_is_left(spends: bool) -> None:
    ledger = opened(None)
    whole = ledger.whole
    one, other = whole.hand_out(TENTHS[3]), whole.hand_out(TENTHS[3])
    if spends:
        ask(ledger, one, "q", TENTHS[3])
        ask(ledger, other, "r", TENTHS[1])
    assert whole.remaining(ledger) == TENTHS[4]
    with pytest.raises(BudgetError) as refused:
        ask(ledger, whole, "s", TENTHS[5])
    assert refused.value.remaining == TENTHS[4]
    ask(ledger, whole, "s", TENTHS[4])
    assert (whole.remaining(ledger), other.remaining(ledger)) == (0, TENTHS[2 if spends else 3])
    ask(ledger, other, "t", other.remaining(ledger))
    assert other.remaining(ledger) == 0


def test_a_part_is_refused_if_more_is_asked_than_is_left() -> None:
    ledger = opened(None)
    ledger.whole.hand_out(TENTHS[6])
    ask(ledger, ledger.whole, "q", TENTHS[2])
    with pytest.raises(
        BudgetError, match=r"the part of epsilon = 0\.3 exceeds what is left, 0\.2, by 0\.1"
    ) as refused:
        ledger.whole.hand_out(TENTHS[3])
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert ledger.whole.hand_out(TENTHS[2]).remaining(ledger) == TENTHS[2]
    assert ledger.whole.remaining(ledger) == 0


def test_parts_of_parts_are_taken_from_them_alone() -> None:
    ledger = opened(None)
    half = ledger.whole.hand_out(TENTHS[5])
    quarter = half.hand_out(TENTHS[5])
    assert [part.remaining(ledger) for part in (ledger.whole, half, quarter)] == [
        TENTHS[5],
        Fraction(1, 4),
        Fraction(1, 4),
    ]
    ask(ledger, quarter, "q", Fraction(1, 4))
    with pytest.raises(BudgetError):
        ask(ledger, half, "r", TENTHS[3])
    ask(ledger, half, "r", Fraction(1, 4))
    assert [part.remaining(ledger) for part in (ledger.whole, half, quarter)] == [TENTHS[5], 0, 0]


def test_what_others_spend_is_not_taken_from_what_was_handed_out(tmp_path: Path) -> None:
    """Another run has spent half before: what is left of the whole is less the part, not the part less that."""
    with opened(tmp_path / "ledger") as other:
        other.release("earlier", "q", TENTHS[5], token)
    ledger = opened(tmp_path / "ledger")
    part = ledger.whole.hand_out(TENTHS[3])
    assert (ledger.whole.remaining(ledger), part.remaining(ledger)) == (TENTHS[2], TENTHS[3])
    with pytest.raises(BudgetError):
        ask(ledger, ledger.whole, "r", TENTHS[3])
    ask(ledger, ledger.whole, "r", TENTHS[2])
    ask(ledger, part, "s", TENTHS[3])
    assert ledger.remaining == 0


def program(path: Path, after: int) -> tuple[list[str], Ledger, list[Part]]:
    """A program that hands out two parts, and asks in turn through them and the whole, so many times."""
    ledger = opened(path)
    whole = ledger.whole
    parts = [whole, whole.hand_out(TENTHS[3]), whole.hand_out(TENTHS[3])]
    turns = [(part, f"{name} {turn}") for turn in range(3) for name, part in enumerate(parts)]
    return [ask(ledger, part, question, COST) for part, question in turns[:after]], ledger, parts


@pytest.mark.parametrize("stopped", range(10))
def test_a_program_that_is_started_again_gets_its_answers_and_meets_the_same_limits(
    tmp_path: Path, stopped: int
) -> None:
    before, ledger, _ = program(tmp_path / "ledger", stopped)
    ledger.close()
    after, ledger, (whole, *parts) = program(tmp_path / "ledger", 9)
    assert after[:stopped] == before
    assert ledger.spent == 9 * COST
    assert [part.remaining(ledger) for part in parts] == [0, 0]
    for part in parts:
        with pytest.raises(BudgetError):
            ask(ledger, part, "one more", COST)
    assert whole.remaining(ledger) == COST
    ask(ledger, whole, "the last", COST)
    assert (ledger.remaining, ledger.verify()) == (0, [])
    again, ledger, _ = program(tmp_path / "ledger", 9)
    assert again == after, "and once more, when nothing is left at all"


def test_a_part_that_is_handed_out_again_is_kept_free_until_it_asks_its_questions_again(
    tmp_path: Path,
) -> None:
    _, ledger, _ = program(tmp_path / "ledger", 9)
    ledger.close()
    ledger = opened(tmp_path / "ledger")
    part = ledger.whole.hand_out(TENTHS[3])
    assert ledger.whole.remaining(ledger) == 0
    for turn in range(3):
        ask(ledger, part, f"1 {turn}", COST)
    assert ledger.whole.remaining(ledger) == ledger.remaining == COST


def test_what_a_part_was_refused_or_not_charged_is_its_own_again() -> None:
    ledger = opened(None)
    tenth = ledger.whole.hand_out(COST)
    ledger.release("run", "q", TENTHS[10], token)  # straight from the ledger, past all parts
    with pytest.raises(BudgetError):
        ask(ledger, tenth, "r", COST)
    assert tenth.left == COST


def test_a_question_that_failed_after_its_charge_stays_counted() -> None:
    ledger = opened(None)
    tenth = ledger.whole.hand_out(COST)

    def fail() -> str:
        raise sulq.errors.ReleaseError

    with pytest.raises(sulq.errors.ReleaseError):
        tenth.release(ledger, "run", "q", COST, fail)
    assert tenth.left == 0
    assert tenth.release(ledger, "run", "q", COST, lambda: "42") == "42"


def test_threads_of_a_whole_and_its_parts_spend_all_of_it_and_each_no_more_than_its_own() -> None:
    for _ in range(10):
        ledger = opened(None)
        parts = [ledger.whole.hand_out(TENTHS[3]), ledger.whole.hand_out(TENTHS[3]), ledger.whole]
        start = threading.Barrier(6)

        def work(
            number: int, ledger: Ledger = ledger, parts: list[Part] = parts, start: threading.Barrier = start
        ) -> int:
            start.wait()
            released = 0
            for turn in range(4):
                try:
                    ask(ledger, parts[number % 3], f"{number} {turn}", COST)
                    released += 1
                except BudgetError:
                    pass
            return released

        with ThreadPoolExecutor(6) as pool:
            released = list(pool.map(work, range(6)))
        assert [released[number] + released[number + 3] for number in range(3)] == [3, 3, 4]
        assert (ledger.remaining, ledger.verify()) == (0, [])


def test_a_whole_that_has_no_parts_is_limited_by_the_ledger_alone() -> None:
    """A stored answer is free, also if the same question would cost more today than is left."""
    ledger = opened(None)
    ledger.release("run", "q", COST, lambda: "42")
    assert ledger.whole.release(ledger, "run", "q", Fraction(3), never) == "42"
    assert ledger.whole.remaining(ledger) == TENTHS[9]


def test_a_part_cannot_be_copied() -> None:
    with pytest.raises(LedgerError, match="a part of a budget in memory cannot be copied"):
        pickle.dumps(Part("epsilon", COST))


def test_account_and_former_text_pass_through_a_part() -> None:
    ledger = opened(None)
    ledger.set_cap("analyst:ada", COST)
    ledger.release("run", "old", COST, lambda: "42")
    half = ledger.whole.hand_out(TENTHS[5])
    assert half.release(ledger, "run", "new", COST, never, formerly="old") == "42"
    with pytest.raises(BudgetError) as refused:
        half.release(ledger, "run", "dear", TENTHS[2], never, account="analyst:ada")
    assert refused.value.account == "analyst:ada"
    assert half.left == TENTHS[4]


def test_a_curators_parts_are_taken_from_it_by_shares_and_by_tolerances() -> None:
    curator = people().curator(epsilon=1)
    one, other = curator.part("3/10"), curator.part("3/10")
    assert (one.remaining, other.remaining, curator.remaining) == (TENTHS[3], TENTHS[3], TENTHS[4])
    with pytest.raises(BudgetError):
        curator.part("1/2")
    close = sulq.Round([sulq.count(where=col("a"), tolerance=6, beta="0.05")])
    assert TENTHS[4] < curator.cost(close) < 1
    for asked in (one, curator):
        with pytest.raises(BudgetError):
            asked.ask(close)
    with pytest.raises(BudgetError):
        curator.ask(sulq.Round([sulq.count(where=col("a"))], share="1/2"))
    curator.ask(sulq.Round([sulq.count(where=col("a"))], share="4/10"))
    other.ask(sulq.Round([sulq.count(where=col("b"))], share=1))
    assert (one.remaining, other.remaining, curator.remaining) == (TENTHS[3], 0, 0)
    one.ask(sulq.Round([sulq.count(where=col("b"))], share=1), run="another")
    assert curator.spent == 1


@pytest.mark.parametrize("share", [Fraction(-5), Fraction(0), Fraction(3, 2)])
def test_a_share_that_is_none_is_not_handed_out(share: Fraction) -> None:
    part = opened(None).whole.hand_out(TENTHS[5])
    with pytest.raises(sulq.QueryError, match="share must be a positive"):
        part.hand_out(share)
    assert part.left == TENTHS[5]


def test_a_question_that_another_thread_counted_leaves_the_parts_their_own_too() -> None:
    ledger = opened(None)
    whole = ledger.whole
    whole.hand_out(TENTHS[6])
    ledger.release("elsewhere", "q", TENTHS[3], token)
    assert whole.take("run", "r", TENTHS[2])  # by a thread that is about to be refused
    with pytest.raises(BudgetError):
        ask(ledger, whole, "r", TENTHS[2])
    assert ledger.spent == TENTHS[3]


def test_a_question_stays_counted_if_one_thread_is_refused_and_another_is_charged() -> None:
    part = Part("epsilon", TENTHS[5])

    class Racing:
        """A ledger that refuses one thread. Before that one knows, another asks the same and is charged."""

        remaining = Fraction(1)
        calls = 0

        def release(self, *_: object, **__: object) -> str:
            self.calls += 1
            if self.calls == 1:
                raise LedgerError("the file is locked")
            return "answer"

        def charged(self, run: str, question: str, *, formerly: str | None = None) -> bool:
            assert part.release(self, run, question, COST, token) == "answer"
            return False  # as it was when the first thread looked

    with pytest.raises(LedgerError):
        part.release(Racing(), "run", "q", COST, token)
    assert part.left == TENTHS[5] - COST
