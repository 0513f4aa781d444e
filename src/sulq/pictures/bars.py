"""Bars to the right for what is positive and to the left for what is negative, the longest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sulq.pictures import svg

ROW, HALF, LONGEST, BETWEEN = 22.0, 90.0, 150.0, 40.0
CELLS = 12
POSITIVE, NEGATIVE = svg.PALETTE[0], svg.PALETTE[5]
MIRROR = str.maketrans("▏▎▍▌▋▊▉", "  ▐▐▐██")
"""There are blocks that fill from the left by eighths, and from the right by halves only."""


@dataclass(frozen=True)
class Panel:
    """A few named numbers that belong together.

    Args:
        title: what they are.
        numbers: their names, and the numbers.
        noise: how much of each number may be noise: those that are no larger are drawn in grey. One amount
            for all numbers, or one for each.
    """

    title: str
    numbers: tuple[tuple[str, float], ...]
    noise: float | tuple[float, ...] = 0.0

    @property
    def by_size(self) -> list[tuple[str, float, bool]]:
        """The names and numbers, the largest first, and whether each is within its noise."""
        noises = self.noise if isinstance(self.noise, tuple) else (self.noise,) * len(self.numbers)
        each = [
            (name, number, drowned(number, noise))
            for (name, number), noise in zip(self.numbers, noises, strict=True)
        ]
        return sorted(each, key=lambda one: -abs(one[1]))


def picture(title: str, panels: Sequence[Panel], most: int | None = None, note: str = "") -> str:
    """Panels of bars as SVG, two in a row and all to one scale; of each the `most` longest, or all of them.

    >>> picture("loadings", [Panel("component 1", (("age", 0.6), ("income", -0.8)))]).count("<rect")
    3
    """
    room = min(LONGEST, max(svg.wide(name) for panel in panels for name, _ in panel.numbers))
    wide = max(room + 2 * HALF + 110, *(svg.BOLD * svg.wide(panel.title) for panel in panels))
    drawn, top = [], 0.0
    for start in range(0, len(panels), 2):
        pair = [_panel(panel, most, _longest(panels), room) for panel in panels[start : start + 2]]
        drawn += [svg.group(body, place * (wide + BETWEEN), top) for place, (body, _) in enumerate(pair)]
        top += max(height for _, height in pair) + BETWEEN / 2
    if any(quiet for panel in panels for _, _, quiet in panel.by_size):
        note = f"{note} · grey: within the noise".removeprefix(" · ")
    width = wide if len(panels) == 1 else 2 * wide + BETWEEN
    return svg.document(title, drawn, width, top - BETWEEN / 2, note)


def _longest(panels: Sequence[Panel]) -> float:
    """What a bar of full length stands for; with nothing but zeros, 1."""
    return max(abs(number) for panel in panels for _, number in panel.numbers) or 1.0


def _panel(panel: Panel, most: int | None, longest: float, room: float) -> tuple[list[str], float]:
    shown = panel.by_size[:most]
    zero, y = room + HALF + 50, 26.0
    drawn = [svg.text(0, 8, panel.title, weight="bold")]
    for name, number, quiet in shown:
        length = HALF * number / longest
        hue, anchor, space = (NEGATIVE, "end", -5) if number < 0 else (POSITIVE, "start", 5)
        ink = svg.INK
        if quiet:
            hue, ink = svg.FAINT, svg.QUIET
        drawn += [
            svg.text(0, y + ROW / 2, name, room=room, fill=ink),
            svg.box(min(zero, zero + length), y + 4, abs(length), ROW - 8, rx=2, fill=hue),
            svg.text(zero + length + space, y + ROW / 2, _signed(number), anchor, size=svg.SMALL, fill=ink),
        ]
        y += ROW
    drawn.append(svg.line(zero, 26, zero, y, svg.QUIET))
    rest = panel.by_size[len(shown) :]
    if rest:
        all_of_them = svg.hint(", ".join(f"{name} {_signed(number)}" for name, number, _ in rest))
        drawn.append(svg.group([all_of_them, svg.aside(0, y + ROW / 2, _summary(rest))]))
        y += ROW
    return drawn, y


def drowned(number: float, noise: float) -> bool:
    """Whether a number is within its noise.

    >>> drowned(-0.2, 0.3), drowned(0.4, 0.3), drowned(0.0, 0.0)
    (True, False, False)
    """
    return 0 < noise >= abs(number)


def drawing(panels: Sequence[Panel], most: int | None = None) -> RenderableType:
    """The same for the terminal, the panels below each other."""
    pieces: list[RenderableType] = []
    for panel in panels:
        shown = panel.by_size[:most]
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
        for name, number, quiet in shown:
            bar = blocks(abs(number) / _longest(panels), CELLS)
            mirrored = bar.rstrip()[::-1].translate(MIRROR).rjust(CELLS)
            left, right = (mirrored, " " * CELLS) if number < 0 else (" " * CELLS, bar)
            both = Text(left, NEGATIVE).append("│", "dim").append(right, POSITIVE)
            figure = _signed(number)
            style = "dim" if quiet else ""
            table.add_row(
                Text(svg.short(name, 30), style), both, Text(f"[{figure}]" if quiet else figure, style)
            )
        rest = panel.by_size[len(shown) :]
        pieces += [Text(svg.clean(panel.title), "bold"), table]
        pieces += [Text(_summary(rest), "dim")] if rest else []
    return Group(*pieces)


def blocks(share: float, cells: int) -> str:
    """A bar of block characters, padded to so many cells.

    >>> blocks(0.55, 10)
    '█████▌    '
    """
    eighths = round(8 * cells * min(1.0, max(0.0, share)))
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]).rstrip().ljust(cells)


def _signed(number: float) -> str:
    return f"{number:+,.2f}".replace("-", "−")


def _summary(rest: Sequence[tuple[str, float, bool]]) -> str:
    return f"{len(rest)} more, none above {abs(rest[0][1]):.2f}"
