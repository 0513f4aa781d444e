"""A confusion table: how many rows of each class are told to be of which class."""

from __future__ import annotations

from collections.abc import Sequence

from sulq.pictures import svg

WIDE, HIGH, LONGEST = 78.0, 32.0, 150.0
HUE = svg.PALETTE[0]


def picture(title: str, classes: Sequence[str], counts: Sequence[Sequence[float]], note: str = "") -> str:
    """A cell for each two classes, the darker the larger its part of the rows of the true class.

    Args:
        title: what stands above.
        classes: what each class is called.
        counts: for each class that is told, how many rows are of each true class. Noise may make some
            negative.
        note: what stands below.

    >>> picture("sick", ["no", "yes"], [[90, 20], [10, 80]]).count("are told")
    4
    """
    room = min(LONGEST, max(svg.wide(f"told {name}") for name in classes)) + 10
    drawn = []
    totals = [max(1.0, sum(max(0.0, row[place]) for row in counts)) for place in range(len(classes))]
    for place, name in enumerate(classes):
        middle = room + (place + 0.5) * WIDE
        drawn.append(svg.text(middle, HIGH / 2, name, "middle", room=WIDE - 8))
        drawn.append(svg.text(room - 10, (place + 1.5) * HIGH, f"told {name}", "end", room=room - 10))
        for told, row in enumerate(counts):
            part = max(0.0, row[place]) / totals[place]
            cell = svg.box(
                room + place * WIDE + 1,
                (told + 1) * HIGH + 1,
                WIDE - 2,
                HIGH - 2,
                rx=3,
                fill=HUE,
                fill_opacity=0.04 + 0.5 * part,
            )
            words = f"{100 * part:.0f} % of {name} are told {classes[told]}"
            drawn.append(svg.group([svg.hint(words), cell]))
            drawn.append(
                svg.text(middle, (told + 1.5) * HIGH, f"{row[place]:,.0f}".replace("-", "−"), "middle")
            )
    foot = (len(classes) + 1) * HIGH + 14
    drawn.append(svg.aside(0, foot, "columns: what is true · the darker, the larger the part of a column"))
    return svg.document(title, drawn, max(room + len(classes) * WIDE, 420.0), foot + 12, note)
