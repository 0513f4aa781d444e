"""Answers and hypotheses as pages show them: tables, pictures without inline style, words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.measures import heading
from sulq.hypotheses.tabulation import Tabulation
from sulq.ledger.face import question_in_words
from sulq.pictures.measured import MeasuredBar, MeasuredPanel, picture
from sulq.queries.choose import Choice
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round
from sulq.talk.answers import BETA, Answer
from sulq.talk.columns import with_error
from sulq.wire import canonical

INLINE = ' style="max-width:100%;height:auto"'
"""Pictures bring this for pages without a style sheet. The content security policy allows none inline."""
MOST_ROWS, DRAWN = 500, 30
NO_DRAWING = Markup("")


@dataclass(frozen=True)
class Shown:
    """A table for a page.

    Args:
        headings: what stands above the columns.
        rows: the cells of each row: a text, and whether it is within the noise.
        labels: so many columns on the left are names.
        more: how many rows are not shown.
        drawing: a picture, "" if there is none.
    """

    headings: list[str]
    rows: list[list[tuple[str, bool]]]
    labels: int
    more: int = 0
    drawing: Markup = NO_DRAWING


@dataclass(frozen=True)
class Questioned:
    """A question that was charged, with its answer if there is one.

    Args:
        words: what was asked.
        answer: what was answered; None if nothing was.
        chosen: what was picked, for a choice.
    """

    words: str
    answer: Shown | None = None
    chosen: str = ""


def drawn(svg: str) -> Markup:
    """A picture that stands in a page: its size is a matter of the style sheet.

    >>> drawn('<svg style="max-width:100%;height:auto"/>')
    Markup('<svg/>')
    """
    return Markup(svg.replace(INLINE, "", 1))


def table_shown(table: Tabulation) -> Shown:
    """A table of figures. Those within the noise are marked."""
    rows, grey = table.texts()
    pairs = [list(zip(*line, strict=True)) for line in zip(rows, grey, strict=True)]
    more = max(0, len(pairs) - MOST_ROWS)
    headings = [*table.axes, *table.names]
    return Shown(headings, pairs[:MOST_ROWS], len(table.axes), more, drawn(table.picture()))


def hypothesis_shown(hypothesis: Hypothesis) -> Mapping[str, Any]:
    """What was learned, for a page."""
    if isinstance(hypothesis, Tabulation):
        note = hypothesis.note.replace("(in brackets)", "(in grey)")
        return {"table": table_shown(hypothesis), "note": note, "words": "", "lead": hypothesis.headline}
    picture_ = drawn(hypothesis.picture()) if hypothesis else Markup("")
    return {"drawing": picture_, "note": "", "words": hypothesis.describe(), "lead": hypothesis.headline}


def questions_shown(result: Mapping[str, Any]) -> list[Questioned]:
    """The questions of a round as a ledger keeps it, in words, with their answers and error bars.

    Args:
        result: an entry, as `Desk.result_of` makes it.
    """
    if result["round"] is None:
        return []
    round_ = Round.of(result["round"])
    answers = result["answers"]
    return [
        _question(query, None if answers is None else Answer.of(answers[place]))
        for place, query in enumerate(round_.queries)
    ]


def _question(query: Question, answer: Answer | None) -> Questioned:
    text = _asked(query)
    if answer is None:
        return Questioned(text)
    if np.asarray(answer.value).dtype.kind in "iub":
        return Questioned(text, chosen=_chosen(query, answer))
    return Questioned(text, answer_shown(answer, text))


def _asked(query: Question) -> str:
    """What a query asks, in words that say all of it where there are any."""
    if not isinstance(query, Query):
        return question_in_words(canonical({"queries": [query.form]}))
    what = "how many rows" if query.statistic == "count" else f"the {query.statistic} of {words(query.value)}"
    groups = f" by {', '.join(heading(group) for group in query.by)}" if query.by else ""
    return what + groups + ("" if query.where is None else f", where {words(query.where)}")


def answer_shown(answer: Answer, title: str) -> Shown:
    """An answer with its error bars.

    Args:
        answer: the answer.
        title: what was asked, for its picture.
    """
    columns = list(answer.columns().items())
    labels = len(columns) - 4
    cells, numbers = answer.cells[:MOST_ROWS], [values for _, values in columns[labels:]]
    grey = answer.within_noise().ravel().tolist()
    rows = [
        [*((label, False) for label in cell), (with_error(value, radius), quiet)]
        for cell, value, radius, quiet in zip(cells, numbers[0], numbers[1], grey, strict=False)
    ]
    bars = tuple(
        MeasuredBar(" · ".join(cell) or "all", value, low, high, not quiet)
        for cell, value, low, high, quiet in zip(cells, numbers[0], *numbers[2:], grey, strict=False)
        if math.isfinite(low) and math.isfinite(high)
    )
    drawing = (
        drawn(picture(title, [MeasuredPanel("", bars)], DRAWN)) if 1 < len(bars) <= DRAWN else Markup("")
    )
    headings = [*(name for name, _ in columns[:labels]), f"value, at {100 * (1 - BETA):g} %"]
    return Shown(headings, rows, labels, len(answer.cells) - len(rows), drawing)


def _chosen(query: Question, answer: Answer) -> str:
    numbers = [int(number) for number in np.ravel(answer.value)]
    if isinstance(query, Choice) and all(0 <= number < len(query.candidates) for number in numbers):
        return "; ".join(dict.fromkeys(words(query.candidates[number]) for number in numbers))
    return f"number {', '.join(map(str, numbers))}"
