"""In a notebook, what is public shows itself, escaped; nothing that depends on a row does."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.ledger.accounts import Account

EVIL = "<script>alert('1')</script>"
COLUMNS = {
    EVIL: sulq.Boolean(drop_missing=True),
    "ward": sulq.Category(["A", EVIL], trim=True, aliases={"<b>": "A"}),
    "cost": sulq.Real(0, 50_000, missing=0, thousands=",", strip="€"),
    "born": sulq.Date("1900-01-01", "2024-12-31", format="%d.%m.%Y"),
    "many": sulq.Category([str(number) for number in range(500)]),
    "person": sulq.Integer(0, 999),
}
SCHEMA = sulq.Schema(COLUMNS, sulq.Unit("person", 3))
ROUND = sulq.Round([sulq.mean("cost", where=EVIL, by="ward")], share=Fraction(1, 4))


def curator(rows: int, schema: sulq.Schema = SCHEMA) -> Any:
    rng = np.random.default_rng(rows)
    cells: dict[str, Any] = {
        EVIL: rng.random(rows) < 0.5,
        "ward": rng.choice(["A", EVIL, "?"], rows),
        "cost": rng.integers(0, 60_000, rows),
        "born": ["01.02.1980"] * rows,
        "many": ["7"] * rows,
        "person": rng.integers(0, 99, rows),
    }
    return sulq.open(cells, schema).curator(epsilon=1, ledger=":memory:")


def faces(rows: int) -> list[str]:
    asked = curator(rows)
    asked.ledger.set_cap(f"analyst:{EVIL}", Fraction(1, 2))
    asked.for_analyst(EVIL).ask(ROUND, run=EVIL)
    looked_at: list[Any] = [
        asked.schema,
        asked.offer,
        asked.offer.part(Fraction(1, 3)),
        asked,
        asked.for_analyst(EVIL),
        asked.part(Fraction(1, 4)),
        asked.ledger,
        *asked.ledger.accounts(),
    ]
    return [each._repr_html_() for each in looked_at]


class Balanced(HTMLParser):
    """Refuses what does not close as it opened, and what could run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "table", "thead", "tbody", "tr", "th", "td"}
        assert {name for name, _ in attributes} <= {"style"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("face", faces(50))
def test_names_are_escaped_and_tags_close(face: str) -> None:
    page = Balanced()
    page.feed(face)
    assert page.open == []
    assert "<script" not in face


def test_faces_are_the_same_whatever_the_rows_are() -> None:
    """But for the time: also how many rows there are is no public fact here."""
    few, many = ([re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", face) for face in faces(n)] for n in (3, 400))
    assert few == many


def test_faces_say_what_is_public() -> None:
    schema, offer, part, whole, _, _, ledger, *_ = faces(50)
    for words in (
        "a person (person), with at most 3 rows, is protected",
        "0 to 50000",
        "left out",
        "(other)",
    ):
        assert words in schema
    assert all(words in schema for words in ("thousands &quot;,&quot;", "… 489 more", "&lt;b&gt; = A"))
    assert "ε = 1 (pure)" in offer
    assert "not public" in offer
    assert "of the budget" in part
    assert "0.25 of ε = 1 spent, 0.75 left" in whole
    assert "the mean of cost by ward (where &lt;script" in ledger
    assert "the cap of analyst:&lt;script" in ledger


def test_a_public_number_of_rows_is_shown() -> None:
    schema = sulq.Schema({"sick": sulq.Boolean()})
    asked = sulq.open({"sick": [True] * 1234}, schema).curator(epsilon=1)
    assert "1,234, which is public" in asked._repr_html_()
    assert "one row is protected" in schema._repr_html_()
    assert "rules" not in schema._repr_html_(), "nothing is shown of what there is none of"


@pytest.mark.parametrize(
    "calibration",
    [
        {"rho": "0.1"},
        {"epsilon": 1, "delta": 1e-6},
        {"epsilon": 1, "calibration": "sulq-laplace", "queries": 5},
    ],
)
def test_every_budget_has_a_bar(calibration: dict[str, Any]) -> None:
    asked = sulq.open({"sick": [True] * 100}, {"sick": sulq.Boolean()}).curator(**calibration)
    assert " spent, " in asked._repr_html_()
    assert " spent, " in asked.ledger._repr_html_()


def test_an_account_shows_its_cap() -> None:
    assert "0.5 of its cap = 2 spent, 1.5 left" in Account("run:x", Fraction(1, 2), Fraction(2))._repr_html_()
    assert "none" in Account("run:x", Fraction(1, 2))._repr_html_()
    assert "width:100%" in Account("run:x", Fraction(0), Fraction(0))._repr_html_()
