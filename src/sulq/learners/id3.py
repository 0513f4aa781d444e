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
from sulq.hypotheses.tree import Tree
from sulq.learners.growth import SPREAD, Draft, gain
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import attribute
from sulq.queries.choose import Score, choose
from sulq.queries.codes import Bins, Cross
from sulq.queries.expressions import Column, Compare, Constant, Node
from sulq.queries.facts import Code
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.schema import Boolean, Category, Integer, Kind, Real, Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

AMOUNT = 1000
"""A number from 0 to this or more is taken for an amount, as of money: small ones are many, large few."""


@dataclass(frozen=True)
class Way:
    """What a way of splitting goes with; tried out on a few tables.

    `picks`: the part of the budget that growing the tree takes; the rest counts the labels at its ends.
    `depth`: how many questions lead to an end at most. `bins`: into how many intervals a number is cut.
    `again`: how many times the noise the rows without their node's most frequent label must be for there to
    be another round.
    """

    picks: Fraction
    depth: int
    bins: int
    again: float


WAYS = {
    "multiway": Way(picks=Fraction(2, 5), depth=4, bins=8, again=4),
    # Yes-or-no questions make few and large ends, which can do with less budget, of more rounds.
    "binary": Way(picks=Fraction(4, 5), depth=9, bins=16, again=1.5),
}
SIZES = Fraction(1, 4)
"""How precisely the sizes of nodes are asked for beside a choice: they only decide whether to go on."""
WORTH = 0.5
"""How many times the noise the rows without the most frequent label must be for a node to be split: a split
gains no more than those rows."""
MOST_QUESTIONS = 2**20
RARE = 1e-4
"""The chance that one count is further off than what is called its noise here."""
PILOT = Fraction(1, 50)
"""The part of the budget that counts the labels, where that decides what the first choice takes."""
PILOTED = [1, 2]
"""How many questions are picked at once where sets of three are too many: one for as little as will do, since
it leads by many rows, and then a pair in each of its nodes for all that saved."""
MOST_SETS, MOST_CELLS = 300, 2**21
"""How many sets of questions, and counts of them, a first choice may compare unless it is told to."""


@dataclass(frozen=True)
class ID3(Learner[Tree]):
    """Learns a decision tree: section 4.4 of the SuLQ paper.

    The nodes of a level are disjoint sets of rows, so one round asks about all of them at the cost of one.

    `label`: a boolean or category column, or an expression like it. `features`: the columns to ask about, by
    default all but the label. `depth`: how many questions lead to an end at most, by default 4 or 9, as they
    are split; fewer where noise would drown them. `pick`: how a question is picked. "choose" asks only which
    one predicts the label best; "counts" asks for the table of every attribute and the label, as the paper
    does, and works out the information gain. `split`: "multiway" questions have a branch for each value, as
    in the paper; "binary" ones ask whether a category has one value, or a number is below one edge. By
    default "binary" where there are numbers to ask about and questions are chosen. `ahead`: how many
    questions the first choice picks together, because a question may change no majority by itself and many
    with the next; by default three if they are multiway or, where there are too many sets of three, one and
    then a pair in each of its nodes, and no more.
    `bins`: public edges for numbers, by column; by default from the schema's bounds. `prune`:
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
    depth: int | None = None
    pick: Literal["choose", "counts"] = "choose"
    split: Literal["multiway", "binary"] | None = None
    ahead: int | None = None
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    prune: float = 0.5
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Tree]:
        label, questions, way = self._label(schema), self.questions(schema), self._way(schema)
        labels = Scope(schema).code(label).size
        left = rational("share", self.share, most=1)
        draft = Draft(Scope(schema), questions)
        turns = self._turns(draft.sizes, labels, way)
        picks = left * WAYS[way].picks if turns else Fraction(0)
        piloted = turns == PILOTED and self.pick == "choose"
        if piloted:
            pilot = left * PILOT
            left, picks = left - pilot, picks - pilot
            [answer] = yield Round([count(by=[label])], pilot)
            first = min(picks, pilot * _needed(answer, WAYS[way].again))
            turns = turns if picks >= first * sum(turns) else turns[:1]
        while turns and draft.open:
            several, *turns = turns
            each = picks * several / (several + sum(turns))  # by how many questions are picked
            if piloted and draft.open == [0]:
                each = first
            left, picks = left - each, picks - each
            by = draft.route(draft.open)
            sets = list(combinations(range(len(questions)), several))
            if self.pick == "choose":
                score: Score = "purity" if way == "binary" else "majority"
                crossed = [_crossed([questions[q] for q in own]) for own in sets]
                sized = not piloted and (turns or draft.open != [0])
                sizes = [count(by=[by, label], weight=SIZES)] if sized else []
                answers = yield Round([choose(crossed, label, by, score=score), *sizes], each)
                draft.grow(_chosen(draft, sets, answers))
                if turns and sized:
                    turns = turns[: _affordable(answers[1], picks / each, WAYS[way].again)]
            else:
                answers = yield Round([count(by=[by, question, label]) for question in questions], each)
                draft.grow(_gaining(draft, answers))
        ends = draft.ends
        [answer] = yield Round([count(by=[draft.route(ends), label])], left)
        table = np.reshape(answer.value, (-1, labels))
        return draft.tree(schema, label, dict(zip(ends, table, strict=True)), _noise(answer), self.prune)

    def _turns(self, sizes: Sequence[int], labels: int, way: str) -> list[int]:
        """How many questions each round of choices picks at once."""
        depth = min(len(sizes), WAYS[way].depth if self.depth is None else self.depth)
        if labels < 2 or not depth:
            return []
        if self.pick == "counts":
            return [1] * depth
        if self.ahead or way == "binary":
            first = [min(depth, self.ahead or 1)]
        else:
            piloted = [PILOTED] if self.depth in (None, sum(PILOTED)) else []
            starts = [own for own in ([3], *piloted, [2]) if sum(own) <= depth]
            first = next((own for own in starts if not _too_many(sizes, own, labels)), [1])
        return first if first == PILOTED else first + [1] * (depth - sum(first))

    def questions(self, schema: Schema) -> list[Node]:
        """What the tree may ask of a row."""
        names = self._features(schema)
        for name in self.bins:
            if name not in names or not isinstance(schema[name], Integer | Real):
                raise QueryError(f"bins are for features that are numbers, and {name!r} is none")
        way = self._way(schema)
        return [question for name in names for question in self._about(name, schema[name], way)]

    def _features(self, schema: Schema) -> Sequence[str]:
        """The columns to ask about, or a refusal."""
        label = {leaf.name for leaf in self._label(schema).leaves().values()}
        if self.features is None:
            return [name for name in schema.attributes if name not in label]
        if isinstance(self.features, str):
            raise QueryError(f"features is a list of columns: [{self.features!r}]")
        if len(set(self.features)) < len(self.features):
            raise QueryError("a feature is named twice")
        for name in self.features:
            schema.attribute(name)
            if name in label:
                raise QueryError(f"the label is made of column {name!r}, which cannot be a feature too")
        return self.features

    def _way(self, schema: Schema) -> str:
        """How to split: what is public decides it."""
        numbers = any(isinstance(schema[name], Integer | Real) for name in self._features(schema))
        return self.split or ("binary" if numbers and self.pick == "choose" else "multiway")

    def _about(self, name: str, kind: Kind, way: str) -> list[Node]:
        column = Column(name)
        if isinstance(kind, Boolean):
            return [column]
        if isinstance(kind, Category):
            if way == "multiway":
                return [column]
            return [Compare("==", column, Constant(level)) for level in kind.levels]
        edges = self.bins.get(name) or _edges(kind, WAYS[way].bins)
        cut = [Bins(column, tuple(edges))] if edges else []
        return [Compare("<", column, Constant(edge)) for edge in edges] if way == "binary" else list(cut)

    def _label(self, schema: Schema) -> Node:
        label = attribute(schema, self.label)
        facts = Scope(schema).facts(label)
        if not isinstance(facts, Code) and not facts.flag:
            raise QueryError(
                f"{label.described()} is a number: a tree needs a label with few values, use bins"
            )
        if not self.prune >= 0:
            raise QueryError(f"prune must not be negative, and is {self.prune!r}")
        depth = 0 if self.depth is None else self.depth
        if not isinstance(depth, int) or depth < 0 or (self.ahead is not None and self.ahead < 1):
            raise QueryError("depth must be a whole number from 0, and ahead one from 1")
        if self.pick not in ("choose", "counts") or self.split not in ("multiway", "binary", None):
            raise QueryError('pick is "choose" or "counts", and split is "multiway" or "binary"')
        return label


def _crossed(questions: Sequence[Node]) -> Node:
    return questions[0] if len(questions) == 1 else Cross(tuple(questions))


def _too_many(sizes: Sequence[int], turns: Sequence[int], labels: int) -> bool:
    """Whether the last of these choices has too much to compare, in as many nodes as there may be by then."""
    *before, ahead = turns
    if math.comb(len(sizes), ahead) > MOST_SETS:
        return True
    cells = labels * max(sizes) ** sum(before)
    return bool(cells * sum(math.prod(own) for own in combinations(sizes, ahead)) > MOST_CELLS)


def _affordable(sizes: Answer, shares: Fraction, again: float) -> int:
    """How many more rounds there can be, if the rest of their budget is so many times that of this one.

    Noise is inverse to a round's share. There should be no more of it in a round than leaves `again` times as
    many rows without their node's most frequent label, of which a split can gain some.
    """
    counts = np.asarray(sizes.value)
    rows = max(0.0, float((counts.sum(axis=1) - counts.max(axis=1)).sum()))
    noise = _noise(sizes)
    return MOST_QUESTIONS if noise == 0 else math.floor(rows * float(shares) / (again * noise))


def _needed(labels: Answer, again: float) -> Fraction:
    """How many times the budget of this count a choice needs for `again` times as many rows as noise.

    The rows are those without the most frequent label. Laplace noise is inverse to a share; Gaussian noise,
    and that of a crowd, to its square root: the law of the answer says it.
    """
    counts, noise = np.asarray(labels.value), _noise(labels)
    rows = max(1.0, float(counts.sum() - counts.max()))
    if noise == 0:
        return Fraction(1)
    return Fraction(max(1.0, again * noise / rows) ** float(1 / labels.law.power)).limit_denominator(1000)


def _minority(sizes: Answer, least: float) -> NDArray[np.bool_]:
    """Where more rows than noise have not the most frequent label: no split can gain more than those."""
    counts = np.asarray(sizes.value)
    return np.asarray(counts.sum(axis=1) - counts.max(axis=1) > least * _noise(sizes))


def _chosen(
    draft: Draft, sets: Sequence[Sequence[int]], answers: Sequence[Answer]
) -> dict[int, Sequence[int]]:
    """The questions chosen for every open node that is worth splitting: the root, and all of unknown size."""
    chosen = [sets[int(which)] for which in np.reshape(answers[0].value, -1)]
    known = len(answers) > 1 and draft.open != [0]
    worth = _minority(answers[1], WORTH).tolist() if known else [True] * len(draft.open)
    return {node: own for node, own, go in zip(draft.open, chosen, worth, strict=False) if go}


def _gaining(draft: Draft, answers: Sequence[Answer]) -> dict[int, Sequence[int]]:
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
            -math.inf if question in draft.used(node) else gain(table[code], counts, SPREAD * noise) / size
            for question, table in enumerate(tables)
        ]
        # Rounded, so that equal gains are equal in whatever order they were added up.
        best = int(np.argmax(np.round(gains, 9)))
        if round(gains[best], 9) > 0:
            picked[node] = (best,)
    return picked


def _noise(answer: Answer) -> float:
    """How far off a single count is, but for a rare chance: the noise's scale times a constant."""
    return float(answer.law.each(RARE))


def _edges(kind: Integer | Real, bins: int) -> list[float]:
    """Public edges from the bounds alone: halves of halves for an amount, else intervals of equal width."""
    low, high = kind.low, kind.high
    if isinstance(kind, Integer) and high - low < bins:
        return [float(edge) for edge in range(int(low) + 1, int(high) + 1)]
    if low == 0 and high >= AMOUNT:
        return [high / 2**halvings for halvings in range(bins - 1, 0, -1)]
    return [low + (high - low) * i / bins for i in range(1, bins)] if high > low else []
