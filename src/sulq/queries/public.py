"""Public values in an expression: lists of them, and lists of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.queries.expressions import public_value


def public_numbers(values: object) -> tuple[float, ...]:
    """Public numbers, all finite."""
    constants = [public_value(value) for value in public_list(values)]
    for constant in constants:
        if isinstance(constant, str):
            raise QueryError(f"a number is needed here, not {constant!r}")
    return tuple(constants)  # type: ignore[arg-type]


def public_list(values: object) -> tuple[Any, ...]:
    """A list of public values, as a tuple."""
    if not isinstance(values, tuple | list | np.ndarray):
        raise QueryError(f"a list is needed here, not {values!r}")
    return tuple(values)
