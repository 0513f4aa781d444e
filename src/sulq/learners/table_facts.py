"""What is known of a table before a learner is chosen for it, and what is best to learn with then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sulq.talk.answers import Answer

NOTHING = 8.0
"""If rows are fewer times the noise in a count, nothing but the most frequent class is asked for."""


@dataclass(frozen=True)
class EnoughRows:
    """From how many times as many rows as there is noise in a count a learner is better than those before it.

    Args:
        effects: an additive model of few chosen columns, instead of the chosen conditions alone.
        tree: a tree.
        rule: an additive model of all columns, with chosen conditions as one more attribute, if each column
            and class but one has its part of the budget.
        additive: an additive model of all columns alone, if each has, and there are many columns.
        alone: the same if there are few columns.
        both: an additive model with a tree as one more attribute, if each has.
    """

    effects: float
    tree: float
    rule: float
    additive: float
    alone: float
    both: float


GAUSSIAN = {
    "numbers": EnoughRows(effects=50, tree=1500, rule=25, additive=35, alone=110, both=200),
    "categories": EnoughRows(effects=math.inf, tree=60, rule=300, additive=300, alone=300, both=300),
}
LAPLACE = {
    "numbers": EnoughRows(effects=200, tree=1500, rule=250, additive=400, alone=400, both=800),
    "categories": EnoughRows(effects=math.inf, tree=60, rule=1000, additive=1000, alone=1000, both=1000),
}
"""By whether there are numbers among the columns. Questions about categories have many answers, and three are
picked at once, so with categories alone a tree does well with less. Where noise is inverse to a share of the
budget, as under pure ε, and not to its root, the many rounds of an additive model cost more."""
MANY = 12
"""From so many columns on, they say by themselves what chosen conditions would add. With fewer, conditions
are worth their price for longer."""
RARE = Fraction(1, 4)
"""Classes that are rarer, together, are hardly ever the likely one: choices by mistakes do not see them."""
Way = Literal[
    "majority", "selection", "effects", "tree", "additive", "rule and additive", "tree and additive"
]


@dataclass(frozen=True)
class TableFacts:
    """What is known of a table before a learner is chosen: public facts, and privately counted rows.

    Args:
        rows: how many rows there are, as far as that is known.
        others: how many of them may have another class than the most frequent one.
        noise: one standard deviation of a count that gets all of the budget.
        power: noise is inverse to this power of a part of the budget.
        columns: from how many columns is learned.
        classes: how many classes there are.
        kinds: whether there are numbers among the columns, or categories alone.
        choosable: whether a choice among conditions can tell the classes apart, and whether whoever answers
            can be asked for one: in a survey nobody sees all rows.
        off: one standard deviation of the noise in the number of rows; 0 where it is public.

    >>> TableFacts(6000, 2800, 3.0, 1.0, 5, 2, "numbers", True).way
    'rule and additive'
    >>> TableFacts(300, 140, 3.0, 1.0, 5, 2, "numbers", True).way
    'selection'
    """

    rows: float
    others: float
    noise: float
    power: float
    columns: int
    classes: int
    kinds: Literal["numbers", "categories"]
    choosable: bool
    off: float = 0.0

    @property
    def clear(self) -> float:
        """How many times the noise in a count the rows are, but for the surplus of the frequent class."""
        return min(self.rows, 2 * self.others) / self.noise if self.noise > 0 else math.inf

    @property
    def clear_in_columns(self) -> float:
        """The same, where each column and each class but one has its part of the budget."""
        return float(self.clear / (self.columns * (self.classes - 1)) ** self.power)

    @property
    def way(self) -> Way:
        """What to learn with."""
        enough = (LAPLACE if self.power == 1 else GAUSSIAN)[self.kinds]
        seen = self.choosable and self.others >= RARE * self.rows
        # Rows must be seen to be few before all but the most frequent class is given up.
        if self.noise > 0 and self.clear + self.off / self.noise < NOTHING:
            return "majority"
        if self.clear_in_columns >= enough.both:
            return "tree and additive"
        if self.clear_in_columns >= enough.rule:
            alone = enough.additive if self.columns >= MANY else enough.alone
            return "additive" if self.clear_in_columns >= alone or not seen else "rule and additive"
        if not seen or self.clear >= enough.tree:
            return "tree"
        return "effects" if self.clear >= enough.effects else "selection"

    @property
    def why(self) -> str:
        """What is learned with, and why, in a sentence."""
        rows, columns = self._rows, f"{self.columns:,} column{'s' * (self.columns != 1)}"
        match self.way:
            case "majority":
                return f"the most frequent class alone, because {rows}: that is too little to learn more"
            case "selection":
                return f"one private choice of few conditions, because {rows}: that is little for {columns}"
            case "effects":
                return (
                    f"an additive model of few chosen columns, because {rows}: that is little for {columns}"
                )
            case "tree":
                return f"a decision tree, because {rows}: that is little for the effects of {columns}"
        extra = {"rule and additive": " with a chosen rule", "tree and additive": " with a small tree"}
        model = f"an additive model{extra.get(self.way, '')}"
        return f"{model}, because {rows}: that is enough for the effects of {columns}"

    @property
    def _rows(self) -> str:
        if self.noise == 0:
            return "answers have no noise"
        rare = self.others < RARE * self.rows
        seldom = " and one class is frequent" if rare else ""
        known = f"{self.rows:.0f} ± {self.off:.0f}" if self.off else f"{self.rows:.0f}"
        return f"{known} rows are {self.rows / self.noise:.0f} times the noise in a count{seldom}"


@dataclass(frozen=True)
class CountedRows:
    """How many rows there are, as a first look says.

    Args:
        rows: how many.
        off: one standard deviation of the noise in that number; 0 where the number is public.
        noise: one standard deviation of a count that gets all of the budget.
    """

    rows: float
    off: float
    noise: float

    @classmethod
    def by(cls, answers: Sequence[Answer], part: Fraction) -> CountedRows:
        """What the answers to a first look say.

        Args:
            answers: the answers.
            part: the part of the budget that they were given.
        """
        labels, counted = answers
        each = float(np.max(labels.deviation))
        noise = each * float(part) ** float(labels.law.power)
        if counted.deviation == 0:
            return cls(max(0.0, float(counted.value)), 0.0, noise)
        # A number of rows that is not public is better known from the labels: they are asked more precisely.
        return cls(max(0.0, float(np.sum(labels.value))), each * float(np.size(labels.value)) ** 0.5, noise)
