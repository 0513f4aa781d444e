"""Reading randomizers and shapes back from their forms.

A form holds the exact chances, so that the randomizer that is read equals the one that was written, and
reports mean the same to both. What is read keeps its promise by itself: its `ratio` follows from those
chances. A device compares it with what its owner allows, whoever sent the form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sulq.errors import QueryError
from sulq.local import piecewise
from sulq.local.blocks import DesignResponse
from sulq.local.cap import CapReport
from sulq.local.caps import MASSES, moments_of, refuse_cap
from sulq.local.coordinates import MOST_COORDINATES, CoordinateReport, box
from sulq.local.difference_sets import sizes
from sulq.local.draws import ONE
from sulq.local.formed import VERSION, Formed
from sulq.local.frequencies import NumberedReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import MOST_POSSIBILITIES, KaryResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.randomizer import Randomizer, interval
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.local.window import MOST_CELLS, MOST_COUNT, WindowReport, marks_of
from sulq.numbers import rational, whole
from sulq.wire import entry, exact, listed, members, of_json, reading, shown, versioned

T = TypeVar("T", bound=Formed)
Given = Mapping[str, Any]


def randomizer_of(form: Any) -> Randomizer:
    """The randomizer with this form.

    Args:
        form: plain data, as the randomizer's `form` has it.

    >>> from sulq.local import UnaryResponse
    >>> unary = UnaryResponse(10, epsilon="1/3", optimised=True)
    >>> randomizer_of(unary.form) == unary
    True
    >>> randomizer_of({"randomizer": 1, "is": "dice"})
    Traceback (most recent call last):
    sulq.errors.QueryError: 'dice' is not a known randomizer; known are cap, coordinates, ...
    """
    with reading("a randomizer"):
        given = dict(versioned(form, "randomizer", VERSION))
        del given["randomizer"]
        read: Randomizer = _inside(given, *RANDOMIZERS)
        if not read.ratio > 1:
            raise QueryError("the chances of this randomizer say nothing of a value, or the opposite of it")
        return read


def randomizer_from_json(text: str) -> Randomizer:
    """The randomizer that `to_json` wrote.

    Args:
        text: what a randomizer's `to_json` wrote.

    >>> from sulq.local import OneBitReport
    >>> randomizer_from_json(OneBitReport(0, 100, epsilon=1).to_json()).high
    100.0
    """
    return randomizer_of(of_json(text, "a randomizer"))


def shape_of(form: Any) -> Shape:
    """The shape with this form.

    Args:
        form: plain data, as the shape's `form` has it.

    >>> shape_of({"is": "box", "lows": [0, 0], "highs": [1, 2]})
    Box(lows=(0.0, 0.0), highs=(1.0, 2.0))
    """
    with reading("a shape"):
        read: Shape = _read(form, SHAPES, "shape")
        return read


def _read(form: Any, known: Mapping[str, tuple[tuple[str, ...], Callable[[Given], Any]]], what: str) -> Any:
    name = form.get("is") if isinstance(form, Mapping) else None
    names, make = entry(name, known, what)
    return make(members(form, f"the {what} {name!r}", ["is", *names]))


def _inside(form: Any, *names: str) -> Any:
    """A randomizer of one of these names, which may be inside of another."""
    return _read(form, {name: RANDOMIZERS[name] for name in names}, "randomizer")


def _with(template: T, **chances: Any) -> T:
    """A randomizer, whose public settings its constructor has checked, with the chances that a form has."""
    for name, value in chances.items():
        object.__setattr__(template, name, value)
    return template


def _steps(given: Given, name: str = "lies") -> int:
    """A chance in steps of 2^-64."""
    text = exact(given[name], f"{name}, a chance in steps of 2^-64,")
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and 0 < int(text) < ONE):
        raise QueryError(f"{name} is a whole number of steps of 2^-64, from 1 to 2^64 - 1, not {shown(text)}")
    return int(text)


def _number(given: Given, name: str) -> float:
    if type(given[name]) not in (int, float):
        raise QueryError(f"{name} is a number, not {shown(given[name])}")
    return float(given[name])


def _bounds(given: Given) -> tuple[tuple[float, ...], tuple[float, ...]]:
    lows, highs = ([_number({name: each}, name) for each in listed(given[name], name)] for name in ENDS)
    return box(lows, highs)


def _truth(given: Given, name: str) -> bool:
    if type(given[name]) is not bool:
        raise QueryError(f"{name} is true or false, not {shown(given[name])}")
    return bool(given[name])


def _response(given: Given) -> RandomizedResponse:
    lies = _steps(given)
    if not 2 * lies < ONE:
        raise QueryError("lies must be less than one half, 2^63 steps")
    return _with(RandomizedResponse(1), lies=lies)


def _bit(given: Given) -> RandomizedResponse:
    bit: RandomizedResponse = _inside(given["bit"], "response")
    return bit


def _unary(given: Given) -> UnaryResponse:
    read = _with(
        UnaryResponse(given["k"], 1, _truth(given, "optimised")),
        other=_steps(given, "other"),
        own=_steps(given, "own"),
    )
    if read.own != (ONE // 2 if read.optimised else ONE - read.other):
        raise QueryError("one's own bit is a fair coin in an optimised unary report, and else lies like all")
    return read


def _design(given: Given) -> DesignResponse:
    read = DesignResponse(given["k"], 1)
    size = members(given["size"], "the size of a design", list(read.size._fields))
    residues = whole("residues", size["residues"], read.k, MOST_POSSIBILITIES)
    known = [each for each in sizes(residues) if each._asdict() == dict(size)]
    if not known:
        raise QueryError(f"there is no design of this size: {shown(dict(size))}")
    return _with(read, size=known[0], lies=_steps(given))


def _piecewise(given: Given) -> PiecewiseReport:
    read = PiecewiseReport(_number(given, "low"), _number(given, "high"), 1)
    return _with(read, window=whole("window", given["window"], 1, piecewise.CELLS - 1), lies=_steps(given))


def _window(given: Given) -> WindowReport:
    read = WindowReport(_number(given, "low"), _number(given, "high"), 1)
    window = whole("window", given["window"], 1, MOST_CELLS - 1)
    values = tuple(whole("a value", each, 0, MOST_COUNT) for each in listed(given["values"], "values"))
    marks_of(window, values)
    return _with(read, window=window, values=values, lies=_steps(given))


def _laplace(given: Given) -> LaplaceReport:
    exponent = rational("exponent", exact(given["exponent"], "the exponent"))
    read = LaplaceReport(_number(given, "low"), _number(given, "high"), exponent)
    if read.exponent != exponent:
        raise QueryError(f"the exponent of a Laplace report is at most {read.exponent}, not {exponent}")
    return read


def _cap(given: Given) -> CapReport:
    read = CapReport(given["d"], _number(given, "norm"), 1)
    threshold, mass = _number(given, "threshold"), whole("mass", given["mass"], 1, MASSES // 2)
    refuse_cap(read.d, threshold, mass)
    read = _with(read, threshold=threshold, mass=mass, lies=_steps(given))
    # What stands in no relation to the cap that is really there would have no mean to divide by.
    if not read.ratio > 1 or not moments_of(read.d, threshold, read.lies).mean > 0:
        raise QueryError("the chances of this randomizer say nothing of a value, or the opposite of it")
    return read


def _keyed(given: Given) -> KeyedReport:
    read = KeyedReport(given["groups"], *_bounds(given), 1)
    inner: NumberedReport = _inside(given["inner"], "kary", "hadamard", "design")
    if inner.k != 2 * read.groups:
        raise QueryError("inside a keyed report is one with two possibilities for each group")
    return _with(read, inner=inner)


def _paper(given: Given) -> PaperReport:
    shape: Shape = _read(given["shape"], SHAPES, "shape")
    inner: LaplaceReport = _inside(given["inner"], "laplace")
    if isinstance(shape, Flag | Interval):
        raise QueryError("the paper's report is of a vector: one of, box, ball or keyed")
    if (inner.low, inner.high) != (0, 1):
        raise QueryError("inside the paper's report is a Laplace report from 0 to 1")
    return PaperReport(shape, inner.exponent)


def _ball(given: Given) -> Ball:
    size = whole("size", given["size"], 1, MOST_COORDINATES)
    return Ball(size, interval(0, _number(given, "norm"))[1])


def _grouped(given: Given) -> Keyed:
    inside: Box = _read(given["box"], {"box": SHAPES["box"]}, "shape of the vectors of groups")
    return Keyed(whole("size", given["size"], 1, MOST_POSSIBILITIES), inside)


ENDS = ("lows", "highs")
RANDOMIZERS: dict[str, tuple[tuple[str, ...], Callable[[Given], Any]]] = {
    "response": (("lies",), _response),
    "kary": (("k", "lies"), lambda given: _with(KaryResponse(given["k"], 1), lies=_steps(given))),
    "unary": (("k", "optimised", "own", "other"), _unary),
    "hadamard": (("k", "lies"), lambda given: _with(HadamardResponse(given["k"], 1), lies=_steps(given))),
    "design": (("k", "size", "lies"), _design),
    "one bit": (
        ("low", "high", "bit"),
        lambda given: _with(OneBitReport(_number(given, "low"), _number(given, "high"), 1), bit=_bit(given)),
    ),
    "piecewise": (("low", "high", "window", "lies"), _piecewise),
    "window": (("low", "high", "window", "values", "lies"), _window),
    "laplace": (("low", "high", "exponent"), _laplace),
    "coordinates": (
        (*ENDS, "bits", "bit"),
        lambda given: _with(CoordinateReport(*_bounds(given), 1, given["bits"]), bit=_bit(given)),
    ),
    "sphere": (
        ("d", "norm", "bit"),
        lambda given: _with(SphereReport(given["d"], _number(given, "norm"), 1), bit=_bit(given)),
    ),
    "cap": (("d", "norm", "threshold", "mass", "lies"), _cap),
    "keyed": (("groups", *ENDS, "inner"), _keyed),
    "paper": (("shape", "inner"), _paper),
}
"""For every randomizer, by its name: what its form has, and how it is made of that."""
SHAPES: dict[str, tuple[tuple[str, ...], Callable[[Given], Any]]] = {
    "flag": ((), lambda given: Flag()),
    "one of": (("size",), lambda given: OneOf(whole("size", given["size"], 1, MOST_POSSIBILITIES))),
    "interval": (
        ("low", "high"),
        lambda given: Interval(*interval(_number(given, "low"), _number(given, "high"))),
    ),
    "box": (ENDS, lambda given: Box(*_bounds(given))),
    "ball": (("size", "norm"), _ball),
    "keyed": (("size", "box"), _grouped),
}
"""The same for every shape."""
