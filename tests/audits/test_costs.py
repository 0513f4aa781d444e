"""What noise costs: queries that are asked several times."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sulq
from sulq.audits.costs import loss_of_sum
from sulq.audits.transcripts import losses
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.repeated import RepeatedNoise

KINDS = {"sick": sulq.Boolean()}


def test_a_query_that_is_asked_several_times_loses_as_often() -> None:
    three, one = Fraction(3), Fraction(1)
    assert loss_of_sum(RepeatedNoise(DiscreteLaplace(6), 10), three, one) == 5
    assert loss_of_sum(RepeatedNoise(DiscreteGaussian(4), 8), three, one) == 1


@pytest.mark.parametrize("neighbour", [[True, True, True], [False, False, True]])
def test_repetitions_of_the_papers_box_lose_their_part_of_epsilon(neighbour: list[Any]) -> None:
    rows, changed = (sulq.open({"sick": each}, KINDS) for each in ([True, False, True], neighbour))
    curator = rows.curator(epsilon=1, calibration="sulq-laplace", queries=10_000)
    asked = sulq.Round([sulq.count(where="sick", tolerance=3000, beta="0.01")])
    [loss] = losses(curator, rows, changed, [asked])
    assert loss.charged > 1
    assert loss.lost == pytest.approx(float(loss.charged / 10_000), rel=1e-9)
