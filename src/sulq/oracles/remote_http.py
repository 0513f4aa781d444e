"""Sending requests to a curator elsewhere, again and again while nobody answers."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sulq.errors import RemoteError, SulqError
from sulq.oracles import remote_calls as calls

if TYPE_CHECKING:
    import httpx

TIMEOUT = 300.0
"""Seconds that an answer may take before it is asked for again."""
LONGEST_PAUSE = 2.0


@dataclass(frozen=True)
class Connection:
    """A way to one data set of a curator elsewhere.

    Args:
        url: the address of the curator.
        dataset: the data set.
        http: who sends requests.
        patience: for how many seconds a request is sent again, if nobody answers.
    """

    url: str
    dataset: str
    http: httpx.Client = field(repr=False)
    patience: float

    def send(self, call: calls.RemoteCall, patience: float | None = None) -> Any:
        """What the response to a request holds. It is sent again while nobody answers: that costs nothing.

        Args:
            call: the request.
            patience: for how many seconds to send it again; None as for all requests.
        """
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        for pause in pauses(deadline):
            failure: SulqError | None
            try:
                response = self.http.request(call.method, call.path, content=call.body)
            except Exception as error:
                failure = unreachable(self.url, error)
            else:
                content, failure = received(self.url, response)
            if failure is None:
                return content
            if pause is None:
                raise failure
            time.sleep(pause)
        raise AssertionError  # pauses end with None


def received(url: str, response: httpx.Response) -> tuple[Any, SulqError | None]:
    """What a response holds, or why it should be asked for again; a refusal is raised.

    Args:
        url: the address that was asked.
        response: what it said.
    """
    try:
        return calls.response_in(url, response.status_code, lowered(response.headers), response.text), None
    except SulqError as error:
        if response.status_code not in calls.AGAIN:
            raise
        return None, error


def client_of(url: str, key: str, certificate: str | None, asynchronous: bool = False) -> Any:
    """Who sends requests to an address, with a key in their header. Nobody is followed elsewhere.

    Args:
        url: the address.
        key: the key.
        certificate: a file with the certificate to trust; None for the public authorities.
        asynchronous: whether requests are awaited.
    """
    try:
        import httpx
    except ModuleNotFoundError:
        raise RemoteError("asking a curator elsewhere needs httpx: pip install 'sulq[remote]'") from None
    try:
        # Reading the public authorities takes long, and plain HTTP, to this machine alone, needs none.
        trusted: Any = url.startswith("https:")
        trusted = trusted if certificate is None else ssl.create_default_context(cafile=certificate)
    except (OSError, ValueError):
        raise RemoteError(f"cannot read a certificate in {certificate!r}") from None
    kind: Any = httpx.AsyncClient if asynchronous else httpx.Client
    return kind(
        base_url=url,
        headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
        timeout=httpx.Timeout(TIMEOUT, connect=10.0),
        verify=trusted,
        follow_redirects=False,
    )


def unreachable(url: str, error: Exception) -> RemoteError:
    """Why nobody answered, in words; an error of the program itself is raised as it is."""
    import httpx

    if not isinstance(error, httpx.TransportError):
        raise error
    reason = str(error) or type(error).__name__
    return RemoteError(f"cannot reach {url}: {reason}; {calls.GOES_ON}")


def pauses(deadline: float) -> Iterator[float | None]:
    """How long to wait before each further attempt, and at last None: none is left.

    Args:
        deadline: when to give up, by `time.monotonic`.
    """
    pause = 0.1
    while time.monotonic() + pause < deadline:
        yield pause * random.uniform(0.5, 1)  # so that many who wait do not come back at once
        pause = min(2 * pause, LONGEST_PAUSE)
    yield None


def lowered(headers: Any) -> dict[str, str]:
    """Headers by their names in small letters."""
    return {name.lower(): value for name, value in headers.items()}
