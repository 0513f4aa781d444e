"""What looks at single rows: for rows one may see, and where each row plays a person who sees their own."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.node import Node
from sulq.sources.sums import Sums


class Rows(Sums):
    """Rows that can be looked at one by one, besides adding up."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether the rows come in the same order whenever they are opened."""

    @abstractmethod
    def values(self, expression: str | Node) -> NDArray[Any]:
        """The value of an expression on every row, in order.

        For rows one may see, such as those to predict, or where each row plays a person who sees their own.
        Truth values and codes as they are, numbers as floats in natural units, one row of them for each row.

        Args:
            expression: the name of a column, or a row expression.
        """

    @abstractmethod
    def only(self, at: NDArray[np.intp]) -> Rows:
        """The rows at some places, as a source of their own.

        Args:
            at: the places, from 0, in the order in which the rows are to come.
        """


def rows_of(source: Sums, who: str) -> Rows:
    """The source, if it shows single rows, or else a refusal, which depends on no row.

    Args:
        source: any source.
        who: whoever needs single rows, to stand at the beginning of the refusal.

    >>> import sulq
    >>> people = sulq.open({"age": [31, 64, 70]}, {"age": sulq.Integer(0, 120)})
    >>> rows_of(people, "a crowd") is people
    True
    """
    if isinstance(source, Rows):
        return source
    raise QueryError(
        f"{who} looks at single rows, and this source only adds up: open the rows with sulq.open, or ask "
        "source.exact() or source.curator(…), which need no more than sums"
    )
