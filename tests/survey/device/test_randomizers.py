"""Randomizers on a device: the JavaScript draws by the law that Python claims, and from the same bytes the same reports."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sulq.local.draws import ONE, _patterns
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.onehot import one_hot_response
from sulq.local.randomizer import Randomizer
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport
from sulq.local.window import steps_of as steps_of_window
from sulq.wire import canonical
from tests.effort import either
from tests.local.cases import CASES, Case
from tests.survey.chances import surprise
from tests.survey.device.engine import DEVICE, Engine, RefusedError

KNOWN_CASES = [case for case in CASES if not case.name.startswith("paper")]
EXACT_CASES = [case for case in KNOWN_CASES if case.name not in ("sphere", "cap")]
FINITE_CASES = [case for case in KNOWN_CASES if case.kind == "finite"]
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 2)]
ALARM = 1e-9
"""How often a test of frequencies raises a false alarm, at most: all cells and values of a test together."""
LENGTH = either(600, 4000)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


class Stream:
    """Bytes one after the other, in the place of the system's."""

    def __init__(self, given: bytes) -> None:
        self.given, self.at = given, 0

    def __call__(self, size: int) -> bytes:
        if self.at + size > len(self.given):
            raise EOFError
        self.at += size
        return self.given[self.at - size : self.at]


def steps_of(form: Any) -> list[int]:
    """The thresholds in a form."""
    if isinstance(form, dict):
        here = [int(form[name]) for name in ("lies", "own", "other") if name in form]
        return here + [step for value in form.values() for step in steps_of(value)]
    return []


def bytes_for(randomizer: Randomizer, seed: object, length: int = LENGTH) -> bytes:
    """Random bytes among which are beginnings of the thresholds and of one more and less, on which draws hang."""
    rng = random.Random(str(seed))
    near = [step + off for step in steps_of(randomizer.form) for off in (-1, 0, 1)]
    parts = [min(step, ONE - 1).to_bytes(8)[: rng.randint(1, 8)] for step in near] or [b""]
    drawn = b""
    while len(drawn) < length:
        drawn += rng.choice(parts) if rng.random() < 0.3 else rng.randbytes(rng.randint(1, 12))
    return drawn


def plain(value: Any) -> Any:
    return [plain(each) for each in value] if isinstance(value, tuple | list) else np.asarray(value).tolist()


def pythons(randomizer: Randomizer, values: Any, given: bytes, most: int) -> tuple[list[Any], int]:
    """Reports of Python on one person after the other until the bytes are used up, and how many were used."""
    stream, drawn, taken = Stream(given), [], 0
    before, os.urandom = os.urandom, stream
    try:
        while len(drawn) < most:
            [report] = randomizer.sample(values).tolist()
            drawn.append(int(report) if isinstance(report, bool) else report)
            taken = stream.at
    except EOFError:
        pass
    finally:
        os.urandom = before
    return drawn, taken


def same_reports(engine: Engine, case: Case, epsilon: Fraction, seed: object = 0) -> bool:
    """Whether both ends make the same reports of the same bytes, and use as many."""
    randomizer = case.make(epsilon)
    for value in case.values:
        given = bytes_for(randomizer, (seed, value))
        drawn, taken = pythons(randomizer, case.cohort([value]), given, 10**6)
        assert drawn
        try:
            js = engine.draws_of(randomizer.to_json(), json.dumps(plain(value)), given.hex(), len(drawn))
        except RefusedError:
            return False
        if js != {"drawn": drawn, "taken": taken}:
            return False
    return True


def fits(engine: Engine, case: Case, epsilon: Fraction, n: int) -> bool:
    """Whether the frequencies of n reports on each value are those of Python's `pmf`."""
    randomizer = case.make(epsilon)
    reports = case.reports(randomizer)
    most = math.log(2 * (len(reports) + 1) * len(case.values) / ALARM)
    for value in case.values:
        seed = int.from_bytes(os.urandom(4)) % 2**31
        counts = engine.counts_of(randomizer.to_json(), json.dumps(plain(value)), seed, n)
        names = {
            ",".join(map(str, np.ravel(np.asarray(report, dtype=np.int64)))): report for report in reports
        }
        if not counts.keys() <= names.keys():
            return False
        chances = {name: float(randomizer.pmf(report, value)) for name, report in names.items()}
        if any(surprise(counts.get(name, 0), n, chance) > most for name, chance in chances.items()):
            return False
    return True


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("case", EXACT_CASES, ids=lambda case: case.name)
def test_the_same_bytes_make_the_same_reports(engine: Engine, case: Case, epsilon: Fraction) -> None:
    for seed in range(either(1, 20)):
        assert same_reports(engine, case, epsilon, seed)


@pytest.mark.parametrize(
    "randomizer",
    [
        UnaryResponse(20, 1, True),
        HadamardResponse(1000, 1),
        *(one_hot_response(k, 2) for k in (3, 30, 300, 3000)),
    ],
    ids=lambda randomizer: f"{randomizer.wire}-{randomizer.k}",
)
def test_the_same_holds_for_many_possibilities(engine: Engine, randomizer: Any) -> None:
    for value in (0, 1, randomizer.k - 1):
        given = bytes_for(randomizer, value)
        drawn, taken = pythons(randomizer, np.array([value]), given, 10**6)
        js = engine.draws_of(randomizer.to_json(), json.dumps(value), given.hex(), len(drawn))
        assert js == {"drawn": drawn, "taken": taken}


@pytest.mark.parametrize("place", [0, 1, 100, 254])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_eight_bits_at_once_are_settled_by_512_bits_as_in_python(
    engine: Engine, place: int, off: int
) -> None:
    """A number that agrees with an edge between two patterns in its first 64 bits is rarer than any test meets."""
    randomizer = UnaryResponse(8, 1, True)
    number = min(_patterns(randomizer.other).edges[place] + off, 2**512 - 1)
    first, word, rest = number >> 496, number >> 448, number & (2**448 - 1)
    given = first.to_bytes(2, "little") + ((word & (2**48 - 1)) << 16).to_bytes(8, "little")
    given += rest.to_bytes(56) + bytes(8)
    drawn, taken = pythons(randomizer, np.array([3]), given, 1)
    assert taken == 2 + 8 + 56 + 1
    assert engine.draws_of(randomizer.to_json(), "3", given.hex(), 1) == {"drawn": drawn, "taken": taken}


@pytest.mark.parametrize("case", FINITE_CASES, ids=lambda case: case.name)
def test_reports_are_as_frequent_as_python_claims(engine: Engine, case: Case) -> None:
    """Thorough: 10^6 draws in all. A chance of p that is off by 7·√(p/n) is seen, one that is right raises an alarm
    with a chance of 10^-9."""
    assert fits(engine, case, Fraction(1), either(10_000, 10**6) // len(case.values))


def test_laplace_reports_are_as_frequent_as_python_claims(engine: Engine) -> None:
    """The chance to be at most so far up, at 41 places: thorough 10^6 draws; false alarms with a chance of 10^-9."""
    n, places = either(3000, 10**6), range(-4000, 4001, 200)
    randomizer = LaplaceReport(0, 1, Fraction(7, 2))
    counts = engine.counts_of(randomizer.to_json(), "0", int.from_bytes(os.urandom(3)), n)
    p = math.exp(-1 / randomizer.noise.scale)
    for place in places:
        chance = p**-place / (1 + p) if place < 0 else 1 - p ** (place + 1) / (1 + p)
        up_to = sum(count for report, count in counts.items() if int(report) <= place)
        assert surprise(up_to, n, chance) < math.log(2 * len(places) / ALARM)


@pytest.mark.parametrize(
    "change",
    [
        {"values": []},
        {"values": [3, 3], "window": 1},
        {"values": [-1]},
        {"values": "1"},
        {"window": 64},
        {"window": 0},
    ],
    ids=str,
)
def test_a_window_that_is_none_is_refused(engine: Engine, change: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        engine.keeps(canonical(WindowReport(0, 1, 1).form | change), "1")


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 2**28), Fraction(39), Fraction(100)], ids=str)
@pytest.mark.parametrize("case", KNOWN_CASES, ids=lambda case: case.name)
def test_a_promise_is_verified_from_its_numbers(engine: Engine, case: Case, epsilon: Fraction) -> None:
    randomizer = case.make(epsilon)
    assert engine.keeps(randomizer.to_json(), str(epsilon)) is True
    if epsilon <= 4:  # beyond, a step of 2^-64 is so much of a lie that a promise is kept by far
        less = epsilon * (1 - Fraction(1, 10**6))
        assert engine.keeps(randomizer.to_json(), str(less)) is False


@pytest.mark.parametrize("case", KNOWN_CASES, ids=lambda case: case.name)
def test_one_step_less_of_lying_breaks_the_promise(engine: Engine, case: Case) -> None:
    form = case.make(1).form
    if form["is"] == "laplace":
        form["exponent"] = "1000000001/1000000000"
    else:
        inside = form if "lies" in form or "other" in form else form.get("bit") or form["inner"]
        name = "lies" if "lies" in inside else "other"
        inside[name] = str(int(inside[name]) - 1)
    # Each of two bits may use half a step of what the other leaves: of those, several steps are one too many.
    if form["is"] in ("unary", "coordinates"):
        inside[name] = str(int(inside[name]) - 4)
    assert engine.keeps(canonical(form), "1") is False


@pytest.mark.parametrize(
    "change",
    [
        {"lies": "0"},
        {"lies": str(ONE)},
        {"lies": 5},
        {"lies": "-3"},
        {"k": 1},
        {"k": 2.5},
        {"more": 1},
        {"is": "dice"},
    ],
    ids=str,
)
def test_a_form_that_is_none_is_refused(engine: Engine, change: dict[str, Any]) -> None:
    form = next(case for case in CASES if case.name == "kary").make(1).form | change
    with pytest.raises(RefusedError):
        engine.keeps(canonical(form), "1")


def test_a_design_whose_blocks_have_another_size_is_refused(engine: Engine) -> None:
    form = next(case for case in CASES if case.name == "design").make(1).form
    form["size"] = form["size"] | {"block": form["size"]["block"] + 1}
    with pytest.raises(RefusedError) as refused:
        engine.keeps(canonical(form), "1")
    assert refused.value.code == "promise"


def caught_by_bytes(name: str) -> Callable[[Engine], bool]:
    """By comparing reports with Python's, byte by byte."""
    case = next(case for case in CASES if case.name == name)
    return lambda engine: not all(same_reports(engine, case, Fraction(1), seed) for seed in range(2))


def caught_by_frequency(name: str) -> Callable[[Engine], bool]:
    """By how often reports come, and by no look at bytes: only where chances are off by far more than the bound."""
    case = next(case for case in CASES if case.name == name)
    return lambda engine: not fits(engine, case, Fraction(1), 5000)


BELOW = "const byte = Number((threshold >> shift) & 255n);"
MUTANTS: dict[str, tuple[dict[str, str], Callable[[Engine], bool]]] = {
    "a threshold one step up": (
        {"if (threshold === ONE) return true;": "if (threshold === ONE) return true;\n  threshold += 1n;"},
        caught_by_bytes("response"),
    ),
    "a threshold one step down": (
        {"if (threshold === ONE) return true;": "if (threshold === ONE) return true;\n  threshold -= 1n;"},
        caught_by_bytes("response"),
    ),
    "a byte of a threshold one up": (
        {BELOW: BELOW.replace("255n);", "255n) + 1;")},
        caught_by_bytes("response"),
    ),
    "at most instead of below": (
        {"if (drawn !== byte) return drawn < byte;": "if (drawn !== byte || true) return drawn <= byte;"},
        caught_by_bytes("kary"),
    ),
    "Math.random": (
        {
            "const [drawn] = bytes(1);\n    const byte": "const drawn = Math.floor(256 * Math.random());\n    const byte"
        },
        caught_by_bytes("response"),
    ),
    "a modulo of 32 bits": (
        {"return Number(product >> 32n);": "return word32(bytes(4)) % size;"},
        caught_by_bytes("kary"),
    ),
    "a modulo of 2 bits": (
        {
            "const product = BigInt(word32(bytes(4))) * BigInt(size);": "return (bytes(4)[0] & 3) % size;\n    const product = 0n;"
        },
        caught_by_frequency("coordinate"),
    ),
    "no second draw": (
        {"if (Number(product & 0xffffffffn) >= 2 ** 32 % size) return": "return"},
        lambda engine: (
            engine.draws_of(KaryResponse(4, 1).to_json(), "0", "00" * 5 + "ff" * 40, 1)["taken"] == 5
        ),
    ),
    "a bit of the rounding dropped": (
        {"bytes(8)) >> 11n)": "bytes(8)) >> 12n)"},
        caught_by_frequency("one-bit"),
    ),
    "the lowest bit of the rounding dropped": (
        {"(Number(bigWord(bytes(8)) >> 11n) <": "(Number((bigWord(bytes(8)) >> 12n) << 1n) <"},
        lambda engine: lowest_bit_dropped(engine),
    ),
    "a bit of the row dropped": (
        {"word32(bytes(4)) % rows": "word32(bytes(4)) % (rows / 2)"},
        caught_by_frequency("hadamard"),
    ),
    "a bit of a pattern dropped": (
        {"bits.push(first);": "bits.push(first & 31);"},
        caught_by_frequency("unary-symmetric"),
    ),
    "the last bits not masked": (
        {"bits[width - 1] &= 255 >> (8 * width - k);": ""},
        caught_by_frequency("unary-symmetric"),
    ),
    "one's own bit not redrawn": (
        {
            "(bits[truth >> 3] & ~mask) | (below(own, bytes) ? mask : 0)": "bits[truth >> 3] | (below(own, bytes) ? mask : 0)"
        },
        caught_by_bytes("unary-optimised"),
    ),
    "a window one cell too far": (
        {
            "(outside ? window : 0) + drawn) & (CELLS - 1)": "1 + (outside ? window : 0) + drawn) & (CELLS - 1)"
        },
        caught_by_bytes("piecewise"),
    ),
    "an uneven window one cell too far": (
        {"(place + beyond(bytes)) % cells": "(place + 1 + beyond(bytes)) % cells"},
        caught_by_bytes("window"),
    ),
    "outcomes by 16 bits alone": (
        {"if (outcome(drawn, bits) === null) {": "if (outcome(drawn, bits) === null) return 0;\n    {"},
        caught_by_bytes("window"),
    ),
    "an edge that is settled by 64 bits at most": (
        {"for (; outcome(drawn, bits) === null; bits += 64n)": "for (; false; bits += 64n)"},
        lambda engine: not same_at_edges(engine),
    ),
    "an uneven grid taken for an even one": (
        {
            "positionAmong(value, low, high, marks), bytes)": "position(value, low, high, marks.length - 1), bytes)"
        },
        caught_by_bytes("window"),
    ),
    "a rounding by 16 bits alone": (
        {"Number(bigWord(bytes(8)) >> 27n) < rest": "true"},
        lambda engine: not same_where_16_bits_tie(engine),
    ),
}


def same_at_edges(engine: Engine) -> bool:
    """Whether numbers whose first 64 bits are those of an edge between two cells are settled as in Python."""
    randomizer = WindowReport(0, 1, 1)
    steps = steps_of_window(randomizer.cells, randomizer.window, randomizer.lies)
    for edge in steps.edges[::7]:
        leading = (edge << 64) // steps.whole
        first, rest = (leading >> 48).to_bytes(2, "little"), (leading & 2**48 - 1).to_bytes(6, "little")
        for last in (bytes(16), b"\xff" * 16):
            given = b"\xff\xff" + first + rest + last
            drawn, taken = pythons(randomizer, np.array([0.0]), given, 1)
            if engine.draws_of(randomizer.to_json(), "0", given.hex(), 1) != {"drawn": drawn, "taken": taken}:
                return False
    return True


def test_cells_that_64_bits_do_not_decide_are_decided_as_in_python(engine: Engine) -> None:
    assert same_at_edges(engine)


def same_where_16_bits_tie(engine: Engine) -> bool:
    """Whether numbers whose first 16 bits are those of where they lie are rounded as in Python, to the last bit."""
    randomizer, value = WindowReport(0, 1, 1), 1 / 3
    part = int(randomizer._position([value]).part[0])
    found = []
    for rest in (0, (part & 2**37 - 1) - 1, part & 2**37 - 1, 2**37 - 1):
        given = (part >> 37).to_bytes(2, "little") + (rest << 27).to_bytes(8, "little") + bytes(8)
        drawn, taken = pythons(randomizer, np.array([value]), given, 1)
        if engine.draws_of(randomizer.to_json(), repr(value), given.hex(), 1) != {
            "drawn": drawn,
            "taken": taken,
        }:
            return False
        found.append(drawn[0])
    return found[0] == found[1] == found[2] + 1 == found[3] + 1


def test_numbers_that_16_bits_do_not_round_are_rounded_as_in_python(engine: Engine) -> None:
    assert same_where_16_bits_tie(engine)


def lowest_bit_dropped(engine: Engine) -> bool:
    """A number of 3 parts in 2^53 is rounded up by the words 0, 1 and 2 only."""
    randomizer, given = OneBitReport(0, 2.0**53, 1), (3 << 11).to_bytes(8, "little") + bytes(1)
    drawn, _ = pythons(randomizer, np.array([3.0]), given, 1)
    return engine.draws_of(randomizer.to_json(), "3", given.hex(), 1)["drawn"] != drawn


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(engine: Engine, name: str) -> None:
    changes, caught = MUTANTS[name]
    assert not caught(engine)
    assert caught(Engine(changes))


def test_no_module_draws_from_anything_but_its_bytes() -> None:
    texts = [module.read_text(encoding="utf-8") for module in DEVICE.glob("*.js")]
    assert len(texts) > 10 and not any("Math.random" in text or "Date.now" in text for text in texts)
    assert sum(text.count("crypto.getRandomValues") for text in texts) == 1
