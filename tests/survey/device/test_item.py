"""Items on a device: verified before an answer is looked at, and reported on as Python does."""

from __future__ import annotations

import json
import os
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.local.device import Device
from sulq.local.item import Item, item_of
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only
from sulq.survey.devices import refuse_unknown
from sulq.theory import MaskedParity, masked_parity_rows, masked_parity_schema
from tests.effort import long
from tests.survey.device.engine import Engine, RefusedError, written
from tests.survey.device.test_randomizers import Stream

SCHEMA = sulq.Schema(
    {
        "ill": sulq.Boolean(),
        "town": sulq.Category(["a", "b", "ü 😀"]),
        "age": sulq.Integer(0, 120),
        "pay": sulq.Real(0, 9999.5),
        "born": sulq.Date("1900-01-01", "2024-12-31"),
    }
)
TEXT = json.dumps(SCHEMA.form())
SCOPE = Scope(SCHEMA)
PERSON = {"ill": True, "town": "ü 😀", "age": 44, "pay": 1234.5, "born": "1980-02-29"}
PARTS = {
    "flag": sulq.col("ill"),
    "condition": (sulq.col("age") >= 18) & (sulq.col("town") != "a"),
    "number": sulq.col("age"),
    "real": sulq.col("pay") * 0.1,
    "one of": sulq.count(by="town").parts[0],
    "one of many": sulq.count(by=sulq.cross("town", sulq.bins("age", range(5, 120, 5)))).parts[0],
    "one of, some": sulq.count(where="ill", by="town").parts[0],
    "one of ages": sulq.count(by="age").parts[0],
    "box": sulq.vector("age", "pay", "ill"),
    "ball": sulq.features("age", "pay", norm=1),
    "keyed": sulq.total(sulq.features("age", "pay"), by="town").parts[0],
    "keyed, some": sulq.total("age", by="town", where="ill").parts[0],
    "only": Only(sulq.col("ill"), sulq.features("age", "pay", "born", norm=1)),
    "gram": sulq.gram(sulq.features("age", "pay")),
    "weekday": sulq.count(by=sulq.col("born").weekday()).parts[0],
}
EPSILONS = [Fraction(1, 3), Fraction(1), Fraction(5)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def asked(name: str, epsilon: Fraction) -> Item:
    return item_of(PARTS[name], SCOPE, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("name", PARTS)
def test_an_item_has_the_same_name_and_the_same_report(
    engine: Engine, name: str, epsilon: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = asked(name, epsilon)
    refuse_unknown(item)
    assert engine.item_key(TEXT, item.to_json()) == item.key
    if item.form()["randomizer"]["is"] in ("sphere", "cap"):  # its directions are drawn in another way
        report = engine.report_on(TEXT, item.to_json(), json.dumps(written(PERSON)), os.urandom(4000).hex())
        assert len(report["report"]["numbers"][0]) == item.width
        return
    person = sulq.open({column: [cell] for column, cell in PERSON.items()}, SCHEMA)
    device = Device(person, epsilon)
    for seed in range(20):
        stream = Stream(random.Random(seed).randbytes(4000))
        with monkeypatch.context() as patch:
            patch.setattr(os, "urandom", stream)
            report = device.report(item)
        js = engine.report_on(TEXT, item.to_json(), json.dumps(written(PERSON)), stream.given.hex())
        assert js == {"report": report.form(), "taken": stream.at}


LEARNERS: dict[str, Any] = {
    "table": lambda: sulq.Table(["town"], means=["age"]),
    "conjunction": lambda: sulq.Conjunction("ill", features=[sulq.col("age") >= 18, sulq.col("town") == "a"]),
    "tree": lambda: sulq.ID3("ill", features=["town", "age"], bins={"age": [18, 65]}, depth=2),
    "kmeans": lambda: sulq.KMeans(2, features=["age", "pay"]),
    "perceptron": lambda: sulq.Perceptron("ill", features=["age", "pay"], iterations=2),
    "pairs": lambda: sulq.Pairs(["ill", "town", "age"], bins={"age": [18, 65]}),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_device_can_report_on_what_learners_ask_of_a_crowd(
    engine: Engine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[Item] = []
    ask = sulq.Crowd.ask

    def noted(crowd: sulq.Crowd, round_: sulq.Round, run: str = "main") -> list[sulq.Answer]:
        met.extend(crowd.questionnaire(round_).items)
        return ask(crowd, round_, run)

    monkeypatch.setattr(sulq.Crowd, "ask", noted)
    rows = {column: [cell] * 20_000 for column, cell in PERSON.items()}
    LEARNERS[name]().learn(sulq.open(rows, SCHEMA).crowd(epsilon=2))
    assert met
    for item in met:
        refuse_unknown(item)
        js = engine.report_on(TEXT, item.to_json(), json.dumps(written(PERSON)), os.urandom(4000).hex())
        assert js["report"]["item"] == item.key


def test_a_device_can_report_on_masked_parity(engine: Engine) -> None:
    schema = masked_parity_schema(4)
    rows = masked_parity_rows([1, 0, 1, 1], 1, 50, np.random.default_rng(0))
    learning = MaskedParity(share=1).rounds(schema)
    asked = [next(learning), MaskedParity(share=1)._second(["x0", "x1", "x2", "x3"], (1, 0, 1, 1))]
    text, person = json.dumps(schema.form()), {name: column[0].item() for name, column in rows.items()}
    crowd = sulq.open(rows, schema).crowd(epsilon=1)
    for round_ in asked:
        for item in crowd.questionnaire(round_).items:
            refuse_unknown(item)
            js = engine.report_on(text, item.to_json(), json.dumps(written(person)), os.urandom(1000).hex())
            assert js["report"]["item"] == item.key


def changed(genuine: Item, **changes: Any) -> str:
    return json.dumps(genuine.form() | changes)


def forgeries() -> dict[str, tuple[str, str]]:
    flag, number = asked("flag", Fraction(1)), asked("number", Fraction(1))
    generous = item_of(PARTS["flag"], SCOPE, Fraction(2)).form()["randomizer"]
    group = asked("one of", Fraction(1))
    return {
        "more than its epsilon": (changed(flag, randomizer=generous), "promise"),
        "another survey": (changed(flag, schema="0" * 64), "schema"),
        "a later version": (changed(flag, item=2), "unknown"),
        "several rows": (changed(flag, rows=2), "unknown"),
        "the paper's method": (changed(flag, method="paper"), "unknown"),
        "an extra key": (changed(flag, spy=1), "form"),
        "an epsilon of nothing": (changed(flag, epsilon="0"), "form"),
        "an epsilon that is no text": (changed(flag, epsilon=1.5), "form"),
        "an epsilon written otherwise": (changed(flag, epsilon="2/2"), "form"),
        "a narrower interval": (
            changed(number, shape={"is": "interval", "low": 0.0, "high": 60.0}),
            "promise",
        ),
        "a randomizer for another shape": (changed(number, randomizer=flag.form()["randomizer"]), "promise"),
        "fewer groups": (changed(group, shape={"is": "one of", "size": 3}), "promise"),
        "no expression": (changed(flag, value=None), "form"),
        "a column that nobody has": (changed(flag, value={"node": "column", "name": "name"}), "unknown"),
        "a kind of expression that is not known": (changed(flag, value={"node": "spy"}), "unknown"),
    }


@pytest.mark.parametrize("name", forgeries())
def test_an_item_that_cannot_be_verified_is_refused(engine: Engine, name: str) -> None:
    form, why = forgeries()[name]
    with pytest.raises(RefusedError) as refused:
        engine.report_on(TEXT, form, json.dumps(written(PERSON)), "00" * 100)
    assert refused.value.code == why


@long
@pytest.mark.parametrize("many", [2**16, 2**16 + 1])
def test_a_very_wide_vector_is_worked_out_or_refused(engine: Engine, many: int) -> None:
    item = item_of(
        sulq.one_hot(sulq.bins("age", [i / 1024 for i in range(many - 1)])) * 0.5, SCOPE, Fraction(1)
    )
    if many > 2**16:
        with pytest.raises(RefusedError) as refused:
            engine.item_key(TEXT, item.to_json())
        assert refused.value.code == "range"
    else:
        assert engine.item_key(TEXT, item.to_json()) == item.key


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "[1,]", "{", "nul", "01", '"\n"', "[1] 2", "1e999", ""])
def test_what_is_no_json_is_refused(engine: Engine, text: str) -> None:
    with pytest.raises(RefusedError):
        engine.rewritten(text)


def test_texts_are_written_as_python_writes_them(engine: Engine) -> None:
    plain = {
        "ü": [1, 1.0, -0.0, 1e-7, 1e22, '\x7f\x00\t"\\/ü😀\u2028'],
        "a": {"z": None, "😀": True, "\uffff": False},
    }
    text = json.dumps(plain)
    assert engine.rewritten(text) == [json.dumps(plain, sort_keys=True, separators=(",", ":")), text]
    assert engine.rewritten(json.dumps(plain, ensure_ascii=False, indent=1))[1] == text
