"""What a SELECT computes of aggregates, as formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sulq.errors import QueryError
from sulq.hypotheses.formulas import Formula, FormulaStep


@dataclass(frozen=True)
class Computation:
    """Something computed of aggregates.

    Args:
        formula: how it is computed.
        single: if it is one measure times a public fraction, which measure; else None.
        factor: that fraction; of a constant, the constant itself.
    """

    formula: Formula
    single: int | None
    factor: Fraction = Fraction(1)

    @property
    def constant(self) -> bool:
        """Whether it is a public number."""
        return len(self.formula) == 1 and self.formula[0].do == "number"


def scaled(part: Computation, factor: Fraction) -> Computation:
    """Something computed, times a public fraction."""
    if part.constant:
        return number(part.factor * factor)
    if factor == 1:
        return part
    if part.single is None:
        return Computation((*part.formula, FormulaStep("number", float(factor)), FormulaStep("*")), None)
    total = part.factor * factor
    # By a whole number or a part of one it is computed as SQL does, to the last bit.
    word, by = ("/", 1 / total) if abs(total.numerator) == 1 else ("*", total)
    rest = (FormulaStep("number", float(by)), FormulaStep(word)) if total != 1 else ()
    return Computation((FormulaStep("measure", part.single), *rest), part.single, total)


def number(value: Fraction) -> Computation:
    """A public number."""
    if abs(value) > 10**200:
        raise QueryError("a number in a SELECT is at most 1e200 in size")
    return Computation((FormulaStep("number", float(value)),), None, value)


def folded(word: str, left: Fraction, right: Fraction) -> Fraction:
    """What two public numbers come to."""
    if word == "/" and right == 0:
        raise QueryError("division by 0 is NULL: leave it out")
    folds: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    return folds[word](left, right)
