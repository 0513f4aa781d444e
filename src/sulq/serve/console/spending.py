"""What was spent of a budget and what is left, as a picture: by analyst, by run and by day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.ledger.accounts import ANALYST
from sulq.ledger.chain import Entry
from sulq.numbers import amount
from sulq.pictures.measured import MeasuredBar, MeasuredPanel, picture

DRAWN = 12
OWNER = "the owner"
SYMBOLS = {"epsilon": "ε", "rho": "ρ"}


@dataclass(frozen=True)
class Spending:
    """What was spent, one line for each of something.

    Args:
        title: what the lines are.
        lines: their names, and what was spent.
    """

    title: str
    lines: tuple[tuple[str, Fraction], ...]


def spent_by(entries: Iterable[Entry]) -> list[Spending]:
    """What was spent by each analyst, in each run, and on each day.

    Args:
        entries: the entries of a ledger.

    >>> from sulq.ledger.ledger import Ledger
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    >>> [(each.title, each.lines[0][1]) for each in spent_by(ledger.entries())]
    [('by analyst', Fraction(1, 4)), ('by run', Fraction(1, 4)), ('by day', Fraction(1, 4))]
    """
    analysts: dict[str, Fraction] = {}
    runs: dict[str, Fraction] = {}
    days: dict[str, Fraction] = {}
    for entry in entries:
        if entry.kind == "charge":
            analyst = (entry.account or OWNER).removeprefix(ANALYST)
            for sums, name in ((analysts, analyst), (runs, entry.run), (days, entry.time[:10])):
                sums[name] = sums.get(name, Fraction(0)) + entry.cost
    most_first = [
        Spending(title, tuple(sorted(sums.items(), key=lambda pair: -pair[1])))
        for title, sums in (("by analyst", analysts), ("by run", runs))
    ]
    return [*most_first, Spending("by day", tuple(sorted(days.items(), reverse=True)))]


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
