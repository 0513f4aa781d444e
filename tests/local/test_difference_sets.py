"""Every difference set in the table is one."""

from __future__ import annotations

import numpy as np
import pytest

from sulq.errors import QueryError
from sulq.local.blocks import DesignResponse
from sulq.local.difference_sets import _RECURRENCES, Size, difference_set, sizes

SINGER = [
    Size(*(*((q**power - 1) // (q - 1) for power in (t, t - 1, t - 2)), q, t))
    for q, recurrences in _RECURRENCES.items()
    for t in recurrences
]
POWERS = [size for least in (2, 8, 100, 200, 1000, 6000) for size in sizes(least) if size.t == 0]


@pytest.mark.parametrize("size", [*SINGER, *POWERS], ids=str)
def test_every_difference_occurs_equally_often(size: Size) -> None:
    flags = np.zeros(size.residues)
    flags[difference_set(size)] = 1
    assert flags.sum() == size.block
    differences = np.rint(np.fft.irfft(np.abs(np.fft.rfft(flags)) ** 2, size.residues))
    assert differences[0] == size.block
    assert (differences[1:] == size.overlap).all()


def test_a_difference_set_is_counted_one_by_one() -> None:
    """The same without Fourier, for one of each family."""
    for size in (
        Size(85, 21, 5, q=4, t=4),
        Size(31, 6, 1, q=5, t=3),
        Size(23, 11, 5, q=2, t=0),
        Size(37, 9, 2, 4, 0),
    ):
        d = difference_set(size).tolist()
        apart = [(a - b) % size.residues for a in d for b in d if a != b]
        assert np.bincount(apart, minlength=size.residues)[1:].tolist() == [size.overlap] * (
            size.residues - 1
        )


def test_too_many_possibilities_are_refused() -> None:
    with pytest.raises(QueryError, match="no design for 20000"):
        DesignResponse(20_000, 1)


@pytest.mark.parametrize("epsilon", ["0.1", 1, 2, 4])
def test_the_variance_is_near_the_best_there_can_be(epsilon: str | int) -> None:
    """4e^ε/(e^ε − 1)², for k = 300: that of the optimised unary response, which no report much improves on."""
    response = DesignResponse(300, epsilon)
    power = np.exp(float(epsilon))
    best = 4 * power / (power - 1) ** 2
    assert 0.9 * best < response.variance(1, 0) < 1.2 * best
