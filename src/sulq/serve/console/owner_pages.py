"""The pages of the owner: what was spent, by whom and on what; caps, keys, and the seal of a ledger."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from sulq.errors import SulqError
from sulq.ledger.accounts import ANALYST
from sulq.ledger.chain import Entry
from sulq.ledger.face import in_words
from sulq.numbers import rational
from sulq.serve.console.analyst_pages import standing
from sulq.serve.console.choices import Choices
from sulq.serve.console.showing import drawn, questions_shown
from sulq.serve.console.spending import budget_picture, spent_by
from sulq.serve.console.visiting import Visit, Visiting, found_at
from sulq.serve.desk import Desk
from sulq.serve.handling import refusal_for
from sulq.serve.keys import moment
from sulq.serve.refusals import RefusedError

A_PAGE = 20
"""How many questions are on a page."""


def add_owner_pages(router: APIRouter, visiting: Visiting) -> None:
    """Add the pages of the owner.

    Args:
        router: where they are added.
        visiting: what all pages share.
    """
    page, keys = visiting.page, visiting.service.keys

    def budget(visit: Visit, desk: Desk, status: int = 200, **about: Any) -> Response:
        """What was spent of a data set. Whatever was just done is said above it."""
        ledger = desk.curator.ledger
        entries = list(ledger.entries())
        parts = spent_by(entries)
        picture = drawn(budget_picture(ledger.unit, ledger.total, ledger.spent, parts))
        accounts = [
            account
            for account in ledger.accounts()
            if account.cap is not None or account.name.startswith(ANALYST)
        ]
        said = {"message": "", "verified": None, "seal": ""} | about
        shown = {"picture": picture, "parts": parts, "accounts": accounts, "analyst": ANALYST}
        return page(visit, "budget.html", status, data=standing(desk, visit.key), **shown, **said)

    @router.get("/d/{dataset}/budget")
    async def budget_page(request: Request, dataset: str) -> Response:
        """What was spent, as a picture and in numbers."""
        visit = visiting.enter(request, owner=True)
        desk = visiting.desk(visit, dataset)
        return await visiting.worked(visit, lambda: budget(visit, desk))

    @router.get("/d/{dataset}/questions")
    async def questions_page(request: Request, dataset: str, before: int = 0) -> Response:
        """Every question in words, the newest first, with its cost and its answer."""
        visit = visiting.enter(request, owner=True)
        desk = visiting.desk(visit, dataset)

        def work() -> Response:
            lines, oldest = _questions(desk, before)
            about: dict[str, Any] = {"lines": lines, "oldest": oldest}
            return page(visit, "questions.html", data=standing(desk, visit.key), **about)

        return await visiting.worked(visit, work)

    @router.post("/d/{dataset}/verify")
    async def verify(request: Request, dataset: str) -> Response:
        """Whether every sum and every hash of the ledger fits."""
        visit = visiting.enter(request, owner=True)
        desk = visiting.desk(visit, dataset)
        seal = (await visiting.form(request)).one("seal")
        return await visiting.worked(
            visit, lambda: budget(visit, desk, verified=desk.verification(seal or None), seal=seal)
        )

    @router.post("/d/{dataset}/caps")
    async def cap(request: Request, dataset: str) -> Response:
        """Say how much an analyst may be charged in all."""
        visit = visiting.enter(request, owner=True)
        desk = visiting.desk(visit, dataset)
        form = await visiting.form(request)

        def work() -> Response:
            try:
                if not form.one("name"):
                    raise RefusedError("refused", "whose cap is it? Name an analyst, or * for all others")
                desk.set_cap(f"{ANALYST}{form.one('name')}", str(rational("the cap", form.one("cap"))))
            except SulqError as error:
                refusal = refusal_for(request, error)
                return budget(visit, desk, refusal.status, message=str(refusal))
            return found_at(f"/d/{quote(dataset, safe='')}/budget")

        return await visiting.worked(visit, work)

    def keys_shown(visit: Visit, status: int = 200, **about: Any) -> Response:
        said: dict[str, Any] = {"secret": "", "message": "", "form": Choices()} | about
        names = list(visiting.service.desks)
        return page(visit, "keys.html", status, keys=keys.list(), datasets=names, **said)

    @router.get("/keys")
    async def keys_page(request: Request) -> Response:
        """All keys, without their secrets."""
        visit = visiting.enter(request, owner=True)
        return await visiting.worked(visit, lambda: keys_shown(visit))

    @router.post("/keys")
    async def add_key(request: Request) -> Response:
        """Make a key. Its secret is on this page, and nowhere else."""
        visit = visiting.enter(request, owner=True)
        form = await visiting.form(request)

        def work() -> Response:
            try:
                expires = moment(form.one("expires")) if form.one("expires") else None
                datasets = None if form.one("every") else list(form.all("datasets"))
                if datasets == []:
                    raise RefusedError("refused", "what is the key for? Choose data sets, or all of them")
                secret = keys.add(form.one("name"), form.one("scope", "analyst"), datasets, expires)  # type: ignore[arg-type]
            except SulqError as error:
                refusal = refusal_for(request, error)
                return keys_shown(visit, refusal.status, message=str(refusal), form=form)
            return keys_shown(visit, secret=secret)

        return await visiting.worked(visit, work)

    @router.post("/keys/revoke")
    async def revoke_key(request: Request) -> Response:
        """Let a key be valid no more."""
        visit = visiting.enter(request, owner=True)
        number = (await visiting.form(request)).one("id")

        def work() -> Response:
            keys.revoke(number)
            return found_at("/keys")

        return await visiting.worked(visit, work)


def _questions(desk: Desk, before: int) -> tuple[list[dict[str, Any]], int]:
    """A page of what was charged and of caps, the newest first; and where the next page begins, 0 for none.

    Args:
        desk: the data set.
        before: only entries before this number; 0 for all.
    """
    entries = list(desk.curator.ledger.entries())
    answers = {(entry.run, entry.question): entry for entry in entries if entry.kind == "answer"}
    told = [entry for entry in reversed(entries) if entry.kind != "answer"]
    told = [entry for entry in told if not before or entry.number < before]
    lines = [_line(desk, entry, answers.get((entry.run, entry.question))) for entry in told[:A_PAGE]]
    return lines, told[A_PAGE - 1].number if len(told) > A_PAGE else 0


def _line(desk: Desk, entry: Entry, answer: Entry | None) -> dict[str, Any]:
    questions = questions_shown(desk.result_of(entry if answer is None else answer)) if entry.question else []
    return {"entry": entry, "words": in_words(entry), "questions": questions, "answered": answer is not None}
