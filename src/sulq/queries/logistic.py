"""The logistic function on a public grid: how likely something is whose log-odds are known."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sulq.queries.expressions import named
from sulq.queries.facts import Number, number
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Floats, Scope, Values

STEP_BITS = 7
"""Log-odds are truncated to steps of 2⁻⁷."""
FURTHEST = 12 << STEP_BITS
"""Log-odds of 12 or more are certainty on the grid of probabilities."""
GRID_BITS = 16
"""Probabilities are whole multiples of 2⁻¹⁶."""


@dataclass(frozen=True, eq=False)
class Logistic(Node):
    """1/(1 + e⁻ˣ), coordinate by coordinate, for x on a grid of 2⁻⁷.

    A table that is the same on every machine says the value, so no processor's own e⁻ˣ can change a sum. The
    function is monotone, so the bounds of x give the bounds of the value.
    """

    wire = "logistic"

    inner: Node

    def facts(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        shift = STEP_BITS - inner.bits
        ends = [_steps(end.astype(np.float64), shift) for end in (inner.low, inner.high)]
        low, high = (probabilities()[end].astype(np.int64) for end in ends)
        return number(GRID_BITS, low, high, rounded=False)

    def value(self, batch: Batch) -> Values:
        shift = STEP_BITS - batch.scope.number(self.inner).bits
        return np.asarray(probabilities().take(_steps(batch.number(self.inner), shift)))


def logistic(log_odds: str | Node) -> Logistic:
    """How likely something is whose log-odds are known: 1/(1 + e⁻ˣ).

    Args:
        log_odds: a number or a vector of numbers, or a column's name.

    >>> import sulq
    >>> people = sulq.open({"x": [-20, 0, 1]}, {"x": sulq.Integer(-50, 50)})
    >>> people.values(sulq.logistic("x")).round(4).tolist()
    [0.0, 0.5, 0.7311]
    """
    return Logistic(named(log_odds))


@cache
def probabilities() -> Floats:
    """The value for log-odds from −FURTHEST to FURTHEST steps, in steps of the grid of probabilities.

    >>> probabilities()[[0, FURTHEST, -1]].tolist()
    [0.0, 32768.0, 65536.0]
    """
    with localcontext() as context:
        context.prec = 30
        scale, step = Decimal(2**GRID_BITS), Decimal(2) ** -STEP_BITS
        upper = [
            int((scale / (1 + (-step * place).exp())).to_integral_value()) for place in range(FURTHEST + 1)
        ]
    lower = [2**GRID_BITS - value for value in reversed(upper[1:])]
    return np.array(lower + upper, dtype=np.float64)


def _steps(values: Floats, shift: int) -> NDArray[np.intp]:
    """The places in the table of numbers on a grid that is `shift` bits coarser than the table's."""
    steps = np.trunc(values * 2.0 ** max(-1000, min(shift, 1000)))
    return np.asarray(steps.clip(-FURTHEST, FURTHEST), dtype=np.intp) + FURTHEST
