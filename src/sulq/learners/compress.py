"""The compression version of the generic learner: longer hypotheses only where short ones do not suffice.

The paper omits the details (end of section 3.1). They are these. Round i takes fresh rows, at least twice as
many as the round before, and has βᵢ = β/2ⁱ of the failure probability. On some of its rows it chooses from
its class. If that has a hypothesis without mistakes, what is chosen errs on at most α/4, but for βᵢ/2, by
`occam_rows`. On its other s rows the mistakes are counted, with discrete Laplace noise of scale 1/ε, and the
learner stops if that says at most 9/16·αs. By Chernoff's bounds

- a hypothesis that errs on α/4 makes fewer than 8/16·αs mistakes, but for exp(−αs·(2 ln 2 − 1)/4);
- one that errs on more than α makes more than 10/16·αs, but for exp(−αs·(3/8 + 5/8·ln 5/8));
- the noise stays within 1/16·αs to either side, but for exp(−εαs/16).

With s ≥ max{12.4, 16/ε}/α·ln(4/βᵢ) each of these is at most βᵢ/4. No row is in two rounds, nor used twice in
one, so all of it costs ε, however many rounds there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.classes.boolean import HypothesisClass, Look, Setting, check_size
from sulq.classes.sizes import occam_rows
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.learners.door import cost_of, pure
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.privacy.coins import shuffled
from sulq.privacy.many_candidates import choose
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.selection import PermuteAndFlip
from sulq.queries.attributes import condition
from sulq.queries.expressions import Node
from sulq.sources.rows import rows_of


@dataclass(frozen=True)
class CompressionRound:
    """How many fresh rows a round takes to choose on, and to test on."""

    chosen_on: int
    tested_on: int


@dataclass(frozen=True)
class Compress:
    """Learns the shortest hypothesis that does, from labels that some hypothesis has no mistakes on.

    `classes`: from the most concise to the longest hypotheses. `label`, `share`: as for `Select`. `error`,
    `confidence`: what is returned errs on at most `error` of the population; and if one of the classes that
    the rows suffice for has a hypothesis without mistakes, something is returned; both with that chance.

    >>> import sulq
    >>> from sulq.classes.boolean import Conjunctions
    >>> bits = np.random.default_rng(0).random((4, 20_000)) < 0.5
    >>> rows = {name: bits[i] for i, name in enumerate("abcd")} | {"y": bits[0] & ~bits[2]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> learner = Compress([Conjunctions(["a"]), Conjunctions(list("abcd"))], "y", confidence="0.999999")
    >>> learner.learn(people.curator(epsilon=2)).describe()
    'a and not c'
    """

    classes: Sequence[HypothesisClass]
    label: str | Node
    error: Numeric = Fraction(1, 10)
    confidence: Numeric = Fraction(95, 100)
    share: Numeric = 1

    def learn(self, curator: Curator, run: str = "main") -> Hypothesis | None:
        """What the first round found whose test was passed, or None if none was."""
        label = condition(self.label, curator.schema)
        setting = Setting(curator.schema, label)
        rows = curator.public_rows
        if rows is None:
            raise QueryError("rounds of fresh rows need a public number of rows")
        cost = cost_of(curator, self.share)
        epsilon = pure(curator, cost)
        plan = self.plan(setting, rows, epsilon)
        error = rational("error", self.error, most=1)

        values = rows_of(curator.source, "Compress").values

        def look() -> list[int] | None:
            truth, order, start = values(label), shuffled(rows), 0
            for number, (listed, own) in enumerate(zip(self.classes, plan, strict=False)):
                middle, stop = start + own.chosen_on, start + own.chosen_on + own.tested_on
                chosen, tested = order[start:middle], order[middle:stop]
                start = stop
                wrong = listed.mistakes(_on(values, chosen), truth[chosen], setting)
                index = choose(PermuteAndFlip(epsilon, sensitivity=1), -wrong)
                said = _on(values, tested)(listed.hypothesis(index, setting).expression)
                mistakes = int(np.count_nonzero(said != truth[tested]))
                noisy = mistakes + int(DiscreteLaplace(1 / epsilon).sample(1)[0])
                if noisy <= Fraction(9, 16) * error * own.tested_on:
                    return [number, index]
            return None

        form = {
            "compress": [listed.form for listed in self.classes],
            "label": label.form,
            "plan": [[own.chosen_on, own.tested_on] for own in plan],
            "error": str(error),
            "cost": str(cost),
        }
        found = curator.release(form, cost, look, run)
        if found is None:
            return None
        hypothesis: Hypothesis = self.classes[found[0]].hypothesis(found[1], setting)
        return replace(hypothesis, origin=Origin(type(self).__name__, curator.promise, run, found[0] + 1))

    def plan(self, setting: Setting, rows: int, epsilon: Fraction) -> list[CompressionRound]:
        """The rounds that so many rows suffice for; refused if that is none."""
        error, left = float(rational("error", self.error, most=1)), rows
        beta = float(1 - rational("confidence", self.confidence, most=1))
        rounds: list[CompressionRound] = []
        needed = 0
        if not self.classes:
            raise QueryError("there is nothing to choose from: name some classes, from short to long")
        for listed in self.classes:
            size, beta = check_size(listed, setting), beta / 2
            tested = math.ceil(max(12.4, 16 / float(epsilon)) / error * math.log(4 / beta))
            chosen = occam_rows(size, error / 4, beta / 2, float(epsilon), agnostic=False)
            needed = max(chosen + tested, 2 * needed)
            if needed > left:
                break
            left -= needed
            rounds.append(CompressionRound(needed - tested, tested))
        if not rounds:
            raise QueryError(
                f"insufficient samples: the first class needs {needed} rows, and there are {rows}; nothing "
                "was spent"
            )
        return rounds


def _on(values: Look, rows: NDArray[np.int64]) -> Look:
    """A look at these rows alone."""

    def look(expression: Node) -> NDArray[np.generic]:
        return values(expression)[rows]

    return look
