"""Plans of the learners that need more than sums, under a trusted curator: parity and the generic learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.classes.base import Setting, check_size
from sulq.classes.boolean import Hypotheses
from sulq.classes.shortest import compression_rounds
from sulq.classes.sizes import occam_rows, parity_rows, printed_occam_rows, printed_parity_rows
from sulq.learners.compress import Compress
from sulq.learners.parity import Parity
from sulq.learners.select import Select
from sulq.queries.attributes import condition, conditions
from sulq.schema import Schema


@dataclass(frozen=True)
class ParityBounds:
    """How many rows the parity learner needs: `sulq.classes.sizes` has the arguments."""

    learner: Parity
    features: int

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        assert epsilon is not None
        how = self.learner.amplification
        return printed_parity_rows(self.features, float(error), float(beta), float(epsilon), how)

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        assert epsilon is not None
        learner, numbers = self.learner, (float(error), float(beta), float(epsilon))
        return parity_rows(self.features, *numbers, learner.sampling, learner.amplification) <= rows


@dataclass(frozen=True)
class SelectBounds:
    """How many rows it takes to choose among so many hypotheses."""

    size: int

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        assert epsilon is not None
        return printed_occam_rows(self.size, float(error), float(beta), float(epsilon))

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        assert epsilon is not None
        return occam_rows(self.size, float(error), float(beta), float(epsilon)) <= rows


@dataclass(frozen=True)
class CompressBounds:
    """How many rows it takes to go through classes of so many hypotheses each, to the last one."""

    sizes: tuple[int, ...]

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        return self._rows(error, beta, epsilon, as_printed=True)

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        return self._rows(error, beta, epsilon) <= rows

    def _rows(
        self, error: Fraction, beta: Fraction, epsilon: Fraction | None, as_printed: bool = False
    ) -> int:
        assert epsilon is not None
        rounds = compression_rounds(self.sizes, float(error), float(beta), float(epsilon), as_printed)
        return sum(fresh.chosen_on + fresh.tested_on for fresh in rounds)


def released_bounds(
    learner: Parity | Select | Compress, schema: Schema
) -> ParityBounds | SelectBounds | CompressBounds:
    """How many rows a learner needs, by the size of what it chooses from.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "old", "flu")})
    >>> released_bounds(sulq.Parity("flu"), schema).features
    3
    >>> released_bounds(sulq.Select(sulq.classes.Conjunctions(), "flu"), schema).size
    27
    """
    label = condition(learner.label, schema)
    if isinstance(learner, Parity):
        return ParityBounds(learner, len(conditions(learner.features, label, schema)) + learner.constant)
    if isinstance(learner, Compress):
        classes = learner.question(schema).classes
        return CompressBounds(tuple(check_size(each, Setting(schema, label)) for each in classes))
    listed = learner.hypotheses
    known = Hypotheses(listed) if isinstance(listed, Sequence) else listed
    return SelectBounds(check_size(known, Setting(schema, label)))
