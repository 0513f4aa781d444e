"""A tree while it grows: its nodes, the way to them, and what is left of them in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.tree import End, Split, Tree
from sulq.queries.expressions import Compare, Constant, Node
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.schema import Schema

Counts = NDArray[np.float64]

SPREAD = 1 / 6
"""One standard deviation as part of what is called noise: about √2/9.2 for Laplace, 1/3.9 for Gaussian."""


class Draft:
    """A tree that is still growing: nodes by number, the root first, children after their parents."""

    def __init__(self, scope: Scope, questions: Sequence[Node]) -> None:
        self.questions = questions
        self.open = [0]
        """The nodes that may still be split."""
        self.sizes = [scope.code(question).size for question in questions]
        self._asked: list[int | None] = [None]
        self._children: list[list[int]] = [[]]
        self._paths: list[tuple[tuple[int, int], ...]] = [()]
        """The questions on the way to each node, and their answers there."""
        self._together: list[tuple[int, list[int], list[int]]] = []
        """Nodes, the questions that were picked together for each, and the nodes those lead to."""

    @property
    def ends(self) -> list[int]:
        return [node for node, question in enumerate(self._asked) if question is None]

    def used(self, node: int) -> frozenset[int]:
        """The questions that were asked on the way to a node."""
        return frozenset(question for question, _ in self._paths[node])

    def grow(self, picked: Mapping[int, Sequence[int]]) -> None:
        """Split nodes by the questions picked for them; the others that were open are ends."""
        self.open = []
        for node, questions in picked.items():
            asked = [question for question in questions if not self._told(node, question)]
            reached = [node]
            for question in asked:
                reached = [child for parent in reached for child in self._split(parent, question)]
            self._together.append((node, asked, reached))
            self.open += [child for child in reached if child != node]

    def _split(self, node: int, question: int) -> list[int]:
        first = len(self._asked)
        children = list(range(first, first + self.sizes[question]))
        self._asked[node], self._children[node] = question, children
        self._asked += [None] * len(children)
        self._children += [[] for _ in children]
        self._paths += [(*self._paths[node], (question, answer)) for answer in range(len(children))]
        return children

    def _told(self, node: int, question: int) -> bool:
        """Whether what was asked before leaves a question one answer only: it would tell nothing."""
        before = [(self.questions[asked], answer) for asked, answer in self._paths[node]]
        return question in self.used(node) or any(_follows(self.questions[question], *own) for own in before)

    def _sort(self, sums: Mapping[int, Counts]) -> None:
        """Of questions that were picked together, ask the one that tells most first.

        Their order changes nothing about which rows end where; but it is by the upper ones that people read a
        tree, and that ends which noise has drowned are taken for their like.
        """
        for node, asked, reached in self._together:
            table = np.array([sums[child] for child in reached])
            table = table.reshape(*(self.sizes[question] for question in asked), -1)
            gains = []
            for axis in range(len(asked)):
                others = tuple(other for other in range(len(asked)) if other != axis)
                gains.append(gain(table.sum(axis=others), sums[node], 0.0))
            order = np.argsort(np.negative(gains), kind="stable")
            ways = np.array(reached).reshape(table.shape[:-1]).transpose(order)
            if asked:
                self._link(node, [asked[place] for place in order], ways)

    def _link(self, node: int, asked: Sequence[int], ways: NDArray[np.int64]) -> None:
        """Let a node ask these questions, one after the other, on the way to nodes that are there."""
        self._asked[node], self._children[node] = asked[0], []
        for way in ways:
            child = int(way) if len(asked) == 1 else len(self._asked)
            if len(asked) > 1:
                self._asked.append(None)
                self._children.append([])
                self._link(child, asked[1:], way)
            self._children[node].append(child)

    def route(self, nodes: Sequence[int]) -> Route:
        """Which of some nodes a row comes to; rows that come to none of them are counted together."""
        number = {node: code for code, node in enumerate(nodes)}
        others = len(number) < len(self.ends)
        asked = sorted({question for question in self._asked if question is not None})
        place = {question: i for i, question in enumerate(asked)}
        steps = [
            (number.get(node, len(number)),) if question is None else (place[question], *self._children[node])
            for node, question in enumerate(self._asked)
        ]
        return Route(tuple(self.questions[q] for q in asked), tuple(steps), len(number) + others)

    def tree(
        self, schema: Schema, label: Node, table: Mapping[int, Counts], noise: float, prune: float
    ) -> Tree:
        """The finished tree, pruned.

        Going down, a node takes its parent's label unless another leads by more than the noise. Coming up,
        a split that makes no difference is undone. Only answers are looked at, so this costs nothing.
        """
        self._sort(_summed(table, self._children))
        sums = _summed(table, self._children)
        ends = _summed(dict.fromkeys(table, np.ones(1)), self._children)

        def finished(node: int, above: int) -> Split | End:
            counts, question = sums[node], self._asked[node]
            best = int(counts.argmax())
            lead = counts[best] - counts[above]
            spread = math.sqrt(
                max(0.0, counts[best] + counts[above]) + 2 * float(ends[node][0]) * (noise * SPREAD) ** 2
            )
            said = best if lead > prune * spread else above
            if question is not None:
                branches = tuple(finished(child, said) for child in self._children[node])
                different = {branch.label if isinstance(branch, End) else -1 for branch in branches}
                if len(different) > 1 or -1 in different:
                    return Split(question, branches)
                [said] = different
            return End(said, tuple(counts.tolist()))

        root = finished(0, int(sums[0].argmax()))
        kept = sorted(_asked(root))
        place = {question: i for i, question in enumerate(kept)}
        return Tree(schema, None, label, tuple(self.questions[q] for q in kept), _renumbered(root, place))


def _follows(question: Node, before: Node, answer: int) -> bool:
    """Whether the answer to a comparison follows from the answer to another about the same column."""
    if not isinstance(question, Compare) or not isinstance(before, Compare):
        return False
    one, other = question.right, before.right
    same = (question.left.key, question.relation) == (before.left.key, before.relation)
    if not same or not isinstance(one, Constant) or not isinstance(other, Constant):
        return False
    if question.relation == "==":
        return answer == 1
    if isinstance(one.constant, str) or isinstance(other.constant, str):
        return False
    return other.constant <= one.constant if answer == 1 else other.constant >= one.constant


def _summed(table: Mapping[int, Counts], children: Sequence[Sequence[int]]) -> dict[int, Counts]:
    """What is known of the ends, and for every other node the sum of what is known below it."""
    sums = dict(table)

    def add(node: int) -> Counts:
        if node not in sums:
            sums[node] = np.sum([add(child) for child in children[node]], axis=0)
        return sums[node]

    add(0)
    return sums


def gain(table: Counts, counts: Counts, noise: float) -> float:
    kept = np.where(table > noise, table, 0.0)
    sizes = kept.sum(axis=1)
    return float(
        sum(sizes) * _entropy(counts)
        - sum(size * _entropy(row) for size, row in zip(sizes, kept, strict=True))
    )


def _entropy(counts: Counts) -> float:
    positive = counts[counts > 0]
    shares = positive / positive.sum() if positive.size else positive
    return float(-(shares * np.log2(shares)).sum())


def _asked(node: Split | End) -> set[int]:
    if isinstance(node, End):
        return set()
    return {node.question}.union(*map(_asked, node.branches))


def _renumbered(node: Split | End, place: Mapping[int, int]) -> Split | End:
    if isinstance(node, End):
        return node
    return Split(place[node.question], tuple(_renumbered(branch, place) for branch in node.branches))
