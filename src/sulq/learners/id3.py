"""ID3: decision trees grown from the root, one round of questions for each level."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.tree import Tree
from sulq.learners.boxed_tree import PrintedTree, gamma_for
from sulq.learners.estimates import usually_off
from sulq.learners.growth import Draft
from sulq.learners.learner import LATER, Learner
from sulq.learners.levels import WAYS, Levels, turns_of
from sulq.learners.picking import Choosing, Counting, Picking
from sulq.numbers import Numeric, rational, whole
from sulq.queries.arithmetic import Compare
from sulq.queries.attributes import (
    Edges,
    attribute,
    check_in_one_hand,
    check_numbers,
    column_names,
    edge_numbers,
    features_beside,
    hands_of,
    looked_at,
)
from sulq.queries.codes import Bins
from sulq.queries.edges import near_zero
from sulq.queries.expressions import Constant, col
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Boolean, Category, Integer, Kind, Real, Schema
from sulq.talk.oracle import Rounds

LEAST_GAMMA = 1e-9
AMOUNT = 1000
"""A number from 0 to this or more is taken for an amount, as of money: small ones are many, large few."""


@dataclass(frozen=True)
class ID3(Learner[Tree]):
    """Learns a decision tree: section 4.4 of the SuLQ paper.

    The nodes of a level are disjoint sets of rows, so one round asks about all of them at the cost of one.
    Where questions are chosen, a first count of the labels says how many levels there can be, whether nodes
    must choose together, and whether rows of a rare label count for more. If the number of rows is not public
    and that count leaves open whether they are enough, another follows. If there are so few rows that the
    counts at the ends could not tell the most frequent label of all rows, there are fewer questions or none:
    then all of the budget counts the labels.

    Args:
        label: what the tree tells: a boolean or category column, or an expression like it.
        features: the columns to ask about; by default all that the label is not made of.
        depth: how many questions lead to an end at most. By default 4 where questions are multiway and 9
            where they are binary; fewer where noise would drown them. Nodes that noise would drown choose one
            question for all of a level, where questions are binary.
        pick: how a question is picked. "choose" asks only which one predicts the label best. "counts" asks
            for the table of every attribute and the label, as the paper does, and works out the information
            gain.
        split: "multiway" questions have a branch for each value, as in the paper. "binary" questions ask
            whether a category has one value, or a number is below one edge. By default "binary" where there
            are numbers to ask about and questions are chosen.
        ahead: how many questions the first choice picks together, because a question may change no majority
            by itself and many with the next. By default one if they are binary, and three if they are
            multiway. Where there are too many sets of three, the first choice picks one question, the
            second a pair in each of its nodes, and there are no more.
        bins: public edges for numbers and dates, by column; by default from the schema's bounds.
        prune: how many standard deviations a label must lead by to displace that of the node above. Those of
            the noise count up to three times, the further the label above is ahead there. The tree keeps all
            ends and counts whatever this is: `Tree.pruned` is what is shown of it.
        share: the part of the budget to spend.
        gamma: γ of the paper's box, for pick="counts": then it is the box, query for query. N_T and N_j are
            asked for at every node, N_j and N_jk at every node that is split, for every attribute that was
            not asked about yet; a node of at most γ·√(R·ln(1/δ)) rows is a leaf, and counts below N_T/γ are
            skipped. Nothing else stops it, but `depth`. Every query gets the same part of the share.
        within: Δ of the paper, instead of γ: the gain of a question is that of the best one but for Δ bits a
            row; γ follows from it by Lemma 2.

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
    bins: Mapping[str, Edges] = field(default_factory=dict)
    prune: float = 0.5
    share: Numeric = 1
    gamma: Numeric | None = field(default=None, metadata=LATER)
    within: Numeric | None = field(default=None, metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Tree]:
        label, draft = self._label(schema), Draft(scope_of(schema), self.questions(schema))
        if (gamma := self._gamma(schema, draft)) is not None:
            return (yield from self._box(schema, draft, gamma).grown(schema, draft))
        picking = self._picking(schema, label)
        levels = self._levels(schema, draft)
        if self.pick == "choose":
            check_in_one_hand(schema, label, *draft.questions)
            levels = yield from levels.opened(label, draft.sizes)
        while levels.turns and draft.open:
            answers = yield Round(picking.queries(draft, levels), levels.share)
            draft.grow(picking.picked(draft, levels, answers), levels.joint)
            levels = levels.after(answers)
        ends = draft.ends
        [answer] = yield Round([count(by=[draft.route(ends), label])], levels.rest)
        counts = np.reshape(answer.value, (len(ends), -1))
        table = dict(zip(ends, counts, strict=True))
        return draft.tree(schema, label, table, usually_off(answer), self.prune)

    def most_numbers(self, schema: Schema) -> int | None:
        """Of counts alone: all tables of each level, and the labels at the ends, if every node is split.

        A node that is not split leaves fewer nodes for every level below, and one code for all rows that
        came to it.
        """
        if self.pick != "counts":
            return None
        draft, labels = Draft(scope_of(schema), self.questions(schema)), self._labels(schema)
        if (gamma := self._gamma(schema, draft)) is not None:
            return self._box(schema, draft, gamma).most_numbers(draft.sizes, schema)
        largest = sorted(draft.sizes, reverse=True)
        nodes = [math.prod(largest[:level]) for level in range(len(self._levels(schema, draft).turns) + 1)]
        return labels * (sum(nodes[:-1]) * sum(draft.sizes) + nodes[-1])

    def least_share(self, schema: Schema) -> Fraction | None:
        """Of the paper's box, in which all queries get the same."""
        if self.gamma is None and self.within is None:
            return None
        draft = Draft(scope_of(schema), self.questions(schema))
        gamma = self._gamma(schema, draft)
        return None if gamma is None else self._box(schema, draft, gamma).price(len(draft.questions))

    def later_columns(self, schema: Schema) -> frozenset[str]:
        """All: the paper's box asks about the label alone at first."""
        return frozenset(self._features(schema)) | looked_at(self._label(schema))

    def most_hands(self, schema: Schema) -> int:
        """The label's hands, and one more for each question that leads to an end where labels are counted."""
        if self.pick != "counts":
            return 1
        draft, label = Draft(scope_of(schema), self.questions(schema)), self._label(schema)
        gamma, of_label = self._gamma(schema, draft), hands_of(schema, label)
        levels = len(self._levels(schema, draft).turns)
        depth = levels if gamma is None else self._box(schema, draft, gamma).depth
        return len(of_label) + min(depth, len(hands_of(schema, *draft.questions) - of_label))

    def _gamma(self, schema: Schema, draft: Draft) -> float | None:
        """γ of the paper's box; None where the tree grows otherwise."""
        if self.gamma is None and self.within is None:
            return None
        if self.pick != "counts":
            raise QueryError('gamma, or within in its place, goes with pick="counts"')
        if self.gamma is not None and self.within is not None:
            raise QueryError("within stands in the place of gamma: give one of them")
        if self.within is None:
            gamma = float(rational("gamma", self.gamma or 0))
            if gamma < LEAST_GAMMA:
                raise QueryError(f"gamma must be at least {LEAST_GAMMA:g}, got {self.gamma!r}")
            return gamma
        return gamma_for(float(rational("within", self.within)), max([self._labels(schema), *draft.sizes]))

    def _box(self, schema: Schema, draft: Draft, gamma: float) -> PrintedTree:
        most = len(draft.sizes) if self.depth is None else min(self.depth, len(draft.sizes))
        share = rational("share", self.share, most=1)
        return PrintedTree(self._label(schema), self._labels(schema), gamma, most, share)

    def _labels(self, schema: Schema) -> int:
        return scope_of(schema).code(self._label(schema)).size

    def _levels(self, schema: Schema, draft: Draft) -> Levels:
        """How the budget is divided over the levels, before anything is known."""
        way, labels = self._way(schema), self._labels(schema)
        choosing = self.pick == "choose"
        # Counts are of one question at a time; of several binary questions there is a set for every edge.
        ahead = (self.ahead or (1 if way == "binary" else None)) if choosing else 1
        turns = turns_of(draft.sizes, labels, WAYS[way], self.depth, ahead)
        return Levels.divided(rational("share", self.share, most=1), turns, WAYS[way], choosing)

    def _picking(self, schema: Schema, label: Node) -> Picking:
        if self.pick == "counts":
            return Counting(label)
        return Choosing(label, "purity" if self._way(schema) == "binary" else "majority")

    def questions(self, schema: Schema) -> list[Node]:
        """What the tree may ask of a row."""
        names, way = self._features(schema), self._way(schema)
        check_numbers("bins", self.bins, names, schema)
        return [question for name in names for question in self._about(name, schema[name], way)]

    def _features(self, schema: Schema) -> tuple[str, ...]:
        """The columns to ask about, or a refusal."""
        return column_names(features_beside(schema, self.features, self._label(schema)), schema)

    def _way(self, schema: Schema) -> str:
        """How to split: what is public decides it."""
        numbers = any(isinstance(schema[name], Integer | Real) for name in self._features(schema))
        return self.split or ("binary" if numbers and self.pick == "choose" else "multiway")

    def _about(self, name: str, kind: Kind, way: str) -> list[Node]:
        column = col(name)
        if isinstance(kind, Boolean):
            return [column]
        if isinstance(kind, Category):
            if way == "multiway":
                return [column]
            return [Compare("==", column, Constant(level)) for level in kind.levels]
        given = edge_numbers(kind, self.bins.get(name, ()))
        edges = given or edges_of(kind, WAYS[way].bins, WAYS[way].halvings)
        # Edges that make no bins are refused, also where each is asked about by itself.
        cut: list[Node] = [Bins(column, tuple(edges))] if edges else []
        return [Compare("<", column, Constant(edge)) for edge in edges] if way == "binary" else cut

    def _label(self, schema: Schema) -> Node:
        """The label, if all settings make sense."""
        label = attribute(schema, self.label)
        facts = scope_of(schema).facts(label)
        if not isinstance(facts, Code) and not facts.flag:
            raise QueryError(
                f"{label.described()} is a number: a tree needs a label with few values, use bins"
            )
        if not self.prune >= 0:
            raise QueryError(f"prune must not be negative, got {self.prune!r}")
        for name, value, least in (("depth", self.depth, 0), ("ahead", self.ahead, 1)):
            if value is not None:
                whole(name, value, least)
        if self.pick not in ("choose", "counts") or self.split not in (None, *WAYS):
            raise QueryError('pick is "choose" or "counts", and split is "multiway" or "binary"')
        return label


def edges_of(kind: Integer | Real, bins: int, halvings: int) -> list[float]:
    """Public edges from the bounds alone: evenly spread, closer towards 0, or all of few whole numbers.

    Args:
        kind: the column.
        bins: into how many intervals of equal width it is cut.
        halvings: how often the distance to 0 is halved, if it starts at 0.

    >>> edges_of(Real(0, 80), 4, 3)
    [10.0, 20.0, 40.0, 60.0]
    """
    low, high = kind.low, kind.high
    if isinstance(kind, Integer) and high - low < bins:
        return [float(edge) for edge in range(int(low) + 1, int(high) + 1)]
    if low == 0 and high >= AMOUNT:
        return [high / 2**place for place in range(bins - 1, 0, -1)]
    # A column that starts at 0 may be crowded there; from elsewhere 0 is a number like any other.
    return (
        near_zero(low, high, isinstance(kind, Integer), bins, 1, halvings if low == 0 else 0)
        if high > low
        else []
    )
