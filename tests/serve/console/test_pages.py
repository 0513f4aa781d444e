"""The console: who gets in, what pages say and do not say, and what forms do."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html import unescape
from pathlib import Path

import httpx
import pytest

import sulq
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.serve.console.sessions import IDLE, LONGEST, MOST, Sessions
from sulq.serve.keys import Keys
from sulq.serve.opening import opened
from sulq.serve.refusals import RefusedError
from sulq.serve.schedule import Schedule
from tests.serve.console.visitors import HOSTILE, Visitor, console, text_in, token_in, visitor
from tests.serve.services import Running

ANALYSTS = ["", "/d/people", "/d/people/table", "/d/people/tree"]
OWNERS = ["/d/people/budget", "/d/people/questions", "/keys"]
TABLE = {"by": "plan", "mean": "age", "share": "1/80"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with console(tmp_path_factory.mktemp("console")) as service:
        yield service


@pytest.fixture(scope="module")
def ada(service: Running) -> Visitor:
    return visitor(service)


@pytest.fixture(scope="module")
def olga(service: Running) -> Visitor:
    return visitor(service, "olga", owner=True)


def nobody(service: Running) -> httpx.Client:
    return httpx.Client(base_url=service.url, timeout=60, verify=False)


@pytest.mark.parametrize("path", [*ANALYSTS, *OWNERS, "/d/people/run", "/d/people/table/result"])
def test_who_is_not_signed_in_sees_no_page(service: Running, path: str) -> None:
    with nobody(service) as browser:
        page = browser.get(f"/console{path}")
        assert (page.status_code, page.headers["location"]) == (303, "/console/sign-in")
        piece = browser.get(f"/console{path}", headers={"hx-request": "true"})
        assert (piece.status_code, piece.headers["hx-redirect"]) == (401, "/console/sign-in")


@pytest.mark.parametrize("path", OWNERS)
def test_an_analyst_does_not_see_the_owners_pages(ada: Visitor, olga: Visitor, path: str) -> None:
    assert ada.get(path).status_code == 403
    assert olga.get(path).status_code == 200


def test_an_analyst_cannot_do_what_is_the_owners(service: Running, ada: Visitor) -> None:
    token, before = token_in(ada.get("")), len(service.keys.list())
    for path in ("/keys", "/keys/revoke", "/d/people/caps", "/d/people/verify"):
        assert ada.send(path, csrf=token, name="eve", every="1", cap="8").status_code == 403
    assert len(service.keys.list()) == before


@pytest.mark.parametrize("path", [*ANALYSTS, *OWNERS, "/sign-in"])
def test_every_page_has_a_strict_policy_and_nothing_inline(olga: Visitor, path: str) -> None:
    page = olga.get(path)
    [policy] = page.headers.get_list("content-security-policy")
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "style-src 'self'" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert page.headers["cache-control"] == "no-store" and page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer" and page.headers["x-frame-options"] == "DENY"
    assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son[a-z]+=|javascript:", page.text)
    elsewhere = re.findall(r'(?:src|href|action)="(?!/console|#|\?|data:,)([^"]*)"', page.text)
    assert not elsewhere


def test_a_session_is_a_random_cookie_that_no_script_reads(service: Running) -> None:
    someone = visitor(service)
    page = someone.get("")
    assert someone.secret not in page.text and page.status_code == 200
    with nobody(service) as browser:
        first = browser.get("/console/sign-in")
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "path=/console" in cookie
        assert "secure" not in cookie  # no TLS at this machine
        before = browser.cookies["sulq_session"]
        body = {"csrf": token_in(first), "key": someone.secret}
        signed = browser.post("/console/sign-in", data=body)
        assert signed.status_code == 303 and someone.secret not in str(signed.headers)
        assert browser.cookies["sulq_session"] != before  # nobody can plant a session


def test_a_cookie_is_for_tls_alone_where_there_is_tls(tmp_path: Path) -> None:
    with console(tmp_path, server={"behind_proxy": True}) as service, nobody(service) as browser:
        assert "; secure" in browser.get("/console/sign-in").headers["set-cookie"].lower()


def test_a_wrong_key_does_not_sign_in(service: Running) -> None:
    old = service.keys.add("old", expires=datetime.now(UTC) - timedelta(seconds=1))
    for secret, words in (("sulq_x_wrong", "not known here"), (old, "has expired"), ("", "not known here")):
        with nobody(service) as browser:
            someone = Visitor(browser, secret)
            page = someone.post("/sign-in", key=secret)
            assert page.status_code == 401 and words in text_in(page)
            assert not secret or secret not in page.text
            assert someone.get("").status_code == 303


def test_signing_out_ends_the_session_also_for_a_copied_cookie(service: Running) -> None:
    someone = visitor(service)
    copied = dict(someone.http.cookies)
    assert someone.post("/sign-out", page="").headers["location"] == "/console/sign-in"
    with nobody(service) as browser:
        browser.cookies.update(copied)
        assert browser.get("/console").status_code == 303


def test_a_revoked_key_ends_its_sessions_at_once(service: Running, olga: Visitor) -> None:
    someone = visitor(service, "gone")
    assert someone.get("").status_code == 200
    [key] = [key for key in service.keys.list() if key.name == "gone"]
    assert olga.post("/keys/revoke", page="/keys", id=key.id).status_code == 303
    assert someone.get("").status_code == 303


def test_sessions_end_by_themselves(tmp_path: Path) -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    with Keys(tmp_path / "keys") as keys:
        key = keys.of(keys.add("ada"))
        idle, long = sessions.begin(key), sessions.begin(key)
        while now[0] <= LONGEST - IDLE:
            now[0] += IDLE
            assert sessions.key_of(long, keys).id == key.id
        now[0] += IDLE
        for session in (idle, long):
            with pytest.raises(RefusedError, match="sign in"):
                sessions.key_of(session, keys)
        first = sessions.begin(key)
        for _ in range(MOST):
            sessions.begin(key)
        with pytest.raises(RefusedError, match="sign in"):
            sessions.key_of(first, keys)


@pytest.mark.parametrize(
    "path",
    ["/sign-out", "/d/people/table", "/d/people/table/cost", "/d/people/tree", "/d/people/verify", "/keys",
     "/keys/revoke", "/d/people/caps", "/sign-in"],
)  # fmt: skip
def test_a_form_from_elsewhere_is_refused(service: Running, olga: Visitor, ada: Visitor, path: str) -> None:
    spent, keys = service.curator.spent, len(service.keys.list())
    good = token_in(olga.get(""))
    fields = {**TABLE, "label": "sick", "name": "eve", "every": "1", "cap": "8", "key": olga.secret}
    for token in ("", "x", token_in(ada.get("")), good[:-1]):
        page = olga.send(path, csrf=token, **fields)
        assert page.status_code == 403 and "from elsewhere" in text_in(page)
    foreign = olga.send(path, headers={"sec-fetch-site": "cross-site"}, csrf=good, **fields)
    assert foreign.status_code == 403
    as_json = olga.http.post(f"/console{path}", json={"csrf": good})
    assert as_json.status_code == 415
    assert (service.curator.spent, len(service.keys.list())) == (spent, keys)
    assert olga.get("").status_code == 200


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
    tree = names["tree"]
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


def test_a_cap_is_shown_and_holds(service: Running, olga: Visitor) -> None:
    bob = visitor(service, "bob")
    assert olga.post("/d/people/caps", page="/d/people/budget", name="bob", cap="1/20").status_code == 303
    assert "0.05 left for you" in text_in(bob.get("/d/people"))
    price = text_in(bob.post("/d/people/table/cost", page="/d/people/table", **TABLE))
    assert "more than what is left" in price
    refused = bob.post("/d/people/table", **TABLE)
    assert refused.status_code == 409 and str(
        sulq.BudgetError("epsilon", Fraction(1, 10), Fraction(1, 20))
    ) in text_in(refused)
    assert "bob" in text_in(olga.get("/d/people/budget"))
    for fields in ({"name": "bob", "cap": "-1"}, {"name": "", "cap": "1"}, {"name": "bob", "cap": "x"}):
        assert olga.post("/d/people/caps", page="/d/people/budget", **fields).status_code == 400


def test_analysts_do_not_see_each_others_runs(service: Running, ada: Visitor, olga: Visitor) -> None:
    eve = visitor(service, "eve")
    ada.post("/d/people/table", **TABLE, run="only adas")
    assert "only adas" in text_in(ada.get("/d/people"))
    assert "only adas" not in text_in(eve.get("/d/people"))
    for run in ("only adas", "ada/only adas", "../ada/only adas"):
        assert eve.get("/d/people/run", run=run).status_code == 404
        assert eve.get("/d/people/table/result", **TABLE, run=run).status_code == 404
    assert "ada/only adas" in text_in(olga.get("/d/people"))


def test_the_owner_sees_every_question_with_its_cost_and_answer(
    service: Running, ada: Visitor, olga: Visitor
) -> None:
    ada.post("/d/people/table", by="plan", share="1/80", run="seen")
    page = olga.get("/d/people/questions")
    words = text_in(page)
    assert "charged, to analyst:ada: how many rows by plan" in words
    assert "ada/seen" in words and "cost ε = 0.1" in words and "±" in words and "<svg" in page.text
    run = text_in(olga.get("/d/people/run", run="ada/seen"))
    assert "Charged ε = 0.1" in run and "how many rows by plan" in run
    while 'href="?before=' in page.text:
        before = re.search(r"\?before=(\d+)", page.text).group(1)  # type: ignore[union-attr]
        page = olga.get("/d/people/questions", before=before)
    assert "no. 1," in text_in(page) or "no. 2," in text_in(page)


def test_the_budget_is_drawn_verified_and_sealed(service: Running, ada: Visitor, olga: Visitor) -> None:
    ada.post("/d/people/table", by="sick", share="1/80", run="drawn")
    page = olga.get("/d/people/budget")
    day = datetime.now(UTC).date().isoformat()[:7]
    assert all(words in text_in(page) for words in ("by analyst", "by run", "by day", "ada/drawn", day))
    sound = olga.post("/d/people/verify", page="/d/people/budget", seal="")
    assert "The ledger is sound" in text_in(sound) and service.curator.ledger.seal in sound.text
    kept = olga.post("/d/people/verify", page="/d/people/budget", seal=service.curator.ledger.seal)
    assert "so does the seal you kept" in text_in(kept)
    wrong = olga.post("/d/people/verify", page="/d/people/budget", seal="0" * 64)
    assert "The ledger is not sound" in text_in(wrong) and "no entry has the hash" in text_in(wrong)


def test_a_new_key_is_shown_once_and_works(service: Running, olga: Visitor) -> None:
    page = olga.post("/keys", name="fred", datasets="people", expires="2999-01-01")
    secret = re.search(r'id="secret">([^<]+)<', page.text).group(1)  # type: ignore[union-attr]
    key = service.keys.of(secret)
    assert (key.name, key.scope, key.datasets) == ("fred", "analyst", ("people",))
    later = olga.get("/keys")
    assert secret not in later.text and key.id in later.text and "fred" in later.text
    for fields in (
        {"name": "a/b", "every": "1"},
        {"name": "g", "expires": "soon", "every": "1"},
        {"name": "h"},
    ):
        refused = olga.post("/keys", **fields)
        assert refused.status_code == 400 and 'id="secret"' not in refused.text
    assert olga.post("/keys/revoke", page="/keys", id=HOSTILE).status_code == 404


def test_names_that_look_like_html_are_text(tmp_path: Path) -> None:
    columns = {HOSTILE: sulq.Boolean(), "ward": sulq.Category([HOSTILE, "b"]), "x": sulq.Real(0, 1)}
    source = sulq.open({HOSTILE: [True, False], "ward": [HOSTILE, "b"], "x": [0.1, 0.2]}, columns)
    with console(tmp_path) as service:
        service.server.service.desks |= opened(service.server.settings, {"odd name": source.curator(8)})  # type: ignore[operator]
        ada, olga = visitor(service), visitor(service, "olga", owner=True)
        where = {"where-column": "ward", "where-relation": "==", "where-value": HOSTILE}
        asked = ada.post("/d/odd%20name/table", by=[HOSTILE, "ward"], mean="x", run=HOSTILE, **where)
        assert asked.status_code == 303, text_in(asked)
        pages = [
            ada.get(asked.headers["location"].removeprefix("/console")),
            *(ada.get(f"/d/odd%20name{path}") for path in ("", "/table", "/tree")),
            ada.get("/d/odd%20name/run", run=HOSTILE),
            *(olga.get(f"/d/odd%20name{path}") for path in ("", "/budget", "/questions")),
            olga.get("/keys"),
            ada.get(f"/d/{HOSTILE.replace('/', '%2F')}"),
        ]
        for page in pages:
            assert "<script>alert" not in page.text and "49" not in page.text.replace("7*7", "")[:200]
        assert all(page.status_code == 200 for page in pages[:-1])
        assert HOSTILE in text_in(pages[0])


def test_no_key_and_no_question_is_in_the_log(
    service: Running, olga: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    someone = visitor(service, "logged")
    someone.post("/d/people/table", by="plan", share="1/80", run="a secret run")
    made = olga.post("/keys", name="logged2", every="1")
    secret = re.search(r'id="secret">([^<]+)<', made.text).group(1)  # type: ignore[union-attr]
    lines = "\n".join(f"{record.getMessage()} {getattr(record, 'facts', '')}" for record in caplog.records)
    assert "/console/d/{dataset}/table" in lines
    session = someone.http.cookies["sulq_session"]
    for hidden in (someone.secret, secret, session, "a secret run", "plan"):
        assert hidden not in lines
    for page in (someone.get(""), someone.get("/d/people"), olga.get("/keys")):
        assert someone.secret not in page.text and secret not in page.text and session not in page.text


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


def test_the_page_is_the_same_whatever_the_rows_are(tmp_path: Path) -> None:
    """Before anything is asked, no page depends on a row."""
    seen = []
    for number, rows in enumerate(([1] * 50, [0] * 50)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = sulq.open({"y": rows}, {"y": sulq.Boolean()})
        with console(folder) as service:
            service.server.service.desks = opened(service.server.settings, {"data": source.curator(1)})  # type: ignore[assignment]
            ada = visitor(service)
            pages = [ada.get(f"/d/data{path}") for path in ("", "/table", "/tree")]
            pages.append(ada.post("/d/data/table/cost", page="/d/data/table", by="y"))
            token = re.compile(r'value="[0-9a-f]{64}"')
            seen.append([token.sub("", page.text) for page in pages])
    assert seen[0] == seen[1]


def test_files_of_the_pages_are_served_and_nothing_else(service: Running) -> None:
    with nobody(service) as browser:
        for name, kind in (("htmx.min.js", "javascript"), ("pico.min.css", "css"), ("console.css", "css")):
            file = browser.get(f"/console/static/{name}")
            assert file.status_code == 200 and kind in file.headers["content-type"]
        for name in ("README.md", "..%2Fapp.py", "../app.py", "nothing.css"):
            assert browser.get(f"/console/static/{name}").status_code == 404


def test_the_console_is_no_part_of_the_api(service: Running) -> None:
    with nobody(service) as browser:
        assert not any(path.startswith("/console") for path in browser.get("/openapi.json").json()["paths"])


def test_too_large_a_form_is_refused(tmp_path: Path) -> None:
    with console(tmp_path) as service:
        with nobody(service) as browser:
            token = token_in(browser.get("/console/sign-in"))
            someone = Visitor(browser, "")
            many = {f"field{number}": "x" for number in range(6_000)}
            assert someone.send("/sign-in", csrf=token, **many).status_code == 400
            assert someone.send("/sign-in", csrf=token, key="x" * 2**21).status_code == 413
        assert service.curator.spent == Fraction(0)
