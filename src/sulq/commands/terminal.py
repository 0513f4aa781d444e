"""Where a command prints: terminals of any alphabet, pipes that may be closed, disks that may be full.

What a command prints comes after what it spends, so nothing that happens here may break it off.
"""

from __future__ import annotations

import codecs
import io
import os
import unicodedata
from contextlib import suppress
from typing import Any, TextIO

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

    def flush(self) -> None:
        if self._stream is not None:
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

    def _attempt(self, step: Any, *arguments: str) -> None:
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
