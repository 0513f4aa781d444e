"""Oracles as whole things: a curator on all small tables, the noise that really comes out, and a crowd."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sulq.audits.black_box import told_apart
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.laws import tally, weight_of
from sulq.audits.statistics import fit
from sulq.audits.transcripts import losses
from sulq.local.item import item_of
from sulq.oracles.cohorts import Cohorts
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from sulq.privacy.repeated import times_of
from sulq.queries.choose import choose
from sulq.queries.expressions import col
from sulq.queries.query import Neighbours, count, mean, total
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Category, Integer, Schema, Unit
from sulq.sources.opening import open as open_source
from sulq.sources.rows import rows_of
from sulq.sources.source import Source

TINY = Schema({"x": Category(("u", "v"), missing="u"), "y": Boolean()})
ROWS = list(itertools.product(["u", "v"], [False, True]))
ROUNDS = {
    "a table and a count": Round([count(by=["x", "y"]), count(where=col("y"))], share=1),
    "a mean and a total": Round([mean(col("y"), by="x"), total(col("y") * 3)], share="1/3"),
    "a choice of an attribute": Round([choose(["x", "y"], label="y")], share=1),
    "choices in groups, and a count": Round([choose(["y", "x"], label="y", by="x"), count()], share="1/2"),
    "a choice of a count": Round(
        [choose([count(where=col("y")), count(where=~col("y")), count(where=col("x") == "u")])], share=1
    ),
}
BUDGETS: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"rho": Fraction(1, 8)})


def tiny(table: Sequence[tuple[str, bool]]) -> Source:
    columns = {
        "x": np.array([row[0] for row in table], dtype=object),
        "y": np.array([row[1] for row in table], dtype=bool),
    }
    return open_source(columns, TINY, threads=1)


def curator(effort: Effort) -> Iterator[AuditFinding]:
    """All tables of up to two rows (three, with more effort) and all of their neighbours."""
    for neighbours in ("replace", "add-remove"):
        way: Neighbours = "replace" if neighbours == "replace" else "add-remove"
        sizes = (1, 2) if effort == "quick" else (1, 2, 3)
        tables = [table for size in sizes for table in itertools.combinations_with_replacement(ROWS, size)]
        sources = {table: tiny(table) for table in tables}
        pairs = [
            (one, other)
            for one in tables
            for other in tables
            if (
                len(one) == len(other) and _differ(one, other) == 1
                if way == "replace"
                else len(one) + 1 == len(other) and _contains(other, one)
            )
        ]
        for budget, (name, round_) in itertools.product(BUDGETS, ROUNDS.items()):
            worst, failures = 0.0, []
            for one, other in pairs:
                asked = sources[one].curator(**budget, neighbours=way, ledger=":memory:")
                [loss] = losses(asked, sources[one], sources[other], [round_])
                worst = max(worst, loss.lost / float(loss.charged))
                if loss.lost > loss.charged * (1 + 1e-9):
                    failures.append(f"{one} and {other}: {loss.lost:.6g} for {float(loss.charged):.6g}")
                asked.ledger.close()
            words = ", ".join(f"{key} = {value}" for key, value in budget.items())
            yield all_of(
                f"{name}, {words} ({way})",
                f"no loss above the charge (the worst is {worst:.4f} of it)",
                failures,
                len(pairs),
            )


def _differ(one: Sequence[Any], other: Sequence[Any]) -> int:
    return (Counter(one) - Counter(other)).total()


def _contains(many: Sequence[Any], few: Sequence[Any]) -> bool:
    return _differ(few, many) == 0


def answers(effort: Effort) -> Iterator[AuditFinding]:
    """What comes out, less the truth: many cells of one table are as many draws of the noise."""
    cells = 20_000 if effort == "quick" else 400_000
    source = open_source(
        {"id": np.arange(50), "b": np.ones(50, dtype=bool)},
        {"id": Integer(0, cells - 1), "b": Boolean()},
        threads=1,
    )
    truth = np.zeros(cells, dtype=int)
    truth[:50] = 1
    for budget in ({"epsilon": 1}, {"rho": Fraction(1, 8)}, {"epsilon": 1, "delta": "1e-6"}):
        asked = source.curator(**budget, ledger=":memory:")
        round_ = Round([count(by="id"), count(where=col("b"), by="id")], share=Fraction(1, 2))
        noises = asked.offer.terms(round_).noises
        drawn, again = (
            [
                np.rint((answer.value - truth) * times_of(noise)).astype(int)
                for answer, noise in zip(asked.ask(round_), noises, strict=True)
            ]
            for _ in range(2)
        )
        words = asked.promise
        for place, (noise, errors) in enumerate(zip(noises, drawn, strict=True)):
            noise = noise.noise if isinstance(noise, FinerGaussian) else noise
            assert isinstance(noise, DiscreteLaplace | DiscreteGaussian)
            yield fit(f"noise of answer {place + 1} under {words}", *_law(noise, errors.tolist()))
        # Noise that was used twice would cancel.
        difference = (
            float(np.corrcoef(drawn[0], drawn[1])[0, 1]),
            float(np.corrcoef(drawn[0][1:], drawn[0][:-1])[0, 1]),
        )
        bound = 6.5 / math.sqrt(cells)
        yield AuditFinding(
            f"noise under {words}: one answer and the next",
            "independent",
            f"correlations of {difference[0]:.3f} and {difference[1]:.3f}",
            f"a correlation of {bound:.3f}",
            max(map(abs, difference)) < bound,
            1 - 1e-9,
        )
        yield exact(
            f"the same round again under {words}",
            "the same answer, at no cost",
            "the same" if all(map(np.array_equal, drawn, again)) else "another",
            "any difference",
            all(map(np.array_equal, drawn, again)) and asked.spent == asked.offer.total / 2,
        )


def _law(noise: Noise, errors: list[int]) -> tuple[list[int], list[float]]:
    reach = int(2 * noise.std)
    stride = max(1, reach // 12)
    # Some values to a cell, so that cells are likely.
    starts = range(-reach, reach + 1, stride)
    weight = partial(weight_of, noise)
    whole = math.fsum(weight(k) for k in range(-40 * int(noise.std + 1), 40 * int(noise.std + 1) + 1))
    chances = [math.fsum(weight(k) for k in range(start, start + stride)) / whole for start in starts]
    counts = tally(((error + reach) // stride for error in errors), range(len(starts)))
    return counts, [*chances, max(0.0, 1 - math.fsum(chances))]


def crowd(effort: Effort) -> Iterator[AuditFinding]:
    """A crowd of one person, over and over; who is asked; and what a report costs."""
    runs = 1500 if effort == "quick" else 60_000
    people = [open_source({"sick": [sick]}, {"sick": Boolean()}, threads=1) for sick in (True, False)]
    round_ = Round([mean(col("sick"))], share=1)
    said = [[one.crowd(epsilon=1).ask(round_)[0].value for _ in range(runs)] for one in people]
    yield told_apart("one person's answer in a crowd", said[0], said[1], epsilon=1.0)
    many = rows_of(open_source({"id": np.arange(200)}, {"id": Integer(0, 199)}, threads=1), "an audit")
    cohorts = Cohorts(many)
    asked = [int(person) for size in (50, 70, 1, 79) for person in cohorts.next(size).values(col("id"))]
    yield exact(
        "who is asked",
        "nobody twice",
        f"{len(asked)} questions to {len(set(asked))} people",
        "one person",
        len(asked) == len(set(asked)),
    )
    firsts = [int(Cohorts(many).next(1).values(col("id"))[0]) for _ in range(runs // 5)]
    yield fit("who is asked first", tally((person // 50 for person in firsts), range(4))[:4], [0.25] * 4)
    schema = Schema({"x": Integer(0, 9), "c": Category(("u", "v"))}, Unit("who", rows=3))
    several = open_source(
        {"who": ["ann", "ann", "bob"], "x": [1, 2, 3], "c": ["u", "v", "u"]}, schema, threads=1
    )
    failures, tried = [], 0
    for value in (col("x"), col("x") * 2, col("c") == "u"):
        for epsilon in (Fraction(1, 2), Fraction(3)):
            for report in several.crowd(epsilon=epsilon).questionnaire(Round([total(value)], share=1)).items:
                tried += 1
                if report.randomizer.epsilon * 3 > epsilon * (1 + Fraction(1, 10**12)) or report.rows != 3:
                    failures.append(
                        f"{value} with ε = {epsilon}: 3 rows cost {3 * report.randomizer.epsilon:g}"
                    )
    yield all_of("what a person with 3 rows is asked", "all reports together cost ε at most", failures, tried)
    item = item_of(col("x"), many_scope(), Fraction(1))
    yield exact(
        "what a report on a number costs",
        "ε = 1",
        f"ε = {item.randomizer.epsilon:.9g}",
        "any excess",
        item.randomizer.epsilon <= 1 + 1e-12,
    )


def many_scope() -> Any:
    return open_source({"x": [1]}, {"x": Integer(0, 9)}, threads=1).scope


CHECKS = (
    Check(
        "curator",
        "A curator on all small tables",
        "Counts, means, totals and choices on every table of one or two rows and every neighbour: losses "
        "are enumerated, and compared with the charge.",
        curator,
    ),
    Check(
        "answers",
        "The noise that comes out",
        "A table of many cells is as many draws: what comes out of a curator, less the truth, must follow "
        "the stated law, independently for each answer, and the same round must be answered alike.",
        answers,
    ),
    Check(
        "crowd",
        "A crowd",
        "One person's answer as a black box; nobody is asked twice; and what a person with several rows is "
        "asked costs ε in all.",
        crowd,
    ),
)
