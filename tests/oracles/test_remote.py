"""A curator elsewhere: the same hypotheses, nothing paid twice, and clear words for whatever fails on the way."""

from __future__ import annotations

import asyncio
import http.server
import json
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import sulq
import sulq.learners
import sulq.theory
from sulq.errors import AccessError, ReleaseError, RemoteError
from sulq.learners.learner import Learner
from sulq.oracles.remote_http import Connection
from sulq.oracles.remote_key import VARIABLE
from sulq.plans.watching import Watched
from tests.serve.services import Curators, curators

ROWS = 3_000
SCHEMA = {
    "a": sulq.Boolean(),
    "b": sulq.Boolean(),
    "c": sulq.Boolean(),
    "x": sulq.Real(0, 1),
    "z": sulq.Real(0, 1),
    "y": sulq.Boolean(),
}
SICK = sulq.Round([sulq.count(where="a")], "1/80")


def columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    bits = rng.random((3, ROWS)) < 0.6
    reals = rng.random((2, ROWS))
    y = bits[0] & bits[1]
    return {"a": bits[0], "b": bits[1], "c": bits[2], "x": reals[0], "z": reals[1], "y": y}


def people() -> sulq.Source:
    return sulq.open(columns(), SCHEMA)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curators]:
    with curators(tmp_path_factory.mktemp("server")) as server:
        yield server


def test_cost_and_error_are_known_without_asking(server: Curators, monkeypatch: pytest.MonkeyPatch) -> None:
    curator = people().curator(epsilon=8)
    remote = server.connect(curator)
    monkeypatch.setattr(Connection, "send", None)
    assert remote.cost(SICK) == curator.cost(SICK)
    assert remote.error(SICK, 0.05) == curator.error(SICK, 0.05)


def test_a_run_that_cannot_be_paid_to_its_end_is_refused_before_it_begins(server: Curators) -> None:
    curator = people().curator(epsilon=1)
    remote = server.connect(curator)
    remote.ask(sulq.Round([sulq.count(where="a")], "3/4"))
    tree = sulq.ID3("y", ["a", "b"], depth=2, share="1/2")
    with pytest.raises(sulq.BudgetError, match=r"exceeds what is left, 0\.25"):
        tree.learn(remote)
    assert curator.spent == Fraction(3, 4)


def test_parts_of_a_remote_budget_are_kept(server: Curators) -> None:
    curator = people().curator(epsilon=1)
    whole = server.connect(curator)
    tenth = whole.part("1/10")
    tenth.ask(sulq.Round([sulq.count(where="a")], 1))
    assert curator.spent == Fraction(1, 10) and tenth.remaining == 0 and whole.remaining == Fraction(9, 10)
    with pytest.raises(sulq.BudgetError):
        tenth.ask(sulq.Round([sulq.count(where="b")], 1))
    with pytest.raises(sulq.BudgetError):
        whole.part("19/20")
    assert curator.spent == Fraction(1, 10)


class Flaky(httpx.BaseTransport):
    """Loses every request, or every response, that `loses` says."""

    def __init__(self, loses: Callable[[int], str]) -> None:
        self._inner = httpx.HTTPTransport()
        self._loses = loses
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        lost = self._loses(self.sent)
        if lost == "request":
            raise httpx.ConnectError("connection refused", request=request)
        response = self._inner.handle_request(request)
        if lost == "response":
            response.read()
            response.close()
            raise httpx.RemoteProtocolError("server disconnected without sending a response", request=request)
        return response


def flaky(remote: sulq.Remote, loses: Callable[[int], str]) -> Flaky:
    connection = remote.book.connection
    transport = Flaky(loses)
    connection.http._transport = transport
    connection.http._mounts = {}
    return transport


@pytest.mark.parametrize("lost", ["request", "response"])
def test_what_was_lost_on_the_way_is_asked_again_and_charged_once(server: Curators, lost: str) -> None:
    curator = people().curator(epsilon=8)
    remote = server.connect(curator)
    transport = flaky(remote, lambda sent: lost if sent % 3 else "")
    tree = sulq.ID3("y", ["a", "b", "c"], depth=2, share="1/2").learn(remote)
    assert transport.sent > 6 and curator.spent == 4
    flaky(remote, lambda sent: "")
    assert sulq.ID3("y", ["a", "b", "c"], depth=2, share="1/2").learn(remote).to_json() == tree.to_json()
    assert curator.spent == 4


def test_a_run_goes_on_after_its_connection_was_lost_for_good(server: Curators) -> None:
    curator = people().curator(epsilon=8)
    remote = server.connect(curator, patience=0)
    learner = sulq.ID3("y", ["a", "b", "c"], depth=2, share="1/2")
    flaky(remote, lambda sent: "response" if sent >= 4 else "")
    with pytest.raises(RemoteError, match=r"cannot reach http://127.*goes on from there"):
        learner.learn(remote)
    assert 0 < curator.spent <= 4
    other = learner.learn(server.connect(curator))  # the same run, over another connection
    flaky(remote, lambda sent: "")
    assert learner.learn(remote).to_json() == other.to_json() and curator.spent <= 4
    charges = [entry for entry in curator.ledger.entries() if entry.kind == "charge"]
    assert len({(entry.run, entry.question) for entry in charges}) == len(charges)


def test_refusals_are_the_errors_that_they_are_in_process(
    server: Curators, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = people()
    curator = source.curator(epsilon=1)
    curator.ledger.set_cap("analyst:ada", Fraction(1, 2))
    remote = server.connect(curator)
    assert remote.remaining == Fraction(1, 2)
    dear = sulq.Round([sulq.count(where="a")], "3/4")
    with pytest.raises(sulq.BudgetError) as refused:
        remote.ask(dear)
    with pytest.raises(sulq.BudgetError) as same:
        curator.for_analyst("ada").ask(dear)
    assert str(refused.value) == str(same.value) and refused.value.account == "analyst:ada"
    function = sulq.row_function(lambda rows: rows["x"], ["x"], 0, 1)
    with pytest.raises(sulq.QueryError, match="a Python function can only be asked about in the process"):
        remote.ask(sulq.Round([sulq.total(function)], "1/80"))
    monkeypatch.setattr(source, "sums", None)
    with pytest.raises(ReleaseError):
        remote.ask(SICK)
    monkeypatch.undo()
    spent = curator.spent
    remote.ask(SICK)
    assert curator.spent == spent


def test_a_key_that_is_not_valid_is_told_in_clear_words(server: Curators) -> None:
    url, keys = server.server.url, server.server.service.keys
    with pytest.raises(AccessError, match="is not known here"):
        sulq.connect(url, "sulq_0_0")
    secret = keys.add("bob")
    keys.revoke(keys.of(secret).id)
    with pytest.raises(AccessError, match="was revoked: ask the owner"):
        sulq.connect(url, secret)
    with pytest.raises(RemoteError, match="no data set 'elsewhere' for this key"):
        sulq.connect(url, server.secret, "elsewhere")


def test_a_data_set_need_not_be_named_if_there_is_one(tmp_path: Path) -> None:
    with curators(tmp_path) as server:
        with pytest.raises(RemoteError, match="Give dataset=, one of: none"):
            sulq.connect(server.server.url, server.secret)
        server.connect(people().curator(epsilon=1))
        assert sulq.connect(server.server.url, server.secret).promise == "ε = 1 (pure)"
        server.connect(people().curator(epsilon=1))
        with pytest.raises(RemoteError, match="one of: people-0, people-1"):
            sulq.connect(server.server.url, server.secret)


def test_a_key_comes_from_the_environment_or_a_file_that_is_ones_own(
    server: Curators, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.connect(people().curator(epsilon=1))
    url, [name, *_] = server.server.url, server.server.service.desks
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(AccessError, match=r"give key=, set SULQ_KEY, or write it into .*keys\.toml"):
        sulq.connect(url, dataset=name)
    file = tmp_path / "sulq" / "keys.toml"
    file.parent.mkdir()
    file.write_text(f'"{url}" = "{server.secret}"\n')
    file.chmod(0o644)
    with pytest.raises(AccessError, match="chmod 600"):
        sulq.connect(url, dataset=name)
    file.chmod(0o600)
    assert sulq.connect(f"{url}/", dataset=name).promise
    file.write_text('"https://elsewhere" = "x"\n')
    monkeypatch.setenv(VARIABLE, server.secret)
    assert sulq.connect(url, dataset=name).promise


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://sulq_5f0c_secret@curator.example", "has no key"),
        ("https://curator.example/?key=sulq_5f0c_secret", "has no key"),
        ("http://curator.example", "in the clear"),
        ("ftp://curator.example", "begins with https://"),
        ("curator.example", "begins with https://"),
        ("https://", "begins with https://"),
        ("https://host:port", "is a text"),
        (7, "is a text"),
    ],
)
def test_an_address_that_would_give_a_key_away_is_refused(url: Any, words: str) -> None:
    with pytest.raises(RemoteError, match=words) as refused:
        sulq.connect(url, "sulq_5f0c_secret")
    assert "secret" not in str(refused.value)


@contextmanager
def impostor(status: int, headers: dict[str, str], body: str) -> Iterator[str]:
    """Something that answers everything in the same way."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


CURATOR = {"sulq-api": "1"}


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (200, {}, "<html>", "is not a curator of sulq"),
        (404, {}, "", "is not a curator of sulq"),
        (301, {"location": "http://127.0.0.1:1/"}, "", "is not a curator of sulq"),
        (200, {"sulq-api": "2"}, "{}", "speaks version 2, and this sulq speaks version 1: update sulq"),
        (200, CURATOR, '{"offer": {"offer": 2}}', "offer of version 2.*update sulq"),
        (200, CURATOR, "{}", "is not understood"),
        (200, CURATOR, "[NaN]", "cannot be read"),
        (500, CURATOR, "[]", "failed"),
        (503, CURATOR, '{"error": {"code": "closing", "message": "shutting down"}}', "shutting down"),
    ],
)
def test_what_is_no_curator_or_a_newer_one_is_told_in_clear_words(
    status: int, headers: dict[str, str], body: str, words: str
) -> None:
    with impostor(status, headers, body) as url, pytest.raises(RemoteError, match=words) as refused:
        sulq.connect(url, "sulq_5f0c_secret", "people", patience=0)
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)


def test_the_twin_that_is_awaited_does_the_same(server: Curators) -> None:
    curator = people().curator(epsilon=8)
    remote = server.connect(curator)
    name = remote.book.connection.dataset
    learner: Learner[Any] = sulq.ID3("y", ["a", "b", "c"], depth=2, share="1/2")
    here = learner.learn(remote)

    async def twin() -> tuple[Any, list[Any], Any]:
        async with await sulq.connect_async(server.server.url, server.secret, name) as waited:
            there = await learner.learn_async(waited)
            with pytest.raises(sulq.BudgetError):
                await learner.learn_async(waited, "another")
                await learner.learn_async(waited, "a third")
            with pytest.raises(sulq.SulqError, match="no column 'nobody'"):
                await waited.ask(sulq.Round([sulq.count(where="nobody")], "1/8"))
            several = await asyncio.gather(
                *(waited.ask(SICK, "main") for _ in range(3)), return_exceptions=True
            )
            return there, several, await waited.standing()

    there, several, standing = asyncio.run(twin())
    assert there.to_json() == here.to_json()
    assert standing.spent == curator.spent and standing.remaining == curator.remaining
    assert len({type(each) for each in several}) == 1


def test_what_is_asked_can_be_watched(server: Curators) -> None:
    watched = Watched(server.connect(people().curator(epsilon=8)))
    watched.ask(SICK)
    watched.ask(SICK)
    first, again = watched.asked
    assert (first.charged, again.charged, first.cost) == (Fraction(1, 10), 0, Fraction(1, 10))
    assert first.left == Fraction(79, 10)


def test_a_key_is_in_no_text_of_the_oracle(server: Curators) -> None:
    remote = server.connect(people().curator(epsilon=8))
    assert server.secret not in repr(remote)
    with pytest.raises((TypeError, sulq.SulqError)):
        pickle.dumps(remote)


def test_json_of_the_api_is_what_programs_without_sulq_can_write(server: Curators) -> None:
    """What docs/serve.md shows with curl."""
    remote = server.connect(people().curator(epsilon=8))
    name = remote.book.connection.dataset
    question = json.loads(json.dumps({"round": SICK.form, "run": "by hand"}))
    response = httpx.post(
        f"{server.server.url}/v1/datasets/{name}/ask",
        json=question,
        headers={"authorization": f"Bearer {server.secret}"},
    )
    assert response.json()["answers"][0]["value"] == remote.ask(SICK, "by hand")[0].value
