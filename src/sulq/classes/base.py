"""What every class of hypotheses is: finitely many, numbered, with the mistakes of all of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sulq.classes.transforms import Integers
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.privacy.gf2 import Bits
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.room import most_cells
from sulq.schema import Schema
from sulq.wire import canonical, entry, members, reading, shown

Look = Callable[[Node], NDArray[Any]]
"""Gives an expression's value on every row."""

MOST = 2**26
"""How many hypotheses, or cells of a table, may be held at once: some 2 GB while one is chosen."""
CLASSES: dict[str, type[HypothesisClass]] = {}
"""Every class of hypotheses, by its name in forms."""
UNREADABLE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, eq=False)
class Setting:
    """What is public when a hypothesis is looked for.

    Args:
        schema: the columns.
        label: what a hypothesis should say.
    """

    schema: Schema
    label: Node


class HypothesisClass(ABC):
    """Finitely many hypotheses, numbered from 0. A class is plain data: a dataclass of plain fields.

    It never changes: a list or an array that it is made of is copied, because a ledger knows a question by
    the form that it had when it was first asked.
    """

    wire: ClassVar[str]
    """The name of the class in its form."""

    def __init_subclass__(cls) -> None:
        known = CLASSES.get(cls.wire, cls)
        # The same class may be defined again, as in a notebook. Another one would answer for the first.
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise QueryError(f"{cls.wire!r} is the name of {known.__qualname__} in forms: take another wire")
        CLASSES[cls.wire] = cls

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, _kept(getattr(self, field.name)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # earlier versions pickled lists

    @property
    def form(self) -> dict[str, Any]:
        """The class as plain data; `class_of` reads it back."""
        named = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        return {"class": self.wire} | named

    @abstractmethod
    def size(self, setting: Setting) -> int:
        """How many there are; raises QueryError if they make no sense for the schema."""

    @abstractmethod
    def mistakes(self, look: Look, labels: Bits, setting: Setting) -> Integers:
        """How many rows each of them gets wrong."""

    @abstractmethod
    def hypothesis(self, index: int, setting: Setting) -> Hypothesis:
        """The hypothesis with this number."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HypothesisClass) and canonical(other.form) == canonical(self.form)

    def __hash__(self) -> int:
        return hash(canonical(self.form))


def class_of(form: Any) -> HypothesisClass:
    """The class of hypotheses with this form.

    >>> from sulq.classes import Stumps
    >>> class_of(Stumps(bins=4).form) == Stumps(bins=4)
    True
    """
    with reading("a class of hypotheses"):
        name = form.get("class") if isinstance(form, Mapping) else None
        cls = entry(name, CLASSES, "class of hypotheses")
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        given = members(form, f"the class {name!r}", ["class", *names])
        return cls(**{each: _read(given[each]) for each in names})


def check_size(hypotheses: HypothesisClass, setting: Setting) -> int:
    """How many hypotheses there are; a class that would not fit is refused, before a row is read."""
    try:
        size = hypotheses.size(setting)
    except UNREADABLE:  # a form can hold anything where a list of numbers belongs
        raise QueryError(
            f"the class {hypotheses.wire!r} is not made of what such a class is made of"
        ) from None
    most = min(MOST, most_cells())
    if size > most:
        raise QueryError(
            f"{type(hypotheses).__name__} are {size} hypotheses here, too many to score at once: at most "
            f"{most}; name fewer features or edges"
        )
    return size


class Fixed(Mapping[str, Any]):
    """A mapping that nobody changes.

    Args:
        given: what it holds.
    """

    def __init__(self, given: Mapping[Any, Any]) -> None:
        self._given = {str(name): _kept(each) for name, each in given.items()}

    def __getitem__(self, name: str) -> Any:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return repr(self._given)


def _kept(value: Any) -> Any:
    """What a class is made of, such that nobody changes it."""
    if value is None or isinstance(value, Node | str | int | float):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _kept(value.tolist())
    if isinstance(value, Mapping):
        return Fixed(value)
    if isinstance(value, Sequence):
        return tuple(map(_kept, value))
    raise QueryError(
        "a class of hypotheses is made of names, numbers, row expressions and lists of these, not of "
        f"{shown(value)}"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return value.form
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        expression = isinstance(value.get("node"), str)  # and not the edges of a column of that name
        return node_of(value) if expression else {name: _read(each) for name, each in value.items()}
    return tuple(map(_read, value)) if isinstance(value, list) else value
