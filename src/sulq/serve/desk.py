"""A data set as a service hands it out: plain data in, and plain data back. No HTTP is in sight.

Analysts do not see each other: the run that an analyst calls "tree" is "ada/tree" in the ledger. So nobody
gets at another one's answers, or finds out what was asked before. The owner names runs as the ledger does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from sulq.classes import pick, shortest, solve  # noqa: F401, each registers its question
from sulq.errors import AdaptivityError, BudgetError, QueryError, ReleaseError, SchemaError, SulqError
from sulq.ledger.chain import Entry, runs_in
from sulq.ledger.ledger import Ledger
from sulq.numbers import rational
from sulq.oracles.curator import Curator
from sulq.queries.reading import parse_round
from sulq.queries.room import at_most
from sulq.queries.rounds import Round
from sulq.serve.config import account_of
from sulq.serve.departures import departed, seal_for_analysts, wait_until_left
from sulq.serve.keys import AccessKey
from sulq.serve.limits import Limits, Room
from sulq.serve.refusals import RefusedError
from sulq.serve.schedule import Schedule
from sulq.talk.offer import Offer
from sulq.wire import canonical, check_run, exact, of_json, shown

T = TypeVar("T")
LONGEST_RUN = 200
BETWEEN = "/"


@dataclass(frozen=True)
class Desk:
    """One data set, as it is handed out.

    Args:
        name: what analysts call it.
        curator: who answers.
        limits: how much may be asked.
        room: for how many numbers there is memory at once, in all data sets.
        schedule: when answers leave. Before that, nothing that an analyst can see tells that they are there.
    """

    name: str
    curator: Curator
    limits: Limits
    room: Room
    schedule: Schedule

    def about(self, key: AccessKey) -> dict[str, Any]:
        """What the data set offers, and what is left for whoever asks."""
        curator = self._curator(key)
        offer = curator.offer
        return {
            "name": self.name,
            "promise": offer.promise,
            "unit": offer.unit,
            "total": str(offer.total),
            "spent": str(curator.spent),
            "remaining": str(curator.remaining),
            "offer": offer.form,
        }

    def quote(self, key: AccessKey, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a round would cost, and how well it would be answered. Nothing is spent."""
        curator, round_, run, cost = self._asked(key, body)
        curator.check_open(round_, run)
        beta = float(rational("beta", body["beta"], below=1))
        offer = curator.offer
        with at_most(self.limits.numbers):
            errors, promises = offer.error(round_, beta), offer.promises(round_)
        left = min(curator.remaining, curator.ledger.remaining_of(f"run:{run}"))
        return {
            "unit": offer.unit,
            "cost": str(cost),
            "error": [None if error is None or math.isinf(error) else error for error in errors],
            "promises": promises,
            "charged": curator.charged(round_, run),
            "remaining": str(left),
        }

    def ask(self, key: AccessKey, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answers to a round: those that are stored, or new ones, which are charged first.

        What costs nothing is the same for everybody's rows, as their number where it is public. It is not
        kept: otherwise anyone could fill the ledger, at no cost.
        """
        curator, round_, run, cost = self._asked(key, body)
        if not cost:
            curator = replace(curator, ledger=self._unkept())
        with at_most(self.limits.numbers):
            answers = once_charged(lambda: curator.ask(round_, run))
        if cost and not curator.looks:  # it was stored: somebody may just be waiting for it to leave
            self.room.take(0)
            wait_until_left(curator.kept(round_, run), self.schedule)
        return {"answers": [answer.form() for answer in answers]}

    def runs(
        self, key: AccessKey, run: str | None = None, after: str | None = None, most: int | None = None
    ) -> list[dict[str, Any]]:
        """The runs of whoever asks, by name, and what they were charged; all runs for the owner.

        Args:
            key: who asks.
            run: only this run.
            after: the name of the run before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        ledger = self.curator.ledger
        mine = "" if key.owner else f"{key.name}{BETWEEN}"
        if run is None:
            first = None if after is None else f"{mine}{after}"
            runs = ledger.pages.runs(mine, first, most, iter if key.owner else self._seen)
        else:
            entries = ledger.entries(self._run(key, run))
            runs = runs_in(entries if key.owner else self._seen(entries))
        return [
            {
                "run": totals.name.removeprefix(mine),
                "charges": totals.charges,
                "answers": totals.answers,
                "spent": str(totals.spent),
                "first": totals.first,
                "last": totals.last,
            }
            for totals in runs
        ]

    def results(self, key: AccessKey, run: str, after: int, most: int) -> dict[str, Any]:
        """What a run was charged and answered, with all that is needed to show it again, at no cost.

        Args:
            key: who asks.
            run: the run.
            after: the number of the entry after which to begin.
            most: how many entries at most.
        """
        name = self._run(key, run)
        entries = self.curator.ledger.pages.entries(after, most + 1, name)
        shown = entries[:most] if key.owner else self._seen(entries[:most])
        return {"results": [self.result_of(entry) for entry in shown], "more": len(entries) > most}

    def entries(self, after: int, most: int) -> dict[str, Any]:
        """The entries of the ledger as they are kept, from one number on."""
        entries = self.curator.ledger.pages.entries(after, most + 1)
        return {"entries": [_entry_form(entry) for entry in entries[:most]], "more": len(entries) > most}

    def seal(self, key: AccessKey) -> dict[str, Any]:
        """The hash that stands for the whole ledger; for an analyst, up to its last charge or cap.

        When an answer was stored depends on how long it took. So its hash is the owner's.
        """
        ledger = self.curator.ledger
        return {"seal": ledger.seal if key.owner else seal_for_analysts(ledger)}

    def verification(self, seal: str | None) -> dict[str, Any]:
        """Whether every sum and every hash of the ledger fits."""
        faults = self.curator.ledger.verify(seal)
        return {"sound": not faults, "faults": faults, "seal": "" if faults else self.curator.ledger.seal}

    def accounts(self, after: str | None = None, most: int | None = None) -> list[dict[str, Any]]:
        """The accounts of analysts, and those of runs that a cap holds for, by name.

        Args:
            after: the name of the account before the first; None to begin with the first.
            most: how many at most; None for all.
        """
        return [
            {
                "account": account.name,
                "spent": str(account.spent),
                "cap": None if account.cap is None else str(account.cap),
            }
            for account in self.curator.ledger.pages.accounts(after, most)
        ]

    def set_cap(self, account: str, cap: str) -> dict[str, Any]:
        """Say how much an account may be charged in all."""
        self.curator.ledger.set_cap(account, rational("a cap", exact(cap, "a cap")))
        return {"account": account, "cap": str(Fraction(cap))}

    def _seen(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        return departed(entries, self.curator.ledger, self.schedule)

    def _unkept(self) -> Ledger:
        """A ledger in memory with nothing to spend."""
        return Ledger(None, self.curator.offer.unit, Fraction(0), {})

    def _curator(self, key: AccessKey) -> Curator:
        account = None if key.owner else account_of(key.name)
        return replace(self.curator, account=account)

    def _asked(self, key: AccessKey, body: Mapping[str, Any]) -> tuple[Curator, Round, str, Fraction]:
        """Who answers, what is asked, the run in the ledger, and the cost; or a refusal by public facts."""
        run = self._run(key, body["run"])
        curator = self._curator(key)
        allowance = rational("allowance", exact(body["allowance"], "an allowance"), most=1)
        offer: Offer = replace(curator.offer, allowance=allowance)
        with at_most(self.limits.numbers):
            round_ = Round.of(body["round"])
            with self.room.measuring:
                numbers = self.limits.check_round(round_, offer.scope)
            self.room.take(numbers)
            cost = offer.cost(round_)
        self.limits.check_cost(cost, offer.total)
        return replace(curator, offer=offer), round_, run, cost

    def _run(self, key: AccessKey, run: str) -> str:
        """The name of a run in the ledger."""
        try:
            check_run(run)
        except SulqError:
            raise RefusedError("malformed", "the name of a run has letters that UTF-8 cannot write") from None
        if not 0 < len(run) <= LONGEST_RUN:
            raise QueryError(f"the name of a run has 1 to {LONGEST_RUN} letters, not {len(run)}")
        if not run.isprintable():  # the owner's terminal would obey some of them
            raise QueryError("the name of a run has letters that can be printed, and nothing else")
        return run if key.owner else f"{key.name}{BETWEEN}{run}"

    def result_of(self, entry: Entry) -> dict[str, Any]:
        """An entry of a run: a question with its cost, or with its answers."""
        result: dict[str, Any] = {
            "number": entry.number,
            "kind": entry.kind,
            "time": entry.time,
            "cost": str(entry.cost),
            "round": None,
            "allowance": None,
            "answers": None,
        }
        with suppress(QueryError, KeyError, TypeError):  # an earlier version may have asked in other words
            question = of_json(entry.question, "a question")
            round_ = parse_round(canonical(question["round"]))
            offer = replace(self.curator.offer, allowance=Fraction(question["allowance"]))
            result |= {"round": round_.form, "allowance": question["allowance"]}
            if entry.answer is not None:
                released = of_json(entry.answer, "an answer")
                answers = offer.read(round_, offer.terms(round_), released)
                result["answers"] = [answer.form() for answer in answers]
        return result


def once_charged(ask: Callable[[], T]) -> T:
    """What is answered. Whatever goes wrong after a charge has the same words, whoever's fault it was."""
    try:
        return ask()
    except (AdaptivityError, BudgetError, QueryError, SchemaError):
        raise
    except Exception:
        raise ReleaseError from None


def _entry_form(entry: Entry) -> dict[str, Any]:
    form = {name: getattr(entry, name) for name in ("number", "kind", "run", "question", "answer", "time")}
    form |= {name: getattr(entry, name) for name in ("previous", "hash", "account")}
    amounts = {"cost": entry.cost, "spent": entry.spent, "cap": entry.cap}
    return form | {name: None if value is None else str(value) for name, value in amounts.items()}


def named(desks: Mapping[str, Desk], name: str, key: AccessKey) -> Desk:
    """The data set of this name, if the key is for it: whether there are others is nobody's business.

    Args:
        desks: all data sets, by name.
        name: the name.
        key: who asks.
    """
    desk = desks.get(name)
    if desk is None or not key.allows(name):
        mine = ", ".join(each for each in desks if key.allows(each)) or "none"
        raise RefusedError("not_found", f"there is no data set {shown(name)} for this key; there are: {mine}")
    return desk
