"""What analysts ask for: data sets and offers, the cost of a round, answers, runs and results."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from sulq.serve.bodies import (
    AnswersView,
    AskBody,
    DatasetsView,
    DatasetView,
    QuoteBody,
    QuoteView,
    ResultsView,
    RunsView,
    SealView,
)
from sulq.serve.handling import GuardedRoute, documented
from sulq.serve.requests import reader_of, text_of
from sulq.serve.service import Service

After = Annotated[int, Query(ge=0, le=2**53, description="begin after the entry of this number")]
AfterName = Annotated[str | None, Query(max_length=300, description="begin after this name")]
Most = Annotated[int, Query(ge=1, le=1000, description="how many entries at most")]


def paged(name: str, items: list[Any], most: int) -> dict[str, Any]:
    """A page of a list that was asked for one item more than is shown.

    Args:
        name: what the items are.
        items: the items.
        most: how many are shown.

    >>> paged("runs", ["a", "b", "c"], most=2)
    {'runs': ['a', 'b'], 'more': True}
    """
    return {name: items[:most], "more": len(items) > most}


def analyst_routes(service: Service) -> APIRouter:
    """The routes of analysts.

    Args:
        service: the service.
    """
    router = APIRouter(prefix="/v1", route_class=GuardedRoute, tags=["data sets"])
    limits = service.settings.limits
    read_ask, read_quote = reader_of(AskBody, limits), reader_of(QuoteBody, limits)

    @router.get("/datasets", **documented(DatasetsView))
    async def list_datasets(request: Request) -> Response:
        """The data sets that the key is for."""
        key = service.caller(request)
        desks = [desk for name, desk in service.desks.items() if key.allows(name)]
        return await service.answered(key, lambda: {"datasets": [desk.about(key) for desk in desks]})

    @router.get("/datasets/{dataset}", **documented(DatasetView))
    async def show_dataset(request: Request, dataset: str) -> Response:
        """What a data set offers, and what is left of it for whoever asks."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: desk.about(key))

    @router.post("/datasets/{dataset}/quote", **documented(QuoteView, QuoteBody))
    async def quote(request: Request, dataset: str) -> Response:
        """What a round would cost, and how well it would be answered. Nothing is spent."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        body = await text_of(request, limits)

        def work() -> Any:
            service.room.take(len(body))
            return desk.quote(key, dict(read_quote(body)))

        return await service.answered(key, work)

    @router.post("/datasets/{dataset}/ask", **documented(AnswersView, AskBody))
    async def ask(request: Request, dataset: str) -> Response:
        """The answers to a round. The same round in the same run has the same answers, at no cost."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        body = await text_of(request, limits)

        def work() -> Any:
            service.room.take(len(body))
            return desk.ask(key, dict(read_ask(body)))

        return await service.scheduled(key, work)

    @router.get("/datasets/{dataset}/runs", **documented(RunsView))
    async def runs(
        request: Request, dataset: str, run: str | None = None, after: AfterName = None, most: Most = 100
    ) -> Response:
        """The runs of whoever asks, or one of them, and what they were charged; all runs for the owner."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: paged("runs", desk.runs(key, run, after, most + 1), most))

    @router.get("/datasets/{dataset}/results", **documented(ResultsView))
    async def results(
        request: Request, dataset: str, run: str = "main", after: After = 0, most: Most = 100
    ) -> Response:
        """What a run was charged and answered: everything again, at no cost."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        return await service.answered(key, lambda: desk.results(key, run, after, most))

    @router.get("/datasets/{dataset}/seal", **documented(SealView))
    async def seal(request: Request, dataset: str) -> Response:
        """The hash that stands for the whole ledger: kept elsewhere, it tells an old copy."""
        key = service.caller(request)
        desk = service.desk(key, dataset)
        return await service.answered(key, desk.seal)

    return router
