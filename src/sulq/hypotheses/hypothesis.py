"""What a learner returns: something to predict with, to read, and to keep."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from numpy.typing import NDArray
from rich.console import RenderableType
from rich.text import Text

from sulq.errors import QueryError
from sulq.hypotheses.forms import hints_of, needed, plain_of, stated, value_of
from sulq.hypotheses.origin import Origin as Origin
from sulq.hypotheses.words import enumerated as enumerated
from sulq.hypotheses.words import words as words
from sulq.pictures import chips
from sulq.pictures.svg import clean
from sulq.queries.arithmetic import Compare
from sulq.queries.attributes import looked_at
from sulq.queries.expressions import Column
from sulq.queries.former import upgraded
from sulq.queries.node import Node, Operand, operand
from sulq.queries.query import Query, mean
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.sources.opening import open_here
from sulq.wire import entry, members, of_json, reading, versioned

T = TypeVar("T", bound="Hypothesis")
VERSION = 1
"""Of the text of a hypothesis."""
KINDS: dict[str, type[Hypothesis]] = {}
"""Every kind of hypothesis, by the name that texts have for it."""


@dataclass(frozen=True, eq=False)
class Hypothesis(ABC):
    """The base of all hypotheses. It holds answers and public facts, and never a row or an exact sum.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
    """

    wire: ClassVar[str]
    """What texts call this kind of hypothesis. It never changes, whatever the class is called."""
    no_label: ClassVar[str] = ""
    """Why a kind of hypothesis tells no label, if it tells none: what it says instead."""

    schema: Schema
    origin: Origin | None

    @property
    @abstractmethod
    def expression(self) -> Node:
        """What it says of a row, as a row expression: to predict with, or to ask about."""

    @property
    def likelihood(self) -> Node | None:
        """How likely the label is true, or is the second of two classes, as a row expression from 0 to 1.

        None where the hypothesis does not say how likely, or where there are more classes.
        """
        return None

    @property
    def margin(self) -> Node | None:
        """A number that is the larger, the surer the label is true, or the second of two classes; or None."""
        return self.likelihood

    @abstractmethod
    def describe(self) -> str:
        """What it says, for people."""

    @property
    def headline(self) -> str:
        """What was learned, in a sentence: what a report begins with."""
        return self.describe().partition("\n")[0]

    @property
    def doubts(self) -> tuple[str, ...]:
        """What of it noise alone could have made, a sentence each."""
        return ()

    @property
    def outlook(self) -> str:
        """What to expect of such a hypothesis, if this one was learned from made-up rows; may be empty."""
        return ""

    def picture(self) -> str:
        """What it says, as an SVG picture that stands on its own. Notebooks show it."""
        return chips.picture(type(self).__name__, self.describe().splitlines(), joint="", note=self._caption)

    def drawing(self) -> RenderableType:
        """What it says, for `rich.print` on a terminal."""
        return Text("\n".join(clean(line) for line in self.describe().splitlines()))

    def _repr_svg_(self) -> str:
        return self.picture()

    @property
    def _caption(self) -> str:
        """Who learned it and under what promise, to stand below its picture."""
        origin = self.origin
        return "" if origin is None else f"learned by {origin.learner} · privacy: {origin.promise}"

    def predict(self, frame: Any) -> NDArray[Any]:
        """What it says of every row of a frame, which needs no label."""
        return self._values(self.expression, frame)

    def _values(self, expression: Node, frame: Any) -> NDArray[Any]:
        """An expression on every row of a frame, which needs no other columns than those it looks at."""
        needed = looked_at(expression)
        if not needed:  # what says the same of every row still needs to know how many there are
            given = getattr(frame, "columns", frame)
            needed = frozenset(
                [next((name for name in self.schema if name in given), next(iter(self.schema)))]
            )
        rows = open_here(frame, Schema({name: self.schema[name] for name in self.schema if name in needed}))
        return rows.values(expression)

    def wrong(self, truth: Node) -> Node:
        """Whether what it says of a row differs from the truth, as a row expression."""
        return Compare("!=", self.expression, truth)

    @property
    def form(self) -> dict[str, Any]:
        """The hypothesis as plain data; `Hypothesis.of` reads it back."""
        if not hasattr(self, "wire"):
            raise QueryError(f'{type(self).__name__} has no name for its texts: give the class a wire = "…"')
        return {"hypothesis": VERSION, "is": self.wire} | self._content

    def to_json(self) -> str:
        """The hypothesis as text; `from_json` reads it back."""
        try:
            return json.dumps(self.form, allow_nan=False)
        except ValueError:
            raise QueryError("a hypothesis with a number that is not finite cannot be written") from None

    @classmethod
    def of(cls: type[T], form: Mapping[str, Any]) -> T:
        """The hypothesis with this form: of any kind on `Hypothesis` itself, of its own on a kind."""
        with reading("a hypothesis"):
            kind = cls._kind(versioned(form, "hypothesis", VERSION).get("is"))
            return kind._of(form, ["hypothesis", "is"])

    @classmethod
    def from_json(cls: type[T], text: str) -> T:
        """The hypothesis that `to_json` wrote.

        `sulq.Hypothesis.from_json` reads every kind, a kind of hypothesis its own. Texts of version 0 do not
        say what they are, so they are read by their kind, as in `sulq.hypotheses.Tree.from_json(text)`.

        >>> import sulq
        >>> schema = sulq.Schema({"sick": sulq.Boolean()})
        >>> rule = sulq.hypotheses.Rule(schema, None, (sulq.col("sick"),))
        >>> sulq.Hypothesis.from_json(rule.to_json()).describe()
        'sick'
        >>> sulq.hypotheses.Tree.from_json(rule.to_json())
        Traceback (most recent call last):
        sulq.errors.QueryError: this is a rule, not a tree: sulq.Hypothesis.from_json reads every kind
        """
        form = of_json(text, "a hypothesis")
        if not isinstance(form, dict) or "hypothesis" in form or not hasattr(cls, "wire"):
            return cls.of(form)
        with reading("a hypothesis"):
            return cls._of(upgraded(form), [])

    @classmethod
    def _kind(cls: type[T], name: object) -> type[T]:
        """The class for the kind of this name, if it is one that this class reads."""
        kind = entry(name, KINDS, "kind of hypothesis")
        if issubclass(kind, cls):
            return kind
        if name == cls.wire:
            return cls
        raise QueryError(f"this is a {name}, not a {cls.wire}: sulq.Hypothesis.from_json reads every kind")

    @classmethod
    def _of(cls: type[T], form: Mapping[str, Any], envelope: list[str]) -> T:
        hints = hints_of(cls)
        names = [name for name in hints if name in form or name in needed(cls)]
        given = members(form, f"a hypothesis of kind {cls.wire!r}", [*envelope, *names])
        if not isinstance(given["schema"], Mapping):
            raise QueryError("the schema of a hypothesis is an object with its columns")
        schema = Schema.of(dict(given["schema"]))
        rest = {name: value_of(hints[name], given[name], name) for name in names if name != "schema"}
        read = cls(schema, **rest)
        read._check()
        return read

    def _check(self) -> None:
        """Find out now whether what was read makes sense."""
        self.describe()
        scope_of(self.schema).facts(self.expression)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "wire" in vars(cls):
            known = KINDS.setdefault(cls.wire, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise QueryError(f"{known.__qualname__} is the kind of hypothesis {cls.wire!r} already")
            KINDS[cls.wire] = cls

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Hypothesis) and other._content == self._content

    def __hash__(self) -> int:
        return hash(json.dumps(self._content))

    @property
    def _content(self) -> dict[str, Any]:
        """All fields as plain data."""
        rest = {name: plain_of(value) for name, value in stated(self).items() if name != "schema"}
        return {"schema": plain_of(self.schema.form())} | rest


def error_rate(hypothesis: Hypothesis, label: Operand, **precision: Any) -> Query:
    """A query: on which part of the rows a hypothesis is wrong.

    Args:
        hypothesis: what was learned.
        label: the column that the hypothesis should tell, or an expression.
        **precision: how well it should be answered: a `weight`, or a `tolerance` and `beta`, as for
            `sulq.mean`.

    >>> import sulq
    >>> rows = {"a": [True, True, False, False], "y": [True, False, False, False]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> rule = sulq.Conjunction("y", error=0.9).learn(people.exact())
    >>> rule.describe()
    'a'
    >>> people.exact().ask(sulq.Round([sulq.error_rate(rule, "y")]))[0].value
    0.25
    """
    truth = Column(label) if isinstance(label, str) else operand(label)
    return mean(hypothesis.wrong(truth), **precision)
