"""How far off effects are, from the known size of the noise in what they were made of.

Four things make errors larger than those of a linear system with known coefficients. Noise may have hidden
that a value has hardly any rows. Noise may hide how wide effects are. And log-odds of a label that nearly all
rows with a value have, or none, may be almost anything: sums of labels do not tell a chance of 99 % from one
of 99.9 %. And all effects may be larger together, at hardly any change of chances that are nearly certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sulq.effects.bars import SURELY
from sulq.effects.estimate import STALE, Estimate, Spread
from sulq.effects.layout import Floats
from sulq.effects.logistic import Chances
from sulq.effects.solving import solved

DOUBTED = 0.02
"""No direction has less than this part of the variance that independent attributes would give it. It is less
than where effects are estimated: what two attributes say alike is not known of each of them."""
WIDEST, AGAIN = 4.0**2, 0.5
"""Effects may vary as much as this, however much they seem to, and another step may go on by this part of the
last one."""
MOST_SHARPER, HALVINGS = 1.0, 12
"""Effects are not all larger by more than this part, which is looked for in so many halves."""
ROUGHER = 4.0
"""What single intervals add varies at most so many times as much as effects of their column seem to vary."""
FEWER, FEWEST = 2.0, 0.05
"""A value may have fewer rows by so many standard deviations of the noise in their number, but at least this
part of them."""


def deviations(estimate: Estimate, doubts: Floats | None = None, intercept: float | None = None) -> Floats:
    """One standard deviation of the error of each effect, effects of an attribute being 0 on average.

    Where noise hides effects, answers do not say how wide they are, and neighbouring intervals may differ
    though they usually do not. So errors are those of effects that may be as wide as they can be at all,
    and how far these would be from the estimate is a part of them, as is another step.

    Args:
        estimate: the estimate.
        doubts: one standard deviation of the noise in how many rows have each value; None for none.
        intercept: the log-odds at no effects; None if effects are on a number.
    """
    if not estimate.gradients:
        return _roots(estimate, estimate.prior)
    wider = _doubtful(estimate, doubts)
    h = estimate.curved(DOUBTED)
    along = h @ wider.prior
    left = wider.prior - along.T @ solved(wider.covariance(h), along)
    middle = _centred(estimate, wider.best - estimate.effects)
    step = _centred(estimate, estimate.effects - estimate.gradients[-1].at)
    radii = SURELY * np.hypot(_roots(estimate, left), AGAIN * step)
    if intercept is not None:
        radii = np.hypot(radii, sharper(estimate, intercept) * _centred(estimate, estimate.effects))
    low, high = middle - radii, middle + radii
    if intercept is None:
        return np.asarray(np.maximum(np.abs(low), np.abs(high)) / SURELY)
    chances = Chances(estimate, intercept)
    lower, upper = (chances.away(end * estimate.weights) for end in (low, high))
    # Where answers say nothing, effects are still no larger than they may be at all.
    most = SURELY * _roots(estimate, wider.prior) + np.abs(_centred(estimate, estimate.effects))
    bent = np.maximum(np.abs(lower), np.abs(upper)).clip(max=most)
    straight = np.maximum(np.abs(low), np.abs(high))
    return np.asarray((np.maximum(bent, straight) + _shifts(estimate, bent - straight)) / SURELY)


def sharper(estimate: Estimate, intercept: float) -> float:
    """By which part of themselves all effects may be larger together, beyond what a straight line says.

    Where columns tell the label nearly for certain, chances hardly change if all effects grow, though they do
    if one of them grows alone. So it is looked for how far effects can grow until the gradient along them is
    less by all that it may be off: by noise, by what older gradients say of places that were left, and by
    how strongly effects are held back because they usually are small.

    Args:
        estimate: the estimate.
        intercept: the log-odds at no effects.
    """
    effects, h = estimate.effects, estimate.curvature
    along = h @ effects
    noise = float(estimate.noise @ effects**2) + float(estimate.dispersion * effects @ along)
    # Places of older gradients err alike: effects were smaller there.
    left = float(estimate.shares @ [along @ (effects - gradient.at) for gradient in estimate.gradients])
    most = float(estimate.pull @ effects) + SURELY * np.sqrt(noise + STALE * left**2)
    likely, _ = Chances(estimate, intercept).expected()
    low, high = 0.0, MOST_SHARPER
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        moved, _ = Chances(replace(estimate, effects=(1 + middle) * effects), intercept).expected()
        enough = float(estimate.counts * (moved - likely) @ effects) >= most
        low, high = (low, middle) if enough else (middle, high)
    return max(0.0, high - float(most / (effects @ along))) if most > 0 else 0.0


def _shifts(estimate: Estimate, more: Floats) -> Floats:
    """How far the average of an attribute is off if effects are off by more.

    Args:
        estimate: the estimate.
        more: by how much more each effect may be off, whichever way.
    """
    shifts = np.empty_like(more)
    for part in estimate.layout.slices:
        mass = estimate.counts[part] / estimate.counts[part].sum()
        shifts[part] = np.sqrt(((mass * more[part].clip(min=0.0)) ** 2).sum())
    return shifts


def _doubtful(estimate: Estimate, doubts: Floats | None) -> Estimate:
    """The estimate if effects are as wide as they may be, and values have as few rows as they may have.

    A gradient says as much less about an effect as there are fewer rows: as if it had more noise.
    """
    spreads = _wide(estimate.spreads)
    if doubts is None:
        return replace(estimate, spreads=spreads)
    kept = (1 - FEWER * doubts / estimate.counts).clip(FEWEST, 1.0)
    gradients = tuple(replace(each, noise=each.noise / kept**2) for each in estimate.gradients)
    return replace(estimate, spreads=spreads, gradients=gradients)


def _wide(spreads: Sequence[Spread]) -> tuple[Spread, ...]:
    """Spreads as wide as they may be: what single intervals add beside what neighbours share varies less.

    Args:
        spreads: the intercept's, then those of each attribute, of which an attribute in intervals has two.
    """
    wide = [replace(spreads[0], variance=WIDEST)]
    for before, spread in pairwise(spreads):
        shared = before.variance if before.part == spread.part and before is not spreads[0] else WIDEST
        wide.append(replace(spread, variance=min(WIDEST, ROUGHER * (shared + spread.variance))))
    return tuple(wide)


def _averages(estimate: Estimate, effects: Floats) -> Floats:
    """The average of the effects of an attribute over the rows, for each of its values."""
    averages = np.empty_like(effects)
    for part in estimate.layout.slices:
        averages[part] = np.average(effects[part], weights=estimate.counts[part])
    return averages


def _centred(estimate: Estimate, effects: Floats) -> Floats:
    return effects - _averages(estimate, effects)


def _roots(estimate: Estimate, covariance: Floats) -> Floats:
    """One standard deviation of each effect less the average of its attribute."""
    variances = np.empty(estimate.layout.width)
    for part in estimate.layout.slices:
        mass = estimate.counts[part] / estimate.counts[part].sum()
        centred = np.eye(len(mass)) - mass
        variances[part] = np.diag(centred @ covariance[part, part] @ centred.T)
    return np.asarray(np.sqrt(variances.clip(min=0.0)))
