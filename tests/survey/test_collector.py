"""What a collector keeps: batches as a whole or not at all, each link once, sums that add up; also in Postgres."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest

from sulq.errors import SulqError
from sulq.survey import accepting
from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.database import LOGGED, CommitLostError, PostgresDatabase, database_at
from sulq.survey.file import SurveyFile
from sulq.survey.intake import Intake
from sulq.survey.kept import Sent, token_hash
from sulq.survey.reading import read_survey
from sulq.survey.respondents import Respondents
from sulq.survey.server import CollectorProcesses, Listening
from tests.effort import either, long
from tests.postgres import PostgresServer
from tests.survey.surveys import EVERY_KIND, people, sent_by, survey


@pytest.fixture(params=["sqlite", "postgres"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SurveyFile]:
    """A survey that asks everything, in either store."""
    if request.param == "sqlite":
        yield survey(tmp_path, EVERY_KIND, keeps="reports")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    yield survey(tmp_path, EVERY_KIND, keeps="reports", store=server.url())


def posts(collector: Collector, many: int) -> list[Sent]:
    """What the devices of so many people send."""
    from sulq.local.device import Device

    rows = people(collector.survey, many)
    links = collector.invite(many)
    asked = items_of(collector.survey)
    drawn = [Device(rows, each.item.epsilon).report(each.item).form()["numbers"] for each in asked]
    keys = [each.item.key for each in asked]
    return [
        Sent(1, token_hash(link), tuple(zip(keys, reports, strict=True)))
        for link, *reports in zip(links, *drawn, strict=True)
    ]


def test_batches_of_any_size_and_order_add_up_to_the_same(made: SurveyFile) -> None:
    with Collector(made) as collector, Collector(made) as other:
        sent = posts(collector, 60)
        for start in range(0, 60, 7):
            where = collector if start % 2 else other
            assert set(where.accept(sent[start : start + 7])) == {"accepted"}
        assert set(collector.accept(sent)) == {"used"}
        for place, asked in enumerate(items_of(made)):
            expected = asked.item.randomizer.tally([each.reports[place][1] for each in sent], asked.item.key)
            kept = collector.tallies(1)[asked.item.key]
            assert kept.tally == expected
            assert int(kept.profile.sum()) == 60
            assert len(other.reports(1, asked.item.key)) == 60
        assert sum(collector.arrivals(1).values()) == 60
        assert collector.refused() == {"used": 60}


def test_a_batch_that_fails_is_undone_and_its_links_stay_good(
    made: SurveyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector(made) as collector:
        sent = posts(collector, 5)

        def fails(*_: Any) -> None:
            raise OSError

        with monkeypatch.context() as patched:
            patched.setattr(accepting, "add_reports", fails)
            with pytest.raises(OSError):
                collector.accept(sent)
        assert collector.received(1) == {}
        assert collector.accept(sent) == ["accepted"] * 5


def test_two_collectors_accept_a_link_once_between_them(made: SurveyFile) -> None:
    with Collector(made) as one, Collector(made) as two:
        sent = posts(one, 40)
        outcomes: list[list[str]] = []

        def accept(collector: Collector) -> None:
            batches = (sent[start : start + 4] for start in range(0, 40, 4))
            outcomes.extend(list(collector.accept(batch)) for batch in batches)

        threads = [threading.Thread(target=accept, args=(each,)) for each in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        flat = [each for batch in outcomes for each in batch]
        assert (flat.count("accepted"), flat.count("used")) == (40, 40)
        assert set(one.received(1).values()) == {40}


def test_the_same_link_twice_in_a_batch_counts_once(tmp_path: Path) -> None:
    made = survey(tmp_path)
    with Collector(made) as collector:
        [asked] = items_of(made)
        [link] = collector.invite(1)
        sent = Sent(1, token_hash(link), ((asked.item.key, 1),))
        assert collector.accept([sent, sent]) == ["accepted", "used"]


def test_in_an_open_survey_what_a_device_drew_lets_it_send_again_without_being_counted_twice(
    tmp_path: Path,
) -> None:
    made = survey(tmp_path, invited=False)
    with Collector(made) as collector:
        [asked] = items_of(made)
        named, nameless = (Sent(1, token, ((asked.item.key, 1),)) for token in (token_hash("drawn"), None))
        assert collector.accept([named]) == ["accepted"]
        assert collector.accept([named, nameless, nameless]) == ["used", "accepted", "accepted"]
        assert list(collector.received(1).values()) == [3]


def test_if_the_store_fails_everybody_who_shared_the_commit_is_told(tmp_path: Path) -> None:
    def fails(_: Any) -> Any:
        raise OSError

    async def main() -> list[Any]:
        intake = Intake(fails)
        try:
            waiting = (intake.submit(Sent(1, None, ())) for _ in range(3))
            return await asyncio.gather(*waiting, return_exceptions=True)
        finally:
            intake.close()

    told = asyncio.run(main())
    assert [type(each) for each in told] == [SulqError] * 3
    assert "send again in a minute" in str(told[0])


def test_what_may_have_been_counted_is_not_counted_again() -> None:
    batches: list[int] = []

    def lost(sent: Any) -> Any:
        batches.append(len(sent))
        raise CommitLostError("the database did not say")

    async def main() -> list[Any]:
        intake = Intake(lost)
        try:
            waiting = [intake.submit(Sent(1, None, ())) for _ in range(50)]
            return await asyncio.gather(*waiting, return_exceptions=True)
        finally:
            intake.close()

    told = asyncio.run(main())
    assert [type(each) for each in told] == [SulqError] * 50
    assert sum(batches) == 50


def test_a_collector_reads_and_writes_again_after_its_database_was_restarted(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with Collector(survey(tmp_path, store=postgres.url())) as collector:
        database = collector._database
        assert isinstance(database, PostgresDatabase)
        [asked] = items_of(collector.survey)

        def cut() -> None:
            with psycopg.connect(database._address.url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", (database._connection.info.backend_pid,))

        cut()
        assert collector.open_round() is not None  # or else no device would ever be asked again
        cut()
        assert sent_by(collector, asked, [1]) == ["accepted"]
        cut()
        assert list(collector.received(1).values()) == [1]


def test_a_commit_that_the_database_did_not_confirm_is_said_to_be_lost(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with Collector(survey(tmp_path, store=postgres.url())) as collector:
        database = collector._database
        assert isinstance(database, PostgresDatabase)
        with pytest.raises(CommitLostError), database.transaction(write=True):
            database.run("INSERT INTO refusals VALUES ('used', 1)")
            with psycopg.connect(database._address.url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", (database._connection.info.backend_pid,))
        assert collector.refused() == {}


@pytest.mark.parametrize("keeps", ["tallies", "reports"])
def test_one_copy_of_the_files_does_not_tell_in_which_order_people_were_counted(
    tmp_path: Path, keeps: str
) -> None:
    with Collector(survey(tmp_path, keeps=keeps)) as collector:
        [asked] = items_of(collector.survey)
        for report in (1, 1, 0, 1):
            assert sent_by(collector, asked, [report]) == ["accepted"]
        log, file = (tmp_path / f"bribes.reports{ending}" for ending in ("-wal", ""))
        until = time.monotonic() + 60 * LOGGED  # a busy machine is no failure
        while log.stat().st_size and time.monotonic() < until:
            time.sleep(0.05)
        assert log.stat().st_size == 0
        # Of the sums only the last ones are there: those in between would tell single reports.
        assert set(re.findall(rb"\[(?:1|2|3|4)\]", file.read_bytes())) <= {b"[3]", b"[4]"}
        hashes = [token.encode() for (token,) in collector._database.all("SELECT hash FROM used")]
        assert all(each in file.read_bytes() for each in hashes)


def test_the_log_is_emptied_once_nobody_reads_it_any_more(tmp_path: Path) -> None:
    """Nobody hears that a report was not kept meanwhile."""
    with Collector(survey(tmp_path)) as collector, closing(reader(tmp_path)) as reading:
        [asked] = items_of(collector.survey)
        log = tmp_path / "bribes.reports-wal"
        assert sent_by(collector, asked, [1]) == ["accepted"]
        reading.execute("BEGIN")
        reading.execute("SELECT * FROM tallies").fetchall()
        assert sent_by(collector, asked, [1, 0]) == ["accepted"] * 2
        time.sleep(2 * LOGGED)
        assert log.stat().st_size > 0
        reading.execute("COMMIT")
        until = time.monotonic() + 60 * LOGGED
        while log.stat().st_size and time.monotonic() < until:
            time.sleep(0.05)
        assert log.stat().st_size == 0


def reader(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "bribes.reports", isolation_level=None)


def test_collectors_that_make_a_file_at_the_same_time_do_not_refuse_each_other(tmp_path: Path) -> None:
    """As a server and a learner that are started together."""
    many, tries = 4, either(25, 250)
    together = threading.Barrier(many, timeout=20)

    def make(number: int) -> None:
        for place in range(tries):
            together.wait()
            database = database_at(str(tmp_path / f"{place}.reports"))
            with database.transaction(write=True):
                database.run("CREATE TABLE IF NOT EXISTS t (x)")
            database.close()

    with ThreadPoolExecutor(many) as threads:
        list(threads.map(make, range(many)))


def test_a_database_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "bribes.reports"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE books (title TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(SulqError, match="is not what a collector keeps: name another file as store"):
        Collector(survey(tmp_path))
    assert path.read_bytes() == before


def test_what_one_person_sent_does_not_stop_the_others() -> None:
    def picky(sent: Any) -> Any:
        if any(each.token == "bad" for each in sent):
            raise OSError
        return ["accepted"] * len(sent)

    async def main() -> list[Any]:
        intake = Intake(picky)
        try:
            waiting = (intake.submit(Sent(1, token, ())) for token in ("good", "bad", "good"))
            return await asyncio.gather(*waiting, return_exceptions=True)
        finally:
            intake.close()

    first, failed, last = asyncio.run(main())
    assert (first, last) == ("accepted", "accepted")
    assert isinstance(failed, SulqError)


def test_several_processes_need_a_store_in_postgres(tmp_path: Path) -> None:
    with pytest.raises(SulqError, match="name one in Postgres"):
        CollectorProcesses(survey(tmp_path), Listening(port=0), workers=2)


@long
def test_several_processes_collect_together_and_one_that_is_killed_is_replaced(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    file = tmp_path / "bribes.toml"
    paid = '[questions.paid]\nkind = "yes-no"\ntext = "Did you?"\n'
    about = f'title = "x"\nepsilon = 4\npeople = 100\nstore = "{postgres.url()}"\n'
    file.write_text(f"[survey]\n{about}{paid}", encoding="utf-8")
    made = read_survey(file)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "sulq",
        "survey",
        "serve",
        str(file),
        "--port",
        str(port),
        "--workers",
        "2",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url)
        with Collector(made) as collector:
            links = collector.invite(200)
            crowd = Respondents(url, people(made, 200), made.epsilon, links)
            crowd.answer(most=100)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(children[-1]), signal.SIGKILL)
            _wait_for(url)
            while crowd.left:  # a connection to whoever was killed is lost; the link is then tried again
                with suppress(httpx.TransportError):
                    crowd.answer(most=20)
            [(used,)] = collector._database.all("SELECT COUNT(*) FROM used")
            assert 100 + crowd.outcomes["accepted"] // 2 <= used <= 200
            assert collector.received(1) == {items_of(made)[0].item.key: used}
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str) -> None:
    for _ in range(600):
        with suppress(httpx.TransportError):
            httpx.get(f"{url}/healthz").raise_for_status()
            return
        time.sleep(0.1)
    raise AssertionError("nobody listens")


def test_wide_reports_and_large_sums_are_kept_exactly(tmp_path: Path) -> None:
    wide = {"which": {"kind": "one-of", "text": "?", "choices": [str(number) for number in range(500)]}}
    made = survey(tmp_path, wide, epsilon=5)
    with Collector(made) as collector:
        [asked] = items_of(made)
        drawn = asked.item.randomizer.sample(np.arange(200)).tolist()
        sent_by(collector, asked, drawn[:150])
        sent_by(collector, asked, drawn[150:])
        assert collector.tallies(1)[asked.item.key].tally == asked.item.randomizer.tally(
            drawn, asked.item.key
        )
