"""Bars with error bars: as long as the numbers are large, and grey where they say nothing."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from sulq.pictures import measured, svg
from sulq.pictures.measured import MeasuredBar, MeasuredPanel

SVG = "{http://www.w3.org/2000/svg}"
BARS = (
    MeasuredBar("A", 10.0, 8.0, 12.0, True),
    MeasuredBar("B", 5.0, 5.0, 5.0, True),
    MeasuredBar("C", -2.5, -6.0, 1.0, False),
)


def drawn(*bars: MeasuredBar, most: int = 30) -> ET.Element:
    return ET.fromstring(measured.picture("count by ward", [MeasuredPanel("count", bars)], most))


def boxes(root: ET.Element) -> list[dict[str, str]]:
    return [box.attrib for box in root.iter(f"{SVG}rect")][1:]  # without the paper


def test_bars_are_as_long_as_their_numbers_and_grey_within_the_noise() -> None:
    first, second, third = boxes(drawn(*BARS))
    lengths = [float(box["width"]) for box in (first, second, third)]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.05) and lengths[1] == pytest.approx(
        2 * lengths[2], abs=0.05
    )
    assert float(third["x"]) + lengths[2] == pytest.approx(float(first["x"]), abs=0.05), "to the left of zero"
    assert first["fill"] == second["fill"] == measured.HUE and third["fill"] == svg.FAINT


def test_error_bars_reach_from_the_lower_to_the_upper_bound() -> None:
    root = drawn(*BARS)
    box = boxes(root)[0]
    unit, zero = float(box["width"]) / 10, float(box["x"])
    level = [x.attrib for x in root.iter(f"{SVG}line") if x.attrib["y1"] == x.attrib["y2"]]
    ends = [((float(x["x1"]) - zero) / unit, (float(x["x2"]) - zero) / unit) for x in level]
    assert ends[0] == pytest.approx((8, 12), abs=0.01) and ends[1] == pytest.approx((-6, 1), abs=0.01)
    assert len(ends) == 2, "what is exact has no error bar"


def test_bounds_far_beyond_all_numbers_leave_room_for_the_numbers() -> None:
    [box] = boxes(drawn(MeasuredBar("A", 1.0, -1e9, 1e9, False)))
    assert float(box["width"]) > 20


def test_what_is_too_much_to_draw_is_said_and_named_when_pointed_at() -> None:
    root = drawn(*(MeasuredBar(f"ward {i}", float(i), i - 1.0, i + 1.0, True) for i in range(40)), most=30)
    words = "\n".join(root.itertext())
    assert len(boxes(root)) == 30 and "10 more are not drawn" in words and "ward 39 39" in words
    assert "grey" not in words and "ward 3: 3, between 2 and 4" in words


def test_nothing_but_zeros_can_be_drawn() -> None:
    assert len(boxes(drawn(MeasuredBar("A", 0.0, 0.0, 0.0, True)))) == 1


def test_long_labels_stand_above_their_bars_a_line_for_each_group() -> None:
    long = "Department of internal medicine and gastroenterology"
    root = drawn(MeasuredBar(f"{long} · malignant neoplasm", 3.0, 2.0, 4.0, True))
    [box] = boxes(root)
    lines = {text.text: float(text.attrib["y"]) for text in root.iter(f"{SVG}text")}
    assert lines[long] < lines["malignant neoplasm"] < float(box["y"]) and float(box["x"]) == 0


def test_what_is_exact_needs_no_legend_and_shares_are_percent() -> None:
    exact = MeasuredPanel("share sick", (MeasuredBar("A", 0.25, 0.25, 0.25, True),), shares=True)
    words = "\n".join(ET.fromstring(measured.picture("sick", [exact], 30)).itertext())
    assert "25 %" in words and "95 %" not in words


def test_numbers_have_the_digits_that_their_error_leaves() -> None:
    panel = MeasuredPanel("mean", ())
    assert panel.shown(MeasuredBar("A", 3747.26, 3500.0, 4000.0, True)) == "3,747"
    assert panel.shown(MeasuredBar("A", -0.12345, -0.13, -0.11, True)) == "−0.123"


def test_lines_that_are_cut_off_are_explained() -> None:
    words = "\n".join(drawn(MeasuredBar("A", 1.0, -1e9, 1e9, False)).itertext())
    assert "lines without an end go on" in words
    assert "without an end" not in "\n".join(drawn(*BARS).itertext())
