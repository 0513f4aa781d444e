"""Which rules would mend the cells that cannot be read: proposals for the owner, who decides.

A rule that is chosen after a look at the rows is a fact about the rows. The owner should ask of each proposal
whether it is public knowledge how such cells are written, as it mostly is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa

from sulq.dates import Date
from sulq.kinds import Category, Integer, Real
from sulq.sources.cells import days, numbers

NUMERALS: tuple[dict[str, str], ...] = (
    {},
    {"thousands": ","},
    {"decimal": ","},
    {"thousands": ".", "decimal": ","},
    {"thousands": " "},
    {"thousands": " ", "decimal": ","},
    {"thousands": "'"},
    {"thousands": "’"},
)
"""How numbers are written; of several that read the same cells, the first is proposed."""
FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d", "%d.%m.%y", "%d %b %Y")
"""How dates are written; of several that read the same cells, the first is proposed."""
SIGNS = "€$£¥%"
CLOSE = 0.75
"""How alike two spellings are that may mean the same, from 0 to 1."""


def numeral_rules(
    kind: Real | Integer, unread: Mapping[str, int], read: Iterable[str]
) -> tuple[dict[str, str], int]:
    """The rules by which most cells are numbers, and how many more than now.

    Args:
        kind: the column.
        unread: texts that are not numbers now, with how often each occurs.
        read: some texts that are, each of which must stay one.

    >>> numeral_rules(Real(0, 9), {"1,234.50": 7, "$3": 1, "?": 2}, ["12"])
    ({'thousands': ',', 'strip': '$'}, 8)
    """
    signs = "".join(sign for sign in SIGNS if any(sign in text for text in unread))
    strips: list[dict[str, str]] = [{}, {"strip": signs}] if signs else [{}]
    cells, many = pa.array(list(unread), pa.large_string()), np.array(list(unread.values()), dtype=np.int64)
    kept = pa.array(list(read), pa.large_string())
    best: tuple[dict[str, str], int] = ({}, 0)
    for rules in ({**numeral, **strip} for strip in strips for numeral in NUMERALS):
        settings: dict[str, Any] = {"thousands": None, "decimal": ".", "strip": "", **rules}
        rewritten = replace(kind, **settings)
        gained = int(many[~np.isnan(numbers(rewritten, cells))].sum())
        lost = np.isnan(numbers(rewritten, kept)).any()
        if gained > best[1] and not lost:
            best = rules, gained
    return best


def date_rules(kind: Date, unread: Mapping[str, int], read: Iterable[str]) -> dict[str, str]:
    """The format by which most texts are dates, unless a text that is one now would be none.

    >>> date_rules(Date("2000-01-01", "2009-12-31"), {"31.12.2001": 3, "x": 1}, [])
    {'format': '%d.%m.%Y'}
    """
    cells, many = pa.array(list(unread), pa.large_string()), np.array(list(unread.values()), dtype=np.int64)
    kept, best, most = pa.array(list(read), pa.large_string()), {}, 0
    for format in FORMATS:
        rewritten = Date(kind.first, kind.last, format=format)
        gained = int(many[~np.isnan(days(rewritten, cells))].sum())
        if gained > most and not np.isnan(days(rewritten, kept)).any():
            best, most = {"format": format}, gained
    return best


def category_rules(kind: Category, unlisted: Iterable[str]) -> dict[str, Any]:
    """The rules by which spellings that are not listed would be.

    >>> sex = Category(["female", "male"])
    >>> category_rules(sex, ["Female", " male", "F", "fem.", "femael", "other"])
    {'trim': True, 'fold_case': True, 'aliases': {'F': 'female', 'fem.': 'female', 'femael': 'female'}}
    """
    rules: dict[str, Any] = {}
    aliases: dict[str, str] = {}
    folded = {value.strip().casefold(): value for value in kind.values}
    for spelling in unlisted:
        bare = spelling.strip()
        if bare.casefold() in folded:
            rules |= {"trim": True} if bare != spelling else {}
            rules |= {"fold_case": True} if bare not in kind.values else {}
            continue
        initials = [value for value in kind.values if _shortened(bare, value)]
        close = get_close_matches(bare.casefold(), folded, n=1, cutoff=CLOSE)
        if len(initials) == 1:
            aliases[bare] = initials[0]
        elif close:
            aliases[bare] = folded[close[0]]
    if len(folded) < len(kind.values):
        rules.pop("fold_case", None)
    return {rule: True for rule in ("trim", "fold_case") if rule in rules} | (
        {"aliases": aliases} if aliases else {}
    )


def _shortened(spelling: str, value: str) -> bool:
    """Whether a spelling is how a value begins: with one letter, or with several and perhaps a point."""
    start = spelling.removesuffix(".").casefold()
    return bool(start) and start != value.casefold() and value.casefold().startswith(start)


def as_toml(rules: Mapping[str, Any]) -> tuple[str, ...]:
    """Rules as lines of a schema.

    >>> as_toml({"trim": True, "aliases": {"F": "female"}})
    ('trim = true', 'aliases = { "F" = "female" }')
    """
    return tuple(f"{name} = {_toml(value)}" for name, value in rules.items())


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
