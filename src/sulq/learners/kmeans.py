"""k-means: few public centres, each the mean of the rows nearest to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.errors import QueryError
from sulq.learners.hypothesis import Hypothesis, Origin
from sulq.learners.learner import Learner, Rounds
from sulq.oracles.answers import Answer
from sulq.pictures import centres as pictures
from sulq.queries.codes import Nearest, bins, lookup, nearest
from sulq.queries.expressions import Node, clip
from sulq.queries.query import Exact, Query, count, rational, total
from sulq.queries.rounds import Round
from sulq.queries.vectors import FEATURE_BITS, features, vector
from sulq.schema import Integer, Real, Schema

Floats = NDArray[np.float64]

FINEST = 64
"""The most bins of a column on its own, in the first round."""
MOST_CELLS = 2**14
ROWS_PER_NOISE = 0.5
"""The constant of `_cells`, tried out on a few tables."""
RESTARTS = 8
SWEEPS = 40
DEVIATIONS = 2.0
"""How many deviations from its centre a row counts in full, however large the noise."""
SHARES = (Fraction(3, 20), Fraction(11, 20))
"""What the columns' and the cells' rounds get of the budget; the steps get the rest, in equal parts."""
SIZE_WEIGHT = Fraction(1, 4)
"""Of the sizes in a step, against 1 for the sums: see `step`."""


@dataclass(frozen=True, eq=False)
class Centres(Hypothesis):
    """k centres: a row belongs to the nearest.

    `centres` has each public interval scaled to [−1, 1]; `natural` has the columns' own units. `sizes` says
    about how many rows are nearest to each.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Real(0, 100)})
    >>> young_and_old = Centres(schema, None, ("age",), ((-0.5,), (0.5,)), (10.0, 20.0))
    >>> print(young_and_old.describe())
    cluster  rows  age
          0    10   25
          1    20   75
    >>> young_and_old.predict({"age": [10.0, 90.0]})
    array([0, 1], dtype=uint8)
    """

    features: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]

    @property
    def expression(self) -> Node:
        return nearest(features(*self.features), self.centres)

    @property
    def natural(self) -> tuple[tuple[float, ...], ...]:
        """The centres in the columns' own units."""
        kinds = [self.schema[name] for name in self.features]
        ends = [(kind.low, kind.high) for kind in kinds if isinstance(kind, Real | Integer)]
        return tuple(
            tuple(low + (x + 1) / 2 * (high - low) for x, (low, high) in zip(centre, ends, strict=True))
            for centre in self.centres
        )

    def describe(self) -> str:
        table = [["cluster", "rows", *self.features]]
        for number, (size, centre) in enumerate(zip(self.sizes, self.natural, strict=True)):
            table.append([str(number), f"{size:.0f}", *(f"{x:.6g}" for x in centre)])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table
        )

    def picture(self) -> str:
        return pictures.picture(*self._drawn(), note=self._caption)

    def drawing(self) -> RenderableType:
        return pictures.drawing(*self._drawn())

    def _drawn(self) -> tuple[list[pictures.Axis], list[pictures.Centre]]:
        kinds = [(name, self.schema[name]) for name in self.features]
        axes = [
            pictures.Axis(name, kind.low, kind.high)
            for name, kind in kinds
            if isinstance(kind, Real | Integer)
        ]
        return axes, pictures.centres(self.sizes, self.natural)

    def _own(self) -> dict[str, Any]:
        return {"features": self.features, "centres": self.centres, "sizes": self.sizes}

    @classmethod
    def _read(cls, schema: Schema, origin: Origin | None, own: dict[str, Any]) -> Centres:
        centres = tuple(tuple(float(x) for x in centre) for centre in own["centres"])
        sizes = tuple(float(size) for size in own["sizes"])
        return cls(schema, origin, tuple(own["features"]), centres, sizes)


@dataclass(frozen=True)
class KMeans(Learner[Centres]):
    """Learns k centres: the SuLQ paper's k-means (section 4.2), started from a private histogram.

    One round asks for each column's own histogram, and cuts the columns where that says it matters; one
    round counts the rows in every cell of the grid so made. From here on clustering the cells costs nothing,
    and gives the centres to start from. Each of the `iterations` that follow is a step of the paper's: the
    size of every cluster, and the sum of its rows, here of their differences from the centre as it was.

    `k`: how many centres. `features`: numeric columns, by default all of them; each has its public interval
    scaled to [−1, 1]. `iterations`: how many steps, at most: it stops, and spends no
    more, when no centre moves by more than the noise. `share`: the part of the budget to spend on it all.

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
    share: Exact = 1

    def rounds(self, schema: Schema) -> Rounds[Centres]:
        names, share = self.columns(schema), rational("share", self.share, most=1)
        for_columns, for_cells = (share * part for part in SHARES)
        for_step = (share - for_columns - for_cells) / self.iterations

        # Noise in a column's bins grows with the number of columns: of many columns ask for fewer bins.
        size = max(8, min(FINEST, 6 * FINEST // len(names)))
        fine = [float(edge) for edge in np.linspace(-1, 1, size + 1)[1:-1]]
        answers = yield Round([count(by=bins(features(name), fine)) for name in names], for_columns)
        columns = [_cleaned(answer.value) for answer in answers]
        rows = max(1.0, float(np.mean([column.sum() for column in columns])))
        noise = _deviation(answers[0], size)

        cuts = _cuts(columns, _cells(rows, noise * math.sqrt(for_columns / for_cells), len(names)))
        grid = [
            bins(features(name), [fine[i - 1] for i in at[1:-1]])
            for name, at in zip(names, cuts, strict=True)
            if len(at) > 2
        ]
        weights = np.array([rows])
        if grid:
            [cells] = yield Round([count(by=grid)], for_cells)
            weights = _cleaned(np.ravel(cells.value))
        centres, sizes, spread = _clustered(_middles(columns, cuts), weights, self.k)

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
        numeric = [name for name, kind in schema.items() if isinstance(kind, Real | Integer)]
        if isinstance(self.features, str):
            raise QueryError(f"features must be a list of columns, not the text {self.features!r}")
        names = tuple(numeric if self.features is None else self.features)
        if not names:
            raise QueryError("there are no numeric columns to find clusters in: name some features")
        if len(set(names)) < len(names):
            raise QueryError("a feature is named twice")
        for name in names:
            if not isinstance(schema[name], Real | Integer):
                raise QueryError(f"column {name!r} is not a number: clusters need distances")
        return names


def step(names: Sequence[str], centres: Floats, reach: Floats) -> list[Query]:
    """The paper's step: the size of each cluster, and the sum of its rows' differences from its centre.

    A centre's error is about √(d·v + |m|²·u)/size, for noise of variance v in the sums and u in the sizes,
    where m is how far the mean is from where the rows are measured from. From the old centre that is not
    far, so the sizes may be noisy; nor are the rows, so clipping them at `reach` (r) takes little, and cuts v
    by r². With weight w for sizes and 1 for sums v ∝ r² and u ∝ 1/w², at a cost ∝ w + d: the least error is
    at w = (|m|/r)^(2/3), which is 1/4 if a centre moves by an eighth of the reach.
    """
    own: Nearest = nearest(features(*names), _plain(centres))
    differences = [
        clip(features(name) - lookup(own, [float(x) for x in at]), -float(r), float(r))
        for name, at, r in zip(names, centres.T, reach, strict=True)
    ]
    return [count(by=own, weight=SIZE_WEIGHT), total(vector(*differences), by=own)]


def moved(centres: Floats, reach: Floats, count_: Answer, total_: Answer) -> tuple[Floats, Floats]:
    """The centres after a step, and the sizes of their clusters."""
    k, d = centres.shape
    sizes = np.maximum(count_.value, 0.0)
    known = sizes > 2 * _deviation(count_, k)
    steps = total_.value.reshape(k, d) / np.maximum(sizes, 1.0)[:, np.newaxis]
    noise = _deviation(total_, k * d) / np.maximum(sizes, 1.0)
    # The positive-part James–Stein estimate: a step no longer than its noise is not taken.
    lengths = np.maximum((steps**2).sum(axis=1), 1e-300)
    shrunk = np.maximum(0.0, 1 - d * noise**2 / lengths) * known
    after = centres + np.clip(steps * shrunk[:, np.newaxis], -reach, reach)
    return _on_grid(np.clip(after, -1, 1)), sizes


def _deviation(answer: Answer, numbers: int) -> float:
    """About one standard deviation of the noise: what a number exceeds a time in four, in either law."""
    return float(answer.radius(min(1 - 0.757**numbers, 1 - 1e-12)))


def _cells(rows: float, noise: float, d: int) -> float:
    """How many cells to count, if those of a grid over one column had this much noise.

    Of m cells, narrower ones place a row better, by m^(−2/d), but a cluster sums the noise of more of them,
    as √m. The balance has a power of n/σ that is known and a constant that is not: it was tried out.
    """
    if noise == 0:
        return MOST_CELLS
    # The columns share their round among d questions; the grid is one, and has its round for itself.
    each = noise / math.sqrt(d)
    cells: float = max(1.0, rows / each / ROWS_PER_NOISE) ** (2 * d / (d + 2))
    return min(cells, MOST_CELLS)


def _reach(spread: Floats, noise: float) -> Floats:
    """How far from its centre a row still counts in full, in each coordinate.

    As far as leaves a centre uncertain by a tenth of the spread of its rows (a hundredth of the inertia), if
    `noise` is how uncertain a reach of 1 leaves it; where that is very near, DEVIATIONS times the spread.
    """
    affordable = math.inf if noise == 0 else 0.1 * math.sqrt(float(np.mean(spread**2))) / noise
    return np.minimum(np.maximum(DEVIATIONS * spread, affordable), 2.0)


def _cleaned(counts: Floats) -> Floats:
    """The nearest counts that are not negative and have the same total: all less a constant, or zero."""
    falling = np.sort(counts.ravel())[::-1]
    rows = max(float(falling.sum()), 1.0)
    excess = (np.cumsum(falling) - rows) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(counts - excess[last], 0.0))


def _cuts(columns: Sequence[Floats], cells: float) -> list[list[int]]:
    """Where to cut each column: again and again where it takes most variance for the cells it adds."""
    size = len(columns[0])
    middles = _fine_middles(size)
    sums = [np.stack([np.r_[0, np.cumsum(c * middles**p)] for p in range(3)], axis=1) for c in columns]

    def scatter(j: int, a: Any, b: Any) -> Any:
        # Of the rows between two edges, or between each of several pairs of edges.
        n, x, xx = (sums[j][b] - sums[j][a]).T
        return xx - x * x / np.maximum(n, 1e-12)

    def best(j: int, a: int, b: int) -> tuple[float, int]:
        if b - a < 2:
            return 0.0, a
        at = np.arange(a + 1, b)
        gains = scatter(j, a, b) - scatter(j, a, at) - scatter(j, at, b)
        return float(gains.max()), int(at[gains.argmax()])

    cuts = [[0, size] for _ in columns]
    options = [{(0, size): best(j, 0, size)} for j in range(len(columns))]
    while True:
        now = math.prod(len(at) - 1 for at in cuts)
        rate, j, ends = max(
            (max(o.values())[0] / math.log(1 + 1 / (len(at) - 1)), j, max(o, key=lambda e: o[e]))
            if now * len(at) / (len(at) - 1) <= cells
            else (0.0, j, (0, 0))
            for j, (o, at) in enumerate(zip(options, cuts, strict=True))
        )
        if rate <= 1e-9:
            return cuts
        _, at = options[j].pop(ends)
        cuts[j] = sorted([*cuts[j], at])
        for part in ((ends[0], at), (at, ends[1])):
            options[j][part] = best(j, *part)


def _middles(columns: Sequence[Floats], cuts: Sequence[Sequence[int]]) -> Floats:
    """Where the rows of each cell are thought to be: in each coordinate, where its column has them."""
    sides = []
    for column, at in zip(columns, cuts, strict=True):
        some = column + 1e-6
        starts = list(at[:-1])
        sides.append(
            np.add.reduceat(some * _fine_middles(len(column)), starts) / np.add.reduceat(some, starts)
        )
    return np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")], axis=1)


def _clustered(places: Floats, counts: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """k-means of weighted points, the best of several starts: centres, sizes, and the spread around them."""
    points, weights = places[counts > 0], counts[counts > 0]
    rng = np.random.default_rng(0)
    best: tuple[float, Floats, Floats, Floats] | None = None
    for _ in range(RESTARTS):
        centres = _seeds(points, weights, k, rng)
        for _ in range(SWEEPS):
            own, near = _assigned(points, centres)
            sizes = np.bincount(own, weights, k)
            sums = np.stack([np.bincount(own, weights * x, k) for x in points.T], axis=1)
            after = np.where(
                sizes[:, np.newaxis] > 0, sums / np.maximum(sizes, 1e-12)[:, np.newaxis], centres
            )
            done = np.abs(after - centres).max() < 1e-4
            centres = after
            if done:
                break
        own, near = _assigned(points, centres)
        inertia = float(near @ weights)
        if best is None or inertia < best[0]:
            spread = np.sqrt(weights @ (points - centres[own]) ** 2 / weights.sum() + (2 / FINEST) ** 2 / 12)
            best = inertia, centres, np.bincount(own, weights, k).astype(np.float64), spread
    assert best is not None
    return _on_grid(best[1]), best[2], best[3]


def _seeds(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Greedy k-means++: each next centre the best of a few points drawn in proportion to their cost."""
    chosen = [points[rng.choice(len(points), p=weights / weights.sum())]]
    near = ((points - chosen[0]) ** 2).sum(axis=1)
    while len(chosen) < k:
        cost = near * weights
        if cost.sum() <= 0:
            chosen.append(rng.uniform(-1, 1, points.shape[1]))
            continue
        tried = points[rng.choice(len(points), 3 + int(math.log(k)), p=cost / cost.sum())]
        each = np.minimum(near, ((points - tried[:, np.newaxis]) ** 2).sum(axis=2))
        first = int((each @ weights).argmin())
        chosen.append(tried[first])
        near = each[first]
    return np.array(chosen)


def _assigned(points: Floats, centres: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The nearest centre of each point, and the square of how far it is."""
    scores = (centres**2).sum(axis=1) - 2 * points @ centres.T
    own = scores.argmin(axis=1)
    return own, np.maximum(scores[np.arange(len(points)), own] + (points**2).sum(axis=1), 0.0)


def _fine_middles(size: int) -> Floats:
    return np.asarray((np.arange(size) + 0.5) * 2 / size - 1)


def _on_grid(centres: Floats) -> Floats:
    """On the grid of the rows, where differences from a centre are exact."""
    return np.asarray(np.rint(centres * 2.0**FEATURE_BITS) / 2.0**FEATURE_BITS)


def _plain(centres: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in centre) for centre in centres)
