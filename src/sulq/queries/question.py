"""What can be asked in a round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sulq.queries.node import Node
from sulq.wire import entry


class Question(ABC):
    """One question of a round: a query, a choice, or whatever else an oracle can answer.

    >>> import sulq
    >>> isinstance(sulq.count(), Question)
    True
    """

    weight: Fraction
    """The larger it is among the questions of a round, the smaller is the error of the answer."""

    @property
    def caller_promises(self) -> str | None:
        """What whoever asks promises of the rows' influence, in words; None where it is proved."""
        return None

    @property
    @abstractmethod
    def parts(self) -> tuple[Node, ...]:
        """The row expressions whose sums over all rows the answer is made of."""

    @property
    @abstractmethod
    def form(self) -> dict[str, Any]:
        """The question as plain data, whose key `query` has the name of its kind; `question_of` reads it."""


QUESTIONS: dict[str, Callable[[Mapping[str, Any]], Question]] = {}
"""How to read each kind of question, by its name. The module of a kind puts it here."""


def question_of(form: Any) -> Question:
    """The question with this form.

    >>> import sulq
    >>> question_of(sulq.count(by="plan").form).form == sulq.count(by="plan").form
    True
    """
    name = form.get("query") if isinstance(form, Mapping) else None
    return entry(name, QUESTIONS, "query")(form)
