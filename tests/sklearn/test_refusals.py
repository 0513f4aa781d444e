"""What is refused, and in which words; and that nothing is because of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.base
from sklearn.base import is_classifier

import sulq
from sulq.sklearn import (
    PCA,
    ConjunctionClassifier,
    KMeans,
    PerceptronClassifier,
    SelectClassifier,
    TreeClassifier,
    TruncatedSVD,
)
from sulq.sklearn.labels import classes_of, codes_of, labels_of

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.uniform(0, 1, 60), "b": RNG.uniform(0, 1, 60)})
Y = np.where(X["a"] > 0.5, "yes", "no")
CLASSES = ["no", "yes"]


def all_of_them(**changes: Any) -> list[Any]:
    bounded: dict[str, Any] = {"epsilon": 1, "bounds": (0, 1)} | changes
    unbounded = {name: value for name, value in bounded.items() if name != "bounds"}
    return [
        TreeClassifier(classes=CLASSES, **bounded),
        PerceptronClassifier(classes=CLASSES, **bounded),
        ConjunctionClassifier(classes=CLASSES, **unbounded),
        SelectClassifier(classes=CLASSES, **bounded),
        KMeans(n_clusters=2, **bounded),
        PCA(n_components=1, **bounded),
        TruncatedSVD(n_components=1, **bounded),
    ]


def refused(estimator: Any, kind: type[Exception], words: str, x: Any = X, y: Any = Y) -> None:
    with pytest.raises(kind, match=words):
        estimator.fit(x, y)
    assert not hasattr(estimator, "hypothesis_")


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "much", True])
def test_an_epsilon_that_is_no_positive_number_is_refused(epsilon: Any) -> None:
    for estimator in all_of_them(epsilon=epsilon):
        refused(estimator, sulq.SulqError, "epsilon must be a positive, finite number")


def test_no_epsilon_is_refused() -> None:
    for estimator in all_of_them(epsilon=None):
        refused(estimator, sulq.SulqError, "a budget is epsilon, or rho, or epsilon and delta; got nothing")


def test_numbers_without_bounds_are_refused_by_name() -> None:
    for estimator in all_of_them(bounds=None):
        if not isinstance(estimator, ConjunctionClassifier):
            refused(estimator, ValueError, "never read off the data.*Columns without: a, b")
    refused(
        TreeClassifier(epsilon=1, classes=CLASSES), ValueError, "Columns without: b", X.assign(a=X["a"] > 0.5)
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((1, 0), "'a' are reversed"),
        ((0, float("nan")), "'a' are reversed or not numbers"),
        ((0, "one"), "'a' must be a pair of numbers"),
        ((0, 1, 2), "'a' must be a pair of numbers"),
        ([(0, 1)], "1 pairs of bounds for 2 columns"),
        ({"a": (0, 1)}, "no others: see b"),
        ({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, "no others: see 'c'"),
        ({"a": (0, 1), "b": 1}, "'b' must be a pair of numbers"),
        ("auto", "bounds must be a pair"),
        (7, "bounds must be a pair"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(bounds: Any, words: str) -> None:
    refused(KMeans(epsilon=1, n_clusters=2, bounds=bounds), ValueError, words)


def test_bounds_without_an_end_are_refused() -> None:
    refused(PCA(epsilon=1, bounds=(0, float("inf"))), sulq.errors.SchemaError, "finite")


def test_a_column_that_cannot_vary_is_refused_where_it_has_no_scale() -> None:
    refused(PCA(epsilon=1, bounds={"a": (0, 1), "b": (1, 1)}), sulq.QueryError, "'b' cannot vary")


@pytest.mark.parametrize("values", [X["a"].astype(str), pd.Categorical(Y)])
def test_texts_without_a_schema_are_refused(values: Any) -> None:
    frame = X.assign(b=values)
    for table in (frame, pl.from_pandas(frame)):
        for estimator in all_of_them():
            if not isinstance(estimator, ConjunctionClassifier):
                refused(estimator, ValueError, "categories declared, as public facts: .*: b", table)


def test_bounds_and_a_schema_are_refused() -> None:
    schema = {"a": sulq.Real(0, 1), "b": sulq.Real(0, 1)}
    refused(PCA(epsilon=1, bounds=(0, 1), schema=schema), ValueError, "not both")


def test_a_schema_must_have_the_columns() -> None:
    refused(PCA(epsilon=1, schema={"c": sulq.Real(0, 1)}), sulq.errors.SchemaError, "no column 'c'")
    refused(
        PCA(epsilon=1, schema={"c": sulq.Real(0, 1)}), ValueError, "2 columns without names", X.to_numpy()
    )


def test_classes_must_be_declared() -> None:
    for kind in (TreeClassifier, PerceptronClassifier, SelectClassifier):
        refused(kind(epsilon=1, bounds=(0, 1)), ValueError, "never read off the data.*'from y'")
    refused(ConjunctionClassifier(epsilon=1), ValueError, "never read off the data.*'from y'")


@pytest.mark.parametrize("classes", ["no", ["no"], ["no", "no"], [], 2, [["no", "yes"]], [None, "no"]])
def test_classes_that_make_no_sense_are_refused(classes: Any) -> None:
    refused(TreeClassifier(epsilon=1, bounds=(0, 1), classes=classes), ValueError, "classes must be a list")


def test_a_label_of_one_value_is_learned_or_refused() -> None:
    y = np.full(len(X), "no")
    for classes in (CLASSES, "from y"):
        fitted = TreeClassifier(epsilon=100, bounds=(0, 1), classes=classes).fit(X, y)
        assert (fitted.predict(X) == "no").all()
    for two in (
        PerceptronClassifier(epsilon=1, bounds=(0, 1), classes="from y"),
        ConjunctionClassifier(epsilon=1, classes="from y"),
        SelectClassifier(epsilon=1, bounds=(0, 1), classes="from y"),
    ):
        refused(two, ValueError, "two classes are needed", y=y)
    PerceptronClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES).fit(X, y)


def test_three_classes_are_refused_by_those_that_know_two() -> None:
    three = [*CLASSES, "maybe"]
    refused(PerceptronClassifier(epsilon=1, bounds=(0, 1), classes=three), ValueError, "Only binary")
    refused(ConjunctionClassifier(epsilon=1, classes=three), ValueError, "Only binary")
    refused(SelectClassifier(epsilon=1, bounds=(0, 1), classes=three), ValueError, "Only binary")


def test_a_column_named_twice_is_refused() -> None:
    twice = pd.concat([X["a"], X["a"]], axis=1)
    for estimator in all_of_them():
        refused(estimator, ValueError, "named twice: a, a", twice)


@pytest.mark.parametrize("empty", [X[:0], X.to_numpy()[:0], X[[]], pl.from_pandas(X)[:0]])
def test_no_rows_and_no_columns_are_refused(empty: Any) -> None:
    for estimator in all_of_them():
        refused(
            estimator, ValueError, r"0 (sample\(s\)|row\(s\)|feature\(s\))|0 feature", empty, Y[: len(empty)]
        )


def test_no_rows_are_as_good_as_any_where_their_number_is_private() -> None:
    for estimator in all_of_them(neighbours="add-remove"):
        for empty in (X[:0], X.to_numpy()[:0]):
            estimator.fit(empty, np.array([], dtype=str))


def test_labels_and_rows_must_be_as_many() -> None:
    for estimator in all_of_them():
        if is_classifier(estimator):
            refused(estimator, ValueError, "60 rows and y has 59 labels", y=Y[:-1])


def test_more_clusters_than_rows_are_found() -> None:
    fitted = KMeans(epsilon=1, bounds=(0, 1), n_clusters=100).fit(X)
    assert fitted.cluster_centers_.shape == (100, 2)
    assert fitted.transform(X).shape == (60, 100)


def test_constant_columns_are_learned_from() -> None:
    constant = X.assign(a=0.25, b=7.0)
    for estimator in all_of_them():
        fitted = estimator.fit(constant, Y)
        fitted.predict(constant) if hasattr(fitted, "predict") else fitted.transform(constant)


def test_a_tree_of_depth_0_says_what_most_rows_have() -> None:
    y = np.where(X["a"] > 0.2, "yes", "no")
    fitted = TreeClassifier(epsilon=100, bounds=(0, 1), classes=CLASSES, depth=0).fit(X, y)
    assert set(fitted.predict(X)) == {"yes"}
    assert fitted.predict_proba(X[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (TreeClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, depth=-1), "depth"),
        (TreeClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, bins={"c": [1]}), "'c'"),
        (PerceptronClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, iterations=0), "iterations"),
        (SelectClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, size=0), "most must be"),
        (SelectClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, bins=1), "no columns"),
        (SelectClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, edges={"c": [1]}), "'c'"),
        (SelectClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES, bins=500), "smaller conjunctions"),
        (KMeans(epsilon=1, bounds=(0, 1), n_clusters=0), "k must be"),
        (PCA(epsilon=1, bounds=(0, 1), n_components=3), "components must be a whole number from 1 to 2"),
        (
            TruncatedSVD(epsilon=1, bounds=(0, 1), n_components=0),
            "components must be a whole number from 1 to 2",
        ),
    ],
)
def test_the_learners_own_refusals_come_through(estimator: Any, words: str) -> None:
    refused(estimator, sulq.QueryError, words)


NASTY: list[Any] = [
    None,
    float("nan"),
    float("inf"),
    -1e308,
    "text",
    "",
    b"\xff",
    10**400,
    1j,
    {"a": 1},
    ["list"],
    object(),
]


def test_no_cell_and_no_label_is_an_error() -> None:
    cells, labels = np.empty((60, 2), dtype=object), np.empty(60, dtype=object)
    cells[:], labels[:] = X.to_numpy(), Y
    for row, cell in enumerate(NASTY):
        cells[row, 1] = labels[row] = cell
    for estimator in all_of_them():
        for table in (cells, pd.DataFrame(cells, columns=["a", "b"])):
            estimator.fit(table, labels)
            estimator.predict(table) if hasattr(estimator, "predict") else estimator.transform(table)


def test_no_cell_of_a_list_is_an_error() -> None:
    rows, labels = X.to_numpy().tolist(), Y.tolist()
    for row, cell in enumerate(NASTY):
        rows[row][1] = labels[row] = cell
    for estimator in all_of_them():
        estimator.fit(rows, labels)


SECRET = 111_222_333
STRANGE: list[Any] = [
    np.full(60, SECRET),
    np.full((60, 2, 2), SECRET),
    np.array(SECRET),
    [SECRET] * 60,
    (SECRET,) * 60,
    np.full((60, 2), SECRET * 1j),
    np.array([str(SECRET)] * 60),
    np.full((0, 2), SECRET),
    np.full((60, 0), SECRET),
    pd.Series([SECRET] * 60),
    {"a": [SECRET] * 60},
    str(SECRET),
    SECRET,
    None,
]


def said_in_full(error: BaseException | None) -> str:
    """All that a traceback would print of an error: its own words, and those of what it came from."""
    said = ""
    while error is not None:
        said += str(error)
        error = error.__cause__ or error.__context__
    return said


@pytest.mark.parametrize("x", STRANGE, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
def test_a_refusal_of_a_table_says_nothing_of_its_cells(x: Any) -> None:
    for estimator in all_of_them():
        fitted = sklearn.base.clone(estimator).fit(X, Y)
        for method in (estimator.fit, getattr(fitted, "predict", None) or fitted.transform):
            with pytest.raises((ValueError, TypeError, sulq.SulqError)) as refused:
                method(x, Y) if method == estimator.fit else method(x)
            assert str(SECRET)[:6] not in said_in_full(refused.value)
            assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "y", [np.full((60, 2), SECRET), np.full(59, SECRET), np.full(60, SECRET * 1j), SECRET]
)
def test_a_refusal_of_labels_says_nothing_of_them(y: Any) -> None:
    for estimator in all_of_them():
        if is_classifier(estimator):
            estimator.classes = "from y"
            with pytest.raises(ValueError) as refused:
                estimator.fit(X, y)
            assert str(SECRET)[:6] not in said_in_full(refused.value)


class Unreadable:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError(f"a cell holds {SECRET}")


def test_what_fails_to_be_an_array_says_nothing_of_why() -> None:
    with pytest.raises(ValueError, match="of type Unreadable cannot be read") as refused:
        PCA(epsilon=1, bounds=(0, 1)).fit(Unreadable())
    assert str(SECRET) not in said_in_full(refused.value)
    with pytest.raises(ValueError, match="of type Unreadable cannot be read") as refused:
        TreeClassifier(epsilon=1, bounds=(0, 1), classes=CLASSES).fit(X, Unreadable())
    assert str(SECRET) not in said_in_full(refused.value)


ODD_LABELS: list[Any] = [[1, 1], [], None, float("nan"), float("inf"), 10**500, object(), {"a": 1}, b"x"]
ODD_LABELS += [np.array([1, 2]), [[1]], 1j, pd.NA, pd.NaT, np.datetime64("NaT", "ns")]


def as_list(labels: list[Any]) -> Any:
    return labels


def as_objects(labels: list[Any]) -> Any:
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


@pytest.mark.parametrize("odd", ODD_LABELS, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("container", [as_list, as_objects, lambda labels: pd.Series(as_objects(labels))])
def test_a_label_that_cannot_be_read_is_one_row_s_and_moves_no_other(
    odd: Any, listed: bool, container: Any
) -> None:
    """It used to be that of 2,000 labels [1] one [1, 1] made lists of all, which are no labels."""
    labels: list[Any] = [[number % 2] if listed else number % 2 for number in range(40)]
    labels[7] = odd
    found = labels_of(container(labels), 40, "Tree")
    expected = [number % 2 for number in range(40)]
    expected[7] = 0
    for classes in (np.array([0, 1]), classes_of("from y", found)):
        assert classes.tolist() == [0, 1]
        assert codes_of(found, classes).tolist() == expected


def test_a_row_of_another_length_is_a_row_of_missing_values() -> None:
    rows: list[Any] = [[0.25, 0.75]] * 59
    missing = PCA(n_components=1, epsilon=1e6, bounds=(0, 1)).fit([*rows, [None, None]])
    for odd in ([0.25], [0.25] * 3, [], None, 7, "ab", [[1, 2], 3], np.array(0.5), {"a": 1}):
        for given in ([*rows, odd], as_objects([*rows, odd])):
            learned = PCA(n_components=1, epsilon=1e6, bounds=(0, 1)).fit(given)
            if not isinstance(odd, list) or len(odd) != 2:
                assert learned.mean_ == pytest.approx(missing.mean_, abs=1e-3)
            assert learned.n_features_in_ == 2
