"""The generic private learner: choose the hypothesis that makes the fewest mistakes, or nearly so.

Section 3.1 of "What can we learn privately?". A row moves the number of mistakes of any hypothesis by at most
one, so the choice costs the same however many there are, and the rows needed grow with the logarithm of their
number (`occam_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from sulq.classes.boolean import Hypotheses, HypothesisClass, Setting, check_size
from sulq.classes.sizes import occam_rows
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.learners.door import cost_of, enough, pure
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.privacy.calibration import Contest
from sulq.privacy.many_candidates import choose
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip, Selection
from sulq.queries.attributes import condition
from sulq.queries.expressions import Node
from sulq.sources.rows import rows_of

Mechanism = Literal["permute-and-flip", "exponential"]


@dataclass(frozen=True)
class Select:
    """Chooses from a class of hypotheses one that agrees with the label on nearly as many rows as any does.

    `hypotheses`: a class (`Stumps()`, `Conjunctions(…)`, …) or a list of expressions that are true or false.
    `label`: a boolean column, or such an expression. `error`, `confidence`: if an error is stated, the chosen
    hypothesis errs on at most that part more of the population than the best does, with that chance, and it
    is refused, before anything is spent, if the rows are too few. `mechanism`: by default permute-and-flip
    under a budget in ε, the exponential mechanism, which is cheaper there, under one in ρ. `share`: the part
    of the budget to spend.

    >>> import sulq
    >>> from sulq.classes.grids import Stumps
    >>> people = sulq.randhie()
    >>> learner = Select(Stumps(), label="bought_drugs", error=0.05)
    >>> stump = learner.learn(people.curator(epsilon=1))
    >>> stump.origin.promise
    'ε = 1 (pure)'
    """

    hypotheses: HypothesisClass | Sequence[str | Node]
    label: str | Node
    error: Numeric | None = None
    confidence: Numeric = Fraction(95, 100)
    mechanism: Mechanism | None = None
    share: Numeric = 1

    def learn(self, curator: Curator, run: str = "main") -> Hypothesis:
        """The chosen hypothesis. Asked again in the same run, it is answered from the ledger at no cost."""
        label = condition(self.label, curator.schema)
        setting, listed = Setting(curator.schema, label), _as_class(self.hypotheses)
        size = check_size(listed, setting)
        cost = cost_of(curator, self.share)
        selection = self.selection(curator, cost)
        if self.error is not None:
            error = float(rational("error", self.error, most=1))
            beta = float(1 - rational("confidence", self.confidence, most=1))
            epsilon = float(selection.epsilon / selection.sensitivity)
            promise = f"an error of {error:g} among {size} hypotheses at ε = {epsilon:g}"
            enough(occam_rows(size, error, beta, epsilon, neighbours=curator.neighbours), curator, promise)

        values = rows_of(curator.source, "Select").values

        def look() -> int:
            return choose(selection, -listed.mistakes(values, values(label), setting))

        form = {
            "select": listed.form,
            "label": label.form,
            "mechanism": type(selection).__name__,
            "cost": str(cost),
        }
        index = curator.release(form, cost, look, run)
        origin = Origin(type(self).__name__, curator.promise, run, 1)
        return replace(listed.hypothesis(index, setting), origin=origin)

    def selection(self, curator: Curator, cost: Fraction) -> Selection:
        """The mechanism that spends so much."""
        if self.mechanism is not None and self.mechanism not in get_args(Mechanism):
            raise QueryError(f"mechanism is 'permute-and-flip' or 'exponential', not {self.mechanism!r}")
        monotone = curator.neighbours == "add-remove"
        contest = Contest(curator.schema.rows_per_unit, monotone, 1, Fraction(1))
        [usual] = curator.calibration.for_cost([], [contest], cost).selections
        assert usual is not None
        if self.mechanism == "exponential":
            return ExponentialMechanism(usual.epsilon, usual.sensitivity, monotone)
        if self.mechanism == "permute-and-flip":
            return PermuteAndFlip(pure(curator, cost), usual.sensitivity, monotone)
        return usual


def _as_class(hypotheses: HypothesisClass | Sequence[str | Node]) -> HypothesisClass:
    return Hypotheses(hypotheses) if isinstance(hypotheses, Sequence) else hypotheses
