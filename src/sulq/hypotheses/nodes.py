"""The nodes of a tree: ends with their noisy counts, splits, and what can be made of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sulq.hypotheses.rates import Floats, drawn_to, error_of, shares_of, telling
from sulq.queries.node import Node

BETA = 0.05
"""Errors are stated for 95 %."""
CLOSE = 4 * math.sqrt(2)
"""Two counts that are apart by less than so many deviations of their noise may have changed places."""


@dataclass(frozen=True)
class End:
    """Where a way through the tree ends.

    Args:
        label: the position of the label to expect.
        counts: the answers to how many rows have each label, noise and all: they may be negative.
        noise: about one standard deviation of the noise in each of the counts.

    >>> end = End(0, (80.0, 20.0), noise=5.0)
    >>> end.size, end.confidence, round(end.error, 2), end.drowned
    (100.0, 0.8, 0.08, False)
    """

    label: int
    counts: tuple[float, ...]
    noise: float = 0.0

    @property
    def size(self) -> float:
        return max(0.0, sum(self.counts))

    @property
    def confidence(self) -> float:
        """The share of the label among the rows here, as far as the answers tell."""
        positive = [max(0.0, number) for number in self.counts]
        return positive[self.label] / sum(positive) if sum(positive) else 1 / len(positive)

    @property
    def error(self) -> float:
        """How far off the confidence is by noise, but for a chance of 5 %; 0 without noise."""
        return error_of(self.confidence, self.size, len(self.counts), self.noise)

    @property
    def drowned(self) -> bool:
        """Whether noise alone could have made as many rows as are counted here."""
        return self.noise > 0 and self.size <= 2 * self.noise * math.sqrt(len(self.counts))


@dataclass(frozen=True)
class Split:
    """The number of a question, and where each answer leads."""

    question: int
    branches: tuple[Split | End, ...]


def accuracy(ends: Sequence[End]) -> tuple[float, float]:
    """Which share of the rows has the label that is expected at their end, and how far off that is at 95 %.

    Where two labels are close, the label to expect was picked by the same noise that its count has: so the
    bound holds for every way to pick one there.

    Args:
        ends: the ends of a tree, with noise of their own in every count.

    >>> share, error = accuracy([End(0, (800.0, 200.0), 5.0), End(1, (100.0, 900.0), 5.0)])
    >>> round(share, 3), round(error, 3)
    (0.85, 0.021)
    """
    rows, right = sum(sum(end.counts) for end in ends), sum(end.counts[end.label] for end in ends)
    noise, labels = math.hypot(*(end.noise for end in ends)), len(ends[0].counts)
    if rows <= 0:
        return 0.0, 1.0
    close = sum(end.noise > 0 and _lead(end) < CLOSE * end.noise for end in ends)
    off = noise * math.sqrt(2 * (math.log(2 / BETA) + close * math.log(labels)))
    rows_off = noise * math.sqrt(2 * labels * math.log(2 / BETA))
    share = min(1.0, max(0.0, right / rows))
    return share, min(1.0, (off + share * rows_off) / (rows - rows_off)) if rows > rows_off else 1.0


def _lead(end: End) -> float:
    """By how many rows the label to expect and the next are apart."""
    first, second, *_ = sorted(end.counts, reverse=True)
    return first - second


def ends_of(node: Split | End) -> Iterator[End]:
    """The ends below a node, from left to right."""
    if isinstance(node, End):
        yield node
    else:
        for branch in node.branches:
            yield from ends_of(branch)


def together(node: Split | End) -> tuple[Floats, float]:
    """The counts of all ends below a node, and the noise in their sum."""
    ends = list(ends_of(node))
    return np.sum([end.counts for end in ends], axis=0), math.hypot(*(end.noise for end in ends))


def shares_below(node: Split | End, above: Floats, stated: Floats) -> Iterator[Floats]:
    """The shares of the labels at each end below a node.

    Args:
        node: the node.
        above: the shares in the node above it.
        stated: the shares that the counts above state, noise and all.
    """
    counts, noise = together(node)
    shares, here = drawn_to(above, counts, noise, stated), shares_of(counts)
    if isinstance(node, End):
        yield shares
    else:
        for branch in node.branches:
            yield from shares_below(branch, shares, stated if here is None else here)


def pruned(node: Split | End) -> Split | End:
    """A node without the splits below it that tell nothing.

    A split with one branch beside ends that noise has drowned is left out: the branch stands in its place.
    """
    if isinstance(node, End):
        return node
    branches = tuple(map(pruned, node.branches))
    rest = [branch for branch in branches if isinstance(branch, Split) or not branch.drowned]
    if len(rest) == 1:
        return rest[0]
    labels = {branch.label if isinstance(branch, End) else None for branch in branches}
    tables, noises = zip(*map(together, branches), strict=True)
    if len(labels) > 1 or None in labels or telling(tables, noises):
        return Split(node.question, branches)
    counts, noise = together(node)
    [label] = labels
    assert label is not None
    return End(label, tuple(counts.tolist()), noise)


def only_asked(root: Split | End, questions: tuple[Node, ...]) -> tuple[Split | End, tuple[Node, ...]]:
    """A tree, with those of the questions that it asks."""
    numbers = sorted(_numbers(root))
    place = {number: new for new, number in enumerate(numbers)}
    return _renumbered(root, place), tuple(questions[number] for number in numbers)


def _numbers(node: Split | End) -> set[int]:
    return set() if isinstance(node, End) else {node.question}.union(*map(_numbers, node.branches))


def _renumbered(node: Split | End, place: Mapping[int, int]) -> Split | End:
    if isinstance(node, End):
        return node
    return Split(place[node.question], tuple(_renumbered(branch, place) for branch in node.branches))
