"""Answers are data: what was stored, sent or unpickled says the same as what was given, its error included."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import sulq
from sulq.local.tails import Bounded, LaplaceMeans
from sulq.talk.answers import Answer, Axis
from sulq.talk.choice_laws import BestOf, Gap
from sulq.talk.columns import html_table
from sulq.talk.combined import WeightedSums
from sulq.talk.law_forms import law_form, law_of
from sulq.talk.laws import Averaged, Exactly, Noise, Ratio, Within
from sulq.talk.sketched import Sketched
from tests.effort import examples
from tests.forms import check_reader, json_values, refusal, tampered
from tests.oracles.curators import people

col = sulq.col
BETAS = (0.5, 0.05, 1e-6)
ROUND = sulq.Round(
    [
        sulq.count(by="age"),
        sulq.count(where=col("a"), by=["b", col("age") >= 5]),
        sulq.total(sulq.features("pay", "age")),
        sulq.mean("pay", by="a"),
        sulq.mean("pay"),
        sulq.choose(["a", "b"], label="y", by="age"),
        sulq.choose(["a", "b"], label="y", score="purity"),
        sulq.choose(["a", "b"], label="y", by="age", score=(1, 4)),
        sulq.choose([sulq.count(where=col("a")), sulq.count(where=col("b"))]),
    ],
    share=1,
)
SUMS = sulq.Round([query for query in ROUND.queries if isinstance(query, sulq.Query)], share=1)
CHUNKED = {"answering": "chunks", "queries": len(ROUND.queries)}
ORACLES: dict[str, Any] = {
    "exact": lambda: people().exact(),
    "epsilon": lambda: people().curator(epsilon=1),
    "rho": lambda: people().curator(rho="0.1"),
    "chunks": lambda: people().curator(epsilon=1, **CHUNKED),
    "crowd": lambda: people(20_000).crowd(epsilon=1),
    "paper's crowd": lambda: people(20_000).crowd(epsilon=1, method="paper"),
    "sample": lambda: people(20_000).sample(),
    "denoised": lambda: people().curator(epsilon=1).denoised("y", "0.1"),
}
PAPER = {"epsilon": 1, "calibration": "sulq-laplace", "queries": 1000}


def same(one: Answer, other: Answer) -> bool:
    radii = [np.array_equal(one.radius(beta), other.radius(beta), equal_nan=True) for beta in BETAS]
    values = np.array_equal(one.value, other.value, equal_nan=True) and np.shape(one.value) == np.shape(
        other.value
    )
    return all(radii) and values and type(one.value) is type(other.value) and one.axes == other.axes


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_an_answer_survives_json_and_pickle_with_its_error(make: Any) -> None:
    for answer in make().ask(ROUND):
        text = answer.to_json()
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        for again in (Answer.from_json(text), pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
            assert same(answer, again)
            assert again.law == answer.law


def test_answers_with_the_papers_noise_survive_too() -> None:
    for answer in people().curator(**PAPER).ask(SUMS):
        assert same(answer, Answer.from_json(answer.to_json()))


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
def test_no_answer_can_be_written_to(make: Any) -> None:
    """A store hands out the same answer again."""
    for answer in make().ask(ROUND):
        if isinstance(answer.value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                answer.value[...] = 0


def test_axes_are_named() -> None:
    by_age, by_two, vector, *_ = people().exact().ask(ROUND)
    assert [axis.name for axis in by_two.axes] == ["column 'b'", "this compare"]
    assert by_age.axes[0].labels == tuple("0123456789")
    assert by_two.axes[0].labels == ("false", "true")
    assert len(vector.axes) == 1 and vector.axes[0].labels is None


@pytest.mark.parametrize(
    "form",
    [
        {},
        [],
        7,
        {"answer": 2, "value": 1.0, "axes": [], "law": {"law": "exact"}},
        {"answer": 1, "value": 1.0, "axes": []},
        {"answer": 1, "value": "1.0", "axes": [], "law": {"law": "exact"}},
        {"answer": 1, "value": True, "axes": [], "law": {"law": "exact"}},
        {"answer": 1, "value": {"shape": [3], "numbers": [1.0]}, "axes": [], "law": {"law": "exact"}},
        {"answer": 1, "value": 1.0, "axes": [{}], "law": {"law": "exact"}},
        {"answer": 1, "value": 1.0, "axes": [], "law": {"law": "Exactly"}},
        {"answer": 1, "value": 1.0, "axes": [], "law": {"law": "exact", "more": 1}},
        {"answer": 1, "value": 1.0, "axes": [], "law": {"law": "noise", "family": "cauchy"}},
    ],
)
def test_what_is_no_answer_is_refused(form: Any) -> None:
    with pytest.raises(sulq.QueryError):
        Answer.of(form)
    with pytest.raises(sulq.QueryError):
        Answer.from_json("{")


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_comes_as_an_answer_is_read_or_refused(data: st.DataObject) -> None:
    answers = [Answer(np.arange(6.0).reshape(2, 3), law, AXES) for law in LAWS.values()]
    forms = st.sampled_from([answer.form() for answer in answers])
    form = data.draw(st.one_of(json_values, tampered(forms)))
    check_reader(Answer.from_json, lambda answer: answer.form(), form)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": 2}, "this is an answer of version 2, and version 1 is the one that is known here"),
        ({"more": 1}, "an answer has answer, value, axes, law: 'more' is not known"),
        ({"axes": [{"name": "a"}]}, "an axis of an answer has name, labels: labels is missing"),
        ({"axes": [{"name": 1, "labels": None}]}, "the name and the labels of an axis are texts"),
        ({"law": {"law": "Exactly"}}, "'Exactly' is no law of errors; there are exact,"),
    ],
)
def test_an_answer_is_refused_in_one_line(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(Answer.of, Answer(1.0).form() | changes)


# Laws

AXES = (Axis("a", ("no", "yes")), Axis("b", None))
ONE = Fraction(1)
LAPLACE = Noise("laplace", Fraction(7, 2), Fraction(1, 4), 3)
GAUSSIAN = Noise("gaussian", Fraction(49, 4), Fraction(1, 4), 3)
COIN = Averaged(Bounded((0.25,), (4,), 0.5, 0.5, 1.0), 1000, 50.0)
REPORT = Averaged(LaplaceMeans(Fraction(1, 3), 5, 2.0), 1000, 50.0)
LAWS: dict[str, Any] = {
    "exact": Exactly(),
    "laplace": LAPLACE,
    "gaussian": GAUSSIAN,
    "coin": COIN,
    "report": REPORT,
    "within": Within(0.5),
    "ratio": Ratio(((1.0, 7.0), (math.inf, 2.0)), (30.0, 1.0), LAPLACE, LAPLACE, (2, 2)),
    "gap": Gap("exponential", ONE, ONE, True, 3, 2, Fraction(1, 7)),
    "best of": BestOf((COIN, REPORT), (2.0, 6.0)),
    "sketched": Sketched((1.0, 0.0), 63, (LAPLACE,), ((0.0, 2.0),), (2,)),
    "weighted sums": WeightedSums((LAPLACE, COIN), (0.5, 2.0), (0.5, 1.0), (1.0, 2.0), 3, -2.0, 0.25),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_is_read_back_as_it_was(law: Any) -> None:
    form = json.loads(json.dumps(law_form(law), allow_nan=False))
    assert law_of(form) == law
    assert "Fraction" not in repr(form) and type(law).__name__ not in repr(form)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_single_number_is_closer_than_all_of_them(law: Any) -> None:
    for beta in BETAS:
        assert not np.any(law.each(beta) > law.radius(beta))


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN, COIN, REPORT, Within(0.5), LAWS["sketched"]], ids=repr)
def test_what_is_multiplied_is_as_much_further_off(law: Any) -> None:
    for beta in BETAS:
        assert law.times(3.0).radius(beta) == pytest.approx(3 * law.radius(beta))
    assert law.times(3.0).deviation == pytest.approx(3 * law.deviation)


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=repr)
def test_the_deviation_of_noise_is_that_of_what_is_drawn(law: Noise) -> None:
    """200,000 draws: their deviation is within 2 % of the law's, six deviations of it."""
    drawn = law.distribution.sample(200_000) * float(law.step)
    assert np.std(drawn) == pytest.approx(law.deviation, rel=0.02)


def test_how_noise_follows_from_a_share() -> None:
    asked = [sulq.Round([sulq.count(where=col("a"))], share=share) for share in ("1/4", 1)]
    for budget in ({"epsilon": 1}, {"rho": 1}):
        small, large = (people().curator(**budget).ask(own)[0] for own in asked)
        grown = small.deviation / large.deviation
        assert grown == pytest.approx(4 ** float(small.law.power), rel=0.05)
    crowd = people(100_000).crowd(epsilon=1)
    small, large = (crowd.ask(sulq.Round([sulq.count(where=col("a"))], share=s))[0] for s in ("1/10", "4/10"))
    assert small.deviation / large.deviation == pytest.approx(4 ** float(small.law.power), rel=0.01)


def test_a_mean_far_from_zero_rows_deviates_as_its_law_says() -> None:
    """800 means of one table: their spread is within a quarter of the law's, six deviations of it: √(5/(4 · 800))."""
    source = people(300)
    asked = sulq.Round([sulq.mean("pay", where=col("a"))], share=1)
    told = [source.curator(epsilon=2).ask(asked)[0] for _ in range(800)]
    spread = np.std([answer.value for answer in told])
    assert spread == pytest.approx(np.median([answer.deviation for answer in told]), rel=0.25)


def test_a_choice_has_a_radius_and_no_deviation() -> None:
    [answer] = people().curator(epsilon=1).ask(sulq.Round([sulq.choose(["a", "b"], label="y")], share=1))
    assert answer.radius(0.05) > 0
    with pytest.raises(sulq.QueryError, match="no deviation"):
        _ = answer.deviation


def test_an_interval_is_the_value_and_its_radius_on_both_sides() -> None:
    answer = Answer(np.array([3.0, 5.0]), LAPLACE)
    low, high = answer.interval(0.05)
    assert (high - low).tolist() == [2 * answer.radius(0.05)] * 2
    assert ((low + high) / 2).tolist() == [3.0, 5.0]


@pytest.mark.parametrize("oracle", ORACLES)
def test_every_answer_has_a_row_for_each_number_with_its_labels_and_its_error(oracle: str) -> None:
    round_ = ROUND if oracle in ("exact", "epsilon", "rho") else SUMS
    for answer in ORACLES[oracle]().ask(round_):
        columns = answer.columns(0.1)
        labels = list(columns)[: np.ndim(answer.value)]
        assert {len(column) for column in columns.values()} == {np.size(answer.value)}
        assert np.array_equal(columns["value"], np.ravel(answer.value), equal_nan=True)
        assert list(zip(*(columns[name] for name in labels), strict=True)) == (answer.cells if labels else [])
        if "low" in columns:
            low, high = answer.interval(0.1)
            assert np.array_equal(columns["low"], np.ravel(low), equal_nan=True)
            assert np.array_equal(columns["high"], np.ravel(high), equal_nan=True)
        for library in ("pandas", "polars"):
            frame = answer.to_frame(library, beta=0.1)
            assert type(frame).__module__.startswith(library) and list(frame.columns) == list(columns)
            assert frame["value"].to_list() == columns["value"] or np.isnan(columns["value"]).any()
        lines = answer.to_csv(beta=0.1).splitlines()
        assert lines[0] == ",".join(columns) and len(lines) == 1 + np.size(answer.value)
        assert "nan" not in answer.to_csv() and "inf" not in answer.to_csv()


def test_an_answer_is_readable() -> None:
    law = Noise("laplace", Fraction(1), Fraction(1), numbers=4)
    axes = (Axis("column 'ward'", ("A", "B")), Axis("this bins", None))
    answer = Answer(np.array([[40.0, 2.0], [-17.0, 1234.0]]), law, axes)
    radius = f"± {answer.radius(0.05):.1f}"
    assert (
        repr(answer)
        == f"Answer(A, 0 40.0 {radius}; A, 1 2.0 {radius}; B, 0 −17.0 {radius}; B, 1 1,234.0 {radius})"
    )
    lines = str(answer).splitlines()
    assert lines[0].split() == ["ward", "bins", "value"] and lines[4].split() == [
        "B",
        "1",
        "1,234.0",
        *radius.split(),
    ]
    page = answer._repr_html_()
    assert page.count("within the noise") == 2 and page.count("<tr>") == 5
    assert repr(Answer(3.0)) == "Answer(3)" and str(Answer(3.0)) == "3"
    assert repr(Answer(np.arange(9.0))).endswith("5 5; … 3 more)")
    assert "more" in str(Answer(np.zeros(100))) and "within" not in Answer(np.zeros(100))._repr_html_()


def test_labels_in_a_page_are_escaped_and_names_of_columns_are_kept_apart() -> None:
    axes = (Axis("column '<i>'", ("<b>", "&")), Axis("column 'value'", None))
    answer = Answer(np.ones((2, 1)), axes=axes)
    assert "<b>" not in answer._repr_html_() and "<i>" not in answer._repr_html_()
    assert list(answer.columns())[:3] == ["<i>", "value", "value 2"]


def test_a_csv_file_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    assert Answer(3.0).to_csv(tmp_path / "out.csv") is None
    assert (tmp_path / "out.csv").read_text() == Answer(3.0).to_csv()
    with pytest.raises(sulq.SulqError, match=r"cannot write .*: Is a directory"):
        Answer(3.0).to_csv(tmp_path)


def test_without_pandas_polars_makes_the_frame_and_without_both_an_error_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert type(Answer(3.0).to_frame()).__module__.startswith("polars")
    with pytest.raises(sulq.SulqError, match="pandas is not installed"):
        Answer(3.0).to_frame("pandas")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(sulq.SulqError, match="neither pandas nor polars is installed"):
        Answer(3.0).to_frame()


def test_in_html_a_number_and_its_error_stay_on_one_line() -> None:
    page = html_table(["ward", "cost"], [["a long name", "1,000 ± 20"]], [[False, False]], 1, "")
    name, number = re.findall(r"<td style=\"([^\"]*)\"", page)
    assert "nowrap" in number and "nowrap" not in name
    assert page.startswith('<div style="overflow-x:auto">'), "a wide table is moved sideways on a phone"


@pytest.mark.parametrize("beta", [0, 1, 2, -1, float("nan"), None, "few"])
def test_an_answer_without_noise_has_errors_for_chances_only(beta: Any) -> None:
    answer = Answer(3.0)
    for asked in (answer.radius, answer.interval, answer.columns, answer.within_noise):
        with pytest.raises(sulq.QueryError, match=r"^beta must be "):
            asked(beta)


def test_figures_without_noise_have_errors_for_chances_only() -> None:
    schema = sulq.Schema({"a": sulq.Boolean()})
    exact = sulq.open({"a": [True, False]}, schema).exact()
    for shown in (sulq.Table(by=["a"]), sulq.Statement("SELECT a, COUNT(*) FROM t GROUP BY a")):
        with pytest.raises(sulq.QueryError, match=r"^beta must be at least 1e-300 and less than 1, got 2$"):
            shown.learn(exact).columns(beta=2)
