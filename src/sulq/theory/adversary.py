"""The oracle that answers as badly as it may: what a statistical query learner must survive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from sulq.errors import QueryError
from sulq.learners.learner import H, Learner
from sulq.oracles.exact import Exact
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.laws import Within

Manner = Literal["high", "low", "random", "coarse"]


@dataclass
class Adversary:
    """Answers that are as far from the truth as each query's tolerance allows: any valid SQ oracle is kinder.

    A query without a tolerance is refused: a learner for the SQ model states them. There is no privacy here.

    Args:
        source: the rows.
        manner: "high" and "low" err by the whole tolerance τ the same way every time; "random" by τ with a
            sign tossed for every number; "coarse" says the nearest multiple of 2τ, so that as many different
            truths as can be get the same answer.
        seed: makes the tosses repeatable.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False, True, False]}, {"sick": sulq.Boolean()})
    >>> round_ = sulq.Round([sulq.mean(sulq.col("sick"), tolerance=0.1, beta=0.05)])
    >>> [Adversary(people, manner).ask(round_)[0].value for manner in ("high", "low", "coarse")]
    [0.6, 0.4, 0.4]
    """

    source: Sums
    manner: Manner = "random"
    seed: int = 0
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    denoised = denoised

    def __post_init__(self) -> None:
        if self.manner not in get_args(Manner):
            raise QueryError(f"the manner is one of {', '.join(get_args(Manner))}, not {self.manner!r}")
        self._rng = np.random.default_rng(self.seed)

    @property
    def schema(self) -> Schema:
        return self.source.schema

    @property
    def promise(self) -> str:
        return "none: the worst answers within tolerance"

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round; nothing is kept, so it does not matter which run asks."""
        if not isinstance(round_, Round):
            raise QueryError(f"ask takes a Round of queries, not {type(round_).__name__}")
        if not all(isinstance(query, Query) and query.tolerance is not None for query in round_.queries):
            raise QueryError("a learner for statistical queries states the tolerance of every query")
        truths = Exact(self.source).ask(round_, run)
        self.rounds += 1
        self.queries += len(round_.queries)
        return [self._bent(query, truth) for query, truth in zip(round_.queries, truths, strict=True)]

    def _bent(self, query: object, truth: Answer) -> Answer:
        assert isinstance(query, Query) and query.tolerance is not None
        tolerance, value = float(query.tolerance), np.asarray(truth.value)
        if self.manner == "coarse":
            bent = 2 * tolerance * np.rint(value / (2 * tolerance))
        else:
            up = self._rng.random(value.shape) < {"high": 1.0, "low": 0.0, "random": 0.5}[self.manner]
            bent = value + np.where(up, tolerance, -tolerance)
        return Answer(float(bent) if bent.ndim == 0 else bent, Within(tolerance), truth.axes)


def worst_answers(
    learner: Learner[H], source: Sums, loss: Callable[[H], float], tries: int = 20
) -> tuple[float, H]:
    """The largest loss that answers within tolerance were seen to cause, and the hypothesis that has it.

    Every manner of erring is tried. That no answers within tolerance can cause a larger loss is for a proof
    to say; this function looks for the opposite.

    Args:
        learner: a learner that states tolerances.
        source: the rows.
        loss: how bad a hypothesis is.
        tries: how many different tosses of signs are tried.

    >>> import sulq
    >>> rows = {"a": [True, True, False, False] * 9, "y": [True, True, False, False] * 9}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> wrong = lambda rule: float(sum(rule.predict(rows) != rows["y"])) / 36
    >>> loss, rule = worst_answers(sulq.Conjunction("y", error=0.2), people, wrong)
    >>> loss <= 0.2
    True
    """
    manners: list[tuple[Manner, int]] = [("high", 0), ("low", 0), ("coarse", 0)]
    manners += [("random", seed) for seed in range(tries)]
    learned = [learner.learn(Adversary(source, manner, seed)) for manner, seed in manners]
    return max(((loss(hypothesis), hypothesis) for hypothesis in learned), key=lambda pair: pair[0])
