"""What an additive model tells, as numbers of a row: how it is asked about, and what the first answers say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats, Layout
from sulq.hypotheses.additive import Target
from sulq.learners.attributes_in_bins import Attribute
from sulq.queries.cases import clip
from sulq.queries.logistic import Logistic
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.talk.answers import Answer

FEWEST = 10.0
"""Rows in a bin, at least."""
ENOUGH = 1.5
"""A bin is wide enough if it has so many times as many rows as there is noise in their number."""
RAREST = 1e-3
"""No class is taken for rarer."""
SURE = 0.03
"""No value's label is taken for surer."""
DOUBT = 20.0
"""So many rows with the average label are added before a share is believed."""


@dataclass(frozen=True)
class FirstLook:
    """What the first round says, values of all attributes in one long vector.

    Args:
        attributes: the attributes, those with few rows in an interval made coarser.
        counts: how many rows have each value: all positive, the same in all for each attribute.
        base: the average of each number that the outcome has.
        gradient: how far the sum of each number, over the rows with a value, is from that of the average.
        noise: the variance of the noise in the gradient.
        weights: how much a row with each value counts in the curvature.
        dispersion: the variance of a row's error, as a part of its weight.
        off: one standard deviation of the noise in the number of rows with one value.
    """

    attributes: tuple[Attribute, ...]
    counts: Floats
    base: Floats
    gradient: Floats
    noise: Floats
    weights: Floats
    dispersion: Floats
    off: float

    @property
    def layout(self) -> Layout:
        """Where the values of each attribute are."""
        sizes, ordered = [each.size for each in self.attributes], [each.ordered for each in self.attributes]
        return Layout(tuple(sizes), tuple(ordered))


class Outcome(ABC):
    """A label as one or more numbers of a row.

    Args:
        target: the label, and what numbers stand for it.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    @abstractmethod
    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        """The first round: how each value of each attribute goes with the label."""

    @abstractmethod
    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        """What the answers to the first round say."""

    @abstractmethod
    def residual(self, score: Node) -> Node:
        """What a model with this score does not explain of a row."""


class ClassOutcome(Outcome):
    """A label with few classes: whether a row has the second of two, or each of more, as 0 or 1."""

    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        return [count(by=[attribute.code, self.target.label]) for attribute in attributes]

    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        tables = [np.asarray(answer.value, dtype=np.float64) for answer in answers]
        off, classes = float(answers[0].deviation), tables[0].shape[1]
        coarse, groups = _joined(attributes, [table.sum(axis=1) for table in tables], off * classes**0.5)
        together, fine = _taken(groups, tables)
        rows = max(1.0, float(np.mean([table.sum() for table in tables])))
        shares = np.mean([table.sum(axis=0) for table in tables], axis=0) / rows
        chosen = slice(1, 2) if classes == 2 else slice(None)
        base = shares[chosen].clip(RAREST, 1 - RAREST)
        sizes = together.sum(axis=1, keepdims=True)
        gradient = together[:, chosen] - base * sizes
        noise = off**2 * fine[:, np.newaxis] * ((1 - base) ** 2 + (classes - 1) * base**2)
        counts = _positive(coarse, sizes[:, 0], rows, off)
        doubt = DOUBT + noise / counts[:, np.newaxis]
        likely = (together[:, chosen] + base * doubt) / (sizes.clip(min=1.0) + doubt)
        likely = likely.clip(SURE, 1 - SURE)
        weights = likely * (1 - likely)
        return FirstLook(
            coarse, counts, base, gradient, noise, weights, np.ones(len(base)), off * classes**0.5
        )

    def residual(self, score: Node) -> Node:
        return self.target.numbers - Logistic(score)


class NumberOutcome(Outcome):
    """A number, scaled such that its public bounds are −1 and 1."""

    def questions(self, attributes: Sequence[Attribute]) -> list[Query]:
        number = self.target.numbers
        each = [query for attribute in attributes for query in self._about(attribute, number)]
        return [*each, total(number * number)]

    def look(self, attributes: Sequence[Attribute], answers: Sequence[Answer]) -> FirstLook:
        *pairs, squares = answers
        sizes = [np.asarray(answer.value, dtype=np.float64) for answer in pairs[::2]]
        sums = [np.asarray(answer.value, dtype=np.float64) for answer in pairs[1::2]]
        off, apart = float(pairs[0].deviation), float(pairs[1].deviation)
        coarse, groups = _joined(attributes, sizes, off)
        together, fine = _taken(groups, [np.stack(both, axis=1) for both in zip(sizes, sums, strict=True)])
        rows = max(1.0, float(np.mean([each.sum() for each in sizes])))
        base = np.array([np.mean([each.sum() for each in sums]) / rows]).clip(-1.0, 1.0)
        gradient = together[:, 1:] - base * together[:, :1]
        noise = fine[:, np.newaxis] * (apart**2 + base**2 * off**2)
        variance = np.clip(float(squares.value) / rows - base**2, RAREST, 1.0)
        counts = _positive(coarse, together[:, 0], rows, off)
        return FirstLook(coarse, counts, base, gradient, noise, np.ones_like(gradient), variance, off)

    def residual(self, score: Node) -> Node:
        return clip(self.target.numbers - clip(score, -1.0, 1.0), -1.0, 1.0)

    @staticmethod
    def _about(attribute: Attribute, number: Node) -> tuple[Query, Query]:
        return count(by=[attribute.code]), total(number, by=[attribute.code])


def _joined(
    attributes: Sequence[Attribute], counts: Sequence[Floats], off: float
) -> tuple[tuple[Attribute, ...], list[NDArray[np.intp] | None]]:
    """The attributes that still vary once values with few rows are taken together, and which values are."""
    groups = [
        attribute.joined(each, FEWEST, ENOUGH * off)
        for attribute, each in zip(attributes, counts, strict=True)
    ]
    varied = [each if each[-1] > 0 else None for each in groups]
    coarse = [
        attribute.coarser(each)
        for attribute, each in zip(attributes, varied, strict=True)
        if each is not None
    ]
    return tuple(coarse), varied


def _taken(groups: Sequence[NDArray[np.intp] | None], tables: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Tables with values taken together, below each other, and how many values each row of them is made of."""
    taken, fine = [np.zeros((0, tables[0].shape[1]))], [np.zeros(0)]
    for group, table in zip(groups, tables, strict=True):
        if group is not None:
            sums = np.zeros((int(group[-1]) + 1, table.shape[1]))
            np.add.at(sums, group, table)
            taken.append(sums)
            fine.append(np.bincount(group).astype(np.float64))
    return np.concatenate(taken), np.concatenate(fine)


def _positive(attributes: Sequence[Attribute], counts: Floats, rows: float, off: float) -> Floats:
    """Counts without negative ones, that add up to the same for every attribute."""
    layout = Layout(tuple(each.size for each in attributes), tuple(each.ordered for each in attributes))
    raised = counts.clip(min=max(3.0, off / 2))
    parts = [raised[part] * (rows / raised[part].sum()) for part in layout.slices]
    return np.concatenate(parts) if parts else np.zeros(0)
