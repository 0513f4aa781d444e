"""Bars with error bars: measured numbers, and between which bounds the truth is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sulq.pictures import stairs, svg

ROW, LENGTH, LONGEST, BETWEEN, CAP = 22.0, 220.0, 220.0, 26.0, 3.5
HUE, QUIET = svg.PALETTE[4], svg.FAINT
EDGE = svg.INK


@dataclass(frozen=True)
class MeasuredBar:
    """One number.

    Args:
        label: what the number is about.
        value: the number.
        low: the truth is not below.
        high: the truth is not above.
        telling: whether the number says more than its noise does; if not, it is drawn in grey.
    """

    label: str
    value: float
    low: float
    high: float
    telling: bool


@dataclass(frozen=True)
class MeasuredPanel:
    """Numbers of one unit, which share a scale."""

    title: str
    bars: tuple[MeasuredBar, ...]


def picture(
    title: str,
    panels: Sequence[MeasuredPanel | stairs.StairsPanel],
    most: int,
    note: str = "",
    meaning: str = "where the truth is, at 95 %",
) -> str:
    """Panels of bars or stairs as SVG, below each other; of each the first `most` bars.

    >>> bars = (MeasuredBar("A", 12.0, 9.0, 15.0, True), MeasuredBar("B", 1.0, 0.0, 4.0, False))
    >>> picture("count by ward", [MeasuredPanel("count", bars)], 30).count("<rect")
    3
    """
    bars = [panel for panel in panels if isinstance(panel, MeasuredPanel)]
    steps = [panel for panel in panels if isinstance(panel, stairs.StairsPanel)]
    labels = [svg.wide(bar.label) for panel in bars for bar in panel.bars[:most]]
    room = min(LONGEST, max(labels, default=30.0 if steps else 0.0))
    width = max(LENGTH + 130, stairs.WIDTH + 20 if steps else 0.0)
    drawn, top = [], 0.0
    for panel in panels:
        if isinstance(panel, stairs.StairsPanel):
            body, height = stairs.drawn(panel, room + 20)
        else:
            body, height = _panel(panel, most, room)
        drawn.append(svg.group(body, 0, top))
        top += height + BETWEEN
    grey = any(not bar.telling for panel in bars for bar in panel.bars) or any(panel.dim for panel in steps)
    words = " · ".join(
        [
            f"lines{' and bands' if steps else ''}: {meaning}",
            *(["grey: within the noise"] if grey else []),
        ]
    )
    drawn.append(svg.aside(0, top - BETWEEN / 2, words))
    return svg.document(title, drawn, room + 20 + width, top + 4, note)


def _panel(panel: MeasuredPanel, most: int, room: float) -> tuple[list[str], float]:
    shown, rest = panel.bars[:most], panel.bars[most:]
    low = min(0.0, *(end for bar in shown for end in (bar.low, bar.value)))
    high = max(0.0, *(end for bar in shown for end in (bar.high, bar.value)))
    # A bound that is far beyond all figures would leave no room for the figures: its line is cut off.
    largest = max((abs(bar.value) for bar in shown), default=0.0) or 1.0
    low, high = max(low, -3 * largest), min(high, 3 * largest)
    scale, start = LENGTH / ((high - low) or 1.0), room + 20

    def at(number: float) -> float:
        return start + (min(max(number, low), high) - low) * scale

    drawn, y = [svg.text(0, 8, panel.title, weight="bold")], 26.0
    for bar in shown:
        middle, fill = y + ROW / 2, HUE if bar.telling else QUIET
        left, right = sorted((at(0), at(bar.value)))
        ends, words = (at(bar.low), at(bar.high)), f"{svg.plain(bar.value)}"
        about = f"{bar.label}: {words}, between {svg.plain(bar.low)} and {svg.plain(bar.high)}"
        pieces = [
            svg.hint(about),
            svg.text(0, middle, bar.label, room=room, fill=svg.INK if bar.telling else svg.QUIET),
            svg.box(left, y + 4, right - left, ROW - 8, rx=2, fill=fill),
        ]
        if bar.high > bar.low:
            pieces.append(svg.line(ends[0], middle, ends[1], middle, EDGE))
            inside = [x for x, end in zip(ends, (bar.low, bar.high), strict=True) if low <= end <= high]
            pieces += [svg.line(x, middle - CAP, x, middle + CAP, EDGE) for x in inside]
        pieces.append(svg.aside(max(right, ends[1]) + 6, middle, words.replace("-", "−")))
        drawn.append(svg.group(pieces))
        y += ROW
    drawn.append(svg.line(at(0), 26, at(0), y, svg.QUIET))
    if rest:
        names = svg.hint(", ".join(f"{bar.label} {svg.plain(bar.value)}" for bar in rest))
        drawn.append(svg.group([names, svg.aside(0, y + ROW / 2, f"{len(rest):,} more are not drawn")]))
        y += ROW
    return drawn, y
