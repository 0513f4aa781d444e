"""A choice has exactly the law it claims, and the law keeps the privacy and the error it claims.

The statistical tests have a false-alarm rate of 2e-9 each (the threshold of `excess`), or the one they state;
that is less than 1e-6 for all the tests of this file together.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable, Iterator
from decimal import Inexact, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.errors import QueryError, SulqError
from sulq.privacy import coins
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip, Selection
from tests.privacy.test_noise import excess

MECHANISMS: list[Callable[..., Selection]] = [ExponentialMechanism, PermuteAndFlip]
DRAWS = 6000
MANY = 2**20
Moves = tuple[int, ...]
Logarithms = NDArray[np.float64]


def moves(size: int, sensitivity: int, monotone: bool) -> Iterator[Moves]:
    """How the scores of `size` candidates can differ between neighbours."""
    if monotone:
        yield from itertools.product(range(sensitivity + 1), repeat=size)
        yield from itertools.product(range(-sensitivity, 1), repeat=size)
    else:
        yield from itertools.product(range(-sensitivity, sensitivity + 1), repeat=size)


def neighbouring_laws(mechanism: Selection, monotone: bool) -> Iterator[tuple[Logarithms, Logarithms]]:
    """The log-probabilities of every small vector of three scores, each beside those of every neighbour."""

    @cache
    def law(scores: Moves) -> Logarithms:
        return np.log(mechanism.probabilities(scores))

    neighbours = list(moves(3, int(mechanism.sensitivity), monotone))
    for scores in itertools.product(range(5), repeat=3):
        for move in neighbours:
            yield law(scores), law(tuple(a + b for a, b in zip(scores, move, strict=True)))


def largest_log_ratio(mechanism: Selection, monotone: bool) -> float:
    return max(float(np.abs(p - q).max()) for p, q in neighbouring_laws(mechanism, monotone))


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(Fraction(1, 2), 1), (Fraction(1), 2), (Fraction(10), 1)]
)
def test_neighbours_are_at_most_e_to_the_epsilon_apart(
    make: Callable[..., Selection], monotone: bool, epsilon: Fraction, sensitivity: int
) -> None:
    mechanism = make(epsilon, sensitivity, monotone)
    assert largest_log_ratio(mechanism, monotone) <= epsilon + 1e-12


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("monotone", [False, True])
def test_some_neighbours_are_nearly_that_far_apart(make: Callable[..., Selection], monotone: bool) -> None:
    assert largest_log_ratio(make(10, 1, monotone), monotone) >= 10 - 1e-3


@pytest.mark.parametrize("make", MECHANISMS)
def test_the_rate_of_monotone_scores_would_be_a_breach_for_others(make: Callable[..., Selection]) -> None:
    """Without the factor 2 the ratio is nearly e^2ε."""
    for epsilon in (Fraction(1, 2), Fraction(10)):
        assert largest_log_ratio(make(epsilon, 1, monotone=True), monotone=False) > 1.5 * float(epsilon)


def largest_rho(mechanism: Selection, monotone: bool) -> float:
    """The largest Rényi divergence over its order, over small neighbours and a few orders."""
    return max(
        float(np.logaddexp.reduce(alpha * p + (1 - alpha) * q)) / (alpha - 1) / alpha
        for p, q in neighbouring_laws(mechanism, monotone)
        for alpha in (1.01, 2, 8, 64)
    )


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(4)], ids=str)
@pytest.mark.parametrize("monotone", [False, True])
def test_neighbours_are_within_rho_at_every_order(
    make: Callable[..., Selection], epsilon: Fraction, monotone: bool
) -> None:
    mechanism = make(epsilon, 1, monotone)
    assert largest_rho(mechanism, monotone) <= mechanism.rho() * (1 + 1e-9)


def test_the_exponential_mechanism_nearly_reaches_its_rho_and_permute_and_flip_would_break_it() -> None:
    mechanism = ExponentialMechanism("1/4", 1)
    assert largest_rho(mechanism, monotone=False) >= 0.99 * mechanism.rho()
    assert largest_rho(PermuteAndFlip("1/4", 1), monotone=False) >= 2 * mechanism.rho()


def permuted_and_flipped(rate: Fraction, scores: Moves) -> list[float]:
    """The box of the paper, by enumeration: every order, every coin up to the first heads."""
    chances = [math.exp(-rate * (max(scores) - score)) for score in scores]
    law = [0.0] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        reached = 1 / math.factorial(len(scores))
        for i in order:
            law[i] += reached * chances[i]
            reached *= 1 - chances[i]
    return law


VECTORS = [(7,), (3, 3), (0, 5, 5), (2, 0, 1), (-4, -1, -9, -1), (3, 1, 4, 1, 5), (0, 0, 0, 0, 0, 1)]


@pytest.mark.parametrize("scores", VECTORS, ids=str)
@pytest.mark.parametrize("monotone", [False, True])
def test_probabilities_are_those_of_the_papers(scores: Moves, monotone: bool) -> None:
    epsilon, sensitivity = Fraction(3, 2), Fraction(2)
    rate = epsilon / sensitivity / (1 if monotone else 2)
    weights = [math.exp(rate * score) for score in scores]
    exponential = ExponentialMechanism(epsilon, sensitivity, monotone).probabilities(scores)
    assert exponential == pytest.approx([weight / math.fsum(weights) for weight in weights], rel=1e-13)
    flipped = PermuteAndFlip(epsilon, sensitivity, monotone).probabilities(scores)
    assert flipped == pytest.approx(permuted_and_flipped(rate, scores), rel=1e-12)


SCORES = [0, 3, 0, 0, 0, 3, 0, 0, 6, 0, 0, 3, 0, 0, 3, 0, 0]


@pytest.mark.parametrize("make", MECHANISMS)
def test_choices_follow_the_law_and_the_test_would_notice_another_epsilon(
    make: Callable[..., Selection],
) -> None:
    """n = 6,000, each index a cell; false alarm 2e-9. It notices an ε of 0.85 or 1.2 times the right one.

    That is asserted, and by the noncentral chi-square law fails with probability below 1e-9.
    """
    epsilon = Fraction(6, 5)
    expected = DRAWS * np.array(make(epsilon, 1).probabilities(SCORES))
    assert expected.min() > 50

    def misfit(mechanism: Selection) -> float:
        chosen = [mechanism.choose(SCORES) for _ in range(DRAWS)]
        return excess(np.bincount(chosen, minlength=len(SCORES)), expected)

    assert misfit(make(epsilon, 1)) < 0
    for factor in (Fraction(85, 100), Fraction(12, 10)):
        assert misfit(make(epsilon * factor, 1)) > 0


@pytest.mark.parametrize("make", MECHANISMS)
def test_monotone_scores_need_half_the_epsilon_for_the_same_law(make: Callable[..., Selection]) -> None:
    """n = 3,000; false alarm 2e-9."""
    mechanism = make(3, 5, monotone=True)
    law = mechanism.probabilities(SCORES)
    assert law == make(6, 5).probabilities(SCORES)
    chosen = [mechanism.choose(SCORES) for _ in range(3000)]
    assert excess(np.bincount(chosen, minlength=len(SCORES)), 3000 * np.array(law)) < 0


def test_permute_and_flip_never_expects_a_lower_score() -> None:
    """Exactly, for 400 vectors of up to 7 scores; and it is better by a third somewhere."""
    draw = random.Random(7)
    best_share = 1.0
    for _ in range(400):
        scores = [draw.randint(0, 12) for _ in range(draw.randint(1, 7))]
        epsilon = Fraction(draw.randint(1, 40), 10)
        gaps = max(scores) - np.array(scores)
        flipped = float(gaps @ np.array(PermuteAndFlip(epsilon, 1).probabilities(scores)))
        exponential = float(gaps @ np.array(ExponentialMechanism(epsilon, 1).probabilities(scores)))
        assert flipped <= exponential * (1 + 1e-12)
        best_share = min(best_share, flipped / exponential if exponential else 1.0)
    assert 0.5 <= best_share < 2 / 3


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)], ids=str)
@pytest.mark.parametrize("beta", [0.3, 0.01])
def test_the_chosen_score_is_within_the_radius(
    make: Callable[..., Selection], epsilon: Fraction, beta: float
) -> None:
    """Exactly, where all but one candidate are just outside it; and it is less than the textbook's radius."""
    for candidates in (1, 2, 12):
        mechanism = make(epsilon, 1)
        radius = mechanism.radius(beta, candidates)
        assert 0 <= radius <= 2 / epsilon * math.log(candidates / beta)
        outside = mechanism.probabilities([0] + [-radius - 1] * (candidates - 1))[1:]
        assert sum(outside) <= beta


def test_the_radius_is_the_smallest_that_its_theorem_gives() -> None:
    for mechanism in (
        ExponentialMechanism(1, 50),
        PermuteAndFlip(2, 100),
        ExponentialMechanism(1, 100, True),
    ):
        r = mechanism.radius(0.05, 1000)
        assert 999 * math.exp(-(r + 1) / 100) <= 0.05 < 999 * math.exp(-r / 100)


def test_the_costs_are_exact() -> None:
    assert ExponentialMechanism("0.1", 3).epsilon == PermuteAndFlip("1/10", 3).epsilon == Fraction(1, 10)
    assert ExponentialMechanism("0.1", 3).rho(printed=True) == Fraction(1, 800)
    assert PermuteAndFlip("0.1", 3, monotone=True).rho(printed=True) == Fraction(1, 200)
    assert 0.9998 < ExponentialMechanism("0.1", 3).rho() / Fraction(1, 800) < 1
    assert 0.9990 < PermuteAndFlip("0.1", 3, monotone=True).rho() / Fraction(1, 200) < 1


@pytest.mark.parametrize("make", MECHANISMS)
def test_the_best_of_a_million_wins_when_epsilon_is_large(make: Callable[..., Selection]) -> None:
    """All scores differ, and each rival is chosen with probability at most e^-100 per unit of its gap."""
    scores = np.random.default_rng(1).permutation(MANY)
    assert make(200, 1).choose(scores) == scores.argmax()


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("levels", [2, MANY])
def test_the_choice_among_a_million_is_spread_when_epsilon_is_small(
    make: Callable[..., Selection], levels: int
) -> None:
    """Not all of three choices are the same, but for a probability below 1e-11: they are nearly uniform."""
    scores = np.arange(MANY) % levels
    chosen = [make(Fraction(1, 2**22), 1).choose(scores) for _ in range(3)]
    assert len(set(chosen)) > 1


@pytest.mark.parametrize("make", MECHANISMS)
def test_candidates_of_one_score_are_equally_likely(make: Callable[..., Selection]) -> None:
    """n = 2,000 in 10 cells of 17 candidates; false alarm 2e-9. It notices a cell off by about half."""
    scores = np.zeros(256, dtype=np.int64)
    scores[::3] = -(2**40)
    good = np.flatnonzero(scores == 0)
    mechanism = make(1, 1)
    chosen = np.searchsorted(good, [mechanism.choose(scores) for _ in range(2000)])
    assert (scores[good[chosen]] == 0).all()
    observed = np.bincount(chosen * 10 // good.size, minlength=10)
    expected = 2000 * np.bincount(np.arange(good.size) * 10 // good.size).astype(np.float64) / good.size
    assert excess(observed, expected) < 0


@pytest.mark.parametrize("make", MECHANISMS)
def test_scores_at_the_ends_of_64_bits_do_not_wrap(make: Callable[..., Selection]) -> None:
    low, high = -(2**63), 2**63 - 1
    vectors: list[list[int]] = [[low, high, 0], [high, high - 100, low], [low, low + 100]]
    for scores in vectors:
        best = scores.index(max(scores))
        assert make(10, 1).choose(scores) == best
        assert make(10, 1).probabilities(scores)[best] == pytest.approx(1)
    # Even at the largest scale the extremes are 512 scales apart.
    assert make(1, 2**54).choose([low, high]) == 1
    assert make("1e300", "1e-300").choose([low, high, high - 1]) == 1
    law = make(1, 2**54).probabilities([low, high])
    assert law[0] == pytest.approx(math.exp(-(2**64 - 1) / 2**55) / (1 + (make is PermuteAndFlip)), rel=1e-9)


@pytest.mark.parametrize("make", MECHANISMS)
def test_one_candidate_is_chosen(make: Callable[..., Selection]) -> None:
    assert make("0.001", 1).choose([-5]) == 0
    assert make("0.001", 1).probabilities([-5]) == [1.0]
    assert make("0.001", 1).radius(0.5, 1) == 0


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_every_integer_type_has_the_same_law(make: Callable[..., Selection], dtype: type) -> None:
    scores: NDArray[Any] = np.array([0, 127, 126], dtype=dtype)
    assert make(1, 1).probabilities(scores) == make(1, 1).probabilities([0, 127, 126])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("make", MECHANISMS)
def test_a_forked_child_makes_choices_of_its_own(make: Callable[..., Selection]) -> None:
    """Four honest choices out of 2^16 equal the parent's four with probability 2^-64."""
    scores = np.zeros(2**16, dtype=np.int64)

    def choices() -> bytes:
        return np.array([make(1, 1).choose(scores) for _ in range(4)]).tobytes()

    outlet, inlet = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(inlet, choices())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(outlet, 4096)
    os.close(outlet)
    os.close(inlet)
    assert len(theirs) == 32
    assert theirs != choices()


def test_the_caller_s_decimal_settings_change_nothing() -> None:
    def facts() -> list[object]:
        coins.Coin.bias.cache_clear()
        mechanisms = [make(Fraction(1, 3), 2) for make in MECHANISMS]
        return [(m.probabilities(SCORES), m.radius(0.01, 9), m.choose([0, 10**6])) for m in mechanisms]

    expected = facts()
    with localcontext() as context:
        context.prec = 3
        context.traps[Inexact] = True
        assert facts() == expected


@pytest.mark.parametrize("make", MECHANISMS)
def test_scores_that_are_not_integers_in_a_list_are_refused(make: Callable[..., Selection]) -> None:
    nonsense: tuple[Any, ...] = (
        [],
        [[1, 2]],
        3,
        [1.0, 2.0],
        [True, False],
        ["a"],
        [2**64, 0],
        [None],
        np.zeros((2, 0), dtype=int),
    )
    for scores in nonsense:
        for use in (make(1, 1).choose, make(1, 1).probabilities):
            with pytest.raises(QueryError, match="scores"):
                use(scores)


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "abc"])
def test_parameters_must_be_positive_numbers(make: Callable[..., Selection], bad: Any) -> None:
    with pytest.raises(SulqError, match="epsilon must be a positive"):
        make(bad, 1)
    with pytest.raises(SulqError, match="sensitivity must be a positive"):
        make(1, bad)
    with pytest.raises(SulqError, match="beta must be a positive"):
        make(1, 1).radius(bad, 5)


@pytest.mark.parametrize("make", MECHANISMS)
def test_a_choice_that_64_bits_cannot_make_is_refused(make: Callable[..., Selection]) -> None:
    make(1, 2**54)
    for monotone in (False, True):
        with pytest.raises(QueryError, match="sensitivity/epsilon"):
            make("1e-300", "1e300", monotone)
    with pytest.raises(QueryError, match="beta"):
        make(1, 1).radius(1, 5)
    with pytest.raises(QueryError, match="candidate"):
        make(1, 1).radius(0.1, 0)
