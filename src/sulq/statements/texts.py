"""What SQL says of texts, of one row: of public values, so no text of a row is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable

from sulq.errors import QueryError
from sulq.statements.values import Const, FewValued, Truth, Value, mapped, matching, words


def like(value: Value, pattern: Value, any_case: bool) -> Truth:
    """Whether a category's value is like a pattern, in which % is any text and _ any letter.

    Args:
        value: the category.
        pattern: the pattern.
        any_case: whether capital letters are taken for small ones, as ILIKE does.
    """
    if not isinstance(value, FewValued) or words(value) != "a text":
        raise QueryError(f"LIKE takes a category, not {words(value)}")
    if not isinstance(pattern, Const) or not isinstance(pattern.value, str) or "\\" in pattern.value:
        raise QueryError("LIKE takes a text as its pattern, as 'north%', without backslashes")
    signs = {"%": ".*", "_": "."}
    wanted = re.compile(
        "".join(signs.get(sign, re.escape(sign)) for sign in re.sub("%+", "%", pattern.value)),
        re.DOTALL | (re.IGNORECASE if any_case else 0),
    )
    return matching(value, lambda level: wanted.fullmatch(str(level)) is not None)


def changed(value: Value, change: Callable[[str], str], what: str) -> FewValued:
    """A category with its values in other letters.

    Args:
        value: the category.
        change: makes a text of each of its values.
        what: what the function is called.
    """
    if not isinstance(value, FewValued) or words(value) != "a text":
        raise QueryError(f"{what} takes a category, not {words(value)}")
    return mapped(value, lambda level: change(str(level)))
