"""Results in files: whole, or not there."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from sulq.errors import SulqError


def write_whole(given: str | Path, text: str) -> None:
    """Write a text such that the file has all of it or, after a kill or on a full disk, what it had before.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/rule.json", "{}")
    ...     print(Path(folder, "rule.json").read_text(), len(list(Path(folder).iterdir())))
    {} 1
    """
    content = text.encode(errors="replace")  # a file's name may have bytes that are no letters
    try:
        path = Path(given).resolve()
        draft = _draft(path)
        if draft is None:
            path.write_bytes(content)
            return
        try:
            with draft.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            shutil.rmtree(draft.parent, ignore_errors=True)
    except OSError as error:
        raise SulqError(f"cannot write {given}: {error.strerror}") from None


def _draft(path: Path) -> Path | None:
    """A name beside the file to write it under first; None where only the file itself may be written."""
    if path.exists() and not path.is_file():  # a device or a pipe
        return None
    with suppress(PermissionError):
        return Path(mkdtemp(prefix=".sulq-", dir=path.parent), path.name)
    return None
