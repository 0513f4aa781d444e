"""Equations over GF(2): the solutions are all solutions, and a random one is any of them."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sulq.privacy.gf2 import Bits, equations, packed, products, solve


def brute(x: Bits, y: Bits) -> set[tuple[bool, ...]]:
    """Every solution, by trying all vectors; an equation is a row of x."""
    vectors = np.array(list(itertools.product([False, True], repeat=x.shape[1])))
    fits = ((x.astype(int) @ vectors.T.astype(int)) % 2 == y[:, np.newaxis]).all(axis=0)
    return {tuple(vector.tolist()) for vector in vectors[fits]}


@given(st.integers(1, 6), st.integers(0, 12), st.integers(0, 2**32))
def test_a_system_has_the_solutions_that_trying_finds(unknowns: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((rows, unknowns)) < 0.4, rng.random(rows) < 0.4
    expected = brute(x, y)
    found = solve(equations(x.T, y), unknowns)
    assert found.consistent == bool(expected)
    if expected:
        assert len(expected) == 2 ** (unknowns - found.rank)
        assert tuple(found.random().tolist()) in expected


@pytest.mark.parametrize("unknowns", [63, 64, 65, 130])
@pytest.mark.parametrize("rank", [1, 40, 62])
def test_many_equations_leave_what_their_span_does(unknowns: int, rank: int) -> None:
    """More equations than are reduced at once, with few and with many null vectors, and across words."""
    rng = np.random.default_rng(unknowns * rank)
    basis = rng.integers(0, 2, (rank, unknowns))
    basis[:, :rank] = np.eye(rank, dtype=int)
    x = rng.integers(0, 2, (3000, rank)) @ basis % 2 == 1
    target = rng.random(unknowns) < 0.5
    y = x @ target.astype(int) % 2 == 1
    found = solve(equations(x.T, y), unknowns)
    assert (found.consistent, found.rank) == (True, rank)
    assert ((x @ found.random().astype(int) % 2 == 1) == y).all()


@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_one_equation_among_thousands_is_not_overlooked(place: int) -> None:
    x = np.zeros((3000, 70), dtype=bool)
    x[:, :5] = np.random.default_rng(place).random((3000, 5)) < 0.5
    y = x[:, 0] ^ x[:, 3]
    x[place, 69], y[place] = True, True
    assert solve(equations(x.T, y), 70).rank == 6
    x[place, 69], y[place] = False, ~(x[place, 0] ^ x[place, 3])
    assert not solve(equations(x.T, y), 70).consistent


def test_a_random_solution_is_any_solution_with_the_same_chance() -> None:
    """4000 draws of 4 solutions; a count misses 1000 by 180 (6.5 deviations) with a chance below 1e-9.

    A solution that is 25 % too likely is caught.
    """
    x = np.array([[1, 1, 0, 1], [0, 1, 1, 1]], dtype=bool)
    y = np.array([True, False])
    solutions = solve(equations(x.T, y), 4)
    seen = Counter(tuple(solutions.random().tolist()) for _ in range(4000))
    assert seen.keys() == brute(x, y)
    assert all(abs(count - 1000) < 180 for count in seen.values())


def test_without_equations_every_vector_is_a_solution() -> None:
    assert solve(equations(np.zeros((3, 0), dtype=bool), np.zeros(0, dtype=bool)), 3).rank == 0


def test_words_hold_the_bits_they_are_made_of() -> None:
    rng = np.random.default_rng(0)
    bits = rng.random((70, 9)) < 0.5
    vector = rng.random(70) < 0.5
    expected = (bits[vector].sum(axis=0) % 2 == 1).tolist()
    assert products(packed(bits), packed(vector[:, np.newaxis])[0]).tolist() == expected
