"""What only the owner may do: look at ledgers, verify them, set caps, make and revoke keys."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from sulq.serve.bodies import (
    AccountsView,
    CapBody,
    CapView,
    EntriesView,
    KeyBody,
    KeysView,
    NewKeyView,
    VerificationView,
)
from sulq.serve.handling import GuardedRoute, documented
from sulq.serve.keys import moment
from sulq.serve.requests import reader_of, text_of
from sulq.serve.routes import After, AfterName, Most, paged
from sulq.serve.service import Service


def owner_routes(service: Service) -> APIRouter:
    """The routes of the owner.

    Args:
        service: the service.
    """
    router = APIRouter(prefix="/v1", route_class=GuardedRoute, tags=["owner"])
    limits = service.settings.limits
    read_cap, read_key = reader_of(CapBody, limits), reader_of(KeyBody, limits)

    @router.get("/datasets/{dataset}/ledger", **documented(EntriesView))
    async def ledger(request: Request, dataset: str, after: After = 0, most: Most = 100) -> Response:
        """The entries of a ledger, as they are kept."""
        key = service.caller(request, owner=True)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: desk.entries(after, most))

    @router.get("/datasets/{dataset}/verification", **documented(VerificationView))
    async def verification(request: Request, dataset: str, seal: str | None = None) -> Response:
        """Whether every sum and every hash of a ledger fits, and a seal that was kept elsewhere."""
        key = service.caller(request, owner=True)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: desk.verification(seal))

    @router.get("/datasets/{dataset}/accounts", **documented(AccountsView))
    async def accounts(request: Request, dataset: str, after: AfterName = None, most: Most = 100) -> Response:
        """The accounts of analysts, and those of runs that a cap holds for."""
        key = service.caller(request, owner=True)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: paged("accounts", desk.accounts(after, most + 1), most))

    @router.put("/datasets/{dataset}/caps/{account}", **documented(CapView, CapBody))
    async def set_cap(request: Request, dataset: str, account: str) -> Response:
        """Say how much an account, as analyst:ada or run:ada/tree, may be charged in all."""
        key = service.caller(request, owner=True)
        desk = service.desk(key, dataset)
        body = await text_of(request, limits)
        return await service.answered(key, lambda: desk.set_cap(account, read_cap(body).cap))

    @router.get("/keys", **documented(KeysView))
    async def list_keys(request: Request) -> Response:
        """All keys, without their secrets."""
        key = service.caller(request, owner=True)
        return await service.answered(key, lambda: {"keys": [each.form() for each in service.keys.list()]})

    @router.post("/keys", **documented(NewKeyView, KeyBody))
    async def add_key(request: Request) -> Response:
        """Make a key. Its secret is in this response, and nowhere else."""
        key = service.caller(request, owner=True)
        body = await text_of(request, limits)

        def work() -> Any:
            given = read_key(body)
            expires = None if given.expires is None else moment(given.expires)
            return {"key": service.keys.add(given.name, given.scope, given.datasets, expires)}

        return await service.answered(key, work)

    @router.delete("/keys/{number}", **documented(KeysView))
    async def revoke_key(request: Request, number: str) -> Response:
        """Let a key be valid no more, from now on. The keys there are."""
        key = service.caller(request, owner=True)

        def work() -> Any:
            service.keys.revoke(number)
            return {"keys": [each.form() for each in service.keys.list()]}

        return await service.answered(key, work)

    return router
