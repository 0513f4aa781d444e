"""The order of charge, look and answer; failures in between; copies and forks; changed lines."""

from __future__ import annotations

import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.ledgers import FORKS, child, ending, opened
from sulq.errors import SulqError
from sulq.ledger.ledger import Ledger
from sulq.queries.expressions import col
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.schema import Boolean
from sulq.sources.opening import open as open_source


def faults(effort: Effort) -> Iterator[AuditFinding]:
    """The order of charge, look and answer; failures in between; copies and forks; changed lines."""
    order: list[str] = []
    ledger = opened(None, 1)

    def looks() -> str:
        order.append(f"spent {ledger.spent}")
        return "answer"

    ledger.release("run", "q", Fraction(1, 4), looks)
    yield exact(
        "when the rows are looked at",
        "the charge is in the ledger",
        f"{order[0]} at the first look",
        "a look before the charge",
        order == ["spent 1/4"],
    )
    tries = [ledger.release("run", "q", Fraction(1, 4), lambda: "another") for _ in range(3)]
    yield exact(
        "the same question again",
        "the stored answer, at no cost",
        f"{set(tries)}, {ledger.spent} spent",
        "another answer or charge",
        set(tries) == {"answer"} and ledger.spent == Fraction(1, 4),
    )

    def fails() -> str:
        raise RuntimeError("the disk is full")

    for _ in range(3):
        try:
            ledger.release("run", "broken", Fraction(1, 4), fails)
        except RuntimeError:
            continue
    kept = ledger.spent
    ledger.release("run", "broken", Fraction(1, 4), lambda: "answer")
    yield exact(
        "an answer that fails, tried again",
        "one charge, which stays",
        f"{kept} spent after 3 failures, {ledger.spent} in the end",
        "a free or a second charge",
        (kept, ledger.spent) == (Fraction(1, 2), Fraction(1, 2)),
    )
    refused = _refusal(lambda: ledger.release("run", "too much", Fraction(3, 4), fails))
    yield exact(
        "a charge above what is left",
        "refused, with nothing looked at and nothing spent",
        f"{refused}, {ledger.spent} spent",
        "any charge or look",
        refused == "BudgetError" and ledger.spent == Fraction(1, 2),
    )
    small = _refusal(lambda: ledger.release("run", "q", Fraction(1, 2), fails))
    inexact: tuple[Any, ...] = (Fraction(-1), 0.1, "1/2")
    costs = [_refusal(partial(ledger.release, "run", f"cost {cost}", cost, fails)) for cost in inexact]
    yield exact(
        "costs that are negative or inexact",
        "refused",
        f"{', '.join(map(str, costs))}; {ledger.spent} spent",
        "any that is taken",
        all(costs) and ledger.spent == Fraction(1, 2) and small in (None, "LedgerError"),
    )
    ledger.set_cap("analyst:ada", Fraction(1, 8))
    capped = _refusal(lambda: ledger.release("other", "q", Fraction(1, 4), fails, account="analyst:ada"))
    yield exact(
        "an analyst's cap",
        "holds",
        f"{capped}, {ledger.spent} spent",
        "any charge above it",
        capped == "BudgetError" and ledger.spent == Fraction(1, 2),
    )
    copies = [_refusal(lambda: pickle.dumps(ledger))]
    if FORKS:
        copies.append(
            "refused"
            if ending(child(lambda: ledger.release("child", "q", Fraction(1, 8), lambda: "x")))
            else None
        )
    yield exact(
        "a ledger in memory: copies and forks",
        "refused: each would be the budget once more",
        ", ".join(map(str, copies)),
        "one that works",
        all(copies),
    )
    yield from _tampered()
    yield from _charge_before_look()


def _tampered() -> Iterator[AuditFinding]:
    """Every line of a ledger's file is changed or deleted: verification must notice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "changed.ledger")
        with opened(path, 1) as ledger:
            for number in range(3):
                ledger.release("run", f"q{number}", Fraction(1, 10), lambda: "answer")
            seal = ledger.seal
        whole, unnoticed, tried = path.read_bytes(), [], 0
        reader = sqlite3.connect(path)
        columns = [row[1] for row in reader.execute("pragma table_info(entries)")]
        rows = len(list(reader.execute("select * from entries")))
        reader.close()
        for row in range(rows):
            for column in [*columns, None]:
                path.write_bytes(whole)
                if not _changed(path, row, column):
                    continue
                tried += 1
                if _sound(path, seal):
                    unnoticed.append(f"line {row + 1}, {column or 'deleted'}")
        yield all_of(
            "changed and deleted lines, with the seal kept", "every one is noticed", unnoticed, tried
        )


def _changed(path: Path, row: int, column: str | None) -> bool:
    """Whether a line could be changed, or deleted, by somebody who first takes the file's own guards away."""
    writer = sqlite3.connect(path)
    at = f"rowid in (select rowid from entries limit 1 offset {row})"
    try:
        for guard in ("no_change", "no_removal"):
            writer.execute(f"drop trigger if exists {guard}")
        writer.execute("pragma ignore_check_constraints = on")
        deletes = f"delete from entries where {at}"
        writer.execute(deletes if column is None else f"update entries set {column} = '7' where {at}")
        writer.commit()
    except sqlite3.Error:
        return False
    finally:
        writer.close()
    return True


def _sound(path: Path, seal: str) -> bool:
    try:
        with Ledger.read(path) as ledger:
            return not ledger.verify(seal)
    except (SulqError, sqlite3.Error, ValueError):
        return False


def _charge_before_look() -> Iterator[AuditFinding]:
    """A curator whose source fails: the charge stays, nothing is told, and a second try is not charged."""
    source = open_source({"sick": [True, False]}, {"sick": Boolean()}, threads=1)
    curator = source.curator(epsilon=1, ledger=":memory:")
    spent: list[Any] = []

    class Failing:
        def __getattr__(self, name: str) -> Any:
            if name == "sums":
                spent.append(curator.spent)
                raise MemoryError("row 7 of Ms Miller")
            return getattr(source, name)

    curator.source = Failing()  # type: ignore[assignment]
    round_ = Round([count(where=col("sick"))], share="1/4")
    texts = {_text(lambda: curator.ask(round_)) for _ in range(2)}
    yield exact(
        "a source that fails in the middle",
        "charged before the look, once, and one constant message",
        f"{spent[0]} spent at the look, {curator.spent} after two tries; {texts}",
        "an uncharged look, a second charge, or a message with a row in it",
        spent[0] == Fraction(1, 4) == curator.spent and len(texts) == 1 and "Miller" not in str(texts),
    )


def _refusal(work: Callable[[], Any]) -> str | None:
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return None


def _text(work: Callable[[], Any]) -> str:
    try:
        return f"answered {work()}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


CHECKS = (
    Check(
        "faults",
        "Faults of the ledger",
        "Order of charge, look and answer; failures, retries, caps, copies, forks; every line changed or "
        "deleted.",
        faults,
    ),
)
