"""What every question of a round has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from sulq.queries.expressions import Node


class Question(ABC):
    """Something that a round asks. Most questions are answered by sums, and some need the rows themselves."""

    weight: Fraction
    """How well it should be answered, compared with the other questions of its round."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Node, ...]:
        """The row expressions whose sums answer it."""

    @property
    @abstractmethod
    def form(self) -> dict[str, Any]:
        """The question as plain data."""
