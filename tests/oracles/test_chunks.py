"""A curator who deals rows to queries: no row is in two chunks, and what is charged is what one row can lose."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pytest

import sulq
from sulq.classes import Conjunctions
from sulq.classes.pick import Pick
from sulq.classes.solve import Solve
from sulq.errors import LedgerError
from sulq.ledger.ledger import Ledger
from sulq.oracles.curator import Curator

col = sulq.col
ROWS, CHUNKS = 1_003, 5
SCHEMA = sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Integer(0, 100), "town": sulq.Integer(0, 2)})
Answering = Literal["chunks", "printed"]


def people() -> sulq.Source:
    rng = np.random.default_rng(0)
    rows: dict[str, Any] = {
        "sick": rng.random(ROWS) < 0.3,
        "age": rng.integers(0, 101, ROWS),
        "town": rng.integers(0, 3, ROWS),
    }
    return sulq.open(rows, SCHEMA)


def asked(number: int) -> sulq.Round:
    return sulq.Round([sulq.mean(col("age") > number)])


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """The rows that every release looked at."""
    found: list[set[int]] = []
    release = Curator._release

    def spy(self: Any, *arguments: Any) -> str:
        found.append(set(self.source.columns.at.tolist()))
        return release(self, *arguments)

    monkeypatch.setattr(Curator, "_release", spy)
    return found


@pytest.mark.parametrize("answering", ["chunks", "printed"])
def test_no_row_is_in_two_chunks_also_when_the_ledger_is_opened_again(
    answering: Answering, looked: list[set[int]], tmp_path: Path
) -> None:
    rounds = [asked(1), sulq.Round([*asked(2).queries, *asked(3).queries]), asked(2)]
    for opened in range(3):
        curator = people().curator(1, ledger=tmp_path / "l", answering=answering, queries=CHUNKS)
        for round_ in rounds[: opened + 1]:
            curator.ask(round_)
        curator.ledger.close()
    people().curator(1, ledger=tmp_path / "l", answering=answering, queries=CHUNKS).ask(
        asked(1), "another run"
    )
    assert [len(rows) for rows in looked] == [ROWS // CHUNKS] * 5
    assert len(set().union(*looked)) == 5 * (ROWS // CHUNKS)


def test_the_whole_budget_is_charged_with_the_first_query_and_nothing_after() -> None:
    curator = people().curator(1, answering="chunks", queries=CHUNKS)
    assert curator.cost(asked(1)) == 1
    curator.ask(asked(1))
    assert curator.spent == 1
    assert curator.cost(asked(2)) == 0
    curator.ask(sulq.Round([sulq.count(by="town"), sulq.total(col("age"), where=col("sick"))]))
    curator.ask(sulq.Round([sulq.mean(col("age"), where=col("sick"))]))
    curator.ask(sulq.Round([sulq.choose(["sick", "age"], label="town")]))
    assert (curator.spent, curator.rounds, curator.queries) == (1, 4, 5)
    assert curator.ledger.verify() == []


def test_as_printed_every_query_is_charged_its_part() -> None:
    curator = people().curator(1, answering="printed", queries=CHUNKS)
    assert curator.cost(sulq.Round([*asked(1).queries, *asked(2).queries])) == Fraction(2, CHUNKS)
    for number in range(CHUNKS):
        curator.ask(asked(number))
        assert curator.spent == Fraction(number + 1, CHUNKS)


def test_noise_on_a_chunk_is_as_wide_as_on_all_rows_with_a_part_of_the_budget() -> None:
    """M/εn in both cases; as printed, M times that. ε is small, so that whole numbers do not matter."""
    round_ = sulq.Round([query for number in range(CHUNKS) for query in asked(number).queries], share=1)
    source = people()
    joint = source.curator(0.01).error(round_, 0.01)[0]
    chunk, printed = (
        source.curator(0.01, answering=how, queries=CHUNKS).error(round_, 0.01)[0]
        for how in ("chunks", "printed")
    )
    assert joint is not None and chunk is not None and printed is not None
    assert chunk == pytest.approx(joint, rel=0.01)
    assert printed == pytest.approx(CHUNKS * joint, rel=0.01)


def test_answers_are_as_good_as_they_say() -> None:
    """40 sources, each asked a mean and a count. A chunk of 200 rows is off by sampling 5.5 deviations with a chance
    below 4·10⁻⁸ (the counts are those of 200 independent draws), and by noise with 10⁻⁹ each. A count that
    was not scaled to all rows would be off by four fifths."""
    for _ in range(40):
        curator = people().curator(1, answering="chunks", queries=CHUNKS)
        age, sick = curator.ask(sulq.Round([sulq.mean(col("age")), sulq.count(where=col("sick"))]))
        assert abs(age.value - 50) <= age.radius(1e-9) + 5.5 * 29.2 / 200**0.5 + 1.5
        assert abs(sick.value / ROWS - 0.3) <= sick.radius(1e-9) / ROWS + 5.5 * (0.21 / 200) ** 0.5 + 0.02


def test_what_is_asked_again_is_answered_from_the_ledger(looked: list[set[int]], tmp_path: Path) -> None:
    answers = []
    for _ in range(2):
        curator = people().curator(1, ledger=tmp_path / "l", answering="chunks", queries=CHUNKS)
        answers += [curator.ask(asked(1))[0].value, curator.ask(asked(1))[0].value]
        curator.ledger.close()
    assert len(set(answers)) == 1
    assert len(looked) == 1


def test_after_a_crash_the_same_chunk_is_looked_at_under_the_old_charge(
    looked: list[set[int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    curator = people().curator(1, ledger=tmp_path / "l", answering="chunks", queries=CHUNKS)
    spied = Curator._release

    def crash(self: Any, *arguments: Any) -> str:
        spied(self, *arguments)
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(Curator, "_release", crash)
        with pytest.raises(sulq.errors.ReleaseError):
            curator.ask(asked(1))
    assert curator.spent == 1
    curator.ledger.close()
    again = people().curator(1, ledger=tmp_path / "l", answering="chunks", queries=CHUNKS)
    again.ask(asked(1))
    again.ask(asked(2))
    assert looked[0] == looked[1]
    assert not looked[1] & looked[2]
    assert again.spent == 1


def test_a_chunk_that_two_want_goes_to_one(looked: list[set[int]], tmp_path: Path) -> None:
    first, second = (
        people().curator(1, ledger=tmp_path / "l", answering="chunks", queries=CHUNKS) for _ in range(2)
    )
    for number, curator in enumerate([first, second, first, second]):
        curator.ask(asked(number))
    assert sum(map(len, looked)) == len(set().union(*looked))


def test_what_cannot_be_is_refused_with_nothing_spent(tmp_path: Path) -> None:
    source = people()
    curator = source.curator(1, answering="chunks", queries=2)
    with pytest.raises(sulq.BudgetError, match="chunks"):
        curator.ask(sulq.Round([asked(n).queries[0] for n in range(3)]))
    with pytest.raises(sulq.BudgetError, match="epsilon"):
        curator.ask(sulq.Round([sulq.mean(col("sick"), tolerance=0.001, beta=0.05)]))
    assert curator.spent == 0
    curator.ask(sulq.Round([sulq.mean(col("sick"), tolerance=0.1, beta=0.05)]))
    with pytest.raises(sulq.QueryError, match="no parts"):
        curator.part(0.5)
    with pytest.raises(sulq.QueryError, match="curator's own"):
        curator.ask(asked(1), run="(chunks)")
    wrong: list[dict[str, Any]] = [
        {"answering": "chunks"},
        {"answering": "chunks", "queries": 0},
        {"answering": "chunks", "queries": ROWS + 1},
        {"answering": "chunks", "queries": 2, "neighbours": "add-remove"},
        {"answering": "all at once"},
    ]
    for options in wrong:
        with pytest.raises(sulq.QueryError):
            source.curator(1, ledger=tmp_path / "never", **options)
    rows = {"sick": [True] * 4, "person": [1, 1, 2, 2]}
    several = sulq.open(rows, sulq.Schema({"sick": sulq.Boolean()}, sulq.Unit("person", rows=2)))
    with pytest.raises(sulq.QueryError, match="one row a person"):
        several.curator(1, ledger=tmp_path / "never", answering="chunks", queries=2)
    assert not (tmp_path / "never").exists()


def test_rows_without_a_fixed_order_are_not_dealt(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT range % 2 = 0 AS sick FROM range(100)")
    source = sulq.open(tmp_path / "people.duckdb", {"sick": sulq.Boolean()}, table="people")
    for ledger in (None, ":memory:"):
        with pytest.raises(sulq.QueryError, match="another order"):
            source.curator(1, ledger=ledger, answering="chunks", queries=2)
    assert not list(tmp_path.glob("*.ledger"))


def test_lines_of_a_csv_file_are_dealt_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sick\n" + "true\nfalse\n" * 50)
    source = sulq.open(tmp_path / "people.csv", {"sick": sulq.Boolean()})
    curator = source.curator(1, answering="chunks", queries=2)
    curator.ask(sulq.Round([sulq.count(where=sulq.col("sick"))]))
    assert (curator.spent, getattr(curator, "left", None)) == (1, 1)


def test_a_ledger_is_for_its_chunks_and_no_others(tmp_path: Path) -> None:
    people().curator(1, ledger=tmp_path / "l", answering="chunks", queries=2).ledger.close()
    for options in ({"answering": "chunks", "queries": 3}, {"answering": "printed", "queries": 2}, {}):
        with pytest.raises(sulq.errors.LedgerError):
            people().curator(1, ledger=tmp_path / "l", **options)  # type: ignore[arg-type]
    with Ledger.read(tmp_path / "l") as ledger:
        assert ledger.facts["chunks"] == 2


@pytest.mark.parametrize("answering", ["chunks", "printed"])
def test_a_learner_runs_on_it_with_wrong_labels_as_well(answering: Answering) -> None:
    rng = np.random.default_rng(1)
    bits = rng.random((3, 60_000)) < 0.6
    rows = {f"x{j}": bits[j] for j in range(3)} | {"y": (bits[0] & bits[1]) ^ (rng.random(60_000) < 0.2)}
    source = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    curator = source.curator(2, answering=answering, queries=3)
    rule = sulq.Conjunction("y", error=0.2, confidence="0.999999").learn(curator.denoised("y", 0.2))
    assert rule.describe() == "x0 and x1"


def test_a_unit_is_refused_because_it_moves_other_rows_and_so_are_the_curators_own_runs() -> None:
    rows = {"who": np.arange(40), "sick": np.arange(40) % 2 == 0}
    schema = sulq.Schema({"sick": sulq.Boolean()}, unit=sulq.Unit("who", rows=1))
    with pytest.raises(sulq.QueryError, match="unit"):
        sulq.open(rows, schema).curator(epsilon=1, answering="chunks", queries=2)
    plain = sulq.open({"sick": rows["sick"]}, {"sick": sulq.Boolean()})
    curator = plain.curator(epsilon=1, answering="chunks", queries=2)
    for run in ("(chunks)", "(order)"):
        with pytest.raises(sulq.QueryError, match="own"):
            curator.ask(sulq.Round([sulq.count()]), run)


def test_a_chunk_is_not_asked_again_when_a_list_in_its_question_changes() -> None:
    names = ["sick"]
    question = sulq.Round([Pick(Conjunctions(names), col("age") > 50)])
    curator = people().curator(1, answering="chunks", queries=CHUNKS)
    curator.ask(question)
    names[0] = "well"
    before = len(list(curator.ledger.entries()))
    curator.ask(question)
    assert len(list(curator.ledger.entries())) == before


@pytest.mark.parametrize("answering", ["chunks", "printed"])
def test_a_chunk_is_charged_to_the_analyst_who_takes_it(answering: Answering) -> None:
    curator = people().curator(1, answering=answering, queries=CHUNKS)
    curator.ledger.set_cap("analyst:bob", Fraction(1, 100))
    with pytest.raises(sulq.BudgetError, match="analyst:bob"):
        curator.for_analyst("bob").ask(asked(1))
    assert (curator.spent, curator.left) == (0, CHUNKS)
    curator.for_analyst("ada").ask(asked(1))
    assert curator.ledger.spent_of("analyst:ada") == curator.spent > 0


def test_a_name_that_is_no_analyst_is_refused_before_a_chunk_is_taken() -> None:
    curator = people().curator(1, answering="chunks", queries=CHUNKS)
    with pytest.raises(LedgerError, match="one analyst"):
        curator.for_analyst("").ask(asked(1))
    assert (curator.spent, curator.left) == (0, CHUNKS)


def test_an_error_that_is_a_share_of_the_population_is_not_scaled_to_all_rows() -> None:
    features = (col("sick"), col("age") > 50)
    question = sulq.Round([Solve(features, col("town") == 1, error=Fraction(1, 2))])
    curator = people().curator(9, answering="chunks", queries=CHUNKS)
    assert curator.error(question, 0.1) == [curator.ask(question)[0].radius(0.1)] == [0.5]
