"""Which columns are features, and what noise leaves of a few numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sulq
from sulq.learners.estimates import shrunk
from sulq.queries.attributes import column_names, feature_names, features_beside, interval, looked_at

SCHEMA = sulq.Schema(
    {
        "age": sulq.Integer(0, 120),
        "sick": sulq.Boolean(),
        "sex": sulq.Category(["f", "m"]),
        "height": sulq.Real(1, 2),
        "same": sulq.Real(3, 3),
    }
)


def test_by_default_features_are_the_numeric_columns_that_can_vary():
    assert feature_names(SCHEMA, None) == ("age", "height")
    assert feature_names(SCHEMA, None, booleans=True) == ("age", "sick", "height")
    assert feature_names(SCHEMA, None, booleans=True, but={"age"}) == ("sick", "height")


@pytest.mark.parametrize("name, ends", [("height", (1, 2)), ("sick", (0, 1))])
def test_the_interval_of_a_feature_is_public(name, ends):
    assert interval(SCHEMA, name) == ends


@pytest.mark.parametrize("budget", [{"epsilon": 0.01}, {"rho": 0.00005}])
@pytest.mark.parametrize("groups", [1, 50, 400])
def test_the_deviation_is_about_that_of_the_noise(budget, groups):
    edges = [float(edge) for edge in np.linspace(0, 1, groups + 1)[1:-1]]
    by = sulq.bins(sulq.col("x"), edges) if edges else None
    people = sulq.open({"x": np.full(1000, 0.5)}, {"x": sulq.Real(0, 1)})
    [answer] = people.curator(**budget, neighbours="add-remove").ask(sulq.Round([sulq.count(by=by)], share=1))
    # One row comes or goes: Laplace noise of scale 1/ε, Gaussian noise of variance 1/2ρ.
    if "epsilon" in budget:
        assert answer.deviation == pytest.approx(100 * 2**0.5, rel=0.0001)
    else:
        assert answer.deviation == pytest.approx(100, rel=0.0001)


def test_an_exact_answer_has_no_deviation():
    people = sulq.open({"x": [0.5]}, {"x": sulq.Real(0, 1)})
    [answer] = people.exact().ask(sulq.Round([sulq.count()]))
    assert answer.deviation == 0


def test_without_noise_numbers_are_left_alone_and_noise_alone_is_averaged():
    values = np.array([1.0, 2.0, 4.0, 5.0, 8.0])
    assert shrunk(values, 0.0) == pytest.approx(values)
    assert shrunk(values, 100.0) == pytest.approx(np.full(5, 4.0))
    assert shrunk(np.array([3.0]), 1.0).tolist() == [3.0]


def test_shrunk_numbers_are_less_wrong_taken_together():
    # 2000 times 20 numbers as wide apart as the noise: about half of the squared error is left (0.59 here),
    # with a standard error below 0.005.
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, (2000, 20))
    told = truth + rng.normal(0, 1, (2000, 20))
    errors = [((shrunk(row, 1.0) - true) ** 2).sum() for row, true in zip(told, truth, strict=True)]
    assert sum(errors) < 0.7 * ((told - truth) ** 2).sum()


@pytest.mark.parametrize(
    "features, message",
    [
        ("age", r"features is a list of columns: \['age'\]"),
        (["age", "age"], "a feature is named twice"),
        (["age", "sick"], "the label cannot be one of its own features: it looks at column 'sick'"),
        (["age", ~sulq.col("sick")], "it looks at column 'sick'"),
        (["years"], "no column 'years'"),
    ],
)
def test_features_beside_a_label_look_at_other_columns(features, message):
    with pytest.raises(sulq.SulqError, match=message):
        features_beside(SCHEMA, features, sulq.col("sick"))


def test_by_default_features_beside_a_label_are_all_columns_it_does_not_look_at():
    features = features_beside(SCHEMA, None, sulq.col("sick") & (sulq.col("age") > 50))
    assert column_names(features, SCHEMA) == ("sex", "height", "same")
    assert looked_at(sulq.col("sick") & (sulq.col("age") > 50)) == {"sick", "age"}


def test_lists_are_drawn_towards_their_average_as_numbers_are():
    tables = np.arange(30.0).reshape(5, 6)
    assert shrunk(tables, 0.0) == pytest.approx(tables)
    assert shrunk(tables, 100.0) == pytest.approx(np.tile(tables.mean(axis=0), (5, 1)))
    # Two of five lists are free to move, in six numbers each.
    apart = ((tables - tables.mean(axis=0)) ** 2).sum()
    kept = 1 - 2 * 6 * 4 / apart
    assert shrunk(tables, 2.0) == pytest.approx(tables.mean(axis=0) + kept * (tables - tables.mean(axis=0)))
