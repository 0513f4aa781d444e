"""The collector is killed again and again: what it acknowledged is counted, once, and what it did not is sent again."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx

from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.reading import read_survey
from tests.effort import long

FILE = """
[survey]
title = "Bribes"
epsilon = 2
people = 1000
keeps = "reports"
[questions.paid]
kind = "yes-no"
text = "Did you ever pay a bribe?"
"""


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def started(file: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sulq", "survey", "serve", str(file), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200:
                return process
        assert process.poll() is None
        time.sleep(0.05)
    raise AssertionError("the collector did not start")


@long
def test_every_report_that_was_acknowledged_is_counted_exactly_once(tmp_path: Path) -> None:
    file, port = tmp_path / "bribes.toml", free_port()
    file.write_text(FILE, encoding="utf-8")
    made = read_survey(file)
    [asked] = items_of(made)
    people = 3000
    with Collector(made) as collector:
        links = collector.invite(people)
    waiting, acknowledged, lock = list(enumerate(links)), dict[int, str](), threading.Lock()
    done = threading.Event()

    def send() -> None:
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10)
        while not done.is_set():
            with lock:
                if not waiting:
                    return
                person, link = waiting.pop()
            report = {"report": 1, "item": asked.item.key, "numbers": [person % 3 == 0]}
            form = {"survey": made.id, "round": 1, "invitation": link, "reports": [report]}
            try:
                answer = client.post("/reports", json={"reports-sent": 1, **form})
                outcome = "accepted" if answer.status_code == 200 else answer.json()["refused"]
                with lock:
                    acknowledged[person] = outcome
            except httpx.TransportError:  # nobody knows whether it was counted: it is sent again
                with lock:
                    waiting.append((person, link))
                time.sleep(0.02)

    process = started(file, port)
    senders = [threading.Thread(target=send) for _ in range(4)]
    try:
        for sender in senders:
            sender.start()
        for _ in range(10):
            time.sleep(random.uniform(0.05, 0.5))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            with Collector(made) as collector:  # what was acknowledged by now is there
                with lock:
                    so_far = len(acknowledged)
                assert sum(collector.received(1).values()) >= so_far
            process = started(file, port)
        for sender in senders:
            sender.join()
    finally:
        done.set()
        process.kill()
        process.wait()
    # "used" means that it was counted before the answer got lost.
    assert set(acknowledged.values()) <= {"accepted", "used"}
    assert len(acknowledged) == people
    with Collector(made) as collector:
        [kept] = collector.tallies(1).values()
        assert kept.tally.reports == people
        assert kept.tally.sums.tolist() == [len(range(0, people, 3))]
        assert len(collector.reports(1, asked.item.key)) == people
