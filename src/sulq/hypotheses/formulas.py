"""Formulas of figures: what a SELECT computes of its aggregates, with bounds that follow from theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.consistency import Floats
from sulq.hypotheses.figures import CellFigures

MOST_STEPS = 1000


@dataclass(frozen=True)
class FormulaStep:
    """One step of a formula, written so that operands stand before what is done with them: 1 2 +.

    Args:
        do: "measure" or "number" for an operand; else what is done with the last one or two of them.
        number: which measure, or which number; of "round", how many decimals; else 0.
    """

    do: str
    number: float = 0


Formula: TypeAlias = tuple[FormulaStep, ...]


@dataclass(frozen=True)
class Enclosure:
    """Numbers, and bounds between which the truth is if it is between those they were computed from.

    Args:
        value: the estimates.
        low: the truth is not below.
        high: the truth is not above.
    """

    value: Floats
    low: Floats
    high: Floats


def _monotone(function: Callable[[Floats], Floats]) -> Callable[[Enclosure], Enclosure]:
    return lambda x: Enclosure(function(x.value), function(x.low), function(x.high))


def _product(x: Enclosure, y: Enclosure) -> Enclosure:
    corners = [_times(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    return Enclosure(_times(x.value, y.value), np.min(corners, axis=0), np.max(corners, axis=0))


def _times(a: Floats, b: Floats) -> Floats:
    """A product in which 0 times whatever is not bounded is 0, as that is finite in truth."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def _quotient(x: Enclosure, y: Enclosure) -> Enclosure:
    corners = [a / b for a in (x.low, x.high) for b in (y.low, y.high)]
    unknown = (y.low <= 0) & (y.high >= 0)
    low = np.where(unknown, -np.inf, np.min(corners, axis=0))
    return Enclosure(x.value / y.value, low, np.where(unknown, np.inf, np.max(corners, axis=0)))


def _absolute(x: Enclosure) -> Enclosure:
    low = np.where((x.low <= 0) & (x.high >= 0), 0.0, np.minimum(np.abs(x.low), np.abs(x.high)))
    return Enclosure(np.abs(x.value), low, np.maximum(np.abs(x.low), np.abs(x.high)))


def _truth(function: Callable[..., Floats]) -> Callable[..., Enclosure]:
    """What holds of the estimates: what a HAVING decides by."""

    def decided(*operands: Enclosure) -> Enclosure:
        value = np.asarray(function(*(operand.value for operand in operands)), dtype=np.float64)
        return Enclosure(value, value, value)

    return decided


def rounded(values: Floats, decimals: int) -> Floats:
    """Numbers to so many decimals, halves away from zero, as SQL rounds.

    >>> rounded(np.array([2.5, -2.5, 0.125]), 0).tolist(), rounded(np.array([0.125]), 2).tolist()
    ([3.0, -3.0, 0.0], [0.13])
    """
    scale = 10.0**decimals
    return np.where(
        np.isfinite(values), np.copysign(np.floor(np.abs(values) * scale + 0.5) / scale, values), values
    )


ONE: dict[str, Callable[[Enclosure], Enclosure]] = {
    "negative": lambda x: Enclosure(-x.value, -x.high, -x.low),
    "floor": _monotone(np.floor),
    "ceil": _monotone(np.ceil),
    "abs": _absolute,
    "not": _truth(np.logical_not),
}
TWO: dict[str, Callable[[Enclosure, Enclosure], Enclosure]] = {
    "+": lambda x, y: Enclosure(x.value + y.value, x.low + y.low, x.high + y.high),
    "-": lambda x, y: Enclosure(x.value - y.value, x.low - y.high, x.high - y.low),
    "*": _product,
    "/": _quotient,
    "<": _truth(np.less),
    "<=": _truth(np.less_equal),
    ">": _truth(np.greater),
    ">=": _truth(np.greater_equal),
    "==": _truth(np.equal),
    "!=": _truth(np.not_equal),
    "and": _truth(np.logical_and),
    "or": _truth(np.logical_or),
}


def measures_of(formula: Formula) -> tuple[int, ...]:
    """Which measures a formula is computed from, each once.

    >>> measures_of((FormulaStep("measure", 2), FormulaStep("measure", 0), FormulaStep("/")))
    (2, 0)
    """
    return tuple(dict.fromkeys(int(step.number) for step in formula if step.do == "measure"))


def computed(formula: Formula, figures: Callable[[int], CellFigures]) -> CellFigures:
    """What a formula comes to in every cell.

    One figure tells as much as the one it is computed from. Computed from several, it tells something if it
    is not 0.

    Args:
        formula: the formula.
        figures: the figures of each measure.

    >>> ten = CellFigures(*(np.array([x]) for x in (10.0, 2.0, 8.0, 12.0, True)))
    >>> steps = FormulaStep("measure", 0), FormulaStep("number", 2), FormulaStep("/")
    >>> half = computed(steps, lambda measure: ten)
    >>> half.low.tolist(), half.value.tolist(), half.high.tolist()
    ([4.0], [5.0], [6.0])
    """
    if len(formula) == 1 and formula[0].do == "measure":
        return figures(int(formula[0].number))
    stack: list[Enclosure] = []
    with np.errstate(all="ignore"):
        for step in formula:
            _take(step, stack, figures)
        [result] = stack
        value = np.clip(result.value, result.low, result.high)
        several = measures_of(formula)
        telling = (result.low > 0) | (result.high < 0) | (result.low == result.high)
        if len(several) == 1:
            telling = figures(several[0]).telling
        radius = np.maximum(result.high - value, value - result.low)
    return CellFigures(value, radius, result.low, result.high, np.asarray(telling & np.isfinite(value)))


def _take(step: FormulaStep, stack: list[Enclosure], figures: Callable[[int], CellFigures]) -> None:
    if step.do == "measure":
        found = figures(int(step.number))
        stack.append(Enclosure(found.value, found.low, found.high))
    elif step.do == "number":
        number = np.float64(step.number)
        stack.append(Enclosure(np.asarray(number), np.asarray(number), np.asarray(number)))
    elif step.do in ONE:
        stack.append(ONE[step.do](stack.pop()))
    elif step.do == "round":
        stack.append(_monotone(lambda x: rounded(x, int(step.number)))(stack.pop()))
    else:
        right, left = stack.pop(), stack.pop()
        stack.append(TWO[step.do](left, right))


def check_formula(formula: Sequence[FormulaStep], measures: int) -> None:
    """Refuse what is no formula of so many measures.

    >>> check_formula((FormulaStep("measure", 0), FormulaStep("+")), 1)
    Traceback (most recent call last):
    sulq.errors.QueryError: this is no formula: an operand is missing or left over
    """
    depth = 0
    for step in formula[: MOST_STEPS + 1]:
        if step.do == "measure" and not (float(step.number).is_integer() and 0 <= step.number < measures):
            raise QueryError(f"a formula has no measure {step.number!r}: there are {measures}")
        if step.do == "round" and not (float(step.number).is_integer() and -15 <= step.number <= 15):
            raise QueryError("a formula rounds to 15 decimals at most")
        if step.do not in ("measure", "number", "round", *ONE, *TWO):
            raise QueryError(f"a formula has no step {step.do!r}")
        needed = 0 if step.do in ("measure", "number") else 2 if step.do in TWO else 1
        if depth < needed:
            raise QueryError("this is no formula: an operand is missing or left over")
        depth += 1 - needed
    if depth != 1 or len(formula) > MOST_STEPS or not measures_of(tuple(formula)):
        raise QueryError("this is no formula: an operand is missing or left over")
