"""A real-valued query by boolean ones: its binary digits, most significant first, all asked at once.

The full version cites Bshouty and Feldman for it: section 5. Of a number from low to high, the first m digits
of (number − low)/(high − low) are asked for, with m = ⌈log₂((high − low)/τ)⌉. The mean of a digit is a
boolean query, none depends on another's answer, and the means put together are the mean of the number to half
a last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.queries.codes import Bins
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema

MOST_DIGITS = 16


@dataclass(frozen=True)
class Digits:
    """The boolean queries for an expression's digits, and what their answers come to. `digits` makes them.

    Args:
        queries: for each digit an expression that is true where the digit is 1.
        tolerance: if the mean of every digit is within this, the mean of the expression is within what was
            asked for.
        low: the smallest value of the expression.
        high: the largest value of the expression.
    """

    queries: tuple[Node, ...]
    tolerance: float
    low: float
    high: float

    def mean(self, answers: Sequence[float]) -> float:
        """The mean of the expression, from the mean of each digit: from how often it is 1.

        Half of the last digit is added, because what follows it lies between nothing and one of it.

        >>> Digits((), 0.0, low=0.0, high=8.0).mean([1.0, 0.0, 1.0])
        5.5
        """
        share = math.fsum(answer / 2**place for place, answer in enumerate(answers, start=1))
        return self.low + (self.high - self.low) * (share + 0.5 ** (len(answers) + 1))


def digits(expression: Node, tolerance: Numeric, schema: Schema) -> Digits:
    """The queries for the mean of a real-valued expression to within `tolerance`.

    Half of the tolerance is for the digits left out, half for the answers: m of them, off by t each, are
    off by less than (high − low)·t together.

    Args:
        expression: a single number.
        tolerance: how far from the truth the mean may be.
        schema: what is public about the columns.

    >>> from sulq.queries.expressions import col
    >>> from sulq.schema import Real
    >>> by_digits = digits(col("age"), tolerance=20, schema=Schema({"age": Real(0, 100)}))
    >>> len(by_digits.queries), by_digits.tolerance
    (3, 0.1)
    """
    facts = scope_of(schema).number(expression)
    if facts.width != 1:
        raise QueryError("digits are those of a single number, not of a vector")
    within = rational("tolerance", tolerance)
    unit = Fraction(facts.unit)
    low, high = int(facts.low[0]) * unit, int(facts.high[0]) * unit
    # Compared as fractions: a float's logarithm can be on the wrong side of a whole number.
    count = max(1, math.ceil((high - low) / within) - 1).bit_length()
    if count > MOST_DIGITS:
        raise QueryError(
            f"a tolerance of {float(within):g} takes {count} digits, and at most {MOST_DIGITS} can be"
        )
    queries = tuple(_digit(expression, low, high, place) for place in range(1, count + 1))
    share = float(within / (2 * (high - low))) if high > low else 1.0
    return Digits(queries, min(share, 1.0), float(low), float(high))


def _digit(expression: Node, low: Fraction, high: Fraction, place: int) -> Node:
    """Whether the digit at this place after the point is 1: which of 2^place equal pieces, even or odd."""
    pieces = 2**place
    edges = tuple(float(low + (high - low) * j / pieces) for j in range(1, pieces))
    table = tuple((float(j % 2),) for j in range(pieces))
    return Lookup(Bins(expression, edges), table) > 0
