"""What an additive model predicts, as numbers of a row: what is asked, and what the first answers say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sulq.effects.layout import Floats, Layout
from sulq.hypotheses.target import Target
from sulq.learners.attributes_in_bins import Attribute, joined
from sulq.queries.cases import clip
from sulq.queries.logistic import Logistic
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.talk.answers import Answer

CLEARER = 1
"""The weight of the label alone, among the questions of the first round."""
RAREST = 1e-3
"""No class is taken for rarer, and no number for steadier."""
SURE = 0.03
"""No value's label is taken for surer."""
DOUBT = 20.0
"""So many rows with the average label are added before a share is believed."""
UNKNOWN = 1e12
"""What says nothing is off by this."""


@dataclass(frozen=True)
class FirstLook:
    """What the first round says, values of all attributes in one long vector.

    Args:
        attributes: the attributes, those with few rows in an interval made coarser.
        rows: how many rows there are.
        counts: how many rows have each value: all positive, the same in all for each attribute.
        base: the average of each number that stands for the label.
        gradient: how far the sum of each number, over the rows with a value, is from that of the average.
        noise: the variance of the noise in the gradient.
        weights: how much a row with each value counts in the curvature.
        dispersion: the variance of a row's error, as a part of its weight.
        off: one standard deviation of the noise in the number of rows with one value.
        doubts: one standard deviation of the noise in the number of rows with each value.
    """

    attributes: tuple[Attribute, ...]
    rows: float
    counts: Floats
    base: Floats
    gradient: Floats
    noise: Floats
    weights: Floats
    dispersion: Floats
    off: float
    doubts: Floats

    @property
    def layout(self) -> Layout:
        """Where the values of each attribute are."""
        sizes, ordered = [each.size for each in self.attributes], [each.ordered for each in self.attributes]
        return Layout(tuple(sizes), tuple(ordered))


class Response(ABC):
    """A label as one or more numbers of a row.

    Args:
        target: the label, and what numbers stand for it.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    @abstractmethod
    def alone(self, weight: int = 1) -> list[Query]:
        """Questions about the label alone."""

    @abstractmethod
    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        """The first round: the label alone, and how each value of each attribute goes with it."""

    @abstractmethod
    def average(self, answers: Sequence[Answer]) -> Floats:
        """What the answers to `alone` say: the average of each number that stands for the label."""

    @abstractmethod
    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        """What the answers to the first round say."""

    @abstractmethod
    def residual(self, score: Node) -> Node:
        """What a model with this score does not explain of a row."""

    @abstractmethod
    def intercept(self, average: Floats) -> Floats:
        """The score of a row of which nothing else is known."""


class ClassResponse(Response):
    """A label with few classes: whether a row has the second of two, or each of more, as 0 or 1."""

    def alone(self, weight: int = 1) -> list[Query]:
        return [count(by=[self.target.label], weight=weight)]

    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        return self.alone(CLEARER) + [count(by=[each.code, self.target.label]) for each in attributes]

    def average(self, answers: Sequence[Answer]) -> Floats:
        return self.shares(self._table(answers[0]))

    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        whole, *crossed = answers
        tables = [self._table(answer) for answer in crossed]
        offs, classes = np.array([_off(answer) for answer in crossed]), tables[0].shape[1]
        variances = _variances(whole, tables, offs)
        label = _pooled(variances, [self._table(whole), *(table.sum(axis=0) for table in tables)])
        rows, base = max(1.0, float(label.sum())), self.shares(label)
        coarse = joined(attributes, [table.sum(axis=1) for table in tables], offs * classes**0.5)
        together = coarse.taken(tables)
        sizes = together.sum(axis=1, keepdims=True)
        gradient = together[:, self._chosen] - base * sizes
        noise = coarse.variances(offs)[:, np.newaxis] * ((1 - base) ** 2 + (classes - 1) * base**2)
        counts = coarse.positive(sizes[:, 0], rows, offs * classes**0.5)
        doubt = DOUBT + noise / counts[:, np.newaxis]
        likely = (together[:, self._chosen] + base * doubt) / (sizes.clip(min=1.0) + doubt)
        weights = likely.clip(SURE, 1 - SURE) * (1 - likely.clip(SURE, 1 - SURE))
        off = float(offs.max()) * classes**0.5
        doubts = np.sqrt(coarse.variances(offs) * classes)
        return FirstLook(
            coarse.attributes, rows, counts, base, gradient, noise, weights, np.ones(len(base)), off, doubts
        )

    def _table(self, answer: Answer) -> Floats:
        """Counts by class, without those of rows that have none of the classes."""
        return _value(answer)[..., : len(self.target.classes or ())]

    def residual(self, score: Node) -> Node:
        return self.target.numbers - Logistic(score)

    def intercept(self, average: Floats) -> Floats:
        return np.asarray(np.log(average / (1 - average)))

    @property
    def _chosen(self) -> slice:
        return slice(1, 2) if self.target.width == 1 else slice(None)

    def shares(self, label: Floats) -> Floats:
        """The average of each number that stands for the label.

        Args:
            label: how many rows have each class.
        """
        shares = label.clip(min=0.0) / max(1.0, float(label.clip(min=0.0).sum()))
        return np.asarray(shares[self._chosen].clip(RAREST, 1 - RAREST))


class NumberResponse(Response):
    """A number, scaled such that its public bounds are −1 and 1."""

    def alone(self, weight: int = 1) -> list[Query]:
        number = self.target.numbers
        return [count(weight=weight), total(number, weight=weight), total(number * number, weight=weight)]

    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        number = self.target.numbers
        each = [(count(by=[one.code]), total(number, by=[one.code])) for one in attributes]
        return self.alone(CLEARER) + [query for both in each for query in both]

    def average(self, answers: Sequence[Answer]) -> Floats:
        return self._mean(float(_value(answers[0])), float(_value(answers[1])))

    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        (number, summed, squares), sized, totals = answers[:3], answers[3::2], answers[4::2]
        sizes, sums = [_value(answer) for answer in sized], [_value(answer) for answer in totals]
        offs, apart = (np.array([_off(answer) for answer in each]) for each in (sized, totals))
        of_sizes, of_sums = _variances(number, sizes, offs), _variances(summed, sums, apart)
        rows = max(
            1.0, float(_pooled(of_sizes, [_value(number), *(np.asarray(each.sum()) for each in sizes)]))
        )
        base = self._mean(
            rows, float(_pooled(of_sums, [_value(summed), *(np.asarray(each.sum()) for each in sums)]))
        )
        coarse = joined(attributes, sizes, offs)
        together = coarse.taken([np.stack(both, axis=1) for both in zip(sizes, sums, strict=True)])
        gradient = together[:, 1:] - base * together[:, :1]
        noise = (coarse.variances(apart) + base**2 * coarse.variances(offs))[:, np.newaxis]
        counts = coarse.positive(together[:, 0], rows, offs)
        variance = np.clip(float(_value(squares)) / rows - base**2, RAREST, 1.0)
        return FirstLook(
            coarse.attributes,
            rows,
            counts,
            base,
            gradient,
            noise,
            np.ones_like(gradient),
            variance,
            float(offs.max()),
            np.sqrt(coarse.variances(offs)),
        )

    def residual(self, score: Node) -> Node:
        return clip(self.target.numbers - self.target.kept(score), -1.0, 1.0)

    def intercept(self, average: Floats) -> Floats:
        return average

    @staticmethod
    def _mean(rows: float, summed: float) -> Floats:
        return np.array([summed / max(1.0, rows)]).clip(-1.0, 1.0)


def _value(answer: Answer) -> Floats:
    given = np.asarray(answer.value, dtype=np.float64)
    return np.asarray(np.nan_to_num(given, posinf=UNKNOWN, neginf=-UNKNOWN))


def _off(answer: Answer) -> float:
    """One standard deviation of the noise in a number of an answer."""
    return min(UNKNOWN, float(np.max(answer.deviation)))


def _variances(alone: Answer, tables: Sequence[Floats], offs: Floats) -> Floats:
    """The variance of the noise in an answer about all rows, and in the sum over the values of each table."""
    each = [off**2 * len(table) for table, off in zip(tables, offs, strict=True)]
    return np.array([_off(alone) ** 2, *each])


def _pooled(variances: Floats, estimates: Sequence[Floats]) -> Floats:
    """The average of several estimates of the same, each by how little noise there is in it."""
    return np.asarray(np.average(np.array(estimates), axis=0, weights=1 / (variances + 1e-9)))
