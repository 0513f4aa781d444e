"""ID3: decision trees grown from the root, one round of questions for each level."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.learners.learner import Learner, Rounds
from sulq.learners.tree import End, Split, Tree
from sulq.oracles.answers import Answer
from sulq.queries.choose import choose
from sulq.queries.codes import Bins, Cross
from sulq.queries.expressions import Column, Compare, Constant, Node
from sulq.queries.facts import Code
from sulq.queries.query import Exact, count, rational
from sulq.queries.rounds import Round
from sulq.queries.routes import Route
from sulq.queries.scope import Scope
from sulq.schema import Boolean, Category, Integer, Kind, Real, Schema

Counts = NDArray[np.float64]

BINS = 8
AMOUNT = 1000
"""A number from 0 to this or more is taken for an amount, as of money: small ones are many, large few."""
PICKS = Fraction(1, 2)
"""The part of the budget that growing the tree takes; the rest counts the labels at its ends.

Counts at the ends decide every label, and choices are cheap, so neither can do with little. On census data
of 32,561 rows the medians for 1/4, 3/8 and 1/2 differ by less than 0.003 at ε = 0.5 to 10; at ε = 0.1 the
half did best, within the spread of the runs.
"""
SIZES = Fraction(1, 4)
"""How precisely the sizes of nodes are asked for beside a choice: they only decide whether to go on."""
WORTH, AGAIN = 0.5, 4
"""How many times the noise the rows without the most frequent label must be for a node to be split, and in
the whole for there to be a second choice at all. A split gains no more than those rows."""
RARE = 1e-4
"""The chance that one count is further off than what is called its noise here."""
SPREAD = 1 / 6
"""One standard deviation as part of that, about: √2/9.2 for Laplace noise, 1/3.9 for Gaussian noise."""
MOST_SETS, MOST_CELLS = 300, 2**21
"""How many sets of questions, and counts of them, a first choice may compare unless it is told to."""


@dataclass(frozen=True)
class ID3(Learner[Tree]):
    """Learns a decision tree: section 4.4 of the SuLQ paper.

    The nodes of a level are disjoint sets of rows, so one round asks about all of them at the cost of one.

    `label`: a boolean or category column, or an expression like it. `features`: the columns to ask about, by
    default all but the label. `depth`: how many questions lead to an end at most. `pick`: how a question is
    picked. "choose" asks only which one predicts the label best; "counts" asks for the table of every
    attribute and the label, as the paper does, and works out the information gain. `split`: "multiway"
    questions have a branch for each value; "binary" ones ask whether a category has one value, or a number
    is below one edge. `ahead`: how many questions the first choice picks together, because a question may
    change no majority by itself and many with the next; by default up to three, if there are not too many
    sets of them. `bins`: public edges for numbers, by column; by default from the schema's bounds. `prune`:
    how many standard deviations a label must lead by to displace that of the node above; 0 prunes only what
    makes no difference. `share`: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"a": [1, 1, 0, 0] * 9, "b": [1, 0, 1, 0] * 9, "y": [1, 0, 0, 0] * 9}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> print(ID3(label="y").learn(people.exact()).describe())
    a is false: false (18 rows, 100 %)
    a is true
      b is false: false (9 rows, 100 %)
      b is true: true (9 rows, 100 %)
    """

    label: str | Node
    features: Sequence[str] | None = None
    depth: int = 4
    pick: Literal["choose", "counts"] = "choose"
    split: Literal["multiway", "binary"] = "multiway"
    ahead: int | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    prune: float = 0.75
    share: Exact = 1

    def rounds(self, schema: Schema) -> Rounds[Tree]:
        label, questions = self._label(schema), self.questions(schema)
        labels = Scope(schema).code(label).size
        left = rational("share", self.share, most=1)
        draft = _Draft(Scope(schema), questions)
        turns = self._turns(draft.sizes, labels)
        each = left * PICKS / max(1, len(turns))
        for turn, several in enumerate(turns):
            if not draft.open:
                break
            by = draft.route(draft.open)
            sets = list(combinations(range(len(questions)), several))
            if self.pick == "choose":
                best = choose([_crossed([questions[q] for q in own]) for own in sets], label, by)
                sizes = [count(by=[by, label], weight=SIZES)] if len(turns) > 1 else []
                answers = yield Round([best, *sizes], each)
                draft.grow(_chosen(draft, sets, answers))
            else:
                answers = yield Round([count(by=[by, question, label]) for question in questions], each)
                draft.grow(_gaining(draft, answers))
            left -= each
            if turn == 0 and self.pick == "choose" and sizes and not _minority(answers[1], AGAIN)[0]:
                break
        ends = draft.ends
        [answer] = yield Round([count(by=[draft.route(ends), label])], left)
        table = np.reshape(answer.value, (-1, labels))
        return draft.tree(schema, label, dict(zip(ends, table, strict=True)), _noise(answer), self.prune)

    def _turns(self, sizes: Sequence[int], labels: int) -> list[int]:
        """How many questions each round of choices picks at once."""
        if labels < 2 or not sizes or not self.depth:
            return []
        if self.pick == "counts":
            return [1] * min(self.depth, len(sizes))
        ahead = min(self.depth, len(sizes), self.ahead or 3)
        while self.ahead is None and ahead > 1 and _too_many(sizes, ahead, labels):
            ahead -= 1
        # A pair of yes-or-no questions has four ends, so it can be looked for again and again.
        next_ = ahead if self.split == "binary" else 1
        left = min(self.depth, len(sizes)) - ahead
        return [ahead, *[min(next_, left - done) for done in range(0, left, next_)]]

    def questions(self, schema: Schema) -> list[Node]:
        """What the tree may ask of a row."""
        label = self._label(schema)
        columns = {leaf.name for leaf in label.leaves().values()}
        names = [name for name in schema if name not in columns] if self.features is None else self.features
        if isinstance(names, str):
            raise QueryError(f"features is a list of columns: [{names!r}]")
        if len(set(names)) < len(names):
            raise QueryError("a feature is named twice")
        for name in names:
            if name in columns:
                raise QueryError(f"the label is made of column {name!r}, which cannot be a feature too")
        for name in self.bins:
            if name not in names or not isinstance(schema[name], Integer | Real):
                raise QueryError(f"bins are for features that are numbers, and {name!r} is none")
        return [question for name in names for question in self._about(name, schema[name])]

    def _about(self, name: str, kind: Kind) -> list[Node]:
        column = Column(name)
        if isinstance(kind, Boolean):
            return [column]
        if isinstance(kind, Category):
            if self.split == "multiway":
                return [column]
            return [Compare("==", column, Constant(level)) for level in kind.levels]
        edges = self.bins.get(name) or _edges(kind)
        if self.split == "binary":
            return [Compare("<", column, Constant(edge)) for edge in edges]
        return [Bins(column, tuple(edges))] if edges else []

    def _label(self, schema: Schema) -> Node:
        label = Column(self.label) if isinstance(self.label, str) else self.label
        facts = Scope(schema).facts(label)
        if not isinstance(facts, Code) and not facts.flag:
            raise QueryError(
                f"{label.described()} is a number: a tree needs a label with few values, use bins"
            )
        if not self.prune >= 0:
            raise QueryError(f"prune must not be negative, and is {self.prune!r}")
        if not isinstance(self.depth, int) or self.depth < 0 or (self.ahead is not None and self.ahead < 1):
            raise QueryError("depth must be a whole number from 0, and ahead one from 1")
        if self.pick not in ("choose", "counts") or self.split not in ("multiway", "binary"):
            raise QueryError('pick is "choose" or "counts", and split is "multiway" or "binary"')
        return label


class _Draft:
    """A tree that is still growing: nodes by number, the root first, children after their parents."""

    def __init__(self, scope: Scope, questions: Sequence[Node]) -> None:
        self.questions = questions
        self.open = [0]
        """The nodes that may still be split."""
        self.sizes = [scope.code(question).size for question in questions]
        self._asked: list[int | None] = [None]
        self._children: list[list[int]] = [[]]
        self._used: list[frozenset[int]] = [frozenset()]
        self._together: list[tuple[int, list[int], list[int]]] = []
        """Nodes, the questions that were picked together for each, and the nodes those lead to."""

    @property
    def ends(self) -> list[int]:
        return [node for node, question in enumerate(self._asked) if question is None]

    def used(self, node: int) -> frozenset[int]:
        """The questions that were asked on the way to a node."""
        return self._used[node]

    def grow(self, picked: Mapping[int, Sequence[int]]) -> None:
        """Split nodes by the questions picked for them; the others that were open are ends."""
        self.open = []
        for node, questions in picked.items():
            # Below itself a question has one answer only, and would tell nothing.
            asked = [question for question in questions if question not in self._used[node]]
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
        self._used += [self._used[node] | {question}] * len(children)
        return children

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
                gains.append(_gain(table.sum(axis=others), sums[node], 0.0))
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


def _summed(table: Mapping[int, Counts], children: Sequence[Sequence[int]]) -> dict[int, Counts]:
    """What is known of the ends, and for every other node the sum of what is known below it."""
    sums = dict(table)

    def add(node: int) -> Counts:
        if node not in sums:
            sums[node] = np.sum([add(child) for child in children[node]], axis=0)
        return sums[node]

    add(0)
    return sums


def _crossed(questions: Sequence[Node]) -> Node:
    return questions[0] if len(questions) == 1 else Cross(tuple(questions))


def _too_many(sizes: Sequence[int], ahead: int, labels: int) -> bool:
    if math.comb(len(sizes), ahead) > MOST_SETS:
        return True
    return labels * sum(math.prod(own) for own in combinations(sizes, ahead)) > MOST_CELLS


def _minority(sizes: Answer, least: float) -> NDArray[np.bool_]:
    """Where more rows than noise have not the most frequent label: no split can gain more than those."""
    counts = np.asarray(sizes.value)
    return np.asarray(counts.sum(axis=1) - counts.max(axis=1) > least * _noise(sizes))


def _chosen(
    draft: _Draft, sets: Sequence[Sequence[int]], answers: Sequence[Answer]
) -> dict[int, Sequence[int]]:
    """The questions chosen for every open node that is worth splitting; the root always is."""
    chosen = [sets[int(which)] for which in np.reshape(answers[0].value, -1)]
    worth = [True] if draft.open == [0] else _minority(answers[1], WORTH).tolist()
    return {node: own for node, own, go in zip(draft.open, chosen, worth, strict=False) if go}


def _gaining(draft: _Draft, answers: Sequence[Answer]) -> dict[int, Sequence[int]]:
    """The question with the largest information gain for every open node, if it gains anything.

    The gain is Σⱼ Nⱼ·(H(T) − H(Tⱼ)), which is the paper's sum of Nⱼₖ·log(Nⱼₖ/Nⱼ) but for a constant. The
    paper skips counts below N_T/γ, which is as small as the noise where N_T is as small as is allowed; here
    those below one standard deviation are skipped. A skipped value gains nothing: the paper's sum would take
    it for one that tells the label for sure, and prefer attributes of many rare values.
    """
    tables = [np.asarray(answer.value) for answer in answers]
    noise = max(_noise(answer) for answer in answers)
    whole = np.mean([table.sum(axis=1) for table in tables], axis=0)
    picked: dict[int, Sequence[int]] = {}
    for code, node in enumerate(draft.open):
        counts, size = whole[code], whole[code].sum()
        if size <= 0 or (node and size - counts.max() <= WORTH * noise):
            continue
        gains = [
            -math.inf if question in draft.used(node) else _gain(table[code], counts, SPREAD * noise) / size
            for question, table in enumerate(tables)
        ]
        # Rounded, so that equal gains are equal in whatever order they were added up.
        best = int(np.argmax(np.round(gains, 9)))
        if round(gains[best], 9) > 0:
            picked[node] = (best,)
    return picked


def _gain(table: Counts, counts: Counts, noise: float) -> float:
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


def _noise(answer: Answer) -> float:
    """How far off a single count is, but for a rare chance: the noise's scale times a constant."""
    together = -math.expm1(np.size(answer.value) * math.log1p(-RARE))
    return float(answer.radius(min(together, 1 - 2.0**-50)))


def _edges(kind: Integer | Real) -> list[float]:
    """Public edges from the bounds alone: halves of halves for an amount, else intervals of equal width."""
    low, high = kind.low, kind.high
    if isinstance(kind, Integer) and high - low < BINS:
        return [float(edge) for edge in range(int(low) + 1, int(high) + 1)]
    if low == 0 and high >= AMOUNT:
        return [high / 2**halvings for halvings in range(BINS - 1, 0, -1)]
    return [low + (high - low) * i / BINS for i in range(1, BINS)] if high > low else []


def _asked(node: Split | End) -> set[int]:
    if isinstance(node, End):
        return set()
    return {node.question}.union(*map(_asked, node.branches))


def _renumbered(node: Split | End, place: Mapping[int, int]) -> Split | End:
    if isinstance(node, End):
        return node
    return Split(place[node.question], tuple(_renumbered(branch, place) for branch in node.branches))
