"""How long rows are, and to which length to shorten them."""

from __future__ import annotations

import numpy as np
import pytest

from sulq.learners.row_lengths import RowLengths, best_norms

LENGTHS = RowLengths(16.0)


def between(low: float, high: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.where((LENGTHS.middles > low) & (LENGTHS.middles < high), 1000.0, 0.0)


@pytest.mark.parametrize("noise", [10.0, 1000.0, 1e5])
def test_hands_whose_rows_differ_by_a_factor_are_shortened_by_the_same_part(noise: float) -> None:
    wide, narrow = best_norms(
        [LENGTHS, LENGTHS], [between(1, 16), between(1 / 64, 16 / 64)], [0.0, 0.0], noise
    )
    assert wide == pytest.approx(8 * narrow)


def test_the_more_noise_the_shorter_rows_are_made() -> None:
    norms = [
        best_norms([LENGTHS], [between(0.1, 16)], [0.0], noise)[0] for noise in (0.0, 100.0, 1000.0, 1e5)
    ]
    assert (np.diff(np.array(norms, float)) <= 0).all()
    assert norms[0] == pytest.approx(4.0)


def test_where_no_row_is_seen_none_is_shortened() -> None:
    assert best_norms([LENGTHS, LENGTHS], [between(1, 2), between(20, 30)], [0.0, 0.0], 10.0) == [4.0, 4.0]
