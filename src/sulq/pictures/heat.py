"""A heat map: how strongly each two of several things go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sulq.pictures import svg

CELL, LONGEST = 30.0, 150.0
HUE, GREY = svg.PALETTE[0], svg.FAINT


@dataclass(frozen=True)
class HeatCell:
    """How strongly two things go together.

    Args:
        strength: from 0 to 1.
        telling: whether that is more than noise; if not, it is drawn in grey.

    >>> HeatCell(0.5, True).words, HeatCell(0.5, False).words
    ('0.50', '[0.50]')
    """

    strength: float
    telling: bool

    @property
    def words(self) -> str:
        """The strength, in brackets where it may be noise."""
        return f"{self.strength:.2f}" if self.telling else f"[{self.strength:.2f}]"


def picture(
    title: str, names: Sequence[str], cells: Mapping[tuple[int, int], HeatCell], note: str = ""
) -> str:
    """A square for each two names, the darker the stronger. Pairs that are not there stay empty.

    Args:
        title: what stands above.
        names: what each row and each column is called.
        cells: by the places of two names, the smaller one first.
        note: what stands below.

    >>> picture("pairs", ["age", "sex"], {(0, 1): HeatCell(0.5, True)}).count("<rect")
    2
    """
    room = min(LONGEST, max(map(svg.wide, names)))
    drawn = []
    for place, name in enumerate(names):
        y = place * CELL + CELL / 2
        drawn.append(svg.text(room, y, name, "end", room=room))
        drawn.append(svg.text(room + 10 + (place + 0.5) * CELL, y, str(place + 1), "middle", fill=svg.QUIET))
    for (one, other), cell in cells.items():
        words = f"{cell.strength:.2f}" + ("" if cell.telling else ", within the noise")
        square = svg.box(
            room + 11 + one * CELL,
            other * CELL + 1,
            CELL - 2,
            CELL - 2,
            rx=3,
            fill=HUE if cell.telling else GREY,
            fill_opacity=max(0.04, cell.strength) if cell.telling else 1.0,
        )
        drawn.append(svg.group([svg.hint(f"{names[one]} and {names[other]}: {words}"), square]))
    grey = any(not cell.telling for cell in cells.values())
    about = "columns are in the order of the rows · the darker, the stronger (Cramér's V)"
    drawn.append(svg.aside(0, len(names) * CELL + 14, about + (" · grey: within the noise" if grey else "")))
    width = max(room + 20 + len(names) * CELL, svg.wide(about, svg.SMALL) + 120)
    return svg.document(title, drawn, width, len(names) * CELL + 26, note)
