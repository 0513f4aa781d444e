"""What a form brings: names and values, some of them several times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl

from sulq.numbers import rational
from sulq.queries.written import number_in
from sulq.serve.refusals import RefusedError
from sulq.wire import shown

MOST_FIELDS = 5_000
SHARE = "1/10"


class Choices:
    """The fields of a form.

    Args:
        pairs: names and values, in order.

    >>> choices = Choices.read("by=plan&by=sex&share=+1/4+")
    >>> choices.all("by"), choices.one("share"), choices.one("run")
    (('plan', 'sex'), '1/4', '')
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = tuple(pairs)

    @classmethod
    def read(cls, text: str | bytes) -> Choices:
        """The fields that a body or the query of an address holds, or a refusal."""
        try:
            written = text.decode() if isinstance(text, bytes) else text
            pairs = parse_qsl(
                written, keep_blank_values=True, max_num_fields=MOST_FIELDS, encoding="utf-8", errors="strict"
            )
        except ValueError:
            raise RefusedError("malformed", "this form cannot be read") from None
        return cls(pairs)

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a name, as they were given."""
        return tuple(value for key, value in self._pairs if key == name)

    def one(self, name: str, default: str = "") -> str:
        """The value of a name, without blanks around it; the default if it is empty or not there."""
        return next((value.strip() for value in self.all(name)), "") or default


def numbers_in(text: str, what: str, most: int) -> tuple[float, ...]:
    """The numbers between commas.

    Args:
        text: the numbers.
        what: what a refusal calls them.
        most: how many there may be.

    >>> numbers_in("18, 40,65", "the edges of age", most=3)
    (18.0, 40.0, 65.0)
    >>> numbers_in("18, 40,65", "the edges of age", most=2)
    Traceback (most recent call last):
    sulq.serve.refusals.RefusedError: the edges of age are 2 numbers at most here, not 3
    """
    numbers = [each for each in text.split(",") if each.strip()]
    if len(numbers) > most:
        raise RefusedError("refused", f"{what} are {most} numbers at most here, not {len(numbers)}")
    return tuple(float(number_in(each, f"each of {what}")) for each in numbers)


def share_in(text: str) -> str:
    """A share of the budget as an exact number, or a refusal.

    >>> share_in("0.25"), share_in("10 %")
    ('1/4', '1/10')
    """
    if text.endswith("%"):
        return str(rational("the share", text[:-1].strip(), most=100) / 100)
    return str(rational("the share", text, most=1))


def check_names(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse the name of a column that is not offered."""
    for name in names:
        if name not in known:
            raise RefusedError("refused", f"{shown(name)} is not offered here; there are: {', '.join(known)}")
