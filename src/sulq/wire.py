"""Plain data as text: written in one way only, so that equal things have equal texts and hashes.

What crosses from one process to another says what it is and in which version: `{"round": 1, …}`. Readers
refuse what they do not know, with a QueryError of one line.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

from sulq.errors import LedgerError, QueryError, SulqError

T = TypeVar("T")
LONGEST = 2**26
"""How many letters of JSON are read at once, at most."""
LONGEST_LINE = 500
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: Any) -> str:
    """Plain data as JSON, in the one way that ledgers and hashes know it by.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return _CANONICAL.encode(value)


def digest(text: str) -> str:
    """The SHA-256 hash of a text.

    >>> digest("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode()).hexdigest()


def check_text(what: str, given: object) -> None:
    """Refuse what a file would not give back as it was: its entry would look changed for good.

    >>> check_text("the name of a run", 1)
    Traceback (most recent call last):
    sulq.errors.LedgerError: the name of a run must be a text, not of type int; nothing was released
    """
    if not isinstance(given, str):
        raise LedgerError(f"{what} must be a text, not of type {type(given).__name__}; nothing was released")
    try:
        given.encode()
    except UnicodeEncodeError:  # would carry the text
        raise LedgerError(f"{what} has letters that UTF-8 cannot write; nothing was released") from None


def check_run(run: object) -> None:
    """Refuse a name that no ledger could keep, also where there is none: a run may move to one."""
    check_text("the name of a run", run)


def shown(value: object) -> str:
    """A value in a message: on one line, and not longer than a line.

    >>> shown(list(range(1000)))
    '[0, 1, 2, 3, ...]'
    """
    try:
        return _brief.repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits has no text
        return f"something of type {type(value).__name__}"


def encodable(text: object) -> bool:
    """Whether something is a text that can be written as bytes; half a letter, a lone surrogate, cannot.

    >>> encodable("green"), encodable(chr(0xD83D)), encodable(3)
    (True, False, False)
    """
    return isinstance(text, str) and not any("\ud800" <= letter <= "\udfff" for letter in text)


def of_json(text: object, what: str) -> Any:
    """The plain data that a JSON text holds. What is no JSON is refused, and NaN, infinity and a key twice.

    Args:
        text: the JSON.
        what: what the text should be, with its article, for the error.

    >>> of_json('{"round": 1}', "a round")
    {'round': 1}
    >>> of_json("{", "a round")
    Traceback (most recent call last):
    sulq.errors.QueryError: this is not the JSON of a round
    """
    if not isinstance(text, str):
        raise QueryError(f"the JSON of {what} is a text, not {shown(text)}")
    if len(text) > LONGEST:
        raise QueryError(f"the JSON of {what} may have {LONGEST} letters, not {len(text)}")
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise QueryError(f"this is not the JSON of {what}") from None


def versioned(form: object, kind: str, version: int = 1, what: str | None = None) -> Mapping[str, Any]:
    """A form that says what it is, in the version that is known here: `{"round": 1, …}`.

    Args:
        form: what should be such a form.
        kind: the key whose value is the version.
        version: the version that is known.
        what: what errors call such a form; None for its kind with an article.

    >>> versioned({"round": 2}, "round")
    Traceback (most recent call last):
    sulq.errors.QueryError: this is a round of version 2, and version 1 is the one that is known here
    """
    what = what or f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
    if not isinstance(form, Mapping) or kind not in form:
        raise QueryError(
            f"this is not the form of {what}: it does not say {kind!r} and the version, {version}"
        )
    if type(form[kind]) is not int or form[kind] != version:
        raise QueryError(
            f"this is {what} of version {shown(form[kind])}, and version {version} is the one that "
            "is known here"
        )
    return form


def members(form: object, what: str, names: Sequence[str]) -> Mapping[str, Any]:
    """A form that has exactly these keys.

    Args:
        form: what should be such a form.
        what: what the form should be, with its article, for the error.
        names: the keys.

    >>> members({"node": "column", "nmae": "age"}, "a column", ["node", "name"])
    Traceback (most recent call last):
    sulq.errors.QueryError: a column has node, name: name is missing, 'nmae' is not known
    """
    if not isinstance(form, Mapping):
        raise QueryError(f"{what} is an object with {', '.join(names)}, not {shown(form)}")
    wrong = [f"{name} is missing" for name in names if name not in form]
    wrong += [f"{shown(name)} is not known" for name in islice(form, len(names) + 3) if name not in names]
    if wrong:
        raise QueryError(f"{what} has {', '.join(names)}: {', '.join(wrong)}")
    return form


def entry(name: object, known: Mapping[str, T], what: str) -> T:
    """What a table has under a name.

    Args:
        name: the name, as a form has it.
        known: the table.
        what: what the names of the table are called, for the error.

    >>> entry("med", {"mean": 1, "count": 2}, "query")
    Traceback (most recent call last):
    sulq.errors.QueryError: 'med' is not a known query; known are count, mean
    """
    if not isinstance(name, str) or name not in known:
        raise QueryError(f"{shown(name)} is not a known {what}; known are {', '.join(sorted(known))}")
    return known[name]


def listed(value: object, what: str) -> Sequence[Any]:
    """A list, or a refusal that says what should be one.

    >>> listed("abc", "the groups of a query")
    Traceback (most recent call last):
    sulq.errors.QueryError: the groups of a query are a list, not 'abc'
    """
    if not isinstance(value, list | tuple):
        raise QueryError(f"{what} are a list, not {shown(value)}")
    return value


def exact(value: object, what: str) -> str:
    """An exact number as a form has it, a text like "1/3".

    >>> exact(0.5, "a weight")
    Traceback (most recent call last):
    sulq.errors.QueryError: a weight is an exact number as a text, like "1/3", not 0.5
    """
    if not isinstance(value, str):
        raise QueryError(f'{what} is an exact number as a text, like "1/3", not {shown(value)}')
    return value


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Whatever goes wrong inside, because a form is not what it should be, is a QueryError of one line.

    >>> with reading("a round"):
    ...     {}["share"]
    Traceback (most recent call last):
    sulq.errors.QueryError: this is not the form of a round
    """
    try:
        yield
    except SulqError as refusal:
        raise QueryError(one_line(str(refusal))) from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise QueryError(f"this is not the form of {what}") from None


def one_line(words: str) -> str:
    """Words on one line, without the end of what would fill more than a few.

    >>> len(one_line("word\\n" * 1000))
    501
    """
    line = " ".join(words.split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says everything once: of what it says twice, readers would keep different halves."""
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError
    return read


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError
    return value


_brief = Repr()
_brief.maxlist = _brief.maxdict = _brief.maxtuple = 4
_brief.maxstring = _brief.maxother = 60
