"""A learner reads like its box in the paper: what it asks, what it computes, whether it goes on."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

import sulq
from sulq.learners.learner import Learner

LEARNERS: list[type[Learner[Any]]] = [
    sulq.ID3,
    sulq.KMeans,
    sulq.Perceptron,
    sulq.SVD,
    sulq.PCA,
    sulq.Conjunction,
    sulq.theory.MaskedParity,
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_rounds_of_a_learner_fit_a_screen(learner: type[Learner[Any]]) -> None:
    assert len(inspect.getsource(learner.rounds).splitlines()) <= 25


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_explains_its_settings_one_by_one_and_in_order(learner: type[Learner[Any]]) -> None:
    [_, explained] = inspect.getdoc(learner).split("\nArgs:\n")  # type: ignore[union-attr]
    lines = [line for line in explained.split("\n\n")[0].splitlines() if not line.startswith("     ")]
    assert [line.split(":")[0].strip() for line in lines] == [each.name for each in fields(learner)]  # type: ignore[arg-type]
