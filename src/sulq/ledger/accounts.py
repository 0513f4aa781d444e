"""Accounts and rules: what may be charged to whom. No store and no row of data is in sight here.

A charge counts against the whole budget, against the account of its analyst, and against the account of its
run. Each of these may have a cap. A charge that one of them cannot bear is not made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from sulq import faces
from sulq.errors import BudgetError, LedgerError
from sulq.ledger.chain import RESTORE, Entry, Row, as_text, exact_amount
from sulq.numbers import amount
from sulq.wire import canonical, check_text, digest

ANALYST, RUN = "analyst:", "run:"
DEFAULT = "*"


@dataclass(frozen=True)
class Account:
    """What was charged to an account, and how much may be.

    Args:
        name: "analyst:" or "run:", and a name; "analyst:*" and "run:*" stand for all that have no cap of
            their own.
        spent: the sum of its charges.
        cap: what it may be charged in all, None if that was not said.

    >>> Account("analyst:ada", Fraction(1, 4), Fraction(1)).remaining
    Fraction(3, 4)
    """

    name: str
    spent: Fraction = Fraction(0)
    cap: Fraction | None = None

    @property
    def remaining(self) -> Fraction | None:
        """What the cap leaves, None if there is no cap."""
        return None if self.cap is None else self.cap - self.spent

    def _repr_html_(self) -> str:
        if self.cap is None:
            return faces.face(self.name, faces.facts([("spent", amount(self.spent)), ("cap", "none")]))
        return faces.face(self.name, faces.bar(self.spent, self.cap, "its cap"))


WHOLE = ""
"""The name of the account that every charge counts against: the budget itself."""


def check_account(account: object, charged: bool = False) -> None:
    """Refuse what is no account's name.

    Args:
        account: the name.
        charged: whether someone is to be charged, and not only looked up: the run is known already.

    >>> check_account("ada")
    Traceback (most recent call last):
    sulq.errors.LedgerError: an account is "analyst:" or "run:" and a name, as "analyst:ada", not 'ada'; ...
    """
    check_text("an account", account)
    name = str(account)
    if not name.startswith((ANALYST, RUN)):
        raise LedgerError(
            f'an account is "analyst:" or "run:" and a name, as "analyst:ada", not {account!r}; nothing was '
            "released"
        )
    if charged and (name in (ANALYST, default_of(ANALYST)) or not name.startswith(ANALYST)):
        raise LedgerError(
            f'a charge is made to one analyst, as "analyst:ada", not to {account!r} (its run counts by '
            "itself); nothing was released"
        )


def accounts_of(run: str, account: str | None) -> tuple[str, ...]:
    """The accounts below the whole budget that a charge counts against.

    >>> accounts_of("tree", "analyst:ada")
    ('analyst:ada', 'run:tree')
    """
    return (f"{RUN}{run}",) if account is None else (account, f"{RUN}{run}")


def default_of(name: str) -> str:
    """The account whose cap holds for this one if it has no cap of its own.

    >>> default_of("analyst:ada")
    'analyst:*'
    """
    return f"{name.partition(':')[0]}:{DEFAULT}"


def standing(name: str, known: Mapping[str, Account]) -> Account:
    """An account with the cap that holds for it: its own, or else the default.

    >>> standing("run:tree", {"run:*": Account("run:*", cap=Fraction(1, 2))}).cap
    Fraction(1, 2)
    """
    account = known.get(name) or Account(name)
    default = known.get(default_of(name))
    return account if account.cap is not None or default is None else replace(account, cap=default.cap)


def counted(names: Iterable[str], known: Mapping[str, Account]) -> list[str]:
    """Of the accounts of a charge, those that have to be kept: of analysts, and of runs if caps ask for it.

    What a run without a cap was charged, its entries tell.

    >>> counted(["analyst:ada", "run:tree"], {})
    ['analyst:ada']
    """
    return [name for name in names if name.startswith(ANALYST) or name in known or default_of(name) in known]


def charged(
    unit: str, whole: Account, names: Sequence[str], known: Mapping[str, Account], cost: Fraction
) -> list[Account]:
    """The accounts below the whole as they are after a charge, or a refusal.

    Args:
        unit: what the budget is counted in.
        whole: the budget itself.
        names: the accounts that the charge counts against.
        known: these accounts and their defaults, as far as there are any.
        cost: the charge.

    >>> whole, known = Account("", cap=Fraction(1)), {"run:*": Account("run:*", cap=Fraction(1, 2))}
    >>> [tree] = charged("epsilon", whole, ["run:tree"], known, Fraction(1, 4))
    >>> tree.spent
    Fraction(1, 4)
    >>> charged("epsilon", whole, ["run:tree"], known, Fraction(3, 4))
    Traceback (most recent call last):
    sulq.errors.BudgetError: the charge of epsilon = 0.75 exceeds what is left of the cap of 'run:tree', ...
    """
    capped_accounts = (whole, *(standing(name, known) for name in names))
    if refusals := [
        (left, each) for each in capped_accounts if (left := each.remaining) is not None and cost > left
    ]:
        left, tightest = min(refusals, key=lambda refusal: refusal[0])
        raise BudgetError(unit, cost, left, account=tightest.name or None)
    accounts = (known.get(name) or Account(name) for name in names)
    return [replace(account, spent=account.spent + cost) for account in accounts]


def capped(name: str, cap: Fraction, known: Mapping[str, Account]) -> Account:
    """An account with a new cap, or a refusal if more was spent already by those that the cap holds for.

    Args:
        name: the account.
        cap: what it may be charged in all.
        known: all accounts there are.

    >>> capped("run:tree", Fraction(1, 4), {"run:tree": Account("run:tree", Fraction(1, 2))})
    Traceback (most recent call last):
    sulq.errors.LedgerError: the cap of 'run:tree' cannot be 1/4: 'run:tree' has spent 1/2 already; ...
    """
    exact_amount(cap)
    touched = [known.get(name) or Account(name)]
    if name == default_of(name):
        touched += [
            account for account in known.values() if account.cap is None and default_of(account.name) == name
        ]
    most = max(touched, key=lambda account: account.spent)
    if cap < most.spent:
        raise LedgerError(
            f"the cap of {name!r} cannot be {cap}: {most.name!r} has spent {most.spent} already; the cap is "
            "as before; choose one that is no lower"
        )
    return replace(touched[0], cap=cap)


def check_covers(run: str, charge: Entry, cost: Fraction) -> None:
    """Refuse to answer under an old charge what costs more now."""
    if charge.cost < cost:
        raise LedgerError(
            f"a question of run {run!r} was charged {charge.cost} before an interruption, and now "
            f"costs {cost}, more than that covers; nothing was released; ask it in another run"
        )


def row_of(account: Account) -> Row:
    """An account as a store keeps it: its name, what was spent, its cap, and a hash of these.

    >>> row_of(Account("run:tree", Fraction(1, 4)))[:3]
    ('run:tree', '1/4', None)
    """
    row = (account.name, as_text(account.spent), None if account.cap is None else as_text(account.cap))
    return (*row, digest(canonical(row)))


def account_in(row: Row) -> Account:
    """The account in a row, if that is as it was written."""
    name, spent, cap, seal = row
    with suppress(TypeError):  # damage may look like bytes
        if digest(canonical((name, spent, cap))) == seal:
            return Account(name, Fraction(spent), None if cap is None else Fraction(cap))
    raise LedgerError(f"account {name!r} was changed from outside; nothing was released; {RESTORE}")


class Books:
    """All accounts as a ledger's entries leave them, and what is wrong with these entries.

    Args:
        total: the whole budget.

    >>> books = Books(Fraction(1))
    >>> entry = Entry(1, "charge", "tree", "how many?", Fraction(2), None, Fraction(2), "", "", "")
    >>> list(books.enter(entry)), books.accounts["run:tree"].spent
    (['entry 1 brings the charges to 2, and the budget is 1'], Fraction(2, 1))
    """

    def __init__(self, total: Fraction) -> None:
        self.total = total
        self.accounts: dict[str, Account] = {}
        self._spent: Fraction | None = Fraction(0)  # None after an entry that cannot be read
        self._complete = True
        self._seen: set[tuple[str, str, str]] = set()

    @classmethod
    def of(cls, total: Fraction, entries: Iterable[Entry]) -> Books:
        """The books after all these entries, whatever may be wrong with them."""
        books = cls(total)
        for entry in entries:
            list(books.enter(entry))
        return books

    def miss(self) -> None:
        """An entry that comes next cannot be read."""
        self._spent = None
        self._complete = False

    def enter(self, entry: Entry) -> Iterator[str]:
        """Count an entry, and say what is wrong with it."""
        here = f"entry {entry.number}"
        if entry.cost < 0 or (self._spent is not None and entry.spent != self._spent + entry.cost):
            yield f"{here} says that {entry.spent} is spent, which is not what the charges add up to"
        if entry.spent > self.total:
            yield f"{here} brings the charges to {entry.spent}, and the budget is {self.total}"
        self._spent = entry.spent
        if entry.kind == "cap":
            yield from self._cap(here, entry)
            return
        if (entry.kind, entry.run, entry.question) in self._seen:
            yield f"{here} is a second {entry.kind} for one question of run {entry.run!r}"
        if entry.kind == "answer" and ("charge", entry.run, entry.question) not in self._seen:
            yield f"{here} answers a question of run {entry.run!r} that was not charged before"
        self._seen.add((entry.kind, entry.run, entry.question))
        if entry.kind == "charge":
            yield from self._charge(here, entry)

    def _cap(self, here: str, entry: Entry) -> Iterator[str]:
        name, cap = entry.account or "", entry.cap or Fraction(0)
        try:
            self.accounts[name] = capped(name, cap, self.accounts)
        except LedgerError:
            yield f"{here} says that {cap} is the cap of {name!r}, of which more is spent already"

    def _charge(self, here: str, entry: Entry) -> Iterator[str]:
        for name in accounts_of(entry.run, entry.account):
            account = self.accounts.get(name) or Account(name)
            self.accounts[name] = replace(account, spent=account.spent + entry.cost)
            held = standing(name, self.accounts)
            if held.cap is not None and held.spent > held.cap:
                yield f"{here} brings the charges of {name!r} to {held.spent}, and its cap is {held.cap}"

    def differences(self, kept: Mapping[str, Row]) -> Iterator[str]:
        """Where what a store keeps of accounts is not what its entries say."""
        capped_accounts = {
            name: account for name, account in self.accounts.items() if account.cap is not None
        }
        expected = {*counted(self.accounts, capped_accounts), *kept}
        for name in sorted(expected, key=str) if self._complete else ():
            account = self.accounts.get(name)
            if account is None or kept.get(name) != row_of(account):
                yield f"what is kept of account {name!r} is not what the entries add up to"
