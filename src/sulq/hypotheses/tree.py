"""Decision trees: questions about a row, and at each end the label to expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, enumerated, words
from sulq.hypotheses.nodes import End as End
from sulq.hypotheses.nodes import Split as Split
from sulq.hypotheses.nodes import accuracy, ends_of, only_asked, pruned, shares_below, together
from sulq.hypotheses.rates import Floats, leading
from sulq.hypotheses.words import phrased
from sulq.numbers import several
from sulq.pictures import tree as pictures
from sulq.queries.codes import Bins, Cross
from sulq.queries.facts import Code
from sulq.queries.logistic import GRID_BITS
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.routes import Route
from sulq.queries.scope import scope_of


@dataclass(frozen=True, eq=False)
class Tree(Hypothesis):
    """A decision tree for a label with few values.

    `predict` gives values of the label: truth values, or a category's texts. `predict_proba` gives the share
    of each label. `expression` is the label to expect as a truth value, or for a category as a choice: so
    `count(by=[tree.expression, tree.label])` asks how often each label is expected where each is true.

    A tree knows all that it was told. `describe`, `picture` and `drawing` show the `pruned` tree, unless they
    are called with `prune=False`.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
        label: what the tree tells.
        questions: what its nodes ask.
        root: the first node.
        gain_error: how many bits a row the gain of a question may be below that of the best one, at 95 % for
            each level, where gains were worked out from noisy counts: Lemma 2 of the SuLQ paper. 0 if there
            is no noise, or nobody said.

    >>> import sulq
    >>> schema = sulq.Schema({"old": sulq.Boolean(), "plan": sulq.Category(["a", "b"], missing="a")})
    >>> root = Split(0, (End(0, (80.0, 20.0), 2.0), End(1, (0.0, 50.0), 2.0)))
    >>> tree = Tree(schema, None, sulq.col("plan"), (sulq.col("old"),), root)
    >>> print(tree.describe())
    old is false: a (100 rows, 80 % ± 3)
    old is true: b (50 rows, 100 % ± 8)
    >>> tree.predict({"old": [True, False]})
    array(['b', 'a'], dtype='<U1')
    >>> tree.predict_proba({"old": [True, False]}).round(2)
    array([[0.14, 0.86],
           [0.77, 0.23]])
    """

    wire = "tree"

    label: Node
    questions: tuple[Node, ...]
    root: Split | End
    gain_error: float = field(default=0.0, metadata={"written": "if stated"})

    @property
    def expression(self) -> Node:
        reached = self.route([end.label for end in self.ends], self._labels.size)
        return reached if self._categorical else Lookup(reached, ((0,), (1,)))

    @property
    def likelihood(self) -> Node | None:
        shares = self._shares
        if self._labels.size != 2:
            return None
        second = tuple((round(float(share[1]) * 2**GRID_BITS) / 2**GRID_BITS,) for share in shares)
        return Lookup(self.route(list(range(len(shares))), len(shares)), second)

    @property
    def ends(self) -> list[End]:
        """The tree's ends from left to right."""
        return list(ends_of(self.root))

    @property
    def values(self) -> tuple[str, ...] | tuple[bool, ...]:
        """What the label can be."""
        return self._labels.levels or () if self._categorical else (False, True)

    def route(self, codes: list[int], size: int) -> Route:
        """The code of the end that a row comes to, given one for each end.

        What makes no difference to the code is not asked.
        """
        left = iter(codes)

        def coded(node: Split | End) -> Split | int:
            if isinstance(node, End):
                return next(left)
            below = [coded(branch) for branch in node.branches]
            if len(set(below)) == 1 and isinstance(below[0], int):
                return below[0]
            return Split(node.question, tuple(End(b, ()) if isinstance(b, int) else b for b in below))

        way = coded(self.root)
        root, questions = only_asked(End(way, ()) if isinstance(way, int) else way, self.questions)
        steps: list[tuple[int, ...]] = []

        def add(node: Split | End) -> int:
            place = len(steps)
            steps.append((node.label,) if isinstance(node, End) else ())
            if isinstance(node, Split):
                steps[place] = (node.question, *[add(branch) for branch in node.branches])
            return place

        add(root)
        return Route(questions, tuple(steps), size)

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
    def accuracy(self) -> tuple[float, float]:
        """Which share of the rows has the label to expect, and about how far off that is by noise, at 95 %.

        The rows are those that the tree was learned from; of others it may be right less often.
        """
        return accuracy(self.ends)

    @property
    def headline(self) -> str:
        shown, about = self.pruned(), words(self.label)
        right = f"The label to expect is that of {pictures.rate(*self.accuracy)} of the rows."
        if isinstance(shown.root, End):
            return f"{about} is always {shown._said(shown.root)}, as no question made a difference. {right}"
        asked = dict.fromkeys(phrased(question, self.schema)[0] for question in shown.questions)
        return f"{about} is told by {enumerated(list(asked))}: {len(shown.ends)} kinds of rows. {right}"

    @property
    def doubts(self) -> tuple[str, ...]:
        ends = self.ends
        drowned = sum(end.drowned for end in ends)
        if not drowned:
            return ()
        return (f"{drowned} of {len(ends)} ends {'is' if drowned == 1 else 'are'} within the noise.",)

    def predict_proba(self, frame: Any) -> Floats:
        """The share of each label, in the order of `values`, among rows like each row of a frame.

        The shares at an end are drawn to those of the node above it: the more, the fewer rows and the more
        noise there are. They are positive, add up to 1, and the label to expect has the largest.

        Args:
            frame: the rows, which need no label.
        """
        shares = self._shares
        reached = self._values(self.route(list(range(len(shares))), len(shares)), frame)
        return np.asarray(np.array(shares)[reached])

    @property
    def _shares(self) -> list[Floats]:
        """The share of each label at each end, from left to right."""
        even = np.full(self._labels.size, 1 / self._labels.size)
        rows = max(0.0, float(together(self.root)[0].sum()))
        return [
            leading((rate * rows + even) / (rows + 1), end.label)  # what was never seen is not impossible
            for rate, end in zip(shares_below(self.root, even, even), self.ends, strict=True)
        ]

    def pruned(self) -> Tree:
        """The tree without the splits that tell nothing: all below expect one label, at rates that noise or
        chance could have made differ.

        >>> import sulq
        >>> schema = sulq.Schema({"old": sulq.Boolean(), "sick": sulq.Boolean()})
        >>> root = Split(0, (End(0, (80.0, 20.0), 2.0), End(0, (40.0, 11.0), 2.0)))
        >>> print(Tree(schema, None, sulq.col("sick"), (sulq.col("old"),), root).pruned().describe())
        always false (151 rows, 79 % ± 3)
        """
        root, questions = only_asked(pruned(self.root), self.questions)
        return replace(self, root=root, questions=questions)

    def describe(self, prune: bool = True) -> str:
        """What it says, for people.

        Args:
            prune: whether to leave out splits that tell nothing.
        """
        tree = self._shown(prune)
        return "\n".join(tree._lines(tree.root, ""))

    def picture(self, prune: bool = True) -> str:
        """What it says, as an SVG picture that stands on its own.

        Args:
            prune: whether to leave out splits that tell nothing.
        """
        tree = self._shown(prune)
        return pictures.picture(words(self.label), tree._drawn(tree.root), self._caption)

    def drawing(self, prune: bool = True) -> RenderableType:
        """What it says, for `rich.print` on a terminal.

        Args:
            prune: whether to leave out splits that tell nothing.
        """
        tree = self._shown(prune)
        return pictures.drawing(tree._drawn(tree.root))

    def _shown(self, prune: bool) -> Tree:
        return self.pruned() if prune else self

    def _check(self) -> None:
        labels = self._labels.size
        for end in self.ends:
            if len(end.counts) != labels or not 0 <= end.label < labels:
                raise QueryError(f"an end of this tree has {labels} counts, and one of {labels} labels")
            if not 0 <= end.noise < 1e100:
                raise QueryError(f"the noise of an end is a number from 0 to 1e100, not {end.noise!r}")
        super()._check()

    def _drawn(self, node: Split | End) -> pictures.Fork | pictures.Tip:
        if isinstance(node, End):
            return pictures.Tip(
                self._said(node), node.label, node.size, node.confidence, node.error, node.drowned
            )
        question = self.questions[node.question]
        subject, _, answers = phrased(question, self.schema)
        below = [self._drawn(branch) for branch in node.branches]
        return pictures.Fork(subject, tuple(zip(answers, below, strict=True)), isinstance(question, Bins))

    def _lines(self, node: Split | End, indent: str) -> Iterator[str]:
        if isinstance(node, End):
            yield f"always {self._verdict(node)}"
            return
        question = self.questions[node.question]
        subject, link, answers = phrased(question, self.schema)
        for value, branch in zip(answers, node.branches, strict=True):
            answer = f"{subject}{link}{value}"
            if isinstance(branch, End):
                yield f"{indent}{answer}: {self._verdict(branch)}"
            else:
                yield f"{indent}{answer}"
                yield from self._lines(branch, indent + "  ")

    def _verdict(self, end: End) -> str:
        rate = pictures.rate(end.confidence, end.error)
        noisy = f"; {pictures.DROWNED}" if end.drowned else ""
        return f"{self._said(end)} ({several(round(end.size), 'row', 'rows', 'd')}, {rate}{noisy})"

    def _said(self, end: End) -> str:
        value = self.values[end.label]
        return str(value).lower() if isinstance(value, bool) else value

    @property
    def _labels(self) -> Code:
        return scope_of(self.schema).code(self.label)

    @property
    def _categorical(self) -> bool:
        return isinstance(scope_of(self.schema).facts(self.label), Code)
