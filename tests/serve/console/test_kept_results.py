"""The console: results that are found again, also after a restart."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

import sulq
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.serve.console import results as results_module
from sulq.serve.console.results import Results
from sulq.serve.keys import Keys
from tests.serve.console.visitors import TABLE, Visitor, console, text_in, visitor
from tests.serve.services import Running


def test_an_additive_model_is_learned_drawn_with_errors_and_learned_again_at_no_cost(
    service: Running, ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = service.curator.spent
    fields = {"label": "sick", "share": "1/8", "run": "effects"}
    price = text_in(ada.post("/d/people/additive/cost", page="/d/people/additive", **fields))
    assert "It would cost ε = 1 ;" in price and service.curator.spent == before
    asked = ada.post("/d/people/additive", **fields)
    spent = service.curator.spent
    assert asked.status_code == 303 and spent - before == service.curator.offer.total / 8
    page = ada.get(asked.headers["location"].removeprefix("/console"))
    assert page.status_code == 200 and "<svg" in page.text and " style=" not in page.text
    assert all(
        words in text_in(page) for words in ("log-odds of sick", "±", "lines and bands", "plan", "age")
    )
    assert "grey: within the noise" in text_in(page)  # nothing here tells who is sick
    monkeypatch.setenv("SULQ_KEY", ada.secret)
    names: dict[str, object] = {}
    exec(unescape(re.search(r"<code>(.*?)</code>", page.text, re.DOTALL).group(1)), names)  # type: ignore[union-attr]
    model = names["model"]
    assert isinstance(model, sulq.hypotheses.AdditiveModel) and model.describe() in unescape(page.text)
    kept = ada.get(asked.headers["location"].replace("result?", "result.json?").removeprefix("/console"))
    assert Hypothesis.from_json(kept.text).describe() == model.describe()
    assert service.curator.spent == spent
    odd = ada.post("/d/people/additive", **fields | {"depth": "2"})
    assert odd.status_code == 400 and "the depth is one of left empty here" in text_in(odd)


def test_results_are_found_again_after_a_restart_at_no_cost(tmp_path: Path) -> None:
    with console(tmp_path) as service:
        ada = visitor(service)
        asked = ada.post("/d/people/table", **TABLE, run="kept")
        ada.post("/d/people/tree", label="sick", depth="1", share="1/80", run="a tree")
        before, spent = (
            ada.get(asked.headers["location"].removeprefix("/console")).text,
            service.curator.spent,
        )
    with console(tmp_path) as service:
        again, eve = visitor(service), visitor(service, "eve")
        owner = visitor(service, "ada", owner=True)  # another ada, who sees no link that is not hers
        page = again.get("/d/people")
        links = re.findall(r'href="/console([^"]*)" aria-label="result of (kept|a tree)"', page.text)
        assert [run for _, run in links] == ["a tree", "kept"]
        shown = again.get(unescape(links[1][0]))
        token = re.compile(r'value="[0-9a-f]{64}"|127.0.0.1:\d+')
        assert token.sub("", shown.text) == token.sub("", before)
        assert again.get(unescape(links[0][0])).status_code == 200
        for someone in (eve, owner):
            assert "result of" not in someone.get("/d/people").text
        assert service.curator.spent == spent


def test_runs_come_a_page_at_a_time(service: Running) -> None:
    someone = visitor(service, "busy")
    for number in range(51):
        service.curator.ledger.release(
            f"busy/run {number:02}", "how many?", Fraction(1, 10**6), lambda: "1", account="analyst:busy"
        )
    first = someone.get("/d/people")
    assert "run 49" in text_in(first) and "run 50" not in text_in(first)
    after = re.search(r'href="\?after=([^#"]*)#runs"', first.text).group(1)  # type: ignore[union-attr]
    second = someone.get("/d/people", after=unquote(after))
    assert "run 50" in text_in(second) and "run 49" not in text_in(second) and "?after=" not in second.text
    assert "There are no more runs" in text_in(someone.get("/d/people", after="z"))


def test_a_result_that_is_not_kept_harms_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_module, "MOST", 3)
    with Keys(tmp_path / "keys") as keys:
        ada, bob = keys.of(keys.add("ada")), keys.of(keys.add("bob"))
        results = Results(keys.path)
        results.keep(bob, "people", "his", "/x")
        for run in ("a", "b", "a", "c", "d"):
            results.keep(ada, "people", run, f"/{run}")
        results.keep(ada, "people", "long", "/" * (results_module.LONGEST + 1))
        assert [each.run for each in results.newest(ada, "people", 9)] == ["d", "c", "a"]
        assert results.places(bob, "people", ["his", "a"]) == {"his": "/x"}
        assert results.places(ada, "other", ["a"]) == {} and results.places(ada, "people", []) == {}
