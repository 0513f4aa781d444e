"""Decision lists, found rule by rule: which condition tells most about the rows that no earlier one fits?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.nodes import End
from sulq.hypotheses.rule_list import RuleList, first_that_fits
from sulq.hypotheses.target import Target
from sulq.learners.attributes_in_bins import Attribute, attributes
from sulq.learners.coordinates import in_few_bins, value
from sulq.learners.learner import Learner
from sulq.learners.majority import checked, part_for_check
from sulq.numbers import Numeric, rational, whole
from sulq.queries.arithmetic import Compare, Not
from sulq.queries.attributes import attribute, check_in_one_hand
from sulq.queries.choose import choose
from sulq.queries.codes import Bins
from sulq.queries.expressions import Constant
from sulq.queries.node import Node
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

ENDS = Fraction(1, 4)
"""The part of the budget for the classes of the rows that each rule is first to fit."""
PICK = Fraction(2, 3)
"""The part of a step for the choice of a condition; the rest counts the classes on both sides of it."""
LEFT = 4.0
"""Another rule is worth a round if rows of the rarer classes are so many times as many as the noise."""


@dataclass(frozen=True)
class DecisionList(Learner[RuleList]):
    """Learns a decision list: "if this then A, else if that then B, …, else C".

    Every step picks one condition by a private choice: which of them tells most about the class of the rows
    that no earlier rule fits? Then it counts classes with and without the condition, and the surer side
    becomes a rule. It stops when the rows that are left are noise. A last round counts the classes of the
    rows that each rule is first to fit. Where rows are few beside the noise, one more counts how often the
    list is right: unless that is more often than the most frequent class is, the list is that class alone.

    Args:
        label: what is predicted: a category, a boolean, or a comparison.
        features: columns or expressions; by default all columns that the label does not look at. Conditions
            are that a number reaches a public edge, that a category has a value, that a boolean is true, and
            the opposites.
        length: how many rules at most.
        share: the part of the budget to spend. Rounds not needed are not paid for.

    >>> import sulq
    >>> rows = {"a": [True, False] * 90, "b": [True, True, False, False] * 45}
    >>> rows["y"] = [True, True, True, False] * 45
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> model = DecisionList("y").learn(people.exact())
    >>> bool((model.predict(rows) == rows["y"]).all())
    True
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    length: int = 6
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[RuleList]:
        target, share = self._target(schema), rational("share", self.share, most=1)
        length = whole("length", self.length, 1)
        each = attributes(schema, target.label, self.features, {})
        check_in_one_hand(schema, target.label, *(one.code for one in each))
        literals = [one for every in each for one in conditions_of(schema, in_few_bins(schema, every))]
        listed: tuple[Node, ...] = ()
        step = share * (1 - ENDS) / (length + 1)
        [seen] = yield Round([count(by=[target.label])], step)
        kinds = len(target.classes or ())
        left, off = value(seen)[:kinds], float(np.max(seen.deviation))
        for _ in range(length):
            if not _worth(left, off):
                break
            here = [first_that_fits(listed)] if listed else None
            [pick] = yield Round([choose(literals, target.label, here, score="purity")], step * PICK)
            literal = literals[int(np.ravel(pick.value)[-1])]
            [sides] = yield Round([count(where=_left(listed), by=[literal, target.label])], step * (1 - PICK))
            off = float(np.max(sides.deviation))
            of_classes = value(sides)[:, :kinds]
            side = _surer(of_classes, off)
            listed = (*listed, literal if side else Not(literal))
            left = of_classes[1 - side]
        queries = [count(by=[first_that_fits(listed), target.label] if listed else [target.label])]
        check = part_for_check(float(value(seen).sum()), seen, step, 1) * bool(listed)
        [ends] = yield Round(queries, share * (ENDS - check))
        model = RuleList(schema, None, target.label, *_ended(listed, ends, kinds))
        if check and not (counted := (yield from checked(model, target, share * check))).better:
            usual = int(counted.classes.argmax())
            counts = np.zeros(len(model.classes))
            counts[:kinds] = counted.classes
            return RuleList(
                schema, None, target.label, (), (End(usual, tuple(counts.tolist()), counted.noise),)
            )
        return model

    def _target(self, schema: Schema) -> Target:
        target = Target(schema, attribute(schema, self.label))
        target.check()
        if target.classes is None:
            raise QueryError(
                f"{target.label.described()} is a number: compare it with one, as a list tells classes"
            )
        return target


def conditions_of(schema: Schema, attribute: Attribute) -> list[Node]:
    """What a rule may say about an attribute.

    Args:
        schema: what is public about the columns.
        attribute: the attribute.
    """
    if isinstance(attribute.code, Bins) and attribute.ordered:
        return [Compare(">=", attribute.code.inner, Constant(edge)) for edge in attribute.code.edges]
    levels = Target(schema, attribute.code, others=True).classes or ()
    if levels == (False, True):
        return [attribute.code]
    values: list[Node] = [Compare("==", attribute.code, Constant(str(level))) for level in levels]
    return values if len(values) > 2 else values[1:]


def _left(listed: tuple[Node, ...]) -> Node | None:
    """The rows that no rule fits yet."""
    left: Node | None = None
    for each in listed:
        left = Not(each) if left is None else left & Not(each)
    return left


def _surer(sides: Floats, off: float) -> int:
    """Whether a rule is for the rows without (0) or with (1) a condition: for those whose class is surer."""
    sizes, most = sides.clip(min=0.0).sum(axis=1), sides.max(axis=1)
    sure = (most - off) / (sizes + off * sides.shape[1] ** 0.5 + 1)
    return int(sure.argmax())


def _worth(counts: Floats, off: float) -> bool:
    """Whether rows are left that another rule could tell apart."""
    rarer = float(counts.sum() - counts.max())
    return bool(rarer > LEFT * off * len(counts) ** 0.5)


def _ended(listed: tuple[Node, ...], ends: Answer, sizes: int) -> tuple[tuple[Node, ...], tuple[End, ...]]:
    """The rules with their classes, without those at the end that change nothing."""
    counts, noise = np.reshape(value(ends), (len(listed) + 1, -1)).copy(), float(np.max(ends.deviation))
    known = counts[:, :sizes]
    usual = int(known.sum(axis=0).argmax())
    labels = [
        int(row.argmax()) if noise == 0 or row.sum() > 2 * noise * sizes**0.5 else usual for row in known
    ]
    kept = len(listed)
    while kept and labels[kept - 1] == labels[kept]:
        kept -= 1
        counts[kept] = counts[kept] + counts[kept + 1]
    each = tuple(End(label, tuple(row), noise) for label, row in zip(labels, counts.tolist(), strict=True))
    return listed[:kept], each[: kept + 1]
