"""Jobs of Spark: started, watched, cancelled by an interrupt, and failing without a word about a row."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from sulq.errors import SchemaError, SulqError
from sulq.reporting import Progress
from sulq.sources.engine import CHANGED, OTHER_CODE
from sulq.sources.passes import HEED

T = TypeVar("T")
FAILS = (
    "Spark cannot do this to its end: executors are lost, files are gone or damaged, or the query fails on "
    "some row (a cast that can fail does); Spark's own log has more"
)
KNOWN = {
    OTHER_CODE: f"{OTHER_CODE}: install the same on every worker (docs/engines.md shows how)",
    CHANGED: f"{CHANGED}: open them again",
    "No module named": "the executors cannot import sulq or what it needs: install it on every worker, in "
    "the Python that PYSPARK_PYTHON names (docs/engines.md shows how)",
    "PYTHON_VERSION_MISMATCH": "the executors have another version of Python: PYSPARK_PYTHON names the one "
    "that they start",
}
"""What a failure may say, by what stands in Spark's message: each is public."""


def session_of(engine: Any) -> Any:
    """A session of Spark: the one that is given, or one at an address.

    Args:
        engine: a session, "spark://…" for a cluster, or "sc://…" for a server of Spark Connect.
    """
    if not isinstance(engine, str):
        return engine
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SchemaError("rows on Spark need more packages: pip install 'sulq[spark]'") from None
    builder = SparkSession.builder.appName("sulq")
    remote = engine.startswith("sc://")
    return stated(lambda: (builder.remote(engine) if remote else builder.master(engine)).getOrCreate())


def stated(step: Callable[[], T]) -> T:
    """What a step that looks at no row returns. What Spark says of a failure is repeated, its first line.

    Args:
        step: something to do on the driver.
    """
    try:
        return step()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise SchemaError(f"Spark refuses: {lines[0] if lines else type(error).__name__}") from None


def done(frame: Any, what: str, action: Callable[[], T], rows: int | None = None) -> T:
    """The result of a job, which is watched, and is cancelled if somebody interrupts.

    Args:
        frame: the DataFrame whose session runs the job.
        what: a name for the work.
        action: starts the job and waits for it.
        rows: how many rows there are, if that is known.
    """
    job = _job(frame.sparkSession, f"sulq-{uuid.uuid4().hex}", f"sulq: {what}")
    with Progress(what, rows) as progress, ThreadPoolExecutor(1) as pool:
        future = pool.submit(job.run, action)
        told = 0
        try:
            while wait([future], HEED).not_done:
                finished, all_tasks = job.tasks()
                now = finished if rows is None else rows * finished // max(1, all_tasks)
                progress.advance(max(0, now - told))
                told = max(told, now)
        except BaseException:
            # A job that Spark has not heard of yet cannot be cancelled yet.
            while wait([future], HEED).not_done:
                with suppress(Exception):
                    job.cancel()
            raise
        error = future.exception()
        if error is None:
            if rows is not None:
                progress.advance(rows - told)
            return future.result()
    raise SulqError(_public(error))


def _public(error: BaseException) -> str:
    """What may be said of a failure: nothing that Spark says, which may quote a row."""
    text = str(error)
    return next((words for sign, words in KNOWN.items() if sign in text), FAILS)


class _Job(Protocol):
    def run(self, action: Callable[[], T]) -> T: ...

    def tasks(self) -> tuple[int, int]:
        """How many tasks are done, and how many there are as far as is known."""
        ...

    def cancel(self) -> None: ...


def _job(session: Any, name: str, words: str) -> _Job:
    try:
        context = session.sparkContext
    except Exception:  # Spark Connect has none
        return _RemoteJob(session, name)
    return _ClusterJob(context, name, words)


class _ClusterJob:
    """A job of classic Spark, in a group of its own."""

    def __init__(self, context: Any, name: str, words: str) -> None:
        self._context, self._name, self._words = context, name, words

    def run(self, action: Callable[[], T]) -> T:
        self._context.setJobGroup(self._name, self._words, interruptOnCancel=True)
        return action()

    def tasks(self) -> tuple[int, int]:
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(self._name))
        stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
        known = [stage for stage in stages if stage is not None]
        return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)

    def cancel(self) -> None:
        self._context.cancelJobGroup(self._name)


class _RemoteJob:
    """A job of Spark Connect, with a tag of its own."""

    def __init__(self, session: Any, name: str) -> None:
        self._session, self._name = session, name
        self._tasks = (0, 0)

    def run(self, action: Callable[[], T]) -> T:
        with self._handled():
            self._session.addTag(self._name)
            try:
                return action()
            finally:
                self._session.removeTag(self._name)

    @contextmanager
    def _handled(self) -> Iterator[None]:
        thread = threading.get_ident()

        def handler(stages: Any = (), **_: Any) -> None:
            if threading.get_ident() == thread:
                done = sum(stage.num_completed_tasks for stage in stages or ())
                self._tasks = done, sum(stage.num_tasks for stage in stages or ())

        self._session.registerProgressHandler(handler)
        try:
            yield
        finally:
            self._session.removeProgressHandler(handler)

    def tasks(self) -> tuple[int, int]:
        return self._tasks

    def cancel(self) -> None:
        self._session.interruptTag(self._name)
