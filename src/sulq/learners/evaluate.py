"""Evaluation by further queries: how good is what was learned, as far as noise lets that be known?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.hypotheses.evaluation import Evaluation
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.verdict import Verdict, verdict
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, whole
from sulq.queries.attributes import condition
from sulq.queries.cases import clip
from sulq.queries.cases import where as either
from sulq.queries.codes import bins
from sulq.queries.logistic import GRID_BITS
from sulq.queries.lookups import lookup
from sulq.queries.missing import known_beside, looked_at_missing
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.oracle import Rounds

BINS = 10
MOST_QUESTIONS = 5
"""A number is judged by so many sums, a class by fewer."""
STEP = 2.0**-GRID_BITS
"""Likelihoods are multiples of this."""
MEANS_WEIGHT = Fraction(1, 4)
"""Predictions lie within half a bin of its middle: little noise in their sums comes at little cost."""


@dataclass(frozen=True)
class Evaluate(Learner[Evaluation]):
    """Finds out how good a hypothesis is, by one round of further questions about the rows.

    Of a class it asks how many rows of each class are told to be of each class. Where the hypothesis has
    scores for two classes, it also counts the rows of both in bins of scores: so there are a ROC curve and a
    calibration table. Of a number it asks for the sums of errors; a prediction beyond the label's bounds
    counts as the nearer bound. Nothing else is asked, and under a curator this costs what any round costs.
    Rows that miss the label, or a cell that `where` looks at, are left out. What else is missing is what the
    schema makes of it, as it is for `predict`.

    Args:
        hypothesis: what was learned: anything that tells a class or a number.
        label: the truth: a column or an expression; by default what the hypothesis says it is about.
        where: only rows that meet this condition are looked at.
        bins: into how many bins scores are divided.
        share: the part of the budget to spend.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> curator = people.curator(epsilon=1)
    >>> tree = sulq.ID3("bought_drugs", depth=2, share="3/4").learn(curator)
    >>> evaluation = Evaluate(tree, share="1/4").learn(curator)
    >>> low, high = evaluation.accuracy.low, evaluation.accuracy.high
    >>> 0.4 < low < high < 0.8, curator.remaining
    (True, Fraction(0, 1))
    """

    hypothesis: Hypothesis
    label: str | Node | None = None
    where: str | Node | None = None
    bins: int = BINS
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Evaluation]:
        compared = verdict(self.hypothesis, self.label, schema)
        only = None if self.where is None else condition(self.where, schema)
        model = type(self.hypothesis).__name__
        tested = "" if only is None else "on some of the rows"
        return (yield from Comparison(schema, compared, only, self.bins).evaluated(self.share, model, tested))


@dataclass(frozen=True)
class Comparison:
    """What is asked to compare predictions with the truth.

    Args:
        schema: what is public about the columns.
        compared: what is predicted, and what is true.
        where: only rows that meet this condition are looked at; None for all.
        bins: into how many bins scores are divided.
    """

    schema: Schema
    compared: Verdict
    where: Node | None
    bins: int = BINS

    def evaluated(self, share: Numeric, model: str, tested: str) -> Rounds[Evaluation]:
        """Asks the round, and returns what the answers say.

        Args:
            share: the part of the budget to spend.
            model: what is evaluated, in words.
            tested: which rows are looked at, in words.
        """
        whole("the number of bins", self.bins, 2, 100)
        edges = self.edges
        answers = yield Round(self.questions(edges), share)
        likely = self.compared.likelihood is not None and bool(edges)
        about = self.compared
        return Evaluation(
            self.schema,
            None,
            model,
            about.truth,
            about.predicted,
            about.classes,
            edges,
            likely,
            tuple(answers),
            tested,
        )

    @property
    def edges(self) -> tuple[float, ...]:
        """Where scores are cut: evenly if they are probabilities, and closer together near 0 if not."""
        if self.compared.likelihood is not None:
            return tuple(place / self.bins for place in range(1, self.bins))
        if self.compared.margin is None:
            return ()
        furthest = max(map(abs, bounds_of(self.schema, self.compared.margin)))
        if furthest == 0:
            return ()
        half = [furthest * 2.0 ** -(place / 2 + 1) for place in range((self.bins - 1) // 2)]
        return tuple(sorted({0.0, *half, *(-edge for edge in half)}))

    def questions(self, edges: tuple[float, ...]) -> list[Query]:
        """What is asked, of rows whose label is known.

        Args:
            edges: where scores are cut.
        """
        about = self.compared
        only = known_beside(self.where, looked_at_missing([self.where, about.truth], self.schema))
        if not about.classes:
            return self._sums(only)
        questions = [count(only, by=[about.predicted, about.truth])]
        if edges and about.margin is not None:
            binned = bins(about.margin if about.likelihood is None else about.likelihood, edges)
            questions.append(count(only, by=[binned, about.truth]))
            if about.likelihood is not None:
                ends = np.array([0.0, *edges, 1.0])
                # On the grid of likelihoods: finer steps would cost noise that no float can hold.
                middles = np.round((ends[1:] + ends[:-1]) / 2 / STEP) * STEP
                half = float(np.ceil(np.diff(ends).max() / 2 / STEP + 1) * STEP)
                off = clip(about.likelihood - lookup(binned, middles.tolist()), -half, half)
                questions.append(total(off, only, by=[binned], weight=MEANS_WEIGHT))
        return questions

    def _sums(self, only: Node | None) -> list[Query]:
        low, high = bounds_of(self.schema, self.compared.truth)
        error = self.compared.truth - self.compared.predicted
        centred = self.compared.truth - (low / 2 + high / 2)
        return [
            count(only),
            total(error * error, only),
            total(either(error > 0, error, -error), only),
            total(centred * centred, only),
            total(centred, only),
        ]
