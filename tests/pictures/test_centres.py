"""Centres: each where it is between the bounds, as large as its size says, and in the key."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from sulq.pictures.centres import AXIS, SIDE, Side, centres, drawing, picture

SVG = "{http://www.w3.org/2000/svg}"


def dots(drawn: str) -> list[tuple[float, float, float]]:
    """Where the dots are and their radii, without those of the key."""
    circles = [
        circle.attrib for circle in ET.fromstring(drawn).iter(f"{SVG}circle") if "stroke" in circle.attrib
    ]
    return [(float(at["cx"]), float(at["cy"]), float(at["r"])) for at in circles]


def test_on_a_map_places_are_in_proportion_and_areas_are_sizes() -> None:
    axes = [Side("age", 0, 100), Side("income", -10, 10)]
    large, small = dots(picture(axes, centres([400.0, 100.0], [(25.0, -5.0), (75.0, 5.0)])))
    assert small[0] - large[0] == pytest.approx(SIDE / 2, abs=0.1)
    assert large[1] - small[1] == pytest.approx(SIDE / 2, abs=0.1)
    assert large[2] / small[2] == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("features", [1, 3, 40])
def test_other_features_have_an_axis_each_and_centres_a_line(features: int) -> None:
    axes = [Side(f"feature {i}", 0, 10) for i in range(features)]
    drawn = picture(axes, centres([9.0, 1.0], [(2.5,) * features, (7.5,) * features]))
    spots = dots(drawn)
    assert len(spots) == 2 * features and drawn.count("<polyline") == 2
    assert spots[-1][0] - spots[0][0] == pytest.approx(AXIS / 2, abs=0.1)
    assert len({y for _, y, _ in spots}) == features


def test_what_is_beyond_the_bounds_is_drawn_at_them() -> None:
    [dot] = dots(picture([Side("a", 0, 1)], centres([1.0], [(7.0,)])))
    [end] = dots(picture([Side("a", 0, 1)], centres([1.0], [(1.0,)])))
    assert dot == end


@pytest.mark.parametrize("k", [1, 6, 7, 50])
def test_every_centre_is_in_the_key_whatever_their_number(k: int) -> None:
    drawn = picture([Side("a", 0, 1), Side("b", 0, 1)], centres([10.0] * k, [(i / k, 0.5) for i in range(k)]))
    root = ET.fromstring(drawn)
    keys = [circle for circle in root.iter(f"{SVG}circle") if "stroke" not in circle.attrib]
    assert len(keys) == k
    assert len({(key.attrib["cx"], key.attrib["cy"]) for key in keys}) == k


def test_lines_of_one_colour_differ_in_their_dashes() -> None:
    axes = [Side(name, 0, 1) for name in "abc"]
    drawn = ET.fromstring(picture(axes, centres([1.0] * 18, [(0.5,) * 3] * 18)))
    looks = [
        (line.attrib["stroke"], line.attrib["stroke-dasharray"]) for line in drawn.iter(f"{SVG}polyline")
    ]
    assert len(set(looks)) == 18


@pytest.mark.parametrize(("features", "k"), [(1, 1), (2, 5), (5, 2), (40, 3)])
def test_the_terminals_table_is_long_rather_than_wide(features: int, k: int) -> None:
    axes = [Side(f"feature {i}", 0, 1) for i in range(features)]
    table = drawing(axes, centres([1.0] * k, [(0.5,) * features] * k))
    assert (table.row_count, len(table.columns)) == (2 + max(features, k), 2 + min(features, k))


def test_sizes_below_zero_are_drawn_as_none() -> None:
    known = centres([-5.0, 0.0], [(0.0,), (1.0,)])
    assert [(point.size, point.relative) for point in known] == [(0.0, 0.0), (0.0, 0.0)]
    assert all(math.isfinite(x) for dot in dots(picture([Side("a", 0, 1)], known)) for x in dot)
