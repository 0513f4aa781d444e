"""Cap reports: masses of caps against SciPy's, a promise that holds with room, and the least error known."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import integrate, optimize, special

from sulq import loops
from sulq.errors import QueryError
from sulq.local import Ball, CapReport, Item, SphereReport, best_randomizer, cap, randomizer_of
from sulq.local.caps import LEAST_MASS, MARGIN, MASSES, cap_mass, moments_of, stated_mass
from sulq.local.directions import Stream
from sulq.local.draws import ONE
from sulq.loops import plain_directions
from tests.effort import either, examples
from tests.local.test_randomizers import around, power

EPSILONS = st.fractions(Fraction(1, 100), 10, max_denominator=10**6)
DIMENSIONS = [1, 2, 3, 4, 5, 8, 31, 100, 999, 10_000]


def true_mass(d: int, threshold: float) -> float:
    """By the incomplete beta function."""
    return float(special.betainc((d - 1) / 2, 0.5, 1 - threshold**2)) / 2


@pytest.mark.parametrize(("epsilon", "factor"), [(1, 1.16), (2, 1.67), (4, 3.87)])
@pytest.mark.parametrize("d", [1000, 10_000])
def test_the_variance_is_smaller_than_that_by_a_plane_by_the_tables_factor(
    d: int, epsilon: int, factor: float
) -> None:
    """The table has 3.9 for the limit of many dimensions, which is 3.882."""
    best, printed = (best_randomizer(Ball(d, 2.0), epsilon, method) for method in ("best", "printed"))
    assert isinstance(best, CapReport) and isinstance(printed, SphereReport)
    assert printed.variance(1) / best.variance(1) >= factor
    assert (printed.reach / best.reach) ** 2 >= factor


@pytest.mark.parametrize(("d", "factors"), [(2, (1.09, 1.35, 1.95)), (8, (1.14, 1.60, 3.33))])
def test_in_few_dimensions_it_is_smaller_too(d: int, factors: tuple[float, ...]) -> None:
    for epsilon, factor in zip((1, 2, 4), factors, strict=True):
        assert SphereReport(d, 1, epsilon).variance(1) / CapReport(d, 1, epsilon).variance(1) >= factor


@pytest.mark.parametrize("d", DIMENSIONS[1:])
def test_the_mass_of_a_cap_is_that_of_the_incomplete_beta_function(d: int) -> None:
    for threshold in np.linspace(0, min(0.95, 2.4 / math.sqrt(d)), 25):
        assert cap_mass(d, threshold) == pytest.approx(true_mass(d, threshold), rel=1e-10)


@pytest.mark.parametrize("d", [*range(2, 40), 100, 1000, 10_000, 2**20])
def test_the_density_at_the_edge_of_a_cap_is_at_most_what_the_proof_says(d: int) -> None:
    """And what words, series and floats change of the mass of a cap stays below the margin. Beside its mass, a density
    is largest for the smallest caps."""
    least = LEAST_MASS / 2
    edge = optimize.brentq(lambda threshold: true_mass(d, threshold) - least, 0, 1 - 1e-12, xtol=1e-15)
    log_density = (d - 3) / 2 * math.log1p(-(edge**2)) + math.lgamma(d / 2) - math.lgamma((d - 1) / 2)
    density = math.exp(log_density) / math.sqrt(math.pi)
    most = max(2000, 3 * math.sqrt(d))
    assert density / least < most
    changed = most * (1e-12 + d * 2.0**-52) + (d + 1) // 2 * 2.0**-49.8 / least
    assert changed < (1e-8 if d <= 10_000 else 0.9 * MARGIN)


@pytest.mark.parametrize("d", DIMENSIONS)
@settings(max_examples=examples(15))
@given(epsilon=EPSILONS)
def test_a_mass_is_stated_to_be_smaller_than_it_is_and_the_ratio_keeps_epsilon(
    d: int, epsilon: Fraction
) -> None:
    report = CapReport(d, 1, epsilon)
    stated = report.mass / MASSES
    if report.threshold == 0:
        assert stated == 0.5
    else:
        true = true_mass(d, report.threshold)
        assert true * (1 - 2 * MARGIN) - 1 / MASSES <= stated <= true * (1 - MARGIN / 2)
        assert (1 - report.lies / ONE) / (report.lies / ONE) * (1 - true) / true < float(power(epsilon))
    assert report.ratio <= power(epsilon)
    form = report.form
    form["lies"] = str(report.lies - 1)
    assert randomizer_of(form).ratio > power(epsilon)


@pytest.mark.parametrize("d", [2, 3, 8, 100])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)], ids=str)
def test_the_moments_of_reports_on_a_unit_vector_are_those_of_the_density(d: int, epsilon: Fraction) -> None:
    """By numerical integration over the angle from the vector."""
    report = CapReport(d, 1, epsilon)
    mass, p, edge = true_mass(d, report.threshold), 1 - report.lies / ONE, math.acos(report.threshold)

    def moment(power_: int, low: float, high: float) -> float:
        def height(angle: float) -> float:
            return math.cos(angle) ** power_ * math.sin(angle) ** (d - 2)

        whole, _ = integrate.quad(lambda angle: math.sin(angle) ** (d - 2), 0, math.pi, limit=200)
        part, _ = integrate.quad(height, low, high, limit=200)
        return float(part / whole)

    found = moments_of(d, report.threshold, report.lies)
    for power_, value in ((1, found.mean), (2, found.square)):
        inside, outside = moment(power_, 0, edge), moment(power_, edge, math.pi)
        assert value == pytest.approx(p * inside / mass + (1 - p) * outside / (1 - mass), rel=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("length", [0.0, 0.3, 0.6, 0.97, 1.0])
def test_reports_are_without_bias_and_vary_in_no_coordinate_by_more_than_is_said(
    d: int, length: float
) -> None:
    """A mean is off by 6 deviations with a chance of 2e-9 for each of 56 numbers; a variance of so many by 4 % (8 %
    with fewer) with less."""
    n, report = either(40_000, 400_000), CapReport(d, 2, 3)
    vector = np.zeros(d)
    vector[0] = 2 * length
    told = report.reach * report.sample(np.tile(vector, (n, 1)))
    assert np.abs(told.mean(axis=0) - vector).max() < 6 * math.sqrt(report.variance(n))
    assert told.var(axis=0).max() <= report.variance(1) * (1 + 16 / math.sqrt(n))
    if length == 0:
        assert told.var(axis=0).min() >= report.reach**2 / d * (1 - 16 / math.sqrt(n))
    # The squared distance is known exactly.
    square = np.square(told - vector).sum(axis=1).mean()
    assert square == pytest.approx(report.reach**2 - (2 * length) ** 2, rel=30 / math.sqrt(n))


@pytest.mark.parametrize("length", [0.0, 0.5, 1.5, 2.0])
def test_the_density_of_reports_on_short_vectors_is_what_is_drawn(length: float) -> None:
    """In three dimensions how far along a vector a direction is, is uniform: 20 parts, n = 50,000, false alarm 1e-9."""
    n, report, vector = 50_000, CapReport(3, 2, 2), np.array([length, 0.0, 0.0])
    drawn = report.sample(np.tile(vector, (n, 1)))
    check_densities(report, drawn, vector, np.array([1.0, 0.0, 0.0]))


def check_densities(report: CapReport, drawn: Any, vector: Any, unit: Any, parts: int = 20) -> None:
    """How many directions are how far along a vector, beside the mean density there: 6.7 deviations."""
    edges = np.linspace(-1, 1, parts + 1)
    counts, _ = np.histogram(drawn @ unit, edges)
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        along = low + (high - low) * (np.arange(16) + 0.5) / 16
        reports = [each for x in along for each in around(unit, x, 16)]
        expected = len(drawn) * float(np.mean([float(report.pmf(each, vector)) for each in reports])) / parts
        assert abs(count - expected) < 6.7 * math.sqrt(expected) + 0.03 * expected


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_no_two_vectors_have_densities_that_differ_by_more_than_the_ratio(
    one: list[float], other: list[float], seed: int
) -> None:
    report = CapReport(3, 1, 2)
    direction = np.random.default_rng(seed).standard_normal(3)
    direction /= np.linalg.norm(direction)
    chances = [report.pmf(direction, vector) for vector in (one, other)]
    assert max(chances) <= report.ratio * min(chances)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e307])
def test_vectors_of_any_size_are_reported(scale: float) -> None:
    report = CapReport(3, 1, 2)
    drawn = report.sample(np.array([[scale, -scale, scale], [0.0, 0.0, 0.0]]))
    assert np.linalg.norm(drawn, axis=1) == pytest.approx([1, 1])


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many directions are tried, call by call. The loops in NumPy return what the compiled ones do."""
    original, counts = plain_directions.drawn_pairs, list[int]()

    def counted(key: Any, group: int, flat: bool, many: int) -> Any:
        counts.append(many)
        return original(key, group, flat, many)

    monkeypatch.setattr(plain_directions, "drawn_pairs", counted)
    for name in ("normals", "met"):
        monkeypatch.setattr(loops, name, getattr(plain_directions, name))
    return counts


VECTORS = ([1.0] + [0.0] * 7, [0.1] * 8, [0.0] * 8)


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_how_many_directions_are_drawn_does_not_hang_on_the_vector(
    vector: list[float], tries: list[int]
) -> None:
    """Of long, short and no vectors: the mean number of tries, by its law. 6 deviations: false alarm 1e-8."""
    report, n = CapReport(8, 1, 4), 20_000
    p, mass = 1 - report.lies / ONE, cap_mass(8, report.threshold)
    expected = p / (2 * mass) + (1 - p) / (1 - mass)
    report.sample(np.tile(vector, (n, 1)))
    assert sum(tries) / 4 / n == pytest.approx(expected, abs=6 / (2 * mass) / math.sqrt(n))


@pytest.mark.parametrize("outside", [False, True])
def test_on_a_device_how_many_are_drawn_does_not_hang_on_the_side_that_is_reported(
    outside: bool, tries: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws go on until both sides were met: 1/c + 1/(1 − c) − 1 in the mean. 7 deviations: false alarm 1e-10."""
    report, n = CapReport(3, 1, 3), either(400, 4000)
    monkeypatch.setattr(cap, "below", lambda threshold, size: np.full(size, outside))
    told = [report.sample(np.tile([0.0, 1.0, 0.0], (cap.FEW, 1))) for _ in range(n // cap.FEW)]
    along = np.concatenate(told)[:, 1]
    # Here a coin of "below" also says how far along the vector a person is rounded; the vector is a unit vector.
    assert ((along < report.threshold) == outside).all()
    mass, people = cap_mass(3, report.threshold), n // cap.FEW * cap.FEW
    assert sum(tries) / 2 / people == pytest.approx(
        1 / mass + 1 / (1 - mass) - 1, abs=7 / mass / math.sqrt(people)
    )


def test_reports_of_few_people_follow_the_law_of_reports_of_many() -> None:
    """In three dimensions, how far along is uniform on either side: 10 parts, 6.7 deviations, false alarm 1e-9."""
    n, report, vector = either(8_000, 50_000), CapReport(3, 2, 2), np.array([0.3, 0.9, -0.6])
    given = np.tile(vector, (cap.FEW, 1))
    drawn = np.concatenate([report.sample(given) for _ in range(n // cap.FEW)])
    check_densities(report, drawn, vector, vector / np.linalg.norm(vector), parts=10)


def test_nobody_is_offered_a_direction_that_was_drawn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of words are used once: one range of them after the other, and anew at every call of sample."""
    used, keys = list[tuple[int, int]](), set[bytes]()
    for name in ("aimed", "met", "normals"):
        original = getattr(loops, name)

        def watched(key: Any, group: int, *more: Any, original: Any = original) -> Any:
            found = original(key, group, *more)
            keys.add(key.tobytes())
            used.append((group, found if isinstance(found, int) else found[1]))
            return found

        monkeypatch.setattr(loops, name, watched)
    for report, n in (
        (CapReport(64, 1, 4), 5000),
        (CapReport(64, 1, 4), 2048 + cap.FEW),
        (CapReport(2, 1, 1), 3),
    ):
        drawn = report.sample(np.zeros((n, report.d)))
        assert len(np.unique(drawn, axis=0)) == n
        assert used[0][0] == 0 and all(count > 0 for _, count in used)
        assert [group for group, _ in used[1:]] == np.cumsum([count for _, count in used[:-1]]).tolist()
        used.clear()
    assert len(keys) == 3


def test_every_vector_is_rounded_to_one_of_length_1() -> None:
    """A shorter one would have a smaller cap. And what is across a vector is so, in all its directions alike."""
    for d in (2, 5):
        report, rng = CapReport(d, 1, 3), np.random.default_rng(0)
        vectors = rng.standard_normal((d, 20_000)) * 10.0 ** rng.integers(-200, 5, 20_000)
        made = report._rounded(vectors.T, Stream())
        assert np.abs(np.square(made).sum(axis=0) - 1).max() < 1e-14
        short = np.tile(vectors[:, :1] / np.linalg.norm(vectors[:, :1]) / 2, (1, 50_000))
        made = report._rounded(short.T, Stream())
        assert np.abs(made.mean(axis=1) - short[:, 0]).max() < 7 / math.sqrt(50_000)
        # E[yyᵀ] = s·vvᵀ + (1 − s)/(d − 1)·(I − vvᵀ) with s = a² + b²: within 7 deviations of at most 1.
        v, s = 2 * short[:, 0], 0.25 + 0.75 / d if d > 2 else 0.25 + 0.25
        expected = s * np.outer(v, v) + (1 - s) / (d - 1) * (np.eye(d) - np.outer(v, v))
        assert np.abs(made @ made.T / 50_000 - expected).max() < 7 / math.sqrt(50_000)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"mass": MASSES // 2}, "the mass of this cap is not what is stated"),
    ({"mass": 1}, "or the cap is too small"),
    ({"mass": 0}, "mass must be a whole number"),
    ({"threshold": 1.0}, "a cap begins between 0 and 1"),
    ({"threshold": -0.1}, "a cap begins between 0 and 1"),
    ({"threshold": "0.1"}, "threshold is a number"),
    ({"d": 1, "threshold": 0.1}, "in one dimension at 0"),
    ({"lies": str(ONE - 1)}, "say nothing of a value"),
    ({"norm": -1}, "a norm is a finite number"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=str)
def test_a_form_of_a_cap_report_that_is_none_is_refused_in_one_line(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(QueryError, match=words):
        randomizer_of(CapReport(3, 1, 2).form | change)


def test_a_cap_that_is_said_to_be_a_little_larger_than_it_is_is_refused() -> None:
    form = CapReport(8, 1, 2).form
    for part, fine in ((0, True), (MARGIN / 4, True), (MARGIN, False), (1e-3, False)):
        changed = form | {"mass": math.floor(stated_mass(8, form["threshold"]) * (1 + part))}
        if fine:
            randomizer_of(changed)
        else:
            with pytest.raises(QueryError, match="not what is stated"):
                randomizer_of(changed)


def test_a_plane_stays_where_a_cap_is_hardly_better() -> None:
    assert isinstance(best_randomizer(Ball(1, 1.0), 4), SphereReport)
    assert isinstance(best_randomizer(Ball(8, 1.0), "1/10"), SphereReport)


AGE = {"name": "age", "node": "column"}
BEFORE = {
    "condition": None,
    "epsilon": "1",
    "group": None,
    "item": 1,
    "method": "best",
    "randomizer": {
        "bit": {"is": "response", "lies": "4961093570831980854"},
        "d": 2,
        "is": "sphere",
        "norm": 170.0,
        "randomizer": 1,
    },
    "rows": 1,
    "schema": "9aea21022d7a2c561b2edb41c4990a95ea7846fef6ef006024ccc903e27aa99e",
    "shape": {"is": "ball", "norm": 170.0, "size": 2},
    "value": {"node": "vector", "parts": [AGE, AGE]},
}
"""An item as it was written before there were cap reports."""


def test_an_item_that_was_written_before_keeps_its_randomizer_its_form_and_its_name() -> None:
    item = Item.from_json(json.dumps(BEFORE))
    assert (item.method, item.described) == ("printed", "side of a random plane")
    assert item.form() == BEFORE
    assert item.key == "4d99311f3f5f05e1e084ce1366df88242b60f0d893fe51549c066455b0d90c0c"
