"""What expressions mean, on tables small enough to do by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.queries.node import Node
from sulq.queries.scope import Scope
from sulq.sources.source import Source

col = sulq.col
ROWS = {
    "age": [30, 64, 65, 90],
    "pay": [0.1, 2.5, 7.0, 10.0],
    "sick": [True, False, True, True],
    "old": [False, False, True, True],
    "plan": ["free", "half", "free", "none of these"],
}
SCHEMA = sulq.Schema(
    {
        "age": sulq.Integer(0, 120),
        "pay": sulq.Real(0, 10),
        "sick": sulq.Boolean(),
        "old": sulq.Boolean(),
        "plan": sulq.Category(["free", "half"]),
    }
)


@pytest.fixture
def people() -> Source:
    return sulq.open({name: np.array(values) for name, values in ROWS.items()}, SCHEMA)


def asked(people: Source, query: sulq.Query) -> Any:
    return people.exact().ask(sulq.Round([query]))[0].value


def row_values(people: Source, expression: Node) -> list[Any]:
    """The value on each row, from totals over single rows."""
    ages = ROWS["age"]
    return [asked(people, sulq.total(expression, where=col("age") == age)) for age in ages]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (col("age") + 1, [31, 65, 66, 91]),
        (1 - col("age"), [-29, -63, -64, -89]),
        (col("age") * col("age"), [900, 4096, 4225, 8100]),
        (2 * col("sick") - 1, [1, -1, 1, 1]),
        (col("age") >= 65, [0, 0, 1, 1]),
        (col("age") > 64.5, [0, 0, 1, 1]),
        (col("age") >= 64.5, [0, 0, 1, 1]),
        (col("age") < 64.5, [1, 1, 0, 0]),
        (col("pay") >= 0.1, [1, 1, 1, 1]),
        (col("pay") == 0.1, [1, 0, 0, 0]),
        (col("pay") <= 0.1, [1, 0, 0, 0]),
        (col("pay") != 7, [1, 1, 0, 1]),
        (col("plan") == "free", [1, 0, 1, 0]),
        (col("plan") != "free", [0, 1, 0, 1]),
        (col("plan").isin("half", "(other)"), [0, 1, 0, 1]),
        (col("plan") == "free", [1, 0, 1, 0]),
        (col("sick") & ~col("old"), [1, 0, 0, 0]),
        (col("sick") | col("old"), [1, 0, 1, 1]),
        (col("sick") == col("old"), [0, 1, 1, 1]),
        (sulq.where(col("sick"), col("age"), -1), [30, -1, 65, 90]),
        (sulq.clip(col("age"), 40, 70), [40, 64, 65, 70]),
        (sulq.parity([col("sick"), col("old"), col("age") > 80], [1, 1, 0]), [1, 0, 0, 0]),
        (sulq.parity([col("sick"), col("old"), col("age") > 80], [1, 1, 1]), [1, 0, 0, 1]),
        (sulq.parity([col("sick")], [0]), [0, 0, 0, 0]),
        (sulq.lookup(col("plan"), [10, 0.5, -3]), [10, 0.5, 10, -3]),
        (sulq.lookup(sulq.bins(col("age"), [50, 65]), [1, 2, 3]), [1, 2, 3, 3]),
        (sulq.dot(sulq.vector(col("age"), col("sick")), [2, 100]), [160, 128, 230, 280]),
        (sulq.dot(sulq.vector(col("age"), 1), sulq.vector(col("sick"), col("old"))), [30, 0, 66, 91]),
        (sulq.lookup(sulq.nearest(sulq.vector(col("age")), [[0], [60], [70]]), [0, 1, 2]), [0, 1, 1, 2]),
        (sulq.lookup(col("sick"), [5, 7]), [7, 5, 7, 7]),
    ],
)
def test_expressions_mean_what_they_say(people: Source, expression: Node, expected: list[float]) -> None:
    assert row_values(people, expression) == expected


def test_the_first_of_equally_near_centres_wins(people: Source) -> None:
    near = sulq.nearest(sulq.vector(col("age")), [[25], [35], [95]])
    assert asked(people, sulq.count(by=near)).tolist() == [1, 2, 1], "30 and 65 lie half way"


def test_features_map_public_intervals_onto_minus_one_to_one(people: Source) -> None:
    both = row_values(people, sulq.features("age", "pay", "sick"))
    expected = [
        [a / 60 - 1, p / 5 - 1, 1 if s else -1]
        for a, p, s in zip(ROWS["age"], ROWS["pay"], ROWS["sick"], strict=True)
    ]
    assert np.allclose(both, expected, atol=2**-14)
    assert np.abs(both).max() <= 1


def test_norms_are_clipped_and_short_vectors_left_alone(people: Source) -> None:
    pair = sulq.vector(col("age") * 0.01, col("pay"))
    for order, length in ((1, lambda v: np.abs(v).sum()), (2, np.linalg.norm)):
        clipped = row_values(people, sulq.clip_norm(pair, 3, order))
        for short, long in zip(clipped, row_values(people, pair), strict=True):
            assert length(short) <= 3
            assert np.allclose(short, np.asarray(long) * min(1, 3 / length(long)), atol=1e-4)


def test_products_of_vectors(people: Source) -> None:
    v = sulq.vector(col("sick"), col("old"), 2)
    w = np.array([ROWS["sick"], ROWS["old"], [2] * 4], dtype=float)
    assert np.array_equal(asked(people, sulq.total(sulq.outer(v, v))).reshape(3, 3), w @ w.T)
    assert np.array_equal(asked(people, sulq.total(sulq.gram(v))), (w @ w.T)[np.triu_indices(3)])


def test_groups_conditions_and_means(people: Source) -> None:
    assert asked(people, sulq.count()) == 4
    assert asked(people, sulq.count(where=col("sick"))) == 3
    assert asked(people, sulq.count(by=["plan", "sick"])).tolist() == [[0, 2], [1, 0], [0, 1]]
    assert asked(people, sulq.count(by=["sick", "plan"])).tolist() == [[0, 1, 0], [2, 0, 1]]
    assert asked(people, sulq.count(by=["sick", "sick"])).tolist() == [[1, 0], [0, 3]]
    assert asked(people, sulq.total(col("age"), by="plan")).tolist() == [95, 64, 90]
    assert asked(people, sulq.total(sulq.vector(col("age"), 1), by="sick")).tolist() == [[64, 1], [185, 3]]
    assert asked(people, sulq.mean(col("age"), where=col("sick"))) == pytest.approx(185 / 3)
    means = asked(people, sulq.mean(col("age"), by=sulq.bins(col("age"), [10, 65])))
    assert np.isnan(means[0])
    assert means[1:].tolist() == [47, 77.5]


def test_substitution_rewrites_columns_everywhere() -> None:
    label = 2 * col("sick") - 1
    flipped = (label * col("age")).given(sick=~col("sick"))
    assert flipped.key == ((2 * ~col("sick") - 1) * col("age")).key
    assert sulq.features("age", "pay").given(pay=col("age")).key == sulq.features("age", col("age")).key


def expect(complaint: str, expression: Node | sulq.Query) -> None:
    query = expression if isinstance(expression, sulq.Query) else sulq.total(expression)
    with pytest.raises(sulq.SulqError, match=complaint):
        sulq.Round([query]).sensitivity(SCHEMA, 1)


def test_nonsense_is_refused_from_the_schema_alone() -> None:
    expect("no column 'agee'", col("agee"))
    expect("column 'plan' is a category, not a number", col("plan") + 1)
    expect("has no value 'gold'; it has free, half", col("plan") == "gold")
    expect("compare it with one of its values", col("plan") < "free")
    expect("can only be compared with a category", col("age") == "free")
    expect("is not true or false", col("age") & col("sick"))
    expect("is not true or false", sulq.count(where=col("age")))
    expect("no short list of values", sulq.count(by="pay"))
    expect("cannot be combined", sulq.vector(1, 2) + sulq.vector(1, 2, 3))
    expect("only single numbers can be compared", sulq.vector(1, 2) < 3)
    expect("inner product of 2 and 3", sulq.dot(sulq.vector(1, 2), [1, 2, 3]))
    expect(
        "the centres have 1 coordinates, the point has 2",
        sulq.count(by=sulq.nearest(sulq.vector(1, 2), [[1]])),
    )
    expect("2 entries for 3 possibilities", sulq.lookup(col("plan"), [1, 2]))
    expect("too many to answer at once", sulq.count(by=[col("age")] * 4))
    expect("leaves nothing", sulq.clip(col("age"), 500, 600))


def test_nonsense_is_refused_when_written() -> None:
    for complaint, make in (
        ("no truth value", lambda: bool(col("sick"))),
        ("must be finite", lambda: col("age") + float("nan")),
        ("must be finite", lambda: col("age") * float("inf")),
        ("cannot be part", lambda: col("age") * [1]),
        ("in increasing order", lambda: sulq.bins(col("age"), [2, 1])),
        ("in increasing order", lambda: sulq.bins(col("age"), [])),
        ("at least one centre", lambda: sulq.nearest(col("age"), [])),
        ("all of the same length", lambda: sulq.nearest(col("age"), [[1], [1, 2]])),
        ("mask", lambda: sulq.parity([col("sick")], [1, 0])),
        ("mask", lambda: sulq.parity([col("sick")], [2])),
        ("named twice", lambda: sulq.features("age", "age")),
        ("at least one", lambda: sulq.features()),
        ("at least one coordinate", lambda: sulq.vector()),
        ("positive number", lambda: sulq.clip_norm(sulq.vector(1), 0)),
        ("order 1 and 2", lambda: sulq.clip_norm(sulq.vector(1), 1, order=3)),
        ("cannot clip between", lambda: sulq.clip(col("age"), 2, 1)),
        ("a round is a list", lambda: sulq.Round([])),
        ("a round is a list", lambda: sulq.Round([col("age")])),
        ("a row expression is needed", lambda: sulq.col(3)),
    ):
        with pytest.raises(sulq.QueryError, match=complaint):
            make()


def test_known_sensitivities() -> None:
    """The table of the design, row by row; a person here is one row."""

    def moves(query: sulq.Query) -> list[float]:
        round_ = sulq.Round([query])
        return [
            round(float(round_.sensitivity(SCHEMA, p, n)), 6)
            for n in ("add-remove", "replace")
            for p in (1, 2)
        ]

    root = 1.414214
    assert moves(sulq.count()) == [1, 1, 0, 0]
    assert moves(sulq.count(where=col("sick"))) == [1, 1, 1, 1]
    assert moves(sulq.count(by="plan")) == [1, 1, 2, root]
    assert moves(sulq.count(by=["plan", "sick"])) == [1, 1, 2, root]
    assert moves(sulq.total(col("age"))) == [120, 120, 120, 120]
    assert moves(sulq.total(col("age") - 60)) == [60, 60, 120, 120]
    assert moves(sulq.total(col("age"), by="plan")) == [120, 120, 240, round(120 * 2**0.5, 6)]
    unit = sulq.features("age", "pay", norm=1)
    assert moves(sulq.total(unit)) == [1.414215, 1, 2.82843, 2]
    assert moves(sulq.total(sulq.outer(unit, unit)))[1::2] == [1, root]
    assert moves(sulq.total(sulq.gram(unit)))[1::2] == [1, root]
    assert moves(sulq.total(sulq.gram(unit)))[0] == pytest.approx(1.5, abs=1e-4)
    together = sulq.Round([sulq.count(by="plan"), sulq.count(by="sick"), sulq.count()])
    assert together.sensitivity(SCHEMA, 1) == 4
    assert float(together.sensitivity(SCHEMA, 2)) == pytest.approx(2)
    assert together.sensitivity(SCHEMA, 1, "add-remove") == 3


def test_a_person_of_several_rows_moves_several_times_as_much() -> None:
    several = sulq.Schema(dict(SCHEMA), unit=sulq.Unit("person", rows=3))
    assert sulq.Round([sulq.count()]).sensitivity(several, 1) == 3
    assert sulq.Round([sulq.count(by="plan")]).sensitivity(several, 1) == 6
    assert sulq.Round([sulq.count(by="plan")]).sensitivity(several, 1, "add-remove") == 3
    assert sulq.Round([sulq.total(col("age") - 60)]).sensitivity(several, 2) == 360


def test_sensitivity_is_rounded_up_never_down() -> None:
    two = sulq.Round([sulq.count(by="plan")]).sensitivity(SCHEMA, 2)
    assert two**2 >= 2
    assert two**2 - 2 < Fraction(1, 2**30)


def test_unknown_neighbours_and_orders_are_refused() -> None:
    with pytest.raises(sulq.QueryError, match="replace"):
        sulq.Round([sulq.count()]).sensitivity(SCHEMA, 1, "swap")  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="order"):
        sulq.Round([sulq.count()]).sensitivity(SCHEMA, 3)  # type: ignore[arg-type]


def test_reals_of_any_size_keep_their_precision() -> None:
    for high in (1e-150, 1e-9, 1, 3, 1e9, 1e150):
        scope = Scope(sulq.Schema({"x": sulq.Real(0, high)}))
        facts = scope.number(col("x"))
        assert 2**29 <= facts.high[0] <= 2**30
        source = sulq.open({"x": np.array([high / 3])}, {"x": sulq.Real(0, high)})
        assert asked(source, sulq.total(col("x"))) == pytest.approx(high / 3, rel=1e-8)


def test_extreme_magnitudes_have_an_answer_or_a_refusal_before_any_row() -> None:
    schema = {"x": sulq.Real(0, 1e-199), "y": sulq.Real(0, 1e199)}
    source = sulq.open({"x": np.array([1e-199, 0]), "y": np.array([1e199, 3])}, schema)
    x, y = col("x"), col("y")
    for expression in (
        x + y,
        x * y,
        sulq.clip_norm(sulq.vector(x, y), 1e-190),
        sulq.clip_norm(sulq.vector(x), 1e200),
        sulq.dot(sulq.vector(x), [1e200]),
        sulq.one_hot(sulq.bins(x, [1e-200, 1e200])),
        sulq.one_hot(sulq.nearest(sulq.vector(x, y), [[1e200, 0], [0, 1e200]])),
        sulq.lookup(sulq.bins(x, [0.5]), [1e200, 1e-200]),
        sulq.features("x", "y", norm=1),
    ):
        assert np.isfinite(asked(source, sulq.total(expression))).all()
    for expression in (sulq.gram(sulq.vector(x, y)), y * y, y * 1e200):
        with pytest.raises(sulq.QueryError, match="leave the range of floats"):
            sulq.Round([sulq.total(expression)]).sensitivity(source.schema, 1)


def test_a_column_may_be_named_wherever_no_text_could_be_meant() -> None:
    by_name = [
        sulq.total("age", where="sick"),
        sulq.mean("age"),
        sulq.count(by=sulq.cross("sick", sulq.bins("age", [40]))),
        sulq.total(sulq.vector("age", "sick")),
        sulq.total(sulq.where("sick", "age", 0)),
    ]
    age, sick = sulq.col("age"), sulq.col("sick")
    by_column = [
        sulq.total(age, where=sick),
        sulq.mean(age),
        sulq.count(by=sulq.cross(sick, sulq.bins(age, [40]))),
        sulq.total(sulq.vector(age, sick)),
        sulq.total(sulq.where(sick, age, 0)),
    ]
    assert sulq.Round(by_name).canonical == sulq.Round(by_column).canonical


def test_what_python_has_compared_already_is_no_condition() -> None:
    same = "plan" == "free"
    for ask in (
        lambda: sulq.count(same),  # type: ignore[arg-type]
        lambda: sulq.count(by=3),  # type: ignore[arg-type]
        lambda: sulq.where(same, 1, 0),  # type: ignore[arg-type]
        lambda: sulq.cross(object()),  # type: ignore[arg-type]
    ):
        with pytest.raises(sulq.QueryError, match="a column's name or a row expression is needed"):
            ask()


@pytest.mark.parametrize(
    "table",
    [
        [0.1, -0.3, 5],
        [2**60 - 1, 1, -(2**60) + 1],  # as a float it would be 2^60
        [1e200, 1e-200, -1],
        [1e-200, -3e-201, 0],
        [0.5, 2**53 + 1, -0.25],
    ],
)
def test_a_table_s_numbers_are_truncated_exactly(table):
    expression = sulq.lookup(col("plan"), table)
    bits, entries, rounded = expression._grid(Scope(SCHEMA))
    exact = [Fraction(number) * Fraction(2) ** bits for (number,) in expression.table]
    assert [entry for (entry,) in entries] == [math.trunc(number) for number in exact]
    assert rounded == any(number.denominator > 1 for number in exact)
