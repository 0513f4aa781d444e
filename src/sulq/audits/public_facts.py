"""What is public and what is not: bounds, bins, numbers of rows, neighbours, changed files, and devices."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sulq.audits.attempts import refusal
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.sensitivity import cells
from sulq.oracles.curator import Curator
from sulq.privacy.coins import random_bytes
from sulq.privacy.noise import DiscreteLaplace
from sulq.queries.codes import bins, one_hot
from sulq.queries.expressions import col
from sulq.queries.query import count, mean, total
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Real, Schema, Unit
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source


def public_facts(effort: Effort) -> Iterator[AuditFinding]:
    """Bounds, bins, the number of rows, and which neighbours are meant."""
    wrong = [
        (lambda: Real(0, math.inf)),
        (lambda: Real(math.nan, 1)),
        (lambda: Real(2, 1)),
        (lambda: Schema.of({"columns": {"x": "real"}})),
        (lambda: Schema.of({"columns": {"x": {"type": "real", "low": 0}}})),
        (lambda: Schema.of({"columns": {"x": {"type": "category"}}})),
    ]
    taken = [f"case {place + 1}" for place, work in enumerate(wrong) if refusal(work) is None]
    yield all_of("missing, infinite and reversed bounds", "refused before a row is read", taken, len(wrong))
    gaps, tried = [], 0
    edges = [-1.0, 0.0, 2.5]
    for cell in (
        cells(Real(-3.7, 11.2)) + edges + [math.nextafter(edge, side) for edge in edges for side in (-9, 9)]
    ):
        source = open_source({"r": [cell]}, {"r": Real(-3.7, 11.2)}, threads=1)
        groups = [int(x) for each in source.sums(total(one_hot(bins(col("r"), edges))).parts) for x in each]
        tried += 1
        if sum(groups) * source.scope.number(total(one_hot(bins(col("r"), edges))).parts[0]).unit != 1:
            gaps.append(f"r = {cell!r} is in {sum(groups)} bins")
    yield all_of("edges of bins, and beyond", "every row is in one bin", gaps, tried)
    rows: dict[str, list[Any]] = {"who": list("aabbc"), "x": [1.0, 2, 3, 4, 5]}
    hidden = []
    for name, table in (
        ("add-remove", _curator(rows, None, "add-remove")),
        ("a unit", _curator(rows, Unit("who", rows=2), "replace")),
    ):
        offer, fewer = (
            table.offer,
            _curator(
                {"who": rows["who"][:4], "x": rows["x"][:4]},
                table.schema.unit,
                name if name == "add-remove" else "replace",
            ).offer,
        )
        if (
            offer.rows is not None
            or offer.to_json() != fewer.to_json()
            or table.ledger.facts.get("rows") is not None
        ):
            hidden.append(f"{name} tells the number of rows")
        [one] = table.ask(Round([count()], share=1))
        if table.offer.terms(Round([count()], share=1)).noises[0] is None or one.radius(0.5) == 0:
            hidden.append(f"{name}: a count of all rows without noise")
    yield all_of(
        "the number of rows, where it is not public",
        "nobody is told: not by offers, ledgers or counts",
        hidden,
        4,
    )
    round_ = Round([count(where=col("x") >= 3)], share=1)
    scales = {}
    for neighbours in ("replace", "add-remove"):
        [noise] = (
            _curator(rows, None, neighbours)
            .offer.terms(
                Round(
                    [
                        count(by=bins(col("x"), [3])),
                    ],
                    share=1,
                )
            )
            .noises
        )
        scales[neighbours] = noise.scale if isinstance(noise, DiscreteLaplace) else None
    yield exact(
        "a table of counts for one ε: replaced rows and rows that come",
        "twice the noise where a row is replaced",
        f"scales {scales['replace']} and {scales['add-remove']}",
        "any other ratio",
        scales == {"replace": 2, "add-remove": 1},
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mixed.ledger")
        first = open_source({"x": [1.0, 2]}, {"x": Real(0, 9)}, threads=1)
        first.curator(epsilon=1, ledger=path).ledger.close()
        mixed = [
            refusal(lambda: first.curator(epsilon=1, neighbours="add-remove", ledger=path)),
            refusal(lambda: first.curator(epsilon=2, ledger=path)),
            refusal(
                lambda: open_source({"x": [1.0, 2]}, {"x": Real(0, 8)}, threads=1).curator(
                    epsilon=1, ledger=path
                )
            ),
            refusal(lambda: first.curator(rho=1, ledger=path)),
        ]
    yield exact(
        "one ledger for other neighbours, budgets and bounds",
        "refused",
        ", ".join(each or "taken" for each in mixed),
        "one that is taken",
        all(mixed),
    )
    truncated = _curator(rows, None, "replace", truncate=True)
    told = [
        float(truncated.ask(Round([round_.queries[0]], share="1/1000"), f"run {run}")[0].value)
        for run in range(50)
    ]
    yield exact(
        "truncated counts of 5 rows",
        "between 0 and 5",
        f"from {min(told):g} to {max(told):g}",
        "one outside",
        min(told) >= 0 and max(told) <= 5,
    )


def _curator(rows: dict[str, Any], unit: Unit | None, neighbours: Any, truncate: bool = False) -> Curator:
    columns = {"x": Real(0, 9)}
    source: Source = open_source(rows, Schema(columns, unit), threads=1)
    return source.curator(epsilon=1, neighbours=neighbours, truncate=truncate, ledger=":memory:")


def rereading(effort: Effort) -> Iterator[AuditFinding]:
    """A file that changes while it is open, and a fork that would draw the same noise."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.csv")
        path.write_text("sick\n" + "true\nfalse\n" * 50)
        source = open_source(path, {"sick": Boolean()})
        curator = source.curator(epsilon=1)
        path.write_text("sick\n" + "true\nfalse\n" * 49 + "true\ntrue\n")
        os.utime(path, ns=(1, 1))
        changed = refusal(lambda: curator.ask(Round([count(where=col("sick"))], share="1/2")))
        again = refusal(
            lambda: (
                open_source(path, {"sick": Boolean()})
                .curator(epsilon=1)
                .ask(Round([count(where=col("sick"))], share=1), "again")
            )
        )
        curator.ledger.close()
    yield exact(
        "a file that was changed after it was opened",
        "no answer about a mixture; the charge stays",
        f"{changed or 'answered'}, and for all of the budget: {again or 'answered'}",
        "an answer",
        changed is not None and (again == "BudgetError" or changed == "SulqError"),
    )
    if not hasattr(os, "fork"):
        return
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(writer, random_bytes(16).tobytes())
        os._exit(0)
    mine, theirs = random_bytes(16).tobytes(), os.read(reader, 16)
    os.waitpid(process, 0)
    os.close(reader)
    os.close(writer)
    yield exact(
        "random bytes of a process and of its fork",
        "different",
        "the same" if mine == theirs else "different",
        "the same bytes",
        mine != theirs,
    )
    crowd = open_source({"sick": [True, False]}, {"sick": Boolean()}, threads=1).crowd(epsilon=1)
    process = os.fork()
    if process == 0:
        os._exit(0 if refusal(lambda: crowd.ask(Round([mean(col("sick"))], share=1))) else 7)
    refused = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    yield exact(
        "a survey in a fork",
        "refused: it would ask the same people twice",
        "refused" if refused else "asked",
        "an answer",
        refused,
    )


CHECKS = (
    Check(
        "public-facts",
        "Bounds, bins, rows and neighbours",
        "Bounds that are missing or infinite; gaps between bins; the number of rows; and ledgers that are "
        "opened for something else.",
        public_facts,
    ),
    Check(
        "rereading",
        "Files that change, and forks",
        "A file is changed after it was opened; a process forks.",
        rereading,
    ),
)
