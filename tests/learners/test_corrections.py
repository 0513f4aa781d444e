"""How many corrections of a halfspace's weights are worth asking for."""

from fractions import Fraction

import numpy as np
import pytest

from sulq.learners.corrections import MOST, worthwhile
from sulq.talk.answers import Answer
from sulq.talk.laws import Noise


def sums(family: str, parameter: int, numbers: int = 4) -> Answer:
    """A first correction with so much noise in each of its numbers."""
    return Answer(np.zeros(numbers), Noise(family, Fraction(parameter), Fraction(1), numbers))


@pytest.mark.parametrize(
    ("rare", "corrections"), [(-50, 1), (0, 1), (60, 1), (149, 8), (151, 9), (10**6, MOST)]
)
def test_corrections_go_with_the_square_of_the_rows_under_gaussian_noise(rare, corrections):
    # Noise of 10 in each of 4 numbers is 20 long; a fifth of 150 rows is 1.5 times as long, and 4 · 1.5² = 9.
    assert worthwhile(sums("gaussian", 100), rare, norm=1) == corrections


@pytest.mark.parametrize(("rare", "corrections"), [(100, 1), (1060, 2), (1062, 3), (10**6, MOST)])
def test_corrections_go_with_the_rows_under_laplace_noise(rare, corrections):
    # Noise of √2 · 100 in each of 4 numbers is 283 long: a fifth of 1,061 rows is three quarters of it.
    assert worthwhile(sums("laplace", 100), rare, norm=1) == corrections


def test_shorter_rows_stand_out_less_from_the_noise():
    assert worthwhile(sums("laplace", 100), 2122, norm=1) == 6
    assert worthwhile(sums("laplace", 100), 2122, norm=0.5) == 3


def test_without_noise_there_are_as_many_as_there_may_be():
    assert worthwhile(Answer(np.zeros(4)), rare=0, norm=1) == MOST
