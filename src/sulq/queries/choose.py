"""Asking only which is the largest: one answer to pay for instead of all of them.

A choice has candidates with scores, whole numbers that one person can move by a known amount. Whoever
answers says which candidate scores best (or nearly so, where noise decides), and not how well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.numbers import Numeric, make_rational
from sulq.queries.codes import Cross, OneHot
from sulq.queries.expressions import named
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of, nodes_of
from sulq.queries.query import By, Neighbours, Query, check_groups, check_operands, choices_of, moves
from sulq.queries.question import QUESTIONS, Question
from sulq.queries.scope import Scope
from sulq.wire import exact, members

STEP_BITS = 31
"""A row adds at most about so many bits to a score: 2^30 rows fit 62 bits."""
Score = Literal["majority", "purity"] | tuple[int, ...]
HEAVIEST = 1000
"""The most that a row of a label can count for in a score."""


@dataclass(frozen=True, eq=False)
class Choice(Question):
    """Which of several candidates scores best, in each group of `by`. `sulq.choose` makes one.

    With a label, the candidates are attributes and a score is how many rows the majority label of each
    value gets right: Σⱼ maxₖ Nⱼₖ. A row that comes adds 1 to one cell of every attribute's table, so every
    score grows by 0 or 1; a row that is replaced leaves one cell and joins another, so a score moves by at
    most 1 (it loses at most 1 and gains at most 1). Without a label the candidates are single sums.

    By "purity" a score also grows where a value makes a label more certain without changing the majority, as
    a split near the root of a tree does. It is the mean of 1 + L majorities among L labels: one in which all
    count the same, and for each label one in which its rows count three times the others'. In steps of
    1/(L + 4) a row that comes adds at most 2 to the first, 3 to its own label's and 1 to each of the others:
    L + 4 in all, so a score moves by at most 1 here too.

    By weights, one for each label, a score sees a rare label become more or less rare where purity sees no
    majority change. It is made of 1 + L majorities too: in one all rows count double, and in one for each
    label the rows of that label do. In each of them a row counts by the weight of its label. So a row that
    comes adds at most L + 3 times the largest weight, of which a step is one part.
    """

    candidates: tuple[Node, ...]
    label: Node | None
    by: tuple[Node, ...]
    weight: Fraction = Fraction(1)
    score: Score = "majority"

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, tuple) or not self.candidates:
            raise QueryError("there is nothing to choose from: a choice needs a tuple of candidates")
        check_operands("a choice", *self.candidates, *(() if self.label is None else (self.label,)))
        check_groups("a choice", self.by)
        if self.label is None and self.by:
            raise QueryError("without a label, a choice has no groups")
        if not _is_score(self.score):
            raise QueryError(
                f"a score is 'majority', 'purity' or a whole weight from 1 to {HEAVIEST} for each label, "
                f"not {self.score!r}"
            )
        make_rational(self, "weight")

    def __reduce__(self) -> tuple[type[Choice], tuple[Any, ...]]:
        return Choice, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """The row expressions whose sums give the scores, one for each candidate."""
        if self.label is None:
            return self.candidates
        return tuple(OneHot(Cross((*self.by, candidate, self.label))) for candidate in self.candidates)

    def shape(self, scope: Scope) -> tuple[int, ...]:
        """The shape of the answer: one axis for each `by`."""
        return tuple(scope.code(group).size for group in self.by)

    def scores(self, sums: Sequence[NDArray[np.object_]], scope: Scope) -> NDArray[np.object_]:
        """Each candidate's score in each group, candidates first, in steps of `score_step`."""
        if self.label is None:
            ratios = [scope.number(part).unit / self.score_step(scope) for part in self.parts]
            # Rounding down moves no score further than by the next whole number of steps.
            return np.stack(
                [
                    total * ratio.numerator // ratio.denominator
                    for total, ratio in zip(sums, ratios, strict=True)
                ]
            )
        labels, groups = self._label_size(scope), math.prod(self.shape(scope))
        tables = [table.reshape(groups, -1, labels) for table in sums]
        return np.stack(
            [
                sum((table * votes).max(axis=2).sum(axis=1) for votes in self._votes(labels))
                for table in tables
            ]
        )

    def _votes(self, labels: int) -> NDArray[np.int64]:
        """How much a row of each label counts in each of the majorities that make up a score."""
        if self.score == "majority":
            return np.ones((1, labels), dtype=np.int64)
        if self.score == "purity":
            even = np.ones(labels, dtype=np.int64)
            return np.vstack([2 * even, even + 2 * np.diag(even)])
        weights = np.array(self.score, dtype=np.int64)
        return np.vstack([2 * weights, weights + np.diag(weights)])

    def steps(self, scope: Scope) -> int:
        """Into how many steps a row is divided: what a row adds to a score at most."""
        if self.label is None:
            return 1
        return int(self._votes(self._label_size(scope)).sum(axis=0).max())

    def spread(self, scope: Scope) -> Fraction:
        """By how many rows a score can be off, if every count of a value and a label is off by one row."""
        if self.label is None:
            return Fraction(1)
        votes = self._votes(self._label_size(scope))
        return Fraction(int(votes.max(axis=1).sum()), self.steps(scope))

    def _label_size(self, scope: Scope) -> int:
        """How many labels there are, or a refusal if the score does not have as many weights."""
        assert self.label is not None
        labels = scope.code(self.label).size
        if isinstance(self.score, tuple) and len(self.score) != labels:
            raise QueryError(f"there are {labels} labels, and the score has {len(self.score)} weights")
        return labels

    def score_step(self, scope: Scope) -> Fraction:
        """What one step of a score is worth: a row or a part of it, or the finest of the sums' grids.

        Grids that are finer than any score needs to be would leave no room for sums over many rows.
        """
        if self.label is not None:
            return Fraction(1, self.steps(scope))
        finest = min(scope.number(part).unit for part in self.parts)
        return finest * (1 << max(0, int(self._largest(scope) / finest).bit_length() - STEP_BITS))

    def moves(self, scope: Scope, neighbours: Neighbours) -> int:
        """How far one person moves any candidate's score, in steps."""
        if self.label is not None:
            for part in self.parts:
                scope.number(part)
            return scope.schema.rows_per_unit * self.steps(scope)
        if {scope.number(part).width for part in self.parts} != {1}:
            raise QueryError("only single numbers can be chosen among, not vectors")
        furthest = max(moves(scope, part, 1, neighbours) for part in self.parts)
        return math.ceil(furthest / self.score_step(scope))

    def size(self, scope: Scope) -> int:
        """The most one row adds to a candidate's score, in steps."""
        if self.label is not None:
            return self.steps(scope)
        return max(1, math.ceil(self._largest(scope) / self.score_step(scope)))

    def _largest(self, scope: Scope) -> Fraction:
        """The most one row adds to a sum."""
        return max(scope.number(part).magnitude * scope.number(part).unit for part in self.parts)

    def monotone(self, scope: Scope, neighbours: Neighbours) -> bool:
        """Whether all scores move the same way: counts do when a row only comes or goes."""
        if neighbours != "add-remove":
            return False
        return self.label is not None or all(scope.number(part).nonnegative for part in self.parts)

    @property
    def form(self) -> dict[str, Any]:
        """The choice as plain data; `Choice.of` reads it back."""
        return {
            "query": "choose",
            "candidates": [candidate.form for candidate in self.candidates],
            "label": None if self.label is None else self.label.form,
            "by": [group.form for group in self.by],
            "weight": str(self.weight),
            "score": list(self.score) if isinstance(self.score, tuple) else self.score,
        }

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Choice:
        """The choice with this form.

        >>> Choice.of(choose(["sex", "plan"], label="sick").form).label.name
        'sick'
        """
        given = members(form, "a choice", ["query", "candidates", "label", "by", "weight", "score"])
        return cls(
            nodes_of(given["candidates"], "the candidates of a choice"),
            None if given["label"] is None else node_of(given["label"]),
            nodes_of(given["by"], "the groups of a choice"),
            exact(given["weight"], "a weight"),  # type: ignore[arg-type]
            tuple(given["score"]) if isinstance(given["score"], list) else given["score"],
        )


QUESTIONS["choose"] = Choice.of


def _is_score(score: object) -> bool:
    if isinstance(score, tuple):
        return bool(score) and all(type(weight) is int and 1 <= weight <= HEAVIEST for weight in score)
    return score in ("majority", "purity")


def choose(
    candidates: Sequence[Query] | Sequence[Node | str],
    label: Node | str | None = None,
    by: By = None,
    *,
    weight: Numeric = 1,
    score: Score = "majority",
) -> Choice:
    """Which candidate scores best: the number of its place in the list.

    Args:
        candidates: with a label, attributes: columns or expressions with few possible values. Without a
            label, counts or totals of single numbers, of which the largest is asked for.
        label: what the attributes shall predict: a column or an expression with few possible values.
        by: with a label, groups: the best attribute is asked for in each of them.
        weight: the larger the weight is among the queries of a round, the likelier is the best candidate.
        score: with a label, how a candidate is scored. "majority" counts the rows that the most frequent
            label of each value gets right. "purity" also sees labels become more certain. Weights, a whole
            number for each label, see that where a label is rare too: give each label about the inverse of
            its share, as (1, 7) where one row in eight has the second of two labels.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> best = sulq.choose(["sex", "plan", "limited"], label="bought_drugs")
    >>> people.exact().ask(sulq.Round([best]))[0].value
    1
    """
    if label is None:
        if by is not None or not all(isinstance(c, Query) and c.statistic != "mean" for c in candidates):
            raise QueryError("without a label, choose takes a list of counts and totals, and no by")
        parts = tuple(part for query in candidates if isinstance(query, Query) for part in query.parts)
        return Choice(parts, None, (), weight)  # type: ignore[arg-type]
    attributes = choices_of([c for c in candidates if not isinstance(c, Query)])
    if len(attributes) < len(candidates):
        raise QueryError("with a label, choose takes a list of attributes, not of queries")
    return Choice(attributes, named(label), choices_of(by), weight, score)  # type: ignore[arg-type]
