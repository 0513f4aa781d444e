"""From a request to what it says: its key, and its body within the limits; or a refusal."""

from __future__ import annotations

import asyncio
import email.message
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import ValidationError

from sulq.errors import QueryError
from sulq.serve.bodies import Body
from sulq.serve.keys import AccessKey, Keys
from sulq.serve.limits import Limits
from sulq.serve.refusals import RefusedError
from sulq.wire import of_json, shown

B = TypeVar("B", bound=Body)
BEARER = "bearer"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def key_of(request: Request, keys: Keys) -> AccessKey:
    """The key that a request was made with, from its header and from nowhere else.

    Args:
        request: the request.
        keys: all keys there are.
    """
    given = request.headers.getlist("authorization")
    scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != BEARER or not secret.strip():
        raise RefusedError("key_missing", "a key is needed, once, in the header: Authorization: Bearer KEY")
    return keys.of(secret.strip())


async def text_of(request: Request, limits: Limits, media_type: str = JSON) -> bytes:
    """The body of a request, or a refusal before all of a body that is too long was read.

    Args:
        request: the request.
        limits: how long it may be, and how long it may take.
        media_type: what it should be.
    """
    _check_media_type(request, media_type)
    words = f"a request may have {limits.body} bytes, not more"
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > limits.body:
        raise RefusedError("too_large", words)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > limits.body:
                    raise RefusedError("too_large", words)
    except TimeoutError:
        raise RefusedError("too_slow", f"a request may take {limits.seconds} seconds to arrive") from None
    return bytes(body)


def reader_of(model: type[B], limits: Limits) -> Callable[[bytes], B]:
    """Reads the JSON of a body: what says a thing twice, lies too deep or is no number is refused.

    Args:
        model: what the body should be.
        limits: how deep it may be.
    """

    def read(body: bytes) -> B:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise RefusedError("malformed", "a body is JSON in UTF-8") from None
        limits.check_depth(text)
        try:
            form = of_json(text, "a request")
            return model.model_validate(form)
        except QueryError as error:
            raise RefusedError("malformed", str(error)) from None
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)
            raise RefusedError("malformed", described(wrong)) from None

    return read


def described(errors: Any) -> str:
    """What is wrong with a request, in one line that does not repeat it.

    Args:
        errors: as Pydantic lists them.

    >>> described([{"loc": ("body", "run"), "msg": "Input should be a valid string"}])
    'body.run: Input should be a valid string'
    """
    lines = [
        f"{'.'.join(str(place)[:40] for place in error['loc']) or 'the body'}: {error['msg']}"
        for error in errors[:3]
    ]
    return shown("; ".join(lines))[1:-1] if any(len(line) > 300 for line in lines) else "; ".join(lines)


def _check_media_type(request: Request, media_type: str) -> None:
    message = email.message.Message()
    message["content-type"] = request.headers.get("content-type", "")
    if message.get_content_type() != media_type:
        what = "JSON" if media_type == JSON else "a form"
        raise RefusedError("media_type", f"a body is {what}: Content-Type: {media_type}")
