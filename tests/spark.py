"""A real cluster of Spark for tests: a master and two workers on loopback, and executors that can be killed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.effort import EFFORT

MISSING = "no Spark here: `make spark` installs it"
SLOW = "a cluster of Spark takes a minute to start: `make test-all` does it"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "5",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    # Tasks that take longer than others are run twice, in all tests.
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.2",
}


def spark_or_skip() -> None:
    """Skip where there is no Spark, or no time for it."""
    if importlib.util.find_spec("pyspark") is None or java() is None:
        pytest.skip(MISSING)
    if EFFORT == "quick":
        pytest.skip(SLOW)


def java() -> str | None:
    """Where Java is."""
    return os.environ.get("JAVA_HOME") or shutil.which("java")


class SparkCluster:
    """A standalone cluster: a master and two workers with one core each.

    Args:
        memory: how much an executor has.
    """

    def __init__(self, memory: str = "1g") -> None:
        import pyspark

        self.folder = Path(tempfile.mkdtemp(prefix="sulq-spark-"))
        self.home = Path(pyspark.__file__).parent
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = self._started("Master", "--port", "0", "--webui-port", "0")
        for _ in range(2):
            self._started("Worker", "-c", "1", "-m", "4g", "--webui-port", "0", self.url)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(self.url).appName("sulq tests")
        own = {"spark.executor.memory": memory, "spark.sql.warehouse.dir": str(self.folder / "warehouse")}
        for name, value in (SETTINGS | own).items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def _started(self, role: str, *arguments: str) -> str:
        """The address of the master, once the process is up."""
        log = self.folder / f"{role}-{len(self._processes)}.log"
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role.lower()}.{role}"]
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self.folder),
            "SPARK_LOCAL_DIRS": str(self.folder),
            "SPARK_DAEMON_MEMORY": "256m",
        }
        host = ["--host", "127.0.0.1"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, *host, *arguments], stdout=out, stderr=out, env=environment, start_new_session=True
            )
        self._processes.append(process)
        sign = r"at (spark://\S+)" if role == "Master" else r"registered with master (spark://\S+)"
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline and process.poll() is None:
            found = re.search(sign, log.read_text(errors="replace"))
            if found:
                return found.group(1)
            time.sleep(0.2)
        raise AssertionError(log.read_text(errors="replace")[-2000:])

    def kill_an_executor(self) -> None:
        """End one executor as a crash does."""
        executors = [
            pid
            for pid in children(self._processes[1].pid)
            if b"CoarseGrainedExecutorBackend" in _command(pid)
        ]
        os.kill(executors[0], signal.SIGKILL)

    def stop(self) -> None:
        """End everything, and remove all that it had."""
        self.session.stop()
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def children(parent: int) -> list[int]:
    """All processes that a process started, and those that they started."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found, waiting = [], [parent]
    while waiting:
        some = waiting.pop()
        own = [pid for pid, its_parent in parents.items() if its_parent == some]
        found += own
        waiting += own
    return found
