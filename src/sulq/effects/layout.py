"""Where the values of several attributes stand in one long vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Attributes, each with few values, laid end to end.

    Args:
        sizes: how many values each attribute has.
        ordered: whether the values of an attribute are intervals in their order.

    >>> Layout((2, 3), (False, True)).slices
    [slice(0, 2, None), slice(2, 5, None)]
    """

    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]

    @property
    def width(self) -> int:
        """How many values all attributes have."""
        return sum(self.sizes)

    @cached_property
    def slices(self) -> list[slice]:
        """Where the values of each attribute are."""
        return [slice(start, end) for start, end in pairwise(accumulate(self.sizes, initial=0))]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every pair of attributes."""
        return list(combinations(range(len(self.sizes)), 2))
