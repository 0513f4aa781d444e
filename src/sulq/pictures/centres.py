"""Centres between public bounds: two features as a map, others as an axis for each with lines across."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from sulq.numbers import several
from sulq.pictures import svg
from sulq.talk.columns import with_error

SIDE, HEAD, AXIS, LONGEST = 360.0, 24.0, 420.0, 150.0
DOT = 4.0
"""The radius of the smallest dot, and of all where lines tell the sizes."""
KEY_ROWS, KEY_ROW = 18, 20.0
CELLS = 9
"""How long an axis is in the terminal."""


@dataclass(frozen=True)
class Side:
    """A feature and its public bounds."""

    name: str
    low: float
    high: float

    @property
    def ends(self) -> tuple[str, str]:
        return svg.plain(self.low, 6), svg.plain(self.high, 6)

    def part(self, value: float) -> float:
        """How far between the bounds a value is, from 0 to 1."""
        width = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / width)) if width > 0 else 0.5

    def tells(self, point: Centre, place: int) -> bool:
        """Whether it is known where a centre is on this axis, but for less than half of its width."""
        known = bool(point.errors) and not point.drowned
        return known and point.errors[place] < (self.high - self.low) / 2

    def bar(self, point: Centre, place: int) -> tuple[float, float]:
        """Between which parts of the axis a centre may be, if this axis is the one at `place`."""
        value, error = point.values[place], point.errors[place]
        return self.part(value - error), self.part(value + error)


@dataclass(frozen=True)
class Centre:
    """A centre as it is drawn.

    Args:
        number: its number, which decides its colour.
        size: about how many rows are nearest to it.
        relative: the size as a part of the largest centre's.
        values: its place on each axis.
        errors: how far off it may be on each axis; empty without noise.
        size_error: how far off the size may be; 0 without noise.
    """

    number: int
    size: float
    relative: float
    values: tuple[float, ...]
    errors: tuple[float, ...] = ()
    size_error: float = 0.0

    @property
    def hue(self) -> str:
        return svg.colour(self.number)

    @property
    def drowned(self) -> bool:
        """Whether noise alone could have made as many rows."""
        return 0 < self.size_error >= self.size

    @property
    def rows(self) -> str:
        """The size for people, in brackets if it is within the noise."""
        shown = f"{self.size:,.0f}" + (f" ± {self.size_error:,.0f}" if self.size_error else "")
        return f"[{shown}]" if self.drowned else shown


def centres(
    sizes: Sequence[float],
    values: Sequence[tuple[float, ...]],
    size_error: float = 0.0,
    errors: Sequence[tuple[float, ...]] = (),
) -> list[Centre]:
    """Centres by number.

    Args:
        sizes: about how many rows are nearest to each.
        values: the place of each on the axes.
        size_error: how far off the sizes may be.
        errors: how far off the places may be.
    """
    known = [max(0.0, size) for size in sizes]
    largest = max(known) or 1.0
    off = errors or [()] * len(known)
    return [
        Centre(number, size, size / largest, point, each, size_error)
        for number, (size, point, each) in enumerate(zip(known, values, off, strict=True))
    ]


def picture(axes: Sequence[Side], points: Sequence[Centre], note: str = "") -> str:
    """Centres as SVG, in the columns' own units.

    >>> picture([Side("age", 0, 100)], centres([10.0, 20.0], [(25.0,), (75.0,)])).count("<circle")
    4
    """
    body, width, height = (_map if len(axes) == 2 else _lines)(axes, points)
    key, key_width, key_height = _key(axes, points)
    drawn = [*body, svg.group(key, width + 36)]
    title = several(len(points), "centre", "centres")
    said = [note] if note else []
    bars = any(axis.tells(point, place) for point in points for place, axis in enumerate(axes))
    said += ["bars: where the centre is, at 95 %"] if bars else []
    said += ["hollow and in brackets: within the noise"] if any(point.drowned for point in points) else []
    return svg.document(title, drawn, width + 36 + key_width, max(height, key_height), " · ".join(said))


def _map(axes: Sequence[Side], points: Sequence[Centre]) -> tuple[list[str], float, float]:
    across, up = axes
    left = 12 + max(svg.wide(svg.plain(tick), svg.SMALL) for tick in svg.ticks(up.low, up.high))
    right, bottom = left + SIDE, HEAD + SIDE
    drawn = [svg.box(left, HEAD, SIDE, SIDE, fill="none", stroke=svg.FAINT)]
    for tick in svg.ticks(across.low, across.high):
        x = left + SIDE * across.part(tick)
        drawn += [svg.line(x, HEAD, x, bottom), svg.aside(x, bottom + 12, svg.plain(tick), "middle")]
    for tick in svg.ticks(up.low, up.high):
        y = bottom - SIDE * up.part(tick)
        drawn += [svg.line(left, y, right, y), svg.aside(left - 6, y, svg.plain(tick), "end")]
    drawn.append(svg.text(0, 6, f"{up.name} ({' to '.join(up.ends)})", room=right))
    drawn.append(
        svg.text(right, bottom + 32, f"{across.name} ({' to '.join(across.ends)})", "end", room=right)
    )
    largest = 30 / math.sqrt(max(1.0, len(points) / 4))
    for point in _large_first(points):
        x, y = (axis.part(value) for axis, value in zip(axes, point.values, strict=True))
        x, y = left + SIDE * x, bottom - SIDE * y
        if across.tells(point, 0):
            west, east = across.bar(point, 0)
            drawn.append(_bar(point, left + SIDE * west, y, left + SIDE * east, y))
        if up.tells(point, 1):
            south, north = up.bar(point, 1)
            drawn.append(_bar(point, x, bottom - SIDE * south, x, bottom - SIDE * north))
        drawn.append(_dot(axes, point, x, y, largest))
    return drawn, right, bottom + 42


def _lines(axes: Sequence[Side], points: Sequence[Centre]) -> tuple[list[str], float, float]:
    """Every axis on a row of its own, where its name can be read; every centre a line down across them."""
    names = min(LONGEST, max(svg.wide(axis.name) for axis in axes))
    low, high = (max(svg.wide(axis.ends[end], svg.SMALL) for axis in axes) for end in (0, 1))
    left = names + 24 + low
    pitch = 44.0 if len(axes) <= 12 else 28.0
    rows = [pitch * (row + 0.5) for row in range(len(axes))]
    drawn, dots = [], []
    for axis, y in zip(axes, rows, strict=True):
        drawn += [
            svg.text(0, y, axis.name, room=names),
            svg.aside(left - 10, y, axis.ends[0], "end"),
            svg.line(left, y, left + AXIS, y),
            svg.aside(left + AXIS + 10, y, axis.ends[1]),
        ]
    for point in _large_first(points):
        parts = [axis.part(value) for axis, value in zip(axes, point.values, strict=True)]
        way = [(left + AXIS * part, y) for part, y in zip(parts, rows, strict=True)]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in way)
        drawn.append(svg.tag("polyline", svg.hint(_described(axes, point)), points=corners, **_stroke(point)))
        for place, (axis, (_, y)) in enumerate(zip(axes, way, strict=True)):
            if axis.tells(point, place):
                first, last = axis.bar(point, place)
                drawn.append(_bar(point, left + AXIS * first, y, left + AXIS * last, y))
        dots += [_dot(axes, point, x, y, 16 if len(axes) == 1 else DOT) for x, y in way]
    return drawn + dots, left + AXIS + 12 + high, pitch * len(axes)


def _stroke(point: Centre) -> dict[str, str]:
    """How the line of a centre looks: as thick as it is large; where colours come again, with dashes."""
    thick, turn = 1.5 + 3.5 * point.relative, point.number // len(svg.PALETTE)
    dashes = f"{2 * thick * turn:.1f} {thick:.1f}" if turn else "none"
    look = {"stroke": point.hue, "stroke_opacity": "0.75", "stroke_linejoin": "round", "fill": "none"}
    return look | {"stroke_width": f"{thick:.1f}", "stroke_dasharray": dashes}


def _bar(point: Centre, x1: float, y1: float, x2: float, y2: float) -> str:
    """Between which bounds a centre is, as a pale line."""
    look = {"stroke": point.hue, "stroke_opacity": "0.3", "stroke_width": "5", "stroke_linecap": "round"}
    return svg.tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **look)


def _dot(axes: Sequence[Side], point: Centre, x: float, y: float, largest: float) -> str:
    """A dot whose area is its size. Where dots are of different sizes, its number is in it or beside it."""
    radius = max(DOT, largest * math.sqrt(point.relative))
    fill, edge = (svg.PAPER, point.hue) if point.drowned else (point.hue, svg.PAPER)
    dot = svg.tag("circle", cx=x, cy=y, r=radius, fill=fill, fill_opacity=0.7, stroke=edge)
    inside = [svg.hint(_described(axes, point)), dot]
    if largest > DOT:
        at, anchor = (x, "middle") if radius >= 9 else (x + radius + 3, "start")
        inside.append(svg.text(at, y, str(point.number), anchor, size=svg.SMALL, weight="bold"))
    return svg.tag("g", "".join(inside))


def _key(axes: Sequence[Side], points: Sequence[Centre]) -> tuple[list[str], float, float]:
    """Which colour is which centre, with its size, and with its values where they are few."""
    listed = axes if len(axes) <= 2 else []
    heads = ["", "rows", *(axis.name for axis in listed)]
    cells = [
        [
            str(point.number),
            point.rows,
            *(svg.plain(value) for value in point.values[: len(listed)]),
        ]
        for point in points
    ]
    widths = [14 + min(LONGEST, max(map(svg.wide, column))) for column in zip(heads, *cells, strict=True)]
    mark = 14 if listed else 30
    drawn, step = [], mark + sum(widths) + 24
    for start in range(0, len(points), KEY_ROWS):
        for row, line in enumerate([heads, *cells[start : start + KEY_ROWS]]):
            x, y = start // KEY_ROWS * step, 8 + KEY_ROW * row
            if row:
                point = points[start + row - 1]
                dot = svg.tag("circle", cx=x + 6, cy=y, r=6, fill=point.hue, fill_opacity=0.7)
                stroke = svg.tag("line", x1=x, y1=y, x2=x + mark, y2=y, **_stroke(point))
                drawn.append(dot if listed else stroke)
            for place, (word, width) in enumerate(zip(line, widths, strict=True), 1):
                right = x + mark + sum(widths[:place])
                ink = svg.INK if row and not points[start + row - 1].drowned else svg.QUIET
                drawn.append(svg.text(right, y, word, "end", room=width, fill=ink))
    columns = math.ceil(len(points) / KEY_ROWS)
    return drawn, columns * step - 24, KEY_ROW * (1 + min(KEY_ROWS, len(points)))


def _large_first(points: Sequence[Centre]) -> list[Centre]:
    """So that small ones are drawn over large ones."""
    return sorted(points, key=lambda point: -point.size)


def _described(axes: Sequence[Side], point: Centre) -> str:
    places = ", ".join(f"{axis.name} {shown(axis, place, point)}" for place, axis in enumerate(axes))
    return f"cluster {point.number}, {point.rows} rows: {places}"


def drawing(axes: Sequence[Side], points: Sequence[Centre]) -> Table:
    """The same for the terminal: in each cell a value, and where it is between the bounds."""
    names = [Text(svg.short(axis.name, 20)) for axis in axes]
    bounds = [Text(" to ".join(axis.ends), "dim") for axis in axes]
    numbers = [Text(str(point.number), f"bold {point.hue}") for point in points]
    sizes = [Text(point.rows, "dim" if point.drowned else "") for point in points]
    cells = [[_cell(axis, place, point) for place, axis in enumerate(axes)] for point in points]
    lines: list[list[Text]]
    if len(axes) > len(points):  # the longer side goes down the page, where there is room
        lines = [[Text("cluster"), Text(), *numbers], [Text("rows"), Text(), *sizes]]
        lines += [list(line) for line in zip(names, bounds, *cells, strict=True)]
    else:
        lines = [[Text("cluster"), Text("rows"), *names], [Text(), Text(), *bounds]]
        lines += [[number, size, *line] for number, size, line in zip(numbers, sizes, cells, strict=True)]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for line in lines:
        table.add_row(*line)
    return table


def _cell(axis: Side, place: int, point: Centre) -> Text:
    before = round((CELLS - 1) * axis.part(point.values[place]))
    bar = Text("─" * before, "dim").append("●", point.hue).append("─" * (CELLS - 1 - before), "dim")
    return bar.append(f" {shown(axis, place, point)}", "none")


def shown(axis: Side, place: int, point: Centre) -> str:
    """Where a centre is on an axis, with its error; in brackets where that is not known.

    >>> age, [known] = Side("age", 0, 100), centres([20.0], [(25.0,)], 5.0, [(3.0,)])
    >>> shown(age, 0, known), shown(age, 0, Centre(0, 4.0, 1.0, (25.0,), (3.0,), 5.0))
    ('25.0 ± 3.0', '[25]')
    """
    value = svg.plain(point.values[place])
    if not point.errors:
        return value
    return with_error(point.values[place], point.errors[place]) if axis.tells(point, place) else f"[{value}]"
