"""The pages of analysts: data sets, tables and trees put together by clicking, what came of it, and runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from sulq.errors import SulqError
from sulq.faces import could_hold, missing_becomes, offered, rules_of
from sulq.hypotheses.tabulation import Tabulation
from sulq.queries.written import RELATIONS
from sulq.serve.console.asking import expected, learned
from sulq.serve.console.choices import Choices
from sulq.serve.console.showing import hypothesis_shown, questions_shown
from sulq.serve.console.table_form import TableForm, countable, groupable, true_or_false
from sulq.serve.console.tree_form import DEPTHS, TreeForm, tellable
from sulq.serve.console.visiting import HEADERS, Visit, Visiting, found_at
from sulq.serve.desk import Desk
from sulq.serve.handling import refusal_for
from sulq.serve.keys import AccessKey
from sulq.serve.refusals import RefusedError

FORMS: dict[str, type[TableForm] | type[TreeForm]] = {"table": TableForm, "tree": TreeForm}
A_PAGE = 20
"""How many entries of a run are on a page."""


def add_analyst_pages(router: APIRouter, visiting: Visiting) -> None:
    """Add the pages of analysts.

    Args:
        router: where they are added.
        visiting: what all pages share.
    """
    page = visiting.page

    @router.get("")
    async def datasets(request: Request) -> Response:
        """The data sets that the key is for."""
        visit = visiting.enter(request)
        desks = [desk for name, desk in visiting.service.desks.items() if visit.key.allows(name)]
        return await visiting.worked(
            visit,
            lambda: page(visit, "datasets.html", datasets=[standing(desk, visit.key) for desk in desks]),
        )

    @router.get("/d/{dataset}")
    async def dataset_page(request: Request, dataset: str) -> Response:
        """What a data set offers, and the runs of whoever asks."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)
        offer = desk.curator.offer
        columns = [
            (name, kind.type, could_hold(kind), missing_becomes(kind), rules_of(kind))
            for name, kind in offer.schema.items()
        ]

        def work() -> Response:
            runs = sorted(desk.runs(visit.key), key=lambda run: str(run["last"]), reverse=True)
            about: dict[str, Any] = {
                "facts": offered(offer),
                "columns": columns,
                "runs": [(run, visiting.result_at(visit, dataset, run["run"])) for run in runs],
            }
            return page(visit, "dataset.html", data=standing(desk, visit.key), **about)

        return await visiting.worked(visit, work)

    @router.get("/d/{dataset}/run")
    async def run_page(request: Request, dataset: str, run: str = "main", after: int = 0) -> Response:
        """What a run asked, and what it was answered."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)

        def work() -> Response:
            results = desk.results(visit.key, run, max(0, after), A_PAGE)
            entries = [(result, questions_shown(result)) for result in results["results"]]
            if not entries and not after:
                raise RefusedError("not_found", "there is no such run")
            about = {"entries": entries, "more": results["more"], "run": run}
            about["result"] = visiting.result_at(visit, dataset, run)
            return page(visit, "run.html", data=standing(desk, visit.key), **about)

        return await visiting.worked(visit, work)

    for kind in FORMS:
        _add_builder(router, visiting, kind)


def _add_builder(router: APIRouter, visiting: Visiting, kind: str) -> None:
    """The pages on which a table or a tree is put together, asked for and looked at."""
    form_of = FORMS[kind].of

    def builder(visit: Visit, desk: Desk, choices: Choices, error: Exception | None = None) -> Response:
        """The form, with what it would cost; nothing is spent."""
        schema = desk.curator.offer.schema
        form, expectation, refusal = _expected(visit, desk, choices, form_of)
        if error is not None:
            refusal = refusal_for(visit.request, error)
        about = {
            "form": form or FORMS[kind].given(choices, schema),
            "run": choices.one("run"),
            "expectation": expectation,
            "refusal": refusal if choices else None,
            "groupable": groupable(schema),
            "countable": countable(schema),
            "true_or_false": true_or_false(schema),
            "tellable": tellable(schema),
            "columns": schema.attributes,
            "relations": RELATIONS,
            "depths": DEPTHS,
            "public_rows": desk.curator.offer.rows,
            "schema": {name: could_hold(schema[name]) for name in schema.attributes},
        }
        status = 200 if refusal is None or not choices else refusal.status
        return visiting.page(visit, f"{kind}.html", status, data=standing(desk, visit.key), **about)

    @router.get(f"/d/{{dataset}}/{kind}", name=f"{kind} form")
    async def builder_page(request: Request, dataset: str) -> Response:
        """The form, as it is in the beginning or as an address says."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)
        choices = Choices.read(request.url.query)
        return await visiting.worked(visit, lambda: builder(visit, desk, choices))

    @router.post(f"/d/{{dataset}}/{kind}/cost", name=f"{kind} cost")
    async def cost(request: Request, dataset: str) -> Response:
        """What it would cost: a piece of a page for a script, and a whole page for a browser without."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)
        choices = await visiting.form(request)

        def work() -> Response:
            if "hx-request" not in request.headers:
                return builder(visit, desk, choices)
            _, expectation, refusal = _expected(visit, desk, choices, form_of)
            about = {"expectation": expectation, "refusal": refusal, "data": standing(desk, visit.key)}
            return visiting.page(visit, "cost.html", **about)

        return await visiting.worked(visit, work)

    @router.post(f"/d/{{dataset}}/{kind}", name=f"{kind} asked")
    async def ask(request: Request, dataset: str) -> Response:
        """Ask, and pay for it."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)
        choices = await visiting.form(request)

        def work() -> Response:
            try:
                form = form_of(choices, desk.curator.offer.schema)
                learned(desk, visit.key, form.learner(desk.curator.offer.schema), form.run)
            except SulqError as error:
                return builder(visit, desk, choices, error)
            place = f"/d/{quote(dataset, safe='')}/{kind}/result"
            visiting.keep_result(visit, dataset, form.run, f"{place}?{form.query}")
            return found_at(place, form.query)

        return await visiting.scheduled(visit, work)

    @router.get(f"/d/{{dataset}}/{kind}/result", name=f"{kind} result")
    async def result(request: Request, dataset: str) -> Response:
        """What was learned, from answers that are stored: nothing can be spent here."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)

        def work() -> Response:
            form, hypothesis = _stored(visit, desk, form_of)
            address = visiting.address(request)
            about = {
                "form": form,
                "hypothesis": hypothesis,
                "python": form.python(address, desk.name, desk.curator.offer.schema),
                **{"table": None, "drawing": "", **hypothesis_shown(hypothesis)},
            }
            return visiting.page(visit, "result.html", data=standing(desk, visit.key), **about)

        return await visiting.scheduled(visit, work)

    @router.get(f"/d/{{dataset}}/{kind}/result.{{ending}}", name=f"{kind} file")
    async def download(request: Request, dataset: str, ending: str) -> Response:
        """The same as a file."""
        visit = visiting.enter(request)
        desk = visiting.desk(visit, dataset)
        if ending not in ("csv", "json"):
            raise RefusedError("not_found", "a result is a file of CSV or of JSON")

        def work() -> Response:
            _, hypothesis = _stored(visit, desk, form_of)
            if ending == "csv" and not isinstance(hypothesis, Tabulation):
                raise RefusedError("not_found", "only a table can be had as CSV")
            if ending == "csv":
                return _file(str(hypothesis.to_csv(margins=True)), "text/csv", f"{kind}.csv")
            form = json.dumps(json.loads(hypothesis.to_json()), indent=1, ensure_ascii=False)
            return _file(form, "application/json", f"{kind}.json")

        return await visiting.scheduled(visit, work)


def standing(desk: Desk, key: AccessKey) -> dict[str, Any]:
    """What a data set promises, and what is left of it for whoever asks."""
    about = desk.about(key)
    amounts = {name: Fraction(about[name]) for name in ("total", "spent", "remaining")}
    return {"name": desk.name, "promise": about["promise"], "unit": about["unit"]} | amounts


def _expected(
    visit: Visit, desk: Desk, choices: Choices, form_of: Callable[..., Any]
) -> tuple[Any, Any, RefusedError | None]:
    """The form, what it would cost, and what is wrong with it; what cannot be said is None."""
    form = None
    try:
        schema = desk.curator.offer.schema
        form = form_of(choices, schema)
        return form, expected(desk, visit.key, form.learner(schema), form.run, form.expected_rows), None
    except SulqError as error:
        return form, None, refusal_for(visit.request, error)


def _stored(visit: Visit, desk: Desk, form_of: Callable[..., Any]) -> tuple[Any, Any]:
    schema = desk.curator.offer.schema
    form = form_of(Choices.read(visit.request.url.query), schema)
    return form, learned(desk, visit.key, form.learner(schema), form.run, stored=True)


def _file(text: str, media_type: str, name: str) -> Response:
    headers = HEADERS | {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)
