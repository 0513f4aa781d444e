"""Around every route: errors become JSON with a code, and what is documented is what is done."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from sulq.serve.bodies import Body, ErrorView
from sulq.serve.logs import note
from sulq.serve.refusals import STATUS, RefusedError, error_form, refusal_of
from sulq.serve.requests import described
from sulq.serve.service import as_json

KEY = {"key": {"type": "http", "scheme": "bearer", "description": "a key that the owner made"}}
"""How a request says who makes it, for the OpenAPI description."""


class GuardedRoute(APIRoute):
    """A route whose every error is one of the refusals that are documented."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                return refused(request, error)

        return guarded


def refused(request: Request, error: Exception) -> Response:
    """An error as a response.

    Args:
        request: what was asked.
        error: what was raised.
    """
    refusal = refusal_for(request, error)
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"
    response = as_json(error_form(refusal, error))
    response.status_code = refusal.status
    response.headers.update(headers)
    return response


def refusal_for(request: Request, error: Exception) -> RefusedError:
    """An error as a refusal. What nobody thought of is written down by the name of its class alone.

    Args:
        request: what was asked.
        error: what was raised.
    """
    key = getattr(request.state, "key", None)
    if isinstance(error, RequestValidationError):
        refusal = RefusedError("malformed", described(error.errors()))
    elif isinstance(error, HTTPException):
        refusal = _of_http(error)
    else:
        refusal = refusal_of(error, owner=key is not None and key.owner)
        if refusal.code in ("failed", "release_failed"):
            # The words of an error may be about a row, and so may be where it was raised.
            note("failed", code=refusal.code, error=type(error).__name__)
    request.state.code = refusal.code
    return refusal


def documented(answers: type[BaseModel], body: type[Body] | None = None) -> dict[str, Any]:
    """What the OpenAPI description says of a route beyond its path.

    Args:
        answers: what the response holds.
        body: what the request brings, if anything.
    """
    extra: dict[str, Any] = {"security": [{"key": []}]}
    if body is not None:
        schema = body.model_json_schema(ref_template="#/components/schemas/{model}")
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    statuses = sorted(set(STATUS.values()))
    return {
        "response_model": answers,
        "openapi_extra": extra,
        "responses": {status: {"model": ErrorView} for status in statuses},
    }


def _of_http(error: HTTPException) -> RefusedError:
    if error.status_code == 404:
        return RefusedError(
            "not_found", "there is nothing at this address; /openapi.json lists what there is"
        )
    if error.status_code == 405:
        return RefusedError(
            "method", "this address does not take that method; /openapi.json lists what it does"
        )
    return RefusedError("malformed", "this request cannot be read")
