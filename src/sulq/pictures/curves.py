"""Curves in the unit square, with a band where they may be: ROC curves and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sulq.pictures import svg

SIDE, LEFT, GAP = 240.0, 44.0, 70.0


@dataclass(frozen=True)
class CurvePanel:
    """One curve.

    Args:
        across: what the axis to the right is about.
        up: what the axis upwards is about.
        points: the points in order: across, up, and the bounds of up.
    """

    across: str
    up: str
    points: tuple[tuple[float, float, float, float], ...]


def picture(title: str, panels: Sequence[CurvePanel], note: str = "") -> str:
    """Curves as SVG, beside each other, each with its band and the diagonal.

    >>> panel = CurvePanel("across", "up", ((0, 0, 0, 0), (0.2, 0.7, 0.6, 0.8), (1, 1, 1, 1)))
    >>> picture("A curve", [panel]).count("<polygon")
    1
    """
    drawn = [svg.group(_panel(panel), place * (LEFT + SIDE + GAP)) for place, panel in enumerate(panels)]
    width = len(panels) * (LEFT + SIDE + GAP) - GAP
    return svg.document(title, drawn, width, SIDE + 62, note)


def _panel(panel: CurvePanel) -> list[str]:
    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + SIDE * min(1.0, max(0.0, x)), 20 + SIDE * (1 - min(1.0, max(0.0, y)))

    def corners(points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))

    hue = svg.PALETTE[0]
    drawn = [svg.box(LEFT, 20, SIDE, SIDE, fill="none", stroke=svg.FAINT)]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = at(tick, tick)
        drawn += [
            svg.aside(x, 20 + SIDE + 12, f"{tick:g}", "middle"),
            svg.aside(LEFT - 6, y, f"{tick:g}", "end"),
        ]
    drawn.append(svg.line(*at(0, 0), *at(1, 1)))
    band = [(x, high) for x, _, _, high in panel.points] + [
        (x, low) for x, _, low, _ in reversed(panel.points)
    ]
    if panel.points:
        drawn.append(svg.tag("polygon", points=corners(band), fill=hue, fill_opacity=0.18))
        line = [(x, y) for x, y, _, _ in panel.points]
        drawn.append(svg.tag("polyline", points=corners(line), fill="none", stroke=hue, stroke_width=2))
    for x, y, low, high in panel.points:
        hint = svg.hint(f"{panel.up}: {y:.3f} ({low:.3f} to {high:.3f}) at {x:.3f}")
        centre = at(x, y)
        drawn.append(svg.tag("circle", hint, cx=centre[0], cy=centre[1], r=3, fill=hue))
    return [
        *drawn,
        svg.text(0, 4, panel.up),
        svg.text(LEFT + SIDE, 20 + SIDE + 32, panel.across, "end"),
    ]
