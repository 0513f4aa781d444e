"""Surveys to hold: small files, made-up people, and collectors that listen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sulq
from sulq.sources.table import TableSource
from sulq.survey.asking import SurveyItem
from sulq.survey.collector import Collector
from sulq.survey.file import SurveyFile
from sulq.survey.kept import Sent, token_hash
from sulq.survey.reading import survey_of
from sulq.survey.server import Listening

HERE = Listening(port=0)
PAID: dict[str, Any] = {"kind": "yes-no", "text": "Did you ever pay a bribe?"}
TOWN: dict[str, Any] = {"kind": "one-of", "text": "Where do you live?", "choices": ["north", "south"]}
EVERY_KIND: dict[str, Any] = {
    "town": TOWN | {"alone": False},
    "paid": PAID | {"by": "town"},
    "often": {"kind": "scale", "text": "How often?", "choices": ["never", "once", "often"]},
    "amount": {"kind": "number", "text": "How much?", "low": 0, "high": 100, "step": 1, "unit": "€"},
    "whom": {"kind": "several-of", "text": "Whom?", "choices": ["police", "clerk", "doctor"]},
}


def survey(folder: Path, questions: dict[str, Any] | None = None, **about: Any) -> SurveyFile:
    """A survey that is kept in a folder."""
    settings = {"title": "Bribes", "epsilon": 4, "people": 1000} | about
    made = survey_of({"survey": settings, "questions": questions or {"paid": PAID}})
    return replace(made, store=str(folder / "bribes.reports")) if "store" not in about else made


def people(made: SurveyFile, rows: int, seed: int = 0, **columns: Any) -> TableSource:
    """People whose answers are drawn at random; some columns may be given."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, Any] = {}
    for name, kind in made.schema.items():
        if isinstance(kind, sulq.Boolean):
            drawn[name] = rng.random(rows) < 0.3
        elif isinstance(kind, sulq.Category):
            drawn[name] = np.array(kind.values)[rng.integers(len(kind.values), size=rows)]
        else:
            drawn[name] = rng.integers(int(kind.low), int(kind.high) + 1, size=rows)
    source = sulq.open(drawn | columns, made.schema)
    assert isinstance(source, TableSource)
    return source


def sent_by(collector: Collector, asked: SurveyItem, reports: list[Any], number: int = 1) -> list[str]:
    """Count reports on one item, each from a person with a link."""
    links = collector.invite(len(reports))
    posts = [
        Sent(number, token_hash(link), ((asked.item.key, report),))
        for link, report in zip(links, reports, strict=True)
    ]
    return list(collector.accept(posts))
