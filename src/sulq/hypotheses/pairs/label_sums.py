"""What the tables of a label say about it: sums of it over the rows with each value of the other columns.

The label's tables say how far each value's labels are from the average, which is a gradient at effects of 0;
all other tables say how values go together, which is the curvature (`sulq.effects`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.effects.association import beyond_independence
from sulq.effects.estimate import Estimate, Gradient, start
from sulq.effects.layout import Floats, Layout
from sulq.effects.logistic import logistic
from sulq.errors import QueryError
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import JointRows
from sulq.hypotheses.target import Target

RAREST = 1e-3
"""No class is taken for rarer."""
SURE = 0.03
"""No value's label is taken for surer."""
DOUBT = 20.0
"""So many rows with the average label are added before a share is believed."""
NARROWEST = 1e-4
"""A number that differs by less than this part of its bounds is taken to differ by as much."""


@dataclass(frozen=True)
class LabelSums:
    """What the tables of a label say, values of all other columns in one long vector.

    A class is 0 or 1. A number is measured from its average, in units of its standard deviation.

    Args:
        facts: what the release says.
        target: the label, and the numbers that stand for it.
        place: the label's place.
    """

    facts: PairsFacts
    target: Target
    place: int

    def check(self) -> None:
        """Refuse a label that there is no table of."""
        self.target.check()
        if not self.features:
            name = self.facts.names[self.place]
            raise QueryError(f"there is no table of {name!r} and another column in this release")

    @cached_property
    def features(self) -> list[int]:
        """The columns that there is a table of with the label."""
        return sorted(self.facts.beside(self.place))

    @cached_property
    def layout(self) -> Layout:
        """Where the values of each column are."""
        columns = [self.facts.columns[feature] for feature in self.features]
        sizes = tuple(self.facts.agreement.sizes[feature] for feature in self.features)
        return Layout(sizes, tuple(bool(column.fine) for column in columns))

    @cached_property
    def average(self) -> float:
        """The average of a label that is a number."""
        means, _ = self.facts.means(self.place)
        return float(means @ self.facts.positive.margins[self.place]) / self.facts.positive.total

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of a label that is a number."""
        low, high = self.target.bounds
        _, square = self.facts.means(self.place)
        return max(float(max(0.0, square - self.average**2) ** 0.5), NARROWEST * (high - low))

    @cached_property
    def worth(self) -> Floats:
        """For each value of the label the numbers that stand for it."""
        if self.target.classes is None:
            means, _ = self.facts.means(self.place)
            return np.asarray((means - self.average) / self.deviation)[:, np.newaxis]
        numbers = np.eye(len(self.target.classes))
        return numbers if self.target.width > 1 else numbers[:, 1:]

    @cached_property
    def base(self) -> Floats:
        """The average of each number."""
        if self.target.classes is None:
            return np.zeros(1)
        average = self.facts.positive.margins[self.place] @ self.worth / self.facts.positive.total
        return np.asarray(average.clip(RAREST, 1 - RAREST))

    def begun(self, which: int) -> Estimate:
        """No effects yet on one of the numbers, and how values go together.

        Args:
            which: which of the numbers.
        """
        layout, counts = self.layout, self.counts
        beyond = beyond_independence(layout, counts, self._tables, 0.0)
        if self.target.classes is None:
            return start(layout, counts, beyond, np.ones(layout.width))
        base, rows = self.base[which], self._over(lambda table: table.sum(axis=1), positive=True)
        likely = self._over(lambda table: table @ self.worth[:, which], positive=True)
        likely = ((likely + DOUBT * base) / (rows + DOUBT)).clip(SURE, 1 - SURE)
        return start(layout, counts, beyond, likely * (1 - likely))

    def refined(self, which: int, estimate: Estimate, expected: Floats) -> Estimate:
        """The effects on one of the numbers once the gradient was taken anew, where the effects are now.

        Args:
            which: which of the numbers.
            estimate: the effects so far.
            expected: for each value the average of the number that these effects make of its rows.
        """
        gradient = self.sums(which) - expected * self.rows
        # It is the noise of the former gradient again: this one takes its place and is no further evidence.
        latest = Gradient(estimate.effects, gradient, self.noise(which))
        return replace(estimate, gradients=()).given(latest)

    def expected(self, effects: Floats) -> Floats:
        """For each value the sum of the effects of a row that has it, on average, by the tables of pairs."""
        sums = effects * self.counts
        for (i, j), table in zip(self.layout.pairs, self._tables, strict=True):
            a, b = self.layout.slices[i], self.layout.slices[j]
            sums[a] += table @ effects[b]
            sums[b] += effects[a] @ table
        return np.asarray(sums / self.counts)

    def likely(self, effects: Floats, intercept: float, rows: JointRows) -> Floats:
        """For each value how likely the label is for a row that has it, on average over drawn rows.

        Args:
            effects: what each value adds to the log-odds.
            intercept: the log-odds of a row without effects.
            rows: rows drawn from a joint distribution of all columns.
        """
        places = [rows.codes[:, feature] for feature in self.features]
        parts = zip(self.layout.slices, places, strict=True)
        chances = logistic(intercept + np.sum([effects[part][code] for part, code in parts], axis=0))
        sized = zip(places, self.layout.sizes, strict=True)
        return np.concatenate([_averages(code, chances, rows.weights, size) for code, size in sized])

    @cached_property
    def counts(self) -> Floats:
        """How many rows have each value: all positive, the same in all for each column."""
        total = self.facts.positive.total
        raised = [self.facts.positive.margins[feature].clip(min=3.0) for feature in self.features]
        return np.concatenate([each * (total / each.sum()) for each in raised])

    @cached_property
    def _tables(self) -> list[Floats]:
        return [self.facts.positive.table(self.features[i], self.features[j]) for i, j in self.layout.pairs]

    @cached_property
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
