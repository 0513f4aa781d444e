"""Anything that answers, as a black box: which event tells two neighbouring tables apart, and by how much?

Events are chosen on one half of the runs and tested on the other, so the choice costs no confidence. The
bounds of Clopper and Pearson hold for every number of runs. Nothing is known about the box: what it says is
laid out as numbers, wherever they stand in it, and so are its errors, its texts and how long it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.audits.findings import ALARM, AuditFinding
from sulq.audits.laid_out import joined, laid_out
from sulq.audits.statistics import detectable_loss, loss_at_least, rough_loss

MARKS = 24
"""How many thresholds are tried for each number."""
MOST_FACTORS = 12
"""With more numbers that move, products of two are not looked at: there are too many."""
RUNS_PER_NUMBER = 60
"""With fewer runs for each number, a score leaves products out: it would follow chance."""


def with_products(
    names: Sequence[str], rows: NDArray[np.float64], known: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64]]:
    """The numbers, and the products of any two of them, where not many numbers move.

    An answer may have no sign of its own, as an eigenvector has none: then numbers tell less than products.

    Args:
        names: a name for each number.
        rows: the answers, as rows of numbers.
        known: those of them on which events are chosen.

    >>> rows = np.array([[1.0, 2], [-1, -2]])
    >>> names, products = with_products(["x", "y"], rows, rows)
    >>> names
    ['x', 'y', 'x·x', 'x·y', 'y·y']
    >>> products.tolist()
    [[1.0, 2.0, 1.0, 2.0, 4.0], [-1.0, -2.0, 1.0, 2.0, 4.0]]
    """
    low, high = known.min(axis=0), known.max(axis=0)
    # What an answer does not have is 1e302, and a product of that is no number.
    moving = np.flatnonzero((low < high) & (np.maximum(-low, high) < 1e100)).tolist()
    if len(moving) > MOST_FACTORS:
        return list(names), rows
    factors = list(combinations_with_replacement(moving, 2))
    with np.errstate(over="ignore"):
        products = [rows[:, one] * rows[:, other] for one, other in factors]
    named = [f"{names[one]}·{names[other]}" for one, other in factors]
    return [*names, *named], np.column_stack([rows, *products])


def safely(box: Callable[[Any], Any], table: Any) -> Any:
    """What a box says of a table; an error is an answer too."""
    try:
        return box(table)
    except Exception as error:
        return error


@dataclass(frozen=True)
class Event:
    """That a number of the answer, or a score made of all of them, lies above a mark or below it."""

    name: str
    column: int | None
    weights: tuple[float, ...]
    mark: float
    above: bool

    def holds(self, rows: NDArray[np.float64], scale: AnswerScale) -> NDArray[np.bool_]:
        numbers = scale.score(rows, self.weights) if self.column is None else rows[:, self.column]
        return np.asarray(numbers > self.mark if self.above else numbers <= self.mark)


@dataclass(frozen=True)
class AnswerScale:
    """Where the numbers of the answers lie, so that they can be weighed against each other."""

    middle: NDArray[np.float64]
    width: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> AnswerScale:
        low, middle, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
        width = np.where(high > low, high - low, 1.0)
        return cls(middle, width)

    def features(self, rows: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """The first numbers, how far they are from their middles and from 0, and a one."""
        rows, middle, width = rows[:, :columns], self.middle[:columns], self.width[:columns]
        standard = np.clip((rows - middle) / width, -4, 4)
        sizes = np.clip(np.abs(rows) / (np.abs(middle) + width), 0, 4)
        return np.column_stack([standard, np.abs(standard), sizes, np.ones(len(rows))])

    def score(self, rows: NDArray[np.float64], weights: Sequence[float]) -> NDArray[np.float64]:
        return np.asarray(self.features(rows, (len(weights) - 1) // 3) @ np.array(weights))


def _weights(features: NDArray[np.float64], is_first: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of a score that is large on the first table: logistic regression with a ridge, by Newton."""
    weights = np.zeros(features.shape[1])
    ridge = np.eye(features.shape[1]) * (0.01 * len(features) + 1)
    for _ in range(8):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (is_first - chance) - ridge @ weights
        weights = weights + np.linalg.solve((features.T * (chance * (1 - chance))) @ features + ridge, slope)
    return weights


@dataclass(frozen=True)
class Marked:
    """A number, or a score, in the answers about both tables, and the marks that may cut it."""

    name: str
    column: int | None
    weights: tuple[float, ...]
    one: NDArray[np.float64]
    other: NDArray[np.float64]
    marks: NDArray[np.float64]

    def best(self, delta: float, alarm: float) -> tuple[float, Event]:
        """The cut that shows the largest loss, and that loss."""
        below = [np.searchsorted(np.sort(side), self.marks, "right") for side in (self.one, self.other)]
        runs = len(self.one)
        often, seldom = (np.concatenate([each, runs - each]) for each in below)
        losses = rough_loss(often, seldom, runs, delta, alarm)
        best = int(losses.argmax())
        mark, above = float(self.marks[best % len(self.marks)]), best >= len(self.marks)
        name = f"{self.name} {'>' if above else '≤'} {mark:.6g}"
        return float(losses[best]), Event(name, self.column, self.weights, mark, above)


def _marked(
    names: Sequence[str],
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    scale: AnswerScale,
    plain: int,
) -> Iterator[Marked]:
    """Each number that moves, and a score of them; of products too, where there are runs enough."""
    both = np.concatenate([one, other])
    places = np.linspace(0.01, 0.99, MARKS)
    moving = [column for column in range(both.shape[1]) if both[:, column].min() < both[:, column].max()]
    fine = False
    for column in moving:
        few = np.unique(both[:, column])
        fine = fine or len(few) > MARKS
        marks = few[:-1] if len(few) <= MARKS else np.unique(np.quantile(both[:, column], places))
        yield Marked(names[column], column, (), one[:, column], other[:, column], marks)
    if len(moving) > 1 or fine:
        is_first = np.arange(len(both)) < len(one)
        columns = len(names) if len(both) >= RUNS_PER_NUMBER * len(names) else plain
        features = scale.features(both, columns)
        weights = _weights(features, is_first) if features.shape[1] <= 1024 else np.zeros(features.shape[1])
        score = features @ weights
        marks = np.unique(np.quantile(score, [*places, 0.995, 0.999, 0.005]))
        first, second = score[: len(one)], score[len(one) :]
        yield Marked("a score of all numbers", None, tuple(weights.tolist()), first, second, marks)


def _chosen(
    names: Sequence[str],
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    delta: float,
    scale: AnswerScale,
    plain: int,
    alarm: float,
) -> Event | None:
    """The event that shows the largest loss on this half of the runs, by bounds that are fast."""
    cuts = (marked.best(delta, alarm) for marked in _marked(names, one, other, scale, plain))
    most, event = max(cuts, key=lambda cut: cut[0], default=(-math.inf, None))
    return event if most > -math.inf else None


def _tested(
    plain: Sequence[str], numbers: NDArray[np.float64], firsts: int, half: int, delta: float, alarm: float
) -> list[tuple[str, int, int, int]]:
    """Events chosen on the first half, one for each direction, and how often they came in the second."""
    known = np.r_[0:half, firsts : firsts + half]
    names, rows = with_products(plain, numbers, numbers[known])
    scale = AnswerScale.of(rows[known])
    tests = []
    for one, other in ((rows[:firsts], rows[firsts:]), (rows[firsts:], rows[:firsts])):
        event = _chosen(names, one[:half], other[:half], delta, scale, len(plain), alarm)
        if event is not None:
            counts = [int(event.holds(each[half : 2 * half], scale).sum()) for each in (one, other)]
            tests.append((event.name, counts[0], counts[1], half))
    return tests


def told_apart(
    subject: str,
    first: Sequence[Any] | NDArray[Any],
    second: Sequence[Any] | NDArray[Any],
    epsilon: float,
    delta: float = 0.0,
    alarm: float = ALARM,
) -> AuditFinding:
    """Whether answers about two neighbouring tables are as alike as ε and δ promise.

    Args:
        subject: who answered.
        first: answers about one table, drawn independently.
        second: as many about its neighbour.
        epsilon: the ε that is claimed.
        delta: the δ that is claimed.
        alarm: the chance of calling a violation where there is none.

    >>> rng = np.random.default_rng(0)
    >>> told_apart("Laplace", rng.laplace(0, 1, 4000), rng.laplace(1, 1, 4000), epsilon=1).holds
    True
    >>> told_apart("too little noise", rng.laplace(0, 0.5, 4000), rng.laplace(1, 0.5, 4000), epsilon=1).holds
    False
    """
    half = min(len(first), len(second)) // 2
    tests = _tested(*laid_out(joined(first, second)), len(first), half, delta, alarm / 3) if half else []
    if len(tests) == 2:
        # If ε holds for both events it holds for their sum, of which there are twice as many tries. Clopper
        # and Pearson's bounds hold for tries of two different chances, too (Hoeffding, 1956).
        (first, a, b, _), (other, c, d, _) = tests
        tests.append((f"{first}, or the other way round {other}", a + c, b + d, 2 * half))
    worst, power, event_name, each = -math.inf, math.inf, "no event", alarm / 3
    for name, often, seldom, tries in tests:
        loss = loss_at_least(often, seldom, tries, delta, each)
        power = min(power, detectable_loss(seldom, tries, epsilon, delta, each))
        if loss > worst:
            worst, event_name = loss, f"{name} ({often:,} and {seldom:,} times of {tries:,})"
    promise = f"ε = {epsilon:g}" if not delta else f"ε = {epsilon:g}, δ = {delta:g}"
    measured = (
        f"ε ≥ {max(worst, 0):.3g} by {event_name}" if worst > -math.inf else "nothing tells the tables apart"
    )
    power_words = (
        f"ε ≥ {power:.3g} in an event as rare" if power < math.inf else power_of(half, epsilon, delta, alarm)
    )
    return AuditFinding(subject, promise, measured, power_words, worst <= epsilon, 1 - alarm, worst)


def power_of(tries: int, epsilon: float, delta: float = 0.0, alarm: float = ALARM) -> str:
    """The smallest violation that an event of the best rarity would have shown."""
    if tries == 0:
        return "nothing: there were no runs"
    rarities = (max(1, int(tries * share)) for share in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3))
    best = min(detectable_loss(seldom, tries, epsilon, delta, alarm / 3) for seldom in rarities)
    return f"ε ≥ {best:.3g} in an event that is rare enough" if best < math.inf else "nothing: too few runs"
