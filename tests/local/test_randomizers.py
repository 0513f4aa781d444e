"""One contract for every randomizer: its ε is what enumeration finds, its reports follow its law, and its
estimates are without bias and as good as it says.

The statistical tests state their false-alarm rates; all of this file's together are below 1e-6.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.errors import QueryError, SulqError
from sulq.local.caps import MASSES
from sulq.local.randomizer import Randomizer
from tests.local.cases import CAP, CASES, DENSITY, EPSILONS, FINITE, Case, coarse
from tests.privacy.test_noise import excess

DRAWS = 50_000
COHORTS, PEOPLE = 1000, 400
BETA = 0.05


def power(epsilon: Fraction) -> Fraction:
    """e^ε to 70 digits."""
    with localcontext() as context:
        context.prec = 70
        return Fraction((Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())


def likelihood_ratio(case: Case, randomizer: Randomizer) -> Fraction:
    """The largest ratio of two values' chances of one report."""
    found = Fraction(0)
    for report in case.reports(randomizer):
        chances = [randomizer.pmf(report, value) for value in case.values]
        found = max(found, max(chances) / min(chances))
    return found


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


class TestPrivacy:
    @pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
    def test_the_largest_likelihood_ratio_is_the_one_claimed(
        self, case: Case, epsilon: Fraction, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        coarse(monkeypatch)
        randomizer = case.make(epsilon)
        found = likelihood_ratio(case, randomizer)
        if randomizer.exponent is None:
            assert found == randomizer.ratio
        else:
            assert abs(found / randomizer.ratio - 1) < Fraction(1, 10**50)
            assert found <= randomizer.ratio

    @pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 10**6), Fraction(20)], ids=str)
    def test_the_ratio_is_at_most_what_was_asked_for_and_nearly_that(
        self, case: Case, epsilon: Fraction
    ) -> None:
        randomizer = case.make(epsilon)
        if randomizer.exponent is None:
            assert randomizer.ratio <= power(epsilon)
        else:
            assert randomizer.exponent == epsilon
            assert power(epsilon) <= randomizer.ratio <= power(epsilon) * (1 + Fraction(1, 10**55))
        # 64-bit thresholds leave less than a thousandth of e^ε unused, and less than a thousandth of ε.
        assert randomizer.ratio >= Fraction(999, 1000) * power(epsilon)
        assert 0.999 * epsilon <= randomizer.epsilon <= epsilon * (1 + Fraction(1, 2**52))

    def test_epsilon_is_the_logarithm_of_the_ratio_rounded_up(self, case: Case) -> None:
        for epsilon in EPSILONS:
            randomizer = case.make(epsilon)
            assert power(Fraction(randomizer.epsilon)) * (1 + Fraction(1, 10**55)) >= randomizer.ratio
            assert power(Fraction(math.nextafter(randomizer.epsilon, 0))) < randomizer.ratio

    def test_there_is_no_default_epsilon_and_none_that_is_not_positive(self, case: Case) -> None:
        for wrong in (0, -1, "none", math.nan, math.inf):
            with pytest.raises(SulqError):
                case.make(wrong)

    def test_an_epsilon_may_be_a_text_a_fraction_a_float_or_an_integer(self, case: Case) -> None:
        assert case.make("1/2") == case.make(Fraction(1, 2)) == case.make(0.5)
        assert case.make("1") == case.make(1)

    def test_more_than_enough_epsilon_is_not_an_error(self, case: Case) -> None:
        assert case.make(1000).epsilon <= 1000

    def test_neither_the_shape_nor_the_type_of_reports_depends_on_values(self, case: Case) -> None:
        randomizer = case.make(1)
        kinds = {
            (reports.shape, reports.dtype)
            for value in [*case.values, case.worst]
            for reports in [randomizer.sample(case.cohort([value] * 10))]
        }
        assert len(kinds) == 1


class TestLaw:
    def test_the_chances_of_all_reports_add_up_to_one(
        self, case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An irrational law is summed to fifty digits; a density has opposite halves."""
        coarse(monkeypatch)
        randomizer = case.make(1)
        for value in [*case.values[:3], case.worst]:
            if case.kind == DENSITY:
                for report in case.reports(randomizer):
                    assert randomizer.pmf(report, value) + randomizer.pmf(-report, value) == 2
                continue
            if case.kind == CAP:
                inside, outside = randomizer.densities  # type: ignore[attr-defined]
                mass = Fraction(randomizer.mass, MASSES)  # type: ignore[attr-defined]
                assert mass * inside + (1 - mass) * outside == 1
                continue
            total = sum(randomizer.pmf(report, value) for report in case.reports(randomizer))
            assert total == 1 if case.kind == FINITE else abs(total - 1) < Fraction(1, 10**50)

    def test_reports_are_as_frequent_as_the_law_says(
        self, case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """n = 50,000 for each of two values; false alarm 2e-9. It notices thresholds for 1.25ε (asserted)."""
        coarse(monkeypatch)
        randomizer, mutant = case.make(1), case.make(Fraction(5, 4))
        for value in (case.values[0], case.values[-1]):
            assert misfit(case, randomizer, value, randomizer) < 0
        assert misfit(case, randomizer, case.values[0], mutant) > 0


class TestEstimate:
    @pytest.mark.parametrize("case", [c for c in CASES if c.kind == FINITE], ids=lambda c: c.name)
    def test_over_all_reports_the_estimate_is_the_value_and_varies_as_claimed(
        self, case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No chance is involved: every report is weighed with its own."""
        coarse(monkeypatch)
        for epsilon in (Fraction(1, 2), Fraction(3)):
            randomizer = case.make(epsilon)
            told = case.reports(randomizer)
            estimates = np.array([np.ravel(randomizer.estimate(np.array([report]))) for report in told])
            variances = []
            for value in [*case.values, case.worst]:
                chances = np.array([float(randomizer.pmf(report, value)) for report in told])
                true = np.ravel(case.vector(value))
                assert chances @ estimates == pytest.approx(true, abs=1e-9 * randomizer.influence(1))
                variances.append((chances @ np.square(estimates - true)).max())
            assert max(variances) <= randomizer.variance(1) * (1 + 1e-9)
            assert variances[-1] >= 0.99 * case.slack * randomizer.variance(1)

    @pytest.mark.parametrize(("epsilon", "who"), [("1/2", "mixed"), (3, "worst")])
    def test_estimates_are_without_bias_and_vary_and_stray_as_claimed(
        self, case: Case, epsilon: Any, who: str
    ) -> None:
        """1000 cohorts of 400 people, of several values or all of the one with the largest variance.

        The mean is off by more than 7 of its standard deviations with a chance of 3e-12 for each number. The
        variance is off by 35 % with one below 2e-11 (for sums of 1000 squares of nearly normal errors). A
        radius for a failure rate of 5 % fails more than 95 times in 1000 with a chance below 1e-8. It notices
        a bias of a quarter of a standard deviation and a variance that is wrong by two thirds.
        """
        randomizer = case.make(epsilon)
        values = [case.values[i % len(case.values)] for i in range(PEOPLE)]
        if who == "worst":
            values = [case.worst] * PEOPLE
        errors = cohort_errors(case, randomizer, values)
        variance, radius = randomizer.variance(PEOPLE), randomizer.radius(PEOPLE, BETA)
        assert np.abs(errors.mean(axis=0)).max() < 7 * math.sqrt(variance / COHORTS)
        assert errors.var(axis=0).max() < 1.35 * variance
        if who == "worst":
            assert errors.var(axis=0).max() > 0.65 * case.slack * variance
        farthest = np.abs(errors).max(axis=1)
        assert np.count_nonzero(farthest > radius) <= 95
        assert radius < 3 * np.quantile(farthest, 1 - BETA)

    def test_one_report_moves_an_estimate_by_at_most_its_influence(self, case: Case) -> None:
        randomizer = case.make(1)
        n = 50
        reports = randomizer.sample(case.cohort([case.values[0]] * n))
        moved = []
        for report in [*case.absurd, *case.reports(randomizer)[:40]]:
            changed = reports.copy()
            changed[0] = report
            moved.append(randomizer.estimate(changed))
        apart = max(float(np.abs(a - b).max()) for a in moved for b in moved)
        assert apart <= randomizer.influence(n) * (1 + 1e-9)
        assert apart >= 0.4 * randomizer.influence(n)

    def test_whatever_a_person_sends_moves_an_estimate_by_at_most_its_influence(self, case: Case) -> None:
        randomizer, n = case.make(1), 50
        reports = randomizer.sample(case.cohort([case.values[0]] * n))
        valid = []
        for report in case.reports(randomizer)[:40]:
            reports[0] = report
            valid.append(randomizer.estimate(reports))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for sent in strange_reports(reports):
                estimate = randomizer.estimate(sent)
                apart = max(float(np.abs(estimate - other).max()) for other in valid)
                assert apart <= randomizer.influence(n) * (1 + 1e-9), sent

    def test_the_type_of_an_array_of_reports_does_not_change_the_estimate(self, case: Case) -> None:
        randomizer = case.make(1)
        reports = randomizer.sample(case.cohort([case.values[0]] * 20))
        estimate = randomizer.estimate(reports)
        rows = np.empty(20, dtype=object)
        for place, report in enumerate(reports.tolist()):
            rows[place] = report
        same = [reports.tolist(), rows, *(reports.astype(kind) for kind in (object, str, "S", complex))]
        same += [reports.astype(np.int64)] if reports.dtype != np.float64 else []
        for told in same:
            assert randomizer.estimate(told) == pytest.approx(estimate, abs=1e-12 * randomizer.influence(1))

    def test_an_array_of_another_shape_is_refused_whatever_it_holds(self, case: Case) -> None:
        randomizer = case.make(1)
        reports = randomizer.sample(case.cohort([case.values[0]] * 4))
        for wrong in (reports[np.newaxis], np.zeros((4, 7)), np.zeros(()), reports[..., np.newaxis]):
            with pytest.raises(QueryError, match="for each person, not an array of shape"):
                randomizer.estimate(wrong)
        with pytest.raises(QueryError, match="at least one report"):
            randomizer.estimate(reports[:0])

    def test_a_radius_shrinks_with_people_and_grows_with_certainty(self, case: Case) -> None:
        randomizer = case.make(1)
        assert randomizer.radius(10_000, 0.01) < randomizer.radius(1000, 0.01)
        assert randomizer.radius(1000, 0.01) < randomizer.radius(1000, 0.0001)
        for n, beta in ((0, 0.1), (10, 0.0), (10, 1.0)):
            with pytest.raises(SulqError):
                randomizer.radius(n, beta)

    def test_a_radius_is_near_what_a_normal_law_would_have(self, case: Case) -> None:
        """At n = 10^8 and beta = 1e-6, between the two-sided normal quantile and 1.35 times it."""
        randomizer = case.make(1)
        size = len(np.ravel(case.vector(case.worst)))
        normal = math.sqrt(randomizer.variance(10**8) * 2 * math.log(2 * size / 1e-6))
        assert 0.8 * normal < randomizer.radius(10**8, 1e-6) < 1.35 * normal

    def test_no_reports_are_an_error_and_no_value_is(self, case: Case) -> None:
        randomizer = case.make(1)
        with pytest.raises(SulqError):
            randomizer.variance(0)
        strange = case.cohort([case.values[0]] * 3)
        numbers = strange[1] if isinstance(strange, tuple) else strange
        if numbers.dtype == np.float64:
            numbers[:] = np.resize([math.nan, math.inf, -1e300], numbers.shape)
        elif numbers.dtype != bool:
            numbers[:] = [-1, 10**6, 2**40]
        assert np.isfinite(randomizer.estimate(randomizer.sample(strange))).all()


STRANGE = [math.nan, math.inf, -math.inf, 1e300, -1e300, 2**63, 2**64, -(2**63), 10**400, -(10**400)]
STRANGE += [0.5, -0.5, 2.6, None, "", "x", "nan", "1e999", b"\xff", 1j, True, [], [1, 2, 3, 4, 5, 6, 7], {}]
STRANGE += [object(), Fraction(1, 3), np.datetime64("2020-01-01"), np.array([[1]]), np.float64(7), "²"]


def strange_reports(reports: NDArray[Any]) -> Iterator[Any]:
    """The reports with another first one, in every container that could hold it, as one thing and as parts."""
    for thing in STRANGE:
        listed = reports.tolist()
        as_parts = thing if reports.ndim == 1 else [thing] * reports.shape[1]
        rows = np.empty(len(reports), dtype=object)
        for place, report in enumerate(listed):
            rows[place] = report
        cells = reports.astype(object)
        cells[0] = None if isinstance(thing, list | np.ndarray) else thing
        yield from ([thing, *listed[1:]], [as_parts, *listed[1:]], cells)
        rows[0] = thing
        yield rows
        if isinstance(thing, str | float | bytes | complex):
            yield np.array([as_parts, *listed[1:]])
    for kind, worst in ((np.float32, 3e38), (np.float16, 6e4), (np.int8, -128), (np.uint64, 2**64 - 1)):
        with np.errstate(over="ignore"):
            narrow = reports.astype(kind)
        narrow[0] = worst
        if reports.dtype != np.float64 and np.array_equal(narrow[1:], reports[1:]):
            yield narrow


def cohort_errors(case: Case, randomizer: Randomizer, values: list[Any]) -> NDArray[np.float64]:
    """How far each cohort's estimate is from the mean of its values."""
    everyone = case.cohort(values)
    several = 50
    many = (
        tuple(np.concatenate([part] * several) for part in everyone)
        if isinstance(everyone, tuple)
        else np.concatenate([everyone] * several)
    )
    estimates = [
        np.ravel(randomizer.estimate(part))
        for _ in range(COHORTS // several)
        for part in np.split(randomizer.sample(many), several)
    ]
    return np.asarray(estimates) - case.mean(values)


def misfit(case: Case, law: Randomizer, value: Any, sampled: Randomizer) -> float:
    """The chi-square excess of reports of `sampled` over what `law` says, rare reports in one cell."""
    reports = sampled.sample(case.cohort([value] * DRAWS))
    if case.kind == DENSITY:
        # On the value's side and on the other the density is constant.
        sides = np.bincount((reports @ np.array(value) > 0).astype(int))
        likely = float(law.pmf(np.array(value), value)) / 2
        return excess(sides, DRAWS * np.array([1 - likely, likely]))
    if case.kind == CAP:
        along = reports @ np.array(value) / np.linalg.norm(value)
        places = np.bincount((along >= law.threshold).astype(int))  # type: ignore[attr-defined]
        inside = in_the_cap(law, value)
        return excess(places, DRAWS * np.array([1 - inside, inside]))
    everything = case.reports(law)
    place = {_key(report): i for i, report in enumerate(everything)}
    kinds, counts = np.unique(reports, axis=0, return_counts=True)
    observed = np.zeros(len(everything), dtype=np.int64)
    observed[[place[_key(kind)] for kind in kinds]] = counts
    expected = DRAWS * np.array([float(law.pmf(report, value)) for report in everything])
    rare = expected < 50
    if expected[rare].sum() >= 5:
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    else:
        observed, expected = observed[~rare], expected[~rare]
    return excess(observed, expected)


def in_the_cap(law: Any, value: Any) -> float:
    """How likely a report is in the cap around a value: the density there, along and around it, integrated."""
    # In three dimensions how far along a direction is, is uniform.
    along = law.threshold + (1 - law.threshold) * (np.arange(100) + 0.5) / 100
    reports = [report for x in along for report in around(value, x, 12)]
    return float(np.mean([float(law.pmf(report, value)) for report in reports])) * (1 - law.threshold) / 2


def around(value: Any, along: float, many: int) -> NDArray[np.float64]:
    """Directions of three numbers that are so far along a vector, evenly around it."""
    unit, across = np.array(value) / np.linalg.norm(value), np.cross(value, [1.0, 2.0, 3.0])
    across /= np.linalg.norm(across)
    angles = 2 * np.pi * (np.arange(many) + 0.3) / many
    turned = np.outer(np.cos(angles), across) + np.outer(np.sin(angles), np.cross(unit, across))
    return np.asarray(along * unit + math.sqrt(1 - along**2) * turned)


def _key(report: Any) -> tuple[int, ...]:
    return tuple(np.ravel(report).astype(int).tolist())
