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
from sulq.classes.grids import Edges, Stumps
from sulq.classes.transforms import Integers
from sulq.errors import QueryError
from sulq.hypotheses.rules import Rule, Selected
from sulq.privacy.gf2 import Bits
from sulq.queries.attributes import attribute, condition
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column, Compare, Node, Not
from sulq.schema import Integer, Real

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

    `features`: columns, each asked what `Stumps` asks it, or expressions that are true or false; by default
    all columns that the label is not made of. `negations`: the opposites of these conditions too, so that two
    of them make an interval of a number. `opposites`: the opposites of the conjunctions too, as "not (a and
    b)". `bins`, `edges`: as for `Stumps`.

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
        wrong = missed(sums.found, labels)
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
        said = "never" if index == 0 else f"not ({rule.describe()})"
        return Selected(setting.schema, None, Not(rule.expression), said)

    def _features(self, setting: Setting) -> list[_Feature]:
        """The features, with the patterns that so many conditions can make of each."""
        for name, whole, largest in (("most", self.most, LONGEST), ("bins", self.bins, MOST_PATTERNS)):
            if isinstance(whole, bool) or not isinstance(whole, int) or not 1 <= whole <= largest:
                raise QueryError(f"{name} must be a whole number from 1 to {largest}, not {whole!r}")
        schema, own = setting.schema, {leaf.name for leaf in setting.label.leaves().values()}
        default = [name for name in schema.attributes if name not in own]
        given = default if self.features is None else self.features
        nodes = [attribute(schema, feature) for feature in given]
        if len({node.key for node in nodes}) < len(nodes):
            raise QueryError("a feature is named twice")
        if any(leaf.name in own for node in nodes for leaf in node.leaves().values()):
            raise QueryError("the label cannot be one of its own features")
        names = [node.name for node in nodes if isinstance(node, Column)]
        for name in self.edges:
            if name not in names or not isinstance(schema[name], Integer | Real):
                raise QueryError(f"edges are for features that are numbers, and {name!r} is none")
        asked = Stumps(names, self.bins, self.edges).questions(setting) if names else []
        asked += [(node, [condition(node, schema)]) for node in nodes if not isinstance(node, Column)]
        features = [self._feature(choice, questions, setting) for choice, questions in asked]
        if not any(feature.patterns for feature in features):
            raise QueryError("there are no features to make conjunctions of: name some")
        return [feature for feature in features if feature.patterns]

    def _feature(self, choice: Node, questions: Sequence[Node], setting: Setting) -> _Feature:
        parts = choice_size(choice, setting)
        every = (1 << parts) - 1
        if isinstance(choice, Bins):
            asked = [(every & -(2 << number), question) for number, question in enumerate(questions)]
        else:
            # Of a category every value is asked for; of what is false or true the latter only.
            first = parts - len(questions)
            asked = [(1 << first + number, question) for number, question in enumerate(questions)]
        if self.negations:
            asked += [(every & ~kept, _opposite(question)) for kept, question in asked]
        return _Feature(choice, parts, _patterns(asked, every, self.most, choice))


def _opposite(question: Node) -> Node:
    relations = {">=": "<", "==": "!="}
    if isinstance(question, Compare) and question.relation in relations:
        return Compare(relations[question.relation], question.left, question.right)
    return Not(question)


def _patterns(asked: Sequence[tuple[int, Node]], every: int, most: int, choice: Node) -> tuple[_Pattern, ...]:
    """What up to `most` conditions can keep of a feature but all and nothing, each by the fewest of them."""
    found: dict[int, tuple[Node, ...]] = {every: ()}
    last = dict(found)
    for _ in range(most):
        longer: dict[int, tuple[Node, ...]] = {}
        for before, literals in last.items():
            for kept, question in asked:
                both = before & kept
                if both and both not in found:
                    longer.setdefault(both, (*literals, question))
            if len(found) + len(longer) > MOST_PATTERNS:
                raise QueryError(
                    f"{most} conditions on {choice.described()} alone make more than {MOST_PATTERNS} "
                    "hypotheses: ask for smaller conjunctions or fewer edges"
                )
        found |= longer
        last = longer
    return tuple(_Pattern(parts, literals) for parts, literals in found.items() if literals)


def _numbers(features: Sequence[_Feature], most: int) -> list[list[int]]:
    """How many conjunctions of at most so many conditions there are on the features from each on."""
    numbers = [[1] * (most + 1)]
    for feature in reversed(features):
        rest = numbers[0]
        own = [rest[room] + sum(rest[left] for left in _left(feature, room)) for room in range(most + 1)]
        numbers.insert(0, own)
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
                own = numbers[number + 1][room - len(pattern.literals)]
                if index < own:
                    return number + 1, pattern, index
                index -= own
    raise QueryError("there is no conjunction of this number")


def _redundant(features: Sequence[_Feature], most: int) -> list[int]:
    """The numbers of the conjunctions, all on one feature, whose opposites are listed too, in order."""
    numbers, found, at = _numbers(features, most), [], 1
    for number, feature in enumerate(features):
        kept, every = {pattern.parts for pattern in feature.patterns}, (1 << feature.parts) - 1
        for pattern in feature.patterns:
            if every & ~pattern.parts in kept:
                found.append(at)
            at += numbers[number + 1][most - len(pattern.literals)]
    return found


class _Sums:
    """For every conjunction, in order, the rows with a true label less those with a false one."""

    def __init__(self, features: Sequence[_Feature], most: int, held: type[np.signedinteger[Any]]) -> None:
        self.most = most
        self.numbers = _numbers(features, most)
        self.found = np.zeros(self.numbers[0][most], dtype=held)
        patterns = [(number, pattern) for number, own in enumerate(features) for pattern in own.patterns]
        self.feature = np.array([number for number, _ in patterns])
        self.used = np.array([len(pattern.literals) for _, pattern in patterns])
        # A line for every pattern, with whether each part is in it.
        self.kept = [
            np.array([[pattern.parts >> part & 1 for part in range(own.parts)] for pattern in own.patterns])
            for own in features
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
        self.found[at] += int(signs.sum())
        fits = np.flatnonzero((self.feature >= first) & (self.used <= room))
        alone = [
            kept @ np.bincount(code, signs, minlength=kept.shape[1])
            for kept, code in zip(self.kept, codes, strict=True)
        ]
        sums = np.concatenate(alone)[fits].astype(self.found.dtype)
        shorter = fits[self.used[fits] < room]
        seen = true[self.place[shorter]]
        # Pairs all at once: that is work for BLAS.
        lines = iter(((seen * signs) @ seen.T).astype(self.found.dtype))
        single = self.used[shorter] == 1
        at += 1
        for pattern, own in zip(fits.tolist(), sums.tolist(), strict=True):
            after, left = int(self.feature[pattern]) + 1, room - int(self.used[pattern])
            number = self.numbers[after][left]
            line = next(lines) if left else None
            if left > 1:
                self._count(signs * true[self.place[pattern]], codes, true, after, left, at)
            else:
                self.found[at] += own
                if line is not None:
                    self.found[at + 1 : at + number] += line[single & (self.feature[shorter] >= after)]
            at += number
