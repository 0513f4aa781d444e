"""The collector over HTTP: what it serves, what it accepts, what it refuses, and what it keeps."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from sulq.errors import SulqError
from sulq.local.item import Item
from sulq.survey.collector import Collector
from sulq.survey.respondents import Respondents
from sulq.survey.results import results_of
from sulq.survey.server import CollectorServer, Listening
from tests.survey.surveys import EVERY_KIND, HERE, people, survey

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CollectorServer]:
    """A collector for tests that leave nothing behind which others would see."""
    with CollectorServer(survey(tmp_path_factory.mktemp("shared")), HERE) as server:
        yield server


def post(url: str, opened: dict[str, Any], link: str | None, **changes: Any) -> httpx.Response:
    """What a device whose report is "no" sends."""
    report = {"report": 1, "item": Item.of(opened["items"][0]["item"]).key, "numbers": [0]}
    form = {"reports-sent": 1, "survey": opened["survey"], "round": opened["number"]}
    return httpx.post(f"{url}/reports", json=form | {"invitation": link, "reports": [report]} | changes)


def test_people_of_every_kind_of_question_are_answered_for_within_the_error_bars(tmp_path: Path) -> None:
    """At 1 − 10⁻⁷ for each of five error bars: a false alarm in less than 10⁻⁶ of runs."""
    made = survey(tmp_path, EVERY_KIND, epsilon=40, people=600, invited=False, confidence=1 - 1e-7)
    rows = people(made, 600)
    with CollectorServer(made, HERE) as server:
        crowd = Respondents(server.url, rows, made.epsilon, gathered=200)
        assert crowd.answer() == 600
        assert crowd.outcomes == {"accepted": 600}
        results = results_of(server.collector)
        for question in results.questions:
            truth = rows.values(question.asked.item.value) if question.asked.item.value is not None else None
            if truth is None:
                groups = rows.values(question.asked.item.group)
                truth = np.eye(question.asked.item.width)[groups]
            off = np.abs(question.values - np.asarray(truth, dtype=float).mean(axis=0)).max()
            assert question.reports == 600
            assert off <= question.radius


def test_a_used_link_a_made_up_one_and_none_are_refused_and_nothing_is_counted(tmp_path: Path) -> None:
    made = survey(tmp_path)
    with CollectorServer(made, HERE) as server:
        [link, other] = server.collector.invite(2)
        opened = httpx.get(f"{server.url}/round.json").json()
        answer = post(server.url, opened, link)
        assert (answer.status_code, answer.json()) == (200, {"accepted": True})
        for token, status, refused in (
            (link, 409, "used"),
            ("made up", 403, "unknown"),
            (None, 403, "unknown"),
        ):
            answer = post(server.url, opened, token)
            assert (answer.status_code, answer.json()["refused"]) == (status, refused)
        assert list(server.collector.received(1).values()) == [1]
        assert post(server.url, opened, other).status_code == 200
        assert server.collector.refused() == {"used": 1, "unknown": 2}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"survey": "another"}, 422),
        ({"round": 7}, 410),
        ({"round": "1"}, 422),
        ({"reports": []}, 422),
        ({"reports": [{"report": 1, "item": "another", "numbers": [1]}]}, 422),
        ({"reports": [{"report": 2, "item": "another", "numbers": [1]}]}, 422),
        ({"reports": "x"}, 422),
        ({"invitation": 5}, 422),
        ({"more": 5}, 422),
        ({"reports-sent": 2}, 422),
    ],
    ids=str,
)
def test_what_is_malformed_is_refused_in_one_line_and_the_link_stays_good(
    shared: CollectorServer, changes: dict[str, Any], status: int
) -> None:
    [link] = shared.collector.invite(1)
    opened = httpx.get(f"{shared.url}/round.json").json()
    answer = post(shared.url, opened, link, **changes)
    assert answer.status_code == status
    assert "\n" not in answer.json()["why"]
    assert post(shared.url, opened, link).json() == {"accepted": True}


def test_a_report_on_all_items_twice_or_on_two_rows_is_refused(tmp_path: Path) -> None:
    with CollectorServer(survey(tmp_path), HERE) as server:
        [link] = server.collector.invite(1)
        opened = httpx.get(f"{server.url}/round.json").json()
        report = {"report": 1, "item": Item.of(opened["items"][0]["item"]).key, "numbers": [0]}
        for reports in ([report, report], [report | {"numbers": [0, 0]}], [report | {"numbers": []}]):
            assert post(server.url, opened, link, reports=reports).status_code == 422
        assert server.collector.received(1) == {}


def test_bodies_that_are_too_long_or_no_json_are_refused(shared: CollectorServer) -> None:
    assert httpx.post(f"{shared.url}/reports", content=b"x" * 300_000).status_code == 413
    for body in (b"", b"{", b"\xff", b"[" * 50_000):
        assert httpx.post(f"{shared.url}/reports", content=body).status_code == 422


def test_what_is_served_is_public_has_a_strict_policy_and_no_cookie(tmp_path: Path) -> None:
    made = survey(tmp_path, EVERY_KIND)
    with CollectorServer(made, HERE) as server:
        form = httpx.get(f"{server.url}/survey.json")
        assert form.json() == json.loads(json.dumps(made.form()))
        opened = httpx.get(f"{server.url}/round.json")
        assert opened.json()["asks"] == "all"
        assert [Item.of(entry["item"]).randomizer.form for entry in opened.json()["items"]] == [
            entry["randomizer"] for entry in opened.json()["items"]
        ]
        for answer in (form, opened, httpx.get(f"{server.url}/nothing")):
            assert answer.headers["content-security-policy"].startswith(POLICY)
            assert "set-cookie" not in answer.headers
        assert httpx.get(f"{server.url}/results").status_code == 404


def test_results_are_public_only_where_that_was_said(tmp_path: Path) -> None:
    with CollectorServer(survey(tmp_path), Listening(port=0, public_results=True)) as server:
        page = httpx.get(f"{server.url}/results")
        assert page.status_code == 200
        assert "<script" not in page.text
        assert "no reports yet" in page.text


def test_before_it_opens_and_after_it_closes_nothing_is_accepted(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    for opens, closes, state in (
        (now + timedelta(days=1), None, "waiting"),
        (None, now - timedelta(days=1), "closed"),
    ):
        folder = tmp_path / state
        folder.mkdir()
        with CollectorServer(survey(folder, opens=opens, closes=closes), HERE) as server:
            [link] = server.collector.invite(1)
            opened = httpx.get(f"{server.url}/round.json").json()
            assert (opened["state"], opened["items"]) == (state, [])
            form = {
                "reports-sent": 1,
                "survey": opened["survey"],
                "round": 1,
                "invitation": link,
                "reports": [],
            }
            assert httpx.post(f"{server.url}/reports", json=form).status_code == 410


def test_a_link_that_is_sent_by_many_at_once_counts_once(tmp_path: Path) -> None:
    with CollectorServer(survey(tmp_path), HERE) as server:
        [link] = server.collector.invite(1)
        opened = httpx.get(f"{server.url}/round.json").json()
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda: statuses.append(post(server.url, opened, link).status_code))
            for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200] + [409] * 11
        assert list(server.collector.received(1).values()) == [1]


@pytest.mark.parametrize("keeps", ["reports", "tallies"])
def test_nothing_that_is_kept_links_a_report_to_its_link(tmp_path: Path, keeps: str) -> None:
    made = survey(tmp_path, keeps=keeps)
    with CollectorServer(made, HERE) as server:
        links = server.collector.invite(30)
        crowd = Respondents(server.url, people(made, 30), made.epsilon, links, gathered=30)
        crowd.answer()
        opened = sqlite3.connect(made.store)
        kept = opened.execute("SELECT id, round, item, day, numbers FROM reports").fetchall()
        assert len(kept) == (30 if keeps == "reports" else 0)
        # A random id, in whose order they lie, and of the time the day alone.
        assert [row[0] for row in kept] == sorted(row[0] for row in kept)
        assert all(len(row[0]) == 32 and len(row[3]) == 10 for row in kept)
        assert opened.execute("SELECT COUNT(*) FROM used").fetchall() == [(30,)]
        opened.close()
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(link.encode() in everything for link in links)


def test_a_store_of_another_survey_is_refused(tmp_path: Path) -> None:
    Collector(survey(tmp_path)).close()
    with pytest.raises(SulqError, match="that of another survey, or questions, weights, epsilon"):
        Collector(survey(tmp_path, epsilon=5))


def test_beyond_this_machine_a_certificate_is_needed() -> None:
    with pytest.raises(SulqError, match="without TLS, anybody on the way"):
        Listening("0.0.0.0")
