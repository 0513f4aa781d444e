"""What anybody said, laid out as numbers with a name for each: lists, texts, errors, objects and arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEEPEST = 8
MOST_NUMBERS = 4096


def numbers_in(thing: Any, depth: int = 0) -> Iterator[tuple[str, float]]:
    """All numbers in what somebody said, each with the place where it stands.

    A text counts by its length and by which text it is, a list by its length, an error by its kind.

    >>> dict(numbers_in({"sums": [1, 2.5]}))
    {'.sums#': 2.0, '.sums[0]': 1.0, '.sums[1]': 2.5}
    """
    if depth > DEEPEST or thing is None or callable(thing):
        yield ("?", float(thing is None))
    elif isinstance(thing, bool | np.bool_ | int | float | np.number):
        number = (
            float(thing) if abs(float(thing)) < math.inf or thing != thing else math.copysign(1e300, thing)
        )
        yield ("", -1e301 if math.isnan(number) else number)
    elif isinstance(thing, BaseException):
        yield (f"!{type(thing).__name__}", 1.0)
        yield from ((f"!{place}", number) for place, number in numbers_in(str(thing), depth + 1))
    elif isinstance(thing, str | bytes):
        yield ("#", float(len(thing)))
        yield (f"={thing!r}", 1.0)
    elif isinstance(thing, np.ndarray):
        yield from numbers_in(thing.tolist(), depth + 1)
    elif isinstance(thing, Mapping):
        for name, value in thing.items():
            yield from ((f".{name}{place}", number) for place, number in numbers_in(value, depth + 1))
    elif isinstance(thing, Sequence | set | frozenset):
        yield ("#", float(len(thing)))
        for at, value in enumerate(sorted(thing, key=repr) if isinstance(thing, set | frozenset) else thing):
            yield from ((f"[{at}]{place}", number) for place, number in numbers_in(value, depth + 1))
    elif dataclasses.is_dataclass(thing):
        shown = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        yield from numbers_in(shown, depth + 1)
    else:
        yield from (
            numbers_in({name: value for name, value in vars(thing).items() if name[:1] != "_"}, depth + 1)
            if (hasattr(thing, "__dict__"))
            else [(f"={thing!r}", 1.0)]
        )


def laid_out(answers: Sequence[Any] | NDArray[Any]) -> tuple[list[str], NDArray[np.float64]]:
    """Answers as rows of numbers, with a name for each column; what an answer does not have is 1e302 there.

    >>> laid_out([[1, 2], [3]])
    (['#', '[0]', '[1]'], array([[2.e+000, 1.e+000, 2.e+000],
           [1.e+000, 3.e+000, 1.e+302]]))
    """
    if isinstance(answers, np.ndarray) and answers.ndim < 3 and answers.dtype.kind in "biuf":
        return _laid_out_array(answers)
    dicts = [dict(numbers_in(answer)) for answer in answers]
    names = sorted({name for each in dicts for name in each})[:MOST_NUMBERS]
    return names, np.array([[each.get(name, 1e302) for name in names] for each in dicts]).reshape(
        -1, len(names)
    )


def _laid_out_array(answers: NDArray[Any]) -> tuple[list[str], NDArray[np.float64]]:
    """As `laid_out`, of answers that are rows of numbers already."""
    numbers = answers.astype(np.float64)
    rows = np.nan_to_num(numbers, nan=-1e301, posinf=1e300, neginf=-1e300)
    if rows.ndim == 1:
        return [""], rows[:, None]
    places = [f"[{at}]" for at in range(rows.shape[1])][: MOST_NUMBERS - 1]
    lengths = np.full((len(rows), 1), float(rows.shape[1]))
    return ["#", *places], np.column_stack([lengths, rows[:, : len(places)]])


def joined(
    first: Sequence[Any] | NDArray[Any], second: Sequence[Any] | NDArray[Any]
) -> Sequence[Any] | NDArray[Any]:
    if (
        isinstance(first, np.ndarray)
        and isinstance(second, np.ndarray)
        and first.shape[1:] == second.shape[1:]
    ):
        return np.concatenate([first, second])
    return [*first, *second]
