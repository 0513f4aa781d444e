"""Coordinates of rows: scaled by what a look at histograms showed, and by what its noise may hide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sulq
from sulq.learners.attributes_in_bins import attributes
from sulq.learners.coordinates import Coordinates, coordinates, in_few_bins
from sulq.queries.attributes import attribute
from sulq.talk.answers import EXACTLY, Answer
from sulq.talk.laws import Noise

ROWS = 1000.0
SCHEMA = sulq.Schema({"gain": sulq.Real(0, 64), "t": sulq.Real(0, 1)})


def seen_in_the_first_bin(noise: int) -> Coordinates:
    [gain] = [in_few_bins(SCHEMA, one) for one in attributes(SCHEMA, attribute(SCHEMA, "t"), ["gain"], {})]
    counts = np.zeros(gain.size)
    counts[0] = ROWS
    law = Noise("laplace", Fraction(noise), Fraction(1), numbers=gain.size) if noise else EXACTLY
    return coordinates(SCHEMA, [gain], [Answer(counts, law)], ROWS)


def test_rows_that_noise_may_hide_make_a_number_vary() -> None:
    for noise in (80, 100, 200):
        a_tenth = 2**0.5 * noise / 10 / ROWS
        assert seen_in_the_first_bin(noise).variances[0] >= 0.95 * a_tenth**0.5


def test_exact_counts_hide_nothing() -> None:
    even = 3**-0.5
    assert seen_in_the_first_bin(0).variances[0] == pytest.approx(even)
