"""Tables: exact answers give the figures of the rows; noisy ones give bounds that hold as often as stated."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import sulq
from sulq.hypotheses.figures import whole_numbers
from tests.effort import either, long, most
from tests.learners.tabulated import BY, FRAME, LEARNER, MEASURES, WARDS, people, truth

col = sulq.col


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


@pytest.mark.parametrize(
    "setting",
    [
        "epsilon",
        pytest.param("add-remove", marks=long),
        "zCDP",
        pytest.param("two rows a person", marks=long),
        "two rows, add-remove",
    ],
)
@pytest.mark.parametrize("margins", [False, True])
def test_bounds_hold_at_least_as_often_as_stated(setting: str, margins: bool) -> None:
    """At β = 0.2 a bound that holds with exactly 0.8 fails in all of 9 runs with a chance of 5e-7.

    Bounds hold more often than that, as they cover all cells at once, so that false alarms are far rarer. One that
    always fails is noticed.
    """
    unit, settings = SETTINGS[setting]
    learner = replace(LEARNER, margins=margins)
    tries, failed = either(9, 30), dict.fromkeys(MEASURES, 0)
    for _ in range(tries):
        table = learner.learn(people(unit).curator(**settings))
        for name in MEASURES:
            for by in BY:
                figures, right = table.figures(name, by, beta=0.2), truth(name, tuple(by))
                inside = (figures.low - 1e-6 <= right) & (right <= figures.high + 1e-6)
                failed[name] += not inside.all() and by == BY[0]
                assert ((figures.low <= figures.value) & (figures.value <= figures.high)).all()
    assert max(failed.values()) <= most(tries, 0.2, alarm=1e-6)


def test_bounds_are_not_wider_than_they_need_to_be() -> None:
    """A quarter of a radius at 95 % is less than four or more in ten errors of Laplace noise.

    So two of 40 runs beyond it, or eight of 80, are a false alarm once in 10^6. Of a radius that is four times too wide, one
    in twenty is.
    """
    tables = [LEARNER.learn(people().curator(epsilon=2)) for _ in range(either(40, 80))]
    for name in ("count", "sum cost", "share age >= 50"):
        off = np.array([np.abs(table.figures(name, []).value - truth(name, ())) for table in tables])
        radius = float(tables[0].figures(name, []).radius)
        assert name == "count" or (off > radius / 4).sum() > either(2, 8)
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
    # Noise is beyond its error bar once in 20 tables.
    assert re.search(r"count: [123] of 3 are within the noise \(in brackets\)", table.describe())
    assert not table.figures("count").telling.all()
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
