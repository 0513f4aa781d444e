"""k-means: few public centres, each the mean of the rows nearest to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.centres import Centres
from sulq.learners.cells import Floats, cleaned, clustered, cuts, moments, places, pooled, within
from sulq.learners.estimates import ROUND
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import feature_names
from sulq.queries.cases import clip
from sulq.queries.codes import Nearest, bins, lookup, nearest
from sulq.queries.expressions import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.queries.vectors import FEATURE_BITS, clip_norm, features, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

FINEST = 64
"""The most bins of a column on its own, in the first round."""
MOST_CELLS = 2**14
CELLS = 0.75
"""How many cells there are for every row, over the noise in a cell: more place rows better, and add noise."""
UNSURE = 0.1
"""How unsure of a column's mean, on a scale from −1 to 1, its histogram may leave us."""
DEVIATIONS = 2.0
"""How many deviations from its centre a row counts in full in a coordinate, however large the noise."""
LENGTH = 0.75
"""The longest row a step counts in full, as part of one that is as far as it may be in every coordinate."""
SHARES = (Fraction(3, 20), Fraction(11, 20))
"""What the columns' and the cells' rounds get of the budget; the steps get the rest, in equal parts."""
SIZE_WEIGHT = Fraction(1, 4)
"""Of the sizes in a step, against 1 for the sums: see `step`."""


@dataclass(frozen=True)
class KMeans(Learner[Centres]):
    """Learns k centres: the SuLQ paper's k-means (section 4.2), started from a private histogram.

    One round asks for each column's own histogram, and cuts the columns where that says it matters; one
    round counts the rows in every cell of the grid so made. From here on clustering the cells costs nothing,
    and gives the centres to start from. Each of the `iterations` that follow is a step of the paper's: the
    size of every cluster, and the sum of its rows, here of their differences from the centre as it was. Of
    many columns and few rows the histograms say little: then half of what is left goes to a step with a
    single centre first, the mean of all rows, which no centre leaves again unless it is worth it.

    `k`: how many centres. `features`: numeric or boolean columns, by default all numeric ones; each has its
    public interval scaled to [−1, 1]. `iterations`: how many steps, at most: it stops, and spends no more,
    when no centre moves by more than the noise. `share`: the part of the budget to spend on it all.

    >>> import numpy as np, sulq
    >>> rows = {"x": np.repeat([1.0, 2.0, 8.0, 9.0], 25), "y": np.repeat([3.0, 3.0, 6.0, 6.0], 25)}
    >>> people = sulq.open(rows, {"x": sulq.Real(0, 10), "y": sulq.Real(0, 10)})
    >>> centres = KMeans(2).learn(people.exact())
    >>> [[round(x, 2) for x in centre] for centre in sorted(centres.natural)]
    [[1.5, 3.0], [8.5, 6.0]]
    """

    k: int
    features: Sequence[str] | None = None
    iterations: int = 2
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Centres]:
        names, share = self.columns(schema), rational("share", self.share, most=1)
        for_columns, for_cells = (share * part for part in SHARES)
        for_step = (share - for_columns - for_cells) / self.iterations

        # Noise in a column's bins grows with the number of columns: of many columns ask for fewer bins.
        size = max(8, min(FINEST, 6 * FINEST // len(names)))
        fine = [float(edge) for edge in np.linspace(-1, 1, size + 1)[1:-1]]
        answers = yield Round([count(by=bins(features(name), fine)) for name in names], for_columns)
        noise = float(answers[0].deviation)
        columns = [cleaned(own) for own in pooled(np.array([answer.value for answer in answers]), noise)]
        rows = max(1.0, float(np.mean([column.sum() for column in columns])))

        means, spread = moments(columns)
        # The bins' middles, over [−1, 1], have a mean square of a third.
        unsure = noise * math.sqrt(size / 3) / rows
        if unsure > UNSURE:
            start = _on_grid(means[np.newaxis])
            reach = _reach(np.hypot(spread, unsure / math.sqrt(len(names))), math.inf)
            answers = yield Round(step(names, start, reach), (share - for_columns) / 2)
            [means], _ = moved(start, reach, *answers)
            for_cells, for_step = for_cells / 2, for_step / 2

        at = cuts(columns, _cells(rows, noise * float(for_columns / for_cells) / len(names)))
        grid = [
            bins(features(name), [fine[i - 1] for i in own[1:-1]])
            for name, own in zip(names, at, strict=True)
            if len(own) > 2
        ]
        weights = np.array([rows])
        if grid:
            [cells] = yield Round([count(by=grid)], for_cells)
            weights = cleaned(np.ravel(cells.value))
        where = places(columns, at, means)
        # Histograms that do not know their own means say nothing of the spread around them either: then the
        # columns that were not cut stay at the mean of all rows, as far as a bin is wide.
        around = within(columns, at) if unsure <= UNSURE else np.full(len(names), (2 / FINEST) ** 2 / 12)
        centres, sizes, spread = clustered(where, weights, self.k, around)

        centres = _on_grid(centres)
        reach = _reach(spread, noise * float(for_columns / for_step) * self.k / rows)
        for _ in range(self.iterations):
            answers = yield Round(step(names, centres, reach), for_step)
            before = centres
            centres, sizes = moved(centres, reach, *answers)
            # Nothing moved, or all of it drowned in noise: to ask the same again would teach nothing.
            if np.array_equal(before, centres):
                break
        return Centres(schema, None, names, _plain(centres), tuple(float(size) for size in sizes))

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """The columns that span the space, or a refusal."""
        for what, least in (("k", 1), ("iterations", 1)):
            given = getattr(self, what)
            if isinstance(given, bool) or not isinstance(given, int) or given < least:
                raise QueryError(f"{what} must be a whole number from {least}, not {given!r}")
        return feature_names(schema, self.features)


def step(names: Sequence[str], centres: Floats, reach: Floats) -> list[Query]:
    """The paper's step: the size of each cluster, and the sum of its rows' differences from its centre.

    A centre's error is about √(d·v + |m|²·u)/size, for noise of variance v in the sums and u in the sizes,
    where m is how far the mean is from where the rows are measured from. From the old centre that is not
    far, so the sizes may be noisy; nor are the rows, so clipping them at `reach` (r) takes little, and cuts v
    by r². With weight w for sizes and 1 for sums v ∝ r² and u ∝ 1/w², at a cost ∝ w + d: the least error is
    at w = (|m|/r)^(2/3), which is 1/4 if a centre moves by an eighth of the reach.

    Few rows are at the reach in all coordinates at once, so both their norms are clipped too, unless the
    reach is all there is.
    """
    own: Nearest = nearest(features(*names), _plain(centres))
    differences: Node = vector(
        *(
            clip(features(name) - lookup(own, [float(x) for x in at]), -float(r), float(r))
            for name, at, r in zip(names, centres.T, reach, strict=True)
        )
    )
    if reach.min() < 2:
        near = clip_norm(differences, LENGTH * float(np.linalg.norm(reach)))
        differences = clip_norm(near, LENGTH * ROUND * float(reach.sum()), order=1)
    return [count(by=own, weight=SIZE_WEIGHT), total(differences, by=own)]


def moved(centres: Floats, reach: Floats, count_: Answer, total_: Answer) -> tuple[Floats, Floats]:
    """The centres after a step, and the sizes of their clusters."""
    k, d = centres.shape
    sizes = np.maximum(count_.value, 0.0)
    known = sizes > 2 * float(count_.deviation)
    steps = total_.value.reshape(k, d) / np.maximum(sizes, 1.0)[:, np.newaxis]
    noise = float(total_.deviation) / np.maximum(sizes, 1.0)
    # The positive-part James–Stein estimate: a step no longer than its noise is not taken.
    lengths = np.maximum((steps**2).sum(axis=1), 1e-300)
    shrunk = np.maximum(0.0, 1 - d * noise**2 / lengths) * known
    after = centres + np.clip(steps * shrunk[:, np.newaxis], -reach, reach)
    return _on_grid(np.clip(after, -1, 1)), sizes


def _cells(rows: float, noise: float) -> float:
    """How many cells to count, if each had this much noise."""
    return MOST_CELLS if noise == 0 else min(MOST_CELLS, max(1.0, CELLS * rows / noise))


def _reach(spread: Floats, noise: float) -> Floats:
    """How far from its centre a row still counts in full, in each coordinate.

    As far as leaves a centre uncertain by a tenth of the spread of its rows (a hundredth of the inertia), if
    `noise` is how uncertain a reach of 1 leaves it; where that is very near, DEVIATIONS times the spread.
    """
    affordable = math.inf if noise == 0 else 0.1 * math.sqrt(float(np.mean(spread**2))) / noise
    return np.minimum(np.maximum(DEVIATIONS * spread, affordable), 2.0)


def _on_grid(centres: Floats) -> Floats:
    """On the grid of the rows, where differences from a centre are exact."""
    return np.asarray(np.rint(centres * 2.0**FEATURE_BITS) / 2.0**FEATURE_BITS)


def _plain(centres: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in centre) for centre in centres)
