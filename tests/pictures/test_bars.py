"""Bars: to scale, on the right side, and none left out unsaid."""

from __future__ import annotations

import io
import re

from rich.console import Console

from sulq.pictures.bars import HALF, NEGATIVE, POSITIVE, Panel, blocks, drawing, picture


def bars(drawn: str) -> list[tuple[float, float, str]]:
    """Where bars start, how long they are, and their colours."""
    found = re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" rx="2" fill="(.*?)"', drawn
    )
    return [(float(x), float(width), fill) for x, width, fill in found]


def test_bars_are_to_scale_the_longest_first_and_on_their_sides_of_zero() -> None:
    plus, minus, little = bars(picture("x", [Panel("p", (("c", 0.1), ("b", -0.5), ("a", 1.0)))]))
    assert [round(width, 1) for _, width, _ in (plus, minus, little)] == [HALF, HALF / 2, HALF / 10]
    assert [fill for *_, fill in (plus, minus, little)] == [POSITIVE, NEGATIVE, POSITIVE]
    assert minus[0] + minus[1] == plus[0] == little[0]


def test_panels_share_one_scale() -> None:
    large, small = bars(picture("x", [Panel("p", (("a", 2.0),)), Panel("q", (("a", 1.0),))]))
    assert large[1] == 2 * small[1]


def test_what_is_left_off_is_summed_up() -> None:
    panel = Panel("p", tuple((f"name {i}", i / 40) for i in range(40)))
    drawn = picture("x", [panel], most=12)
    assert len(bars(drawn)) == 12
    assert "28 more, none above 0.68" in drawn and "name 0 +0.00" in drawn
    console = Console(file=io.StringIO(), width=80)
    console.print(drawing([panel], most=12))
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "28 more, none above 0.68" in said and "name 28" in said and "name 27" not in said


def test_zeros_have_no_bars() -> None:
    assert [width for _, width, _ in bars(picture("x", [Panel("p", (("a", 0.0), ("b", 0.0)))]))] == [0, 0]


def test_blocks_keep_to_their_cells() -> None:
    assert [blocks(share, 4) for share in (-1, 0, 0.5, 1, 7)] == ["    ", "    ", "██  ", "████", "████"]
    assert all(len(blocks(i / 100, 7)) == 7 for i in range(101))
