"""One step of k-means, as the SuLQ paper asks for it: the clusters' sizes, and the sums of their rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sulq.learners.estimates import ROUND, Floats, kept
from sulq.queries.cases import clip
from sulq.queries.codes import Nearest, nearest
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.vectors import FEATURE_BITS, clip_norm, features, vector
from sulq.talk.answers import BETA, Answer

DEVIATIONS = 2.0
"""How many deviations from its centre a row counts in full in a coordinate, however large the noise."""
LENGTH = 0.75
"""The longest row a step counts in full, as part of one that is as far as it may be in every coordinate."""
WIDEST = 2.0
"""How wide the space is in every coordinate."""
SIZE_WEIGHT = Fraction(1, 4)
"""Of the sizes in a step, against 1 for the sums: see `step`."""


def step(names: Sequence[str], centres: Floats, reach: Floats) -> list[Query]:
    """The paper's step: the size of each cluster, and the sum of its rows' differences from its centre.

    A centre's error is about √(d·v + |m|²·u)/size, for noise of variance v in the sums and u in the sizes,
    where m is how far the mean is from where the rows are measured from. From the old centre that is not
    far, so the sizes may be noisy; nor are the rows, so clipping them at `reach` (r) takes little, and cuts v
    by r². With weight w for sizes and 1 for sums v ∝ r² and u ∝ 1/w², at a cost ∝ w + d: the least error is
    at w = (|m|/r)^(2/3), which is 1/4 if a centre moves by an eighth of the reach.

    Few rows are at the reach in all coordinates at once, so both their norms are clipped too, unless the
    reach is all there is.

    Args:
        names: the columns that span the space.
        centres: where the centres are, one in each line.
        reach: how far from its centre a row counts in full, in each coordinate.
    """
    cluster: Nearest = nearest(features(*names), plain(centres))
    differences: Node = vector(
        *(
            clip(features(name) - lookup(cluster, [float(x) for x in at]), -float(r), float(r))
            for name, at, r in zip(names, centres.T, reach, strict=True)
        )
    )
    if reach.min() < 2:
        near = clip_norm(differences, LENGTH * float(np.linalg.norm(reach)))
        differences = clip_norm(near, LENGTH * ROUND * float(reach.sum()), order=1)
    return [count(by=cluster, weight=SIZE_WEIGHT), total(differences, by=cluster)]


def moved(centres: Floats, reach: Floats, count_: Answer, total_: Answer) -> tuple[Floats, Floats]:
    """The centres after a step, and the sizes of their clusters.

    A step is shortened by the positive-part James–Stein estimate, so one no longer than its noise is not
    taken.

    Args:
        centres: where the centres were.
        reach: how far from its centre a row counted in full.
        count_: the answer about the sizes.
        total_: the answer about the differences.
    """
    k, d = centres.shape
    sizes = np.maximum(count_.value, 0.0)
    known = sizes > 2 * float(count_.deviation)
    steps = total_.value.reshape(k, d) / np.maximum(sizes, 1.0)[:, np.newaxis]
    noise = float(total_.deviation) / np.maximum(sizes, 1.0)
    taken = kept((steps**2).sum(axis=1), d, noise) * known
    after = centres + np.clip(steps * taken[:, np.newaxis], -reach, reach)
    return on_grid(np.clip(after, -1, 1)), sizes


def errors(before: Floats, after: Floats, count_: Answer, total_: Answer) -> Floats:
    """How far each centre is, in each coordinate, from the mean of the rows that were counted nearest to it.

    The noise alone is meant, but for a chance of 5 % for all centres at once; rows count as far as the reach.
    If T and N are off by at most a and b, then T/N is off by at most (a + b·|T/N|)/(N − b). Where N may be
    zero, the answers say nothing, and the error is as wide as the space: 2.

    Args:
        before: where the centres were.
        after: where they are.
        count_: the answer about the sizes.
        total_: the answer about the differences.
    """
    off, size_off = float(np.max(total_.radius(BETA / 2))), float(np.max(count_.radius(BETA / 2)))
    if off == 0 and size_off == 0:
        return np.zeros_like(after)
    sizes = np.reshape(count_.value, (-1, 1))
    known = sizes > size_off
    steps = total_.value.reshape(before.shape) / np.where(known, sizes, 1.0)
    noisy = (off + size_off * np.abs(steps)) / np.where(known, sizes - size_off, 1.0)
    return np.where(known, np.minimum(noisy + np.abs(after - before - steps), WIDEST), WIDEST)


def reach_of(spread: Floats, noise: float) -> Floats:
    """How far from its centre a row still counts in full, in each coordinate.

    As far as leaves a centre uncertain by a tenth of the spread of its rows (a hundredth of the inertia);
    where that is very near, DEVIATIONS times the spread.

    Args:
        spread: one standard deviation of the rows around their centres, in each coordinate.
        noise: how uncertain a reach of 1 leaves a centre.
    """
    affordable = math.inf if noise == 0 else 0.1 * math.sqrt(float(np.mean(spread**2))) / noise
    return np.minimum(np.maximum(DEVIATIONS * spread, affordable), 2.0)


def on_grid(centres: Floats) -> Floats:
    """Centres on the grid of the rows, where differences from a centre are exact."""
    return np.asarray(np.rint(centres * 2.0**FEATURE_BITS) / 2.0**FEATURE_BITS)


def plain(centres: Floats) -> tuple[tuple[float, ...], ...]:
    """Centres as tuples of Python's numbers."""
    return tuple(tuple(float(x) for x in centre) for centre in centres)
