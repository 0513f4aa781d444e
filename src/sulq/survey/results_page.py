"""Results and diagnostics for people: on a terminal, as pictures, as a page that needs nothing else."""

from __future__ import annotations

from html import escape

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sulq.pictures import measured, svg
from sulq.survey.collector import Collector
from sulq.survey.diagnostics import LIMITS, RATE, SurveyCheck, diagnose
from sulq.survey.results import QuestionResult, SurveyResults, results_of

GREY = "not yet: the error bar is wider than a quarter of all possible answers"
CLIPPED = "brought into the possible range for display; the estimate itself is in the CSV and JSON"
STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2933}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}"
    ".grey{color:#5f6b7a}.alarm{color:#b00020;font-weight:bold}"
)


def results_table(results: SurveyResults) -> RenderableType:
    """The results for a terminal.

    Args:
        results: the results.
    """
    table = Table("question", "answer", "estimate", "reports", "still needed", box=None, padding=(0, 2, 0, 0))
    for question in results.questions:
        for place, label in enumerate(question.asked.labels):
            first = place == 0
            style = "" if question.meaningful else "dim"
            cells = (
                question.asked.name if first else "",
                label,
                _estimate(question, place),
                f"{question.reports:,}" if first else "",
                f"{question.still:,}" if first else "",
            )
            table.add_row(*(Text(svg.clean(cell), style) for cell in cells))
    notes = [Text(line, "dim") for line in _notes(results)]
    return Group(table, *(Text(svg.clean(line)) for line in _comparisons(results)), *notes)


def results_picture(question: QuestionResult, language: str) -> str:
    """The estimates of a question as SVG: grey until they mean something.

    Args:
        question: the result.
        language: in which the question is said.
    """
    bars = tuple(
        measured.MeasuredBar(
            label, value, value - question.radius, value + question.radius, question.meaningful
        )
        for label, value in zip(question.asked.labels, question.possible.tolist(), strict=True)
    )
    panel = measured.MeasuredPanel(
        question.asked.question.unit or "share of the people", bars, question.asked.question.kind != "number"
    )
    note = f"{question.reports:,} reports; {question.still:,} more for the precision that is wanted"
    meaning = f"where the truth is, at {100 * question.survey.confidence:g} %"
    return measured.picture(question.asked.question.words(language), [panel], len(bars), note, meaning)


def results_page(collector: Collector) -> str:
    """The results of a survey as a page that needs nothing but itself.

    Args:
        collector: whoever collects it.
    """
    results = results_of(collector)
    language = collector.survey.languages[0]
    title = escape(collector.survey.title[language])
    parts = [f"<h1>{title}</h1>"]
    for question in results.questions:
        if question.reports:
            parts.append(results_picture(question, language))
        else:
            parts.append(
                f"<p class=grey>{escape(question.asked.question.words(language))}: no reports yet</p>"
            )
    parts += [f"<p>{escape(line)}</p>" for line in _comparisons(results)]
    parts += [f"<p class=grey>{escape(line)}</p>" for line in _notes(results)]
    parts += ["<h2>Were reports made up?</h2>", _checks(diagnose(collector))]
    parts += [f"<p>{escape(words)}</p>" for words in LIMITS]
    return (
        f'<!doctype html><html lang="{escape(language)}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>{STYLE}</style><body>{''.join(parts)}</body></html>"
    )


def checks_table(checks: list[SurveyCheck], names: dict[str, str]) -> RenderableType:
    """The diagnostics for a terminal.

    Args:
        checks: the tests.
        names: what the items are called.
    """
    table = Table("test", "question", "", "what was seen", box=None, padding=(0, 2, 0, 0))
    for check in checks:
        about = "" if check.item is None else names.get(check.item, check.item[:8])
        alarm = Text("ALARM", "bold red") if check.alarm else Text("")
        table.add_row(Text(check.name), Text(svg.clean(about)), alarm, Text(check.words))
    rate = Text(f"If all are honest, there is an alarm in {100 * RATE:g} % of surveys at most.", "dim")
    return Group(table, rate, *(Text(words, "dim") for words in LIMITS))


def _checks(checks: list[SurveyCheck]) -> str:
    rows = "".join(
        f"<tr><td>{escape(check.name)}</td><td class=alarm>{'alarm' if check.alarm else ''}</td>"
        f"<td>{escape(check.words)}</td></tr>"
        for check in checks
    )
    return f"<table>{rows}</table>"


def _estimate(question: QuestionResult, place: int) -> str:
    if not question.reports:
        return "no reports yet"
    value, radius = float(question.possible[place]), question.radius
    if question.asked.question.kind == "number":
        unit = f" {question.asked.question.unit}" if question.asked.question.unit else ""
        return f"{value:.3g} ± {radius:.2g}{unit}"
    return f"{100 * value:.1f} ± {100 * radius:.1f} %"


def _comparisons(results: SurveyResults) -> list[str]:
    lines = []
    beta = results.survey.beta
    for question in results.questions:
        if question.joint is None:
            continue
        for share in question.joint.within(beta):
            who = "all" if share.group is None else share.group
            value = f"{100 * share.value:.1f} ± {100 * share.radius:.1f} %"
            lines.append(f"{question.asked.question.name}, {share.answer}, of {who}: about {value}")
        for test in question.joint.differences(beta):
            words = f"{100 * test.value:+.1f} ± {100 * test.radius:.1f} points"
            verdict = "they differ" if test.p < beta else "no difference is shown"
            lines.append(
                f"{question.asked.question.name}, {test.answer}: {test.first} less {test.second}: about "
                f"{words}, p = {test.p:.2g}: {verdict}"
            )
    return lines


def _notes(results: SurveyResults) -> list[str]:
    confident = f"{100 * results.survey.confidence:g} %"
    notes = [
        f"Error bars hold at {confident} for those who took part, whatever they answered. How well they "
        "stand for others depends on who takes part."
    ]
    if any(question.reports and not question.meaningful for question in results.questions):
        notes.append(f"Grey: {GREY}.")
    if any(question.clipped for question in results.questions):
        notes.append(f"A negative share, or one above 100 %, is {CLIPPED}.")
    return notes
