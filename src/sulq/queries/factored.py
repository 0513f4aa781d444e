"""Products of factors, each of them over the columns of one hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.queries.expressions import Constant
from sulq.queries.node import Node

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Products:
    """Many products of the same factors' coordinates, each of them added to a coordinate of the value.

    Args:
        places: to which coordinate of the value each product is added.
        weights: what each product is multiplied by.
        factors: for each hand, a row expression over its columns.
        at: for each hand, which coordinate of its factor each product takes.
    """

    places: Places
    weights: Floats
    factors: Mapping[int, Node]
    at: Mapping[int, Places]

    @classmethod
    def one(cls) -> Products:
        """The number 1: a product of no factors."""
        return cls(np.zeros(1, np.intp), np.ones(1), {}, {})

    def taken(self, which: NDArray[Any], places: Places, weights: Floats | float = 1.0) -> Products:
        """Some of the products, for other coordinates, times numbers."""
        at = {hand: each[which] for hand, each in self.at.items()}
        return Products(places, self.weights[which] * weights, self.factors, at)

    def among(self, hands: Iterable[int]) -> Products:
        """The same products, of the people of all these hands: one without a factor has the constant 1."""
        others = [hand for hand in hands if hand not in self.factors]
        return Products(
            self.places,
            self.weights,
            {**self.factors, **dict.fromkeys(others, Constant(1))},
            {**self.at, **dict.fromkeys(others, np.zeros_like(self.places))},
        )

    def into(self, places: Places) -> Products:
        """The same products for other coordinates: `places` says where each coordinate goes."""
        return Products(places[self.places], self.weights, self.factors, self.at)
