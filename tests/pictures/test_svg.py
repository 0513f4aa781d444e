"""Words are safe and fit, numbers can be read, and ticks are few, round and between the bounds."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sulq.pictures.chips import WIDEST
from sulq.pictures.chips import picture as chips
from sulq.pictures.svg import clean, document, plain, short, tag, text, ticks, wide


@given(st.text())
def test_any_text_can_stand_in_a_picture(words: str) -> None:
    drawn = document(words, [text(0, 0, words, room=50), tag("g", fill=clean(words))], 9, 9, words)
    root = ET.fromstring(drawn)
    assert root.attrib["aria-label"] == clean(words)
    assert clean(words) in "".join(root.itertext())


@given(st.text(), st.floats(20, 300))
def test_a_text_is_cut_to_its_room_and_says_the_whole_when_pointed_at(words: str, room: float) -> None:
    element = ET.fromstring(text(0, 0, words, room=room))
    shown = element.text or ""
    assert wide(shown) <= room
    if shown != clean(words):
        assert shown.endswith("…")
        assert element[0].text == clean(words)


def test_a_very_long_text_is_cut_at_once() -> None:
    assert (ET.fromstring(text(0, 0, "x" * 10**6, room=100)).text or "").endswith("x…")


def test_letters_of_double_width_count_double() -> None:
    assert wide("長") == 2 * wide("x")
    assert short("長" * 10, 9) == "長長長長…"


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x9b", "\ud800", "\ufffe", "\u202e"])
def test_what_cannot_be_printed_is_replaced(letter: str) -> None:
    assert clean(f"a{letter}b") == "a�b"


def test_joiners_that_scripts_need_are_kept() -> None:
    assert clean("می\u200cخواهم") == "می\u200cخواهم"


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_few_and_between_the_bounds(low: float, width: float) -> None:
    high = low + width
    found = ticks(low, high)
    assert 2 <= len(found) <= 9 or not low < high
    slack = 1e-9 * max(abs(low), abs(high))
    assert all(low - slack <= tick <= high + slack for tick in found)


def test_numbers_are_read_by_people() -> None:
    assert [plain(x) for x in (0.1 + 0.2, 1234567.0, 1e-9, 1e30)] == ["0.3", "1,235,000", "1e-09", "1e+30"]
    assert plain(1234567, digits=7) == "1,234,567"


def test_many_chips_go_on_several_lines() -> None:
    root = ET.fromstring(chips("True where", [f"literal {i}" for i in range(30)]))
    boxes = [rect.attrib for rect in root.iter("{http://www.w3.org/2000/svg}rect") if "stroke" in rect.attrib]
    places = {(box["x"], box["y"]) for box in boxes}
    assert len(places) == 30 and len({y for _, y in places}) > 2
    assert all(float(box["x"]) + float(box["width"]) <= WIDEST for box in boxes)
