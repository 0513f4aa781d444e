"""k-means: few public centres, each the mean of the rows nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sulq.hypotheses.centres import Centres
from sulq.learners.learner import Learner
from sulq.learners.lloyd import errors, moved, plain, step
from sulq.learners.start import Shares, most_to_start, start
from sulq.numbers import Numeric, rational, whole
from sulq.queries.attributes import feature_names
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import BETA
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class KMeans(Learner[Centres]):
    """Learns k centres: the SuLQ paper's k-means (section 4.2), started from a private histogram.

    The start takes two or three rounds; `sulq.learners.start` says which. Each of the `iterations` that
    follow is a step of the paper's: the size of every cluster, and the sum of its rows, here of their
    differences from the centre as it was.

    Args:
        k: how many centres.
        features: numeric or boolean columns, by default all numeric ones; each has its public interval scaled
            to [−1, 1].
        iterations: how many steps, at most. The learner stops, and spends no more, when no centre moves by
            more than the noise.
        share: the part of the budget to spend on it all.

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
        k, steps = whole("k", self.k, 1), whole("iterations", self.iterations, 1)
        names, shares = self.columns(schema), Shares.of(rational("share", self.share, most=1), steps)
        centres, reach, shares = yield from start(names, k, shares)
        for _ in range(steps):
            answers = yield Round(step(names, centres, reach), shares.step)
            before, (centres, sizes) = centres, moved(centres, reach, *answers)
            # Nothing moved, or all of it drowned in noise: to ask the same again would teach nothing.
            if np.array_equal(before, centres):
                break
        off = errors(before, centres, *answers)
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
        each = whole("k", self.k, 1) * (1 + len(names))
        counted = 0 if schema.unit is None else 1
        return most_to_start(len(names)) + counted + whole("iterations", self.iterations, 1) * each

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """The columns that span the space."""
        return feature_names(schema, self.features)
