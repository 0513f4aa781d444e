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
from sulq.numbers import Numeric, rational, whole
from sulq.queries.arithmetic import Compare, Not
from sulq.queries.attributes import attribute
from sulq.queries.choose import choose
from sulq.queries.codes import Bins
from sulq.queries.expressions import Constant
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

ENDS = Fraction(1, 4)
"""The part of the budget for the classes of the rows that each rule is first to fit."""
STEPS = 8
"""A row counts for or against a rule by multiples of 1/8."""
SIZES = Fraction(1, 2)
"""How precisely the classes of the rows that are left are asked for, beside a choice."""
LEFT = 4.0
"""Another rule is worth a round if rows of the rarer classes are so many times as many as the noise."""


@dataclass(frozen=True)
class DecisionList(Learner[RuleList]):
    """Learns a decision list: "if this then A, else if that then B, …, else C".

    Every round picks one condition and a class, by a private choice: of the rows that no earlier rule fits,
    those with the class speak for the rule, and the others against it, by more than that where the class is
    frequent anyway. It stops when the rows that are left are noise. A last round counts the classes of the
    rows that each rule is first to fit.

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
        literals = [one for every in each for one in conditions_of(schema, in_few_bins(schema, every))]
        listed: tuple[Node, ...] = ()
        sizes = len(target.classes or ())
        step = share * (1 - ENDS) / (length + 1)
        [seen] = yield Round([count(by=[target.label])], step)
        for _ in range(length):
            if not _worth(seen):
                break
            shares = _shares(seen)
            candidates = [
                total(_votes(target.label, place, shares), where=_left(listed, literal))
                for literal in literals
                for place in range(sizes)
            ]
            pick, seen = yield Round([choose(candidates), self._rest(target, listed)], step)
            listed = (*listed, literals[int(pick.value) // sizes])
        fits = first_that_fits(listed)
        queries = [count(by=[fits, target.label])] if listed else [count(by=[target.label])]
        [ends] = yield Round(queries, share * ENDS)
        return RuleList(schema, None, target.label, *_ended(listed, ends, _shares(seen), sizes))

    def _rest(self, target: Target, listed: tuple[Node, ...]) -> Query:
        return count(where=_left(listed, None), by=[target.label], weight=SIZES)

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
        above: list[Node] = [Compare(">=", attribute.code.inner, Constant(e)) for e in attribute.code.edges]
        below: list[Node] = [Compare("<", attribute.code.inner, Constant(e)) for e in attribute.code.edges]
        return [*above, *below]
    levels = Target(schema, attribute.code).classes or ()
    if levels == (False, True):
        return [attribute.code, Not(attribute.code)]
    values = [Compare("==", attribute.code, Constant(str(level))) for level in levels]
    return [*values, *(Not(value) for value in values)] if len(values) > 2 else list(values)


def _votes(label: Node, place: int, shares: Floats) -> Node:
    """A row of the class counts for a rule, another one against it: more, the more frequent the class is."""
    against = round(float(1 + shares[place]) / 2 * STEPS) / STEPS
    table = tuple((1 - against if each == place else -against,) for each in range(len(shares)))
    return Lookup(label, table)


def _left(listed: tuple[Node, ...], literal: Node | None) -> Node | None:
    """The rows that no rule fits yet, and the literal does."""
    left: Node | None = literal
    for each in listed:
        left = Not(each) if left is None else Not(each) & left
    return left


def _shares(answer: Answer) -> Floats:
    counts = value(answer).clip(min=0.0)
    return np.asarray(counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1 / len(counts)))


def _worth(seen: Answer) -> bool:
    """Whether rows are left that another rule could tell apart."""
    counts, noise = value(seen), float(np.max(seen.deviation))
    rarer = float(counts.sum() - counts.max())
    return bool(rarer > LEFT * noise * len(counts) ** 0.5)


def _ended(
    listed: tuple[Node, ...], ends: Answer, rest: Floats, sizes: int
) -> tuple[tuple[Node, ...], tuple[End, ...]]:
    """The rules with their classes, without those at the end that change nothing."""
    counts, noise = np.reshape(value(ends), (len(listed) + 1, sizes)), float(np.max(ends.deviation))
    usual = int(counts.sum(axis=0).argmax())
    labels = [
        int(row.argmax()) if row.sum() > 2 * noise * sizes**0.5 or noise == 0 else usual for row in counts
    ]
    kept = len(listed)
    while kept and labels[kept - 1] == labels[kept]:
        kept -= 1
        counts[kept] = counts[kept] + counts[kept + 1]
    each = tuple(End(label, tuple(row), noise) for label, row in zip(labels, counts.tolist(), strict=True))
    return listed[:kept], each[: kept + 1]
