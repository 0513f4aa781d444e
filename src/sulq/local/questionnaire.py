"""What the devices of a round are asked, and how many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sulq.errors import QueryError
from sulq.local.forms import VERSION, Versioned, opened
from sulq.local.item import Item
from sulq.numbers import whole

MOST_PEOPLE = 2**60


@dataclass(frozen=True)
class Questionnaire(Versioned):
    """The items of a round, and how many people each is put to: people of its own, each asked once.

    Args:
        items: what is asked.
        people: how many people are to report on each item.

    >>> import sulq
    >>> crowd = sulq.open({"sick": [True] * 100}, {"sick": sulq.Boolean()}).crowd(epsilon=1)
    >>> questionnaire = crowd.questionnaire(sulq.Round([sulq.mean(sulq.col("sick"))], share="1/2"))
    >>> questionnaire.people, [item.described for item in questionnaire.items]
    ((50,), ['randomized response'])
    >>> Questionnaire.from_json(questionnaire.to_json()) == questionnaire
    True
    """

    kind: ClassVar[str] = "questionnaire"
    items: tuple[Item, ...]
    people: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.items) != len(self.people) or not all(isinstance(item, Item) for item in self.items):
            raise QueryError("a questionnaire has items, and for each the number of people it is put to")
        for people in self.people:
            whole("the number of people", people, 1, MOST_PEOPLE)

    def form(self) -> dict[str, Any]:
        items = [item.form() for item in self.items]
        return {self.kind: VERSION, "items": items, "people": list(self.people)}

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Questionnaire:
        given = opened(form, cls.kind, ("items", "people"))
        if not isinstance(given["items"], list) or not isinstance(given["people"], list):
            raise QueryError("a questionnaire has a list of items and a list of numbers of people")
        return cls(tuple(map(Item.of, given["items"])), tuple(given["people"]))
