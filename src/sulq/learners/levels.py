"""How the budget of a tree is divided over its levels, and when the tree stops growing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from sulq.learners.estimates import certainly, rarely_off, usually_off
from sulq.queries.node import Node
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class Way:
    """What a way of splitting goes with; tried out on a few tables.

    Args:
        picks: the part of the budget for growing the tree; the rest counts the labels at its ends.
        depth: how many questions lead to an end at most.
        bins: into how many intervals a number is cut.
        halvings: how often the distance to 0 is halved by further edges.
        again: for another round, there must be this many times as many rows without their node's most
            frequent label as there is noise in a count.
        joint: whether all nodes of a level choose one question together where noise would drown a node.
    """

    picks: Fraction
    depth: int
    bins: int
    halvings: int
    again: float
    joint: bool


WAYS = {
    "multiway": Way(picks=Fraction(2, 5), depth=4, bins=8, halvings=0, again=4, joint=False),
    # Yes-or-no questions make few and large ends. Those can do with less budget, and there are more rounds.
    "binary": Way(picks=Fraction(4, 5), depth=9, bins=16, halvings=10, again=1.5, joint=True),
}
MOST_ROUNDS = 2**20
PILOT = Fraction(1, 50)
"""The part of the budget that counts the labels before the first choice."""
RECOUNT = Fraction(2, 25)
"""The part that counts them again, if the first count does not say for sure that there are enough rows."""
ROWS_WEIGHT = Fraction(1, 10)
"""How precisely the number of rows is asked for beside the labels; where it is public, it costs nothing."""
ROOT = 5.0
"""There must be so many times as many rows as there is noise in the sum of the ends."""
ALONE = 2
"""How often rows must be left to be halved below the last level, so that each node chooses for itself."""
SEEN = 3
"""How many times rarer a label can be than another so that purity sees its rates change: the lowest of its
majorities changes at 1 : 3."""
HEAVY = 100
"""The most that a row of a rare label counts for."""
PILOTED = (1, 2)
"""How many questions each round picks where sets of three are too many: the first round picks one question,
for as little as will do, since the best one leads by many rows. The second picks a pair in each of its nodes,
for all that was saved."""
MOST_SETS, MOST_CELLS = 300, 2**21
"""How many sets of questions, and counts of them, a first choice compares if nobody says how many to pick."""


@dataclass(frozen=True)
class Levels:
    """What a tree may still ask: one round for each level, then one that counts the labels at the ends.

    Args:
        turns: how many questions each round to come picks at once.
        picks: what all these rounds may cost, as a share of the budget.
        ends: what is set aside for the last count, as a share.
        again: see `Way`.
        checked: whether choices also ask for the sizes of the nodes, which decide how many more there are.
        first: what the next choice costs, where a pilot found it out.
        root: whether the root is still to be split.
        joint: whether all nodes of a level choose one question together; before the pilot, whether they may.
        weights: how much a row of each label counts, where one label is frequent; see `sulq.choose`.

    >>> levels = Levels((1, 1), Fraction(2, 5), Fraction(3, 5), again=4, checked=False)
    >>> levels.share, levels.after([]).share, levels.after([]).after([]).rest
    (Fraction(1, 5), Fraction(1, 5), Fraction(3, 5))
    """

    turns: tuple[int, ...]
    picks: Fraction
    ends: Fraction
    again: float
    checked: bool
    first: Fraction | None = None
    root: bool = True
    joint: bool = False
    weights: tuple[int, ...] = ()

    @classmethod
    def divided(cls, share: Fraction, turns: tuple[int, ...], way: Way, choosing: bool) -> Levels:
        """The levels of a tree that may cost `share`, where a round picks by choosing or by counting."""
        picks = share * way.picks if turns else Fraction(0)
        joint = choosing and way.joint and sum(turns) == len(turns)
        return cls(turns, picks, share - picks, way.again, choosing and turns != PILOTED, joint=joint)

    def opened(self, label: Node, sizes: Sequence[int]) -> Rounds[Levels]:
        """Count the labels before the first choice: that says what a choice takes and how many there can be.

        Where the number of rows is not public, and noise hides whether they are enough, count once more.

        Args:
            label: what the tree is to tell.
            sizes: how many answers each question has.
        """
        if not self.turns:
            return self
        pilot = self.rest * PILOT
        labels, counted = yield Round([count(by=[label]), count(weight=ROWS_WEIGHT)], pilot)
        answers, plan = float(np.mean(sizes)), self._planned(labels, pilot, pilot)
        if counted.deviation == 0:
            return plan.rooted(answers, float(counted.value), labels, pilot)
        # Not public, and better known from the labels, which have more of the budget.
        if plan == plan.rooted(answers, certainly(labels), labels, pilot):
            return plan
        recount = self.rest * RECOUNT
        [labels] = yield Round([count(by=[label])], recount)
        plan = self._planned(labels, recount, pilot + recount)
        return plan.rooted(answers, certainly(labels), labels, recount)

    def _planned(self, labels: Answer, pilot: Fraction, spent: Fraction) -> Levels:
        """What the choices may cost and how many there can be, so that noise does not drown them.

        Args:
            labels: how many rows have each label.
            pilot: what this count of them cost, as a share.
            spent: what all counts of them cost.
        """
        picks, weights = self.picks - spent, weights_of(labels)
        if self.turns == PILOTED:
            first = min(picks, pilot * needed(labels, self.again))
            turns = self.turns if picks >= first * sum(self.turns) else self.turns[:1]
            return replace(self, turns=turns, picks=picks, first=first, weights=weights)
        halvings = halved(labels, picks / pilot) if self.joint else math.inf
        if halvings >= len(self.turns) + ALONE:
            return replace(self, picks=picks, weights=weights, joint=False)
        fewer = self.turns[: max(1, math.floor(halvings))]
        return replace(self, turns=fewer, picks=picks, weights=weights, checked=False)

    def rooted(self, answers: float, rows: float, labels: Answer, pilot: Fraction) -> Levels:
        """No more levels than leave the most frequent label of all rows certain: the root of what ends say.

        It is the one with the largest sum over all ends, where the noise of all of them adds up. If there can
        be one question only, a third of the budget counts the ends. If there can be none, all of it does.

        Args:
            answers: how many answers a question has on average.
            rows: how many rows there are.
            labels: how many rows have each label.
            pilot: what this count of them cost, as a share.
        """
        power, off = float(labels.law.power), float(np.max(labels.deviation))
        for plan in self._plans:
            ends = answers ** sum(plan.turns if self.joint or plan.turns == PILOTED else plan.turns[:1])
            if rows >= ROOT * off * float(pilot / plan.ends) ** power * math.sqrt(2 * ends):
                return plan
        return replace(self, turns=(), picks=Fraction(0), ends=self.rest)

    @property
    def _plans(self) -> list[Levels]:
        """These levels, fewer of them where each is a round of one question, and one question alone."""
        lengths = range(len(self.turns), 1, -1) if self.joint else [len(self.turns)]
        one = replace(self, turns=(1,), picks=self.rest * 2 / 3, ends=self.rest / 3, first=None)
        return [*(replace(self, turns=self.turns[:many]) for many in lengths), one]

    @property
    def share(self) -> Fraction:
        """What the next choice may cost: as large a part as it picks questions."""
        return self.first or self.picks * self.turns[0] / sum(self.turns)

    @property
    def sized(self) -> bool:
        """Whether the next choice also asks for the sizes of nodes: they decide whether to go on."""
        return self.checked and (len(self.turns) > 1 or not self.root)

    @property
    def rest(self) -> Fraction:
        """What the count at the ends may cost: all that is left."""
        return self.ends + self.picks

    def after(self, answers: Sequence[Answer]) -> Levels:
        """The levels after a choice, of which there are no more than noise leaves sense in."""
        turns, picks = self.turns[1:], self.picks - self.share
        if turns and self.sized:
            turns = turns[: affordable(answers[-1], picks / self.share, self.again)]
        return replace(self, turns=turns, picks=picks, first=None, root=False)


def turns_of(
    sizes: Sequence[int], labels: int, way: Way, depth: int | None, ahead: int | None
) -> tuple[int, ...]:
    """How many questions each round of choices picks at once.

    Args:
        sizes: how many answers each question has.
        labels: how many labels there are.
        way: how questions split.
        depth: how many questions lead to an end at most; None for as many as the way says.
        ahead: how many questions the first round picks; None for as many as can be compared.
    """
    most = min(len(sizes), way.depth if depth is None else depth)
    if labels < 2 or not most:
        return ()
    first = (min(most, ahead),) if ahead else _compared(sizes, labels, most, depth in (None, sum(PILOTED)))
    return first if first == PILOTED else first + (1,) * (most - sum(first))


def _compared(sizes: Sequence[int], labels: int, depth: int, pilot: bool) -> tuple[int, ...]:
    """How many questions to pick first, if as many as can be compared; two rounds of them with a pilot."""
    starts: list[tuple[int, ...]] = [(3,), *([PILOTED] if pilot else []), (2,)]
    fitting = (start for start in starts if sum(start) <= depth and not _too_many(sizes, start, labels))
    return next(fitting, (1,))


def _too_many(sizes: Sequence[int], turns: Sequence[int], labels: int) -> bool:
    """Whether the last of these choices has too much to compare, in as many nodes as there may be by then."""
    *before, together = turns
    if math.comb(len(sizes), together) > MOST_SETS:
        return True
    cells = labels * max(sizes) ** sum(before)
    return bool(cells * sum(math.prod(crossed) for crossed in combinations(sizes, together)) > MOST_CELLS)


def affordable(sizes: Answer, shares: Fraction, again: float) -> int:
    """How many more rounds there can be.

    Noise is inverse to a round's share. There should be no more of it in a round than leaves `again` times as
    many rows without their node's most frequent label, of which a split can gain some.

    Args:
        sizes: how many rows have each label, in each node.
        shares: how many times the share of the round that counted them is left for more rounds.
        again: see `Way`.
    """
    counts = np.asarray(sizes.value)
    rows = max(0.0, float((counts.sum(axis=1) - counts.max(axis=1)).sum()))
    noise = rarely_off(sizes)
    return MOST_ROUNDS if noise == 0 else math.floor(rows * float(shares) / (again * noise))


def halved(labels: Answer, shares: Fraction) -> float:
    """How often rows without the most frequent label can be halved until they are as few as there is noise.

    Args:
        labels: how many rows have each label.
        shares: the noise is that of a count at this many times the share of this one.
    """
    counts, noise = np.asarray(labels.value), rarely_off(labels)
    rows = max(1.0, float(counts.sum() - counts.max()))
    return math.log2(rows / noise) + float(labels.law.power) * math.log2(shares) if noise > 0 else math.inf


def weights_of(labels: Answer) -> tuple[int, ...]:
    """How much a row of each label counts in a choice if one label is frequent; else nothing.

    A label that purity just sees counts as much as the frequent one. From there on its weight grows with the
    square of how much rarer it is, up to where all its rows count as much as all rows of the frequent label.
    A label is taken for as frequent as it may be, given the noise.

    Args:
        labels: how many rows have each label.
    """
    counts, noise = np.ravel(labels.value), usually_off(labels)
    largest = float(counts.max())
    others = np.delete(counts, counts.argmax()).clip(0)
    if largest <= 0 or round(_weight(largest / (float(others.sum()) + 2 * noise + 1))) <= 1:
        return ()
    weights = _weight(largest / np.maximum(counts, noise + 1))
    return tuple(int(weight) for weight in np.clip(np.rint(weights), 1, HEAVY))


def _weight(rarer: Any) -> Any:
    return np.minimum(rarer, (rarer / SEEN) ** 2)


def needed(labels: Answer, again: float) -> Fraction:
    """How many times the budget of a count of the labels a choice needs for `again` times its noise in rows.

    The rows are those without the most frequent label. Laplace noise is inverse to a share; Gaussian noise,
    and that of a crowd, to its square root: the law of the answer says it.
    """
    counts, noise = np.asarray(labels.value), rarely_off(labels)
    rows = max(1.0, float(counts.sum() - counts.max()))
    if noise == 0:
        return Fraction(1)
    return Fraction(max(1.0, again * noise / rows) ** float(1 / labels.law.power)).limit_denominator(1000)
