"""Conjunctions of few conditions on columns of every kind.

A feature sorts the rows into few parts: a number's bins, a category's values, true and false. A condition on
it, or several, keep a pattern of these parts. So a conjunction is a pattern for each of some features, and no
two that are listed are the same function of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.base import HypothesisClass, Look, Setting
from sulq.classes.boolean import choice_size, missed
from sulq.classes.grids import Stumps
from sulq.classes.transforms import Integers
from sulq.errors import QueryError
from sulq.hypotheses.rules import Rule, Selected
from sulq.numbers import whole
from sulq.privacy.gf2 import Bits
from sulq.queries.arithmetic import Compare, Not
from sulq.queries.attributes import Edges, check_numbers, condition, features_beside
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column
from sulq.queries.node import Node

LONGEST = 64
"""Longer conjunctions are too many in any case."""
MOST_PATTERNS = 2**13
"""Of one feature."""
AT_ONCE = 2**24
"""How many truth values are summed at once; of at most 2^16 rows, so that float32 is exact."""


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Some parts of a feature, as bits of a number, and the conditions that keep just these."""

    parts: int
    literals: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class _Feature:
    """A feature as a number from 0, its parts, and its patterns."""

    choice: Node
    parts: int
    patterns: tuple[_Pattern, ...]


@dataclass(frozen=True, eq=False)
class SmallConjunctions(HypothesisClass):
    """All conjunctions of at most `most` conditions.

    Args:
        most: how many conditions a conjunction has at most.
        features: columns, whose conditions are the questions of `Stumps`, or expressions that are true or
            false; by default all columns that the label is not made of.
        negations: the opposites of these conditions too, so that two of them make an interval of a number.
        opposites: the opposites of the conjunctions too, as "not (a and b)".
        bins: as for `Stumps`.
        edges: as for `Stumps`.

    >>> import sulq
    >>> columns = {"age": sulq.Integer(0, 120), "plan": sulq.Category(["free", "paid"]), "y": sulq.Boolean()}
    >>> setting = Setting(sulq.Schema(columns), sulq.col("y"))
    >>> small = SmallConjunctions(2, edges={"age": [18, 65]})
    >>> small.size(setting), [small.hypothesis(i, setting).describe() for i in (0, 1, 2, 8)]
    (36, ['always', 'age >= 18', 'age >= 18 and plan == free', 'age >= 65'])
    """

    wire = "small conjunctions"

    most: int = 2
    features: Sequence[str | Node] | None = None
    negations: bool = True
    opposites: bool = False
    bins: int = 16
    edges: Mapping[str, Edges] = field(default_factory=dict)

    def size(self, setting: Setting) -> int:
        features = self._features(setting)
        number = _numbers(features, self.most)[0][self.most]
        return 2 * number - len(_redundant(features, self.most)) if self.opposites else number

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        features = self._features(setting)
        sums = _Sums(features, self.most, np.int32 if len(labels) < 2**31 else np.int64)
        codes = [look(feature.choice) for feature in features]
        for start in range(0, len(labels), sums.rows):
            block = slice(start, start + sums.rows)
            sums.add([code[block] for code in codes], labels[block])
        wrong = missed(sums.balances, labels)
        if self.opposites:
            wrong = np.concatenate([wrong, len(labels) - np.delete(wrong, _redundant(features, self.most))])
        return wrong

    def hypothesis(self, index: int, setting: Setting) -> Rule | Selected:
        features = self._features(setting)
        number = _numbers(features, self.most)[0][self.most]
        opposite = index >= number
        if opposite:
            index -= number
            for skipped in _redundant(features, self.most):
                index += skipped <= index
        rule = Rule(setting.schema, None, _literals(features, self.most, index))
        if not opposite:
            return rule
        text = "never" if index == 0 else f"not ({rule.describe()})"
        return Selected(setting.schema, None, Not(rule.expression), text)

    def _features(self, setting: Setting) -> list[_Feature]:
        """The features, with the patterns that so many conditions can make of each."""
        whole("most", self.most, 1, LONGEST)
        whole("bins", self.bins, 1, MOST_PATTERNS)
        schema = setting.schema
        nodes = features_beside(schema, self.features, setting.label)
        names = [node.name for node in nodes if isinstance(node, Column)]
        check_numbers("edges", self.edges, names, schema)
        questions_of = Stumps(names, self.bins, self.edges).questions(setting) if names else []
        questions_of += [(node, [condition(node, schema)]) for node in nodes if not isinstance(node, Column)]
        features = [self._feature(choice, questions, setting) for choice, questions in questions_of]
        if not any(feature.patterns for feature in features):
            raise QueryError("there are no features to make conjunctions of: name some")
        return [feature for feature in features if feature.patterns]

    def _feature(self, choice: Node, questions: Sequence[Node], setting: Setting) -> _Feature:
        parts = choice_size(choice, setting)
        every = (1 << parts) - 1
        if isinstance(choice, Bins):
            conditions = [(every & -(2 << number), question) for number, question in enumerate(questions)]
        else:
            # Of a category every value is conditions for; of what is false or true the latter only.
            first = parts - len(questions)
            conditions = [(1 << first + number, question) for number, question in enumerate(questions)]
        if self.negations:
            conditions += [(every & ~kept, _opposite(question)) for kept, question in conditions]
        return _Feature(choice, parts, _patterns(conditions, every, self.most, choice))


def _opposite(question: Node) -> Node:
    relations = {">=": "<", "==": "!="}
    if isinstance(question, Compare) and question.relation in relations:
        return Compare(relations[question.relation], question.left, question.right)
    return Not(question)


def _patterns(
    conditions: Sequence[tuple[int, Node]], every: int, most: int, choice: Node
) -> tuple[_Pattern, ...]:
    """What up to `most` conditions can keep of a feature but all and nothing, each by the fewest of them."""
    reached: dict[int, tuple[Node, ...]] = {every: ()}
    last = dict(reached)
    for _ in range(most):
        longer: dict[int, tuple[Node, ...]] = {}
        for before, literals in last.items():
            for kept, question in conditions:
                both = before & kept
                if both and both not in reached:
                    longer.setdefault(both, (*literals, question))
            if len(reached) + len(longer) > MOST_PATTERNS:
                raise QueryError(
                    f"{most} conditions on {choice.described()} alone make more than {MOST_PATTERNS} "
                    "hypotheses: ask for smaller conjunctions or fewer edges"
                )
        reached |= longer
        last = longer
    return tuple(_Pattern(parts, literals) for parts, literals in reached.items() if literals)


def _numbers(features: Sequence[_Feature], most: int) -> list[list[int]]:
    """How many conjunctions of at most so many conditions there are on the features from each on."""
    numbers = [[1] * (most + 1)]
    for feature in reversed(features):
        rest = numbers[0]
        here = [rest[room] + sum(rest[left] for left in _left(feature, room)) for room in range(most + 1)]
        numbers.insert(0, here)
    return numbers


def _left(feature: _Feature, room: int) -> list[int]:
    """How many conditions may follow each pattern that fits."""
    used = [len(pattern.literals) for pattern in feature.patterns]
    return [room - many for many in used if many <= room]


def _literals(features: Sequence[_Feature], most: int, index: int) -> tuple[Node, ...]:
    """A conjunction by its number: first comes the shorter one, then all that begin like it."""
    numbers, place, room = _numbers(features, most), 0, most
    literals: tuple[Node, ...] = ()
    while index:
        index -= 1
        place, pattern, index = _begun(features, numbers, place, room, index)
        literals += pattern.literals
        room -= len(pattern.literals)
    return literals


def _begun(
    features: Sequence[_Feature], numbers: Sequence[Sequence[int]], place: int, room: int, index: int
) -> tuple[int, _Pattern, int]:
    """The feature after the next pattern, that pattern, and the number among those that go on from there."""
    for number in range(place, len(features)):
        for pattern in features[number].patterns:
            if len(pattern.literals) <= room:
                many = numbers[number + 1][room - len(pattern.literals)]
                if index < many:
                    return number + 1, pattern, index
                index -= many
    raise QueryError("there is no conjunction of this number")


def _redundant(features: Sequence[_Feature], most: int) -> list[int]:
    """The numbers of the conjunctions, all on one feature, whose opposites are listed too, in order."""
    numbers, redundant, at = _numbers(features, most), [], 1
    for number, feature in enumerate(features):
        kept, every = {pattern.parts for pattern in feature.patterns}, (1 << feature.parts) - 1
        for pattern in feature.patterns:
            if every & ~pattern.parts in kept:
                redundant.append(at)
            at += numbers[number + 1][most - len(pattern.literals)]
    return redundant


class _Sums:
    """For every conjunction, in order, the rows with a true label less those with a false one."""

    def __init__(self, features: Sequence[_Feature], most: int, held: type[np.signedinteger[Any]]) -> None:
        self.most = most
        self.numbers = _numbers(features, most)
        self.balances = np.zeros(self.numbers[0][most], dtype=held)
        self.feature = np.repeat(np.arange(len(features)), [len(feature.patterns) for feature in features])
        patterns = [pattern for feature in features for pattern in feature.patterns]
        self.used = np.array([len(pattern.literals) for pattern in patterns])
        # A line for every pattern, with whether each part is in it.
        self.kept = [
            np.array([[pattern.parts >> part & 1 for part in range(of.parts)] for pattern in of.patterns])
            for of in features
        ]
        # Only patterns that others may follow are looked at row by row, and these have places of their own.
        followed = self.used < most
        self.place = np.cumsum(followed) - 1
        self.followed = [
            kept[followed[self.feature == number]].astype(np.float32) for number, kept in enumerate(self.kept)
        ]
        self.rows = min(2**16, max(2**8, AT_ONCE // max(1, int(followed.sum()))))

    def add(self, codes: Sequence[NDArray[Any]], labels: Bits) -> None:
        """Count a block of rows."""
        places = [code.astype(np.intp) for code in codes]
        pairs = zip(self.followed, places, strict=True)
        true = np.concatenate([kept[:, code] for kept, code in pairs])
        signs = np.where(labels, np.float32(1), np.float32(-1))
        self._count(signs, places, true, first=0, room=self.most, at=0)

    def _count(
        self,
        signs: NDArray[np.float32],
        codes: Sequence[NDArray[np.intp]],
        true: NDArray[np.float32],
        first: int,
        room: int,
        at: int,
    ) -> None:
        """Add up signs for a conjunction, and for all that go on from it with features from `first` on."""
        self.balances[at] += int(signs.sum())
        fits = np.flatnonzero((self.feature >= first) & (self.used <= room))
        alone = [
            kept @ np.bincount(code, signs, minlength=kept.shape[1])
            for kept, code in zip(self.kept, codes, strict=True)
        ]
        sums = np.concatenate(alone)[fits].astype(self.balances.dtype)
        shorter = fits[self.used[fits] < room]
        seen = true[self.place[shorter]]
        # Pairs all at once: that is work for BLAS.
        lines = iter(((seen * signs) @ seen.T).astype(self.balances.dtype))
        single = self.used[shorter] == 1
        at += 1
        for pattern, balance in zip(fits.tolist(), sums.tolist(), strict=True):
            after, left = int(self.feature[pattern]) + 1, room - int(self.used[pattern])
            number = self.numbers[after][left]
            line = next(lines) if left else None
            if left > 1:
                self._count(signs * true[self.place[pattern]], codes, true, after, left, at)
            else:
                self.balances[at] += balance
                if line is not None:
                    self.balances[at + 1 : at + number] += line[single & (self.feature[shorter] >= after)]
            at += number
