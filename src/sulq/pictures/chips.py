"""Chips: short texts in a row, with a word between them."""

from __future__ import annotations

from collections.abc import Sequence

from sulq.pictures import svg

LINE, CHIP, WIDEST, LONGEST = 34.0, 26.0, 640.0, 300.0


def picture(title: str, chips: Sequence[str], joint: str = "and", note: str = "") -> str:
    """Texts as chips joined by a word, on as many lines as they need.

    >>> picture("True where", ["cough", "fever"]).count("<rect")
    3
    """
    drawn, hue, between = [], svg.PALETTE[0], svg.wide(joint) + 20
    x = y = widest = 0.0
    for place, chip in enumerate(chips):
        wide = min(LONGEST, svg.wide(chip)) + 24
        if x and x + between + wide > WIDEST:
            x, y = 0.0, y + LINE
        if place:
            drawn.append(svg.text(x + between / 2, y + CHIP / 2, joint, "middle", fill=svg.QUIET))
            x += between
        drawn.append(svg.box(x, y, wide, CHIP, rx=13, fill=hue, fill_opacity=0.14, stroke=hue))
        drawn.append(svg.text(x + wide / 2, y + CHIP / 2, chip, "middle", room=LONGEST))
        x += wide
        widest = max(widest, x)
    return svg.document(title, drawn, widest, y + CHIP, note)
