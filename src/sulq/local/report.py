"""What a device sends: numbers that a randomizer drew, and which item they are about. Nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.forms import VERSION, Versioned, opened
from sulq.local.received import as_sent


@dataclass(frozen=True, eq=False)
class Report(Versioned):
    """What a person's device sends about one item; or what many devices send, in one array.

    Args:
        item: the name of the item (`Item.key`).
        numbers: a randomizer's report for each row: a number, or a row of numbers.

    >>> report = Report("x", np.array([True]))
    >>> report.to_json()
    '{"item":"x","numbers":[1],"report":1}'
    >>> Report.from_json(report.to_json()) == report
    True
    """

    kind: ClassVar[str] = "report"
    item: str
    numbers: NDArray[Any]

    def __post_init__(self) -> None:
        self.numbers.flags.writeable = False

    def __reduce__(self) -> tuple[type[Report], tuple[Any, ...]]:
        return Report, (self.item, self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self.form() == other.form()

    def __hash__(self) -> int:
        return hash((self.item, len(self.numbers)))

    def form(self) -> dict[str, Any]:
        numbers = self.numbers.view(np.uint8) if self.numbers.dtype == bool else self.numbers
        return {self.kind: VERSION, "item": self.item, "numbers": numbers.tolist()}

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Report:
        """The report with this form. A version that is not known is refused.

        What the numbers are is not looked at here: whatever a person sends, it counts for no more than one
        report can.
        """
        given = opened(form, cls.kind, ("item", "numbers"))
        if not isinstance(given["item"], str) or not isinstance(given["numbers"], list):
            raise QueryError("a report has the name of its item and a list of numbers")
        return cls(given["item"], as_sent(given["numbers"]))
