"""How the next questions of a tree are picked: by asking which is best, or by asking for all counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np

from sulq.learners.estimates import rarely_off, usually_off
from sulq.learners.growth import Draft, gain
from sulq.learners.levels import Levels
from sulq.queries.choose import Choice, Score, choose
from sulq.queries.codes import Cross
from sulq.queries.node import Node
from sulq.queries.query import Query, count
from sulq.talk.answers import Answer

SIZES = Fraction(1, 4)
"""How precisely the sizes of nodes are asked for beside a choice: they only decide whether to go on."""
WORTH = 0.5
"""How many times the noise the rows without the most frequent label must be for a node to be split: a split
gains no more than those rows."""

Picked = dict[int, Sequence[int]]
"""The questions picked for each node that is to be split."""


class Picking(Protocol):
    """What to ask about the open nodes of a draft, and what the answers pick for each of them."""

    def queries(self, draft: Draft, levels: Levels) -> Sequence[Query | Choice]: ...

    def picked(self, draft: Draft, levels: Levels, answers: Sequence[Answer]) -> Picked: ...


@dataclass(frozen=True)
class Choosing:
    """Asks only which questions predict the label best.

    Args:
        label: what is predicted.
        score: how well a question predicts it, where no label is frequent; see `choose`.
    """

    label: Node
    score: Score

    def queries(self, draft: Draft, levels: Levels) -> Sequence[Query | Choice]:
        by, score = draft.route(draft.open), levels.weights or self.score
        crossed = [_crossed([draft.questions[q] for q in together]) for together in _sets(draft, levels)]
        if levels.joint:
            return [choose([Cross((by, question)) for question in crossed], self.label, score=score)]
        sizes = [count(by=[by, self.label], weight=SIZES)] if levels.sized else []
        return [choose(crossed, self.label, by, score=score), *sizes]

    def picked(self, draft: Draft, levels: Levels, answers: Sequence[Answer]) -> Picked:
        """The questions chosen for every node that is worth splitting: the root, and all of unknown size."""
        sets = _sets(draft, levels)
        chosen = [sets[int(which)] for which in np.reshape(answers[0].value, -1)]
        if levels.joint:
            return dict.fromkeys(draft.open, chosen[0])
        worth = [True] * len(draft.open)
        if levels.sized and not levels.root:
            counts = np.asarray(answers[1].value)
            worth = (counts.sum(axis=1) - counts.max(axis=1) > WORTH * rarely_off(answers[1])).tolist()
        return {node: best for node, best, go in zip(draft.open, chosen, worth, strict=False) if go}


@dataclass(frozen=True)
class Counting:
    """Asks for the table of every question and the label, and picks the largest information gain.

    The gain is Σⱼ Nⱼ·(H(T) − H(Tⱼ)), which is the paper's sum of Nⱼₖ·log(Nⱼₖ/Nⱼ) but for a constant. The
    paper skips counts below N_T/γ, which is as small as the noise where N_T is as small as is allowed; here
    those below one standard deviation are skipped. A skipped value gains nothing: the paper's sum would take
    it for one that tells the label for sure, and prefer attributes of many rare values.

    Args:
        label: what is predicted.
    """

    label: Node

    def queries(self, draft: Draft, levels: Levels) -> Sequence[Query | Choice]:
        by = draft.route(draft.open)
        return [count(by=[by, question, self.label]) for question in draft.questions]

    def picked(self, draft: Draft, levels: Levels, answers: Sequence[Answer]) -> Picked:
        """The question with the largest gain for every open node, if it gains anything."""
        tables = [np.asarray(answer.value) for answer in answers]
        noise = max(rarely_off(answer) for answer in answers)
        deviation = max(usually_off(answer) for answer in answers)
        labels = np.mean([table.sum(axis=1) for table in tables], axis=0)
        picked: Picked = {}
        for code, node in enumerate(draft.open):
            counts, size = labels[code], labels[code].sum()
            if size <= 0 or (node and size - counts.max() <= WORTH * noise):
                continue
            gains = [
                -math.inf if question in draft.used(node) else gain(table[code], counts, deviation) / size
                for question, table in enumerate(tables)
            ]
            # Rounded, so that equal gains are equal in whatever order they were added up.
            best = int(np.argmax(np.round(gains, 9)))
            if round(gains[best], 9) > 0:
                picked[node] = (best,)
        return picked


def _sets(draft: Draft, levels: Levels) -> list[tuple[int, ...]]:
    """The sets of questions that the next choice compares."""
    if levels.joint:
        return [(question,) for question in draft.unknown]
    return list(combinations(range(len(draft.questions)), levels.turns[0]))


def _crossed(questions: Sequence[Node]) -> Node:
    return questions[0] if len(questions) == 1 else Cross(tuple(questions))
