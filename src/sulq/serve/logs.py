"""What a service writes down, and what it counts: public facts, a line of JSON each.

No line has an answer, a question, a key or anything that depends on a row. How long a release took is not
among them either.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER = "sulq.serve"
SERVERS = "uvicorn.error"
"""Where the HTTP server complains, of requests that are none."""


class JsonLines(logging.Formatter):
    """A record as one line of JSON. What else a record may carry, as a traceback, is left out."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, Any] = getattr(record, "facts", {})
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "event": record.getMessage()} | facts
        return json.dumps(line, ensure_ascii=True)


def log_to(stream: TextIO = sys.stderr) -> logging.Handler:
    """Write the log of the service to a stream, and nowhere else.

    Args:
        stream: where the lines go.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name, level in ((LOGGER, logging.INFO), (SERVERS, logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    return handler


def note(event: str, **facts: Any) -> None:
    """Write down what happened.

    Args:
        event: what happened, in a word or two.
        facts: public facts about it.
    """
    logging.getLogger(LOGGER).info(event, extra={"facts": facts})


class Metrics:
    """How many requests there were, by what they were for and how they ended.

    >>> metrics = Metrics()
    >>> metrics.count("GET", "/healthz", 200)
    >>> print(metrics.text(now=0))
    # HELP sulq_requests_total Requests by method, route and status.
    # TYPE sulq_requests_total counter
    sulq_requests_total{method="GET",route="/healthz",status="200"} 1
    # HELP sulq_rounds_now Rounds that are being answered.
    # TYPE sulq_rounds_now gauge
    sulq_rounds_now 0
    # HELP sulq_start_time_seconds When the service started.
    # TYPE sulq_start_time_seconds gauge
    sulq_start_time_seconds ...
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._started = int(time.time())

    def count(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        known = method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH") else "other"
        with self._lock:
            self._requests[known, route, status] += 1

    def text(self, now: int) -> str:
        """All counts, as Prometheus reads them.

        Args:
            now: how many rounds are being answered.
        """
        with self._lock:
            counted = sorted(self._requests.items())
        lines = [
            "# HELP sulq_requests_total Requests by method, route and status.",
            "# TYPE sulq_requests_total counter",
            *(
                f'sulq_requests_total{{method="{method}",route="{route}",status="{status}"}} {times}'
                for (method, route, status), times in counted
            ),
            "# HELP sulq_rounds_now Rounds that are being answered.",
            "# TYPE sulq_rounds_now gauge",
            f"sulq_rounds_now {now}",
            "# HELP sulq_start_time_seconds When the service started.",
            "# TYPE sulq_start_time_seconds gauge",
            f"sulq_start_time_seconds {self._started}",
        ]
        return "\n".join([*lines, ""])
