"""Protocols of the local model: they call people, and every call is a randomizer on one person's value."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from sulq.errors import QueryError
from sulq.local.lr import LocalRandomness, takes_codes
from sulq.local.randomizer import Randomizer
from sulq.numbers import Numeric, rational
from sulq.queries.codes import Cross
from sulq.queries.expressions import named
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.sources.rows import rows_of
from sulq.sources.sums import Sums
from sulq.wire import shown

T = TypeVar("T")


@dataclass(frozen=True, init=False)
class Call:
    """One call of a protocol: a randomizer is applied to a person's value. The papers write LR_z(i, R).

    Args:
        person: the number of the person, from 0.
        randomizer: what the person's device runs: one that reports on a code, and not on a vector.
        value: the person's value: a column's name, or an expression, with few possible values.

    >>> import sulq
    >>> from sulq.local import RandomizedResponse
    >>> Call(0, RandomizedResponse(1), sulq.col("sick")).person
    0
    """

    person: int
    randomizer: Randomizer
    value: Node

    def __init__(self, person: int, randomizer: Randomizer, value: str | Node) -> None:
        if not takes_codes(randomizer):
            raise QueryError(
                f"a person's value is one of few in a protocol, and this is for vectors: {shown(randomizer)}"
            )
        for name, part in (("person", person), ("randomizer", randomizer), ("value", named(value))):
            object.__setattr__(self, name, part)


Calls = Generator[Sequence[Call], list[Any], T]
"""A protocol: it yields the calls it makes at once, is sent their reports, and returns what it found out.

One that yields once is noninteractive.
"""


def run_locally(
    protocol: Callable[[], Calls[T]], people: Sums, epsilon: Numeric, interactive: bool = True
) -> T:
    """The result of a protocol that is run on people, who are each promised ε over all calls made to them.

    Each row plays a person. Where the schema has a unit, a person with m rows counts as m people who have ε/m
    each, so that what is known of all their rows is within ε. A call beyond that raises BudgetError.

    Args:
        protocol: makes the generator that calls people.
        people: their rows.
        epsilon: what is promised to each person.
        interactive: whether the protocol may call again once it has heard reports. False refuses that with
            AdaptivityError.

    >>> import sulq
    >>> from sulq.local import RandomizedResponse
    >>> def protocol():
    ...     reports = yield [Call(person, RandomizedResponse(1), sulq.col("sick")) for person in (0, 1)]
    ...     return len(reports)
    >>> run_locally(protocol, sulq.open({"sick": [True, False]}, {"sick": sulq.Boolean()}), epsilon=1)
    2
    """
    looked_at, values = rows_of(people, "a local protocol"), dict[str, Any]()
    oracle = LocalRandomness(range(people.rows), epsilon_a_row(epsilon, people.schema), interactive)

    def reported(value: Node) -> Callable[[Any], int]:
        return lambda row: int(known(value)[row])

    def known(value: Node) -> Any:
        if value.key not in values:
            values[value.key] = looked_at.values(Cross((value,)))
        return values[value.key]

    running = protocol()
    try:
        calls = next(running)
        while True:
            at_once = [(call.person, call.randomizer, reported(call.value)) for call in calls]
            calls = running.send(oracle.ask_at_once(at_once))
    except StopIteration as done:
        result: T = done.value
        return result


def epsilon_a_row(epsilon: Numeric, schema: Schema) -> Fraction:
    """What a row may spend: a person's ε is divided among their rows."""
    return rational("epsilon", epsilon) / schema.rows_per_unit
