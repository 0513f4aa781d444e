"""How schemas, offers, curators and ledgers look in a notebook: pieces of HTML, and kinds in words.

A face shows public facts only: what was declared, what was promised and what was spent. Colours are the
page's own, so that it can be read on light and on dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Protocol

from sulq.dates import Date
from sulq.kinds import Boolean, Category, Integer, Kind, Real, drops
from sulq.numbers import amount

SYMBOLS = {"epsilon": "ε", "rho": "ρ", "queries": "queries"}
SPENT = "#0072b2"
LINE = "1px solid rgba(128,128,128,.35)"
SOFT = "opacity:.7"
MOST_VALUES = 12
"""So many values of a category, and so many of its aliases, are listed."""
SHORT = 24
"""Cells of so few letters are not broken into lines."""
MOST_ROWS = 200
"""So many rows of a table are shown."""


def face(title: str, *blocks: str) -> str:
    """What a notebook shows of an object: a title, and blocks of HTML below each other.

    >>> face("a <b>", "")
    '<div style="line-height:1.4;max-width:60em"><div style="font-weight:600">a &lt;b&gt;</div></div>'
    """
    heading = f'<div style="font-weight:600">{escape(title)}</div>'
    return f'<div style="line-height:1.4;max-width:60em">{heading}{"".join(blocks)}</div>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what there is to say of each, in two columns."""
    rows = (
        f'<tr style="background:none"><td style="text-align:left;padding:.1em 1em .1em 0;{SOFT}">'
        f'{escape(name)}</td><td style="text-align:left;padding:.1em 0">{escape(words)}</td></tr>'
        for name, words in pairs
    )
    return f'<table style="border:none;margin:.4em 0"><tbody>{"".join(rows)}</tbody></table>'


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table.

    Args:
        headings: what stands above the columns.
        rows: the cells.
        numbers: the places of the columns that stand to the right.

    >>> "<td" in grid(["run"], [["<script>"]]), "<script>" in grid(["run"], [["<script>"]])
    (True, False)
    """

    def row(tag: str, cells: Sequence[str]) -> str:
        written = []
        for place, cell in enumerate(cells):
            side = "right" if place in numbers else "left"
            style = f"text-align:{side};vertical-align:top;padding:.15em 1em .15em 0;border-bottom:{LINE}"
            style += ";white-space:nowrap" if len(cell) <= SHORT else ""
            written.append(f'<{tag} style="{style}">{escape(cell)}</{tag}>')
        return f'<tr style="background:none">{"".join(written)}</tr>'

    body = "".join(row("td", cells) for cells in rows[:MOST_ROWS])
    more = len(rows) - MOST_ROWS
    below = f'<div style="{SOFT}">{more:,} more are not shown.</div>' if more > 0 else ""
    table = f"<thead>{row('th', headings)}</thead><tbody>{body}</tbody>"
    whole = f'<table style="border-collapse:collapse;margin:.4em 0">{table}</table>'
    return f'<div style="overflow-x:auto">{whole}</div>{below}'


def bar(spent: Fraction, total: Fraction, unit: str) -> str:
    """What is spent of a budget and what is left: as a bar, and in words.

    >>> "0.25 of ε = 1 spent, 0.75 left" in bar(Fraction(1, 4), Fraction(1), "epsilon")
    True
    """
    part = min(1.0, float(spent / total)) if total else 1.0
    budget = (
        f"{amount(total)} queries" if unit == "queries" else f"{SYMBOLS.get(unit, unit)} = {amount(total)}"
    )
    words = f"{amount(spent)} of {budget} spent, {amount(total - spent)} left"
    inside = f'<div style="width:{math.ceil(1000 * part) / 10:g}%;height:100%;background:{SPENT}"></div>'
    outside = f"width:16em;max-width:100%;height:.7em;border:{LINE};border-radius:.35em;overflow:hidden"
    return f'<div style="margin:.4em 0"><div style="{outside}">{inside}</div>{escape(words)}</div>'


def columns_grid(columns: Mapping[str, Kind]) -> str:
    """The columns of a schema: what a row could hold, and how it is read."""
    rows = [
        [name, kind.type, could_hold(kind), missing_becomes(kind), rules_of(kind)]
        for name, kind in columns.items()
    ]
    headings = ["column", "kind", "what a row could hold", "missing becomes", "rules"]
    if not any(row[-1] for row in rows):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    return grid(headings, rows)


class Protected(Protocol):
    """A schema, of which it is said who is protected."""

    @property
    def protected(self) -> str: ...


class Offered(Protocol):
    """What is offered before anything is spent: see `sulq.talk.offer.Offer`."""

    @property
    def promise(self) -> str: ...
    @property
    def schema(self) -> Protected: ...
    @property
    def neighbours(self) -> str: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def allowance(self) -> Fraction: ...


def offered(offer: Offered) -> list[tuple[str, str]]:
    """What is offered, in words: names, and what there is to say of each."""
    change = "exchanged for any other" if offer.neighbours == "replace" else "there or not"
    allowance = offer.allowance
    return [
        ("promise", offer.promise),
        ("protected", offer.schema.protected.removesuffix(",")),
        ("neighbours", f"{offer.neighbours}: what is protected may be {change}"),
        ("rows", "not public" if offer.rows is None else f"{offer.rows:,}, which is public"),
        *([("part", f"{amount(allowance)} of the budget")] if allowance != 1 else []),
    ]


def could_hold(kind: Kind) -> str:
    """What a row could hold, in words.

    >>> could_hold(Integer(0, 120)), could_hold(Category(["a", "b"]))
    ('0 to 120', 'a, b, (other)')
    """
    if isinstance(kind, Boolean):
        return "true, false"
    if isinstance(kind, Category):
        return _some(kind.levels)
    if isinstance(kind, Date):
        return f"{kind.first} to {kind.last}"
    return f"{kind.low:g} to {kind.high:g}"


def missing_becomes(kind: Kind) -> str:
    """What a missing cell becomes, in words.

    >>> missing_becomes(Real(0, 1)), missing_becomes(Real(0, 1, drop_missing=True))
    ('0.5', 'left out')
    """
    if drops(kind):
        return "left out"
    if isinstance(kind, Category) and kind.missing is None:
        return kind.levels[-1]
    if isinstance(kind, Date):
        return str(kind.settings()["missing"])
    return f"{kind.missing:g}" if isinstance(kind, Real | Integer) else str(kind.missing).lower()


def rules_of(kind: Kind) -> str:
    """The rules by which cells are read, in words; "" if there are none.

    >>> rules_of(Category(["f", "m"], trim=True, aliases={"F": "f"}))
    'trim; F = f'
    """
    given = kind.settings()
    words = [name for name in ("trim", "fold_case") if given.get(name)]
    words += [
        f'{name} "{given[name]}"' for name in ("thousands", "decimal", "strip", "format") if name in given
    ]
    if isinstance(kind, Category) and kind.aliases:
        words.append(_some([f"{spelling} = {value}" for spelling, value in dict(kind.aliases).items()]))
    return "; ".join(words)


def _some(values: Sequence[str]) -> str:
    more = [f"… {len(values) - MOST_VALUES:,} more"] if len(values) > MOST_VALUES else []
    return ", ".join([*values[:MOST_VALUES], *more])
