"""What every class of hypotheses is: finitely many, numbered, with the mistakes of all of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sulq.classes.transforms import Integers
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.privacy.gf2 import Bits
from sulq.queries.expressions import Node
from sulq.queries.nodes import node_of
from sulq.schema import Schema
from sulq.wire import canonical, entry, members, reading

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
    """Finitely many hypotheses, numbered from 0. A class is plain data: a dataclass of plain fields."""

    wire: ClassVar[str]
    """The name of the class in its form."""

    def __init_subclass__(cls) -> None:
        CLASSES[cls.wire] = cls

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
    if size > MOST:
        raise QueryError(
            f"{type(hypotheses).__name__} are {size} hypotheses here, too many to score at once: at most "
            f"{MOST}; name fewer features or edges"
        )
    return size


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return value.form
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return (
        [_plain(each) for each in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
    )


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return node_of(value) if "node" in value else {name: _read(each) for name, each in value.items()}
    return tuple(map(_read, value)) if isinstance(value, list) else value
