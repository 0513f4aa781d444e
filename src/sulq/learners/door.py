"""What the learners that need more than sums ask of a curator and of a schema."""

from __future__ import annotations

import math
from fractions import Fraction

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.privacy.budget import cost_of_pure

SIGNIFICANT = 40


def cost_of(curator: Curator, share: Numeric) -> Fraction:
    """A share of what a curator may spend, in the unit of its budget."""
    if curator.calibration.unit not in ("epsilon", "rho"):
        raise QueryError("the paper's calibrations answer sums only: this needs the tight one")
    return rational("share", share, most=1) * curator.allowance * curator.calibration.total


def pure(curator: Curator, cost: Fraction) -> Fraction:
    """The largest ε, to 40 bits, that an ε-differentially private mechanism of this cost may have.

    >>> import sulq
    >>> epsilon = pure(sulq.randhie().curator(rho="0.02"), Fraction(2, 100))
    >>> round(float(epsilon), 9)
    0.2
    """
    if curator.calibration.unit == "epsilon":
        return cost
    scale = 1 << (SIGNIFICANT + max(0, cost.denominator.bit_length() - cost.numerator.bit_length()))
    epsilon = Fraction(math.isqrt(math.floor(2 * cost * scale * scale)), scale)
    assert cost_of_pure(epsilon, "rho") <= cost
    return epsilon


def enough(needed: int, curator: Curator, promise: str) -> None:
    """Refuse, before anything is spent, if the rows are too few for a promise; unless they are not public."""
    rows = curator.public_rows
    if rows is not None and rows < needed:
        raise QueryError(
            f"insufficient samples: {promise} needs {needed} rows, and there are {rows}; nothing was spent"
        )
