"""A dot for each number that is known twice: the nearer to the diagonal, the better both agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sulq.pictures import svg

SIDE, ROOM = 380.0, 52.0
HUE, GREY = svg.PALETTE[0], svg.FAINT


@dataclass(frozen=True)
class ScatterDot:
    """A number that is known twice.

    Args:
        across: the number from the left.
        up: the number from below.
        near: whether both are as near as they can be expected to be; if not, the dot is dark.
        words: what the dot says when it is pointed at.
    """

    across: float
    up: float
    near: bool
    words: str


def picture(title: str, across: str, up: str, dots: Sequence[ScatterDot], note: str = "") -> str:
    """A square with all dots, on scales of roots, so that small numbers have room.

    Dots in one place are drawn once.

    Args:
        title: what stands above.
        across: what the scale from the left is called.
        up: what the scale from below is called.
        dots: the numbers, as parts of 1; what is below 0 is drawn at 0.
        note: what stands below.

    >>> dots = [ScatterDot(0.5, 0.4, True, "a"), ScatterDot(0.5, 0.4, True, "b")]
    >>> picture("shares", "real", "drawn", dots).count("<circle")
    1
    """
    largest = max([1e-6, *(max(dot.across, dot.up) for dot in dots)])

    def along(number: float) -> float:
        return SIDE * float((max(0.0, number) / largest) ** 0.5)

    drawn = [
        svg.box(ROOM, 0, SIDE, SIDE, fill="none", stroke=svg.FAINT),
        svg.line(ROOM, SIDE, ROOM + SIDE, 0, stroke=svg.QUIET),
    ]
    for tick in (0.0, largest / 16, largest / 4, largest * 9 / 16, largest):
        words = f"{100 * tick:.3g} %"
        drawn.append(svg.text(ROOM + along(tick), SIDE + 14, words, "middle", fill=svg.QUIET, size=svg.SMALL))
        drawn.append(svg.text(ROOM - 6, SIDE - along(tick), words, "end", fill=svg.QUIET, size=svg.SMALL))
    places = {}
    for dot in sorted(dots, key=lambda dot: not dot.near):
        places[round(along(dot.across)), round(along(dot.up))] = dot
    for (x, y), dot in places.items():
        circle = svg.tag(
            "circle",
            svg.hint(dot.words),
            cx=ROOM + x,
            cy=SIDE - y,
            r=2.5 if dot.near else 3.5,
            fill=HUE if dot.near else svg.PALETTE[5],
            fill_opacity=0.45 if dot.near else 0.9,
        )
        drawn.append(circle)
    drawn.append(svg.aside(ROOM, SIDE + 34, f"from the left: {across} · from below: {up}"))
    drawn.append(svg.aside(ROOM, SIDE + 50, "a dot for each count, in parts of all rows, on scales of roots"))
    far = sum(not dot.near for dot in dots)
    if far:
        drawn.append(
            svg.aside(ROOM, SIDE + 66, f"orange: {far:,} further apart than the error of the release")
        )
    return svg.document(title, drawn, ROOM + SIDE + 40, SIDE + 74, note)
