"""How good a hypothesis is: accuracy, a confusion table, AUROC and calibration, or the errors of a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.intervals import Floats, Metric, area, binomial, hanley, ratio
from sulq.hypotheses.number_errors import NumberErrors
from sulq.pictures import chips, confusion, curves
from sulq.pictures.svg import clean
from sulq.queries.node import Node
from sulq.talk.answers import BETA, Answer
from sulq.talk.columns import Library, frame, plain_table
from sulq.talk.laws import PlainLaw
from sulq.talk.sketched import one_law

MOST_DRAWN = 12
"""Of how many classes a table of all confusions is drawn, at most."""


@dataclass(frozen=True, eq=False)
class Evaluation(Hypothesis):
    """How good a hypothesis is on rows whose label is known, as far as noisy answers tell.

    Error bars are those of the noise: they say how far a figure may be from that of the rows themselves, at
    95 %. That other rows would have other figures is not in them. `Metric.sampling` says about how much that
    is, where the rows are a sample and were not learned from.

    Its `expression` is what was evaluated: the position of the class that is predicted, or the number.

    Args:
        schema: what is public about the columns.
        origin: where the evaluation comes from.
        model: what was evaluated, in words.
        label: the truth, as a row expression.
        predicted: what the hypothesis says of a row.
        classes: the classes in order; none for a number.
        edges: the public edges between which scores were counted; none where there are no scores.
        likely: whether scores say how likely the second class is.
        answers: what was answered: the confusion table, the table of scores, and how far predictions are from
            the middle of their bins; of a number, what `NumberErrors` needs.
        tested: which rows were looked at, in words.

    >>> import sulq
    >>> rows = {"old": [0, 0, 0, 1, 1, 1] * 50, "sick": [0, 0, 1, 1, 1, 1] * 50}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> tree = sulq.ID3("sick", depth=1).learn(people.exact())
    >>> evaluation = sulq.Evaluate(tree).learn(people.exact())
    >>> round(evaluation.accuracy.value, 3), round(evaluation.auroc.value, 3)
    (0.833, 0.875)
    >>> print(evaluation.describe())
    Of the rows, 83.3 % are told right.
    The area below the ROC curve is 0.875.
    predicted  sick: false  sick: true
    false              100          50
    true                 0         150
    """

    wire = "evaluation"
    no_label = "how good another hypothesis is"

    model: str
    label: Node
    predicted: Node
    classes: tuple[str, ...]
    edges: tuple[float, ...]
    likely: bool
    answers: tuple[Answer, ...]
    tested: str = ""

    @property
    def expression(self) -> Node:
        return self.predicted

    @property
    def accuracy(self) -> Metric:
        """Which share of the rows is told right."""
        return self.share(np.eye(len(self.classes)), np.ones((len(self.classes),) * 2))

    @property
    def majority(self) -> Metric:
        """Which share of the rows the most frequent class has, which whoever always says it tells right."""
        self._need_classes()
        most = int(self.confusion.sum(axis=0).argmax())
        return self.share(np.eye(len(self.classes))[most] * np.ones((len(self.classes), 1)), np.ones(()))

    @property
    def confusion(self) -> Floats:
        """How many rows of each class (columns) are told to be of each class (rows), with noise."""
        self._need_classes()
        return np.asarray(self.answers[0].value, dtype=np.float64)

    def recall(self, name: str) -> Metric:
        """Which share of the rows of a class is told right.

        Args:
            name: the class.
        """
        place = self._place(name)
        column = np.zeros((len(self.classes),) * 2)
        column[:, place] = 1
        return self.share(np.eye(len(self.classes)) * column, column)

    def precision(self, name: str) -> Metric:
        """Which share of the rows that are told to be of a class are of it.

        Args:
            name: the class.
        """
        place = self._place(name)
        row = np.zeros((len(self.classes),) * 2)
        row[place] = 1
        return self.share(np.eye(len(self.classes)) * row, row)

    def share(self, top: Floats, bottom: Floats, beta: float = BETA) -> Metric:
        """The share of some cells of the confusion table in others.

        Args:
            top: 1 for the cells of the numerator, 0 for others.
            bottom: 1 for the cells of the denominator.
            beta: the chance that noise took the share out of its bounds.
        """
        counts = self.confusion
        some, all_ = (np.broadcast_to(each, counts.shape).ravel() for each in (top, bottom))
        value, low, high = ratio(counts.ravel(), some, all_, self._law(0), beta)
        return Metric(value, low, high, binomial(value, float(all_ @ counts.ravel())))

    @property
    def auroc(self) -> Metric:
        """The area below the ROC curve: the chance that of two rows of different classes, the one of the
        second class has the higher score. Rows in one bin count half. `ties` says how much that is in all.
        """
        negatives, positives = self._scores
        value, low, high = area(negatives, positives, self._law(1), BETA)
        return Metric(value, low, high, hanley(value, float(positives.sum()), float(negatives.sum())))

    @property
    def ties(self) -> float:
        """How far, at most, the area of the scores themselves is from that of their bins; with noise."""
        negatives, positives = self._scores
        pairs = float(negatives.sum() * positives.sum())
        return min(0.5, max(0.0, float(negatives @ positives) / pairs / 2)) if pairs > 0 else 0.5

    def roc(self, beta: float = BETA) -> list[tuple[Metric, Metric]]:
        """The ROC curve: for each edge from the highest, which shares of the first class (false positives)
        and of the second (true positives) have scores from there on. All bounds hold at once.

        Args:
            beta: the chance that noise took some share out of its bounds.
        """
        table = np.stack(self._scores, axis=1)
        each = beta / (2 * len(self.edges))
        return [
            (self._rate(table, place, 0, each), self._rate(table, place, 1, each))
            for place in range(len(self.edges), 0, -1)
        ]

    def calibration(self, beta: float = BETA) -> list[tuple[float, Metric]]:
        """For each bin of scores with rows: the mean prediction in it, and the share of the second class.

        The bounds of all shares hold at once. Bins whose rows cannot be told from noise are left out.

        Args:
            beta: the chance that noise took some share out of its bounds.
        """
        if not self.likely:
            raise QueryError(
                f"the scores of {self.model} are no probabilities: there is nothing to calibrate"
            )
        table, off = np.stack(self._scores, axis=1), np.ravel(self.answers[2].value)
        ends, law = [0.0, *self.edges, 1.0], self._law(1)
        noise = float(law.each(beta / len(table))) * math.sqrt(2)
        lines = []
        for place, rows in enumerate(table.sum(axis=1).tolist()):
            if rows <= noise:
                continue
            low, high = ends[place], ends[place + 1]
            mean = min(high, max(low, (low + high) / 2 + float(off[place]) / rows))
            value, *bounds = ratio(table[place], np.array([0.0, 1.0]), np.ones(2), law, beta / len(table))
            lines.append((mean, Metric(value, bounds[0], bounds[1], binomial(value, rows))))
        return lines

    @property
    def numbers(self) -> NumberErrors:
        """The errors of a number: mean squared, mean absolute, and R²."""
        if self.classes:
            raise QueryError(
                f"{words(self.label)} has classes: it has an accuracy, and no errors of a number"
            )
        return NumberErrors(*self.answers)

    def metrics(self) -> dict[str, Metric]:
        """All figures that are single numbers, by name."""
        if not self.classes:
            return self.numbers.metrics()
        return {"accuracy": self.accuracy} | ({"AUROC": self.auroc} if self.edges else {})

    def to_frame(self, library: Library | None = None) -> Any:
        """The figures as a data frame: a row for each, with its bounds.

        Args:
            library: "pandas" or "polars"; None for the first of them that is installed.
        """
        metrics = self.metrics()
        columns: dict[str, list[Any]] = {"metric": list(metrics)}
        for name in ("value", "low", "high", "sampling"):
            columns[name] = [getattr(metric, name) for metric in metrics.values()]
        return frame(columns, library)

    def describe(self) -> str:
        if not self.classes:
            return "\n".join(self.numbers.lines)
        lines = [f"Of the rows, {self.accuracy.said(1, 100)} % are told right."]
        if self.edges:
            lines.append(f"The area below the ROC curve is {self.auroc.said()}.")
        names = [clean(each) for each in self.classes]
        headings = ["predicted", *(f"{clean(words(self.label))}: {each}" for each in names)]
        cells = [[f"{max(0.0, cell) + 0.0:,.0f}" for cell in row] for row in self.confusion]
        rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
        return "\n".join([*lines, plain_table(headings, rows, 1)])

    @property
    def headline(self) -> str:
        first = self.describe().partition("\n")[0]
        what = ", ".join(clean(each) for each in (self.model, self.tested) if each)
        return f"{what}: {first}"

    @property
    def doubts(self) -> tuple[str, ...]:
        notes = ["Error bars are of the noise alone; other rows would have other figures."]
        if not self.tested:
            notes.append("If these rows were learned from, expect less of others.")
        if self.classes and self.accuracy.low <= self.majority.high:
            notes.append("Whoever always says the most frequent class may be right as often.")
        return tuple(notes)

    def picture(self) -> str:
        title = f"{self.model}: {words(self.label)}"
        if not self.edges and 0 < len(self.classes) <= MOST_DRAWN:
            return confusion.picture(title, self.classes, self.confusion.tolist(), self._caption)
        if not self.edges:
            return chips.picture(title, self.describe().splitlines(), joint="", note=self._caption)
        panels = [curves.CurvePanel("false positives", "true positives", self._points(self.roc()))]
        if self.likely:
            marks = [(x, metric.value, metric.low, metric.high) for x, metric in self.calibration()]
            panels.append(curves.CurvePanel("mean prediction", "share of the class", tuple(marks)))
        return curves.picture(title, panels, self._caption)

    def _points(self, roc: Sequence[tuple[Metric, Metric]]) -> tuple[tuple[float, float, float, float], ...]:
        """The ROC curve from corner to corner: across, up, and the bounds of up."""
        inner = [(across.value, up.value, up.low, up.high) for across, up in roc]
        return ((0.0, 0.0, 0.0, 0.0), *inner, (1.0, 1.0, 1.0, 1.0))

    def _rate(self, table: Floats, place: int, column: int, beta: float) -> Metric:
        counts = table[:, column]
        top = (np.arange(len(counts)) >= place).astype(np.float64)
        value, low, high = ratio(counts, top, np.ones(len(counts)), self._law(1), beta)
        return Metric(value, low, high, binomial(value, float(counts.sum())))

    @property
    def _scores(self) -> tuple[Floats, Floats]:
        if not self.edges:
            raise QueryError(f"{self.model} has no scores for two classes, so it has no ROC curve")
        table = np.asarray(self.answers[1].value, dtype=np.float64)
        return table[:, 0], table[:, 1]

    def _law(self, place: int) -> PlainLaw:
        return one_law(self.answers[place].law)

    def _place(self, name: str) -> int:
        self._need_classes()
        if name not in self.classes:
            raise QueryError(f"there is no class {name!r}; there are {', '.join(map(clean, self.classes))}")
        return self.classes.index(name)

    def _need_classes(self) -> None:
        if not self.classes:
            raise QueryError(f"{words(self.label)} is a number: see `numbers` for its errors")

    def _check(self) -> None:
        many = len(self.classes)
        shapes: list[tuple[int, ...]] = [(many, many)] if many else [()] * len(NumberErrors.ASKED)
        if self.edges:
            shapes += [(len(self.edges) + 1, 2)]
        if self.likely:
            shapes += [(len(self.edges) + 1,)]
        if many == 1 or [np.shape(answer.value) for answer in self.answers] != shapes:
            raise QueryError("the answers of an evaluation do not have the shapes of its tables")
        super()._check()
