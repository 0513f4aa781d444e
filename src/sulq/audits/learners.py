"""Whole learners: their transcripts on neighbouring tables, exactly; and what they learn, as a black box."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sulq.audits.black_box import safely, told_apart
from sulq.audits.findings import AuditFinding, Check, Effort, exact
from sulq.audits.transcripts import Recorded, losses
from sulq.classes.boolean import Conjunctions
from sulq.learners.additive import Additive
from sulq.learners.choose_model import ChooseModel
from sulq.learners.classifier import Classifier
from sulq.learners.components import PCA, SVD
from sulq.learners.compress import Compress
from sulq.learners.conjunction import Conjunction
from sulq.learners.decision_list import DecisionList
from sulq.learners.id3 import ID3
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import Learner
from sulq.learners.linear import LinearRegression
from sulq.learners.logistic import LogisticRegression
from sulq.learners.naive_bayes import NaiveBayes
from sulq.learners.pairs import Pairs
from sulq.learners.parity import Parity
from sulq.learners.perceptron import Perceptron
from sulq.learners.regressor import Regressor
from sulq.learners.select import Select
from sulq.learners.table import Table
from sulq.learners.validation import CrossValidate, Holdout
from sulq.queries.query import Neighbours
from sulq.schema import Boolean, Category, Integer, Real, Schema
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source

SCHEMA = Schema(
    {
        "a": Boolean(),
        "b": Boolean(),
        "y": Boolean(),
        "x": Real(-1, 3),
        "n": Integer(0, 20),
        "c": Category(("u", "v", "w")),
    }
)
ROWS = 400
FAR = {"a": True, "b": True, "y": True, "x": 3.0, "n": 20, "c": "w"}
OTHER = {"a": False, "b": False, "y": False, "x": -1.0, "n": 0, "c": "u"}
Rows = list[dict[str, Any]]
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1},
    {"rho": Fraction(1, 8)},
    {"epsilon": 3, "delta": "1e-6"},
)
"""With less, `Compress` needs more rows than there are, and would be refused before its first round."""


@dataclass(frozen=True)
class LearnerCase:
    """A learner, for which neighbours it is refused, and how many rows it is run on as a black box."""

    make: Callable[[], Learner[Any]]
    refused: Neighbours | None = None
    rows: int = 6


CASES: dict[str, LearnerCase] = {
    "Table": LearnerCase(lambda: Table(by=["c"], means=["x"], medians=["n"])),
    "NaiveBayes": LearnerCase(lambda: NaiveBayes("y")),
    "ID3": LearnerCase(lambda: ID3("y", depth=2)),
    "KMeans": LearnerCase(lambda: KMeans(2, features=["x", "n"], iterations=2)),
    "PCA": LearnerCase(lambda: PCA(1, features=["x", "n"])),
    "SVD": LearnerCase(lambda: SVD(1, features=["x", "n"])),
    "LinearRegression": LearnerCase(lambda: LinearRegression("x")),
    "LogisticRegression": LearnerCase(lambda: LogisticRegression("y")),
    "Additive": LearnerCase(lambda: Additive("y")),
    "Perceptron": LearnerCase(lambda: Perceptron("y", features=["x", "n"], iterations=3)),
    "Conjunction": LearnerCase(lambda: Conjunction("y", features=["a", "b"], share=1)),
    "DecisionList": LearnerCase(lambda: DecisionList("y", features=["a", "b"])),
    "Pairs": LearnerCase(lambda: Pairs()),
    "Classifier": LearnerCase(lambda: Classifier("y")),
    "Regressor": LearnerCase(lambda: Regressor("x")),
    "Select": LearnerCase(lambda: Select(Conjunctions(["a", "b"]), "y")),
    "Parity": LearnerCase(lambda: Parity("y", features=["a"], error=0.45, confidence="0.6"), rows=ROWS),
    "Compress": LearnerCase(
        lambda: Compress([Conjunctions(["a"])], "y", error=0.45, confidence="0.6"),
        refused="add-remove",
        rows=ROWS,
    ),
    "CrossValidate": LearnerCase(lambda: CrossValidate(NaiveBayes("y"), folds=2)),
    "Holdout": LearnerCase(lambda: Holdout(NaiveBayes("y"))),
    "ChooseModel": LearnerCase(
        lambda: ChooseModel(
            [ID3("y", depth=depth).learn(table(neighbouring("replace", 9)[0]).exact()) for depth in (0, 1)]
        )
    ),
}
"""Every learner that `sulq` exports. A test walks them: one that is not here fails it."""
NOT_ALONE = {
    "Evaluate": "evaluates a model that is learned before: CrossValidate and Holdout ask its rounds",
    "Statement": "asks the rounds of Table",
    "Learner": "is what they have in common",
}


def table(rows: Rows) -> Source:
    return open_source({name: [row[name] for row in rows] for name in SCHEMA}, SCHEMA, threads=1)


def neighbouring(neighbours: Neighbours, seed: int) -> tuple[Rows, Rows]:
    """Two tables that differ in one row, which is as far from the other as it can be, or comes."""
    dice = random.Random(seed)
    shared: Rows = [
        {
            "a": dice.random() < 0.5,
            "b": dice.random() < 0.6,
            "x": dice.uniform(-1, 3),
            "n": dice.randint(0, 20),
            "c": dice.choice("uvw"),
        }
        for _ in range(ROWS)
    ]
    for row in shared:
        row["y"] = row["a"] and dice.random() < 0.9
    one, other = (FAR, OTHER) if seed % 2 else (OTHER, FAR)
    return [*shared, one], [*shared, other] if neighbours == "replace" else shared


def transcripts(effort: Effort) -> Iterator[AuditFinding]:
    """Every learner under every kind of budget and both relations: its charges cover its losses."""
    seeds = range(1, 2 if effort == "quick" else 12)
    for name, case in CASES.items():
        for neighbours in ("replace", "add-remove"):
            way: Neighbours = "replace" if neighbours == "replace" else "add-remove"
            for budget in BUDGETS if effort == "full" else BUDGETS[:2]:
                worst = max(
                    (transcript(case.make(), budget, way, seed) for seed in seeds), key=lambda each: each[0]
                )
                ratio, words, rounds = worst
                yield exact(
                    f"{name} under {_words(budget)} ({way})",
                    "no round loses more than its charge, and all no more than the budget",
                    words,
                    "any excess above 1e-9, in these tables",
                    (rounds == 0 if way == case.refused else rounds > 0) and ratio <= 1 + 1e-9,
                )


def transcript(
    learner: Learner[Any], budget: dict[str, Any], way: Neighbours, seed: int
) -> tuple[float, str, int]:
    """The largest part of a charge that is lost, in words, and how many rounds there were."""
    one, other = neighbouring(way, seed)
    here, there = table(one), table(other)
    curator = here.curator(**budget, neighbours=way, ledger=":memory:")
    recorded = Recorded(curator)
    error = safely(learner.learn, recorded)
    rounds = losses(curator, here, there, recorded.rounds)
    lost = sum(each.lost for each in rounds)
    charged = sum((each.charged for each in rounds), Fraction(0))
    ratios = [
        each.lost / float(each.charged) if each.charged else (math.inf if each.lost else 0.0)
        for each in rounds
    ]
    honest = curator.spent >= charged and curator.spent <= curator.offer.total
    ratio = max([*ratios, lost / float(curator.offer.total), 0.0 if honest else math.inf])
    refused = f"; then {error}" if isinstance(error, Exception) else ""
    whole = f"{float(charged):.4g} of {float(curator.offer.total):.4g}"
    words = f"{len(rounds)} rounds lose {lost:.4g} and were charged {whole}{refused}"
    return ratio, words, len(rounds)


def _words(budget: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in budget.items())


QUICK = {"Table": 500}
"""How often a learner is run on each of two tables, where time is short."""


def learners(effort: Effort) -> Iterator[AuditFinding]:
    """What learners say, run after run, of two tables that differ in one row."""
    for name, case in CASES.items():
        runs = QUICK.get(name, 0) if effort == "quick" else 6000
        if runs:
            yield black_box(name, case, runs)


def black_box(name: str, case: LearnerCase, runs: int) -> AuditFinding:
    """A learner under ε = 1, on tables of as few rows as it runs on: there, one row counts for much."""
    one, other = neighbouring("replace", 1)
    learner, sources = case.make(), [table(rows[-case.rows :]) for rows in (one, other)]

    def said(source: Source) -> Any:
        return safely(learner.learn, source.curator(epsilon=1, ledger=":memory:"))

    answers = [[said(source) for _ in range(runs)] for source in sources]
    return told_apart(f"{name}, as a black box", answers[0], answers[1], epsilon=1.0)


CHECKS = (
    Check(
        "transcripts",
        "Learners, round by round",
        "Every learner runs on a table; for each of its rounds, the losses of all noisy sums and choices "
        "on a neighbouring table are added up and compared with what the ledger charged.",
        transcripts,
        tuple(CASES),
    ),
    Check(
        "learners",
        "Learners as black boxes",
        "What is learned, over and over, from two tables that differ in one row. Events are chosen on one "
        "half of the runs and tested on the other.",
        learners,
    ),
)
