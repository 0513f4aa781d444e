"""The curator's ledger: an answer is charged before it is computed, and stored before it is returned.

A crash can therefore waste budget but never leak an answer nobody paid for, and an interrupted run that
asks its questions again gets the stored answers at no cost. The ledger never sees a row of data: it holds
public facts, questions, exact charges and noisy answers.

Its entries form a hash chain, which shows accidents and careless edits. It cannot show a forger who rewrites
the whole file, nor an old copy that was put back: against those, keep its `seal` somewhere else.
"""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sulq.errors import BudgetError, LedgerError
from sulq.inside import refuse_row_functions
from sulq.ledger.chain import (
    INSERT,
    RESTORE,
    SELECT,
    Entry,
    EntryKind,
    Run,
    as_text,
    entry_in,
    exact_amount,
    faults,
    seal_of,
)
from sulq.ledger.purpose import FACT, JSON, SCHEMA, differences, terms, whole
from sulq.ledger.sqlite import (
    TABLES,
    begin,
    bring_into_one_file,
    connect,
    declared,
    gate,
    guarded,
    head,
    patiently,
    strays,
)
from sulq.privacy.memory import check_process, refuse_copy
from sulq.wire import canonical, check_run, check_text, digest


class Ledger:
    """The record of one budget, in one SQLite file, or in memory if `path` is None.

    `unit` says what is spent ("epsilon", "rho" or "queries") and `total` how much of it there is. `facts`
    are the public facts that tie the file to its data and its guarantee: a file made for others is refused.
    `schema`: the form of the schema that the fact of that name is the hash of; a later refusal can then say
    what differs. Many threads and processes may share a file, and together never spend more than `total`.

    >>> ledger = Ledger(None, "epsilon", Fraction(1), {"rows": 20190})
    >>> ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187")
    '20187'
    >>> ledger.release("tree", "how many?", Fraction(1, 4), lambda: "neither called nor charged")
    '20187'
    >>> ledger.spent, ledger.remaining
    (Fraction(1, 4), Fraction(3, 4))
    >>> ledger.verify()
    []
    """

    def __init__(
        self,
        path: str | Path | None,
        unit: str,
        total: Fraction,
        facts: Mapping[str, JSON],
        *,
        schema: JSON = None,
        read_only: bool = False,
    ) -> None:
        if unit not in ("epsilon", "rho", "queries"):
            raise LedgerError(f'a budget is counted in "epsilon", "rho" or "queries", not in {unit!r}')
        self.path = None if path is None else Path(path).resolve()
        self.unit = unit
        self.total = exact_amount(total)
        self.facts = {name: json.loads(canonical(value)) for name, value in facts.items()}
        self.schema = schema
        self._terms = terms(unit, total, facts)
        self._terms_hash = digest(canonical(self._terms))
        self._read_only = read_only
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._seen = (0, self._terms_hash)  # number and hash of an entry that the file must still have
        self._place: tuple[int, int] | None = None
        with guarded(self.path):
            if self.path is not None:
                if not read_only:
                    self._create(self.path)
                self._place = _place(self.path)
                self._compare(self.path)
                if not read_only:
                    bring_into_one_file(self.path)
            self._connected()
            _ledgers.add(self)

    @classmethod
    def read(cls, path: str | Path) -> Ledger:
        """The ledger in a file that must exist, whatever its facts: to look at, not to write.

        >>> with TemporaryDirectory() as folder:
        ...     Ledger(f"{folder}/people.ledger", "rho", Fraction(1, 8), {"rows": 20190}).close()
        ...     with Ledger.read(f"{folder}/people.ledger") as ledger:
        ...         print(ledger.unit, ledger.total, ledger.facts)
        rho 1/8 {'rows': 20190}
        """
        file = Path(path).resolve()
        with guarded(file):
            kept = declared(file)
        try:
            unit, total = kept.pop("unit"), Fraction(kept.pop("total"))
            schema = json.loads(kept.pop(SCHEMA, "null"))
            facts = {name.removeprefix(FACT): json.loads(value) for name, value in kept.items()}
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise LedgerError(f"ledger {file} no longer says what it was made for; {RESTORE}") from None
        return cls(file, unit, total, facts, schema=schema, read_only=True)

    def release(
        self,
        run: str,
        question: str,
        cost: Fraction,
        answer: Callable[[], str],
        *,
        formerly: str | None = None,
    ) -> str:
        """The answer to a question of a run: the stored one, or else a new one, charged first.

        `cost` is charged before `answer` is called, and what that returns is stored before it is returned.
        A question that was charged but has no answer, after a crash, is answered under the old charge: what
        is not stored was never released. If `answer` raises, the charge stays. `formerly`: how an earlier
        version wrote the same question. A charge under that text counts as the question's.

        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> ledger.release("tree", "how many?", Fraction(1), lambda: "20187")
        '20187'
        >>> ledger.release("forest", "how many?", Fraction(1), lambda: "20191")
        Traceback (most recent call last):
        sulq.errors.BudgetError: the charge of epsilon = 1 exceeds what is left, 0, by 1; it was not made
        """
        refuse_row_functions()
        exact_amount(cost)
        check_run(run)
        check_text("a question", question)
        seen = self._seen
        with self._transaction() as connection:
            question = _known(connection, run, question, formerly)
            charge, stored = _find(connection, run, question)
            if stored is not None:
                return stored
            if charge is None:
                _, spent, _ = self._last(connection)
                if spent + cost > self.total:
                    raise BudgetError(self.unit, requested=cost, remaining=self.total - spent)
                seen = self._append(connection, "charge", run, question, cost, None)
            elif charge.cost < cost:
                raise LedgerError(
                    f"a question of run {run!r} was charged {charge.cost} before an interruption, and now "
                    f"costs {cost}, more than that covers; nothing was released; ask it in another run"
                )

        self._seen = max(self._seen, seen)
        fresh = answer()
        check_text("an answer", fresh)

        with self._transaction() as connection:
            _, stored = _find(connection, run, question)
            if stored is None:
                seen = self._append(connection, "answer", run, question, Fraction(0), fresh)
        self._seen = max(self._seen, seen)
        return fresh if stored is None else stored

    def charged(self, run: str, question: str, *, formerly: str | None = None) -> bool:
        """Whether a question was charged in a run before, so that it costs nothing there any more.

        `formerly`: how an earlier version wrote the same question, if it did.
        """
        check_run(run)
        with self._transaction("DEFERRED") as connection:
            charge, _ = _find(connection, run, _known(connection, run, question, formerly))
        return charge is not None

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        with self._transaction("DEFERRED") as connection:
            _, spent, _ = self._last(connection)
            return spent

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget."""
        return self.total - self.spent

    def entries(self) -> Iterator[Entry]:
        """Every line of the ledger, in order; a line that was changed from outside is an error."""
        with self._transaction("DEFERRED") as connection:
            rows = connection.execute(f"{SELECT} ORDER BY number").fetchall()
        return map(entry_in, rows)

    def runs(self) -> list[Run]:
        """Every run that was charged, in the order in which they began."""
        runs: dict[str, Run] = {}
        for entry in self.entries():
            run = runs.get(entry.run, Run(entry.run, 0, 0, Fraction(0), entry.time, entry.time))
            charges = run.charges + (entry.kind == "charge")
            answers = run.answers + (entry.kind == "answer")
            runs[run.name] = Run(run.name, charges, answers, run.spent + entry.cost, run.first, entry.time)
        return list(runs.values())

    @property
    def seal(self) -> str:
        """The hash of the last entry, which stands for all of them: kept elsewhere, it tells an old copy."""
        with self._transaction("DEFERRED") as connection:
            return self._last(connection)[2]

    def verify(self, seal: str | None = None) -> list[str]:
        """What is wrong with the ledger, everything recomputed from its first line; [] if it is sound.

        `seal`: one that was seen before, and must be the ledger's still or that of an earlier entry.
        """
        with self._transaction("DEFERRED") as connection:
            damage = [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
            rows = connection.execute(f"{SELECT} ORDER BY number")
            wrong = list(faults(rows, self._terms_hash, head(connection), self.total))
            found = connection.execute("SELECT 1 FROM entries WHERE hash = ?", (seal,)).fetchone()
            if seal not in (None, self._terms_hash) and found is None:
                wrong.append(f"no entry has the hash {seal}: this is an older copy, or another ledger")
            return [*(f"the file is damaged: {line}" for line in damage), *wrong]

    def close(self) -> None:
        """Let go of the file; a ledger in memory is gone."""
        with guarded(self.path):
            self._closed = True
            self._disconnect()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Ledger], tuple[Any, ...]]:
        if self.path is None:
            refuse_copy("a ledger", "give it a file")
        if self._read_only:
            return Ledger.read, (self.path,)
        return partial(Ledger, schema=self.schema), (self.path, self.unit, self.total, self.facts)

    def _last(self, connection: sqlite3.Connection) -> tuple[int, Fraction, str]:
        """Number, running total and hash of the last entry, the one entry that a new one has to trust."""
        number, spent, seal = 0, Fraction(0), self._terms_hash
        row = connection.execute(f"{SELECT} ORDER BY number DESC LIMIT 1").fetchone()
        if row is not None:
            last = entry_in(row)
            number, spent, seal = last.number, last.spent, last.hash
        if head(connection) != f"{number} {seal}":
            raise LedgerError(
                f"ledger {self.path} did not end with entry {number}: it was changed from outside, and "
                f"verify() says more; nothing was released; {RESTORE}"
            )
        self._seen = max(self._seen, (number, seal))
        return number, spent, seal

    def _append(
        self,
        connection: sqlite3.Connection,
        kind: EntryKind,
        run: str,
        question: str,
        cost: Fraction,
        answer: str | None,
    ) -> tuple[int, str]:
        """Add an entry; its number and hash."""
        number, spent, previous = self._last(connection)
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (number + 1, kind, run, question, as_text(cost), answer, as_text(spent + cost), time, previous)
        seal = seal_of(row)
        connection.execute(INSERT, (*row, seal, digest(question)))
        connection.execute("UPDATE meta SET value = ? WHERE key = 'head'", (f"{number + 1} {seal}",))
        return number + 1, seal

    @contextmanager
    def _transaction(self, mode: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """All that is done inside happens, or none of it; IMMEDIATE keeps other writers out throughout."""
        with guarded(self.path):
            connection = self._connected()
            try:
                begin(connection, mode)
                self._check_place(connection)
                yield connection
                patiently(lambda: connection.execute("COMMIT"))
            finally:
                connection.rollback()  # nothing to do after a commit

    def _check_place(self, connection: sqlite3.Connection) -> None:
        """Refuse if the path leads to another file than was opened, or to an older state of it.

        Whoever goes by the path would find less spent than was.
        """
        if self.path is not None and _place(self.path) != self._place:
            raise LedgerError(
                f"ledger {self.path} is no longer the file that was opened: that was removed, or another was "
                "put in its place; nothing was released; bring it back, and open it again"
            )
        number, seal = self._seen
        rows = connection.execute("SELECT hash FROM entries WHERE number = ?", (number,)).fetchall()
        if number and rows != [(seal,)]:
            raise LedgerError(
                f"ledger {self.path} no longer has entry {number} as it was: an older copy was put in its "
                f"place, or it was changed; nothing was released; {RESTORE}"
            )

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerError(f"ledger {self.path} is closed; nothing was released; open it again")
        if self._connection is None:
            self._process = os.getpid()
            if self.path is None:
                self._connection = connect(":memory:")
                self._write_terms(self._connection)
            else:
                self._connection = connect(f"{self.path.as_uri()}?mode=rw")
                self._connection.execute(f"PRAGMA query_only = {self._read_only}")
        if self.path is None:
            check_process(self._process, "a ledger", "give the ledger a file")
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _create(self, path: Path) -> None:
        """Link a finished file into place unless there is one: nobody ever sees it half made, or empty."""
        left = strays(path)  # before the file is looked for, which whoever makes it does first
        if not path.exists():
            if left:
                raise LedgerError(
                    f"ledger {path} is gone, but {left[0].name} is there, which belongs to it; nothing was "
                    "released; bring back the ledger, or remove what is left of it"
                )
            with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
                draft = Path(folder, "draft")
                with closing(connect(f"{draft.as_uri()}?mode=rwc")) as connection:
                    self._write_terms(connection)
                with suppress(FileExistsError):
                    os.link(draft, path)

    def _write_terms(self, connection: sqlite3.Connection) -> None:
        meta = self._terms | whole(self.schema) | {"head": f"0 {self._terms_hash}"}
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        connection.execute("COMMIT")

    def _compare(self, path: Path) -> None:
        different = differences(declared(path), self._terms | whole(self.schema))
        if different:
            raise LedgerError(
                f"ledger {path} was made for something else: {'; '.join(different)}; open it with what it "
                "was made for: another ledger would be a second budget on the same people, and both promises "
                "add up"
            )


# SQLite's locks and shared memory belong to one process, so no connection may cross a fork: all of them are
# closed before it, and each side opens its own when it next needs one.
_ledgers: weakref.WeakSet[Ledger] = weakref.WeakSet()


def _before_fork() -> None:
    gate.acquire()
    for ledger in _ledgers:
        if ledger.path is not None:
            ledger._disconnect()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=gate.release, after_in_child=gate.release)


def _place(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _find(connection: sqlite3.Connection, run: str, question: str) -> tuple[Entry | None, str | None]:
    """The charge for a question of a run, and its stored answer, as far as there are any."""
    rows = connection.execute(f"{SELECT} WHERE run = ? AND question_hash = ?", (run, digest(question)))
    found = {entry.kind: entry for entry in map(entry_in, rows)}
    answer = found.get("answer")
    return found.get("charge"), None if answer is None else answer.answer


def _known(connection: sqlite3.Connection, run: str, question: str, formerly: str | None) -> str:
    """The text under which a question was charged in a run: that of an earlier version, if only that was."""
    if formerly is not None and _find(connection, run, question) == (None, None):
        charge, _ = _find(connection, run, formerly)
        return question if charge is None else formerly
    return question
