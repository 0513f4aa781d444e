"""Where a command prints: terminals of any alphabet, pipes that may be closed, disks that may be full.

What a command prints comes after what it spends, so nothing that happens here may break it off.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO

LETTERS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "η": "eta", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "−": "-", "–": "-", "—": "-", "×": "x", "·": ".", "±": "+-", "≈": "~",
    "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "√": "sqrt", "⊥": "_|_", "●": "o", "•": "*", "…": "...",
    "′": "'", "‘": "'", "’": "'", "“": '"', "”": '"',
}  # fmt: skip
LINES = {"─": "-", "━": "-", "│": "|", "┃": "|"}


class Listener(io.TextIOBase):
    """A stream that takes every text, whatever it can write and whether or not anybody reads it.

    Letters that the stream does not have are put into ones that it has. If the stream cannot be written, the
    rest is dropped: quietly if its reader has gone, as with `| head`, else `failure` says why.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        if self._stream is not None:
            self._attempt(self._stream.write, plain(text, self.encoding))
        return len(text)

    def write_utf8(self, text: str) -> None:
        """Write a text that is meant for a file: in UTF-8 whatever the locale, but not on a terminal."""
        bytes_ = getattr(self._stream, "buffer", None)
        if bytes_ is None or self.isatty():
            self.write(text)
        else:
            self.flush()
            self._attempt(bytes_.write, text.encode(errors="surrogateescape"))

    def flush(self) -> None:
        if self._stream is not None and not self._stream.closed:
            self._attempt(self._stream.flush)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def _attempt(self, step: Any, *arguments: str | bytes) -> None:
        try:
            step(*arguments)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failure = error
            self._give_up()

    def _give_up(self) -> None:
        """Write no more; what the stream has kept back goes nowhere, also when Python closes it."""
        stream, self._stream = self._stream, None
        with suppress(OSError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)


def print_utf8(text: str) -> None:
    """Print a text that is meant for a file, as in `sulq schema draft people.csv > people.toml`.

    >>> print_utf8("[columns.größe]\\n")
    [columns.größe]
    """
    if isinstance(sys.stdout, Listener):
        sys.stdout.write_utf8(text)
    else:
        sys.stdout.write(text)


def keep_standard_streams() -> None:
    """Open the standard streams that are closed: else a ledger could get the number of one of them.

    What a library prints to that number would be written into the ledger.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


@contextmanager
def interrupts() -> Iterator[None]:
    """Whatever becomes of an interrupt on its way, it ends as one.

    A library that is being imported when Ctrl-C is pressed may raise an error of its own instead.
    """
    usual, seen = signal.getsignal(signal.SIGINT), list[int]()
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> NoReturn:
        seen.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception:
        if seen:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, usual)


def plain(text: str, encoding: str) -> str:
    """A text in letters that an encoding has.

    >>> plain("ε ≈ 0.5 ± 2 %", "ascii"), plain("ε ≈ 0.5 ± 2 %", "latin-1")
    ('epsilon ~ 0.5 +- 2 %', 'epsilon ~ 0.5 ± 2 %')
    >>> plain("ε in Gößweinstein: 結", "utf-8"), plain("Gößweinstein: 結", "ascii")
    ('ε in Gößweinstein: 結', 'Go?weinstein: ?')
    """
    return text.encode(encoding, "sulq.plain").decode(encoding)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_like, error.object[error.start : error.end])), error.end


def _like(letter: str) -> str:
    if letter in LETTERS:
        return LETTERS[letter]
    if "─" <= letter <= "╿":
        return LINES.get(letter, "+")
    if "▀" <= letter <= "▟":
        return "#"
    bare = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return bare or "?"


codecs.register_error("sulq.plain", _replaced)
