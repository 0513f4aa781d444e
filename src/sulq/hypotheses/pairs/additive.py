"""Additive models from tables of pairs: effects on any of the columns, without a further question.

The label's tables say how far each value's labels are from the average, which is a gradient at effects of 0;
all other tables say how values go together, which is the curvature (`sulq.effects`). For a class, the
gradient at the effects themselves needs all columns of a row at once: there, rows drawn from the joint
distribution stand for the real ones, and the noisy sums of labels stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sulq.effects.association import beyond_independence
from sulq.effects.estimate import Estimate, Gradient, start
from sulq.effects.layout import Floats, Layout
from sulq.errors import QueryError
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import JointRows, drawn
from sulq.hypotheses.target import Target
from sulq.queries.expressions import Column

RAREST = 1e-3
"""No class is taken for rarer."""
SURE = 0.03
"""No value's label is taken for surer."""
DOUBT = 20.0
"""So many rows with the average label are added before a share is believed."""
STEPS, DRAWN = 3, 50_000
"""How often the gradient is taken anew, and on how many drawn rows."""
FAR = 30.0
"""A larger score is as good as this one."""


def additive(facts: PairsFacts, label: str) -> AdditiveModel:
    """The additive model for one of the columns.

    Args:
        facts: what a release says.
        label: the column to predict.
    """
    target = Target(facts.schema, Column(label))
    target.check()
    place = facts.place(label)
    sums = _LabelSums(facts, place, target)
    if not sums.features:
        raise QueryError(f"there is no table of {label!r} and another column in this release")
    estimates = [sums.begun(which) for which in range(target.width)]
    base = sums.base
    if target.classes is not None:
        base = np.log(base / (1 - base))
        rows = drawn(facts.positive, DRAWN, np.random.default_rng(0))
        for _ in range(STEPS):
            estimates = [sums.refined(which, each, base[which], rows) for which, each in enumerate(estimates)]
    return _published(sums, target, base, estimates)


@dataclass(frozen=True)
class _LabelSums:
    """What the tables of a label say, values of all other columns in one long vector.

    Args:
        facts: what the release says.
        place: the label's place.
        target: the label, and the numbers that stand for it.
    """

    facts: PairsFacts
    place: int
    target: Target

    @property
    def features(self) -> list[int]:
        """The columns that there is a table of with the label."""
        return sorted(self.facts.beside(self.place))

    @property
    def layout(self) -> Layout:
        """Where the values of each column are."""
        columns = [self.facts.columns[feature] for feature in self.features]
        sizes = tuple(self.facts.agreement.sizes[feature] for feature in self.features)
        return Layout(sizes, tuple(bool(column.fine) for column in columns))

    @property
    def worth(self) -> Floats:
        """For each value of the label the numbers that stand for it."""
        if self.target.classes is None:
            low, high = self.target.bounds
            means, _ = self.facts.means(self.place)
            return np.asarray((means - (low / 2 + high / 2)) * (2 / (high - low)))[:, np.newaxis]
        numbers = np.eye(len(self.target.classes))
        return numbers if self.target.width > 1 else numbers[:, 1:]

    @property
    def base(self) -> Floats:
        """The average of each number."""
        average = self.facts.positive.margins[self.place] @ self.worth / self.facts.positive.total
        return average if self.target.classes is None else average.clip(RAREST, 1 - RAREST)

    def begun(self, which: int) -> Estimate:
        """The effects on one of the numbers after a first step from no effects."""
        layout, total = self.layout, self.facts.positive.total
        counts = self.counts
        tables = [self.facts.positive.table(self.features[i], self.features[j]) for i, j in layout.pairs]
        beyond = beyond_independence(layout, counts, tables, 0.0)
        if self.target.classes is None:
            squares = self.facts.positive.margins[self.place] @ self.worth**2 / total - self.base**2
            weights, dispersion = np.ones(layout.width), float(squares.clip(min=RAREST)[0])
        else:
            base, rows = self.base[which], self._over(lambda table: table.sum(axis=1), positive=True)
            likely = self._over(lambda table: table @ self.worth[:, which], positive=True)
            likely = ((likely + DOUBT * base) / (rows + DOUBT)).clip(SURE, 1 - SURE)
            weights, dispersion = likely * (1 - likely), 1.0
        at = np.zeros(layout.width)
        gradient = self.sums(which) - self.base[which] * self.rows
        noise = self.noise(which)
        return start(layout, counts, beyond, weights, dispersion).given(Gradient(at, gradient, noise))

    def refined(self, which: int, estimate: Estimate, base: float, rows: JointRows) -> Estimate:
        """The effects on one of the numbers once the gradient was taken anew, where the effects are now."""
        layout, weights = self.layout, rows.weights
        places = [rows.codes[:, feature] for feature in self.features]
        added = estimate.effects
        parts = zip(layout.slices, places, strict=True)
        score = base + np.sum([added[part][code] for part, code in parts], axis=0)
        likely = 1 / (1 + np.exp(-score.clip(-FAR, FAR)))
        sized = zip(places, layout.sizes, strict=True)
        expected = self.rows * np.concatenate(
            [_averages(code, likely, weights, size) for code, size in sized]
        )
        gradient = Gradient(added, self.sums(which) - expected, self.noise(which))
        # It is the noise of the first gradient again: this one takes its place and is no further evidence.
        return replace(estimate, gradients=()).given(gradient)

    @property
    def counts(self) -> Floats:
        """How many rows have each value: all positive, the same in all for each column."""
        total = self.facts.positive.total
        raised = [self.facts.positive.margins[feature].clip(min=3.0) for feature in self.features]
        return np.concatenate([each * (total / each.sum()) for each in raised])

    @property
    def rows(self) -> Floats:
        """For each value the number of its rows in the label's table, noise and all."""
        return self._over(lambda table: table.sum(axis=1))

    def sums(self, which: int) -> Floats:
        """For each value the sum of one of the numbers over its rows, noise and all."""
        return self._over(lambda table: table @ self.worth[:, which])

    def noise(self, which: int) -> Floats:
        """The variance of the noise in a gradient."""
        apart = float(((self.worth[:, which] - self.base[which]) ** 2).sum())
        agreed = self.facts.agreement
        laws = [agreed.table_law((min(f, self.place), max(f, self.place))) for f in self.features]
        variances = [apart * law.deviation**2 for law in laws]
        return np.repeat(variances, self.layout.sizes)

    def _over(self, of: Callable[[Floats], Floats], positive: bool = False) -> Floats:
        """A function of each of the label's tables, whose rows are another column's values."""
        agreed, tables = self.facts.agreement, []
        for feature in self.features:
            pair = min(feature, self.place), max(feature, self.place)
            table = self.facts.positive.tables[pair] if positive else agreed.table(pair)
            tables.append(of(table if feature < self.place else table.T))
        return np.concatenate(tables)


def _averages(code: NDArray[np.int32], values: Floats, weights: Floats, size: int) -> Floats:
    """For each value of a column the average of some numbers over its rows, which have weights."""
    many = np.bincount(code, weights=weights, minlength=size)
    sums = np.bincount(code, weights=values * weights, minlength=size)
    return np.asarray(sums / np.maximum(many, 1e-300), dtype=np.float64)


def _published(sums: _LabelSums, target: Target, base: Floats, estimates: list[Estimate]) -> AdditiveModel:
    """The model as it is published: effects of a column are 0 on average."""
    added = np.stack([each.effects for each in estimates], axis=1)
    deviations = np.stack([each.deviations for each in estimates], axis=1)
    intercept, effects = base.copy(), []
    for feature, part in zip(sums.features, sums.layout.slices, strict=True):
        middle = np.average(added[part], axis=0, weights=sums.counts[part])
        intercept += middle
        code = sums.facts.columns[feature].code
        shares = sums.counts[part] / sums.facts.positive.total
        effects.append(
            Effect(code, tuple(shares.tolist()), _rows(added[part] - middle), _rows(deviations[part]))
        )
    return AdditiveModel(target.schema, None, target.label, tuple(intercept.tolist()), tuple(effects))


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
