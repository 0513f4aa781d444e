"""Trees from left to right: a line of its own for every end, and the ends below each other as in a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import rich.tree
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from sulq.pictures import svg
from sulq.pictures.bars import blocks

MANY = 40
"""In a tree with more ends than this, ends that follow one question and say the same are drawn as one."""
ROW, BOX, GAP, BEND, SPACE = 26.0, 20.0, 8.0, 54.0, 10.0
LONGEST, THICKEST = 240.0, 14.0
DROWNED = "within the noise"
"""What is said of an end that noise alone could have made."""
GUIDE = 4
"""How many cells a level is indented on a terminal."""


@dataclass(frozen=True)
class Tip:
    """An end of a tree.

    Args:
        says: what it says.
        number: the number of its colour.
        size: about how many rows come here.
        confidence: the share of what it says among them.
        error: how far off that share is, but for a chance of 5 %; 0 without noise.
        drowned: whether noise alone could have made as many rows.
    """

    says: str
    number: int
    size: float
    confidence: float
    error: float = 0.0
    drowned: bool = False


@dataclass(frozen=True)
class Fork:
    """A question, and what follows from each answer to it.

    Args:
        question: the question.
        branches: each answer, and the node that follows.
        numeric: whether the answers are neighbouring intervals, "below 1", "1 to 2", "2 and up".
    """

    question: str
    branches: tuple[tuple[str, Fork | Tip], ...]
    numeric: bool = False

    @property
    def size(self) -> float:
        return sum(below.size for _, below in self.branches)


@dataclass(frozen=True)
class _Spot:
    """A node, the answer that leads to it, and where it is drawn."""

    node: Fork | Tip
    answer: str
    depth: int
    y: float
    below: tuple[_Spot, ...] = ()

    def all(self) -> Iterator[_Spot]:
        yield self
        for spot in self.below:
            yield from spot.all()

    @property
    def question_at(self) -> float:
        """Where its question starts, seen from its answer."""
        return _room(self.answer) + SPACE if self.depth else 0.0

    @property
    def width(self) -> float:
        """How far answer and question reach."""
        question = svg.BOLD * _room(self.node.question) + SPACE if isinstance(self.node, Fork) else 0.0
        return self.question_at + question


def rate(share: float, error: float) -> str:
    """A share in percent, with how far off it is where there is noise.

    >>> rate(0.8, 0.0), rate(0.8, 0.031), rate(0.8, 0.002), rate(0.8, 1.0)
    ('80 %', '80 % ± 3', '80 % ± 0.2', '80 % ± 100')
    """
    if error == 0:
        return svg.percent(share)
    off = f"{100 * error:.0f}" if error >= 0.01 else f"{100 * error:.1g}"
    return f"{svg.percent(share)} ± {off}"


def picture(about: str, root: Fork | Tip, note: str = "") -> str:
    """A tree as SVG. `about` is what its ends tell.

    Lines are as thick as the share of rows that go along them, boxes as full of colour as they are sure.

    >>> ends = Tip("no", 0, 80.0, 0.9), Tip("yes", 1, 20.0, 0.7)
    >>> picture("sick", Fork("old", (("false", ends[0]), ("true", ends[1])))).count("<path")
    4
    """
    top, height = _placed(_fewer(root), "", 0, 22.0)
    spots = list(top.all())
    starts = [0.0]
    for depth in range(max(spot.depth for spot in spots)):
        starts.append(starts[-1] + max(spot.width for spot in spots if spot.depth == depth) + BEND)
    ends = [(spot, spot.node) for spot in spots if isinstance(spot.node, Tip)]
    box = max(_room(leaf.says) for _, leaf in ends) + 24
    left = max(starts[spot.depth] + spot.width for spot, _ in ends) + (SPACE if top.below else 0.0)
    longest = max(svg.wide(rate(leaf.confidence, leaf.error)) for _, leaf in ends)
    rows, shares = left + box + 70, left + box + 70 + max(60.0, longest + 2 * SPACE)

    drawn = [
        svg.aside(left, 8, "expected"),
        svg.aside(rows, 8, "rows", "end"),
        svg.aside(shares, 8, "share", "end"),
    ]
    for spot in spots:
        x, y = starts[spot.depth], spot.y
        after = x + spot.width
        if spot.depth:
            drawn.append(svg.text(x, y, spot.answer, room=LONGEST))
        if isinstance(spot.node, Fork):
            drawn.append(svg.text(x + spot.question_at, y, spot.node.question, room=LONGEST, weight="bold"))
        for child in spot.below:
            until = starts[child.depth] - SPACE / 2
            middle = (after + until) / 2
            bend = f"C{middle:.1f} {y:.1f} {middle:.1f} {child.y:.1f} {until:.1f} {child.y:.1f}"
            drawn.append(_way(f"M{after:.1f} {y:.1f}{bend}", child.node.size, root.size))
    for spot, leaf in ends:
        after, y, hue = starts[spot.depth] + spot.width, spot.y, svg.colour(leaf.number)
        ink, deep = (svg.QUIET, 0.08) if leaf.drowned else (svg.INK, 0.08 + 0.52 * leaf.confidence)
        drawn += [
            _way(f"M{after:.1f} {y:.1f}H{left:.1f}", leaf.size, root.size) if spot.depth else "",
            svg.box(left, y - BOX / 2, box, BOX, rx=6, fill=hue, fill_opacity=deep, stroke=hue),
            svg.text(left + box / 2, y, leaf.says, "middle", room=LONGEST),
            svg.text(rows, y, f"{leaf.size:,.0f}", "end", fill=ink),
            svg.text(shares, y, rate(leaf.confidence, leaf.error), "end", fill=ink),
        ]
    if any(leaf.drowned for _, leaf in ends):
        note = f"{note} · pale: {DROWNED}".removeprefix(" · ")
    if len(ends) < _ends(root):
        note = f"{note} · ends that follow one question and say the same are drawn as one".removeprefix(" · ")
    return svg.document(about, drawn, shares, height, note)


def _room(words: str) -> float:
    return min(LONGEST, svg.wide(words))


def _way(path: str, size: float, rows: float) -> str:
    thick = max(1.0, THICKEST * size / rows) if rows > 0 else 1.0
    return svg.tag("path", d=path, fill="none", stroke=svg.FAINT, stroke_width=thick)


def _placed(node: Fork | Tip, answer: str, depth: int, top: float) -> tuple[_Spot, float]:
    """A node below `top` with all that follows from it, and where there is room again."""
    if isinstance(node, Tip):
        return _Spot(node, answer, depth, top + ROW / 2), top + ROW
    below = []
    for next_answer, next_node in node.branches:
        spot, top = _placed(next_node, next_answer, depth + 1, top)
        below.append(spot)
    return _Spot(node, answer, depth, (below[0].y + below[-1].y) / 2, tuple(below)), top + GAP


def drawing(root: Fork | Tip) -> rich.tree.Tree:
    """A tree for the terminal, where what the ends say is below each other too."""
    top, _ = _placed(_fewer(root), "", 0, 0.0)
    ends = [(spot, spot.node) for spot in top.all() if isinstance(spot.node, Tip)]
    column = max(GUIDE * spot.depth + cell_len(_answer(spot)) for spot, _ in ends)
    widest = max(cell_len(svg.short(leaf.says, 30)) for _, leaf in ends)
    longest = max(len(f"{leaf.size:,.0f}") for _, leaf in ends)
    rates = max(len(rate(leaf.confidence, leaf.error)) for _, leaf in ends)

    def say(spot: _Spot) -> Text:
        node, answer = spot.node, _answer(spot)
        if isinstance(node, Fork):
            return Text(answer).append(svg.short(node.question, 60), "bold")
        hue = svg.colour(node.number)
        line = Text(set_cell_size(answer, column - GUIDE * spot.depth))
        line.append(set_cell_size(svg.short(node.says, 30), widest), f"bold {hue}")
        line.append(f"  {node.size:>{longest},.0f} rows ")
        line.append(blocks(node.size / root.size if root.size > 0 else 0.0, 8), hue)
        line.append(f" {rate(node.confidence, node.error):>{max(5, rates)}} ")
        line.append(blocks(node.confidence, 8), hue)
        return line.append(" noise", "dim") if node.drowned else line

    def grow(tree: rich.tree.Tree, spot: _Spot) -> rich.tree.Tree:
        for below in spot.below:
            grow(tree.add(say(below)), below)
        return tree

    return grow(rich.tree.Tree(say(top), guide_style="dim"), top)


def _answer(spot: _Spot) -> str:
    return svg.short(spot.answer, 40) + "  " if spot.depth else ""


def _ends(node: Fork | Tip) -> int:
    return 1 if isinstance(node, Tip) else sum(_ends(below) for _, below in node.branches)


def _fewer(root: Fork | Tip) -> Fork | Tip:
    """The tree as it is drawn."""
    return _merged(root) if _ends(root) > MANY else root


def _merged(node: Fork | Tip) -> Fork | Tip:
    if isinstance(node, Tip):
        return node
    places: dict[str | int, list[int]] = {}
    for place, (_, below) in enumerate(node.branches):
        places.setdefault(below.says if isinstance(below, Tip) else place, []).append(place)
    branches = [
        (_together(node, alike), _one([node.branches[place][1] for place in alike]))
        for alike in places.values()
    ]
    return Fork(node.question, tuple(branches), node.numeric)


def _one(nodes: list[Fork | Tip]) -> Fork | Tip:
    """Ends that say the same, as one end; or else a single node."""
    leaves = [node for node in nodes if isinstance(node, Tip)]
    size = sum(leaf.size for leaf in leaves)
    if len(leaves) < 2 or size <= 0:
        return _merged(nodes[0])
    sure = sum(leaf.size * leaf.confidence for leaf in leaves) / size
    error = math.hypot(*(leaf.size * leaf.error for leaf in leaves)) / size
    return Tip(leaves[0].says, leaves[0].number, size, sure, error, all(leaf.drowned for leaf in leaves))


def _together(fork: Fork, places: list[int]) -> str:
    """Several answers as one: a list of them, where intervals that touch are one interval."""
    answers = [answer for answer, _ in fork.branches]
    if not fork.numeric:
        return ", ".join(answers[place] for place in places)
    starts = [place for place in places if place - 1 not in places]
    stops = [place for place in places if place + 1 not in places]
    return ", ".join(_interval(answers[a], answers[b]) for a, b in zip(starts, stops, strict=True))


def _interval(first: str, last: str) -> str:
    """From the start of one interval to the end of another.

    >>> _interval("below 1", "2 to 3"), _interval("1 to 2", "2 to 3"), _interval("2 to 3", "3 and up")
    ('below 3', '1 to 3', '2 and up')
    """
    low, high = first.split(" to ")[0], last.split(" to ")[-1]
    if first == last:
        return first
    if last.endswith(" and up"):
        return "any" if first.startswith("below ") else f"{low} and up"
    return f"below {high}" if first.startswith("below ") else f"{low} to {high}"
