"""Carrying a ledger over to a schema that was changed after the ledger was made."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from sulq.errors import LedgerError
from sulq.ledger.carried import RUN, Carry, carried_to, question
from sulq.ledger.ledger import Ledger
from sulq.ledger.purpose import terms, whole
from sulq.schema import Schema


def carry(path: str | Path, schema: Schema, *, dry_run: bool = False) -> Carry:
    """Carry a ledger over to a changed schema, and record that in the ledger; or refuse, and say why.

    Nothing is spent, and all that was spent stays spent. From then on the ledger opens with the new schema
    only. Stored answers that look at cells which may be read otherwise are not given again. The reasons are
    in `sulq.changes`.

    Args:
        path: the ledger's file.
        schema: the new schema.
        dry_run: only say what would be recorded, or refuse.

    >>> import sulq
    >>> from tempfile import TemporaryDirectory
    >>> before, after = sulq.Category(["a", "b"]), sulq.Category(["a", "b"], aliases={"A": "a"})
    >>> with TemporaryDirectory() as folder:
    ...     path = f"{folder}/people.ledger"
    ...     sulq.open({"ward": ["A", "b"]}, {"ward": before}).curator(epsilon=1, ledger=path).ledger.close()
    ...     carry(path, sulq.Schema({"ward": after})).words
    ...     curator = sulq.open({"ward": ["A", "b"]}, {"ward": after}).curator(epsilon=1, ledger=path)
    ...     curator.remaining, curator.ledger.verify()
    ...     curator.ledger.close()
    ("column 'ward': 'A' is new among its aliases",)
    (Fraction(1, 1), [])
    """
    with Ledger.read(path) as known:
        unit, total, facts, form = known.unit, known.total, known.facts, known.schema
    after = carried_to(terms(unit, total, facts) | whole(form), schema.form())
    if dry_run:
        return after
    with Ledger(path, unit, total, facts, schema=form) as ledger:
        number = len(ledger.carried) + 1
        recorded = ledger.release(RUN, question(number), Fraction(0), lambda: after.text)
    if recorded != after.text:
        raise LedgerError(
            f"ledger {path} was carried over to another schema at the same time; nothing was changed; see "
            "`sulq ledger show`"
        )
    return after
