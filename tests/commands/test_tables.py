"""What the ledger's table says of a question, of this version or of the one before."""

from __future__ import annotations

import io
from fractions import Fraction

from rich.console import Console

import sulq
from sulq.commands.tables import ledger_tables
from sulq.ledger.ledger import Ledger
from sulq.queries.former import former_form
from sulq.wire import canonical


def test_a_ledger_tells_what_was_asked_also_of_questions_of_version_0() -> None:
    round_ = sulq.Round([sulq.total("pay"), sulq.choose(["a"], label="b"), sulq.mean("pay")], share=1)
    ledger = Ledger(None, "epsilon", Fraction(1), {})
    for run, form in {"today": round_.form, "before": former_form(round_)}.items():
        ledger.release(run, canonical({"round": form, "allowance": "1"}), Fraction(1, 4), lambda: "{}")
    console = Console(width=200, record=True, file=io.StringIO())
    for table in ledger_tables(ledger, entries=True):
        console.print(table)
    words = "the total of pay; which of 1 candidates tells b best; the mean of pay"
    assert console.export_text().count(words) == 4  # a charge and an answer each
