"""k-means: few public centres, each the mean of the rows nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.centres import Centres
from sulq.learners.estimates import Floats
from sulq.learners.learner import LATER, Learner
from sulq.learners.lloyd import WIDEST, errors, moved, plain, step
from sulq.learners.plain_step import box_errors, box_moved, box_step, given_centres
from sulq.learners.start import Shares, most_to_start, start
from sulq.numbers import Numeric, rational, whole
from sulq.queries.attributes import check_in_one_hand, feature_names
from sulq.queries.expressions import Column
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import BETA
from sulq.talk.oracle import Rounds

Step = Literal["clipped", "paper"]


@dataclass(frozen=True)
class KMeans(Learner[Centres]):
    """Learns k centres: the SuLQ paper's k-means (section 4.2), started from a private histogram.

    The start takes two or three rounds; `sulq.learners.start` says which. Each of the `iterations` that
    follow is a step of the paper's: the size of every cluster, and the sum of its rows, here of their
    differences from the centre as it was. With `start` and `step="paper"` it is the paper's box, query for
    query: given centres, k counts and kd sums in each step, and the sums over the counts.

    Args:
        k: how many centres.
        features: numeric or boolean columns, by default all numeric ones; each has its public interval scaled
            to [−1, 1].
        iterations: how many steps, at most. The learner stops, and spends no more, when no centre moves by
            more than the noise.
        share: the part of the budget to spend on it all.
        start: the centres to start from, in the columns' own units; by default they come from a histogram.
        step: "clipped" sums differences from the centres, clipped where rows are far, and takes steps as far
            as they stand out from the noise. "paper" is the box's step.

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
    start: Sequence[Sequence[float]] | None = field(default=None, metadata=LATER)
    step: Step = field(default="clipped", metadata=LATER)

    def rounds(self, schema: Schema) -> Rounds[Centres]:
        steps, names, boxed = whole("iterations", self.iterations, 1), self.columns(schema), self._boxed
        centres, reach, share = yield from self._started(schema, names, steps)
        for _ in range(steps):
            queries = box_step(schema, names, centres) if boxed else step(names, centres, reach)
            answers, before = (yield Round(queries, share)), centres
            centres, sizes = box_moved(before, *answers) if boxed else moved(before, reach, *answers)
            # Nothing moved, or all of it drowned in noise: to ask the same again would teach nothing.
            if np.array_equal(before, centres):
                break
        off = box_errors(centres, *answers) if boxed else errors(before, centres, *answers)
        return Centres(
            schema,
            None,
            names,
            plain(centres),
            tuple(float(size) for size in sizes),
            float(np.max(answers[0].radius(BETA))),
            plain(off) if off.any() else (),
        )

    def most_numbers(self, schema: Schema) -> int:
        """What the start asks for, and in every step the size and the sum of each cluster."""
        names = self.columns(schema)
        k, counted = whole("k", self.k, 1), 0 if schema.unit is None else 1
        before = most_to_start(k, len(names)) + counted if self.start is None else 0
        return before + whole("iterations", self.iterations, 1) * k * (1 + len(names))

    def least_share(self, schema: Schema) -> Fraction:
        """Half of a step, which has two questions. A start that is unsure of the mean leaves half of that."""
        share, steps = rational("share", self.share, most=1), whole("iterations", self.iterations, 1)
        return Shares.of(share, steps).step / 4 if self.start is None else share / steps / 2

    def _started(
        self, schema: Schema, names: Sequence[str], steps: int
    ) -> Rounds[tuple[Floats, Floats, Fraction]]:
        """The centres to start from, how far around them rows count in full, and the share of a step."""
        k, share = whole("k", self.k, 1), rational("share", self.share, most=1)
        if self.start is None:
            centres, reach, shares = yield from start(names, k, Shares.of(share, steps))
            return centres, reach, shares.step
        # Nothing is known of how far rows are from the centres: all count in full.
        return given_centres(schema, names, k, self.start), np.full(len(names), WIDEST), share / steps

    @property
    def _boxed(self) -> bool:
        if self.step not in get_args(Step):
            raise QueryError(f"step is 'clipped' or 'paper', not {self.step!r}")
        return self.step == "paper"

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """The columns that span the space."""
        names = feature_names(schema, self.features)
        check_in_one_hand(schema, *map(Column, names))
        return names
