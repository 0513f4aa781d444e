"""What a ledger was made for: how that is kept in its file, and in words how two of these differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeAlias

from sulq.changes import changes, each_change
from sulq.errors import LedgerError
from sulq.ledger.chain import as_text
from sulq.wire import canonical, digest

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"

SCHEMA = "schema"
"""Where a file keeps the whole schema. It is no term: the fact of that name is its hash, and is compared."""
HEAD = "head"
"""Where a file keeps how its entries end. It is no term either."""
FACT = "fact "
WORDS = {
    "rows": "the number of rows",
    "promise": "the promise",
    "answering": "the way of answering",
    "chunks": "the number of chunks",
}


def terms(unit: str, total: Fraction, facts: Mapping[str, JSON]) -> dict[str, str]:
    """What must be equal for a file to be the ledger that is asked for, as the file keeps it."""
    named = {f"{FACT}{name}": canonical(value) for name, value in facts.items()}
    return {"unit": unit, "total": as_text(total)} | named


def whole(schema: JSON) -> dict[str, str]:
    """The schema itself, as the file keeps it: written such that the hash of the text is the schema's."""
    return {} if schema is None else {SCHEMA: json.dumps(schema)}


def beginning(kept: Mapping[str, str]) -> str:
    """The hash that the first entry of a ledger continues: that of the terms which it was made for."""
    return digest(canonical({name: term for name, term in kept.items() if name not in (SCHEMA, HEAD)}))


def schema_in(known: Mapping[str, str]) -> dict[str, str]:
    """Of all that a ledger was made for, what is about its schema."""
    return {name: known[name] for name in (SCHEMA, f"{FACT}{SCHEMA}") if name in known}


def refuse_others(name: str, kept: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Refuse a ledger that was made for something else, and say what to do."""
    different = differences(kept, given)
    if not different:
        return
    advice = (
        "open it with what it was made for: another ledger would be a second budget on the same people, and "
        "both promises add up"
    )
    before, after = _schema(kept), _schema(given)
    only_schema = before and after and not differences({**kept, **schema_in(given)}, given)
    if only_schema and not any(change.refused for change in each_change(before, after)):
        advice = "the ledger can be carried over to the new schema: see `sulq ledger carry --help`"
    raise LedgerError(f"ledger {name} was made for something else: {'; '.join(different)}; {advice}")


def purpose_in(kept: Mapping[str, str]) -> tuple[str, Fraction, dict[str, JSON], JSON]:
    """The unit, the total, the facts and the schema that a file was made for.

    Raises AttributeError, KeyError, TypeError, ValueError or ZeroDivisionError if it no longer says so.
    """
    facts = {
        name.removeprefix(FACT): json.loads(value)
        for name, value in kept.items()
        if name not in ("unit", "total", SCHEMA, HEAD)
    }
    return kept["unit"], Fraction(kept["total"]), facts, json.loads(kept.get(SCHEMA, "null"))


def differences(kept: Mapping[str, str], given: Mapping[str, str]) -> list[str]:
    """In which terms two ledgers differ, in words; each has its terms, and perhaps a schema beside them."""
    return list(_differences(kept, given))


def _differences(kept: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    different = [
        name for name in {**kept, **given} if kept.get(name) != given.get(name) and name not in (SCHEMA, HEAD)
    ]
    # A promise says its unit and its total too, in a way that people know.
    if f"{FACT}promise" not in different and {"unit", "total"}.intersection(different):
        yield f"the budget was {_budget(kept)} and is {_budget(given)}"
    for name in different:
        if name == f"{FACT}schema":
            yield _schemas(kept, given)
        elif name.startswith(FACT):
            own = name.removeprefix(FACT)
            yield f"{WORDS.get(own, own)} was {_readable(kept.get(name))} and is {_readable(given.get(name))}"


def _schemas(kept: Mapping[str, str], given: Mapping[str, str]) -> str:
    before, after = _schema(kept), _schema(given)
    if before is None or after is None:
        return (
            "the schema is another, and what differs cannot be said: this ledger is of an earlier version, "
            "which kept only a hash of its schema"
        )
    found = changes(before, after)
    return f"the schema is another ({'; '.join(found) or 'it is written in another way'})"


def schema_faults(facts: Mapping[str, JSON], schema: JSON) -> list[str]:
    """What is wrong with a schema that is kept beside the fact that is its hash."""
    kept = {f"{FACT}{SCHEMA}": canonical(facts[SCHEMA])} | whole(schema) if SCHEMA in facts else {}
    wrong = SCHEMA in kept and _schema(kept) is None
    return ["the schema that is kept is not the one that the ledger was made for"] if wrong else []


def _schema(known: Mapping[str, str]) -> Any:
    """The whole schema, if it is there and is the one that the hash is of."""
    text = known.get(SCHEMA)
    if text is None or known.get(f"{FACT}schema") != canonical(digest(text)):
        return None
    return json.loads(text)


def _budget(known: Mapping[str, str]) -> str:
    return f"{known.get('unit')} = {known.get('total', '').removesuffix('/1')}"


def _readable(term: str | None) -> str:
    """A term for people: without the escapes of its canonical form."""
    if term is None:
        return "not stated"
    with suppress(ValueError):
        value = json.loads(term)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return term
