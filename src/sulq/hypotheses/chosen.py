"""The model that was chosen among several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from rich.console import RenderableType

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.pictures.svg import plain
from sulq.queries.node import Node
from sulq.talk.answers import BETA, Answer


@dataclass(frozen=True, eq=False)
class ChosenModel(Hypothesis):
    """One of several models, chosen privately. It says of a row what that model says.

    Args:
        schema: what is public about the columns.
        origin: who chose it, under what promise.
        text: the model, as `Hypothesis.to_json` writes it.
        place: its place among those that were to choose from, from 0.
        many: how many there were.
        answer: what was answered, whose law says how far from the best the choice may be.

    >>> import sulq
    >>> schema = sulq.Schema({"a": sulq.Boolean()})
    >>> rule = sulq.hypotheses.Rule(schema, None, (sulq.col("a"),))
    >>> chosen = ChosenModel(schema, None, rule.to_json(), 1, 3, Answer(1))
    >>> chosen.predict({"a": [True, False]})
    array([ True, False])
    >>> print(chosen.describe())
    Number 2 of 3 models, a Rule: no other is right of more rows.
    a
    """

    wire = "chosen model"

    text: str
    place: int
    many: int
    answer: Answer

    @cached_property
    def model(self) -> Hypothesis:
        """The model that was chosen."""
        return Hypothesis.from_json(self.text)

    @property
    def expression(self) -> Node:
        return self.model.expression

    @property
    def likelihood(self) -> Node | None:
        return self.model.likelihood

    @property
    def margin(self) -> Node | None:
        return self.model.margin

    @property
    def label(self) -> Any:
        """What the model is about, if it says so."""
        return getattr(self.model, "label", None)

    @property
    def values(self) -> Any:
        """The values of the label that the model knows, if it says so."""
        return getattr(self.model, "values", None)

    def behind(self, beta: float = BETA) -> float:
        """By how many rows the best of the models may be better, but for a chance of `beta`.

        Of numbers it is by how much the sum of |y − ŷ| may be smaller.

        Args:
            beta: the chance that the best is better by more.
        """
        return float(self.answer.radius(beta))

    def predict(self, frame: Any) -> NDArray[Any]:
        """What the model says of every row of a frame."""
        return self.model.predict(frame)

    def wrong(self, truth: Node) -> Node:
        return self.model.wrong(truth)

    def describe(self) -> str:
        behind = self.behind()
        sure = (
            "no other is right of more rows"
            if behind == 0
            else f"at 95 % no other is better by {plain(behind)}"
        )
        name = type(self.model).__name__
        first = f"Number {self.place + 1} of {self.many} models, a {name}: {sure}."
        return f"{first}\n{self.model.describe()}"

    def picture(self) -> str:
        return self.model.picture()

    def drawing(self) -> RenderableType:
        return self.model.drawing()

    def _check(self) -> None:
        if not 0 <= self.place < self.many:
            raise QueryError(f"the chosen model has a place below {self.many}, not {self.place}")
        super()._check()
