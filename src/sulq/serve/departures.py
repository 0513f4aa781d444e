"""What an analyst sees of a ledger: nothing that tells how long a sum took.

A ledger has the times at which answers were stored, and whoever looks again and again sees when one appears.
Both tell how long a sum took, which the schedule hides. So an analyst sees an answer from its departure on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from sulq.ledger.chain import Entry
from sulq.ledger.ledger import Ledger
from sulq.serve.schedule import Schedule


def departed(entries: Iterable[Entry], ledger: Ledger, schedule: Schedule) -> Iterator[Entry]:
    """The entries of a run that an analyst sees: answers once they have left, and when they did.

    Args:
        entries: entries of a run, in order.
        ledger: the ledger, which has their charges if these are not among them.
        schedule: when answers leave.

    >>> from fractions import Fraction
    >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
    >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    >>> [entry.kind for entry in departed(ledger.entries(), ledger, Schedule(60))]
    ['charge']
    """
    charged: dict[str, str] = {}
    now = datetime.now(UTC)
    for entry in entries:
        if entry.kind == "charge":
            charged[entry.question] = entry.time
        elif entry.kind == "answer":
            begun = charged.get(entry.question) or _charged_at(entry, ledger)
            left = schedule.departure(begun, entry.time)
            if left > now:
                continue
            entry = replace(entry, time=left.isoformat(timespec="milliseconds"))
        yield entry


def wait_until_left(kept: Iterable[Entry], schedule: Schedule) -> None:
    """Wait until an answer that is asked for again has left, so that nobody sees when it was ready.

    Args:
        kept: the charge of a question, and its answer if there is one.
        schedule: when answers leave.
    """
    times = {entry.kind: entry.time for entry in kept}
    if "charge" in times and "answer" in times:
        left = schedule.departure(times["charge"], times["answer"])
        time.sleep(max(0.0, (left - datetime.now(UTC)).total_seconds()))


def seal_for_analysts(ledger: Ledger) -> str:
    """The hash of the last entry that is no answer: it changes when something is charged, and not later."""
    last = next((entry for entry in ledger.pages.backwards() if entry.kind != "answer"), None)
    return ledger.seal if last is None else last.hash


def _charged_at(answer: Entry, ledger: Ledger) -> str:
    kept = ledger.pages.kept(answer.run, answer.question)
    return next((entry.time for entry in kept if entry.kind == "charge"), answer.time)
