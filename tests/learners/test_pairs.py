"""Pairs: one release of two-way tables, and models that cost nothing more."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sulq
from sulq.hypotheses import AdditiveModel, LinearModel
from sulq.hypotheses.pairs.release import PairsRelease
from sulq.talk.answers import Answer
from tests.effort import long

ROWS = 4_000
SCHEMA: dict[str, Any] = {
    "town": sulq.Category(["a", "b", "c"], missing="a"),
    "sick": sulq.Boolean(),
    "age": sulq.Integer(0, 99),
    "pay": sulq.Real(0, 100_000),
    "born": sulq.Date("1900-01-01", "1999-12-31"),
    "person": sulq.Integer(0, ROWS),
}
COLUMNS = ["town", "sick", "age", "pay", "born"]


@cache
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    town, age = rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1]), rng.integers(0, 100, ROWS)
    pay = np.minimum(100_000, 100 * age * (1 + (town == "b")) + rng.exponential(300, ROWS))
    sick = rng.random(ROWS) < 1 / (1 + np.exp(-(age / 20 - 3 + 2 * (town == "c"))))
    born = pd.Timestamp("1900-01-01") + pd.to_timedelta(36_000 - 360 * age, unit="D")
    columns = {"town": town, "sick": sick, "age": age, "pay": pay, "born": born}
    return pd.DataFrame(columns | {"person": np.arange(ROWS) // 2})


def people(unit: bool = False, rows: int = ROWS) -> sulq.Source:
    """The rows, whether or not a person has two of them."""
    kinds = SCHEMA if unit else {name: SCHEMA[name] for name in COLUMNS}
    return sulq.open(frame()[:rows], sulq.Schema(kinds, sulq.Unit("person", 2) if unit else None))


@cache
def release(epsilon: str = "1") -> PairsRelease:
    return sulq.Pairs().learn(people().curator(epsilon=epsilon, delta="1e-6"))


@cache
def exact() -> PairsRelease:
    return sulq.Pairs().learn(people().exact())


CURATORS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": 1},
    "approximate": {"epsilon": 1, "delta": "1e-6"},
    "concentrated": {"rho": "1/10"},
    "add-remove": {"epsilon": 1, "delta": "1e-6", "neighbours": "add-remove"},
}


@pytest.mark.parametrize("rows", [0, 1, ROWS])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("settings", CURATORS.values(), ids=CURATORS)
def test_every_promise_gives_a_release_and_its_models(
    settings: dict[str, Any], unit: bool, rows: int
) -> None:
    made = sulq.Pairs().learn(people(unit, rows).curator(**settings))
    assert made.names == tuple(COLUMNS)
    for pair in made.pairs:
        assert np.isfinite(made.table(*pair).value).all()
    assert len(made.sample(7, seed=1)) == 7
    assert len(made.tree("town").predict(frame()[:5])) == 5
    for name in {name for pair in made.pairs for name in pair}:
        assert len(made.naive_bayes(name).predict(frame()[:5])) == 5
    assert made.describe() and made.picture().startswith("<svg") and made.outlook


@pytest.mark.parametrize("oracle", ["exact", "crowd", "sample", "denoised"])
def test_every_oracle_answers_it(oracle: str) -> None:
    source = people()
    asked = {
        "exact": source.exact,
        "crowd": lambda: source.crowd(epsilon=4),
        "sample": source.sample,
        "denoised": lambda: source.curator(epsilon=4).denoised("sick", "0.1"),
    }[oracle]()
    made = sulq.Pairs(["town", "sick", "age"]).learn(asked)
    assert made.pairs == (("town", "sick"), ("town", "age"), ("sick", "age"))
    assert made.table("town", "sick").value.shape == (3, 2)


def test_exact_tables_are_those_of_the_rows() -> None:
    made, rows = exact(), frame()
    counted = pd.crosstab(rows["town"], rows["sick"]).to_numpy()
    assert np.allclose(made.table("town", "sick").value, counted)
    assert np.allclose(made.table("sick", "town").value, counted.T)
    assert made.table("town", "sick").radius(0.05) == 0
    edges = next(column for column in made.columns if column.name == "age").edges
    ages = np.searchsorted(edges, rows["age"], side="right")
    assert np.allclose(made.table("age", "sick").value, pd.crosstab(ages, rows["sick"]).to_numpy())


def test_noisy_tables_are_within_their_errors() -> None:
    """Two tables, at β = 10^-7 each: a false alarm in five million runs at most."""
    made, rows = sulq.Pairs().learn(people().curator(epsilon=1)), frame()
    counted = pd.crosstab(rows["town"], rows["sick"]).to_numpy()
    answer = made.table("town", "sick")
    assert np.abs(answer.value - counted).max() <= answer.radius(1e-7)
    positive = made.table("town", "sick", positive=True)
    assert (positive.value >= 0).all()
    assert np.abs(positive.value - counted).max() <= positive.radius(1e-7)


def test_columns_have_the_same_counts_in_all_tables() -> None:
    made = release()
    for one, other in made.pairs:
        table = made.table(one, other)
        assert np.allclose(table.value.sum(axis=1), made.counts(one).value)
        assert np.allclose(table.value.sum(axis=0), made.counts(other).value)


def test_a_release_comes_back_from_text_and_from_a_pickle() -> None:
    made = release()
    for copy in (sulq.Hypothesis.from_json(made.to_json()), pickle.loads(pickle.dumps(made))):
        assert copy == made
        assert copy.additive("sick") == made.additive("sick")
    answer = made.table("age", "sick")
    again = Answer.from_json(answer.to_json())
    assert again.radius(0.05) == answer.radius(0.05) and again.deviation == answer.deviation


def test_a_hundred_models_leave_the_ledger_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with people().curator(epsilon=1, ledger=path).ledger as ledger:
        pass
    curator = people().curator(epsilon=1, ledger=path)
    with curator.ledger as ledger:
        made = sulq.Pairs(["town", "sick", "age"], share="1/2").learn(curator)
        before, spent = len(list(ledger.entries())), curator.remaining
        models: list[sulq.Hypothesis] = [made.additive("sick"), made.additive("age"), made.linear("age")]
        models += [make(name) for name in made.names for make in (made.naive_bayes, made.tree)] * 16
        rows = made.sample(100)
        assert len(models) + len(rows) > 100
        assert (len(list(ledger.entries())), curator.remaining) == (before, spent)
    for model in models:
        assert made.origin is not None and model.origin is not None
        assert model.origin.learner == "Pairs, post-processing of a release, no charge"
        assert replace(model.origin, learner="Pairs") == made.origin
        assert model.origin is not None and model.origin.promise == "ε = 1 (pure)"


@long
def test_models_tell_what_the_rows_say() -> None:
    made, rows = release("100"), frame()
    truth = rows["sick"].to_numpy()
    usual = max(truth.mean(), 1 - truth.mean())
    for model in (made.additive("sick"), made.naive_bayes("sick"), made.tree("sick")):
        assert (model.predict(rows) == truth).mean() > usual + 0.08
        likely = model.predict_proba(rows)
        assert np.allclose(likely.sum(axis=1), 1)
        assert abs(likely[:, 1].mean() - truth.mean()) < 0.08
    pay = rows["pay"].to_numpy()
    for number in (made.additive("pay"), made.linear("pay")):
        left = np.mean((number.predict(rows) - pay) ** 2) / pay.var()
        assert left < 0.2
    town = made.additive("town")
    assert set(town.predict(rows)) <= {"a", "b", "c"}


def test_linear_models_of_exact_answers_are_near_least_squares_categories_included() -> None:
    rows = frame()
    model = exact().linear("pay")
    towns = [rows["town"] == town for town in "bc"]
    fitted = np.stack([np.ones(ROWS), rows["sick"], rows["age"], *towns], axis=1).astype(float)
    best = fitted @ np.linalg.lstsq(fitted, rows["pay"].to_numpy(), rcond=None)[0]
    square = ((best - rows["pay"]) ** 2).mean()
    assert ((model.predict(rows) - rows["pay"]) ** 2).mean() < 1.05 * square


def test_a_linear_model_says_what_a_category_adds_and_comes_back_from_text() -> None:
    model = exact().linear("pay")
    weights = dict(zip(model.names, model.coefficients, strict=True))
    assert {name for name in weights if "town" not in name} == {"sick", "age", "born"}
    a, b, c = (weights[f"town is {town}"] for town in "abc")
    assert b - a == pytest.approx(5_000, rel=0.1) and abs(c - a) < 500
    for copy in (sulq.Hypothesis.from_json(model.to_json()), pickle.loads(pickle.dumps(model))):
        assert copy == model
        assert (copy.predict(frame()[:9]) == model.predict(frame()[:9])).all()
    with pytest.raises(sulq.QueryError, match="deviations of a linear model are at least 0"):
        sulq.Hypothesis.of(replace(model, deviations=tuple(-1.0 for _ in model.deviations)).form)


def test_a_model_whose_number_is_never_within_its_bounds_says_the_nearest_bound() -> None:
    schema = people().schema
    model = AdditiveModel(schema, None, sulq.col("age"), (5.0,), ())
    assert model.predict(frame()[:2]).tolist() == [99, 99]
    line = LinearModel(schema, None, "age", ("sick",), (1.0,), (0.1,), -70.0)
    assert line.predict(frame()[:2]).tolist() == [0, 0]


def test_where_bounds_are_far_wider_than_the_numbers_averages_are_not_pulled_up() -> None:
    """With exact answers; `tests/hypotheses/pairs/test_inside.py` has the noise."""
    rng = np.random.default_rng(3)
    x = rng.exponential(10, ROWS)
    rows = {"x": x, "y": 3 * x + rng.exponential(1, ROWS), "z": rng.random(ROWS) < 0.5}
    kinds = {"x": sulq.Real(0, 100_000), "y": sulq.Real(-1e6, 1e6), "z": sulq.Boolean()}
    made = sulq.Pairs().learn(sulq.open(rows, kinds).exact())
    linear, additive = made.linear("y"), made.additive("y")
    for model in (linear, additive):
        off = np.mean((model.predict(rows) - rows["y"]) ** 2) / np.var(rows["y"])
        assert off < 0.2, off
    drawn = made.sample(ROWS, seed=1).to_frame("pandas")
    assert drawn["x"].mean() == pytest.approx(10, rel=0.1) and drawn["x"].max() < 1_000


def test_a_whole_number_that_is_usual_is_usual_in_synthetic_rows() -> None:
    """Of 8,000 people half work 40 hours, and nobody 41. The noise of a count alone is about 30 rows."""
    rng = np.random.default_rng(5)
    hours = np.where(rng.random(8000) < 0.5, 40, rng.choice(np.delete(np.arange(1, 100), 40), 8000))
    rows = {"hours": hours, "late": hours > 50}
    kinds = {"hours": sulq.Integer(1, 99), "late": sulq.Boolean()}
    made = sulq.Pairs().learn(sulq.open(rows, kinds).curator(epsilon=1, delta="1e-6"))
    drawn = made.sample(8000, seed=1).to_frame("pandas")["hours"]
    assert (drawn == 40).mean() > 0.45 and (drawn == 41).mean() < 0.05


def test_models_of_numbers_are_the_average_where_noise_hides_everything() -> None:
    """Both columns have nothing to do with each other: what a model explains is noise alone. In 4,000 rows the noise
    of a cell is about 15 rows: the average would have to be off by 0.2, a hundred times what noise does to it."""
    rng = np.random.default_rng(4)
    rows = {"x": rng.random(ROWS), "y": rng.random(ROWS)}
    kinds = {"x": sulq.Real(0, 1), "y": sulq.Real(0, 1)}
    for _ in range(3):
        made = sulq.Pairs().learn(sulq.open(rows, kinds).curator(epsilon=1, delta="1e-6"))
        for model in (made.linear("y"), made.additive("y")):
            assert np.mean((model.predict(rows) - rows["y"]) ** 2) < 1.5 * np.var(rows["y"])


def test_a_tree_tells_any_of_its_columns() -> None:
    tree = exact().tree("sick")
    assert tree.about("town").predict(frame()[:3]).shape == (3,)
    assert sulq.Hypothesis.from_json(tree.to_json()) == tree
    with pytest.raises(sulq.QueryError, match="there is no column 'x' in this tree; there are sick"):
        tree.about("x")
    error = people().exact().ask(sulq.Round([sulq.error_rate(tree, "sick")]))[0].value
    assert error == pytest.approx((tree.predict(frame()) != frame()["sick"]).mean())


def test_a_release_says_how_usual_a_row_is() -> None:
    made, rows = exact(), frame()
    usual = made.predict(rows)
    strange = rows.assign(age=99 - rows["age"])
    assert usual.mean() > made.predict(strange).mean() + 1
    tree = made.tree("sick")
    # From another root the same tree rounds other chances up, those of rare cells most.
    assert np.median(np.abs(usual - tree._values(tree.likelihood, rows))) < 0.05


def test_synthetic_rows_have_the_published_tables(tmp_path: Path) -> None:
    made = exact()
    drawn = made.sample(4 * ROWS, seed=1)
    assert max(drawn.differences()["total variation"]) < 0.06
    rows = drawn.to_frame("pandas")
    assert list(rows.columns) == COLUMNS
    assert rows["age"].between(0, 99).all() and rows["pay"].between(0, 100_000).all()
    assert abs(rows["age"].mean() - frame()["age"].mean()) < 1.5
    assert np.corrcoef(rows["age"], rows["pay"])[0, 1] > 0.7
    assert len(sulq.open(rows, people().schema).values(sulq.col("age"))) == 4 * ROWS
    drawn.to_parquet(tmp_path / "rows.parquet")
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) == 4 * ROWS
    assert (drawn.to_csv() or "").startswith("town,sick,age,pay,born\n")
    assert "synthetic rows" in drawn.report()


def test_a_seed_makes_the_same_rows_and_none_makes_others() -> None:
    made = release()
    assert made.sample(50, seed=3).to_csv() == made.sample(50, seed=3).to_csv()
    assert made.sample(50).to_csv() != made.sample(50).to_csv()


def test_drowned_tables_are_left_out_and_named() -> None:
    kinds = {
        "a": sulq.Category([str(i) for i in range(300)]),
        "b": sulq.Category([str(i) for i in range(200)]),
    }
    source = sulq.open({"a": ["1"] * 500, "b": ["2"] * 500, "c": [True] * 500}, kinds | {"c": sulq.Boolean()})
    made = sulq.Pairs().learn(source.curator(epsilon=1))
    assert ("a", "b") in made.left_out
    assert "Left out: a × b" in made.describe()
    assert sulq.Pairs(label="a").learn(source.curator(epsilon=1)).pairs[0] == ("a", "b")


def test_where_there_are_many_columns_pairs_are_chosen_privately() -> None:
    """Every column has one copy. A choice misses it with probability below 1/4, by the gap of its score; that
    fewer than half of the 20 copies are found has probability below 10^-6."""
    rng = np.random.default_rng(9)
    originals = {f"x{i}": rng.random(20_000) < 0.5 for i in range(20)}
    copies = {f"y{i}": values for i, values in enumerate(originals.values())}
    source = sulq.open(originals | copies, {name: sulq.Boolean() for name in originals | copies})
    made = sulq.Pairs(label="x0").learn(source.curator(epsilon="0.35"))
    assert made.origin is not None and made.origin.rounds == 4
    assert len(made.pairs) <= 2 * 40 + 39 < 780
    assert sum(one[1:] == other[1:] for one, other in made.pairs) >= 10
    assert sum("x0" in pair for pair in made.pairs) == 39


@pytest.mark.parametrize("usual", [[40.0], [5.0, 7.0, 40.0, 57.0], list(range(0, 100, 3))])
@pytest.mark.parametrize("epsilon", [None, 0.1, 1, 10**6])
def test_no_number_is_cut_into_more_than_sixteen_bins(usual: list[float], epsilon: float | None) -> None:
    """Few usual values left nobody for the other bins, and then every bin of nobody was one by itself."""
    rng = np.random.default_rng(4)
    people = sulq.open(
        {"x": rng.choice(usual, 4000), "z": rng.choice(usual, 4000), "b": rng.random(4000) < 0.5},
        {"x": sulq.Integer(0, 100), "z": sulq.Real(0, 100), "b": sulq.Boolean()},
    )
    learner = sulq.Pairs()
    made = learner.learn(people.exact() if epsilon is None else people.curator(epsilon=epsilon))
    assert all(np.asarray(table.counts.value).size <= 16 * 16 for table in made.tables)
    alone = sum(len(column.counts.value) for column in made.columns)
    assert learner.most_numbers(people.schema) == alone + 16 * 16 + 2 * 16 * 2


def test_named_pairs_are_those_that_are_asked_for() -> None:
    made = sulq.Pairs(pairs=[("sick", "town"), ("age", "sick")]).learn(people().exact())
    assert made.pairs == (("town", "sick"), ("sick", "age"))
    with pytest.raises(sulq.QueryError, match="there is no table of 'town' and 'age' in this release"):
        made.table("town", "age")
    assert made.sample(20).codes.shape == (20, 5)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (sulq.Pairs(["town"]), "pairs need at least two columns that can vary"),
        (sulq.Pairs(["town", "sick"], label="age"), "there is no column 'age' to pair; there are town, sick"),
        (sulq.Pairs(pairs=[("town", "town")]), "a pair is two different columns"),
        (sulq.Pairs(pairs=[]), "a pair is two different columns"),
        (sulq.Pairs([sulq.col("age") > 3, "town"]), "features are columns here, not expressions"),  # type: ignore[list-item]
        (sulq.Pairs(bins={"town": [1]}), "'town' is none"),
        (sulq.Pairs(share=2), "share"),
    ],
)
def test_what_cannot_be_paired_is_refused_before_a_row_is_read(learner: Any, words: str) -> None:
    with pytest.raises(sulq.SulqError, match=words):
        next(learner.rounds(people().schema))


def test_models_of_what_is_not_there_are_refused() -> None:
    made = release()
    with pytest.raises(sulq.QueryError, match="there is no column 'x' in this release; there are town"):
        made.naive_bayes("x")
    with pytest.raises(sulq.QueryError, match="column 'town' is no number"):
        made.linear("town")
    with pytest.raises(sulq.SulqError, match="rows"):
        made.sample(0)


def test_given_the_same_answers_it_asks_the_same_questions() -> None:
    def keys(answers: list[list[Answer]]) -> list[str]:
        rounds = sulq.Pairs().rounds(people().schema)
        return [next(rounds).key, *(rounds.send(given).key for given in answers)]

    made = release()
    first = [made.rows, *(column.counts for column in made.columns)]
    assert len(set(keys([first]))) == 2
    assert keys([first]) == keys([first])


def test_a_text_that_is_no_release_is_refused() -> None:
    form = release().form
    for change in (
        {"tables": [form["tables"][0], form["tables"][0]]},
        {"columns": form["columns"][:1]},
        {"rows": Answer(np.array([1.0, 2.0])).form()},
    ):
        with pytest.raises(sulq.QueryError):
            sulq.Hypothesis.of(form | change)
