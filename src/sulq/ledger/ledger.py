"""The curator's ledger: an answer is charged before it is computed, and stored before it is returned.

A crash can therefore waste budget but never leak an answer nobody paid for, and an interrupted run that
asks its questions again gets the stored answers at no cost. The ledger never sees a row of data: it holds
public facts, questions, exact charges and noisy answers.

Its entries form a hash chain, which shows accidents and careless edits. It cannot show a forger who rewrites
the whole file, nor an old copy that was put back: against those, keep its `seal` somewhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from sulq.errors import LedgerError
from sulq.ledger import purpose
from sulq.ledger.accounts import Account, Books, check_account, check_covers
from sulq.ledger.carried import as_carried, carried_in, carry_faults
from sulq.ledger.chain import RESTORE, Entry, RunTotals, entry_in, exact_amount, head_of, runs_in
from sulq.ledger.face import ledger_face
from sulq.ledger.grouped import GroupedStore
from sulq.ledger.pages import Pages
from sulq.ledger.parts import Part
from sulq.ledger.purpose import JSON
from sulq.ledger.record import Record, find, spent_at
from sulq.ledger.sqlite import SqliteStore
from sulq.ledger.store import Store
from sulq.row_function_guard import refuse_row_functions
from sulq.wire import canonical, check_run, check_text


class Ledger:
    """The record of one budget. Many threads and processes may share it, and never spend more than there is.

    Args:
        path: the SQLite file that it is kept in, None for memory, or another `Store`.
        unit: what is spent: "epsilon", "rho" or "queries".
        total: how much of it there is.
        facts: the public facts that tie the ledger to its data and its guarantee. A ledger that was made for
            others is refused.
        schema: the form of the schema that the fact of that name is the hash of. A later refusal can then say
            what differs.

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
        path: str | Path | Store | None,
        unit: str,
        total: Fraction,
        facts: Mapping[str, JSON],
        *,
        schema: JSON = None,
    ) -> None:
        if unit not in ("epsilon", "rho", "queries"):
            raise LedgerError(f'a budget is counted in "epsilon", "rho" or "queries", not in {unit!r}')
        self.unit = unit
        self.total = exact_amount(total)
        self.facts = {name: json.loads(canonical(value)) for name, value in facts.items()}
        self.schema = schema
        self.whole = Part(unit, total, whole=True)  # of which parts can be handed out
        terms = purpose.terms(unit, total, facts)
        self._store = path if isinstance(path, Store) else SqliteStore(path)
        self.path: Path | None = getattr(self._store, "path", None)
        declared = terms | purpose.whole(schema)
        if not self._store.read_only:
            self._store.create(declared | {purpose.HEAD: head_of(0, purpose.beginning(terms))})
        kept = self._store.declared()
        if purpose.differences(kept | purpose.schema_in(declared), declared):  # before anything is changed
            purpose.refuse_others(self._store.name, kept, declared)
        if not self._store.read_only:
            self._store.upgrade()
        self.carried = carried_in(self._store)  # the changes of its schema, in order
        purpose.refuse_others(self._store.name, as_carried(kept, self.carried), declared)
        self._record = Record(self._store, purpose.beginning(kept))
        self.pages = Pages(self._record)

    @classmethod
    def read(cls, path: str | Path | Store) -> Ledger:
        """The ledger in a place that must exist, whatever its facts: to look at, not to write.

        Args:
            path: its file, or a `Store` that is read only.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     Ledger(f"{folder}/people.ledger", "rho", Fraction(1, 8), {"rows": 20190}).close()
        ...     with Ledger.read(f"{folder}/people.ledger") as ledger:
        ...         print(ledger.unit, ledger.total, ledger.facts)
        rho 1/8 {'rows': 20190}
        """
        store = path if isinstance(path, Store) else SqliteStore(path, read_only=True)
        try:
            unit, total, facts, schema = purpose.purpose_in(as_carried(store.declared(), carried_in(store)))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            raise LedgerError(f"ledger {store.name} no longer says what it was made for; {RESTORE}") from None
        return cls(store, unit, total, facts, schema=schema)

    def release(
        self,
        run: str,
        question: str,
        cost: Fraction,
        answer: Callable[[], str],
        *,
        account: str | None = None,
        formerly: str | None = None,
    ) -> str:
        """The answer to a question of a run: the stored one, or else a new one, charged first.

        `cost` is charged before `answer` is called, and what that returns is stored before it is returned.
        A question that was charged but has no answer, after a crash, is answered under the old charge: what
        is not stored was never released. If `answer` raises, the charge stays.

        Args:
            run: the name of the run.
            question: the question, as text.
            cost: what a new answer is charged: to the whole budget, to the account, and to the run.
            answer: computes a new answer.
            account: the analyst who is charged, as "analyst:ada".
            formerly: another text that an earlier version may have stored the same question under. It counts
                if nothing is stored under `question`.

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
        if account is not None:
            check_account(account, charged=True)
        with self._record.transaction(write=True) as transaction:
            question, charge, stored = find(transaction, run, question, formerly)
            if stored is not None:
                return stored
            if charge is not None:
                check_covers(run, charge, cost)
            else:
                self._record.charge(transaction, self.unit, self.total, run, question, cost, account)
        fresh = answer()
        check_text("an answer", fresh)
        with self._record.transaction(write=True) as transaction:
            _, _, stored = find(transaction, run, question)
            if stored is None:
                self._record.answer(transaction, run, question, fresh)
        return fresh if stored is None else stored

    def charged(self, run: str, question: str, *, formerly: str | None = None) -> bool:
        """Whether a question was charged in a run before, so that it costs nothing there any more.

        Args:
            run: the name of the run.
            question: the question, as text.
            formerly: as in `release`.
        """
        check_run(run)
        with self._record.transaction() as transaction:
            return find(transaction, run, question, formerly)[1] is not None

    def set_cap(self, account: str, cap: Fraction) -> None:
        """Say how much an account may be charged in all, from now on. The ledger keeps every such change.

        Args:
            account: "analyst:ada" or "run:tree"; "analyst:*" or "run:*" for every one of them that has no
                cap of its own.
            cap: the most that it may be charged; no less than it was charged already.

        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> ledger.set_cap("analyst:ada", Fraction(1, 4))
        >>> ledger.release("tree", "how many?", Fraction(1, 2), lambda: "20187", account="analyst:ada")
        Traceback (most recent call last):
        sulq.errors.BudgetError: the charge of epsilon = 0.5 exceeds what is left of the cap of ...
        """
        check_account(account)
        with self._record.transaction(write=True) as transaction:
            self._record.cap(transaction, account, cap)

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        with self._record.transaction() as transaction:
            return spent_at(self._record.last(transaction))

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget."""
        return self.total - self.spent

    def spent_of(self, account: str) -> Fraction:
        """The sum of all charges to an account.

        Args:
            account: "analyst:ada" or "run:tree".

        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187", account="analyst:ada")
        >>> ledger.spent_of("analyst:ada"), ledger.spent_of("run:tree"), ledger.spent_of("run:forest")
        (Fraction(1, 4), Fraction(1, 4), Fraction(0, 1))
        """
        return self._record.standing(account, self.total)[0].spent

    def remaining_of(self, account: str) -> Fraction:
        """What an account may still be charged: what its cap leaves, and no more than is left of the budget.

        Args:
            account: "analyst:ada" or "run:tree".
        """
        accounts = self._record.standing(account, self.total, capped_only=True)
        return min(left for each in accounts if (left := each.remaining) is not None)

    def accounts(self) -> list[Account]:
        """Every account that was charged or has a cap, as the entries say, in the order of their appearance.

        >>> ledger = Ledger(None, "epsilon", Fraction(1), {})
        >>> ledger.set_cap("analyst:ada", Fraction(1, 2))
        >>> _ = ledger.release("tree", "how many?", Fraction(1, 4), lambda: "20187", account="analyst:ada")
        >>> [(account.name, account.spent == account.cap / 2) for account in ledger.accounts()[:1]]
        [('analyst:ada', True)]
        """
        return list(Books.of(self.total, self.entries()).accounts.values())

    def entries(self, run: str | None = None, begins: bool = False) -> Iterator[Entry]:
        """Every line of the ledger, in order; a line that was changed from outside is an error.

        Args:
            run: only the charges and answers of this run.
            begins: of all runs whose names begin so.
        """
        with self._record.transaction() as transaction:
            rows = list(transaction.rows() if run is None else transaction.rows_of(run, begins))
        return map(entry_in, rows)

    @property
    def first_question(self) -> str | None:
        """The question of the first entry, None without one: it tells which version began the ledger."""
        return self._record.first_question()

    def runs(self) -> list[RunTotals]:
        """Every run that was charged, in the order in which they began."""
        return runs_in(self.entries())

    @property
    def seal(self) -> str:
        """The hash of the last entry, which stands for all of them: kept elsewhere, it tells an old copy."""
        with self._record.transaction() as transaction:
            last = self._record.last(transaction)
        return self._record.beginning if last is None else last.hash

    def verify(self, seal: str | None = None) -> list[str]:
        """What is wrong with the ledger, everything recomputed from its first line; [] if it is sound.

        Args:
            seal: one that was seen before, and must be the ledger's still or that of an earlier entry.
        """
        faults = purpose.schema_faults(self.facts, self.schema)
        faults += carry_faults(self._store.declared(), self.carried)
        return faults + self._record.faults(self.total, seal)

    def _repr_html_(self) -> str:
        return ledger_face(self.unit, self.total, self.facts, list(self.entries()))

    def shared(self) -> Ledger:
        """The same ledger for many threads at once, which share their commits; see `GroupedStore`."""
        return Ledger(GroupedStore(self._store), self.unit, self.total, self.facts, schema=self.schema)

    def close(self) -> None:
        """Let go of the store; a ledger in memory is gone."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Ledger], tuple[Any, ...]]:
        if self._store.read_only:
            return Ledger.read, (self._store,)
        return partial(Ledger, schema=self.schema), (self._store, self.unit, self.total, self.facts)
