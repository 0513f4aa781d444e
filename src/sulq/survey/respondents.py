"""People who answer a survey from Python: each row plays a person whose device sends one post, over HTTP.

For tests, examples and rehearsals. Many devices' draws are made in one go, which is the same work; each
report is sent by itself, or a gateway sends those of several devices together.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from sulq.errors import SulqError
from sulq.local.device import Device
from sulq.local.item import Item
from sulq.numbers import Numeric, rational
from sulq.sources.rows import Rows

PATIENCE = 30.0
AT_ONCE = 16
"""How many devices send at the same time."""
Post = dict[str, Any]


@dataclass
class Respondents:
    """People with a device each, of whom everyone answers at most once.

    Args:
        url: where the collector is.
        rows: the people's answers, a row each.
        epsilon: what each device allows to be spent on its person.
        invitations: a link for each person; None for an open survey, where devices draw what they are
            counted by.
        gathered: how many devices' reports a gateway sends at once; 1 for devices that send by themselves.
    """

    url: str
    rows: Rows
    epsilon: Numeric
    invitations: Sequence[str] | None = None
    gathered: int = 1

    def __post_init__(self) -> None:
        if self.invitations is not None and len(self.invitations) < self.rows.rows:
            raise SulqError(f"{self.rows.rows} people need as many invitations, not {len(self.invitations)}")
        self._order = np.random.default_rng(secrets.randbits(128)).permutation(self.rows.rows)
        self._next = 0
        self._client = httpx.Client(base_url=self.url, timeout=PATIENCE)
        self.outcomes: Counter[str] = Counter()
        """How often what was sent was accepted, and how often it was refused for what."""

    @property
    def left(self) -> int:
        """How many people did not answer yet."""
        return self.rows.rows - self._next

    def move_to(self, url: str) -> None:
        """Find the collector elsewhere from now on, as after a restart.

        Args:
            url: where it is.
        """
        self._client.close()
        self._client = httpx.Client(base_url=url, timeout=PATIENCE)

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def answer(self, most: int | None = None) -> int:
        """Let some people look at what is open now, and answer it; how many did.

        Args:
            most: how many people, at most. They answer as if all looked at once.
        """
        opened = self._client.get("/round.json").raise_for_status().json()
        if opened["state"] != "open" or not opened["items"]:
            return 0
        wanted = sum(entry["people"] for entry in opened["items"])
        many = self.left if most is None else min(most, self.left)
        if opened["asks"] == "one":
            many = min(many, wanted)
        places = self._order[self._next : self._next + many]
        self._next += many
        self._send(list(self._posts(opened, places)))
        return many

    def _posts(self, opened: dict[str, Any], places: NDArray[np.intp]) -> Iterator[Post]:
        """What each person's device sends."""
        items = [Item.of(entry["item"]) for entry in opened["items"]]
        reports: list[list[Post]] = [[] for _ in places]
        for item, chosen in zip(items, self._chosen(opened, len(places)), strict=True):
            if not len(chosen):
                continue
            report = Device(self.rows.only(places[chosen]), rational("epsilon", self.epsilon)).report(item)
            for place, number in zip(chosen.tolist(), report.form()["numbers"], strict=True):
                reports[place].append({"report": 1, "item": item.key, "numbers": [number]})
        for place, each in zip(places.tolist(), reports, strict=True):
            token = secrets.token_urlsafe(24) if self.invitations is None else self.invitations[place]
            yield {
                "round": opened["number"],
                "invitation": token,
                "reports": each,
                "survey": opened["survey"],
            }

    @staticmethod
    def _chosen(opened: dict[str, Any], people: int) -> list[NDArray[np.intp]]:
        """Who reports on which item: everyone on all, or everyone on one, by lot and as the weights say."""
        if opened["asks"] == "all":
            return [np.arange(people)] * len(opened["items"])
        # Dealt without replacement, as if each looked after the one before.
        deck = np.repeat(np.arange(len(opened["items"])), [entry["people"] for entry in opened["items"]])
        dealt = np.random.default_rng(secrets.randbits(128)).choice(deck, people, replace=False)
        return [np.flatnonzero(dealt == number) for number in range(len(opened["items"]))]

    def _sent(self, post: Post) -> str:
        """Send one device's post, and say how it went."""
        answer = self._client.post("/reports", json={"reports-sent": 1, **post}).json()
        return "accepted" if answer.get("accepted") else str(answer["refused"])

    def _send(self, posts: list[Post]) -> None:
        if self.gathered == 1:
            with ThreadPoolExecutor(AT_ONCE) as devices:
                self.outcomes.update(devices.map(self._sent, posts))
            return
        for start in range(0, len(posts), self.gathered):
            batch = posts[start : start + self.gathered]
            sent = [{key: post[key] for key in ("round", "invitation", "reports")} for post in batch]
            form = {"reports-gathered": 1, "survey": batch[0]["survey"], "sent": sent}
            answer = self._client.post("/gateway", json=form).raise_for_status().json()
            self.outcomes.update(answer["outcomes"])
