"""Known attacks that are no law and no ledger: each is tried here, as it was tried on others."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.sensitivity import SCHEMA, VALUES, cells
from sulq.oracles.curator import Curator
from sulq.queries.expressions import col
from sulq.queries.functions import row_function
from sulq.queries.query import count, mean, total
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Real
from sulq.sources.opening import open as open_source


def refusal(work: Callable[[], Any]) -> str | None:
    """The name of the error that something raises; None if it works."""
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return None


def floating_point(effort: Effort) -> Iterator[AuditFinding]:
    """Are all answers possible whatever the truth is, and are sums exact?"""
    answers: list[set[Fraction]] = []
    for value in (0.1, 0.7):
        curator = open_source({"x": [value, 0.3]}, {"x": Real(0, 1)}, threads=1).curator(
            epsilon=10**6, ledger=":memory:"
        )
        [part] = total(col("x")).parts
        unit = curator.offer.scope.number(part).unit
        told = [
            curator.ask(Round([total(col("x"))], share="1/100000"), f"run {run}")[0].value
            for run in range(300)
        ]
        answers.append({Fraction(float(each)) / unit % 1 for each in told})
    yield exact(
        "answers in steps of their public grid",
        "whole numbers of steps, whatever the truth is",
        f"{len(answers[0] | answers[1])} kinds of last digits",
        "any digit below the grid",
        answers[0] | answers[1] == {Fraction(0)},
    )
    dice = random.Random(5)
    numbers = [dice.choice([1e9, 1e-9, 0.1, 1 / 3, -1e9, 5e8 + 2**-20]) * dice.random() for _ in range(3000)]
    parts = total(col("x") * col("x")).parts, total(col("x")).parts
    wanted = None
    failures, tried = [], 0
    for order, threads in itertools.product(range(4 if effort == "quick" else 40), (1, 2)):
        shuffled = list(numbers)
        random.Random(order).shuffle(shuffled)
        source = open_source({"x": shuffled}, {"x": Real(-1e9, 1e9)}, threads=threads)
        sums = [int(x) for some in parts for each in source.sums(some) for x in each]
        wanted, tried = wanted or sums, tried + 1
        if sums != wanted:
            failures.append(f"order {order} with {threads} threads")
    yield all_of("sums in any order and number of threads", "the same integers", failures, tried)
    singles = [
        [
            int(x)
            for some in parts
            for each in open_source({"x": [number]}, {"x": Real(-1e9, 1e9)}, threads=1).sums(some)
            for x in each
        ]
        for number in numbers[:40]
    ]
    table = [
        int(x)
        for some in parts
        for each in open_source({"x": numbers[:40]}, {"x": Real(-1e9, 1e9)}, threads=1).sums(some)
        for x in each
    ]
    yield exact(
        "a sum over rows of very different sizes",
        "the sum of each row's own integer",
        "equal" if [sum(column) for column in zip(*singles, strict=True)] == table else "not equal",
        "one unit in the last place",
        [sum(column) for column in zip(*singles, strict=True)] == table,
    )


def errors(effort: Effort) -> Iterator[AuditFinding]:
    """Does any cell raise an error, or make an answer that is no number?"""
    failures, tried = [], 0
    plain = {name: cells(SCHEMA[name])[0] for name in SCHEMA}
    for name in SCHEMA:
        for cell in cells(SCHEMA[name]):
            rows = [plain, plain | {name: cell}]
            for value in list(VALUES.values())[:: 1 if effort == "full" else 6]:
                tried += 1
                try:
                    source = open_source(
                        {each: [row[each] for row in rows] for each in SCHEMA}, SCHEMA, threads=1
                    )
                    [answer] = source.curator(epsilon=1, ledger=":memory:").ask(
                        Round([total(value)], share=1)
                    )
                    if not np.isfinite(answer.value).all():
                        failures.append(f"{name} = {cell!r}: an answer that is no number")
                except Exception as error:
                    failures.append(f"{name} = {cell!r}: {type(error).__name__}")
    yield all_of(
        "cells of every kind, also NaN, infinities and nothing", "no error, and an answer", failures, tried
    )
    # A function of the asker's own that fails on some rows, or leaves its bounds.
    nasty = row_function(
        lambda rows: np.where(rows["x"] > 50, np.nan, rows["x"] * 1e12), ["x"], low=0, high=1
    )
    loud = row_function(lambda rows: np.where(rows["x"] > 50, np.inf, -np.inf), ["x"], low=0, high=1)
    sums = []
    for function, number in itertools.product((nasty, loud), (10.0, 90.0)):
        source = open_source({"x": [number]}, {"x": Real(0, 100)}, threads=1)
        curator = source.curator(epsilon=1, ledger=":memory:")
        sums.append(refusal(partial(curator.ask, Round([total(function)], share=1))))
        facts = source.scope.number(total(function).parts[0])
        inside = [
            int(low) <= int(x) <= int(high)
            for each in source.sums(total(function).parts)
            for x, low, high in zip(each, facts.low, facts.high, strict=True)
        ]
        sums.append(None if all(inside) else "leaves its bounds")
    yield exact(
        "functions that fail on some rows, or leave their bounds",
        "clipped, with no error",
        ", ".join(each or "no error" for each in sums),
        "an error that depends on a row",
        not any(sums),
    )


def _asked(curator: Curator, round_: str, run: str) -> Any:
    return curator.ask(Round.from_json(round_), run)


def free_paths(effort: Effort) -> Iterator[AuditFinding]:
    """Is anything told for nothing?"""
    looked: list[str] = []
    source = open_source({"x": [1.0, 2.0], "b": [True, False]}, {"x": Real(0, 9), "b": Boolean()}, threads=1)

    class Watching:
        def __getattr__(self, name: str) -> Any:
            if name in ("sums", "values", "only"):
                looked.append(name)
            return getattr(source, name)

    curator = source.curator(epsilon=1, ledger=":memory:")
    curator.source = Watching()  # type: ignore[assignment]
    round_ = Round([mean(col("x"), where=col("b")), count(by="b")], share="1/2")
    for free in (
        curator.cost,
        lambda asked: curator.error(asked, 0.05),
        curator.charged,
        curator.afford,
        curator.kept,
    ):
        free(round_)
    _ = (
        curator.promise,
        curator.remaining,
        curator._repr_html_(),
        curator.offer.to_json(),
        repr(curator.offer),
    )
    yield exact(
        "costs, errors, offers and pictures of a curator",
        "no look at the rows",
        f"{len(looked)} looks, {curator.spent} spent",
        "one look",
        not looked and curator.spent == 0,
    )
    form = json.loads(round_.to_json())
    taken = []
    for change in (
        {"weight": "0"},
        {"weight": "-1"},
        {"weight": "1e-400"},
        {"weight": "nan"},
        {"tolerance": "0"},
    ):
        tampered = json.loads(json.dumps(form))
        tampered["queries"][0] |= change
        before = curator.spent
        refused = refusal(partial(_asked, curator, json.dumps(tampered), str(change)))
        if refused is None and curator.spent == before:
            taken.append(str(change))
    for share in ("0", "-1", "2", "1e-400"):
        before = curator.spent
        tampered = form | {"queries": [count(where=col("b")).form], "share": share}
        refused = refusal(partial(_asked, curator, json.dumps(tampered), f"share {share}"))
        taken.extend([f"share {share}"] if refused is None and curator.spent == before else [])
    yield all_of("questions of no weight, no share, or a negative one", "refused, or charged", taken, 9)
    left = refusal(
        lambda: [curator.ask(Round([count(where=col("b"))], share="1/3"), f"again {run}") for run in range(9)]
    )
    yield exact(
        "asking until nothing is left",
        "a refusal, and all of the budget spent at most",
        f"{left}, {curator.spent} spent",
        "an answer beyond",
        left == "BudgetError" and curator.spent <= 1,
    )


CHECKS = (
    Check(
        "floating-point",
        "Floating point, precision and order",
        "Last digits of answers; sums in any order, with any threads; and rows of very different sizes.",
        floating_point,
    ),
    Check(
        "errors",
        "Errors that depend on a row",
        "Every kind of cell in every column under every kind of question, and functions that fail on some "
        "rows.",
        errors,
    ),
    Check(
        "free-paths",
        "Answers for nothing",
        "Costs, errors, offers and pictures; questions of no weight or share; and asking until nothing is "
        "left.",
        free_paths,
    ),
)
