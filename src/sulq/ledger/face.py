"""How a ledger looks in a notebook, and what was asked in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from sulq import faces
from sulq.ledger.accounts import ANALYST, Books
from sulq.ledger.carried import RUN, Carry
from sulq.ledger.chain import Entry, runs_in
from sulq.ledger.purpose import WORDS
from sulq.numbers import amount

SHOWN = 20
"""How many of the last entries are shown."""
LONGEST = 60
HIDDEN = ("schema",)
"""A fact that says nothing to people: a hash."""


def ledger_face(unit: str, total: Fraction, facts: Mapping[str, Any], entries: Sequence[Entry]) -> str:
    """A ledger as HTML: what it was made for, what is spent and left, runs, caps, and the last entries.

    Args:
        unit: what the budget is counted in.
        total: the whole budget.
        facts: the public facts that it was made for.
        entries: all entries.
    """
    spent = entries[-1].spent if entries else Fraction(0)
    about = [(WORDS.get(name, name), str(value)) for name, value in facts.items() if name not in HIDDEN]
    blocks = [faces.facts(about), faces.bar(spent, total, unit)]
    if runs := runs_in(entries):
        rows = [[run.name, f"{run.charges:,}", amount(run.spent), time_of(run.last)] for run in runs]
        blocks.append(faces.grid(["run", "charges", "spent", "last"], rows, (1, 2)))
    accounts = Books.of(total, entries).accounts.values()
    named = [each for each in accounts if each.cap is not None or each.name.startswith(ANALYST)]
    if named:
        rows = [
            [each.name, amount(each.spent), "" if each.cap is None else amount(each.cap)] for each in named
        ]
        blocks.append(faces.grid(["account", "spent", "cap"], rows, (1, 2)))
    if entries:
        rows = [
            [str(entry.number), entry.run, in_words(entry), _cost(entry), time_of(entry.time)]
            for entry in reversed(entries[-SHOWN:])
        ]
        title = "the last entries" if len(entries) > SHOWN else "entries"
        blocks.append(faces.grid(["no", "run", title, "cost", "time (UTC)"], rows, (0, 3)))
    return faces.face("Ledger", *blocks)


def in_words(entry: Entry) -> str:
    """What an entry says, for people.

    >>> from sulq.ledger.ledger import Ledger
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> ledger.set_cap("analyst:ada", Fraction(1, 4))
    >>> [in_words(entry) for entry in ledger.entries()]
    ['the cap of analyst:ada is 0.25 from now on']
    """
    if entry.kind == "cap":
        return f"the cap of {entry.account} is {amount(entry.cap or Fraction(0))} from now on"
    who = f", to {entry.account}" if entry.account else ""
    if entry.run == RUN and entry.answer is not None:
        with suppress(KeyError, TypeError, ValueError):  # a run of somebody's may have this name
            return f"the schema was changed: {'; '.join(Carry.of(entry.answer).words)}"
    done = f"charged{who}" if entry.kind == "charge" else "answered"
    return f"{done}: {question_in_words(entry.question)}"


def question_in_words(question: str) -> str:
    """What a question asks for, for people, whichever version wrote it.

    >>> import sulq
    >>> question_in_words(sulq.Round([sulq.mean("cost", where="sick", by="ward"), sulq.count()]).to_json())
    'the mean of cost by ward (where sick); how many rows'
    """
    try:
        form = json.loads(question)
        if "release" in form:  # a chunk, or as earlier versions wrote what needed more than sums
            release = form["release"]
            if "round" in release:
                return f"{_round(release['round'])} (chunk {release['chunk']})"
            return next(name for name in ("parity", "select", "compress") if name in release)
        if "carry" in form and "round" not in form:
            return "a change of the schema"
        if "chunk" in form:
            return f"chunk {form['chunk']}"
        return _round(form if "queries" in form else form["round"])
    except (ValueError, KeyError, TypeError, StopIteration):
        return question if len(question) <= LONGEST else f"{question[:LONGEST]}…"


def time_of(iso: str) -> str:
    """When, to the second.

    >>> time_of("2024-01-31T12:00:00.123+00:00")
    '2024-01-31 12:00:00'
    """
    return iso[:19].replace("T", " ")


def _cost(entry: Entry) -> str:
    return amount(entry.cost) if entry.kind == "charge" else ""


def _round(form: Mapping[str, Any]) -> str:
    questions = [_query(query) for query in form["queries"]]
    counted = {words: questions.count(words) for words in questions}
    return "; ".join(words if many == 1 else f"{many} × {words}" for words, many in counted.items())


def _query(query: Mapping[str, Any]) -> str:
    # A ledger may hold questions of version 0, which had no name for a choice.
    kind = str(query.get("query") or query.get("statistic", "choose"))
    names = _names(query.get("value"))
    if kind == "choose":
        label = _names(query.get("label"))
        many = f"{len(query.get('candidates') or query.get('choose', ())):,} candidates"
        return (
            f"which of {many} tells {', '.join(label)} best" if label else f"which of {many} is the largest"
        )
    words = {"count": "how many rows", "total": "the total", "mean": "the mean"}
    about = f" of {', '.join(names)}" if names and kind in ("total", "mean") else ""
    by, where = _names(query.get("by")), _names(query.get("where"))
    groups = f" by {', '.join(by)}" if by else ""
    condition = f" (where {', '.join(where)})" if where else ""
    return words.get(kind, kind) + about + groups + condition


def _names(form: Any) -> list[str]:
    """The columns that an expression looks at."""
    return list(dict.fromkeys(_found(form)))


def _found(form: Any) -> Iterable[str]:
    if isinstance(form, Mapping):
        if isinstance(form.get("name"), str):
            yield f"{form['name']} known" if form.get("node") == "known" else form["name"]
        for inner in form.values():
            yield from _found(inner)
    elif isinstance(form, list):
        for inner in form:
            yield from _found(inner)
