"""Files by what they are, not by the names they are called: found, told apart, and watched for changes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sulq.errors import SulqError


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
