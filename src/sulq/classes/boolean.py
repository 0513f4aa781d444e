"""Classes of hypotheses that are made feature by feature, and know the mistakes of all their members at once.

Almost everything here rests on one table: for every combination of what the hypotheses look at, how many rows
with a true label there are, less those with a false one. What a hypothesis says is true collects some of the
cells; it makes as many mistakes as there are true labels, less what it collects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.base import HypothesisClass, Look, Setting
from sulq.classes.transforms import HADAMARD, LITERALS, SUPERSETS, Integers, transformed
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.rules import ParityRule, Rule, Selected
from sulq.privacy.gf2 import Bits
from sulq.queries.arithmetic import Not
from sulq.queries.attributes import condition, conditions
from sulq.queries.node import Node
from sulq.queries.scope import scope_of


@dataclass(frozen=True, eq=False)
class Hypotheses(HypothesisClass):
    """A list of hypotheses, each a row expression that is true or false.

    Args:
        members: boolean columns, or expressions that are true or false.

    >>> import sulq
    >>> listed = Hypotheses([sulq.col("a"), ~sulq.col("a")])
    >>> schema = sulq.Schema({"a": sulq.Boolean(), "y": sulq.Boolean()})
    >>> listed.hypothesis(1, Setting(schema, sulq.col("y"))).describe()
    'not a'
    """

    wire = "listed"

    members: Sequence[str | Node]

    def size(self, setting: Setting) -> int:
        return len(self._conditions(setting))

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        wrong = [np.count_nonzero(look(member) != labels) for member in self._conditions(setting)]
        return np.array(wrong, dtype=np.int64)

    def hypothesis(self, index: int, setting: Setting) -> Hypothesis:
        member = self._conditions(setting)[index]
        return Selected(setting.schema, None, member, words(member))

    def _conditions(self, setting: Setting) -> list[Node]:
        if not self.members:
            raise QueryError("there is no hypothesis to choose from")
        return [condition(member, setting.schema) for member in self.members]


@dataclass(frozen=True, eq=False)
class Parities(HypothesisClass):
    """All 2^d parities of d boolean features.

    Args:
        features: conditions; by default all boolean columns that the label does not look at.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({name: sulq.Boolean() for name in "abcy"}), sulq.col("y"))
    >>> Parities().size(setting), Parities(["a", "c"]).hypothesis(3, setting).describe()
    (8, 'a xor c')
    """

    wire = "parities"

    features: Sequence[str | Node] | None = None

    def size(self, setting: Setting) -> int:
        return 1 << len(conditions(self.features, setting.label, setting.schema))

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        features = conditions(self.features, setting.label, setting.schema)
        table = balance(look, labels, features, [2] * len(features))
        # Over the rows, Σ(−1)^(⟨r, x⟩ + [not y]) is how often r is wrong, less how often it is right.
        sums = transformed(table, [HADAMARD] * len(features))
        sums += len(labels)
        sums >>= 1
        return sums

    def hypothesis(self, index: int, setting: Setting) -> ParityRule:
        features = conditions(self.features, setting.label, setting.schema)
        return ParityRule(setting.schema, None, features, _digits(index, [2] * len(features)))


@dataclass(frozen=True, eq=False)
class MonotoneConjunctions(HypothesisClass):
    """All 2^d conjunctions of d boolean features.

    Args:
        features: conditions; by default all boolean columns that the label does not look at.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({name: sulq.Boolean() for name in "abcy"}), sulq.col("y"))
    >>> MonotoneConjunctions().hypothesis(5, setting).describe()
    'a and c'
    """

    wire = "monotone conjunctions"

    features: Sequence[str | Node] | None = None

    def size(self, setting: Setting) -> int:
        return 1 << len(conditions(self.features, setting.label, setting.schema))

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        features = conditions(self.features, setting.label, setting.schema)
        table = balance(look, labels, features, [2] * len(features))
        return missed(transformed(table, [SUPERSETS] * len(features)), labels)

    def hypothesis(self, index: int, setting: Setting) -> Rule:
        features = conditions(self.features, setting.label, setting.schema)
        choices = zip(features, _digits(index, [2] * len(features)), strict=True)
        return Rule(setting.schema, None, tuple(feature for feature, used in choices if used))


@dataclass(frozen=True, eq=False)
class Conjunctions(HypothesisClass):
    """All 3^d conjunctions of d boolean features and their opposites that do not contradict themselves.

    Args:
        features: conditions; by default all boolean columns that the label does not look at.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({name: sulq.Boolean() for name in "abcy"}), sulq.col("y"))
    >>> Conjunctions().size(setting), Conjunctions().hypothesis(11, setting).describe()
    (27, 'a and not c')
    """

    wire = "conjunctions"

    features: Sequence[str | Node] | None = None

    def size(self, setting: Setting) -> int:
        return int(3 ** len(conditions(self.features, setting.label, setting.schema)))

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        features = conditions(self.features, setting.label, setting.schema)
        table = balance(look, labels, features, [2] * len(features))
        return missed(transformed(table, [LITERALS] * len(features)), labels)

    def hypothesis(self, index: int, setting: Setting) -> Rule:
        features = conditions(self.features, setting.label, setting.schema)
        choices = zip(features, _digits(index, [3] * len(features)), strict=True)
        literals = [feature if way == 1 else Not(feature) for feature, way in choices if way]
        return Rule(setting.schema, None, tuple(literals))


def missed(collected: Integers, labels: Bits) -> Integers:
    """The mistakes of hypotheses, from what they collect of the balance; that is overwritten."""
    np.subtract(np.count_nonzero(labels), collected, out=collected)
    return collected


def balance(look: Look, labels: Bits, choices: Sequence[Node], sizes: Sequence[int]) -> Integers:
    """For every combination of choices, the rows with a true label less those with a false one."""
    cells = math.prod(sizes)
    code: NDArray[np.int64] = np.zeros(len(labels), dtype=np.int64)
    for choice, size in zip(choices, sizes, strict=True):
        code *= size
        code += look(choice).astype(np.int64)
    held: type[np.signedinteger[Any]] = np.int32 if len(labels) < 2**31 else np.int64
    table = np.bincount(code[labels], minlength=cells).astype(held)
    table -= np.bincount(code[~labels], minlength=cells).astype(held)
    return table


def choice_size(choice: Node, setting: Setting) -> int:
    """How many possibilities a choice has."""
    return scope_of(setting.schema).code(choice).size


def _digits(index: int, sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(digit) for digit in np.unravel_index(index, tuple(sizes)))
