"""Which parity of some features a label is: solved from the rows' own equations (`sulq.privacy.parity`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from sulq.classes.sizes import Amplification, ParityPlan, parity_plan
from sulq.errors import QueryError
from sulq.numbers import make_rational, percent
from sulq.privacy.boxed_parity import boxed
from sulq.privacy.gf2 import Bits, Words, equations, solve
from sulq.privacy.parity import Attempts, ParityMechanism, Sampling, best_of, first_of
from sulq.privacy.terms import Contest, Settled
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.question import QUESTIONS
from sulq.talk.answers import Answer, Axis
from sulq.talk.choice_laws import Population
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly
from sulq.talk.row_questions import PublicFacts, RowQuestion, SeenRows
from sulq.wire import exact, listed, members


@dataclass(frozen=True)
class Solve(RowQuestion):
    """Which parity of some features a label is.

    The answer has a row of 0s and 1s, a mask of the features, for every parity that was found: one row, or
    none at all for ⊥. ⊥ is the likely answer if the labels are no parity. If they are one, its chance is part
    of `beta`.

    The question is refused, before anything is spent, if the number of rows is public and too small.

    Args:
        features: row expressions that are true or false.
        label: what the parity should say: such an expression too.
        error: the parity errs on at most that part of the population that the rows were drawn from.
        beta: the chance that it errs on more, or that there is none.
        sampling: how many rows a run looks at; see `ParityMechanism`.
        amplification: how a mechanism that may say ⊥ becomes reliable; see `sulq.Parity`.
        weight: how well it should be answered, compared with the other questions of its round.

    >>> import sulq
    >>> rows = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> question = Solve((sulq.col("a"), sulq.col("b")), sulq.col("y"))
    >>> people.exact().ask(sulq.Round([question]))[0].value
    array([[1, 1]])
    """

    features: tuple[Node, ...]
    label: Node
    error: Fraction = Fraction(1, 10)
    beta: Fraction = Fraction(1, 20)
    sampling: Sampling = "tight"
    amplification: Amplification = "repeat"
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if not isinstance(self.features, tuple) or not self.features:
            raise QueryError("a parity needs a tuple of at least one feature")
        if not all(isinstance(expression, Node) for expression in (*self.features, self.label)):
            raise QueryError("the features and the label of a parity are row expressions")
        if self.amplification not in get_args(Amplification):
            raise QueryError(f"amplification is 'repeat', 'test set' or 'boxed', not {self.amplification!r}")
        if self.amplification == "boxed" and self.sampling != "paper":
            raise QueryError("the paper's box takes rows with p = ε/4: it goes with sampling='paper'")
        if self.sampling not in get_args(Sampling):
            raise QueryError(f"sampling is 'tight' or 'paper', not {self.sampling!r}")
        make_rational(self, "error", most=1)
        make_rational(self, "beta", most=1)
        make_rational(self, "weight")

    @property
    def form(self) -> dict[str, Any]:
        return {
            "query": "solve",
            "features": [feature.form for feature in self.features],
            "label": self.label.form,
            "error": str(self.error),
            "beta": str(self.beta),
            "sampling": self.sampling,
            "amplification": self.amplification,
            "weight": str(self.weight),
        }

    def contest(self, public: PublicFacts) -> Contest:
        for expression in (*self.features, self.label):
            condition(expression, public.schema)
        return Contest(moves=1, monotone=False, size=1, weight=self.weight, way="pure")

    def check(self, public: PublicFacts, settled: Settled) -> None:
        plan = self.plan(public, settled)
        self._mechanism(public, settled, plan)
        if self.amplification != "repeat" and public.rows is None:
            raise QueryError("a test set needs a public number of rows: use amplification='repeat'")
        promise = f"an error of {float(self.error):g} with d = {len(self.features)}"
        public.require(plan.rows, f"{promise} and ε = {float(_per_row(public, settled)):g}")

    def needed(self, public: PublicFacts, settled: Settled) -> int:
        """How many rows the stated error takes."""
        return self.plan(public, settled).rows

    def plan(self, public: PublicFacts, settled: Settled) -> ParityPlan:
        """How many runs there are, and how many rows the promise needs."""
        numbers = (float(self.error), float(self.beta), float(_per_row(public, settled)))
        return parity_plan(len(self.features), *numbers, self.sampling, self.amplification, public.neighbours)

    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> list[int] | None:
        given = equations((rows.values(feature) for feature in self.features), rows.values(self.label))
        if settled is None:
            solutions = solve(given, len(self.features))
            mask = solutions.random() if solutions.consistent else None
        else:
            mask = self._released(given, public, settled)
        return None if mask is None else mask.astype(int).tolist()

    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        masks = [] if released is None else [released]
        value = np.array(masks, dtype=np.int64).reshape(len(masks), len(self.features))
        axes = (Axis("parities found", None), Axis("features", None))
        return Answer(value, self.law(public, settled), axes)

    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        return Exactly() if settled is None else Population(float(self.error), float(self.beta))

    @property
    def numbers(self) -> int:  # type: ignore[override]
        return len(self.features)

    def promise(self, public: PublicFacts, settled: Settled) -> str:
        return (
            f"if the label is one, wrong on at most {percent(self.error)} of the population, "
            f"{percent(1 - self.beta)} sure, from {self.needed(public, settled):,} rows on"
        )

    def words(self, public: PublicFacts) -> str:
        return f"which parity of {len(self.features):,} features fits the rows"

    def _released(self, given: Words, public: PublicFacts, settled: Settled) -> Bits | None:
        plan, unknowns = self.plan(public, settled), len(self.features)
        mechanism = self._mechanism(public, settled, plan)
        if isinstance(mechanism, Attempts):
            return mechanism.release(given, unknowns)
        if self.amplification == "repeat":
            return first_of(mechanism, given, unknowns, int(plan.runs))
        if plan.each is not None:
            return boxed(mechanism, given, unknowns, int(plan.runs), plan.each, plan.tested)
        return best_of(mechanism, given, unknowns, int(plan.runs), plan.tested)

    def _mechanism(
        self, public: PublicFacts, settled: Settled, plan: ParityPlan
    ) -> ParityMechanism | Attempts:
        epsilon = _per_row(public, settled)
        if self.amplification != "repeat":
            return ParityMechanism(epsilon, self.sampling, public.neighbours)
        if self.sampling == "tight":
            return Attempts(epsilon, Fraction(plan.runs), public.neighbours)
        return ParityMechanism(epsilon / plan.runs, self.sampling, public.neighbours)


def _per_row(public: PublicFacts, settled: Settled) -> Fraction:
    """The ε of one row.

    A person's rows may all change, one after the other; one that comes or goes tells less than that.
    """
    return settled.epsilon / public.schema.rows_per_unit


def _read(form: Mapping[str, Any]) -> Solve:
    names = ["features", "label", "error", "beta", "sampling", "amplification", "weight"]
    given = members(form, "a parity to solve", ["query", *names])
    error, beta, weight = (exact(given[name], name) for name in ("error", "beta", "weight"))
    settings: Any = (error, beta, given["sampling"], given["amplification"], weight)
    features = tuple(map(node_of, listed(given["features"], "features")))
    return Solve(features, node_of(given["label"]), *settings)


QUESTIONS["solve"] = _read
