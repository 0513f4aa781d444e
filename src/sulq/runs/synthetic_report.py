"""A report on synthetic rows: every published count beside that of the rows, as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from html import escape
from importlib.metadata import version
from itertools import product

import numpy as np

from sulq.hypotheses.hypothesis import Origin
from sulq.hypotheses.pairs.synthetic import ComparedCounts, SyntheticRows
from sulq.pictures import scatter
from sulq.runs.style import page
from sulq.talk.columns import with_error
from sulq.wire import digest

LIMITS = (
    "Nobody is behind a synthetic row. The rows are made of the release alone: whoever may see the release "
    "may see them, they cost nothing more, and they fall under the promise of the release.",
    "The rows know pairs of columns and nothing else. What only shows in three columns at once is not in "
    "them.",
    "Error bars that are computed from these rows, as if they were rows of people, are wrong: they know "
    "nothing of the noise.",
    "A published count has noise, and may be below 0. The rows are drawn by counts without what noise "
    "explains, so they are not meant to repeat every published count.",
)


def synthetic_report(rows: SyntheticRows, origin: Origin | None, title: str, release: str) -> str:
    """How far synthetic rows are from what was published, as one HTML page.

    Args:
        rows: the rows.
        origin: where the release comes from.
        title: what the page is called.
        release: the text of the release, as its file has it.
    """
    promise = "none is known" if origin is None else origin.promise
    mean = 100 * float(np.mean(rows.differences()["total variation"]))
    sections = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">drawn by sulq {escape(version("sulq"))} from a release of pairs · written on '
        f"{date.today().isoformat()} · promise of the release: {escape(promise)} · nothing was spent</p>",
        f'<p class="lead">{len(rows):,} synthetic rows. On average {mean:.2f} % of them are in another cell '
        "than the release has them in, once what noise explains is taken back.</p>",
        "" if origin is None else _meaning(promise),
        f'<div class="picture">{_picture(rows)}</div>',
        "<h2>Every table</h2>",
        _tables(rows),
        "<h2>Every count</h2>",
        *(_counts(rows, compared) for compared in rows.compared),
        "<h2>How to check this page</h2>",
        "<p>The page was made of the release alone, whose file has this hash (SHA-256, as "
        "<code>sha256sum</code> prints it):</p>",
        f"<dl><dt>release</dt><dd><code>{digest(release)}</code></dd></dl>",
        "<h2>What this does not say</h2>",
        "<ul>" + "".join(f"<li>{escape(limit)}</li>" for limit in LIMITS) + "</ul>",
    ]
    return page(title, sections)


def _meaning(promise: str) -> str:
    """What the promise of the release means for rows that are drawn from it."""
    return (
        f'<div class="meaning"><p><strong>{escape(promise)}</strong> is the promise of the release. It '
        "covers these rows too: they tell nothing about anyone that the release does not tell.</p></div>"
    )


def _picture(rows: SyntheticRows) -> str:
    dots, total = [], rows.facts.positive.total
    for compared in rows.compared:
        name = rows.name(compared)
        for cell in np.ndindex(compared.given.shape):
            published, given = float(compared.published[cell]), float(compared.given[cell])
            near = abs(published - given) <= compared.radius + 1e-9 * total
            words = f"{name}, {_cell(rows, compared, cell)}: {published:,.0f} and {given:,.0f}"
            dots.append(scatter.ScatterDot(published / total, given / total, near, words))
    return scatter.picture("Published and synthetic", "published", "synthetic", dots)


def _tables(rows: SyntheticRows) -> str:
    """All tables, those furthest off first."""
    columns = rows.differences()
    heads = list(columns)
    order = np.argsort([-each for each in columns["total variation"]]).tolist()
    lines = [
        [
            columns["counts"][place],
            f"{columns['cells'][place]:,}",
            *(f"{100 * columns[head][place]:.2f} %" for head in heads[2:]),
        ]
        for place in order
    ]
    return _table(heads, lines, 1)


def _counts(rows: SyntheticRows, compared: ComparedCounts) -> str:
    labels = [rows.facts.labels(place) for place in compared.columns]
    lines = [
        [*named, with_error(float(published), compared.radius), f"{given:,.0f}"]
        for named, published, given in zip(
            product(*labels), compared.published.ravel(), compared.given.ravel(), strict=True
        )
    ]
    names = [rows.facts.names[place] for place in compared.columns]
    table = _table([*names, "published", "synthetic"], lines, len(names))
    return f"<details><summary>{escape(rows.name(compared))}</summary>{table}</details>"


def _cell(rows: SyntheticRows, compared: ComparedCounts, cell: tuple[int, ...]) -> str:
    each = zip(compared.columns, cell, strict=True)
    return ", ".join(rows.facts.labels(place)[value] for place, value in each)


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]], words: int) -> str:
    """A table, whose columns after the first few are numbers."""

    def cells(line: Sequence[str], kind: str) -> str:
        kinds = [kind if place < words else f'{kind} class="number"' for place in range(len(line))]
        return "".join(f"<{each}>{escape(text)}</{kind}>" for each, text in zip(kinds, line, strict=True))

    body = "".join(f"<tr>{cells(line, 'td')}</tr>" for line in lines)
    return (
        f'<div class="wide"><table><thead><tr>{cells(heads, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
