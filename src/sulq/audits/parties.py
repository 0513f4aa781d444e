"""Columns in different hands: what each party's sums by buckets lose, and that each pays for itself."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from sulq.audits.attempts import refusal
from sulq.audits.findings import AuditFinding, Check, Effort, exact
from sulq.audits.transcripts import losses
from sulq.learners.components import SVD
from sulq.oracles.curator import Curator
from sulq.oracles.parties import parties
from sulq.queries.query import Neighbours, count
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Integer, Real, Schema
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source

PEOPLE = 300
SCHEMAS = {
    "hospital": Schema({"who": Integer(0, 10**6), "sick": Boolean()}),
    "registry": Schema(
        {"who": Integer(0, 10**6), "smokes": Boolean(), "old": Boolean(), "age": Real(0, 100)}
    ),
}
PERSON = {"who": 7, "sick": True, "smokes": True, "old": True, "age": 100.0}
OTHER = {"who": 999_999, "sick": False, "smokes": False, "old": False, "age": 0.0}
"""Another identifier, so another bucket."""


def several(effort: Effort) -> Iterator[AuditFinding]:
    """A table across parties and a learner: the rounds that each party was asked, on neighbouring tables."""
    budgets: tuple[Mapping[str, Any], ...] = ({"epsilon": 1}, {"rho": Fraction(1, 8)})
    ways: tuple[Neighbours, ...] = ("replace", "add-remove")
    for budget in budgets:
        for way in ways:
            here, there = _tables(way)
            curators = {
                name: source.curator(**budget, neighbours=way, ledger=":memory:")
                for name, source in here.items()
            }
            both = parties(curators, key="who", people=PEOPLE)
            both.ask(Round([count(by=["smokes", "sick"])], share=Fraction(1, 3)))
            SVD(1, features=["age", "sick"], share=Fraction(1, 3)).learn(both)
            for name, curator in curators.items():
                rounds = _asked(curator)
                examined = losses(curator, here[name], there[name], rounds)
                lost, charged = sum(each.lost for each in examined), sum(each.charged for each in examined)
                yield exact(
                    f"{name}, one of two parties, under {curator.promise} ({way})",
                    "no round loses more than its charge",
                    f"{len(rounds)} rounds lose {lost:.4g} and were charged {float(charged):.4g}",
                    "any excess above 1e-9, in these tables",
                    len(rounds) > 0
                    and all(each.lost <= float(each.charged) * (1 + 1e-9) for each in examined)
                    and charged == curator.spent <= curator.offer.total,
                )
            before, dear = both.spent, Round([count(by=["smokes", "sick"], where="old")], share=1)
            refused = refusal(partial(both.ask, dear))
            yield exact(
                f"a round that the parties cannot pay, under {both.promise} ({way})",
                "refused, and no party is charged",
                f"{refused}; {'nothing' if before == both.spent else 'something'} was spent",
                "any charge",
                refused == "BudgetError" and before == both.spent,
            )


def _tables(way: Neighbours) -> tuple[dict[str, Source], dict[str, Source]]:
    dice = random.Random(4)
    shared = [
        {
            "who": 10 + place,
            "sick": dice.random() < 0.3,
            "smokes": dice.random() < 0.5,
            "old": dice.random() < 0.4,
            "age": dice.uniform(0, 100),
        }
        for place in range(PEOPLE)
    ]
    tables = [[*shared, PERSON], [*shared, OTHER] if way == "replace" else shared]
    here, there = ({name: _opened(rows, schema) for name, schema in SCHEMAS.items()} for rows in tables)
    return here, there


def _opened(rows: Sequence[Mapping[str, Any]], schema: Schema) -> Source:
    return open_source({column: [row[column] for row in rows] for column in schema}, schema, threads=1)


def _asked(curator: Curator) -> list[Round]:
    """The rounds that a ledger holds."""
    charges = (entry for entry in curator.ledger.entries() if entry.kind == "charge")
    return [Round.of(json.loads(entry.question)["round"]) for entry in charges]


CHECKS = (
    Check(
        "parties",
        "Columns in different hands",
        "Two parties answer together and a learner runs across them; what each party was asked is read from "
        "its ledger, and added up on tables in which one person is another.",
        several,
    ),
)
