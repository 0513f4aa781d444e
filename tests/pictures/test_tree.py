"""Trees: ends have rows of their own, and in large trees those that say the same are one."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np

from sulq.pictures.tree import MANY, ROW, THICKEST, Fork, Tip, _merged, drawing, picture

SVG = "{http://www.w3.org/2000/svg}"


def leaves(node: Fork | Tip) -> list[Tip]:
    return [node] if isinstance(node, Tip) else [leaf for _, below in node.branches for leaf in leaves(below)]


def random_tree(rng: np.random.Generator, depth: int) -> Fork | Tip:
    if depth == 0 or rng.random() < 0.2:
        number = int(rng.integers(0, 4))
        return Tip(f"label {number}", number, float(rng.integers(0, 900)), float(rng.random()))
    answers = [f"answer {i} " + "x" * int(rng.integers(0, 60)) for i in range(rng.integers(1, 5))]
    below = [random_tree(rng, depth - 1) for _ in answers]
    return Fork(
        f"question {depth} " + "y" * int(rng.integers(0, 60)), tuple(zip(answers, below, strict=True))
    )


def rows(drawn: str) -> list[tuple[float, float]]:
    """From where to where the boxes of the ends reach, from the top."""
    boxes = [box for box in ET.fromstring(drawn).iter(f"{SVG}rect") if "fill-opacity" in box.attrib]
    return [(float(box.attrib["y"]), float(box.attrib["y"]) + float(box.attrib["height"])) for box in boxes]


def words(drawn: str) -> list[tuple[float, float, str]]:
    return [
        (float(text.attrib["x"]), float(text.attrib["y"]), text.text or "")
        for text in ET.fromstring(drawn).iter(f"{SVG}text")
        if text.attrib["text-anchor"] == "start" and text.attrib["font-size"] == "13"
    ]


def test_no_two_ends_overlap_and_no_two_texts_share_a_place() -> None:
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(25):
        root = random_tree(rng, depth=5)
        drawn = picture("label", root)
        ends = rows(drawn)
        sizes.add(len(ends))
        assert all(bottom < top for (_, bottom), (top, _) in pairwise(ends))
        said = words(drawn)
        # Texts that begin at one place across are a row apart: rows are taller than letters.
        for i, (x, y, _) in enumerate(said):
            assert all(x != other or abs(y - below) >= ROW / 2 for other, below, _ in said[i + 1 :])
    assert 1 in sizes and max(sizes) > 30


def test_no_text_reaches_into_the_next_or_out_of_the_picture() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        drawn = picture("label", random_tree(rng, depth=4))
        width = float(ET.fromstring(drawn).attrib["width"])
        by_row: dict[float, list[tuple[float, str]]] = {}
        for x, y, text in words(drawn):
            by_row.setdefault(y, []).append((x, text))
        for row in by_row.values():
            row.sort()
            # Half a font's size for each letter is less than all but the narrowest take.
            for (x, text), (after, _) in zip(row, [*row[1:], (width, "")], strict=True):
                assert x + 13 * 0.5 * len(text) <= after


def test_a_tree_that_is_one_end_is_its_box() -> None:
    drawn = picture("sick", Tip("no", 0, 0.0, 0.5))
    assert len(rows(drawn)) == 1 and "<path" not in drawn
    assert "no" in str(drawing(Tip("no", 0, 0.0, 0.5)).label)


def test_lines_are_as_thick_as_the_share_of_rows() -> None:
    root = Fork("old", (("no", Tip("a", 0, 75.0, 1.0)), ("yes", Tip("b", 1, 25.0, 1.0))))
    thick = sorted(
        float(found) for found in re.findall(r'<path[^>]*stroke-width="([0-9.]+)"', picture("x", root))
    )
    assert thick == [THICKEST / 4] * 2 + [3 * THICKEST / 4] * 2


def test_sure_ends_are_fuller_of_colour() -> None:
    root = Fork("old", (("no", Tip("a", 0, 1.0, 0.5)), ("yes", Tip("a", 0, 1.0, 0.9))))
    unsure, sure = (float(found) for found in re.findall(r'fill-opacity="([0-9.]+)"', picture("x", root)))
    assert unsure < sure


def test_a_small_tree_is_drawn_end_by_end() -> None:
    root = Fork("n", tuple((f"{i}", Tip("same", 0, 1.0, 1.0)) for i in range(MANY)))
    assert len(rows(picture("x", root))) == MANY
    assert "drawn as one" not in picture("x", root)


def test_in_a_large_tree_what_follows_one_question_and_says_the_same_is_one_end() -> None:
    answers = ["below 0", *(f"{i} to {i + 1}" for i in range(MANY)), f"{MANY} and up"]
    labels = ["a"] * 10 + ["b"] * 5 + ["a"] * (len(answers) - 15)
    ends = [Tip(label, "ab".index(label), 2.0, 0.25 if i == 0 else 0.75) for i, label in enumerate(labels)]
    root = Fork("n", tuple(zip(answers, ends, strict=True)), numeric=True)
    merged = _merged(root)
    assert isinstance(merged, Fork)
    assert [answer for answer, _ in merged.branches] == ["below 9, 14 and up", "9 to 14"]
    first, second = leaves(merged)
    assert (first.size, second.size) == (2.0 * (len(answers) - 5), 10.0)
    assert first.confidence == (0.25 + 0.75 * (len(answers) - 6)) / (len(answers) - 5)
    drawn = picture("x", root)
    assert len(rows(drawn)) == 2 and "drawn as one" in drawn


def test_putting_ends_together_loses_no_rows_and_no_answers() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        root = random_tree(rng, depth=5)
        merged = _merged(root)
        assert np.isclose(merged.size, root.size)
        assert {leaf.says for leaf in leaves(merged)} == {leaf.says for leaf in leaves(root)}
        assert len(leaves(merged)) <= len(leaves(root))


def test_answers_that_only_look_like_intervals_are_listed() -> None:
    routes = ["Oslo to Rome", "Rome to Paris"]
    root = Fork("route", tuple((route, Tip("same", 0, 1.0, 1.0)) for route in routes))
    merged = _merged(root)
    assert isinstance(merged, Fork) and merged.branches[0][0] == "Oslo to Rome, Rome to Paris"


def test_a_drawing_has_the_ends_below_each_other() -> None:
    root = Fork(
        "old",
        (("no", Tip("well", 0, 9.0, 0.9)), ("yes", Fork("ill", (("very", Tip("sick", 1, 1.0, 1.0)),)))),
    )
    tree = drawing(root)
    shallow, [deep] = str(tree.children[0].label), tree.children[1].children
    assert 4 + shallow.index("well") == 8 + str(deep.label).index("sick")
