"""How hard the tests try: a little with `make test`, and at length with `make test-all`.

The effort is what the environment variable SULQ_TESTS says: "quick", which is meant where it is not set, or
"thorough". It changes how many examples a property is tried on, how often a chance is measured, and how many
combinations of parameters are tried: with the quick effort each value of each parameter is in at least one. A few
tests that take long are left to the thorough effort (`long`). Bounds on what is random follow from the number of runs, so both efforts raise a false alarm as
rarely.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Hashable, Mapping, Sequence

import pytest

EFFORTS = {"quick": 1 / 10, "thorough": 1.0}
"""The part of the thorough effort that is made."""
EFFORT = os.environ.get("SULQ_TESTS", "quick")
if EFFORT not in EFFORTS:
    raise SystemExit(f"SULQ_TESTS is {' or '.join(EFFORTS)}, not {EFFORT!r}")


long = pytest.mark.skipif(EFFORT == "quick", reason="it takes long: make test-all tries it")
"""For a test that takes long whatever it is tried on."""


def examples(thorough: int) -> int:
    """How many examples to try, where a thorough test tries so many: a tenth, but not fewer than ten."""
    return max(min(thorough, 10), round(thorough * EFFORTS[EFFORT]))


def runs(thorough: int, least: int) -> int:
    """How often to repeat what is random, where a thorough test does so often: a tenth, but not below `least`.

    At `least` runs a test still has the power that it states.
    """
    return max(least, round(thorough * EFFORTS[EFFORT]))


def either(quick: int, thorough: int) -> int:
    """How often to do what takes seconds each time: as often as is said for each effort."""
    return quick if EFFORT == "quick" else thorough


def covering(combinations: Sequence[Mapping[str, Hashable]], name: str) -> list[int]:
    """The places of a few combinations of parameters that have every value of every parameter at least once.

    Which ones follows from the name of the test, so that all processes try the same.

    >>> crossed = [{"learner": learner, "oracle": oracle} for learner in range(5) for oracle in range(3)]
    >>> len(covering(crossed, "a test"))
    5
    >>> covering([{"text": text} for text in range(4)], "another test")
    [0, 1, 2, 3]
    """
    values = [set(combination.items()) for combination in combinations]
    missing, chosen = set().union(*values), []
    shuffled = random.Random(name).sample(range(len(values)), len(values))
    while missing:
        best = max(shuffled, key=lambda place: len(values[place] & missing))
        missing -= values[best]
        chosen.append(best)
    return sorted(chosen)


def most(tries: int, chance: float, alarm: float = 1e-8) -> int:
    """The most of so many tries that may succeed: if each does by this chance, more do with a chance below `alarm`.

    >>> most(30, 0.1)
    15
    """
    tail, bound = 0.0, tries
    while bound and (tail := tail + _of(tries, chance, bound)) <= alarm:
        bound -= 1
    return bound


def fewest(tries: int, chance: float, alarm: float = 1e-8) -> int:
    """The fewest of so many tries that have to succeed: fewer do with a chance below `alarm`.

    >>> fewest(30, 0.9)
    15
    """
    return tries - most(tries, 1 - chance, alarm)


def _of(tries: int, chance: float, successes: int) -> float:
    if not 0 < chance < 1:
        return float(successes == tries * chance)
    ways = math.lgamma(tries + 1) - math.lgamma(successes + 1) - math.lgamma(tries - successes + 1)
    return math.exp(ways + successes * math.log(chance) + (tries - successes) * math.log1p(-chance))
