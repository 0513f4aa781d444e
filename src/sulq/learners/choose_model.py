"""Choosing between models privately: which of them is right of the most rows, or nearly so?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.hypotheses.chosen import ChosenModel
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.verdict import Verdict, verdict
from sulq.learners.learner import Learner
from sulq.numbers import Numeric
from sulq.queries.attributes import condition
from sulq.queries.cases import where as either
from sulq.queries.choose import choose
from sulq.queries.codes import Cross
from sulq.queries.lookups import Lookup
from sulq.queries.missing import known_beside, looked_at_missing
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class ChooseModel(Learner[ChosenModel]):
    """Chooses the model that is right of the most rows, or one that is nearly as good, by one private choice.

    Only which one is said, and not how good it is, so it costs much less than to evaluate all of them.
    Numbers are judged by the sum of |y − ŷ|. Under a curator the choice is made by an exponential mechanism
    or by permute-and-flip; `ChosenModel.behind` says how far from the best it may be. Rows that miss the
    label, or a cell that `where` looks at, are left out.

    Args:
        hypotheses: what to choose from, at least two that tell the same label.
        label: the truth: a column or an expression; by default what the first hypothesis says it is about.
        where: only rows that meet this condition are looked at.
        share: the part of the budget to spend.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> trees = [sulq.ID3("bought_drugs", depth=depth).learn(people.exact()) for depth in (0, 2)]
    >>> chosen = ChooseModel(trees).learn(people.curator(epsilon=1))
    >>> chosen.place, chosen.behind(0.05) < 100
    (1, True)
    """

    hypotheses: Sequence[Hypothesis]
    label: str | Node | None = None
    where: str | Node | None = None
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[ChosenModel]:
        models = tuple(self.hypotheses) if isinstance(self.hypotheses, Iterable) else ()
        if len(models) < 2:
            raise QueryError("there is nothing to choose from: give at least two hypotheses")
        label = self.label if self.label is not None else getattr(models[0], "label", None)
        only = None if self.where is None else condition(self.where, schema)
        compared = [verdict(model, label, schema) for model in models]
        for other in compared[1:]:
            if (other.classes, other.truth.key) != (compared[0].classes, compared[0].truth.key):
                raise QueryError(
                    "the hypotheses tell different classes, and who tells fewer apart is right more often: "
                    "choose among hypotheses that tell the same"
                )
        only = known_beside(only, looked_at_missing([only, compared[0].truth], schema))
        [answer] = yield Round([choose([_score(each, only, schema) for each in compared])], self.share)
        place = int(answer.value)
        return ChosenModel(schema, None, models[place].to_json(), place, len(models), answer)


def _score(compared: Verdict, only: Node | None, schema: Schema) -> Query:
    """How many rows are told right, or how close numbers are, as a sum that is the larger the better."""
    if compared.classes:
        size = len(compared.classes)
        same = tuple((int(i == j),) for i in range(size) for j in range(size))
        right = Lookup(Cross((compared.predicted, compared.truth)), same) > 0
        return count(right if only is None else right & only)
    low, high = bounds_of(schema, compared.truth)
    error = compared.truth - compared.predicted
    return total((high - low) - either(error > 0, error, -error), only)
