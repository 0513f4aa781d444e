"""Files by what they are, not by the names they are called: found, told apart, and watched for changes.

A budget belongs to data, so the ledger that remembers it must not depend on what the data is called. A path
is resolved to real files when it is opened, and the ledger lies beside the real file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sulq.errors import LedgerError, SchemaError, SulqError


class Place(Protocol):
    """Where rows are that outlive the process: what was spent on them must be remembered as long."""

    @property
    def table(self) -> str | None:
        """The table of a database."""
        ...

    @property
    def beside(self) -> Path:
        """Where a ledger would lie beside the rows."""
        ...

    def ledger(self) -> Path:
        """Where it is remembered what was spent, unless another place is named; or a refusal."""
        ...


@dataclass(frozen=True)
class OpenFile:
    """A file, and what the system said of it when it was opened."""

    path: Path
    status: os.stat_result

    @classmethod
    def of(cls, path: Path) -> OpenFile:
        return cls(path, path.stat())

    def check(self) -> None:
        """Refuse a file that is not what it was."""
        now = self.path.stat() if self.path.exists() else None
        then = self.status
        if now is None or (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            raise SulqError(f"{str(self.path)!r} has changed since it was opened: open it again")


@dataclass(frozen=True)
class Files:
    """The files that a path or a pattern meant when it was opened, each once, in the order of their paths.

    `given` is what was asked for, `suffixes` how the names of the files end, and `table` a database's table.
    """

    given: Path
    paths: tuple[Path, ...]
    suffixes: frozenset[str]
    table: str | None = None

    @classmethod
    def find(cls, data: str | Path, table: str | None = None) -> Files:
        """A file of exactly this name, or else all that the pattern matches."""
        given = Path(data).absolute()
        root = Path(given.anchor)
        names = [given] if given.exists() else sorted(root.glob(str(given.relative_to(root))))
        real: dict[tuple[int, int], tuple[Path, str]] = {}
        for name in names:
            if name.is_file():
                path, suffix = name.resolve(), name.name.removesuffix(".gz").rpartition(".")[2].lower()
                status = path.stat()
                real.setdefault((status.st_dev, status.st_ino), (path, suffix))
        if not real:
            raise SchemaError(f"no file {str(data)!r}")
        paths = tuple(sorted(path for path, _ in real.values()))
        return cls(given, paths, frozenset(suffix for _, suffix in real.values()), table)

    def ledger(self) -> Path:
        """Where it is remembered what was spent on this data, unless another place is named.

        Refused if the same data could have a second ledger under another name.
        """
        first, beside = self.paths[0], self.beside
        if len(self.paths) > 1:
            raise LedgerError(
                f"the data is {len(self.paths)} files, which have no ledger of their own: say with ledger= "
                "(--ledger) where it is remembered what was spent on them, always the same"
            )
        if first.exists() and first.stat().st_nlink > 1:
            raise LedgerError(
                f"{str(first)!r} has a second name (a hard link), by which its ledger would not be found: "
                "say with ledger= (--ledger) where it is remembered what was spent, always the same"
            )
        older = Path(f"{str(self.given).replace('*', '_')}.ledger")
        if older.exists() and older.resolve() != beside.resolve():
            raise LedgerError(
                f"what was spent was remembered in {str(older)!r}, and now is beside the file itself: move "
                f"it to {str(beside)!r}, or name it with ledger= (--ledger)"
            )
        return beside

    @property
    def beside(self) -> Path:
        return Path(f"{self.paths[0]}.ledger")
