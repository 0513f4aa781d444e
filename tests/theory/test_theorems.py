"""The papers' numbers: what their proofs need holds with them, and the corrected lemma where the printed one fails."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.theory.emulation import emulation_rows, repetitions
from sulq.theory.masked_examples import masked_parity_domain, masked_parity_schema
from sulq.theory.parity_blind import parity_queries
from sulq.theory.theorems import (
    conjunction_tolerance,
    laplace_mean_tail,
    local_rows,
    masked_parity_failure,
    masked_parity_tolerance,
    private_rows,
    relabelled_rows,
    sample_rows,
)

M, TAU, BETA, EPSILON = 20, 0.01, 0.05, 0.5


def test_theorem_6_has_just_enough_rows() -> None:
    each = sample_rows(M, TAU, BETA) // M
    assert 2 * math.exp(-2 * each * TAU**2) <= BETA / M < 2 * math.exp(-2 * (each - 1) * TAU**2)


@pytest.mark.parametrize(("answering", "epsilon"), [("printed", 0.5), ("chunks", 0.5), ("joint", 0.5)])
@pytest.mark.parametrize("width", [1.0, 2.5])
def test_theorem_7_leaves_half_of_tolerance_and_chance_to_each(
    answering: str, epsilon: float, width: float
) -> None:
    each = private_rows(M, TAU, BETA, epsilon, answering, width)  # type: ignore[arg-type]
    if answering != "joint":
        each //= M
    spent = epsilon if answering == "chunks" else epsilon / M
    assert 2 * math.exp(-2 * each * (TAU / 2) ** 2 / width**2) <= BETA / (2 * M) * (1 + 1e-9)
    assert math.exp(-(TAU / 2) * each * spent / width) <= BETA / (2 * M) * (1 + 1e-9)


def test_the_printed_way_needs_m_squared_rows_for_its_noise() -> None:
    """At an ε so small that noise decides, splitting the rows and the budget costs M times what either does."""
    printed, chunks, joint = (private_rows(M, TAU, BETA, 1e-6, how) for how in ("printed", "chunks", "joint"))
    assert printed == pytest.approx(M * chunks, rel=1e-6)
    assert chunks == pytest.approx(joint, rel=1e-6)


def test_theorem_8_and_one_rewritten_query() -> None:
    for rate in (0.1, 0.3, 0.45):
        width = 1 / (1 - 2 * rate)
        assert relabelled_rows(M, TAU, BETA, rate) > 4 * sample_rows(M, TAU, BETA, width)


def test_lemma_a_3_holds_as_corrected_and_fails_as_printed() -> None:
    """10⁶ means of n Laplace variables. The empirical share is off by 6 deviations, at most 0.003, with a chance
    below 2·10⁻⁹ for each of the three."""
    rng = np.random.default_rng(0)
    for n, distance in ((1, 0.5), (2, 1.0), (10, 0.4)):
        means = rng.laplace(size=(1_000_000, n)).mean(axis=1)
        share = float((np.abs(means) >= distance).mean())
        assert share <= laplace_mean_tail(n, distance, 1.0) + 0.003
    # One variable is beyond 4 with the chance e^-4 = 0.0183; printed is an equation.
    assert laplace_mean_tail(1, 4.0, 1.0, as_printed=True) == pytest.approx(math.exp(-4))
    assert math.exp(-8) > laplace_mean_tail(1, 8.0, 1.0, as_printed=True), "what is printed is too small"
    assert math.exp(-8) <= laplace_mean_tail(1, 8.0, 1.0)


def test_theorem_5_7_has_enough_people_for_lemma_5_6() -> None:
    for epsilon in (0.1, 1.0, 30.0, 1e6):
        each = local_rows(M, TAU, BETA, epsilon) // M
        b = 0.5
        assert 2 * math.exp(-each * (TAU / 2) ** 2 / (2 * b**2)) <= BETA / (2 * M) * (1 + 1e-9)
        assert laplace_mean_tail(each, TAU / 2, 2 * b / epsilon) <= BETA / (2 * M) * (1 + 1e-9)
    assert local_rows(M, TAU, BETA, 1.0, as_printed=True) < local_rows(M, TAU, BETA, 1.0)


def test_tolerances() -> None:
    assert conjunction_tolerance(20, 0.1) == pytest.approx(0.0025)
    assert masked_parity_tolerance(16) == pytest.approx(1 / 65)


def test_nonsense_is_refused() -> None:
    with pytest.raises(QueryError):
        sample_rows(0, TAU, BETA)
    with pytest.raises(QueryError):
        sample_rows(M, 0, BETA)
    with pytest.raises(QueryError):
        sample_rows(M, TAU, 1)
    with pytest.raises(QueryError):
        private_rows(M, TAU, BETA, 0)


FORMULAS: list[tuple[Callable[[], float], str]] = [
    (lambda: relabelled_rows(M, TAU, BETA, 0.5), "from 0 to below 1/2"),
    (lambda: relabelled_rows(M, TAU, BETA, -0.1), "from 0 to below 1/2"),
    (lambda: conjunction_tolerance(0, 0.1), "features must be a whole number from 1"),
    (lambda: masked_parity_tolerance(0), "bits must be a whole number from 1"),
    (lambda: laplace_mean_tail(10, 0.5, 0), "scale must be a positive"),
    (lambda: laplace_mean_tail(0, 0.5, 1), "n must be a whole number from 1"),
    (lambda: sample_rows(M, 1e-300, BETA), "beyond the range of floats"),
    (lambda: private_rows(M, 1e-300, BETA, EPSILON), "beyond the range of floats"),
    (lambda: local_rows(M, TAU, BETA, 1e-300), "beyond the range of floats"),
    (lambda: emulation_rows(SulqGaussian(1, "1e-6", 9), [1e-300], 0.1), "beyond the range of floats"),
    (
        lambda: emulation_rows(SulqGaussian(1, "1e-6", 9), ["much"], 0.1),
        "a tolerance must be a number, got 'much'",
    ),
    (
        lambda: repetitions(SulqLaplace(1, 9), 0, 0.1, 0.1, as_printed=True),
        "rows must be a whole number from 1",
    ),
    (lambda: masked_parity_failure(10**9, 1), "bits must be a whole number"),
    (lambda: parity_queries(10**9, 0.1), "bits must be a whole number"),
    (lambda: len(masked_parity_schema(10**9)), "d must be a whole number from 1 to 10000"),
    (
        lambda: len(masked_parity_domain([1] * 60, 0)),
        "of which every example is listed must be a whole number",
    ),
    (lambda: emulation_rows(SulqGaussian(1, "1e-6", 10**400, "1e-3"), [0.1], 0.1), "noise that is too wide"),
]


@pytest.mark.parametrize(("formula", "told"), FORMULAS)
def test_a_formula_says_in_a_line_what_it_has_no_number_for(formula: Callable[[], float], told: str) -> None:
    with pytest.raises(QueryError, match=told):
        formula()


def test_formulas_read_numbers_as_people_write_them() -> None:
    assert sample_rows(M, "0.01", "0.05") == sample_rows(M, TAU, BETA)  # type: ignore[arg-type]
    assert private_rows(M, TAU, BETA, "1/2") == private_rows(M, TAU, BETA, 0.5)  # type: ignore[arg-type]
    paper = SulqGaussian(1, "1e-6", 9)
    for printed in (False, True):
        assert emulation_rows(paper, ["0.01", "1/10"], "0.05", printed) == emulation_rows(
            paper, [0.01, 0.1], 0.05, printed
        )
    assert relabelled_rows(M, TAU, BETA, "0.3") == relabelled_rows(M, TAU, BETA, 0.3)  # type: ignore[arg-type]


def test_bounds_for_thousands_of_bits_are_numbers() -> None:
    assert parity_queries(3999, 0.5, as_printed=True) == 2**1333
    assert (
        parity_queries(4000, 0.5, as_printed=True) ** 3 > 2**4000 > (parity_queries(4000, 0.5, True) - 1) ** 3
    )
    assert masked_parity_failure(4000, 10) == 0.5 and masked_parity_failure(30, 10**400) == 0
