"""The console: what a form would cost, what is asked with it, and how the result is shown and had again."""

from __future__ import annotations

import re
from html import unescape

import pytest

import sulq
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.serve.schedule import Schedule
from tests.serve.console.visitors import (
    HOSTILE,
    TABLE,
    Visitor,
    text_in,
    token_in,
)
from tests.serve.services import Running


def test_a_cost_is_shown_before_anything_is_spent(service: Running, ada: Visitor) -> None:
    before = service.curator.spent
    whole = ada.post("/d/people/table/cost", page="/d/people/table", **TABLE)
    token = token_in(ada.get("/d/people/table"))
    piece = ada.send("/d/people/table/cost", headers={"hx-request": "true"}, csrf=token, **TABLE)
    for page in (whole, piece):
        assert page.status_code == 200 and "It would cost ε = 0.1 ;" in text_in(page)
        assert re.search(r"mean age: ± [0-9.]+", text_in(page)) and "count: ± " in text_in(page)
    assert "<html" in whole.text and "<html" not in piece.text
    # A smaller share is cheaper, and worse.
    error = [
        float(re.search(r"count: ± ([0-9,.]+) rows", text_in(page)).group(1).replace(",", ""))  # type: ignore[union-attr]
        for share in ("1/80", "1/8")
        for page in [ada.post("/d/people/table/cost", page="/d/people/table", **TABLE | {"share": share})]
    ]
    assert error[0] > 2 * error[1]
    assert service.curator.spent == before


def test_a_table_is_asked_once_shown_with_errors_and_had_as_files(service: Running, ada: Visitor) -> None:
    before = service.curator.spent
    fields = TABLE | {"run": "my table", "median": "age", "rate": "sick"}
    asked = ada.post("/d/people/table", **fields)
    assert asked.status_code == 303
    cost = service.curator.offer.total / 80
    assert service.curator.spent - before == cost
    address = asked.headers["location"].removeprefix("/console")
    page = ada.get(address)
    words = text_in(page)
    assert page.status_code == 200 and "paid" in words and "±" in words and "median age" in words
    assert "<svg" in page.text and " style=" not in page.text and 'scope="row"' in page.text
    again = ada.post("/d/people/table", **fields)
    assert again.headers["location"] == asked.headers["location"]
    assert ada.get(address).text == page.text
    table = ada.get(address.replace("result?", "result.csv?"))
    assert table.headers["content-disposition"] == 'attachment; filename="table.csv"'
    assert table.text.startswith("plan,count,count low,count high,count telling,mean age")
    kept = ada.get(address.replace("result?", "result.json?"))
    assert Hypothesis.from_json(kept.text).to_csv(margins=True) == table.text  # type: ignore[attr-defined]
    assert ada.get(address.replace("result?", "result.exe?")).status_code == 404
    assert service.curator.spent - before == cost
    cheap = ada.post("/d/people/table/cost", page="/d/people/table", **fields)
    assert "No cost: this was asked in this run before" in text_in(cheap)


def test_figures_within_the_noise_are_marked(ada: Visitor) -> None:
    asked = ada.post("/d/people/table", by="plan", mean="age", share="1/100000", run="noise")
    words = ada.get(asked.headers["location"].removeprefix("/console"))
    assert 'class="number quiet"' in words.text and "(within the noise)" in words.text


@pytest.mark.parametrize(
    "fields",
    [
        TABLE | {"run": "one"},
        {"by": ["sick", "plan"], "quantiles:age": "0.25, 0.75", "sum": "age", "share": "1/80", "run": 'it\'s "two"'},
        {"by": "age", "bins:age": "18, 40", "rate": "sick", "share": "0.0125", "run": "three"}
        | {"where-column": ["plan", "age", "sick"], "where-relation": ["!=", "<", "=="], "where-value": ["paid", "65", "false"]},
    ],
)  # fmt: skip
def test_the_python_of_a_result_gives_the_same_at_no_cost(
    service: Running, ada: Visitor, fields: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ada.get(ada.post("/d/people/table", **fields).headers["location"].removeprefix("/console"))
    before = service.curator.spent
    code = re.search(r"<code>(.*?)</code>", page.text, re.DOTALL).group(1)  # type: ignore[union-attr]
    monkeypatch.setenv("SULQ_KEY", ada.secret)
    names: dict[str, object] = {}
    exec(unescape(code), names)
    table = names["table"]
    assert isinstance(table, sulq.hypotheses.Tabulation)
    rows, _ = table.texts()
    assert all(cell in text_in(page) for row in rows for cell in row)
    assert service.curator.spent == before


def test_a_tree_is_learned_shown_and_learned_again_at_no_cost(
    service: Running, ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = service.curator.spent
    fields = {"label": "sick", "depth": "2", "share": "1/40", "features": ["age", "plan"]}
    price = text_in(ada.post("/d/people/tree/cost", page="/d/people/tree", **fields))
    assert "It would cost ε = 0.2 ;" in price and "how many rows" in price
    assert service.curator.spent == before
    asked = ada.post("/d/people/tree", **fields)
    spent = service.curator.spent
    assert spent - before == service.curator.offer.total / 40
    page = ada.get(asked.headers["location"].removeprefix("/console"))
    assert page.status_code == 200 and "<svg" in page.text and "rows," in text_in(page)
    monkeypatch.setenv("SULQ_KEY", ada.secret)
    names: dict[str, object] = {}
    exec(unescape(re.search(r"<code>(.*?)</code>", page.text, re.DOTALL).group(1)), names)  # type: ignore[union-attr]
    tree = names["model"]
    assert isinstance(tree, sulq.hypotheses.Tree) and tree.describe().split("\n")[0] in unescape(page.text)
    assert service.curator.spent == spent
    again = text_in(ada.post("/d/people/tree/cost", page="/d/people/tree", **fields))
    # Of several rounds only the first is known to be stored: no page says that the rest is free.
    assert "No cost" not in again and "at most ε = 0.2" in again
    csv = asked.headers["location"].replace("result?", "result.csv?").removeprefix("/console")
    assert ada.get(csv).status_code == 404


def test_looking_at_what_was_not_asked_spends_nothing(service: Running, ada: Visitor) -> None:
    before = service.curator.spent
    page = ada.get("/d/people/table/result", **TABLE, run="never")
    assert page.status_code == 404 and "not asked yet" in text_in(page)
    assert ada.get("/d/people/tree/result", label="sick", run="never").status_code == 404
    assert ada.get("/d/people/run", run="never").status_code == 404
    assert service.curator.spent == before


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"by": "nobody"}, "'nobody' is not offered here; there are: sick, age, plan"),
        ({"by": "plan", "share": "2"}, "the share must be a positive, finite number and at most 1"),
        ({"by": "plan", "share": "many"}, "the share must be"),
        ({"by": "age", "bins:age": "old"}, "must be a number, not 'old'"),
        ({"mean": "plan"}, "plan"),
        ({"quantiles:age": "7"}, "a quantile of 'age' has a level between 0 and 1, not 7.0"),
        ({"by": "plan", "where-column": "age", "where-relation": ">", "where-value": "500"}, "the same for every row"),
        ({"by": "plan", "where-column": "age", "where-relation": "~", "where-value": "5"}, "a condition has one of"),
        ({"by": "plan", "where-column": "eve", "where-relation": "==", "where-value": "5"}, "not offered here"),
        ({"by": "plan", "rows": "-5"}, "the rows to expect are a whole number"),
        ({"by": "plan", "run": "x" * 201}, "the name of a run has 1 to 200 letters"),
        ({"by": "plan", "share": "1/1000000000"}, "a round costs at least"),
        ({"by": "plan", "mean": HOSTILE}, "is not offered here"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_on_the_form(
    service: Running, ada: Visitor, fields: dict[str, str], words: str
) -> None:
    before = service.curator.spent
    for path in ("/d/people/table/cost", "/d/people/table"):
        page = ada.post(path, page="/d/people/table", **fields)
        assert page.status_code == 400 and words in text_in(page), text_in(page)
        assert HOSTILE not in page.text and "Ask, and spend it" in page.text
        if fields.get("by") == "plan":  # what was clicked is still there
            assert re.search(r'name="by" value="plan" checked', page.text)
    assert service.curator.spent == before


def test_after_the_charge_there_is_one_message(
    service: Running, ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for error in (ValueError("row 17 is odd"), MemoryError("row 18")):

        def look(*_: object, error: Exception = error) -> None:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(type(service.curator.source), "sums", look)
            pages.append(ada.post("/d/people/table", **TABLE, run=f"fails {type(error).__name__}"))
    assert [page.status_code for page in pages] == [500, 500]
    assert "row 1" not in pages[0].text + pages[1].text
    messages = [re.search(r'class="wrong"[^>]*>(.*?)</p>', page.text).group(1) for page in pages]  # type: ignore[union-attr]
    assert messages[0] == messages[1]


def test_whatever_may_look_at_rows_leaves_on_schedule(
    service: Running, ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def wait(_: Schedule, arrived: float) -> None:
        waited.append(arrived)

    monkeypatch.setattr(Schedule, "wait", wait)
    asked = ada.post("/d/people/table", **TABLE, run="on schedule")
    assert len(waited) == 1
    address = asked.headers["location"].removeprefix("/console")
    for ending in ("result?", "result.csv?", "result.json?"):
        ada.get(address.replace("result?", ending))
    assert len(waited) == 4
    ada.post("/d/people/table", by="nobody")  # refusals too
    ada.get("/d/people/tree/result", label="nobody")
    assert len(waited) == 6
