"""A tree while it grows: its nodes, the way to them, and what is left of them in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.target import Target
from sulq.hypotheses.tree import End, Split, Tree
from sulq.queries.arithmetic import Compare
from sulq.queries.expressions import Constant
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.schema import Schema

Counts = NDArray[np.float64]

NOISY = 3.0
"""How many times as much as chance noise counts for, at most, where a label must lead to displace that of the
node above. It is as much where all rows of that node have its label: of the ends that noise could turn, most
are right as they are. It is once where two labels are as frequent there: then noise turns no more ends from
right to wrong than from wrong to right."""


class Draft:
    """A tree that is still growing: nodes by number, the root first, children after their parents.

    Args:
        scope: what the schema says of expressions.
        questions: what the tree may ask of a row.
    """

    def __init__(self, scope: Scope, questions: Sequence[Node]) -> None:
        self.questions = questions
        self.open = [0]
        """The nodes that may still be split."""
        self.sizes = [scope.code(question).size for question in questions]
        self._question: list[int | None] = [None]
        """Which question each node asks; None at an end."""
        self._children: list[list[int]] = [[]]
        self._paths: list[tuple[tuple[int, int], ...]] = [()]
        """The questions on the way to each node, and their answers there."""
        self._known: list[frozenset[int]] = [frozenset()]
        """The questions that the way to each node leaves one answer only: they would tell nothing."""
        self._implied: dict[tuple[int, int], frozenset[int]] = {}
        self._together: list[tuple[int, list[int], list[int]]] = []
        """Nodes, the questions that were picked together for each, and the nodes those lead to."""

    @property
    def ends(self) -> list[int]:
        return [node for node, question in enumerate(self._question) if question is None]

    def used(self, node: int) -> frozenset[int]:
        """The questions on the way to a node."""
        return frozenset(question for question, _ in self._paths[node])

    def telling(self, node: int) -> list[int]:
        """The questions that the way to a node leaves open."""
        return [question for question in range(len(self.questions)) if question not in self._known[node]]

    @property
    def unknown(self) -> list[int]:
        """The questions that would tell something in some open node."""
        known = frozenset.intersection(*(self._known[node] for node in self.open))
        return [question for question in range(len(self.questions)) if question not in known]

    def grow(self, picked: Mapping[int, Sequence[int]], joint: bool = False) -> None:
        """Split nodes by the questions picked for them; the others that were open are ends.

        Args:
            picked: the questions picked for each node.
            joint: whether the nodes picked together: one where the question tells nothing stays open.
        """
        self.open = []
        for node, questions in picked.items():
            telling = [question for question in questions if question not in self._known[node]]
            reached = [node]
            for question in telling:
                reached = [child for parent in reached for child in self._split(parent, question)]
            self._together.append((node, telling, reached))
            self.open += [child for child in reached if child != node or joint]
        if joint:
            self.open = [node for node in self.open if len(self._known[node]) < len(self.questions)]

    def _split(self, node: int, question: int) -> list[int]:
        first = len(self._question)
        children = list(range(first, first + self.sizes[question]))
        self._question[node], self._children[node] = question, children
        self._question += [None] * len(children)
        self._children += [[] for _ in children]
        self._paths += [(*self._paths[node], (question, answer)) for answer in range(len(children))]
        self._known += [self._known[node] | self._follow(question, answer) for answer in range(len(children))]
        return children

    def _follow(self, question: int, answer: int) -> frozenset[int]:
        """The questions whose answers follow from the answer to one, which is among them."""
        if (question, answer) not in self._implied:
            before = self.questions[question]
            others = (n for n, other in enumerate(self.questions) if _follows(other, before, answer))
            self._implied[question, answer] = frozenset([question, *others])
        return self._implied[question, answer]

    def _sort(self, sums: Mapping[int, Counts]) -> None:
        """Of questions that were picked together, ask the one that tells most first.

        Their order changes nothing about which rows end where; but it is by the upper ones that people read a
        tree, and that ends which noise has drowned are taken for their like.
        """
        for node, questions, reached in self._together:
            table = np.array([sums[child] for child in reached])
            table = table.reshape(*(self.sizes[question] for question in questions), -1)
            gains = []
            for axis in range(len(questions)):
                others = tuple(other for other in range(len(questions)) if other != axis)
                gains.append(gain(table.sum(axis=others), sums[node], 0.0))
            order = np.argsort(np.negative(gains), kind="stable")
            ways = np.array(reached).reshape(table.shape[:-1]).transpose(order)
            if questions:
                self._link(node, [questions[place] for place in order], ways)

    def _link(self, node: int, questions: Sequence[int], ways: NDArray[np.int64]) -> None:
        """Let a node ask these questions, one after the other, on the way to nodes that are there."""
        self._question[node], self._children[node] = questions[0], []
        for way in ways:
            child = int(way) if len(questions) == 1 else len(self._question)
            if len(questions) > 1:
                self._question.append(None)
                self._children.append([])
                self._link(child, questions[1:], way)
            self._children[node].append(child)

    def route(self, nodes: Sequence[int]) -> Route:
        """Which of some nodes a row comes to; rows that come to none of them are counted together."""
        number = {node: code for code, node in enumerate(nodes)}
        others = len(number) < len(self.ends)
        codes = [number.get(node, len(number)) for node in range(len(self._question))]
        return self._coded(codes, len(number) + others)

    def among(self, nodes: Sequence[int]) -> tuple[list[Node], Node | None]:
        """What to count by, so that each of some nodes has a code, and which rows come to one of them.

        Rows that come to none are left out, and have no code: every number is about one of the nodes. The
        root needs no code, and where the nodes are all ends no row is left out.
        """
        if nodes == [0]:
            return [], None
        number = {node: code for code, node in enumerate(nodes)}
        codes = [number.get(node, 0) for node in range(len(self._question))]
        inside = [int(node in number) for node in range(len(self._question))]
        where = lookup(self._coded(inside, 2), (0, 1)) > 0 if len(number) < len(self.ends) else None
        return [self._coded(codes, len(number))], where

    def _coded(self, codes: Sequence[int], size: int) -> Route:
        """The code of the end that a row comes to."""
        used = sorted({question for question in self._question if question is not None})
        place = {question: i for i, question in enumerate(used)}
        steps = [
            (codes[node],) if question is None else (place[question], *self._children[node])
            for node, question in enumerate(self._question)
        ]
        return Route(tuple(self.questions[q] for q in used), tuple(steps), size)

    def tree(
        self, schema: Schema, label: Node, table: Mapping[int, Counts], deviation: float, prune: float
    ) -> Tree:
        """The finished tree, with all that was counted.

        Going down, a node takes its parent's label unless another leads by more than the noise; by so much
        the more, the further the parent's label is ahead there. Only answers are looked at, so this costs
        nothing.

        Args:
            schema: what is public about the columns.
            label: what the tree tells.
            table: how many rows have each label, at each end.
            deviation: one standard deviation of the noise in these counts.
            prune: how many standard deviations a label must lead by.
        """
        self._sort(_summed(table, self._children))
        sums = _summed(table, self._children)
        ends = _summed(dict.fromkeys(table, np.ones(1)), self._children)

        def finished(node: int, above: int, around: Counts) -> Split | End:
            counts, question = sums[node], self._question[node]
            best = int(counts[:known].argmax())
            lead = counts[best] - counts[above]
            noise = (1 + (NOISY - 1) * _ahead(around[:known], above, best)) * deviation
            chance = max(0.0, counts[best] + counts[above])
            spread = math.sqrt(chance + 2 * float(ends[node][0]) * noise**2)
            majority = best if lead > prune * spread else above
            if question is None:
                return End(majority, tuple(counts.tolist()), deviation)
            return Split(
                place[question], tuple(finished(child, majority, counts) for child in self._children[node])
            )

        asked = sorted({question for question in self._question if question is not None})
        place = {question: i for i, question in enumerate(asked)}
        # Noise may count more rows of `(other)` than of two declared values: it is told of none.
        known = len(Target(schema, label).classes or ())
        root = finished(0, int(sums[0][:known].argmax()), sums[0])
        return Tree(schema, None, label, tuple(self.questions[q] for q in asked), root)


def _ahead(counts: Counts, label: int, other: int) -> float:
    """How far a label is ahead of another, as a part of all rows: from 0 to 1, whatever the noise."""
    rows = float(counts.clip(0).sum())
    return min(1.0, max(0.0, float(counts[label] - counts[other]) / rows)) if rows > 0 else 1.0


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
    """How much a question tells about the label: Σⱼ Nⱼ·(H(T) − H(Tⱼ)), in bits times rows.

    Args:
        table: how many rows have each answer and each label.
        counts: how many rows have each label.
        noise: counts of the table that are no larger are skipped.
    """
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
