"""Tables: exact answers give the figures of the rows; noisy ones give bounds that hold as often as stated."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import sulq
from sulq.hypotheses.figures import whole_numbers
from sulq.hypotheses.quantiles import IntervalCounts, NestedCounts
from sulq.talk.laws import Exactly

col = sulq.col
ROWS = 4_000
WARDS = ["north", "south", "west"]
SCHEMA: dict[str, Any] = {
    "ward": sulq.Category(WARDS, missing="north"),
    "sick": sulq.Boolean(),
    "age": sulq.Integer(0, 99),
    "cost": sulq.Real(0, 1000),
    "person": sulq.Integer(0, ROWS),
}


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    ward = rng.choice(WARDS, ROWS, p=[0.5, 0.4, 0.1])
    age = rng.integers(0, 100, ROWS)
    cost = np.minimum(1000, rng.exponential(150, ROWS) * (1 + (ward == "south")))
    columns = {"ward": ward, "sick": rng.random(ROWS) < 0.2 + age / 200, "age": age, "cost": cost}
    return pd.DataFrame(columns | {"person": np.arange(ROWS) // 2})


FRAME = rows()
LEARNER = sulq.Table(
    ["ward", "sick"],
    sums=["cost"],
    means=["cost", "age"],
    shares=[col("age") >= 50],
    medians=["age"],
    quantiles={"cost": [0.25, 0.9]},
)


@cache
def people(unit: bool = False) -> sulq.Source:
    return sulq.open(FRAME, sulq.Schema(SCHEMA, sulq.Unit("person", rows=2) if unit else None))


def quantile(values: Any, level: float) -> float:
    """The smallest value that at least this part of the values does not exceed."""
    return float(np.sort(values)[int(np.ceil(level * len(values))) - 1])


MEASURES: dict[str, Any] = {
    "count": lambda part: float(len(part)),
    "sum cost": lambda part: part["cost"].sum(),
    "mean cost": lambda part: part["cost"].mean(),
    "mean age": lambda part: part["age"].mean(),
    "share age >= 50": lambda part: (part["age"] >= 50).mean(),
    "median age": lambda part: quantile(part["age"], 0.5),
    "25 % quantile cost": lambda part: quantile(part["cost"], 0.25),
    "90 % quantile cost": lambda part: quantile(part["cost"], 0.9),
}
BY: list[list[str]] = [["ward", "sick"], ["ward"], ["sick"], []]


@cache
def truth(name: str, by: tuple[str, ...]) -> Any:
    if not by:
        return np.array(MEASURES[name](FRAME))
    sizes = [3 if axis == "ward" else 2 for axis in by]
    parts = FRAME.groupby(list(by), sort=True)
    return np.array([MEASURES[name](part) for _, part in parts]).reshape(sizes)


def test_exact_answers_give_the_figures_of_the_rows() -> None:
    table = LEARNER.learn(people().exact())
    assert table.names == tuple(MEASURES)
    for name in MEASURES:
        for by in BY:
            figures, right = table.figures(name, by), truth(name, tuple(by))
            assert figures.telling.all()
            if "quantile" in name:
                assert ((figures.low <= right) & (right <= figures.high)).all()
                assert (figures.high - figures.low <= 1000 / 32).all()
            else:
                assert np.allclose(figures.value, right, rtol=1e-6)
                assert np.allclose(figures.low, figures.high)


SETTINGS: dict[str, tuple[bool, dict[str, Any]]] = {
    "epsilon": (False, {"epsilon": 2}),
    "add-remove": (False, {"epsilon": 1, "neighbours": "add-remove"}),
    "zCDP": (False, {"rho": "0.05"}),
    "two rows a person": (True, {"epsilon": 4, "delta": "1e-6"}),
    "two rows, add-remove": (True, {"epsilon": 2, "neighbours": "add-remove"}),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("margins", [False, True])
def test_bounds_hold_at_least_as_often_as_stated(setting: str, margins: bool) -> None:
    """12 runs at β = 0.2: a bound that holds with exactly 0.8 fails 9 times or more with a chance of 6e-5.

    Bounds hold more often than that, as they cover all cells at once, so that false alarms are far rarer.
    """
    unit, settings = SETTINGS[setting]
    learner = replace(LEARNER, margins=margins)
    failed = dict.fromkeys(MEASURES, 0)
    for _ in range(12):
        table = learner.learn(people(unit).curator(**settings))
        for name in MEASURES:
            for by in BY:
                figures, right = table.figures(name, by, beta=0.2), truth(name, tuple(by))
                inside = (figures.low - 1e-6 <= right) & (right <= figures.high + 1e-6)
                failed[name] += not inside.all() and by == BY[0]
                assert ((figures.low <= figures.value) & (figures.value <= figures.high)).all()
    assert max(failed.values()) < 9


def test_bounds_are_not_wider_than_they_need_to_be() -> None:
    """Each figure alone, from 40 runs: half of the radius at 95 % is more than a quarter of the errors."""
    tables = [LEARNER.learn(people().curator(epsilon=2)) for _ in range(40)]
    for name in ("count", "sum cost", "share age >= 50"):
        off = np.array([np.abs(table.figures(name, []).value - truth(name, ())) for table in tables])
        radius = float(tables[0].figures(name, []).radius)
        assert name == "count" or (off > radius / 4).mean() > 0.1
    assert all(float(table.figures("count", []).radius) == 0 for table in tables), (
        "how many rows there are is public"
    )


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("margins", [False, True])
def test_margins_agree_with_their_cells(whole: bool, margins: bool) -> None:
    learner = replace(LEARNER, whole=whole, margins=margins)
    table = learner.learn(people().curator(epsilon="0.05", neighbours="add-remove"))
    for name in ("count", "sum cost"):
        cells = table.figures(name).value
        assert np.allclose(cells.sum(axis=1), table.figures(name, ["ward"]).value)
        assert np.allclose(cells.sum(axis=0), table.figures(name, ["sick"]).value)
        assert np.isclose(cells.sum(), table.figures(name, []).value)
    if whole:
        counts = table.figures("count").value
        assert (counts >= 0).all() and (counts == np.round(counts)).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_whole_numbers_are_not_negative_and_add_up(cells: list[float]) -> None:
    whole = whole_numbers(np.array(cells))
    assert (whole >= 0).all() and (whole == np.round(whole)).all()
    assert whole.sum() == max(0, round(sum(np.array(cells))))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_without_noise_a_quantile_is_within_its_interval(values: list[int], level: float) -> None:
    edges = (0.0, 1.0, 3.0, 8.0, 9.0, 15.0, 20.0)
    counts = np.histogram(np.array(values), [*edges[:-1], 21])[0].astype(float)
    finest = IntervalCounts((), counts, Exactly(), edges[1:-1])
    coarse = IntervalCounts((), np.add.reduceat(counts, [0, 2, 4]), Exactly(), (3.0, 9.0))
    rows = IntervalCounts((), counts.sum(keepdims=True), Exactly())
    figures = NestedCounts((rows,), (coarse, finest), (0.0, 20.0), integers=True).quantiles(level, (), 0.05)
    assert figures.low <= quantile(values, level) <= figures.high
    assert figures.low <= figures.value <= figures.high


def test_margins_that_are_asked_for_are_closer_and_cells_further_off() -> None:
    learner = sulq.Table(["age", "ward"], where=col("sick"))
    plain, asked = (
        replace(learner, margins=margins).learn(people().curator(epsilon=1)) for margins in (False, True)
    )
    assert asked.figures("count", ["ward"]).radius.max() < plain.figures("count", ["ward"]).radius.min()
    assert asked.figures("count").radius.min() > plain.figures("count").radius.max()


ORACLES: dict[str, Any] = {
    "exact": lambda: people().exact(),
    "curator": lambda: people().curator(epsilon=1),
    "chunks": lambda: people().curator(epsilon=1, answering="chunks", queries=20),
    "crowd": lambda: people().crowd(epsilon=8),
    "sample": lambda: people().sample(),
    "denoised": lambda: people().curator(epsilon=1).denoised("sick", "0.1"),
}


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_table_is_learned_from_every_oracle_in_one_round_and_kept(oracle: str) -> None:
    table = replace(LEARNER, shares=[], quantiles={}).learn(ORACLES[oracle]())
    assert table.origin is not None and table.origin.rounds == 1
    again = sulq.Hypothesis.from_json(table.to_json())
    assert again == table and again.describe() == table.describe() and again.picture() == table.picture()
    for name in table.names:
        for by in BY:
            figures, right = table.figures(name, by, beta=1e-6), truth(name, tuple(by))
            # What a sample says is about where the rows came from; and no label here was flipped.
            slack = 1e-6 * (1 + np.abs(right))  # sums are of numbers on a grid
            inside = (figures.low - slack <= right) & (right <= figures.high + slack)
            assert inside.all() or oracle in ("sample", "denoised")


def test_a_table_as_a_frame_as_csv_and_as_a_page() -> None:
    table = LEARNER.learn(people().curator(epsilon=1))
    for library in ("pandas", "polars"):
        frame = table.to_frame(library)
        assert list(frame.columns)[:6] == [
            "ward",
            "sick",
            "count",
            "count low",
            "count high",
            "count telling",
        ]
        assert len(frame) == 6 and len(frame.columns) == 2 + 4 * 8
        assert len(table.to_frame(library, margins=True)) == 6 + 3 + 2 + 1
    text = table.to_csv(margins=True)
    assert text is not None
    assert text.splitlines()[0].startswith("ward,sick,count,count low,count high,count telling,sum cost")
    assert text.splitlines()[-1].startswith("(all),(all),")
    page = table._repr_html_()
    assert page.count("<tr>") == 1 + 12 and "at 95 %" in page


def test_figures_within_the_noise_are_said_in_words_and_greyed() -> None:
    table = sulq.Table(["ward"], means=["cost"]).learn(people().curator(epsilon="1e-6"))
    assert "count: 3 of 3 are within the noise (in brackets)" in table.describe()
    assert not table.figures("count").telling.any()
    assert "grey: within the noise" in table.picture()
    assert 'title="within the noise"' in table._repr_html_() and "(in grey)" in table._repr_html_()
    sure = sulq.Table(["ward"], means=["cost"]).learn(people().curator(epsilon=1000))
    assert "within" not in sure.describe() + sure.picture() + sure._repr_html_()


def test_rows_are_predicted_the_figure_of_their_group() -> None:
    table = sulq.Table(["ward"], means=["cost"]).learn(people().exact())
    means = dict(zip(WARDS, truth("mean cost", ("ward",)), strict=True))
    assert np.allclose(table.predict({"ward": ["west", "north"]}), [means["west"], means["north"]], rtol=1e-6)


def test_nothing_is_asked_or_paid_for_twice() -> None:
    learner = sulq.Table(
        ["ward"], sums=["cost"], medians=["age"], quantiles={"age": [0.1, 0.9]}, means=["age"]
    )
    [queries] = [next(learner.rounds(people().schema)).queries]
    assert len(queries) == 6  # cells, all rows, the sum, ages between all edges and a few, ages added up
    curator = people().curator(epsilon=1)
    replace(learner, share="1/2").learn(curator)
    assert curator.spent == sulq.privacy.budget.PureDP("1/2").epsilon


def test_groups_of_numbers_are_cut_where_bins_say() -> None:
    table = sulq.Table(["age"], medians=["age"], bins={"age": [18, 65]}).learn(people().exact())
    assert table.labels == (("below 18", "18 to 65", "65 and up"),) and table.axes == ("age",)
    right = FRAME.groupby(np.digitize(FRAME["age"], [18, 65]))["age"].count()
    assert table.figures("count").value.tolist() == right.tolist()
    assert table.figures("median age").low.tolist() == [0, 18, 65]


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        (sulq.Table(["cost"]), "use bins with public edges"),
        (sulq.Table(["ward", "ward"]), "a group is named twice"),
        (sulq.Table("ward"), "by is a list of columns"),
        (sulq.Table(["town"]), "no column 'town'"),
        (sulq.Table(["ward"], bins={"town": [1]}), "no column 'town'"),
        (
            sulq.Table([col("age"), col("age") + 1, col("age") + 2]),
            "a table has 65,536 cells at most, not 1,000,000",
        ),
        (sulq.Table(sums=["ward"]), "is a category, not a number"),
        (sulq.Table(means=[sulq.features("age", "cost")]), "a table has one number in a cell"),
        (sulq.Table(shares=["age"]), "is not true or false"),
        (sulq.Table(where="age"), "is not true or false"),
        (sulq.Table(quantiles={"age": [1]}), "a level between 0 and 1, not 1"),
        (sulq.Table(quantiles={"age": ["half"]}), "a level between 0 and 1, not 'half'"),  # type: ignore[dict-item]
        (sulq.Table(medians=[col("age") * 0]), "cannot vary"),
        (sulq.Table(share=2), "share must be"),
    ],
)
def test_what_is_no_table_is_refused_before_anything_is_spent(learner: sulq.Table, complaint: str) -> None:
    curator = people().curator(epsilon=1)
    with pytest.raises(sulq.SulqError, match=complaint) as refusal:
        learner.learn(curator)
    assert curator.spent == 0 and "\n" not in str(refusal.value)


def test_a_figure_that_is_not_there_is_refused() -> None:
    table = sulq.Table(["ward"]).learn(people().exact())
    for name, by in (("mean cost", None), ("count", ["sick"]), ("count", ["ward", "ward"])):
        with pytest.raises(sulq.QueryError, match="there is no"):
            table.figures(name, by)


DROPPED: dict[str, Any] = SCHEMA | {
    "age": sulq.Integer(0, 99, drop_missing=True),
    "cost": sulq.Real(0, 1000, missing=0, drop_missing=True),
    "sick": sulq.Boolean(drop_missing=True),
}


@cache
def holes() -> pd.DataFrame:
    """The same rows, where every third age, every fourth cost and every fifth diagnosis is missing."""
    frame, at = FRAME.copy(), np.arange(ROWS)
    frame["age"] = frame["age"].where(at % 3 > 0)
    frame["cost"] = frame["cost"].where(at % 4 > 0)
    return frame.assign(sick=frame["sick"].astype(object).where(at % 5 > 0))


@cache
def with_holes(unit: bool = False) -> sulq.Source:
    return sulq.open(holes(), sulq.Schema(DROPPED, sulq.Unit("person", rows=2) if unit else None))


@pytest.mark.parametrize("unit", [False, True])
def test_figures_are_about_the_rows_whose_cell_is_known(unit: bool) -> None:
    learner = sulq.Table(
        ["ward"],
        sums=["cost"],
        means=["cost"],
        shares=["sick", col("age") >= 50],
        medians=["age"],
        quantiles={"age": [0.9]},
    )
    table = learner.learn(with_holes(unit).exact())
    groups = [holes()[holes()["ward"] == ward] for ward in WARDS]
    expected = {
        "count": [len(group) for group in groups],
        "sum cost": [group["cost"].sum() for group in groups],
        "mean cost": [group["cost"].mean() for group in groups],
        "share sick": [group["sick"].dropna().astype(float).mean() for group in groups],
        "share age >= 50": [(group["age"].dropna() >= 50).mean() for group in groups],
        "median age": [quantile(group["age"].dropna(), 0.5) for group in groups],
        "90 % quantile age": [quantile(group["age"].dropna(), 0.9) for group in groups],
    }
    assert table.names == tuple(expected)
    for name, truth in expected.items():
        assert table.figures(name).value == pytest.approx(truth, rel=1e-6), name


def test_rows_that_miss_what_a_condition_or_a_group_looks_at_are_in_no_group() -> None:
    learner = sulq.Table(["age"], where=col("cost") >= 100, bins={"age": [50]})
    table = learner.learn(with_holes().exact())
    chosen = holes()[holes()["cost"] >= 100]["age"].dropna()
    assert table.figures("count").value.tolist() == [(chosen < 50).sum(), (chosen >= 50).sum()]
    assert (
        "only rows with cost >= 100 and cost known and age known"
        in learner.learn(with_holes().curator(epsilon=1, ledger=":memory:")).describe()
    )
    apart = sulq.Table([sulq.known("age"), "age"], bins={"age": [50]}).learn(with_holes().exact())
    assert apart.figures("count", by=[apart.axes[0]]).value.tolist() == [
        holes()["age"].isna().sum(),
        holes()["age"].notna().sum(),
    ], "who asks for them gets them as a group"


def test_a_count_of_the_same_rows_is_paid_for_once() -> None:
    """Where the condition or the groups leave out rows without a cell, all rows of the table have it."""
    schema = with_holes().schema

    def questions(**asked: Any) -> int:
        return len(next(sulq.Table(**asked).rounds(schema)).queries)

    assert questions(means=["age"]) == 3, "all rows, those with an age, and the sum of it"
    assert questions(means=["age"], where=col("age") >= 18) == 2
    assert questions(means=["age"], where=sulq.known("age") & (col("ward") == "west")) == 2
    assert questions(by=["sick"], shares=["sick"]) == 2
    assert questions(means=["age"], where=sulq.known("age") | (col("ward") == "west")) == 3
    learner = sulq.Table(["ward"], means=["age"], medians=["age"], where=col("age") >= 18)
    table, grown = learner.learn(with_holes().exact()), holes()[holes()["age"] >= 18]
    ages = [grown[grown["ward"] == ward]["age"] for ward in WARDS]
    assert table.figures("mean age").value == pytest.approx([each.mean() for each in ages], rel=1e-6)
    assert table.figures("median age").value.tolist() == [quantile(each, 0.5) for each in ages]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_noisy_averages_of_known_cells_keep_to_their_bounds(neighbours: Any) -> None:
    learner = sulq.Table(["ward"], means=["cost"], shares=["sick"], medians=["age"])
    curator = with_holes().curator(epsilon=4, neighbours=neighbours, ledger=":memory:")
    table, truth = learner.learn(curator), learner.learn(with_holes().exact())
    for name in table.names:
        # The bounds miss with a chance of one in a million; where missing costs were 0, they would be 25 % off.
        figures = table.figures(name, beta=1e-6)
        exact = truth.figures(name).value
        assert ((figures.low <= exact + 1e-9) & (exact - 1e-9 <= figures.high)).all(), name
    assert (table.figures("mean cost").radius[:2] < 30).all()


def test_a_table_that_did_not_leave_out_missing_cells_is_read_as_it_was_made() -> None:
    former = sulq.Table(["ward"], means=["cost"]).learn(people().exact())
    dropped = replace(former, schema=sulq.Schema(SCHEMA | {"cost": DROPPED["cost"]}))
    assert dropped.figures("mean cost").value == pytest.approx(former.figures("mean cost").value)


def test_figures_of_dates_are_dates() -> None:
    born = sulq.Date("2000-01-01", "2000-03-31")
    source = sulq.open({"born": ["2000-01-03", "2000-01-05", "2000-01-05"]}, {"born": born})
    table = sulq.Table(means=["born"], medians=["born"]).learn(source.exact())
    assert table.describe().splitlines()[1].split() == ["3", "2000-01-04", "2000-01-05"]
    assert "2000-01-05" in table.picture()
    noisy = sulq.Table(medians=["born"]).learn(source.curator(epsilon=1)).describe()
    day = r"2000-\d\d-\d\d"
    assert re.search(rf"{day} \({day} to {day}\)", noisy) or re.search(rf" {day}$", noisy, re.MULTILINE)
    assert table.figures("median born").value == 4, "as numbers they are days since the first"


def test_edges_of_bins_beyond_the_bounds_cut_nothing() -> None:
    table = sulq.Table(medians=["age"], bins={"age": [-5, 0, 50, 99, 200]}).learn(people().exact())
    median = table.figures("median age")
    assert (median.low, median.high) == (0, 49) or (median.low, median.high) == (50, 98)
    with pytest.raises(sulq.QueryError, match="no edge in bins is between the bounds of 'age', 0 and 99"):
        sulq.Table(medians=["age"], bins={"age": [-5, 0, 200]}).learn(people().exact())


@pytest.mark.parametrize("where", [col("age") > 500, col("cost") > 1e6])
def test_a_quantile_of_nobody_tells_nothing(where: Any) -> None:
    """Of no rows every number is a quantile: 0 with certainty would be a made-up fact."""
    table = sulq.Table(["sick"], medians=["age"], where=where).learn(people().exact())
    median = table.figures("median age")
    assert (median.low == 0).all() and (median.high == 99).all() and not median.telling.any()


@pytest.mark.parametrize(
    ("kind", "value", "edges"),
    [
        (sulq.Real(0, 0.5), 0.5, [0.25, 0.5]),
        (sulq.Real(0, 1e-199), 0.0, []),
        (sulq.Real(-1e200, 1e200), 1, []),
    ],
)
def test_quantiles_of_odd_columns_are_found_and_shown(kind: Any, value: float, edges: list[float]) -> None:
    source = sulq.open({"x": [value] * 4}, {"x": kind})
    table = sulq.Table(medians=["x"], bins={"x": edges} if edges else {}).learn(source.exact())
    median = table.figures("median x")
    assert median.low <= value <= median.high and median.telling
    assert "median x" in table.describe()
