"""Stairs with a band: a number for each interval of an axis, and between which bounds the truth is."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.dates import Date
from sulq.pictures import svg

WIDTH, HEIGHT, ABOVE, BELOW = 420.0, 110.0, 26.0, 22.0
HUE, BAND, DIM = svg.PALETTE[0], svg.PALETTE[4], svg.FAINT


@dataclass(frozen=True)
class Stair:
    """One interval.

    Args:
        start: where it starts on the axis.
        end: where it ends.
        value: the number.
        low: the truth is not below.
        high: the truth is not above.
    """

    start: float
    end: float
    value: float
    low: float
    high: float

    @property
    def telling(self) -> bool:
        """Whether the number says more than its noise does."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True)
class StairsPanel:
    """Intervals side by side.

    Args:
        title: what stands above.
        stairs: the intervals, in order.
        dates: the column of dates whose days are on the axis, if they are days.
    """

    title: str
    stairs: tuple[Stair, ...]
    dates: Date | None = None

    @property
    def dim(self) -> bool:
        """Whether something is drawn in grey."""
        return not all(stair.telling for stair in self.stairs)

    def place(self, number: float) -> str:
        """A place on the axis, for people."""
        return svg.plain(number).replace("-", "−") if self.dates is None else str(self.dates.date(number))


def drawn(panel: StairsPanel, left: float) -> tuple[list[str], float]:
    """A panel as SVG, and its height.

    Args:
        panel: what is drawn.
        left: where the axis starts.

    >>> stairs = (Stair(0.0, 40.0, -1.0, -1.2, -0.8), Stair(40.0, 90.0, 0.5, 0.3, 0.7))
    >>> drawn(StairsPanel("age", stairs), 0.0)[1]
    158.0
    """
    start, end = panel.stairs[0].start, panel.stairs[-1].end
    largest = max(abs(stair.value) for stair in panel.stairs) or 1.0
    # A bound that is far beyond all figures would leave no room for the figures: its band is cut off.
    low = max(min(0.0, *(stair.low for stair in panel.stairs)), -3 * largest)
    high = min(max(0.0, *(stair.high for stair in panel.stairs)), 3 * largest)
    across, up = WIDTH / ((end - start) or 1.0), HEIGHT / ((high - low) or 1.0)

    def x(number: float) -> float:
        return left + (number - start) * across

    def y(number: float) -> float:
        return ABOVE + (high - min(max(number, low), high)) * up

    pieces = [svg.text(0, 8, panel.title, weight="bold")]
    for number in svg.ticks(low, high):
        pieces.append(svg.line(left, y(number), left + WIDTH, y(number), svg.QUIET if number == 0 else DIM))
        pieces.append(svg.aside(left - 6, y(number), svg.plain(number).replace("-", "−"), "end"))
    under = ABOVE + HEIGHT + 12
    for number in svg.ticks(start, end):
        pieces += [svg.aside(x(number), under, panel.place(number), "middle")]
    for stair in panel.stairs:
        about = f"{panel.place(stair.start)} to {panel.place(stair.end)}: {svg.plain(stair.value)}, "
        about += f"between {svg.plain(stair.low)} and {svg.plain(stair.high)}"
        sides, top, bottom = (x(stair.start), x(stair.end)), y(stair.high), y(stair.low)
        fill = BAND if stair.telling else DIM
        band = svg.box(sides[0], top, sides[1] - sides[0], bottom - top, fill=fill, opacity=0.5)
        height = y(stair.value)
        step = svg.box(
            sides[0], height - 1, max(1.5, sides[1] - sides[0]), 2, fill=HUE if stair.telling else svg.QUIET
        )
        pieces.append(svg.group([svg.hint(about), band, step]))
    return pieces, ABOVE + HEIGHT + BELOW
