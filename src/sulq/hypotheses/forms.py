"""The fields of a hypothesis as plain data and back, by the types that they are declared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sulq.errors import QueryError
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.talk.answers import Answer
from sulq.wire import listed, members, shown

PLAIN = {str: "a text", int: "a whole number", bool: "true or false"}


def plain_of(value: Any) -> Any:
    """Expressions and answers by their forms, other objects by their fields, whatever they are inside of.

    >>> from sulq.queries.expressions import col
    >>> plain_of({"old": (col("age"), 65)})
    {'old': [{'node': 'column', 'name': 'age'}, 65]}
    """
    if isinstance(value, Node):
        return value.form
    if isinstance(value, Answer):
        return value.form()
    if isinstance(value, Mapping):
        return {name: plain_of(each) for name, each in value.items()}
    if is_dataclass(value):
        return {field.name: plain_of(getattr(value, field.name)) for field in _written(value)}
    return [plain_of(each) for each in value] if isinstance(value, tuple | list) else value


def _written(value: Any) -> Iterator[Field[Any]]:
    """The fields that are written down: all, but for younger ones that have their default."""
    for each in fields(value):
        if each.metadata.get("written") != "if stated" or getattr(value, each.name) != each.default:
            yield each


def stated(value: Any) -> dict[str, Any]:
    """The fields of an object, without those that have their default.

    >>> from sulq.schema import Unit
    >>> stated(Unit("person", 5))
    {'column': 'person', 'rows': 5}
    """
    pairs = [(field, getattr(value, field.name)) for field in fields(value)]
    # Expressions make an expression of whatever they are compared with: so types are compared first.
    return {
        field.name: each
        for field, each in pairs
        if type(each) is not type(field.default) or each != field.default
    }


def value_of(hint: Any, form: Any, what: str) -> Any:
    """What `plain_of` made plain, or a refusal.

    Args:
        hint: the type that it should have.
        form: the plain data.
        what: what it is called in an error.

    >>> value_of(tuple[int, ...], [1, 2], "the mask")
    (1, 2)
    >>> value_of(tuple[int, ...], [1, 0.5], "the mask")
    Traceback (most recent call last):
    sulq.errors.QueryError: the mask needs a whole number, not 0.5
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(arguments, form, what)
    if origin is tuple:
        items = listed(form, what)
        if arguments[-1] is Ellipsis:
            return tuple(value_of(arguments[0], each, what) for each in items)
        if len(items) != len(arguments):
            raise QueryError(f"{what} has {len(arguments)} entries, not {len(items)}")
        return tuple(value_of(kind, each, what) for kind, each in zip(arguments, items, strict=True))
    if origin is dict:
        if not isinstance(form, Mapping):
            raise QueryError(f"{what} is an object, not {shown(form)}")
        return {name: value_of(arguments[1], each, what) for name, each in form.items()}
    if isinstance(hint, type) and issubclass(hint, Node):
        return node_of(form)
    if hint is Answer:
        return Answer.of(form)
    if is_dataclass(hint):
        return _made(hint, form, what)
    if hint is float and type(form) in (int, float):
        return form
    if hint in PLAIN or hint is float:
        if type(form) is not hint:
            raise QueryError(f"{what} needs {PLAIN.get(hint, 'a number')}, not {shown(form)}")
        return form
    return _anything(form)


@cache
def hints_of(cls: Any) -> dict[str, Any]:
    """The fields of a class and their types."""
    try:
        hints = get_type_hints(cls)
    except NameError:  # a class made inside a function may name what only that function knows
        hints = {}
    return {field.name: hints.get(field.name, Any) for field in fields(cls)}


def _made(cls: Any, form: Any, what: str) -> Any:
    """An object of a class, field by field. A text may be older than a field that has a default."""
    given = members(form, what, [name for name in hints_of(cls) if name in form or name in needed(cls)])
    return cls(
        **{name: value_of(kind, given[name], name) for name, kind in hints_of(cls).items() if name in given}
    )


def _one_of(kinds: tuple[Any, ...], form: Any, what: str) -> Any:
    """A value of one of several types: None, or objects that differ in the names of their fields."""
    if form is None and NoneType in kinds:
        return None
    rest = [kind for kind in kinds if kind is not NoneType]
    if len(rest) > 1 and isinstance(form, Mapping):
        rest = [kind for kind in rest if _fits(kind, form)] or rest
    return value_of(rest[0], form, what)


def _fits(cls: Any, form: Mapping[str, Any]) -> bool:
    return is_dataclass(cls) and needed(cls) <= form.keys() <= {field.name for field in fields(cls)}


def needed(cls: Any) -> set[str]:
    """The fields of a class that have no default."""
    return {field.name for field in fields(cls) if field.default is MISSING}


def _anything(form: Any) -> Any:
    """Data of no declared type; lists come back as tuples."""
    if isinstance(form, Mapping):
        return node_of(form) if "node" in form else {name: _anything(each) for name, each in form.items()}
    return tuple(map(_anything, form)) if isinstance(form, list) else form
