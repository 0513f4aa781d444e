"""Lines: how something grows with something else, for a few cases beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sulq.pictures import svg
from sulq.pictures.bars import blocks

WIDTH, HEIGHT, LEFT, NAMES = 440.0, 260.0, 64.0, 220.0


@dataclass(frozen=True)
class Line:
    """A line, with a name.

    Args:
        name: what the line is called.
        points: its points, in order.
        errors: the standard errors of the points' heights, if they are known.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    errors: tuple[float, ...] = ()


@dataclass(frozen=True)
class Scale:
    """What an axis is about; where its numbers span powers of ten, it is logarithmic."""

    name: str
    low: float
    high: float
    powers: bool = False

    def part(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        low, high, value = (math.log(x) if self.powers else x for x in (self.low, self.high, value))
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

    @property
    def ticks(self) -> list[float]:
        if not self.powers:
            return svg.ticks(self.low, self.high)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        step = max(1, (last - first) // 6)
        tens = [10.0**power for power in range(first, last + 1, step)]
        return [ten for ten in tens if self.low * 0.999 <= ten <= self.high * 1.001]


def spanning(name: str, values: Sequence[float], powers: bool = False) -> Scale:
    """An axis that has room for all values.

    >>> spanning("rows", [30, 2000], powers=True)
    Scale(name='rows', low=30, high=2000, powers=True)
    """
    return Scale(name, min(values), max(values), powers)


def picture(title: str, across: Scale, up: Scale, lines: Sequence[Line], note: str = "") -> str:
    """Lines as SVG, each named where it ends.

    >>> rows, rate = Scale("rows", 100, 10_000, powers=True), Scale("success", 0, 1)
    >>> picture("Rows it takes", rows, rate, [Line("curator", ((100, 0), (1000, 1)))]).count("<polyline")
    1
    """
    right, bottom = LEFT + WIDTH, 24 + HEIGHT
    drawn = [svg.box(LEFT, 24, WIDTH, HEIGHT, fill="none", stroke=svg.FAINT)]
    for tick in across.ticks:
        x = LEFT + WIDTH * across.part(tick)
        drawn += [svg.line(x, 24, x, bottom), svg.aside(x, bottom + 12, _short(tick), "middle")]
    for tick in up.ticks:
        y = bottom - HEIGHT * up.part(tick)
        drawn += [svg.line(LEFT, y, right, y), svg.aside(LEFT - 6, y, _short(tick), "end")]
    drawn += [svg.text(0, 6, up.name), svg.text(right, bottom + 32, across.name, "end")]
    for number, line in enumerate(lines):
        drawn += _line(line, svg.colour(number), across, up, bottom)
    drawn += _names(lines, up, bottom)
    return svg.document(title, drawn, right + NAMES, bottom + 42, note)


def _line(line: Line, hue: str, across: Scale, up: Scale, bottom: float) -> list[str]:
    at = [(LEFT + WIDTH * across.part(x), bottom - HEIGHT * up.part(y)) for x, y in line.points]
    drawn = []
    for (x, _), (_, value), error in zip(at, line.points, line.errors, strict=False):
        ends = [bottom - HEIGHT * up.part(max(up.low, value + side * error)) for side in (-2, 2)]
        drawn.append(
            svg.tag(
                "line", x1=x, x2=x, y1=ends[0], y2=ends[1], stroke=hue, stroke_opacity=0.4, stroke_width=3
            )
        )
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    drawn.append(svg.tag("polyline", points=corners, fill="none", stroke=hue, stroke_width=2))
    for (x, y), (a, b) in zip(at, line.points, strict=True):
        hint = svg.hint(f"{line.name}: {_short(b)} at {_short(a)}")
        drawn.append(svg.tag("circle", hint, cx=x, cy=y, r=3, fill=hue))
    return drawn


def _names(lines: Sequence[Line], up: Scale, bottom: float) -> list[str]:
    """The names to the right of where their lines end, none upon another."""
    ends = [
        (bottom - HEIGHT * up.part(line.points[-1][1]), number)
        for number, line in enumerate(lines)
        if line.points
    ]
    drawn, free = [], 24.0
    for wanted, number in sorted(ends):
        y = max(wanted, free)
        free = y + 16
        drawn.append(
            svg.text(LEFT + WIDTH + 10, y, lines[number].name, room=NAMES - 10, fill=svg.colour(number))
        )
    return drawn


def drawing(across: Scale, up: Scale, lines: Sequence[Line]) -> RenderableType:
    """Lines for a terminal: a table with a small bar in each cell."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(Text(across.name), justify="right")
    for line in lines:
        table.add_column(Text(svg.clean(line.name)))
    known = [dict(line.points) for line in lines]
    for x in sorted({x for heights in known for x in heights}):
        cells = [
            Text(f"{_short(heights[x]):>8} {blocks(up.part(heights[x]), 8)}") if x in heights else Text("")
            for heights in known
        ]
        table.add_row(Text(_short(x)), *cells)
    return table


def _short(number: float) -> str:
    """A number in few letters: powers of a thousand by name."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{svg.plain(number / size, 3)}{name}" if abs(number) < 1e12 else f"{number:.0e}"
    return svg.plain(number, 3)
