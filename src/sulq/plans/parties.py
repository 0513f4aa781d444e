"""Columns in different hands, before there are any rows: how many buckets, how far off, how many people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational, several, whole
from sulq.oracles.parties import MOST_PEOPLE, Parties, parties
from sulq.oracles.parties_plan import SketchPlan
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.sources.opening import open as open_source


@dataclass(frozen=True)
class PartiesPlan:
    """How a round across parties would be answered, and how many people a precision takes.

    Args:
        plan: the buckets and the error for the people there are.
        promise: what is promised to whom.
        within: how far off an average over the people may be, one standard deviation.
        needed: how many people that takes; None where nobody asked, or where no number of people does.

    >>> from sulq.schema import Boolean, Integer
    >>> from sulq.queries.query import count
    >>> tables = {
    ...     "hospital": Schema({"person": Integer(0, 10**9), "sick": Boolean()}),
    ...     "registry": Schema({"person": Integer(0, 10**9), "smokes": Boolean()}),
    ... }
    >>> asked = Round([count(by=["smokes", "sick"])], share=1)
    >>> planned = plan_parties(tables, "person", asked, people=100_000, epsilon=1, within="0.01")
    >>> print(planned.describe())
    4,096 buckets for about 100,000 people.
    An estimate across parties is off by about ±1,000, one standard deviation: 520 as people share ...
    hospital is asked for 100 % of its budget.
    registry is asked for 100 % of its budget.
    An average over the people is off by ±0.01. For ±0.01 it takes 104,704 people.
    """

    plan: SketchPlan
    promise: str
    within: Fraction | None
    needed: int | None

    @property
    def average(self) -> float:
        """How far off an average over the people is, one standard deviation."""
        return self.plan.deviation / self.plan.people

    def describe(self) -> str:
        """The plan in words."""
        lines = [self.plan.describe()]
        if self.plan.buckets:
            line = f"An average over the people is off by ±{self.average:.2g}."
            if self.within is not None:
                wanted = f"For ±{float(self.within):.3g}"
                many = (
                    "no number of people is enough"
                    if self.needed is None
                    else f"it takes {several(self.needed, 'person', 'people')}"
                )
                line += f" {wanted} {many}."
            lines.append(line)
        return "\n".join(lines)


def plan_parties(
    tables: Mapping[str, Schema],
    key: str | Sequence[str],
    asked: Round,
    *,
    people: int,
    epsilon: Numeric,
    delta: Numeric | None = None,
    within: Numeric | None = None,
) -> PartiesPlan:
    """How curators of such tables would answer a round together, from public facts alone.

    Args:
        tables: what is public about the columns of each party, by the name of the party.
        key: the column that names people: one name, or a name for each party.
        asked: the queries, with the part of its budget that each party is asked for.
        people: about how many people there will be.
        epsilon: ε of each party's own budget.
        delta: δ of it; None for pure ε.
        within: how far off an average over the people may be, one standard deviation, as the share of those
            who smoke and are sick. Then it is said how many people that takes.
    """
    whole("people", people, 1, MOST_PEOPLE)
    wanted = None if within is None else rational("within", within)

    def made(many: int) -> Parties:
        curators = {
            name: open_source({column: [] for column in schema}, schema).curator(epsilon=epsilon, delta=delta)
            for name, schema in tables.items()
        }
        return parties(curators, key, people=many)

    whom = made(people)
    planned = whom.plan(asked)
    if wanted is not None and planned.buckets == 0:
        raise QueryError(
            "nothing of this is estimated across parties: a precision is planned with `sulq plan`"
        )
    return PartiesPlan(
        planned, whom.promise, wanted, None if wanted is None else _needed(made, asked, float(wanted))
    )


def _needed(made: Callable[[int], Parties], asked: Round, within: float) -> int | None:
    """The fewest people whose average is so exact, up to a thousandth.

    With more people its error falls; of three parties' products it grows again, once buckets are at most.
    """

    def enough(people: int) -> bool:
        return made(people).plan(asked).deviation <= within * people

    sizes = (1 << power for power in range(MOST_PEOPLE.bit_length()))
    high = next(filter(enough, sizes), None)
    if high is None:
        return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
