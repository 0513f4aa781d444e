"""The report of a run: one HTML file that needs nothing else, to read, to print and to pass on.

Everything in it was released under the budget or is public. How long rounds took is left out: that depends
on the rows.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.tabulation import Tabulation
from sulq.plans.watching import AskedRound
from sulq.runs.outcome import Outcome, RunBudget, promise_in_words
from sulq.schema import Schema

STYLE = """
:root { color-scheme: light dark;
  --ink: #1d232b; --soft: #5b6672; --line: #d5dae0; --page: #fff; --warn: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #3a424c; --page: #15191e; --warn: #ff8a80; }
}
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem;
  background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; break-after: avoid; }
p, ul { max-width: 46rem; }
.soft { color: var(--soft); margin-top: 0; }
.warning { border: 3px solid var(--warn); color: var(--warn); font-weight: 600; padding: .6rem 1rem; }
.picture { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .85rem/1.45 ui-monospace, monospace;
  border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; }
summary { cursor: pointer; color: var(--soft); }
@media print { body { max-width: none; padding: 0; font-size: .9rem; } tr, .picture { break-inside: avoid; } }
"""

ERRORS = (
    "All numbers of an answer are as close as this to those of the rows themselves, but for a chance of 5 %. "
    "Sums of features are in units of half a column's public interval."
)
LIMITS = (
    "What goes together in these rows need not be cause and effect; what rests on few rows may be noise.",
    "Values outside the bounds of the schema were clamped to them; missing ones became a public constant.",
)
SAMPLE = (
    "The errors are about the noise. That the rows may be a sample of something larger is not part of them."
)
POPULATION = "The error is about a population only if the rows were drawn from it at random, one by one."
PRIVATE_LIMITS = (
    "The promise is about this budget. Other budgets that were spent on the same people add to it.",
    "The promise needs the schema, the label and the settings to be chosen without looking at the rows.",
)


def report(outcome: Outcome, title: str) -> str:
    """A run as one HTML page.

    Args:
        outcome: what came of the run.
        title: what the page is called.
    """
    account, origin = outcome.account, outcome.origin
    limits = _limits(outcome)
    sections = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">learned by sulq ({escape(origin.learner)}), rounds of questions: {origin.rounds} · '
        f"promise: {escape(origin.promise)} · run: {escape(origin.run)}</p>",
        "" if account is not None else _warning(),
        _learned(outcome),
        "" if account is None else _promise(account, outcome.schema),
        _rounds(outcome.asked, account),
        "" if account is None else _left(outcome, account),
        "<h2>What this does not say</h2>",
        "<ul>" + "".join(f"<li>{escape(limit)}</li>" for limit in limits) + "</ul>",
        _to_predict_with(outcome.hypothesis) if outcome.hypothesis else "",
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    body = "\n".join(section for section in sections if section)
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _learned(outcome: Outcome) -> str:
    hypothesis = outcome.hypothesis
    if not hypothesis:
        return f"<p>{escape(hypothesis.describe())}</p>"
    words = f"<pre>{escape(outcome.describe())}</pre>"
    table = hypothesis._repr_html_() if isinstance(hypothesis, Tabulation) else ""
    return (
        f'{table}<div class="picture">{outcome.picture()}</div>'
        f"<details><summary>the same in words</summary>{words}</details>"
    )


def _to_predict_with(hypothesis: Hypothesis) -> str:
    return (
        "<h2>To predict with it</h2>"
        "<p>Read this text with <code>sulq.Hypothesis.from_json</code>.</p>"
        f"<details><summary>JSON</summary><pre>{escape(_pretty(hypothesis.to_json()))}</pre></details>"
    )


def _limits(outcome: Outcome) -> list[str]:
    if outcome.account is None:
        return [*LIMITS]
    promised = any(line.promise is not None for round_ in outcome.asked for line in round_.questions)
    return [POPULATION if promised else SAMPLE, *PRIVATE_LIMITS, *LIMITS]


def _warning() -> str:
    return (
        '<p class="warning">Exact answers: there is no privacy in this page. It is for comparison only, and '
        "must not be published or passed on.</p>"
    )


def _promise(account: RunBudget, schema: Schema) -> str:
    paragraphs = promise_in_words(account.budget, account.neighbours, schema)
    promise = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return f"<h2>The promise: {escape(account.budget.describe())}</h2>{promise}"


def _rounds(rounds: tuple[AskedRound, ...], account: RunBudget | None) -> str:
    lines = [
        [str(round_.number), round_.describe(), f"{round_.numbers:,}"]
        + ([] if account is None else [account.words(round_.cost), round_.errors()])
        for round_ in rounds
    ]
    headings = ["round", "what was asked", "numbers"] + ([] if account is None else ["cost", "95 % error"])
    numeric = (0, 2, 3)
    table_rows = [_row("th", headings, numeric), *(_row("td", line, numeric) for line in lines)]
    note = "" if account is None else f'<p class="soft">{escape(ERRORS)}</p>'
    return f"<h2>What was asked</h2><table>{''.join(table_rows)}</table>{note}"


def _row(tag: str, cells: list[str], numeric: tuple[int, ...]) -> str:
    classes = [' class="number"' if place in numeric else "" for place in range(len(cells))]
    shown = [
        f"<{tag}{attribute}>{escape(cell)}</{tag}>" for cell, attribute in zip(cells, classes, strict=True)
    ]
    return f"<tr>{''.join(shown)}</tr>"


def _left(outcome: Outcome, account: RunBudget) -> str:
    spent, total = account.words(outcome.cost), account.words(account.budget.total)
    return (
        f"<h2>What it cost</h2><p>This run cost {escape(spent)} of a budget of {escape(total)}. When this "
        f"page was written, {escape(account.words(account.remaining))} was left in the ledger "
        f"<code>{escape(Path(account.ledger).name)}</code>.</p>"
    )


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
