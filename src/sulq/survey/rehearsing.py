"""A survey rehearsed: made-up people answer it over HTTP, to a collector of its own, and nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import SulqError
from sulq.numbers import whole
from sulq.schema import Boolean, Category, Schema
from sulq.sources.opening import open as open_source
from sulq.sources.table import TableSource
from sulq.survey.asking import SurveyItem
from sulq.survey.file import SurveyFile
from sulq.survey.respondents import Respondents
from sulq.survey.results import SurveyResults, results_of
from sulq.survey.server import CollectorServer, Listening

MOST_PEOPLE = 1_000_000
GATHERED = 500


@dataclass(frozen=True)
class SurveyRehearsal:
    """What a rehearsed survey told, beside what is true of the people who were made up.

    Args:
        results: the results.
        truths: for each question, what is true.
        accepted: how many people's reports were accepted.
    """

    results: SurveyResults
    truths: tuple[NDArray[np.float64], ...]
    accepted: int

    @property
    def off(self) -> tuple[float, ...]:
        """How far the estimates of each question are off."""
        return tuple(
            float(np.abs(question.values - truth).max())
            for question, truth in zip(self.results.questions, self.truths, strict=True)
        )


def rehearse(survey: SurveyFile, people: int) -> SurveyRehearsal:
    """Hold a survey among made-up people, whose answers are all equally likely.

    Args:
        survey: the survey. Its own store is not touched.
        people: how many people.
    """
    whole("people", people, 1, MOST_PEOPLE)
    if survey.divides == "rounds":
        raise SulqError(
            "a survey that a learner asks is rehearsed with the learner: docs/survey.md shows how"
        )
    with TemporaryDirectory(prefix="sulq-") as folder:
        store = str(Path(folder, "rehearsed.reports"))
        held = replace(survey, store=store, opens=None, closes=None, busiest=None)
        rows = made_up(survey.schema, people)
        with CollectorServer(held, Listening(port=0)) as server:
            links = server.collector.invite(people) if held.invited else None
            crowd = Respondents(server.url, rows, held.epsilon, links, GATHERED)
            while crowd.left and crowd.answer():
                pass
            crowd.close()
            results = results_of(server.collector)
    truths = tuple(truth_of(question.asked, rows) for question in results.questions)
    return SurveyRehearsal(replace(results, survey=survey), truths, crowd.outcomes["accepted"])


def made_up(schema: Schema, people: int, answers: Mapping[str, Any] | None = None) -> TableSource:
    """People whose answers are drawn at random, all equally likely.

    Args:
        schema: what they may answer.
        people: how many.
        answers: columns that are given instead.

    >>> import sulq
    >>> made_up(sulq.Schema({"sick": sulq.Boolean()}), 100).rows
    100
    """
    rng, drawn = np.random.default_rng(), dict[str, Any]()
    for name, kind in schema.items():
        if isinstance(kind, Boolean):
            drawn[name] = rng.random(people) < 0.5
        elif isinstance(kind, Category):
            drawn[name] = np.array(kind.values)[rng.integers(len(kind.values), size=people)]
        else:
            drawn[name] = rng.integers(int(kind.low), int(kind.high), size=people, endpoint=True)
    source = open_source(drawn | dict(answers or {}), schema)
    assert isinstance(source, TableSource)
    return source


def truth_of(asked: SurveyItem, rows: TableSource) -> NDArray[np.float64]:
    """What the estimates of a question would be without any noise.

    Args:
        asked: the question as devices are asked it.
        rows: the people's answers.
    """
    if asked.item.value is None:
        assert asked.item.group is not None
        return np.bincount(rows.values(asked.item.group), minlength=asked.item.width) / rows.rows
    values = np.asarray(rows.values(asked.item.value), dtype=np.float64)
    return np.ravel(values.reshape(rows.rows, -1).mean(axis=0))
