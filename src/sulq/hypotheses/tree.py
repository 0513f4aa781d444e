"""Decision trees: questions about a row, and at each end the label to expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.hypotheses.hypothesis import Hypothesis, enumerated, words
from sulq.pictures import tree as pictures
from sulq.queries.codes import Bins, Cross
from sulq.queries.facts import Code
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import scope_of


@dataclass(frozen=True)
class End:
    """Where a way through the tree ends.

    Args:
        label: the position of the label to expect.
        counts: the answers to how many rows have each label, noise and all: they may be negative.
    """

    label: int
    counts: tuple[float, ...]

    @property
    def size(self) -> float:
        return max(0.0, sum(self.counts))

    @property
    def confidence(self) -> float:
        """The share of the label among the rows here, as far as the answers tell."""
        positive = [max(0.0, number) for number in self.counts]
        return positive[self.label] / sum(positive) if sum(positive) else 1 / len(positive)


@dataclass(frozen=True)
class Split:
    """The number of a question, and where each answer leads."""

    question: int
    branches: tuple[Split | End, ...]


@dataclass(frozen=True, eq=False)
class Tree(Hypothesis):
    """A decision tree for a label with few values.

    `predict` gives values of the label: truth values, or a category's texts. `expression` is the label to
    expect as a truth value, or for a category as a choice, so that
    `count(by=[tree.expression, tree.label])` asks how often each label is expected where each is true.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what the tree tells.
        questions: what its nodes ask.
        root: the first node.

    >>> import sulq
    >>> schema = sulq.Schema({"old": sulq.Boolean(), "plan": sulq.Category(["a", "b"], missing="a")})
    >>> root = Split(0, (End(0, (8.0, 2.0)), End(1, (0.0, 5.0))))
    >>> tree = Tree(schema, None, sulq.col("plan"), (sulq.col("old"),), root)
    >>> print(tree.describe())
    old is false: a (10 rows, 80 %)
    old is true: b (5 rows, 100 %)
    >>> tree.predict({"old": [True, False]})
    array(['b', 'a'], dtype='<U1')
    """

    wire = "tree"

    label: Node
    questions: tuple[Node, ...]
    root: Split | End

    @property
    def expression(self) -> Node:
        reached = self.route([end.label for end in self.ends], self._labels.size)
        return reached if self._categorical else Lookup(reached, ((0,), (1,)))

    @property
    def ends(self) -> list[End]:
        """The tree's ends from left to right."""
        return list(_ends(self.root))

    @property
    def values(self) -> tuple[str, ...] | tuple[bool, ...]:
        """What the label can be."""
        return self._labels.levels or () if self._categorical else (False, True)

    def route(self, codes: list[int], size: int) -> Route:
        """The code of the end that a row comes to, given one for each end."""
        steps: list[tuple[int, ...]] = []
        left = iter(codes)

        def add(node: Split | End) -> int:
            place = len(steps)
            steps.append(())
            if isinstance(node, Split):
                steps[place] = (node.question, *[add(branch) for branch in node.branches])
            else:
                steps[place] = (next(left),)
            return place

        add(self.root)
        return Route(self.questions, tuple(steps), size)

    def wrong(self, truth: Node) -> Node:
        if not self._categorical:
            return super().wrong(truth)
        size = self._labels.size
        different = tuple((int(predicted != true),) for predicted in range(size) for true in range(size))
        return Lookup(Cross((self.expression, truth)), different)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The label to expect of every row of a frame, which needs no label."""
        reached = self.route([end.label for end in self.ends], self._labels.size)
        return np.asarray(np.array(self.values)[self._values(reached, frame)])

    @property
    def headline(self) -> str:
        if isinstance(self.root, End):
            return f"{words(self.label)} is always {self._verdict(self.root)}: no question made a difference."
        asked = dict.fromkeys(self._phrased(self.questions[number])[0] for number in _asked(self.root))
        return f"{words(self.label)} is told by {enumerated(list(asked))}: {len(self.ends)} kinds of rows."

    def describe(self) -> str:
        return "\n".join(self._lines(self.root, ""))

    def picture(self) -> str:
        return pictures.picture(words(self.label), self._drawn(self.root), self._caption)

    def drawing(self) -> RenderableType:
        return pictures.drawing(self._drawn(self.root))

    def _drawn(self, node: Split | End) -> pictures.Fork | pictures.Tip:
        if isinstance(node, End):
            return pictures.Tip(self._said(node), node.label, node.size, node.confidence)
        question = self.questions[node.question]
        subject, _, answers = self._phrased(question)
        below = [self._drawn(branch) for branch in node.branches]
        return pictures.Fork(subject, tuple(zip(answers, below, strict=True)), isinstance(question, Bins))

    def _lines(self, node: Split | End, indent: str) -> Iterator[str]:
        if isinstance(node, End):
            yield f"always {self._verdict(node)}"
            return
        question = self.questions[node.question]
        subject, link, answers = self._phrased(question)
        for value, branch in zip(answers, node.branches, strict=True):
            answer = f"{subject}{link}{value}"
            if isinstance(branch, End):
                yield f"{indent}{answer}: {self._verdict(branch)}"
            else:
                yield f"{indent}{answer}"
                yield from self._lines(branch, indent + "  ")

    def _verdict(self, end: End) -> str:
        return f"{self._said(end)} ({end.size:.0f} rows, {100 * end.confidence:.0f} %)"

    def _said(self, end: End) -> str:
        value = self.values[end.label]
        return str(value).lower() if isinstance(value, bool) else value

    def _phrased(self, question: Node) -> tuple[str, str, list[str]]:
        """What is asked about, the word that links it with an answer, and the answers, as people say them."""
        scope = scope_of(self.schema)
        facts = scope.facts(question)
        subject = words(question.inner if isinstance(question, Bins) else question)
        if isinstance(facts, Code):
            return subject, " " if isinstance(question, Bins) else " is ", list(facts.levels or ())
        if facts.flag:
            return subject, " is ", ["false", "true"]
        return subject, " is ", list(scope.code(question).levels or ())

    @property
    def _labels(self) -> Code:
        return scope_of(self.schema).code(self.label)

    @property
    def _categorical(self) -> bool:
        return isinstance(scope_of(self.schema).facts(self.label), Code)


def _asked(node: Split | End) -> Iterator[int]:
    """The questions from the top down."""
    if isinstance(node, Split):
        yield node.question
        for branch in node.branches:
            yield from _asked(branch)


def _ends(node: Split | End) -> Iterator[End]:
    if isinstance(node, End):
        yield node
    else:
        for branch in node.branches:
            yield from _ends(branch)
