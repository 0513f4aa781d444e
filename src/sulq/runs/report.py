"""The report of a run: one HTML file that needs nothing else, to read, to print and to pass on.

Everything in it was released under the budget or is public. How long rounds took is left out: that depends
on the rows.
"""

from __future__ import annotations

import json
from datetime import date
from html import escape
from importlib.metadata import version

from sulq.hypotheses.hypothesis import Hypothesis, enumerated
from sulq.hypotheses.result_set import ResultSet
from sulq.hypotheses.tabulation import Tabulation
from sulq.ledger.places import Address, place_of
from sulq.numbers import several
from sulq.oracles.assembly import IN_MEMORY
from sulq.pictures import odds
from sulq.plans.watching import AskedRound
from sulq.privacy.budget import PureDP
from sulq.runs.odds import GUESS, surest
from sulq.runs.outcome import Outcome, RunBudget, promise_in_words
from sulq.runs.style import page
from sulq.schema import Schema, drops
from sulq.wire import digest

ERRORS = (
    "All numbers of an answer are as close as this to those of the rows themselves, but for a chance of 5 %. "
    "Sums of features are in units of half a column's public interval."
)
CAUSES = "What goes together in these rows need not be cause and effect; what rests on few rows may be noise."
CLAMPED = (
    "Values outside the bounds of the schema were clamped to them; missing ones became a public constant"
)
SAMPLE = (
    "The errors are about the noise. That the rows may be a sample of something larger is not part of them."
)
POPULATION = "The error is about a population only if the rows were drawn from it at random, one by one."
PRIVATE_LIMITS = (
    "The promise is about this budget. Other budgets that were spent on the same people add to it.",
    "The promise needs the schema, the label and the settings to be chosen without looking at the rows.",
)


NONE = "none: "
"""How oracles that promise nothing begin to say so."""
LONG = 2000
"""A table of rounds with more letters is folded away: on a phone it would be screens long."""
NUMERIC = ("round", "numbers", "cost")
"""The columns of the table of rounds that are aligned to the right."""


def report(outcome: Outcome, title: str, data: str = "") -> str:
    """A run as one HTML page.

    Args:
        outcome: what came of the run.
        title: what the page is called.
        data: what the data is called, "" where nobody said.
    """
    account, origin = outcome.account, outcome.origin
    limits = _limits(outcome)
    sections = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">learned by sulq {escape(version("sulq"))} ({escape(origin.learner)}) · written on '
        f"{date.today().isoformat()}{f' · data: {escape(data)}' if data else ''} · "
        f"promise: {escape(origin.promise)} · run: {escape(origin.run)}</p>",
        _warning(origin.promise),
        _opening(outcome.hypothesis) if outcome.hypothesis else "",
        f"<p>Chosen: {escape(origin.chosen)}.</p>" if origin.chosen else "",
        _meaning(account, outcome.schema) if account is not None else _reported(origin.promise),
        "<h2>What was learned</h2>" if outcome.hypothesis else "",
        _learned(outcome),
        "" if account is None else _promise(account, outcome.schema),
        _rounds(outcome.asked, account),
        "" if account is None else _left(outcome, account),
        "" if account is None else _to_check(outcome, account),
        "<h2>What this does not say</h2>",
        "<ul>" + "".join(f"<li>{escape(limit)}</li>" for limit in limits) + "</ul>",
        _to_use(outcome.hypothesis) if outcome.hypothesis else "",
    ]
    return page(title, sections)


def _learned(outcome: Outcome) -> str:
    hypothesis = outcome.hypothesis
    if not hypothesis:
        return f"<p>{escape(hypothesis.describe())}</p>"
    words = f"<pre>{escape(outcome.describe())}</pre>"
    table = (
        f'<div class="wide">{hypothesis._repr_html_()}</div>'
        if isinstance(hypothesis, Tabulation | ResultSet)
        else ""
    )
    return (
        f'{table}<div class="picture">{outcome.picture()}</div>'
        f"<details><summary>the same in words</summary>{words}</details>"
    )


def _opening(hypothesis: Hypothesis) -> str:
    """What was learned, in a sentence, and what of it noise could have made."""
    sentences = [doubt.replace("(in brackets)", "(in grey)") for doubt in hypothesis.doubts]
    doubts = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    below = f'<ul class="doubts">{doubts}</ul>' if doubts else ""
    return f'<p class="lead">{escape(hypothesis.headline)}</p>{below}'


def _meaning(account: RunBudget, schema: Schema) -> str:
    """What the promise means to somebody in the data, in a sentence and a picture."""
    budget, whom = account.budget, "one row" if schema.unit is None else "one person"
    before, after = round(100 * GUESS), round(100 * surest(budget))
    rarely = "" if isinstance(budget, PureDP) else ", but for a chance of one in a million"
    others = "all others" if schema.unit is None else "everybody else's data"
    empty = " So this promise says next to nothing." if after == 100 else ""
    return (
        f'<div class="meaning"><p><strong>{escape(budget.describe())}</strong> means: someone who knows '
        f"{others}, and gives a guess about {whom} {before} chances in 100, can give it at most {after} in "
        f"100 after reading this page and all else that is ever answered under this budget{rarely}."
        f"{empty}</p>"
        f'<div class="picture">{odds.picture(GUESS, surest(budget))}</div></div>'
    )


def _reported(promise: str) -> str:
    """What is promised where there is no budget: people report for themselves, or nobody promises a thing."""
    if promise.startswith(NONE):
        return ""
    return (
        f'<div class="meaning"><p><strong>{escape(promise)}</strong>: every person randomized what they '
        "reported before it left them, so that nobody had to be trusted with it.</p></div>"
    )


def _to_check(outcome: Outcome, account: RunBudget) -> str:
    """How whoever keeps the data can check what the page says.

    The seal of the ledger is not on the page: it stands for the times of answers too, and those depend on the
    rows. The hashes here stand for the schema and for what is on the page anyway.
    """
    ledger, run = _ledger(account), escape(outcome.origin.run)
    again = "The same command again gives the same result, at no cost: "
    if account.ledger in ("memory", IN_MEMORY):
        who = "The ledger of this run was kept in memory, so nobody can check what was spent."
        again = ""
    elif account.elsewhere:
        who = (
            f"The ledger is kept where the data is, {ledger}. Its owner can verify it there, and see what "
            f"the run {run} was charged."
        )
    else:
        who = (
            f"Whoever keeps the data has the ledger. <code>sulq ledger verify {ledger}</code> recomputes "
            f"every sum and every hash in it, and <code>sulq ledger show {ledger}</code> shows what the run "
            f"{run} was charged and the schema that it was made for."
        )
    told = f"{again}the file that <code>--json</code> writes has this hash." if again else ""
    hashes = {"schema": outcome.schema.hash}
    if outcome.hypothesis:
        hashes["result"] = digest(f"{outcome.hypothesis.to_json()}\n")
    lines = "".join(f"<dt>{name}</dt><dd><code>{value}</code></dd>" for name, value in hashes.items())
    return (
        f"<h2>How to check this page</h2><p>{who} {told}</p><dl>{lines}</dl>"
        '<p class="soft">Hashes are SHA-256, as <code>sha256sum</code> prints them.</p>'
    )


def _ledger(account: RunBudget) -> str:
    """The ledger on a page that is passed on: it says as little of a server as of a folder."""
    place = place_of(account.ledger)
    return escape(f"postgresql://…?schema={place.schema}" if isinstance(place, Address) else place.name)


def _to_use(hypothesis: Hypothesis) -> str:
    return (
        "<h2>To use it in Python</h2>"
        "<p>Read this text with <code>sulq.Hypothesis.from_json</code>.</p>"
        f"<details><summary>JSON</summary><pre>{escape(_pretty(hypothesis.to_json()))}</pre></details>"
    )


def _limits(outcome: Outcome) -> list[str]:
    dropped = [name for name, kind in outcome.schema.items() if drops(kind)]
    left_out = f"; tables, sums and means of {enumerated(dropped)} leave them out" if dropped else ""
    limits = [CAUSES, f"{CLAMPED}{left_out}."]
    if outcome.account is None:
        return limits
    promised = any(line.promise is not None for round_ in outcome.asked for line in round_.questions)
    return [POPULATION if promised else SAMPLE, *PRIVATE_LIMITS, *limits]


def _warning(promise: str) -> str:
    """Say loudly that nothing is promised; nothing where something is."""
    if not promise.startswith(NONE):
        return ""
    answers = escape(promise.removeprefix(NONE).capitalize())
    return (
        f'<p class="warning">{answers}: there is no privacy in this page. It is for comparison only, and '
        "must not be published or passed on.</p>"
    )


def _promise(account: RunBudget, schema: Schema) -> str:
    paragraphs = promise_in_words(account.budget, account.neighbours, schema)
    promise = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return f"<h2>The promise: {escape(account.budget.describe())}</h2>{promise}"


def _rounds(rounds: tuple[AskedRound, ...], account: RunBudget | None) -> str:
    noisy = account is not None or any(line.error for round_ in rounds for line in round_.questions)
    lines = [
        {"round": str(round_.number), "what was asked": round_.describe(), "numbers": f"{round_.numbers:,}"}
        | ({} if account is None else {"cost": account.words(round_.cost)})
        | ({"95 % error": round_.errors()} if noisy else {})
        for round_ in rounds
    ]
    head = "".join(f"<th{_class(name)}>{escape(name)}</th>" for name in (lines[0] if lines else ()))
    body = "".join(_row(line) for line in lines)
    note = f'<p class="soft">{escape(ERRORS)}</p>' if noisy else ""
    table = f'<table class="rounds"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    if sum(len(words) for line in lines for words in line.values()) > LONG:
        numbers = sum(round_.numbers for round_ in rounds)
        counts = f"{several(len(rounds), 'round', 'rounds')}, {several(numbers, 'number', 'numbers')}"
        table = f"<details><summary>{counts}</summary>{table}</details>"
    return f"<h2>What was asked</h2>{table}{note}"


def _row(line: dict[str, str]) -> str:
    """A row of a table. On a narrow screen every cell says what it is, as there is no room for a heading."""
    cells = (
        f'<td{_class(name)} data-name="{escape(name)}">{escape(words)}</td>' for name, words in line.items()
    )
    return f"<tr>{''.join(cells)}</tr>"


def _class(name: str) -> str:
    return ' class="number"' if name in NUMERIC else ""


def _left(outcome: Outcome, account: RunBudget) -> str:
    spent, total = account.words(outcome.cost), account.words(account.budget.total)
    return (
        f"<h2>What it cost</h2><p>This run cost {escape(spent)} of a budget of {escape(total)}. When this "
        f"page was written, {escape(account.words(account.remaining))} was left in the ledger "
        f"<code>{_ledger(account)}</code>.</p>"
    )


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
