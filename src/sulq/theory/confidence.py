"""The SuLQ paper's definition of privacy itself: by how much a release raises somebody's confidence.

Definition 1: somebody knows every row but one, and has a belief about that one. conf(p) = ln(p/(1 − p)). A
mechanism is (ε, δ, T)-private if for every predicate the confidence that it is true of the row grows by more
than ε with a chance of at most δ, whatever T queries are asked.

By Bayes' rule the belief in a row x is multiplied by how likely the answers are if the row is x. So the gain
is

    ln(Σ bₓ·Lₓ over x with the predicate / Σ bₓ·Lₓ over the others) − the same without the likelihoods L.

It is computed here from what was released, the noise that was in it, and a belief that is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.oracles.chunks import ChunkCurator
from sulq.oracles.curator import Curator
from sulq.oracles.remote import Remote
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteLaplace, Noise
from sulq.privacy.repeated import AddedNoise, RepeatedNoise, times_of
from sulq.privacy.spherical import SphericalLaplace
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.rounds import Round, asked_of
from sulq.schema import Schema
from sulq.sources.opening import open as open_source
from sulq.sources.rows import Rows, rows_of
from sulq.talk.answers import Answer
from sulq.talk.laws import Ratio

Row = Mapping[str, Any]
ROUNDING = Fraction(1, 10**9)
"""Chances that floats say add up to 1 but for this."""


def conf(probability: Numeric) -> float:
    """conf of Definition 1: ln(p/(1 − p)), from −∞ to ∞.

    Args:
        probability: p, above 0 and less than 1.

    >>> conf(0.5), round(conf(0.75), 3)
    (0.0, 1.099)
    """
    belief = rational("a belief", probability, below=1)
    return math.log(belief.numerator) - math.log(belief.denominator - belief.numerator)


@dataclass(frozen=True)
class Confidence:
    """What a belief was before a release, and what it is after it.

    Args:
        prior: the belief that the predicate is true of the row, before.
        posterior: the same, after.
        gain: conf(posterior) − conf(prior), which stays exact where the posterior is rounded to 0 or 1.

    >>> Confidence(prior=0.5, posterior=0.75, gain=1.0986).gain
    1.0986
    """

    prior: float
    posterior: float
    gain: float


def confidence(
    curator: Curator | Remote,
    released: Sequence[tuple[Round, Sequence[Answer]]],
    others: Mapping[str, Sequence[Any]],
    beliefs: Sequence[tuple[Row, Numeric]],
    predicate: str | Node,
) -> Confidence:
    """How much a release tells somebody who knows all rows but one: the gain of Definition 1.

    It reads no row of the curator's: what is known and what is believed is given. Rows are people here, and
    the questions are counts, totals and means over all rows.

    Args:
        curator: whoever answered.
        released: the rounds that were asked, and their answers.
        others: all rows but the one, by column: what somebody is supposed to know.
        beliefs: what the one row may be, and how likely that is thought to be; the chances add up to 1, but
            for what floats lose.
        predicate: what is asked of the row: a boolean column, or an expression that is true or false.

    >>> import sulq
    >>> rows = {"sick": [True, False, True, True]}
    >>> curator = sulq.open(rows, {"sick": sulq.Boolean()}).curator(epsilon=1)
    >>> round_ = sulq.Round([sulq.count(where="sick")], share=1)
    >>> known, beliefs = {"sick": [True, False, True]}, [({"sick": True}, 0.5), ({"sick": False}, 0.5)]
    >>> learned = confidence(curator, [(round_, curator.ask(round_))], known, beliefs, sulq.col("sick"))
    >>> abs(learned.gain) <= 1
    True
    """
    if not isinstance(curator, Curator | Remote) or isinstance(curator, ChunkCurator):
        raise QueryError("confidence is about a curator who answers from all rows")
    if curator.offer.truncate:
        raise QueryError("a truncated answer does not say what was released: ask with truncate=False")
    chances = [rational("a belief", chance) for _, chance in beliefs]
    whole = sum(chances, Fraction(0))
    if abs(whole - 1) > ROUNDING:
        raise QueryError(f"beliefs are chances that add up to 1, not to {float(whole):.10g}")
    if curator.schema.unit is not None:
        raise QueryError("confidence is about a person of one row: the schema has a unit")
    for name in curator.schema:
        if name not in others or any(name not in row for row, _ in beliefs):
            raise QueryError(f"what is known, and each row that is believed in, has column {name!r}")
    holding = condition(predicate, curator.schema)
    tables = [_with(curator.schema, others, row) for row, _ in beliefs]
    if curator.offer.rows not in (None, tables[0].rows):
        raise QueryError(
            f"what is known are all rows but one, {curator.offer.rows - 1} of them, not {tables[0].rows - 1}"
        )
    likely = np.zeros(len(beliefs))
    for round_, answers in released:
        parts, noisy, noises = _released(curator, round_, answers)
        for place, table in enumerate(tables):
            sums = zip(table.sums(parts), noisy, noises, strict=True)
            likely[place] += math.fsum(_likelihood(noise, steps, list(true)) for true, steps, noise in sums)
    if not np.isfinite(likely).any():
        raise QueryError("by these answers the row is none of those that are believed in")
    holds = np.array([bool(table.values(holding)[-1]) for table in tables])
    if holds.all() or not holds.any():
        raise QueryError("the predicate is true of all rows that are believed in, or of none")
    before = np.log(np.array([float(chance) for chance in chances]))
    prior, posterior = (_odds(weights, holds) for weights in (before, before + likely))
    return Confidence(_chance(prior), _chance(posterior), posterior - prior)


def _with(schema: Schema, others: Mapping[str, Sequence[Any]], row: Row) -> Rows:
    """The table that somebody who believes in a row thinks there is."""
    return rows_of(open_source({name: [*others[name], row[name]] for name in schema}, schema), "a belief")


def _released(
    curator: Curator | Remote, round_: Round, answers: Sequence[Answer]
) -> tuple[list[Node], list[list[int]], list[Noise | FinerGaussian | None]]:
    """The parts of a round, their noisy sums in steps of the noise's grid, and the noise that is in them."""
    terms, scope = curator.offer.terms(round_), curator.offer.scope
    parts: list[Node] = []
    noisy: list[list[int]] = []
    queries = asked_of(round_, curator.schema).queries
    if len(answers) != len(queries):
        raise QueryError(f"a round of {len(queries)} queries has as many answers, not {len(answers)}")
    for query, answer in zip(queries, answers, strict=True):
        if not isinstance(query, Query):
            raise QueryError(
                "confidence is worked out for counts, totals and means, and not for other questions"
            )
        parts += query.parts
        sums: list[Any] = [answer.value]
        if isinstance(answer.law, Ratio):
            sums = [answer.law.totals, answer.law.counts]
        facts = [scope.number(part) for part in query.parts]
        sizes = [np.size(values) if np.isfinite(values).all() else 0 for values in sums]
        if sizes != [each.width for each in facts]:
            raise QueryError(f"an answer is that to another query than the {query.statistic} that was asked")
        for each, values in zip(facts, sums, strict=True):
            times = times_of(terms.noises[len(noisy)])
            noisy.append([round(Fraction(float(value)) / each.unit * times) for value in np.ravel(values)])
    return parts, noisy, [_single(noise) for noise in terms.noises]


def _single(noise: AddedNoise | None) -> Noise | FinerGaussian | None:
    if isinstance(noise, RepeatedNoise):
        raise QueryError("a mean of repeated answers has no simple law: ask without tolerances")
    if isinstance(noise, SphericalLaplace):
        raise QueryError("noise for whole vectors has no simple law: ask for each number by itself")
    return noise


def _likelihood(noise: Noise | FinerGaussian | None, steps: Sequence[int], true: Sequence[int]) -> float:
    """How likely the noisy sums are, but for a constant and as a logarithm; −∞ where no noise could do it."""
    off = [abs(noisy - int(exact) * times_of(noise)) for noisy, exact in zip(steps, true, strict=True)]
    if isinstance(noise, FinerGaussian):
        noise = noise.noise
    if noise is None:
        return -math.inf if any(off) else 0.0
    if isinstance(noise, DiscreteLaplace):
        return -float(sum(off) / noise.scale)
    return -float(Fraction(sum(each**2 for each in off)) / (2 * noise.variance))


def _odds(weights: Any, holds: Any) -> float:
    """ln(Σ e^w where the predicate holds / Σ e^w elsewhere)."""
    return float(np.logaddexp.reduce(weights[holds]) - np.logaddexp.reduce(weights[~holds]))


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0
