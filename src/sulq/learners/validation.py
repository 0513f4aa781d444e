"""Cross-validation and hold-out: how good is a learner on rows that it has not seen, at what cost?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sulq.errors import QueryError
from sulq.hypotheses.evaluation import Evaluation
from sulq.hypotheses.verdict import Verdict, told_apart, verdict
from sulq.learners.evaluate import BINS, MOST_QUESTIONS, Comparison, Evaluate
from sulq.learners.folded import Dealt, public_fold, restricted
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational, whole
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class CrossValidate(Learner[Evaluation]):
    """Finds out how good a learner is: every row is told by a model that was learned from other rows.

    Rows are dealt into folds by a public hash: of the column that says whose row it is, if the schema has
    one, else of all that the row says. For each fold the learner learns a model from the rows of all
    others. At last one round compares, for all rows at once, the label with what the model of the row's
    fold says.

    What it costs. The models cost k parts of the budget, one for each of k folds, and they add up: a row is
    in k − 1 of the training sets, and a row that is exchanged for another may change its fold, and then it
    leaves one training set and comes to another, so all k models see a change. The last round costs one
    part and not k, as the folds are disjoint: "the model of the row's fold" is one function of a row, and a
    changed row changes its own cell of one table. The ledger charges every round. So each model is learned
    with (1 − evaluation)·share/k of the budget, and the figures are those of a learner with so little. A
    single model that may spend more does better: `Holdout` spends k times as much on one.

    Without a column that says whose row it is, equal rows fall into the same fold: a table with few different
    rows is better judged by `Holdout` on a column with identifiers, or by `Evaluate` on other people.

    Args:
        learner: a learner that predicts a label and spends a share of a budget.
        folds: how many folds there are: k.
        evaluation: the part of the share that the last round may cost.
        bins: into how many bins scores are divided, as in `sulq.Evaluate`.
        salt: a public text; another salt deals the rows otherwise.
        share: the part of the budget to spend in all.

    >>> import sulq
    >>> curator = sulq.randhie().curator(epsilon=4)
    >>> validation = CrossValidate(sulq.ID3("bought_drugs", depth=1), folds=3)
    >>> validation.cost_of_learning, validation.cost_of_evaluation
    (Fraction(4, 15), Fraction(1, 5))
    >>> evaluation = validation.learn(curator)
    >>> 0.4 < evaluation.accuracy.value < 0.8, curator.remaining
    (True, Fraction(0, 1))
    """

    learner: Learner[Any]
    folds: int = 5
    evaluation: Numeric = Fraction(1, 5)
    bins: int = BINS
    salt: str = ""
    share: Numeric = 1

    @property
    def cost_of_learning(self) -> Fraction:
        """What each of the models may cost, as a part of the budget."""
        return (rational("share", self.share, most=1) - self.cost_of_evaluation) / self._models

    @property
    def cost_of_evaluation(self) -> Fraction:
        """What the last round costs, as a part of the budget."""
        part = rational("evaluation", self.evaluation, below=1)
        return rational("share", self.share, most=1) * part

    def rounds(self, schema: Schema) -> Rounds[Evaluation]:
        # All that could be refused is refused before the first model is paid for.
        whole("the number of folds", self.folds, 2, 100)
        whole("the number of bins", self.bins, 2, 100)
        label, name = told_apart(self._label(), schema), type(self.learner).__name__
        dealt = Dealt(public_fold(schema, self.folds, self.salt), self.folds)
        models = []
        for place in range(self._models):
            others = ~dealt.is_in(place)
            rounds = self.learner.rounds(schema)
            models.append((yield from restricted(rounds, others, self.cost_of_learning, name)))
        compared = [verdict(model, label, schema) for model in models]
        return (yield from self._evaluated(schema, dealt, compared))

    def least_share(self, schema: Schema) -> Fraction:
        """That of a model, of what a model may cost; or a question of the last round."""
        told_apart(self._label(), schema)
        last, least = self.cost_of_evaluation / MOST_QUESTIONS, self.learner.least_share(schema)
        return last if least is None else min(last, self.cost_of_learning * least)

    def _evaluated(self, schema: Schema, dealt: Dealt, compared: list[Verdict]) -> Rounds[Evaluation]:
        about = Comparison(schema, together(dealt, compared), None, self.bins)
        tested = f"cross-validated in {self.folds} folds"
        return (yield from about.evaluated(self.cost_of_evaluation, type(self.learner).__name__, tested))

    def _label(self) -> str | Node:
        name = type(self.learner).__name__
        if not isinstance(self.learner, Learner):
            raise QueryError(
                f"what is validated is a learner, not {name}: `Evaluate` judges what was learned"
            )
        label: str | Node | None = getattr(self.learner, "label", None)
        if label is None or isinstance(self.learner, Evaluate):
            raise QueryError(f"{name} predicts no label: there is nothing to validate")
        if self.learner.stake is None:
            raise QueryError(f"{name} asks by tolerances here: give it a share of the budget")
        return label

    @property
    def _models(self) -> int:
        return whole("the number of folds", self.folds, 2, 100)


@dataclass(frozen=True)
class Holdout(CrossValidate):
    """Finds out how good a learner is: it learns from most rows, and is judged by the others.

    One fold of k is held out. The model is learned from the rows of all other folds, and one round compares
    it with the label on the fold that was held out. Both cost their part of the budget, and the ledger
    charges both. (Where a row only comes or goes it is in one of the two sets alone, and would lose the
    larger of both parts. A row that is exchanged for another may leave one set and come to the other. So
    both are charged.) See `CrossValidate` for how rows are dealt.

    Args:
        learner: a learner that predicts a label and spends a share of a budget.
        folds: how many folds there are; one of them is held out.
        evaluation: the part of the share that the last round may cost.
        bins: into how many bins scores are divided, as in `sulq.Evaluate`.
        salt: a public text; another salt deals the rows otherwise.
        share: the part of the budget to spend in all.

    >>> import sulq
    >>> curator = sulq.randhie().curator(epsilon=4)
    >>> evaluation = Holdout(sulq.ID3("bought_drugs", depth=1)).learn(curator)
    >>> evaluation.tested, 0.3 < evaluation.accuracy.value < 0.9
    ('on 1 of 5 folds, which was held out', True)
    """

    @property
    def _models(self) -> int:
        return 1

    def _evaluated(self, schema: Schema, dealt: Dealt, compared: list[Verdict]) -> Rounds[Evaluation]:
        about = Comparison(schema, compared[0], dealt.is_in(0), self.bins)
        tested = f"on 1 of {self.folds} folds, which was held out"
        return (yield from about.evaluated(self.cost_of_evaluation, type(self.learner).__name__, tested))


def together(dealt: Dealt, compared: list[Verdict]) -> Verdict:
    """What the models of all folds say, each of the rows of its fold.

    Args:
        dealt: which rows are in which fold.
        compared: what each model says, beside the same truth.
    """
    first, *rest = compared
    if any((other.classes, other.truth.key) != (first.classes, first.truth.key) for other in rest):
        raise QueryError("the models of the folds tell different classes: they cannot be judged together")

    def joined(name: str) -> Node | None:
        each = [getattr(other, name) for other in compared]
        return None if any(value is None for value in each) else dealt.numbers(each)

    predicted = [other.predicted for other in compared]
    if not first.classes:
        return Verdict(dealt.numbers(predicted), first.truth, (), None, None)
    said = dealt.positions(predicted, len(first.classes))
    return Verdict(said, first.truth, first.classes, joined("likelihood"), joined("margin"))
