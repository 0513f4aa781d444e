"""The oracle of the lower bound for masked parity: valid answers that carry nothing about the mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.oracles.exact import Exact
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.sources.opening import open as open_source
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.laws import Within
from sulq.theory.masked_examples import check_secret, masked_parity_domain, masked_parity_schema


@dataclass
class MaskBlind:
    """Answers about uniform examples of c_{r,a}, if it can, as if a were tossed afterwards: Theorem 5.16.

    The true answer is a part that does not depend on the mask a, plus one that changes its sign with it.
    Wherever that second part is within the query's tolerance it is left out, so the answer is valid and the
    same for both masks; only a question that correlates with the parity of r, of which there are few, gets
    the truth. A query that states no tolerance is taken to allow 2^(−d/3) of its half range, as in the
    theorem. No learner that asks all its questions at once can do more than guess a.

    Args:
        secret: r, a list of zeros and ones.
        mask: a, 0 or 1.

    >>> import sulq
    >>> weak = sulq.theory.MaskedParity(adaptive=False).learn(MaskBlind((1, 0, 1, 1), 0))
    >>> weak.secret, weak.mask
    ((1, 0, 1, 1), None)
    """

    secret: Sequence[int]
    mask: int
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_secret(self.secret, self.mask)

    @cached_property
    def schema(self) -> Schema:
        return masked_parity_schema(len(self.secret))

    @property
    def promise(self) -> str:
        return "none: answers within tolerance, blind to the mask"

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round; nothing is kept, so it does not matter which run asks."""
        truths, others = (self._populations[mask].ask(round_) for mask in (self.mask, 1 - self.mask))
        self.rounds += 1
        self.queries += len(round_.queries)
        source = self._populations[self.mask].source
        return [
            blind_answer(query, truth.value, other.value, source, len(self.secret))
            for query, truth, other in zip(round_.queries, truths, others, strict=True)
        ]

    @cached_property
    def _populations(self) -> list[Exact]:
        domains = [masked_parity_domain(self.secret, mask) for mask in (0, 1)]
        return [Exact(open_source(domain, self.schema)) for domain in domains]


def blind_answer(query: Any, truth: Any, other: Any, source: Sums, bits: int) -> Answer:
    """The middle between what is true of two populations, where that is valid; else the truth.

    Args:
        query: what was asked.
        truth: the true answer.
        other: the true answer for the population that must not be told apart.
        source: the first population.
        bits: d: a query that states no tolerance allows 2^(−d/3) of its half range.
    """
    if not isinstance(query, Query):
        raise QueryError("this oracle answers counts, totals and means, not choices")
    tolerance = _tolerance(query, source, bits)
    middle = (np.asarray(truth) + other) / 2
    value = np.where(np.abs(truth - middle) <= tolerance, middle, truth)
    return Answer(float(value) if np.ndim(value) == 0 else value, Within(tolerance))


def _tolerance(query: Query, source: Sums, bits: int) -> float:
    if query.tolerance is not None:
        return float(query.tolerance)
    facts = source.scope.number(query.value)
    half_range = float(int((facts.high - facts.low).max()) * facts.unit) / 2
    rows = 1 if query.statistic == "mean" else source.rows
    return 2 ** (-bits / 3) * max(half_range, 0.5) * rows
