"""How far off models of a release are: rehearsed on tables to which noise of the same size is added again.

What a model's own error bars leave out shows when the model is made again of noisier tables: noise in how
values go together, and effects that were made smaller because noise hides them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.talk.laws import Exactly

TIMES = 3
"""How often noise is added again."""
LEAST = 1.2
"""Deviations are multiplied by so much at least: three rehearsals say little, and know only tables that were
made smooth. Without it, 91 to 93 % of error bars of effects on a number were held at ε = 1."""
Fit = Callable[[PairsFacts], tuple[Floats, Floats]]
"""Makes a model: its effects, and their deviations as the model itself says."""


def stretch(facts: PairsFacts, fit: Fit) -> float:
    """By how much a model's own deviations are to be multiplied: at least by `LEAST`, and by 1 without noise.

    Args:
        facts: what the release says.
        fit: makes the model.
    """
    if not any(each.law.deviation for each in facts.agreement.pairs.values()):
        return 1.0
    generator = np.random.default_rng(0)
    truth, _ = fit(_again(facts, None))
    squares = []
    for _ in range(TIMES):
        effects, deviations = fit(_again(facts, generator))
        squares.append(((effects - truth) / deviations.clip(min=1e-12)) ** 2)
    return max(LEAST, float(np.sqrt(np.mean(squares))))


def _again(facts: PairsFacts, generator: np.random.Generator | None) -> PairsFacts:
    """The facts as another release would have them, if the positive tables were those of the rows.

    Args:
        facts: what the release says.
        generator: where the noise comes from; None for exact answers.
    """

    def noisy(counts: Floats, deviation: float) -> Floats:
        return counts if generator is None else counts + deviation * generator.standard_normal(counts.shape)

    agreed, law = facts.agreement, Exactly()
    columns, counted = [], []
    for place, (column, counts) in enumerate(zip(facts.columns, agreed.columns, strict=True)):
        values = noisy(facts.within(place), float(counts.law.deviation))
        exact = law if generator is None else counts.law
        columns.append(replace(column, counts=replace(column.counts, value=values, law=exact)))
        counted.append(replace(counts, values=values, law=exact))
    pairs = {
        pair: replace(
            table,
            values=noisy(facts.positive.tables[pair], float(table.law.deviation)),
            law=law if generator is None else table.law,
        )
        for pair, table in agreed.pairs.items()
    }
    agreement = replace(agreed, rows=facts.positive.total, columns=tuple(counted), pairs=pairs)
    return replace(facts, columns=tuple(columns), agreement=agreement)
