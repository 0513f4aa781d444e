"""Whatever is sent: no failure of the server, no traceback, nothing spent, and it goes on listening."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from fractions import Fraction
from typing import Any

import httpx
import pytest
from starlette.requests import Request

import sulq
from tests.effort import either
from tests.serve.console.visitors import token_in, visitor
from tests.serve.services import Client, Running, code, counted, running
from tests.waiting import wait_until

SICK = counted(where="sick").form
LIMITS = {
    "body": 20_000,
    "seconds": 1,
    "queries": 20,
    "numbers": 5_000,
    "rounds_a_minute": 10**6,
    "connections": 20,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), limits=LIMITS) as service:
        yield service


@pytest.fixture(scope="module")
def ada(service: Running) -> Client:
    return service.client("ada")


@pytest.fixture(autouse=True)
def unharmed(service: Running, ada: Client, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """After every test nothing is spent, nothing failed, and the server listens."""
    before = service.curator.spent
    with caplog.at_level(logging.INFO, logger="sulq.serve"):
        yield
    assert service.curator.spent == before and service.server.service.traffic.at_once == 0
    assert ada.get("/healthz").status_code == 200
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "Traceback" not in caplog.text and ada.secret not in caplog.text
    assert not [record for record in caplog.records if record.getMessage() == "failed"]


def nested(depth: int) -> Any:
    node: Any = {"node": "column", "name": "sick"}
    for _ in range(depth):
        node = {"node": "not", "inner": node}
    return node


def where(node: Any) -> dict[str, Any]:
    return SICK | {"queries": [SICK["queries"][0] | {"where": node}]}


def column(name: Any) -> dict[str, Any]:
    return {"node": "column", "name": name}


BODIES: dict[str, str | bytes] = {
    "nothing": "",
    "no JSON": "{",
    "a list": "[]",
    "a number": "7",
    "null": "null",
    "text": '"ask"',
    "NaN": '{"round": NaN}',
    "infinity": '{"round": {"round": 1, "queries": [], "share": Infinity}}',
    "a huge exponent": '{"round": {"round": 1, "queries": [], "share": 1e999}}',
    "a key twice": json.dumps({"round": SICK})[:-1] + ', "round": {}}',
    "a key twice inside": json.dumps({"round": SICK}).replace('"share"', '"round": 1, "share"'),
    "no UTF-8": b'{"round": "\xff\xfe"}',
    "a lone surrogate": '{"round": {}, "run": "\\ud800"}',
    "a null letter": '{"round": {}, "run": "a\\u0000b"}',
    "UTF-16": json.dumps({"round": SICK}).encode("utf-16"),
    "very deep lists": "[" * 10_000 + "]" * 10_000,
    "very deep objects": '{"a":' * 3_000 + "1" + "}" * 3_000,
    "a deep expression": json.dumps({"round": where(nested(150))}),
    "too long": json.dumps({"round": SICK, "run": "x" * 30_000}),
    "a long run": json.dumps({"round": SICK, "run": "x" * 300}),
    "an empty run": json.dumps({"round": SICK, "run": ""}),
    "a run of another type": json.dumps({"round": SICK, "run": 7}),
    "more than is known": json.dumps({"round": SICK, "key": "x"}),
    "no round": json.dumps({"run": "main"}),
    "another version": json.dumps({"round": {"round": 2}}),
    "version true": json.dumps({"round": SICK | {"round": True}}),
    "no queries": json.dumps({"round": SICK | {"queries": []}}),
    "queries of another type": json.dumps({"round": SICK | {"queries": {"a": 1}}}),
    "too many queries": json.dumps({"round": SICK | {"queries": SICK["queries"] * 21}}),
    "an unknown query": json.dumps({"round": SICK | {"queries": [{"query": "__class__"}]}}),
    "a share above one": json.dumps({"round": SICK | {"share": "2"}}),
    "a share below zero": json.dumps({"round": SICK | {"share": "-1"}}),
    "a share of nothing": json.dumps({"round": SICK | {"share": "1/0"}}),
    "a share with a long exponent": json.dumps({"round": SICK | {"share": "1e-99999999"}}),
    "a share that is a float": json.dumps({"round": SICK | {"share": 0.1}}),
    "an allowance above one": json.dumps({"round": SICK, "allowance": "3/2"}),
    "an allowance of another type": json.dumps({"round": SICK, "allowance": 1}),
    "an allowance with many digits": json.dumps({"round": SICK, "allowance": f"1/{'9' * 9_000}"}),
    "a column that is not there": json.dumps({"round": where(column("nobody"))}),
    "a column of another type": json.dumps({"round": where(column({"$gt": ""}))}),
    "a path": json.dumps({"round": where(column("../../etc/passwd"))}),
    "a Python function": json.dumps(
        {"round": where({"node": "function", "columns": ["sick"], "serial": "0" * 32})}
    ),
    "a huge integer": '{"round": '
    + json.dumps(where({"node": "constant", "constant": 7})).replace(
        '"constant": 7', '"constant": ' + "9" * 5_000
    )
    + "}",
    "a huge float": json.dumps({"round": where({"node": "constant", "constant": 1e308})}),
    "a wide question": json.dumps(
        {"round": SICK | {"queries": [SICK["queries"][0] | {"by": [column("age")] * 4}]}}
    ),
    "a wide route": json.dumps(
        {"round": where({"node": "route", "attributes": [column("sick")], "steps": [[0]], "size": 2**26})}
    ),
    "an enormous class": json.dumps(
        {"round": SICK | {"queries": [{"query": "pick", "hypotheses": {"class": "parities"}}]}}
    ),
}


@pytest.mark.parametrize("path", ["ask", "quote"])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_makes_no_sense_is_refused(service: Running, ada: Client, name: str, path: str) -> None:
    body = BODIES[name]
    content = body.encode() if isinstance(body, str) else body
    response = ada.http.post(
        f"/v1/datasets/people/{path}", content=content, headers={"content-type": "application/json"}
    )
    status, what = code(response)
    assert status in (400, 413) and what in ("malformed", "refused", "too_large"), response.text
    assert len(response.content) < 2_000


@pytest.mark.parametrize(
    "media", ["", "text/plain", "application/xml", "multipart/form-data; boundary=x", "json"]
)
def test_a_body_is_json_and_says_so(ada: Client, media: str) -> None:
    headers = {"content-type": media}
    response = ada.http.post("/v1/datasets/people/ask", content=json.dumps({"round": SICK}), headers=headers)
    assert code(response) == (415, "media_type")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/datasets/../keys",
        "/v1/datasets/..%2f..%2fetc%2fpasswd",
        "/v1/datasets/%2e%2e/people",
        "/v1/datasets/people%00",
        "/v1/datasets/people/",
        "/v1//datasets",
        "/v1/datasets/people/ask/ask",
        "/v1/datasets/PEOPLE",
        "/v1/datasets/%ff%fe",
        "/v1/datasets/" + "x" * 5_000,
        "/v2/datasets",
        "/.git/config",
        "/docs",
        "//",
    ],
)
def test_a_path_leads_nowhere_else(ada: Client, path: str) -> None:
    response = ada.get(path)
    assert response.status_code in (403, 404) and code(response)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_a_method_that_is_not_there_is_refused(ada: Client, method: str) -> None:
    assert code(ada.http.request(method, "/v1/datasets/people")) == (405, "method")


@pytest.mark.parametrize(
    "params",
    [
        {"after": "-1"},
        {"after": "9" * 400},
        {"after": "1.5"},
        {"most": "0"},
        {"most": "1001"},
        {"most": "all"},
        {"run": ""},
        {"run": "x" * 300},
    ],
)
def test_parameters_are_held_to_their_ranges(ada: Client, params: dict[str, str]) -> None:
    status, what = code(ada.get("/v1/datasets/people/results", **params))
    assert status == 400 and what in ("malformed", "refused")


def test_charges_of_every_denominator_do_not_add_up_to_ever_more_digits(service: Running) -> None:
    """Not spent here, but priced: in exact fractions every new prime would make all later sums longer."""
    offer = service.curator.offer
    spent = sum(
        (offer.cost(counted(f"1/{prime}", where="sick")) for prime in range(10_007, 12_007, 2)), Fraction(0)
    )
    assert len(str(spent.denominator)) < 100
    for prime in (53, 10_007):
        assert prime * offer.cost(counted(f"1/{prime}", where="sick")) <= offer.total


@pytest.mark.parametrize("path", ["ask", "quote"])
def test_what_is_too_wide_is_refused_before_memory_is_taken_for_it(ada: Client, path: str) -> None:
    wide = SICK | {"queries": [SICK["queries"][0] | {"by": [column("age")] * 3}]}
    refused = ada.post(f"/v1/datasets/people/{path}", {"round": wide})
    # By the expression itself, and not once its bounds were worked out.
    assert code(refused) == (400, "refused") and "too many to answer at once; at most 5000" in refused.text


def test_nobody_fills_the_ledger_for_nothing(service: Running, ada: Client) -> None:
    before = len(list(service.curator.ledger.entries()))
    free = sulq.Round([sulq.count()])
    for run in ("one", "another"):
        [answer] = ada.ask(free, run).json()["answers"]
        assert answer["value"] == service.curator.offer.rows
    tiny = ada.ask(counted("1/100001", where="sick"))
    assert code(tiny) == (400, "refused") and "at least 1/100000 of the budget" in tiny.text
    assert len(list(service.curator.ledger.entries())) == before


def raw(service: Running, *lines: str, body: bytes = b"") -> bytes:
    """What comes back on a socket."""
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    with socket.create_connection(("127.0.0.1", service.server.settings.port), timeout=10) as link:
        link.sendall(head + body)
        received = b""
        with suppress(TimeoutError, ConnectionError):
            while piece := link.recv(65536):
                received += piece
        return received


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: -1"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: gzip"],
        ["Content-Length: 99999999999999999999"],
        ["Authorization: Bearer x", "Authorization: Bearer y"],
        ["Authorization: Basic eDp5"],
        ["Authorization:"],
        ["Authorization: Bearer " + "x" * 70_000],
        ["X-Forwarded-For: 127.0.0.1", "X-Original-URL: /v1/keys"],
        ["Bad Header: x"],
        ["X: a\x00b"],
    ],
)
def test_tricks_with_headers_open_nothing(service: Running, headers: list[str]) -> None:
    start = ["POST /v1/datasets/people/ask HTTP/1.1", "Host: x", "Content-Type: application/json"]
    received = raw(service, *start, *headers, "Connection: close", body=b"{}")
    status = int(received.split(b" ", 2)[1]) if received else 400
    assert 400 <= status < 500, received[:200]


def test_a_body_that_does_not_come_is_given_up(service: Running, ada: Client) -> None:
    start = ["POST /v1/datasets/people/ask HTTP/1.1", "Host: x", "Content-Type: application/json"]
    received = raw(
        service,
        *start,
        f"Authorization: Bearer {ada.secret}",
        "Content-Length: 100",
        "Connection: close",
        body=b'{"ro',
    )
    assert b" 408 " in received and b"too_slow" in received


def test_a_head_that_does_not_come_is_given_up(service: Running) -> None:
    for start in (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "):
        with socket.create_connection(("127.0.0.1", service.server.settings.port), timeout=10) as link:
            link.sendall(start)
            with suppress(ConnectionError):
                assert link.recv(100) == b""
    # Also where it is the second on a connection.
    with socket.create_connection(("127.0.0.1", service.server.settings.port), timeout=10) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in link.recv(1000)
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
        with suppress(ConnectionError):
            while link.recv(1000):
                pass


def test_there_are_only_so_many_connections(service: Running, ada: Client) -> None:
    with ExitStack() as opened:
        address = ("127.0.0.1", service.server.settings.port)
        links = [opened.enter_context(socket.create_connection(address, timeout=10)) for _ in range(30)]
        with suppress(ConnectionError):
            assert links[-1].recv(100) == b""
    wait_until(lambda: len(service.server._listener._server.server_state.connections) <= 10)


def test_a_body_in_pieces_is_cut_off_at_the_limit(
    service: Running, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    stream = Request.stream

    async def counted_stream(self: Request) -> AsyncIterator[bytes]:
        async for piece in stream(self):
            kept.append(len(piece))
            yield piece

    monkeypatch.setattr(Request, "stream", counted_stream)
    with suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        response = ada.http.post(
            "/v1/datasets/people/ask",
            content=(b" " * 1_000 for _ in range(10_000)),
            headers={"content-type": "application/json"},
        )
        assert code(response) == (413, "too_large")
    assert LIMITS["body"] < sum(kept) < 1_000_000


def test_trying_keys_opens_nothing_and_is_not_remembered(service: Running) -> None:
    with httpx.Client(base_url=service.url, verify=False) as thief:
        for attempt in range(either(60, 300)):
            guess = f"sulq_{attempt:08x}_{'A' * 43}"
            response = thief.get("/v1/datasets", headers={"authorization": f"Bearer {guess}"})
            assert code(response) == (401, "key_unknown")
    assert service.server.service.traffic._buckets.keys() <= {key.id for key in service.keys.list()}


def test_so_many_requests_and_not_more(service: Running, ada: Client) -> None:
    limits = service.server.service.traffic
    key = service.keys.of(ada.secret).id
    before = limits._buckets.get(key)
    try:
        limits._buckets[key] = (0.0, limits._clock() + 3600)
        response = ada.quote(counted(where="sick"))
        assert code(response) == (429, "too_many") and int(response.headers["retry-after"]) >= 1
    finally:
        limits._buckets.pop(key)
        if before is not None:
            limits._buckets[key] = before


def test_an_owner_of_some_data_sets_cannot_make_a_key_for_all(service: Running) -> None:
    some = service.client("part-owner", owner=True, datasets=["people"])
    assert some.get("/v1/datasets/people/ledger").status_code == 200
    before = len(service.keys.list())
    mine = some.secret.split("_")[1]
    for refused in (
        some.get("/v1/keys"),
        some.post("/v1/keys", {"name": "eve", "scope": "owner"}),
        some.http.delete(f"/v1/keys/{mine}"),
    ):
        assert code(refused) == (403, "not_allowed")
    visiting = visitor(service, "part-owner", owner=True, datasets=["people"])
    token = token_in(visiting.get(""))
    assert (
        visiting.get("/d/people/budget").status_code == 200 and "/console/keys" not in visiting.get("").text
    )
    assert visiting.get("/keys").status_code == visiting.get("/keys/revoke", id=mine).status_code == 403
    assert visiting.send("/keys", csrf=token, name="eve", every="1").status_code == 403
    assert visiting.send("/keys/revoke", csrf=token, id=mine).status_code == 403
    assert len(service.keys.list()) == before + 1 and service.keys.still(mine)


@pytest.mark.parametrize("run", ["a\nb", "\x1b[31mred", "a\0b", "\u202etxt", "\x7f", "\x9b31m"])
def test_the_name_of_a_run_cannot_command_a_terminal(service: Running, run: str) -> None:
    ada = service.client("ada")
    for response in (ada.ask(counted(where="sick"), run), ada.quote(counted(), run)):
        assert code(response) == (400, "refused") and "can be printed" in response.text
    assert ada.quote(counted(where="sick"), "Ärzte – 医者 ✓ 50 %").status_code == 200
