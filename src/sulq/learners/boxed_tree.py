"""The SuLQ paper's ID3, line by line (section 4.4), and Lemma 2 with its constant.

**Lemma 2, made explicit.** V_A is the sum of a·log₂(a/b) over all cells, with a = |T[A = j, L = k]| rows and
b = |T[A = j]|. If no count is off by more than e, a cell's term lies between the least and the largest
a·log₂(a/b) over all 0 ≤ a ≤ b within e of the counts: it falls with b, and in a it is convex, with its least
where a is b over 2.718…. Adding up how far a cell's term can be from what was counted for it, 0 if it was
skipped, bounds |V̄_A − V_A|.

Beforehand, with e ≤ N_T/γ and x = 1/γ: a skipped cell has at most 2x·N_T rows and a term of at most
2x·log₂(1/2x) bits a row. (The paper says 2x; the logarithm is missing.) A term that is not skipped is off by
at most x·log₂(1/x) for a, and by 3/2·x for b. Both are at most 2x·(log₂(1/x) + 3/2), so with t² cells the
gain of what is picked is below the best by at most 2·t²·2x·(log₂(1/x) + 3/2) bits a row: Δ of the lemma.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.hypotheses.tree import Tree
from sulq.learners.growth import Draft
from sulq.queries.node import Node
from sulq.queries.query import Query, count
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import BETA, Answer
from sulq.talk.oracle import Rounds

Counts = NDArray[np.float64]
LEAST_WITHIN = 1e-9


def gamma_for(within: float, values: int) -> float:
    """γ of the box for a Δ: the least with 2·t²·2/γ·(log₂ γ + 3/2) ≤ Δ, O(t²/Δ) but for a logarithm.

    Args:
        within: Δ, in bits a row.
        values: t, the most values that an attribute or the label has.

    >>> round(gamma_for(0.1, 2))
    1994
    """
    if within < LEAST_WITHIN:
        raise QueryError(f"within must be at least {LEAST_WITHIN:g} bits a row, got {within:g}")
    low, high = 2.0, 4.0
    while _loss(high, values) > within:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _loss(middle, values) <= within else (middle, high)
    return high


def _loss(gamma: float, values: int) -> float:
    return 4 * values**2 / gamma * (math.log2(gamma) + 1.5)


@dataclass(frozen=True)
class PrintedTree:
    """How the paper's tree grows.

    Args:
        label: what the tree tells.
        labels: how many labels there are.
        gamma: γ.
        depth: how many questions lead to a leaf at most.
        share: the part of the budget to spend, in equal parts for every query there may be: in the paper all
            have the same noise.
    """

    label: Node
    labels: int
    gamma: float
    depth: int
    share: Fraction

    def grown(self, schema: Schema, draft: Draft) -> Rounds[Tree]:
        """The tree of the box. Its lines are numbered."""
        table, worst = dict[int, Counts](), 0.0
        while draft.open:
            rows, labelled = yield self._round(self._nodes(draft), draft)  # 1.
            sizes, counted = np.reshape(rows.value, -1), np.reshape(labelled.value, (len(draft.open), -1))
            table |= dict(zip(draft.open, counted, strict=True))
            least = self.gamma * self._off([labelled], draft)
            large = {
                node: size
                for node, size in zip(draft.open, sizes.tolist(), strict=True)
                if len(draft.used(node)) < self.depth and draft.telling(node) and size > least  # 2. and 3.
            }
            if not large:
                break
            questions = self._questions(draft, list(large))
            queries = [query for both in questions.values() for query in both]
            answers = yield self._round(queries, draft)  # 4.
            picked, lost = self._picked(draft, large, questions, answers)  # 5.
            worst = max(worst, lost)
            draft.grow(picked)  # 6.
        ends = {end: table[end] for end in draft.ends}
        tree = draft.tree(schema, self.label, ends, float(np.max(labelled.deviation)), prune=0.0)  # 7.
        return replace(tree, gain_error=worst)

    def most_numbers(self, sizes: Sequence[int], schema: Schema) -> int:
        """How many numbers a tree asks for that splits all nodes of all levels, the largest attributes first.

        No other order takes more. Let one question of a values and one of b follow each other, and let all
        attributes that are left then have c values. A node with a first takes (a − b)·(1 + c) counts more.
        """
        largest, numbers = sorted(sizes, reverse=True), 0
        for level in range(self.depth + 1):
            nodes = math.prod(largest[:level])
            numbers += nodes * (1 + self.labels)
            if level < self.depth:
                numbers += nodes * sum(largest[level:]) * (1 + self.labels)
        return numbers - (schema.unit is None)

    def price(self, attributes: int) -> Fraction:
        """The part of the budget for each query: below the root, no node asks about all attributes."""
        tables = attributes + (self.depth - 1) * (attributes - 1) if self.depth else 0
        return self.share / (2 * (tables + self.depth + 1))

    def _round(self, queries: Sequence[Query], draft: Draft) -> Round:
        return Round(queries, len(queries) * self.price(len(draft.questions)))

    def _nodes(self, draft: Draft) -> list[Query]:
        """N_T and N_j of every open node."""
        by, only = draft.among(draft.open)
        return [count(where=only, by=by), count(where=only, by=[*by, self.label])]

    def _questions(self, draft: Draft, nodes: Sequence[int]) -> dict[int, list[Query]]:
        """N_j and N_jk of every attribute, in the nodes on whose way nothing answers it."""
        queries: dict[int, list[Query]] = {}
        for question, attribute in enumerate(draft.questions):
            if here := [node for node in nodes if question in draft.telling(node)]:
                by, only = draft.among(here)
                tables = ([*by, attribute], [*by, attribute, self.label])
                queries[question] = [count(where=only, by=each) for each in tables]
        return queries

    def _off(self, answers: Sequence[Answer], draft: Draft) -> float:
        """ε of the box, √(R·ln(1/δ)), with a δ of 5 % over all d·t² estimates of a node."""
        rare = BETA / (max(1, sum(draft.sizes)) * self.labels)
        return max(float(np.max(answer.deviation)) for answer in answers) * math.sqrt(math.log(1 / rare))

    def _picked(
        self,
        draft: Draft,
        large: Mapping[int, float],
        questions: Mapping[int, Sequence[Query]],
        answers: Sequence[Answer],
    ) -> tuple[dict[int, Sequence[int]], float]:
        """The attribute with the largest V̄ in every node, and how far below the best one its gain may be.

        Line 3 holds for these counts too, which may be noisier: a node that is too small for them is a leaf.
        """
        values: dict[int, dict[int, tuple[float, float]]] = {node: {} for node in large}
        chance, least = BETA / (2 * len(questions)), self.gamma * self._off(answers, draft)
        for question, sizes, cells in zip(questions, answers[::2], answers[1::2], strict=True):
            here = [node for node in large if question in draft.telling(node)]
            of_value = np.reshape(sizes.value, (len(here), -1))
            of_cell = np.reshape(cells.value, (*of_value.shape, self.labels))
            off = max(float(np.max(each.radius(chance))) for each in (sizes, cells))
            for node, one, each in zip(here, of_value, of_cell, strict=True):
                values[node][question] = gained(one, each, large[node] / self.gamma, off)
        picked: dict[int, Sequence[int]] = {}
        worst = 0.0
        for node, known in values.items():
            if large[node] <= least:
                continue
            # Rounded, so that equal sums are equal in whatever order they were added up.
            best = max(known, key=lambda question: (round(known[question][0], 6), -question))
            off = known[best][1] + max(error for _, error in known.values())
            picked[node], worst = (best,), max(worst, off / large[node])
        return picked, worst


def gained(sizes: Counts, cells: Counts, least: float, off: float) -> tuple[float, float]:
    """V̄ of an attribute, and how far it may be from V if no count is off by more than `off`.

    Args:
        sizes: N_j, the rows with each value of the attribute.
        cells: N_jk, those with each label too.
        least: terms with counts below it are skipped.
        off: how far off the counts are at most.

    >>> gained(np.array([8.0, 8.0]), np.array([[8.0, 0.0], [4.0, 4.0]]), 1.0, 0.0)
    (-8.0, 0.0)
    """
    value, error = 0.0, 0.0
    for size, row in zip(sizes.tolist(), cells.tolist(), strict=True):
        for cell in row:
            skipped = cell < least or size < least or cell <= 0 or size <= 0
            term = 0.0 if skipped else cell * math.log2(cell / size)
            low, high = _between(cell, size, off)
            value += term
            error += max(term - low, high - term, 0.0)
    return value, error


def _between(cell: float, size: float, off: float) -> tuple[float, float]:
    """The least and the largest a·log₂(a/b) over all 0 ≤ a ≤ b with a and b within `off` of the counts."""
    low, high = max(0.0, cell - off), max(0.0, cell + off)
    widest = max(size + off, low)
    lowest = min(max(low, widest / math.e), min(high, widest))
    narrow = max(size - off, 0.0)
    # The largest term is at an end of a, with the least b that is allowed there.
    ends = [_term(a, max(a, narrow)) for a in (low, min(high, widest))]
    return _term(lowest, widest), max(ends)


def _term(a: float, b: float) -> float:
    return a * math.log2(a / b) if a > 0 and b > 0 else 0.0
