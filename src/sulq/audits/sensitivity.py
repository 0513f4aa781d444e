"""How far one person moves an answer: rows are hunted that move it further than is claimed."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.queries.buckets import bucket, sign
from sulq.queries.cases import clip, where
from sulq.queries.codes import bins, cross, nearest, one_hot
from sulq.queries.expressions import col, known
from sulq.queries.logistic import logistic
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.queries.products import dot, gram, outer
from sulq.queries.query import Neighbours, Query, count, mean, total
from sulq.queries.rounds import Round, asked_of
from sulq.queries.vectors import clip_norm, features, vector
from sulq.schema import Boolean, Category, Date, Integer, Kind, Real, Schema, Unit
from sulq.sources.opening import open as open_source
from sulq.sources.rows import rows_of

Row = dict[str, Any]
Move = list[Fraction]

SCHEMA = Schema(
    {
        "r": Real(-3.7, 11.2),
        "big": Real(0, 1e9),
        "i": Integer(-5, 9),
        "b": Boolean(),
        "c": Category(("u", "v", "w")),
        "d": Category(("no", "yes"), missing="no"),
        "t": Date("2019-12-30", "2024-03-01", drop_missing=True),
    }
)
"""Bounds on both sides of 0 and on one, asymmetric ones, and columns whose missing cells are dropped."""

VALUES: dict[str, Node] = {
    "a number": col("r"),
    "a large number": col("big"),
    "a product": col("r") * col("i"),
    "a square": col("r") * col("r"),
    "a difference": col("r") - col("big") * 1e-8,
    "a clipped number": clip(col("r"), -1.3, 4),
    "a case": where(col("b"), col("r"), -col("i")),
    "a table of values": lookup(col("c"), [0.1, -2, 7, 1 / 3]),
    "a vector": vector(col("r"), col("i"), col("b")),
    "features": features("r", "i", "b"),
    "a one-hot vector": one_hot(col("c")),
    "bins": one_hot(bins(col("r"), [-1, 0, 2.5])),
    "crossed groups": one_hot(cross(col("c"), col("b"))),
    "the nearest centre": one_hot(nearest(features("r", "i"), [(0.5, 0.1), (-0.3, 0.7)])),
    "second moments": gram(features("r", "i", "b")),
    "shortened second moments": gram(clip_norm(features("r", "i", "b"), 1)),
    "a shortened vector": clip_norm(vector(col("r"), col("i"), col("big")), 2.5),
    "a vector shortened in the 1-norm": clip_norm(vector(col("r"), col("i")), 0.7, 1),
    "groups times a vector": outer(one_hot(col("c")), features("r", "i")),
    "a scalar product": dot(features("r", "i"), [0.25, -3]),
    "a logistic function": logistic(col("r") * 0.5),
    "scaled expressions": features(col("r") * col("i"), col("r") - col("big") * 1e-8),
    "a year": col("t").year(),
    "years since a date": col("t").years_at("2024-01-01"),
    "a date as a feature": features("t", "b"),
    "whether a date is known": known("t"),
    "buckets of people": one_hot(bucket("i", 4)),
    "a number by buckets": outer(one_hot(bucket("i", 2)), vector(col("r"))),
    "a signed number": sign("i", 3, 4) * col("r"),
}


def cells(kind: Kind) -> list[Any]:
    """The extremes of a column: its ends, just beyond and just within, and what is no value."""
    if isinstance(kind, Real):
        low, high = float(kind.low), float(kind.high)
        near = [math.nextafter(low, high), math.nextafter(high, low), math.nextafter(high, math.inf)]
        return [
            low,
            high,
            (low + high) / 2,
            0.0,
            -0.0,
            low - 1,
            high + 1,
            math.nan,
            math.inf,
            -math.inf,
            None,
            1e308,
            *near,
        ]
    # A date is a number of days, and so an Integer as well.
    if isinstance(kind, Date):
        ends = [
            datetime.date(2019, 12, 30),
            datetime.date(2024, 3, 1),
            datetime.date(1900, 1, 1),
            datetime.date(2100, 1, 1),
        ]
        return [*ends, datetime.date(2022, 2, 28), None]
    if isinstance(kind, Integer):
        return [kind.low, kind.high, 0, kind.low - 1, kind.high + 1, 2**62, -(2**62), None]
    if isinstance(kind, Category):
        return [*kind.values, "no such value", "", None]
    return [True, False, None]


def contributions(schema: Schema, rows: Sequence[Row], parts: Sequence[Node]) -> list[Move]:
    """What each row adds to the sums, in natural units: by the kernel, on a table of that row alone."""
    source = rows_of(
        open_source({name: [row[name] for row in rows] for name in rows[0]}, schema, threads=1), "an audit"
    )
    units = [source.scope.number(part).unit for part in parts]
    moves = []
    for place in range(len(rows)):
        sums = source.only(np.array([place])).sums(parts)
        moves.append([int(x) * unit for each, unit in zip(sums, units, strict=True) for x in each])
    return moves


def lengths(one: Move, other: Move | None = None) -> tuple[Fraction, Fraction]:
    """The 1-norm of a move and the square of its 2-norm; of the difference of two."""
    move = one if other is None else [a - b for a, b in zip(one, other, strict=True)]
    return sum(map(abs, move), Fraction(0)), sum((x * x for x in move), Fraction(0))


def hunted(
    schema: Schema, value: Node | None, queries: Sequence[Query], effort: Effort, seed: int = 7
) -> Iterator[tuple[Neighbours, Fraction, Fraction, Fraction, Fraction]]:
    """For both relations between neighbours: the longest move that was found and the longest that is claimed.

    In the 1-norm, and the square of the 2-norm. Rows are drawn from extreme cells; then the cells of the pair
    that moves the sums the furthest are changed one by one, for as long as that moves them further.

    Args:
        schema: what is public about the columns.
        value: unused but for its name in reports; None.
        queries: what is asked.
        effort: how long to hunt.
        seed: of the rows that are tried.
    """
    dice, round_ = random.Random(seed), Round(queries)
    # Rows that miss what is summed are left out.
    parts = [part for query in asked_of(round_, schema).queries for part in query.parts]
    names = {leaf.name for part in parts for leaf in part.leaves().values()}
    pools = {name: cells(schema[name]) for name in schema}
    rows = [
        {name: dice.choice(pool) for name, pool in pools.items()}
        for _ in range(30 if effort == "quick" else 300)
    ]
    for measure in (0, 1) if effort == "full" else (0,):
        for _ in range(2 if effort == "quick" else 12):
            moves = contributions(schema, rows, parts)
            pairs = (
                (lengths(a, b)[measure], i, j) for i, a in enumerate(moves) for j, b in enumerate(moves[:i])
            )
            _, i, j = max(pairs)
            best = [
                rows[i],
                rows[j],
                max(zip(moves, rows, strict=True), key=lambda each: lengths(each[0])[measure])[1],
            ]
            rows = best + [row | {name: cell} for row in best for name in names for cell in pools[name]]
            dice.shuffle(rows)
            rows = best + rows[: 45 if effort == "quick" else 400]
    moves = contributions(schema, rows, parts)
    for neighbours in ("replace", "add-remove"):
        ways: Neighbours = "replace" if neighbours == "replace" else "add-remove"
        tried = (
            [lengths(a, b) for a in moves for b in moves]
            if ways == "replace"
            else [lengths(a) for a in moves]
        )
        claims = round_.sensitivity(schema, 1, ways), round_.sensitivity(schema, 2, ways) ** 2
        yield ways, max(a for a, _ in tried), claims[0], max(b for _, b in tried), claims[1]


def compared(
    subject: str, tried: Iterator[tuple[Neighbours, Fraction, Fraction, Fraction, Fraction]]
) -> Iterator[AuditFinding]:
    """Findings of a hunt."""
    for neighbours, one, claim, square, claim_square in tried:
        root, claim_root = math.sqrt(square), math.sqrt(claim_square)
        yield exact(
            f"{subject} ({neighbours})",
            f"at most {float(claim):.9g} in the 1-norm, {claim_root:.9g} in the 2-norm",
            f"rows that move it by {float(one):.9g} and {root:.9g}",
            "any excess, by rows of extreme cells",
            one <= claim and square <= claim_square,
        )


def sensitivity(effort: Effort) -> Iterator[AuditFinding]:
    """Rows against the claims of every kind of expression."""
    for name, value in VALUES.items():
        yield from compared(f"total of {name}", hunted(SCHEMA, value, [total(value)], effort))
    rounds: dict[str, list[Query]] = {
        "a count and a mean by groups": [count(by="c"), mean(col("r"), by=["c", "b"], where=col("b"))],
        "a count of some": [count(where=(col("r") >= 0) & ~col("b"))],
        "means where cells are missing": [mean(col("t").year()), count(by=col("t").month())],
        "three totals": [total(col("r")), total(col("i")), total(col("big"))],
    }
    for name, queries in rounds.items():
        yield from compared(name, hunted(SCHEMA, None, queries, effort))


def people(effort: Effort) -> Iterator[AuditFinding]:
    """People with several rows: all rows of one are changed, and nobody else's may move."""
    most = 2
    schema = Schema({"r": Real(4, 11.2), "c": Category(("u", "v"))}, Unit("who", rows=most))
    queries = [count(by="c"), total(col("r"))]
    parts, dice = [part for query in queries for part in query.parts], random.Random(3)
    scope_units: list[Fraction] = []
    failures, tried, furthest = [], 0, Fraction(0)
    claim = Round(queries).sensitivity(schema, 1, "replace")
    alone = Round(queries).sensitivity(schema, 1, "add-remove")
    for _ in range(25 if effort == "quick" else 2000):
        others = [
            (f"p{dice.randint(1, 4)}", dice.choice(cells(schema["r"])), dice.choice(["u", "v", "x"]))
            for _ in range(8)
        ]
        tables = []
        for rows in (0, dice.randint(1, 5), dice.randint(1, 5)):
            hers = [
                ("ann", dice.choice(cells(schema["r"])), dice.choice(["u", "v", None])) for _ in range(rows)
            ]
            # Her rows stand anywhere among the others', which keep their order.
            merged: list[Any] = list(others)
            for row in hers:
                merged.insert(dice.randint(0, len(merged)), row)
            columns = list(zip(*merged, strict=True))
            source = open_source(
                {"who": list(columns[0]), "r": list(columns[1]), "c": list(columns[2])}, schema, threads=1
            )
            scope_units = [source.scope.number(part).unit for part in parts]
            sums = source.sums(parts)
            tables.append([int(x) * unit for each, unit in zip(sums, scope_units, strict=True) for x in each])
        nobody, one, other = tables
        tried += 1
        moved, added = lengths(one, other)[0], lengths(one, nobody)[0]
        furthest = max(furthest, moved)
        if moved > claim or added > alone:
            failures.append(f"a person moves the sums by {float(max(moved, added)):g}")
    yield all_of(
        f"a person with any rows, of whom {most} count",
        f"moves of {float(claim):g} and {float(alone):g} at most (furthest: {float(furthest):g})",
        failures,
        tried,
    )


def user_function(
    subject: str, node: Node, schema: Schema | Mapping[str, Kind], effort: Effort
) -> Iterator[AuditFinding]:
    """A row expression or row function of somebody else's, against the facts that it states."""
    known_schema = schema if isinstance(schema, Schema) else Schema(schema)
    make: Callable[[Node], Query] = total
    yield from compared(subject, hunted(known_schema, node, [make(node)], effort))


CHECKS = (
    Check(
        "sensitivity",
        "How far one row moves a sum",
        "Rows of extreme cells (bounds, just beyond them, NaN, infinities, nothing) are improved step by "
        "step against the claimed sensitivity of every kind of expression, in both norms and for both "
        "relations.",
        sensitivity,
    ),
    Check(
        "people",
        "How far one person moves a sum",
        "A person's rows are added, changed and put anywhere in small tables: the sums may move by what is "
        "claimed for a person, and no further.",
        people,
    ),
)
