"""What was spent of a budget and what is left, as a picture: by analyst, by run and by day."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.ledger.accounts import ANALYST
from sulq.ledger.chain import Entry
from sulq.ledger.ledger import Ledger
from sulq.numbers import amount
from sulq.pictures.measured import MeasuredBar, MeasuredPanel, picture

DRAWN, LISTED = 12, 100
"""How many of something are drawn, and how many are listed in numbers."""
A_PAGE = 16
"""How many entries are read at once: an answer may be long."""
OWNER = "the owner"
SYMBOLS = {"epsilon": "ε", "rho": "ρ"}


@dataclass(frozen=True)
class Spending:
    """What was spent, one line for each of something.

    Args:
        title: what the lines are.
        lines: their names, and what was spent.
        more: how many lines are left out.
    """

    title: str
    lines: tuple[tuple[str, Fraction], ...]
    more: int = 0


class RunningSums:
    """What was spent by each analyst, in each run, and on each day.

    Entries never change. So each is read once, and another look costs what was added since.

    >>> from sulq.ledger.ledger import Ledger
    >>> ledger, sums = Ledger(None, "epsilon", Fraction(1), {}), RunningSums()
    >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    >>> [(each.title, each.lines[0][1]) for each in sums.of(ledger)]
    [('by analyst', Fraction(1, 4)), ('by run', Fraction(1, 4)), ('by day', Fraction(1, 4))]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read = 0
        self._analysts: defaultdict[str, Fraction] = defaultdict(Fraction)
        self._runs: defaultdict[str, Fraction] = defaultdict(Fraction)
        self._days: defaultdict[str, Fraction] = defaultdict(Fraction)

    def of(self, ledger: Ledger) -> list[Spending]:
        """The sums of a ledger, always the same one: who spent most first, and the last days first."""
        with self._lock:
            while entries := ledger.pages.entries(self._read, A_PAGE):
                for entry in entries:
                    self._add(entry)
                self._read = entries[-1].number
            analysts, runs = (
                sorted(sums.items(), key=lambda pair: -pair[1]) for sums in (self._analysts, self._runs)
            )
            days = sorted(self._days.items(), reverse=True)
        parts = (("by analyst", analysts), ("by run", runs), ("by day", days))
        return [Spending(title, tuple(lines[:LISTED]), max(0, len(lines) - LISTED)) for title, lines in parts]

    def _add(self, entry: Entry) -> None:
        if entry.kind == "charge":
            self._analysts[(entry.account or OWNER).removeprefix(ANALYST)] += entry.cost
            self._runs[entry.run] += entry.cost
            self._days[entry.time[:10]] += entry.cost


def budget_picture(unit: str, total: Fraction, spent: Fraction, parts: Sequence[Spending]) -> str:
    """The budget as SVG.

    Args:
        unit: what it is counted in.
        total: the whole budget.
        spent: what was spent.
        parts: what was spent, by whom and when.

    >>> budget_picture("epsilon", Fraction(1), Fraction(1, 4), []).count("<rect")
    3
    """
    budget = MeasuredPanel("the whole", (_bar("spent", spent), _bar("left", total - spent)))
    panels = [MeasuredPanel(each.title, tuple(_bar(*line) for line in each.lines)) for each in parts]
    title = f"{SYMBOLS.get(unit, unit)}: {amount(spent)} of {amount(total)} spent"
    return picture(title, [budget, *(panel for panel in panels if panel.bars)], DRAWN)


def _bar(name: str, spent: Fraction) -> MeasuredBar:
    return MeasuredBar(name, float(spent), float(spent), float(spent), True)
