"""The learners that `sulq plan` has theorems for, and what their rows look like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sulq.learners.conjunction import Conjunction
from sulq.learners.parity import Parity
from sulq.plans.models import Model
from sulq.schema import Boolean, Schema
from sulq.theory.masked_examples import masked_parity_schema
from sulq.theory.masked_parity import MaskedParity


@dataclass(frozen=True)
class Subject:
    """A learner that has a theorem, and what its rows look like for a number of bits."""

    name: str
    help: str
    description: str
    learner: Any
    schema: Callable[[int], Schema]
    models: tuple[Model, ...]


def _bits(dimension: int) -> Schema:
    return Schema({name: Boolean() for name in [*(f"x{j}" for j in range(dimension)), "label"]})


EVERY_MODEL: tuple[Model, ...] = ("sample", "curator", "crowd")
SUBJECTS = (
    Subject(
        "conjunction",
        "which of many conditions hold whenever a label does",
        "A conjunction of some of D conditions, from D questions in one round (Theorem 5 of the lecture "
        "notes): rows to find one that errs on at most --error of all that may come.",
        Conjunction("label"),
        _bits,
        EVERY_MODEL,
    ),
    Subject(
        "masked-parity",
        "the class that two rounds learn and one cannot",
        "Masked parity of D bits on uniform rows, from D + 1 questions in two rounds (Proposition 5.18 of "
        "'What can we learn privately?'). It is found exactly, or not.",
        MaskedParity(),
        masked_parity_schema,
        EVERY_MODEL,
    ),
    Subject(
        "parity",
        "a parity of some of many bits",
        "A parity of some of D bits, by solving equations (Theorem 4.4 of 'What can we learn privately?'): "
        "possible for a trusted curator, and for no crowd.",
        Parity("label"),
        _bits,
        ("curator",),
    ),
)
