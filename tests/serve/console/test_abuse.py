"""Hand-made abuse of the console: whatever is sent, a page says what is wrong, and nothing breaks or is spent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.console.visitors import Visitor, console, token_in, visitor
from tests.serve.services import Running

LONG = "9" * 5_000
ADDRESSES = [
    "/d/people/run?run=%ff%fe",
    "/d/people/run?run=%00",
    "/d/people/run?run=",
    "/d/people/run?run=" + "x" * 300,
    "/d/people/run?run=main&after=-5",
    "/d/people/run?run=main&after=" + LONG,
    "/d/people/run?run=main&after=x",
    "/d/people/questions?before=x",
    "/d/people/questions?before=-1",
    "/d/people/questions?before=" + "9" * 100,
    "/d/people/table?by=%ff",
    "/d/people/table?" + "by=plan&" * 6_000,
    "/d/people/table/result",
    "/d/people/table/result?by=nobody",
    "/d/people/table/result.csv?share=x",
    "/d/people/table/result.json?where-column=age",
    "/d/people/tree/result?label=age",
    "/d/%2e%2e/table",
    "/d/..%2f..%2fetc%2fpasswd",
    "/d/%00",
    "/d/people/nothing",
    "/static/%2e%2e%2fapp.py",
]
FORMS: list[dict[str, object]] = [
    {"by": "plan", "share": LONG},
    {"by": "plan", "share": "1/0"},
    {"by": "plan", "share": "nan"},
    {"by": "plan", "share": "1e-400"},
    {"by": "plan", "share": "1e999999999"},
    {"by": "age", "bins:age": "1e400"},
    {"by": "age", "bins:age": LONG},
    {"by": "age", "bins:age": ",".join(map(str, range(10_000)))},
    {"by": "age", "bins:age": "nan, inf"},
    {"quantiles:age": ",".join(["0.5"] * 5_000)},
    {"quantiles:age": "1e-300"},
    {"by": ["plan"] * 2_000},
    {"by": "plan", "run": "a\x00b"},
    {"by": "plan", "run": "\u202e"},
    {"by": "plan", "rows": LONG},
    {"by": "plan", "rows": "٣"},
    {"where-column": "age", "where-relation": ">=", "where-value": LONG},
    {"where-column": "sick", "where-relation": "<", "where-value": "true"},
    {"where-column": "plan", "where-relation": "==", "where-value": "\x00"},
    {"where-column": ["age"] * 500, "where-relation": [">="] * 500, "where-value": ["18"] * 500},
    {"label": "sick", "depth": "-1"},
    {"label": "sick", "depth": LONG},
    {"label": "sick", "features": "sick"},
    {"label": ["sick", "plan"], "features": ["age"] * 2_000},
    {"name": LONG, "cap": LONG, "every": "1", "expires": LONG, "scope": "god", "id": LONG, "seal": LONG},
    {"name": "eve", "cap": "1/0", "every": "1", "expires": "9999-99-99"},
    {"name": "*", "cap": "1e400", "every": "1", "scope": "god"},
]
PATHS = ["/d/people/table/cost", "/d/people/tree/cost", "/d/people/caps", "/d/people/verify", "/keys"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with console(tmp_path_factory.mktemp("abuse")) as service:
        yield service


@pytest.fixture(scope="module")
def olga(service: Running) -> Visitor:
    return visitor(service, "olga", owner=True)


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address[:40])
def test_no_address_breaks_a_page(service: Running, olga: Visitor, address: str) -> None:
    before = service.curator.spent
    page = olga.http.get(f"/console{address}")
    assert page.status_code < 500 and "Traceback" not in page.text
    assert service.curator.spent == before


@pytest.mark.parametrize("fields", FORMS, ids=lambda fields: str(fields)[:40])
def test_no_form_breaks_a_page(service: Running, olga: Visitor, fields: dict[str, object]) -> None:
    before, token = service.curator.spent, token_in(olga.get(""))
    for path in PATHS:
        page = olga.send(path, csrf=token, **fields)
        assert page.status_code < 500 and "Traceback" not in page.text, path
    piece = olga.send("/d/people/table/cost", headers={"hx-request": "true"}, csrf=token, **fields)
    assert piece.status_code == 200
    assert service.curator.spent == before


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"csrf=%ff", b"=&&&=", b"", b"csrf=\x00", b"csrf=" + b"a" * 10_000]
)
def test_a_body_that_is_no_form_is_refused(olga: Visitor, body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/sign-in", "/sign-out", *PATHS):
        page = olga.http.post(f"/console{path}", content=body, headers=headers)
        assert page.status_code in (400, 403)


@pytest.mark.parametrize("cookie", ["", "x", "é", "a" * 5_000, "%00", '"; path=/'])
def test_a_made_up_cookie_is_no_session(service: Running, olga: Visitor, cookie: str) -> None:
    response = olga.http.get("/console", headers={"cookie": f"sulq_session={cookie}".encode()})
    assert response.status_code == 303


def test_whatever_was_tried_made_no_owner(service: Running, olga: Visitor) -> None:
    assert [key.name for key in service.keys.list() if key.owner] == ["olga"]


def test_a_table_that_would_keep_the_service_busy_is_refused(service: Running, olga: Visitor) -> None:
    before = service.curator.spent
    edges = ",".join(str(edge / 5) for edge in range(1, 400))
    fields = {"by": ["age", "plan", "sick"], "bins:age": edges, "quantiles:age": "0.25,0.75", "share": "1/80"}
    page = olga.post("/d/people/table", **fields)
    assert page.status_code == 400 and "figures at most here" in page.text
    assert service.curator.spent == before
