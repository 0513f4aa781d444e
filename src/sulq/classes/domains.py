"""Classes over a finite domain, given by how they label it; halfspaces are one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.classes.base import MOST, HypothesisClass, Look, Setting
from sulq.classes.boolean import balance, choice_size
from sulq.classes.transforms import Integers
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import words
from sulq.hypotheses.rules import Selected
from sulq.privacy.gf2 import Bits, packed
from sulq.queries.attributes import features_beside
from sulq.queries.codes import Bins, Cross
from sulq.queries.expressions import named
from sulq.queries.lookups import lookup
from sulq.queries.node import Node

AT_ONCE = 2**22
LARGEST_WEIGHT = {1: 1, 2: 1, 3: 2, 4: 3, 5: 5}
"""Weights up to here give every halfspace over so many bits: 4, 14, 104, 1882 and 94572 of them."""
MOST_POINTS = 144


@dataclass(frozen=True, eq=False)
class Labelings(HypothesisClass):
    """Hypotheses given by what they say of every point of a finite domain: the learner of Corollary 3.6.

    Two concepts that label the domain alike are one hypothesis, so by Sauer's lemma a class of VC dimension v
    over m points has at most `most_labelings(v, m)`, and `vc_rows` says how many rows that takes.

    Args:
        domain: choices among few (boolean columns, categories, bins), whose combinations are the points, the
            last choice varying fastest.
        labelings: a row of truth values for each hypothesis.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({name: sulq.Boolean() for name in "aby"}), sulq.col("y"))
    >>> some = Labelings(["a", "b"], [[0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]])
    >>> some.size(setting), some.hypothesis(1, setting).describe()
    (2, 'true for 2 of the 4 combinations of a, b')
    """

    wire = "labelings"

    domain: Sequence[str | Node]
    labelings: ArrayLike

    def size(self, setting: Setting) -> int:
        points = _points(self._choices, setting)
        if self._different.shape[1] != points:
            raise QueryError(
                f"the labelings are of {self._different.shape[1]} points, and the domain has {points}"
            )
        return len(self._different)

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        sizes = [choice_size(choice, setting) for choice in self._choices]
        return _mistakes(self._different, balance(look, labels, _codes(self._choices), sizes), labels)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        labels = self._different[index]
        names = ", ".join(_name(choice) for choice in self._choices)
        text = f"true for {labels.sum()} of the {labels.size} combinations of {names}"
        return _table(self._choices, labels, text, setting)

    @property
    def _choices(self) -> list[Node]:
        return _choices(self.domain)

    @cached_property
    def _different(self) -> NDArray[np.bool_]:
        labels = np.asarray(self.labelings)
        if labels.ndim != 2 or labels.size == 0 or not np.isin(labels, (0, 1)).all():
            raise QueryError("labelings are rows of truth values, one for each point of the domain")
        return np.unique(labels.astype(bool), axis=0)


@dataclass(frozen=True, eq=False)
class Halfspaces(HypothesisClass):
    """Every halfspace over a small finite domain, each once: up to five boolean features, or two choices.

    Args:
        domain: boolean columns or expressions; or any two choices among few (bins, boolean columns, small
            integers), which are read as coordinates 0, 1, 2, … in the plane.

    >>> import sulq
    >>> setting = Setting(sulq.Schema({name: sulq.Boolean() for name in "abcy"}), sulq.col("y"))
    >>> Halfspaces(["a", "b", "c"]).size(setting)
    104
    >>> Halfspaces(["a", "b", "c"]).hypothesis(99, setting).describe()
    '2·a + b + c >= 2'
    """

    wire = "halfspaces"

    domain: Sequence[str | Node]

    def size(self, setting: Setting) -> int:
        return len(self._halfspaces(setting)[0])

    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        choices = _choices(self.domain)
        sizes = [choice_size(choice, setting) for choice in choices]
        table = balance(look, labels, _codes(choices), sizes)
        return _mistakes(self._halfspaces(setting)[0], table, labels)

    def hypothesis(self, index: int, setting: Setting) -> Selected:
        choices = _choices(self.domain)
        labelings, weights, thresholds = self._halfspaces(setting)
        weighted = _sum(weights[index].tolist(), [_name(choice) for choice in choices])
        return _table(choices, labelings[index], f"{weighted} >= {thresholds[index]}", setting)

    def _halfspaces(self, setting: Setting) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        choices = _choices(self.domain)
        points = _points(choices, setting)
        sizes = tuple(choice_size(choice, setting) for choice in choices)
        bits = set(sizes) == {2} and len(sizes) <= max(LARGEST_WEIGHT)
        if points > MOST_POINTS or not (bits or len(sizes) == 2):
            raise QueryError(
                f"halfspaces can be listed over up to {max(LARGEST_WEIGHT)} boolean features, or two choices "
                f"of at most {MOST_POINTS} combinations; not over {points} points of {len(sizes)} choices"
            )
        return _listed(sizes)


@lru_cache(maxsize=16)
def _listed(sizes: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Every labeling of a grid by ⟨w, x⟩ ≥ t, with a w and a t that give it.

    Whole numbers suffice. In the plane, those up to twice the grid's longest side: the w that give a labeling
    (with some t) form an open cone, between two rays that are normal to differences of grid points. Such rays
    hold whole numbers up to the longest side, and the sum of one from each ray is inside.
    """
    bits = set(sizes) == {2}
    largest = LARGEST_WEIGHT[len(sizes)] if bits else 2 * (max(sizes) - 1)
    every = itertools.product(range(-largest, largest + 1), repeat=len(sizes))
    weights = np.array([w for w in every if math.gcd(*w) <= 1], dtype=np.int64)
    points = np.array(list(itertools.product(*map(range, sizes))), dtype=np.int64)
    reached = weights @ points.T
    first_of: dict[bytes, tuple[int, int]] = {}
    for threshold in range(int(reached.min()), int(reached.max()) + 2):
        labels = packed((reached >= threshold).T)
        # Words sort much faster than rows of them.
        _, first = np.unique(labels[:, 0] if labels.shape[1] == 1 else labels, axis=0, return_index=True)
        for place in first.tolist():
            first_of.setdefault(labels[place].tobytes(), (place, threshold))
    places, thresholds = np.array(list(first_of.values())).T
    return reached[places] >= thresholds[:, np.newaxis], weights[places], thresholds


def _mistakes(labelings: NDArray[np.bool_], table: Integers, labels: Bits) -> Integers:
    collected = np.empty(len(labelings), dtype=np.int64)
    rows = max(1, AT_ONCE // labelings.shape[1])
    for start in range(0, len(labelings), rows):
        # Exact: the table's magnitudes add up to the number of rows.
        piece = labelings[start : start + rows].astype(np.float64) @ table.astype(np.float64)
        collected[start : start + rows] = piece
    return np.asarray(np.count_nonzero(labels) - collected)


def _choices(domain: Sequence[str | Node]) -> list[Node]:
    if not domain:
        raise QueryError("a domain needs at least one choice")
    return [named(choice) for choice in domain]


def _codes(choices: Sequence[Node]) -> list[Node]:
    """The choices as numbers from 0: an integer column would come as it is."""
    return [Cross((choice,)) for choice in choices]


def _points(choices: Sequence[Node], setting: Setting) -> int:
    features_beside(setting.schema, choices, setting.label, "domain")
    points = math.prod(choice_size(choice, setting) for choice in choices)
    if points > MOST:
        raise QueryError(f"a domain of {points} points is too large to label: at most {MOST}")
    return points


def _table(choices: Sequence[Node], labels: NDArray[np.bool_], text: str, setting: Setting) -> Selected:
    return Selected(setting.schema, None, lookup(Cross(tuple(choices)), labels.astype(int).tolist()), text)


def _name(choice: Node) -> str:
    return f"bin of {words(choice.inner)}" if isinstance(choice, Bins) else words(choice)


def _sum(weights: Sequence[int], names: Sequence[str]) -> str:
    """A weighted sum as people would write it."""
    terms = [
        f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight)}·'}{name}"
        for weight, name in zip(weights, names, strict=True)
        if weight
    ]
    return " ".join(terms).removeprefix("+ ") or "0"
