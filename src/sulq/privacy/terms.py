"""What is public about the sums and the choices of a round, and the terms on which they are released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from sulq.errors import QueryError
from sulq.privacy.repeated import AddedNoise
from sulq.privacy.selection import Selection
from sulq.queries.exchanged import VectorMoves


@dataclass(frozen=True)
class SharedCondition:
    """What one person moves in a sum over the rows that satisfy a condition, where rows are exchanged.

    Args:
        condition: the condition, by its key. Several sums of a round may have the same.
        inside: how far the sum moves if both rows satisfy it: its 1-norm, and the square of its 2-norm.
        alone: how far it moves if one of them does.
    """

    condition: str
    inside: tuple[Fraction, Fraction]
    alone: tuple[Fraction, Fraction]


@dataclass(frozen=True)
class SumFacts:
    """What is public about one vector of sums, in natural units."""

    step: Fraction
    """One step of its grid."""
    width: int
    moves1: Fraction
    """How far one person moves it in the 1-norm."""
    moves2: Fraction
    """The square of how far one person moves it in the 2-norm."""
    size: Fraction
    """The most one row adds to any coordinate."""
    reach: Fraction
    """How far one person moves any coordinate."""
    weight: Fraction
    tolerance: Fraction | None = None
    beta: Fraction | None = None
    shared: SharedCondition | None = None
    """The condition that a row must satisfy to add anything, where rows are exchanged."""
    vectors: VectorMoves | None = None
    """How far one person moves its vectors, if it is a sum of such."""
    block: int = 1
    """So many numbers get their noise together; see `sulq.privacy.vector_noise`."""

    def __post_init__(self) -> None:
        moved = (self.moves1 > 0, self.moves2 > 0, self.reach > 0)
        if min(self.moves1, self.moves2, self.reach, self.size) < 0 or len(set(moved)) > 1:
            raise QueryError("the bounds on what one person moves contradict each other")
        if self.step <= 0 or self.weight <= 0 or self.width < 1:
            raise QueryError("a sum needs a positive weight, a positive step and at least one coordinate")


def jointly(sums: Sequence[SumFacts], order: Literal[1, 2], rate: Callable[[SumFacts], Fraction]) -> Fraction:
    """What all sums cost together.

    Args:
        sums: the sums.
        order: 1 if how far they move counts in the 1-norm; 2 if it is the square of the 2-norm.
        rate: what a sum costs if it moves by one.
    """
    total, inside, alone = Fraction(0), dict[str, Fraction](), dict[str, Fraction]()
    for facts in sums:
        shared, each = facts.shared, rate(facts)
        if shared is None:
            total += (facts.moves1 if order == 1 else facts.moves2) * each
        else:
            for moved, by_condition in ((shared.inside, inside), (shared.alone, alone)):
                cost = moved[order - 1] * each
                so_far = by_condition.get(shared.condition)
                by_condition[shared.condition] = cost if so_far is None else so_far + cost
    return total + sum((max(inside[name], alone[name]) for name in inside), Fraction(0))


Way = Literal["usual", "permute-and-flip", "exponential", "pure"]
"""How a contest is settled: as the budget has it cheapest, by a mechanism by name, or by one of its own."""


@dataclass(frozen=True)
class Pure:
    """What a mechanism of its own kind may spend. It is ε-differentially private, whatever it does.

    Args:
        epsilon: the ε that is promised to a person.
    """

    epsilon: Fraction


Settled: TypeAlias = Selection | Pure


@dataclass(frozen=True)
class Contest:
    """What is public about one choice, in steps of its scores."""

    moves: int
    """How far one person moves a score."""
    monotone: bool
    """Whether one person moves all scores the same way."""
    size: int
    """The most one row adds to a score."""
    weight: Fraction
    way: Way = "usual"

    def __post_init__(self) -> None:
        if self.way not in get_args(Way):
            raise QueryError(
                f"a choice is made in one of the ways {', '.join(get_args(Way))}, not {self.way!r}"
            )
        if self.moves < 0 or self.size < 1 or self.weight <= 0:
            raise QueryError("a choice needs a positive weight and size, and moves of at least 0")


@dataclass(frozen=True)
class Terms:
    """A cost and what it buys. What nobody moves gets no noise and no mechanism.

    Args:
        cost: what the round costs, in the unit of the budget.
        noises: the noise of each sum.
        selections: the mechanism of each contest.
    """

    cost: Fraction
    noises: tuple[AddedNoise | None, ...]
    selections: tuple[Settled | None, ...] = ()

    def check(self, sums: Sequence[SumFacts], contests: Sequence[Contest]) -> Terms:
        """These terms. They are refused if they would release for nothing, or without noise, what somebody
        moves.
        """
        moved = [facts.moves1 > 0 for facts in sums] + [contest.moves > 0 for contest in contests]
        noisy = [law is not None for law in (*self.noises, *self.selections)]
        if moved != noisy or (any(moved) and self.cost <= 0):
            raise QueryError("these terms would release something exactly that one person moves")
        return self
