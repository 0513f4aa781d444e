"""One name for "predict this number": an additive model, or the average where noise hides the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sulq.errors import QueryError
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.hypothesis import Origin
from sulq.hypotheses.target import Target
from sulq.learners.additive import Additive
from sulq.learners.learner import Learner
from sulq.numbers import Numeric
from sulq.queries.attributes import Edges, attribute
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class Regressor(Learner[AdditiveModel]):
    """Predicts a number: an additive model (`Additive`) or the average of all rows. It says which and why.

    The first round of the additive model shows whether noise hides what columns have to do with the number.
    Then the rest of the budget goes to the average alone. `origin.chosen` says so.

    Args:
        target: what is predicted: a numeric column, or an expression that is a number.
        features: columns or expressions; by default all columns that the target does not look at.
        bins: public edges for numbers and dates, by column; by default from the schema's bounds.
        share: the part of the budget to spend.

    >>> import sulq
    >>> rows = {"x": [1, 2, 8, 9] * 900, "y": [2.0, 3.0, 7.0, 8.0] * 900}
    >>> people = sulq.open(rows, {"x": sulq.Integer(0, 10), "y": sulq.Real(0, 10)})
    >>> model = Regressor("y").learn(people.curator(epsilon=1))
    >>> low, high = model.predict({"x": [1, 9]})
    >>> bool(low < 4 and high > 6)
    True
    >>> model.origin.chosen
    'an additive model, because rows stand out from the noise in counts of them'
    """

    target: str | Node
    features: Sequence[str | Node] | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[AdditiveModel]:
        target = Target(schema, attribute(schema, self.target))
        target.check()
        if target.classes is not None:
            raise QueryError(f"{target.label.described()} is a class and not a number: use Classifier")
        model = yield from self._additive.rounds(schema)
        why = (
            "an additive model, because rows stand out from the noise in counts of them"
            if model.effects
            else "the average alone, because noise hides what columns have to do with the number"
        )
        return replace(model, origin=Origin("", "", "", 0, why))

    def most_numbers(self, schema: Schema) -> int:
        """As many as the additive model asks for."""
        return self._additive.most_numbers(schema)

    def least_share(self, schema: Schema) -> Fraction:
        """That of the additive model."""
        return self._additive.least_share(schema)

    @property
    def _additive(self) -> Additive:
        return Additive(self.target, self.features, self.bins, share=self.share)
