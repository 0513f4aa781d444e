"""What people's own devices refuse, and what they keep to for life."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from sulq.audits.attempts import refusal
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.local.device import Device, PersonalDevice
from sulq.local.item import Item, item_of
from sulq.local.lifetime import Lifetime
from sulq.local.questionnaire import Questionnaire
from sulq.queries.expressions import col
from sulq.schema import Boolean, Integer
from sulq.sources.opening import open as open_source
from sulq.sources.rows import rows_of


def devices(effort: Effort) -> Iterator[AuditFinding]:
    """Does a device report beyond its ε, for another schema, or with more than its report?"""
    columns = {"sick": Boolean(), "age": Integer(0, 120)}
    person = rows_of(open_source({"sick": [True], "age": [30]}, columns, threads=1), "a device")
    item = item_of(col("age"), person.scope, Fraction(1))
    small = refusal(lambda: Device(person, Fraction(1, 2)).report(item))
    other = rows_of(open_source({"age": [30]}, {"age": Integer(0, 99)}, threads=1), "a device")
    foreign = refusal(lambda: Device(other, Fraction(1)).report(item))
    forged = json.loads(item.to_json()) | {"epsilon": "9"}
    dear = refusal(lambda: Device(person, Fraction(1)).report(Item.from_json(json.dumps(forged))))
    yield exact(
        "items beyond a device's ε, for another schema, or with another ε",
        "refused",
        f"{small}, {foreign}, {dear}",
        "one that is answered",
        all((small, foreign, dear)),
    )
    forms = {tuple(sorted(json.loads(Device(person, Fraction(1)).report(item).to_json()))) for _ in range(20)}
    yield exact(
        "what a report says",
        "its item and its numbers, and nothing else",
        f"{', '.join(min(forms))}",
        "anything else",
        forms == {("item", "numbers", "report")},
    )


def for_life(effort: Effort) -> Iterator[AuditFinding]:
    """Does a person's own device keep to one ε, whoever asks, however often, and whatever fails?"""
    columns = {"sick": Boolean(), "age": Integer(0, 120)}
    person = rows_of(open_source({"sick": [True], "age": [30]}, columns, threads=1), "a device")
    items = [item_of(col(name), person.scope, Fraction(1)) for name in columns]
    forged = json.dumps(json.loads(items[0].to_json()) | {"epsilon": "1/9"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.db"

        def device(epsilon: Fraction = Fraction(1)) -> PersonalDevice:
            # As after a restart: all that it knows is in its file.
            return PersonalDevice(person, Lifetime(path, "health", epsilon))

        together = refusal(lambda: device().reports(items))
        forgery = refusal(lambda: device().report(Item.from_json(forged)))
        yield exact(
            "two items for the price of one, and an item that names a smaller ε than it costs",
            "refused, and nothing is spent",
            f"{together} and {forgery}; {device().keeps.left} left of 1",
            "one that is answered, or any charge",
            together == "BudgetError" and forgery is not None and device().keeps.left == 1,
        )
        reports = {device().report(items[0]).to_json() for _ in range(20 if effort == "quick" else 200)}
        yield exact(
            "the same item, over and over, after restarts",
            "one report, paid once",
            f"{len(reports)} of them; {device().keeps.left} left of 1",
            "a second report",
            len(reports) == 1 and device().keeps.left == 0,
        )
        more = refusal(lambda: device(Fraction(50)).report(items[1]))
        yield exact(
            "a survey that raises the ε later",
            "refused: what was promised first stays",
            f"{more}; {device(Fraction(50)).keeps.left} left",
            "one that is answered",
            more == "BudgetError" and device(Fraction(50)).keeps.left == 0,
        )
    with tempfile.TemporaryDirectory() as folder:
        failures, size = [], 40 if effort == "quick" else 2000
        asked = Questionnaire(tuple(items), (1, 1))
        for number in range(size):
            lottery = PersonalDevice(
                person, Lifetime(Path(folder) / f"{number % 40}.db", "lots", Fraction(size))
            )
            first, again = (lottery.answer(number, asked, "one") for _ in range(2))
            if len(first) != 1 or first != again:
                failures.append(f"round {number}: {len(first)} reports, {len(again)} later")
        yield all_of(
            "a person who is asked one of two items by lot", "one report, and always it", failures, size
        )


CHECKS = (
    Check(
        "devices",
        "What devices refuse",
        "Items that cost too much, or were made for another schema, or were forged; and what is in a report.",
        devices,
    ),
    Check(
        "for-life",
        "A person's own device, for life",
        "Several items at once, a smaller ε than is true, restarts, a survey that raises its ε, and lots.",
        for_life,
    ),
)
