"""How much may be asked, how often, and by how many at once. Every limit follows from public facts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction

from sulq.errors import QueryError
from sulq.numbers import several, whole
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.serve.refusals import RefusedError

MOST_KEYS = 10_000


@dataclass(frozen=True)
class Limits:
    """What one request, one key and all keys together may ask for.

    Args:
        body: bytes of a request.
        depth: how deep lists and objects of a request lie inside each other.
        queries: queries of a round.
        numbers: numbers that all sums and classes of a round have together. All rounds that are worked on at
            the same time have no more either, and all bodies that are read no more bytes: the others wait.
        rounds: into how many rounds a budget can be divided: none costs less than that part of it. This
            bounds a ledger.
        rounds_a_minute: requests of one key in a minute that take work: to ask, and to see a cost.
        at_once: such requests of one key at the same time.
        in_all: such requests of all keys at the same time.
        seconds: how long the head, and then the body, of a request may take to arrive.
        connections: connections of all clients.

    >>> Limits(depth=0)
    Traceback (most recent call last):
    sulq.errors.QueryError: the limit depth must be a whole number from 1, got 0
    """

    body: int = 2**20
    depth: int = 200
    queries: int = 1000
    numbers: int = 2**21
    rounds: int = 100_000
    rounds_a_minute: int = 1200
    at_once: int = 8
    in_all: int = 64
    seconds: int = 30
    connections: int = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            whole(f"the limit {field.name}", getattr(self, field.name), 1)

    def check_depth(self, text: str) -> None:
        """Refuse JSON that lies too deep, before it is read.

        >>> Limits(depth=2).check_depth('{"a": [1, "[[["]}')
        >>> Limits(depth=2).check_depth("[[[1]]]")
        Traceback (most recent call last):
        sulq.serve.refusals.RefusedError: lists and objects may lie 2 deep inside each other, not more
        """
        if text.count("[") + text.count("{") <= self.depth:
            return
        depth, quoted, escaped = 0, False, False
        for letter in text:
            if quoted:
                if escaped:
                    escaped = False
                elif letter == "\\":
                    escaped = True
                elif letter == '"':
                    quoted = False
            elif letter == '"':
                quoted = True
            elif letter in "[{":
                depth += 1
                if depth > self.depth:
                    words = f"lists and objects may lie {self.depth} deep inside each other, not more"
                    raise RefusedError("malformed", words)
            elif letter in "]}":
                depth -= 1

    def check_round(self, round_: Round, scope: Scope) -> int:
        """For how many numbers a round asks. One that asks for too many is refused before memory is taken."""
        if len(round_.queries) > self.queries:
            raise QueryError(
                f"a round may have {several(self.queries, 'query', 'queries', 'd')} here, not "
                f"{len(round_.queries)}: ask the rest in another"
            )
        numbers = 0
        for query in round_.queries:
            for part in query.parts:
                numbers += scope.number(part).width
                if numbers > self.numbers:
                    raise QueryError(f"a round may ask for {self.numbers} numbers here in all, not more")
        return numbers

    def check_cost(self, cost: Fraction, total: Fraction) -> None:
        """Refuse a round that costs so little that a ledger of such rounds would have no end.

        >>> Limits(rounds=10).check_cost(Fraction(1, 100), total=Fraction(1))
        Traceback (most recent call last):
        sulq.errors.QueryError: a round costs at least 1/10 of the budget here: give it a larger share
        """
        if 0 < cost * self.rounds < total:
            raise QueryError(
                f"a round costs at least 1/{self.rounds} of the budget here: give it a larger share"
            )


class Room:
    """Memory for so many numbers, or bytes of JSON, at once. Whoever needs more waits until others are done.

    As lists and objects a body can take thirty times its bytes, and so can a round its numbers.

    Args:
        numbers: how many.

    >>> room = Room(numbers=100)
    >>> with room.turn():
    ...     room.take(80)  # a thread that takes again gives back first what it had
    ...     room.take(30)
    ...     print(room.left)
    70
    >>> room.left
    100
    """

    def __init__(self, numbers: int) -> None:
        self.numbers = self.left = numbers
        self._free = threading.Condition()
        self.measuring = threading.Lock()
        """Held while one finds out how many numbers a round has: that takes memory before room is taken."""
        self._mine = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """What a thread takes inside is given back at the end."""
        self._mine.numbers = 0
        try:
            yield
        finally:
            self.take(0)
            del self._mine.numbers

    def take(self, numbers: int) -> None:
        """Wait for room for so many numbers, in place of what the thread had. Without a turn, nobody waits.

        Args:
            numbers: how many; more than there are in all means all.
        """
        numbers = min(numbers, self.numbers)
        if not hasattr(self._mine, "numbers"):
            return
        with self._free:
            self.left += self._mine.numbers
            self._mine.numbers = 0
            self._free.notify_all()
            self._free.wait_for(lambda: self.left >= numbers)
            self.left -= numbers
            self._mine.numbers = numbers


class Traffic:
    """Who asks how often, and how many ask at once.

    Args:
        limits: what is allowed.
        clock: says the time, in seconds.

    >>> traffic = Traffic(Limits(rounds_a_minute=1), clock=lambda: 0.0)
    >>> with traffic.admitted("ada"):
    ...     pass
    >>> with traffic.admitted("ada"):
    ...     pass
    Traceback (most recent call last):
    sulq.serve.refusals.RefusedError: this key may ask 1 times a minute: wait, and ask again
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}
        self._now: Counter[str] = Counter()

    @property
    def at_once(self) -> int:
        """How many are being answered now."""
        return self._now.total()

    @contextmanager
    def admitted(self, key: str) -> Iterator[None]:
        """Let a request in, or refuse it.

        Args:
            key: the id of the key that asks.
        """
        with self._lock:
            if self._now[key] >= self.limits.at_once or self._now.total() >= self.limits.in_all:
                words = (
                    f"{self.limits.at_once} requests of a key, and {self.limits.in_all} of all keys, are "
                    "answered at once: wait, and ask again"
                )
                raise RefusedError("too_many", words, retry_after=1)
            self._draw(key)
            self._now[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._now[key] -= 1
                if not self._now[key]:
                    del self._now[key]

    def _draw(self, key: str) -> None:
        """Take one of the requests that a minute allows; they come back evenly."""
        now, a_minute = self._clock(), self.limits.rounds_a_minute
        left, at = self._buckets.get(key, (float(a_minute), now))
        left = min(float(a_minute), left + (now - at) * a_minute / 60)
        if left < 1:
            words = f"this key may ask {a_minute} times a minute: wait, and ask again"
            raise RefusedError("too_many", words, retry_after=max(1, round(60 / a_minute)))
        if len(self._buckets) >= MOST_KEYS:
            self._buckets.clear()
        self._buckets[key] = (left - 1, now)
