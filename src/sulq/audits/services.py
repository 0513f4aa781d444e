"""A whole service as a black box, over HTTP: answers, refusals, keys and times."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

from sulq.audits.black_box import told_apart
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact, not_tried
from sulq.oracles.curator import Curator
from sulq.queries.expressions import col
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Integer
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source

ROUND = Round([count(where=col("sick"))], share=Fraction(1, 10**4))
"""Of a budget of ε = 10,000: ε = 1 an answer."""
MISSING = "it needs what `pip install 'sulq[serve]'` brings"
LATE, FIRST = 0.04, 0.15
"""Seconds that a slow source takes longer, and the first time at which answers leave."""


def _is_installed() -> bool:
    return all(importlib.util.find_spec(name) for name in ("fastapi", "httpx", "uvicorn"))


def _curator(sick: bool, slow: bool = False) -> Curator:
    source = open_source(
        {"sick": [sick, True, False], "age": [30, 40, 50]},
        {"sick": Boolean(), "age": Integer(0, 100)},
        threads=1,
    )
    opened: Source = _Slow(source) if slow else source
    return opened.curator(epsilon=10**4, ledger=":memory:")


class _Slow(Source):
    """A table that takes longer to add up if somebody is sick."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        super().__init__(inner.schema)

    @property
    def rows(self) -> int:
        return int(self.inner.rows)

    def sums(self, parts: Any) -> Any:
        time.sleep(LATE)
        return self.inner.sums(parts)


@contextmanager
def _running(first: float, **curators: Curator) -> Iterator[tuple[Any, Any]]:
    """Clients of a service: one with a key, and one without."""
    from tempfile import TemporaryDirectory

    import httpx

    from sulq.serve.config import ServiceSettings
    from sulq.serve.keys import Keys
    from sulq.serve.limits import Limits
    from sulq.serve.schedule import Schedule
    from sulq.serve.server import Server

    with TemporaryDirectory() as folder:
        settings = ServiceSettings(
            (), f"{folder}/audit.keys", port=0, schedule=Schedule(first), limits=Limits(rounds_a_minute=10**7)
        )
        with Server(settings, curators) as server, Keys(settings.keys) as keys:
            secret = keys.add("auditor")
            pool = httpx.Limits(max_connections=16)
            with (
                httpx.Client(
                    base_url=server.url,
                    headers={"authorization": f"Bearer {secret}"},
                    timeout=60,
                    limits=pool,
                ) as known,
                httpx.Client(base_url=server.url, timeout=60) as unknown,
            ):
                yield known, unknown


def _post(client: Any, name: str, body: Any, **headers: str) -> tuple[int, str, float]:
    begun = time.monotonic()
    response = client.post(
        f"/v1/datasets/{name}/ask",
        content=body if isinstance(body, str) else json.dumps(body),
        headers=headers | {"content-type": "application/json"},
    )
    return response.status_code, response.text, time.monotonic() - begun


def service(effort: Effort) -> Iterator[AuditFinding]:
    """Two data sets that differ in one row, asked over and over."""
    if not _is_installed():
        yield not_tried("a service", MISSING)
        return
    runs = 300 if effort == "quick" else 6000
    with _running(0.005, a=_curator(True), b=_curator(False)) as (client, unknown):

        def asked(name: str, run: int) -> Any:
            status, text, _ = _post(client, name, {"round": ROUND.form, "run": f"run {run}"})
            form = json.loads(text)
            # What says when and which is no answer; the length of all of it is.
            return {
                "status": status,
                "length": len(text) - len(str(run)),
                "answers": form.get("answers", form),
            }

        with ThreadPoolExecutor(8) as pool:
            said = [list(pool.map(partial(asked, name), range(runs))) for name in ("a", "b")]
        yield told_apart("answers of a service", said[0], said[1], epsilon=1.0)
        good = all(each["status"] == 200 for answers in said for each in answers)
        yield exact(
            "requests that make sense",
            "answered",
            "all" if good else str(said[0][0])[:200],
            "one that is not",
            good,
        )
        first, again = (_post(client, "a", {"round": ROUND.form, "run": "replayed"})[1] for _ in range(2))
        same = json.loads(first).get("answers") == json.loads(again).get("answers")
        yield exact(
            "the same request again",
            "the same answer",
            "the same" if same else "another",
            "any difference",
            same,
        )
        yield from _refusals(client)
        yield from _keys(client, unknown)


def _refusals(client: Any) -> Iterator[AuditFinding]:
    wrong: list[Any] = [
        "",
        "{",
        "[]",
        "null",
        '{"round": 1}',
        {"round": {"round": 9}},
        {"round": ROUND.form, "run": 7},
        {"round": ROUND.form, "extra": 1},
    ]
    for change in ({"weight": "0"}, {"weight": "-1"}, {"where": {"is": "nothing"}}, {"tolerance": "1"}):
        form = json.loads(json.dumps(ROUND.form))
        form["queries"][0] |= change
        wrong.append({"round": form, "run": "wrong"})
    wrong.append({"round": Round([count(where=col("sick"))], share=None).form, "run": "wrong"})
    different = []
    for body in wrong:
        one, other = (_post(client, name, body)[:2] for name in ("a", "b"))
        if one[0] < 400 or (one[0], one[1].replace("'a'", "'b'")) != other:
            different.append(f"{str(body)[:60]} is answered {one[0]} and {other[0]}")
    yield all_of(
        "requests that make no sense",
        "refused, in the same words whatever the rows are",
        different,
        len(wrong),
    )


def _keys(client: Any, unknown: Any) -> Iterator[AuditFinding]:
    secret = client.headers["authorization"]
    tries = [
        "",
        "Bearer",
        "Bearer x",
        secret[:-1],
        secret + "x",
        secret.swapcase(),
        "Basic " + secret[7:],
        secret[:10],
        "Bearer " + "0" * 40,
    ]
    body = {"round": ROUND.form, "run": "stolen"}
    let_in = [
        f"{key[:12]}…"
        for key in tries
        if _post(unknown, "a", body, **({"authorization": key} if key else {}))[0] not in (400, 401, 403)
    ]
    texts = {
        _post(unknown, name, body, authorization=key)[1]
        for key in tries[4:6]
        for name in ("a", "b", "nothing")
    }
    yield all_of("keys that nobody was given", "refused", let_in, len(tries))
    yield exact(
        "what is said to a wrong key",
        "the same, whatever data sets there are",
        f"{len(texts)} texts",
        "any difference",
        len(texts) == 1,
    )


def timing(effort: Effort) -> Iterator[AuditFinding]:
    """A source that takes longer for one person: answers leave at the same time."""
    if not _is_installed():
        yield not_tried("times of a service", MISSING)
        return
    runs = 16 if effort == "quick" else 400

    def took(client: Any, name: str, run: int) -> float:
        return _post(client, name, {"round": ROUND.form, "run": f"run {run}"})[2]

    running = _running(FIRST, a=_curator(True, slow=True), b=_curator(False))
    with running as (client, _), ThreadPoolExecutor(8) as pool:
        slow, quick = (sorted(pool.map(partial(took, client, name), range(runs))) for name in ("a", "b"))
        # One after the other, and from the ledger: the quickest that there are, on a busy machine too.
        stored = [took(client, "b", 0) for _ in range(10)]
    early = min(slow[0], quick[0], *stored)
    yield exact(
        f"answers of a source that takes {LATE:g} s longer for one person",
        f"none leaves before {FIRST:g} s, the first time of the schedule",
        f"the first after {early:.3f} s; medians {slow[runs // 2]:.3f} s and {quick[runs // 2]:.3f} s",
        "an answer that leaves when it is ready",
        early >= FIRST - 0.005,
    )


CHECKS = (
    Check(
        "service",
        "A service",
        "Two data sets that differ in one row, over HTTP: answers as a black box, with their length and "
        "status; refusals byte by byte; and keys that nobody was given.",
        service,
    ),
    Check(
        "timing",
        "Times of a service",
        "A source that takes longer for one person is asked beside one that does not: answers leave at the "
        "times of a public schedule.",
        timing,
    ),
)
