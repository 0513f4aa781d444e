"""Bars with error bars: measured numbers, and between which bounds the truth is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sulq.dates import Date
from sulq.pictures import stairs, svg
from sulq.talk.columns import signed, with_error

ROW, LENGTH, LONGEST, BETWEEN, CAP = 22.0, 220.0, 180.0, 26.0, 3.5
LINE = 16.0
WIDEST = 420.0
"""Labels that are longer than LONGEST stand above their bars, a line for each group, and may be this long."""
BETWEEN_GROUPS = " · "
CUT = 3
"""A bound that is this many times as far as all figures would leave no room for them: its line is cut off."""
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
    """Numbers of one unit, which share a scale.

    Args:
        title: what is measured.
        bars: the numbers.
        shares: whether they are shares, and shown in percent.
        dates: the column of dates whose days they are, if they are days.
    """

    title: str
    bars: tuple[MeasuredBar, ...]
    shares: bool = False
    dates: Date | None = None

    def shown(self, bar: MeasuredBar) -> str:
        """A number for people, with the digits that its error leaves a meaning."""
        if self.dates is not None:
            return str(self.dates.date(bar.value))
        times, off = 100 if self.shares else 1, (bar.high - bar.low) / 2
        if off == 0 or bar.value.is_integer():
            number = signed(svg.plain(times * bar.value))
        else:
            number, _, _ = with_error(times * bar.value, times * off).partition(" ± ")
        return f"{number} %" if self.shares else number


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
    shown = [(panel, bar) for panel in bars for bar in panel.bars[:most]]
    widest = max((svg.wide(bar.label) for _, bar in shown), default=30.0 if steps else 0.0)
    numbers = max((svg.wide(panel.shown(bar), svg.SMALL) for panel, bar in shown), default=0.0)
    layout = _Layout(0.0 if widest > LONGEST else widest + 20, widest > LONGEST)
    drawn, top = [], 0.0
    for panel in panels:
        if isinstance(panel, stairs.StairsPanel):
            body, height = stairs.drawn(panel, max(layout.start, 50.0))
        else:
            body, height = _panel(panel, most, layout)
        drawn.append(svg.group(body, 0, top))
        top += height + BETWEEN
    for words in _legend(bars, steps, most, meaning):
        drawn.append(svg.aside(0, top - BETWEEN / 2, words))
        top += LINE
    width = max(layout.start + LENGTH + 6 + numbers, WIDEST if layout.above else 0.0)
    if steps:
        width = max(width, max(layout.start, 50.0) + stairs.WIDTH + 20)
    return svg.document(title, drawn, width, top - LINE + 4, note)


@dataclass(frozen=True)
class _Layout:
    """Where labels and bars are.

    Args:
        start: where bars start.
        above: whether labels stand above their bars, and not beside them.
    """

    start: float
    above: bool


def _legend(
    panels: Sequence[MeasuredPanel], steps: Sequence[stairs.StairsPanel], most: int, meaning: str
) -> list[str]:
    """What lines and colours mean, as far as there are any."""
    ranges = [(_range(panel.bars[:most]), bar) for panel in panels for bar in panel.bars[:most]]
    lines = "lines and bands" if steps else "lines"
    said = {
        f"{lines}: {meaning}": bool(steps) or any(bar.high > bar.low for _, bar in ranges),
        "lines without an end go on": any(bar.low < low or bar.high > high for (low, high), bar in ranges),
        "grey: within the noise": any(not bar.telling for _, bar in ranges)
        or any(panel.dim for panel in steps),
    }
    return [words for words, needed in said.items() if needed]


def _panel(panel: MeasuredPanel, most: int, layout: _Layout) -> tuple[list[str], float]:
    shown, rest = panel.bars[:most], panel.bars[most:]
    low, high = _range(shown)
    scale, start = LENGTH / ((high - low) or 1.0), layout.start

    def at(number: float) -> float:
        return start + (min(max(number, low), high) - low) * scale

    drawn, y = [svg.text(0, 8, panel.title, weight="bold")], 26.0
    for bar in shown:
        lines = bar.label.split(BETWEEN_GROUPS) if layout.above else [bar.label]
        places = [y + ROW / 2 + LINE * line for line in range(len(lines))]
        y += LINE * len(lines) + 2 if layout.above else 0
        middle, fill = y + ROW / 2, HUE if bar.telling else QUIET
        left, right = sorted((at(0), at(bar.value)))
        ends, number = (at(bar.low), at(bar.high)), panel.shown(bar)
        bounds = [panel.shown(replace(bar, value=end)) for end in (bar.low, bar.high)]
        about = f"{bar.label}: {number}, between {bounds[0]} and {bounds[1]}"
        pieces = [
            svg.hint(about),
            *(
                svg.text(0, place, words, room=WIDEST, fill=svg.INK if bar.telling else svg.QUIET)
                for place, words in zip(places, lines, strict=True)
            ),
            svg.box(left, y + 4, right - left, ROW - 8, rx=2, fill=fill),
        ]
        if bar.high > bar.low:
            pieces.append(svg.line(ends[0], middle, ends[1], middle, EDGE))
            inside = [x for x, end in zip(ends, (bar.low, bar.high), strict=True) if low <= end <= high]
            pieces += [svg.line(x, middle - CAP, x, middle + CAP, EDGE) for x in inside]
        pieces.append(svg.aside(max(right, ends[1]) + 6, middle, number))
        pieces.append(svg.line(at(0), y, at(0), y + ROW, svg.QUIET))
        drawn.append(svg.group(pieces))
        y += ROW
    if rest:
        names = svg.hint(", ".join(f"{bar.label} {panel.shown(bar)}" for bar in rest))
        drawn.append(svg.group([names, svg.aside(0, y + ROW / 2, f"{len(rest):,} more are not drawn")]))
        y += ROW
    return drawn, y


def _range(bars: Sequence[MeasuredBar]) -> tuple[float, float]:
    """From where to where bars are drawn."""
    low = min([0.0, *(end for bar in bars for end in (bar.low, bar.value))])
    high = max([0.0, *(end for bar in bars for end in (bar.high, bar.value))])
    largest = max((abs(bar.value) for bar in bars), default=0.0) or 1.0
    return max(low, -CUT * largest), min(high, CUT * largest)
