"""Gaussian noise in fractions of a sum's steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sulq
from sulq.errors import LedgerError
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.repeated import blurred, times_of
from sulq.talk.laws import Noise


def test_a_finer_grid_changes_no_more_than_the_unit_of_noise() -> None:
    noise, inner = FinerGaussian(DiscreteGaussian(400), bits=3), DiscreteGaussian(400)
    assert times_of(noise) == 8 and times_of(inner) == times_of(None) == 1
    assert noise.variance == Fraction(400, 64) and noise.std == inner.std / 8
    assert noise.rho(3) == inner.rho(3 * 64)
    drawn = blurred(np.full(40_000, 10**30, dtype=object), noise) - 8 * 10**30
    # A standard deviation of 20 is met to within 2.5 %: seven deviations of what 40,000 draws say.
    assert abs(float(np.std(drawn.astype(float))) / 20 - 1) < 0.025
    assert len(set((drawn % 8).tolist())) == 8


@pytest.mark.parametrize("truncate", [False, True])
def test_a_count_with_noise_of_few_people_is_a_fraction_with_the_law_of_its_grid(truncate: bool) -> None:
    people = sulq.open({"b": [True, False] * 50}, {"b": sulq.Boolean()})
    curator = people.curator(epsilon=3, delta="1e-6", truncate=truncate)
    round_ = sulq.Round([sulq.count(where="b"), sulq.mean("b")], share="0.3")
    noises = curator.offer.terms(round_).noises
    noise = noises[0]
    assert isinstance(noise, FinerGaussian) and noise.bits > 0
    [answer, _] = curator.ask(round_)
    assert float(answer.value * noise.times).is_integer()
    assert abs(answer.value - 50) < 12 * noise.std
    law = curator.offer.laws(round_)[0]
    assert answer.law == law == Noise.of(noise.noise, Fraction(1, noise.times), 1)
    assert answer.law.deviation == pytest.approx(noise.std)
    reach = noise.noise.radius(0.05)
    assert answer.radius(0.05) == reach / noise.times
    assert math.isclose(noise.noise.tail(reach), 0.05, rel_tol=0.2)
    [again, _] = curator.ask(round_)
    assert (
        again.value == answer.value
        and again.law == answer.law
        and curator.spent == curator.offer.total * Fraction(3, 10)
    )


def test_what_was_released_on_other_grids_is_not_read_as_if_it_was_on_these() -> None:
    people = sulq.open({"b": [True, False] * 50}, {"b": sulq.Boolean()})
    offer = people.curator(epsilon=3, delta="1e-6").offer
    round_ = sulq.Round([sulq.count(where="b")], share=1)
    terms = offer.terms(round_)
    [noise] = terms.noises
    assert isinstance(noise, FinerGaussian)
    released = {"sums": [[400]], "choices": [], "jointly": True, "vectors": True}
    [answer] = offer.read(round_, terms, released | {"finer": [noise.bits]})
    assert answer.value == 400 / 2**noise.bits
    with pytest.raises(LedgerError, match="on other grids"):
        offer.read(round_, terms, released | {"finer": [noise.bits + 1]})
