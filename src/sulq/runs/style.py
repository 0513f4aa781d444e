"""How a report looks: on a desk, on a phone, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d232b; --soft: #5b6672; --line: #d5dae0; --page: #fff;
  --panel: #f4f6f8; --warn: #b3261e; --doubt: #8a5a00; }
.picture svg > rect:first-child { fill: none; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #3a424c; --page: #15191e;
    --panel: #1d2229; --warn: #ff8a80; --doubt: #f0b849; }
  /* Pictures are drawn for white paper: in the dark light and dark change places, and hues stay. */
  .picture svg { filter: invert(.92) hue-rotate(180deg); }
}
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem;
  background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; break-after: avoid; }
p, ul { max-width: 46rem; }
.soft { color: var(--soft); margin-top: 0; overflow-wrap: anywhere; }
.lead { font-size: 1.15rem; overflow-wrap: anywhere; }
.doubts { color: var(--doubt); padding-left: 1.2rem; }
.warning { border: 3px solid var(--warn); color: var(--warn); font-weight: 600; padding: .6rem 1rem; }
.meaning { background: var(--panel); border-radius: .6rem; padding: .2rem 1.1rem; margin: 1.4rem 0;
  display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: center; }
.meaning p { flex: 1 1 20rem; }
.meaning .picture { margin: 0; }
.picture, .wide, .findings { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0;
  border-bottom: 1px solid var(--line); }
.wide th, .wide td { white-space: nowrap; }
th { color: var(--soft); font-weight: 500; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.rounds + p { margin-top: .5rem; }
pre { white-space: pre; overflow-x: auto; font: .85rem/1.45 ui-monospace, monospace;
  border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; }
code { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; }
summary { cursor: pointer; color: var(--soft); }
@media screen and (max-width: 40rem) {
  body { padding: 1.2rem 1rem 3rem; }
  .picture svg { max-width: none !important; }
  .meaning .picture svg { max-width: 100% !important; }
  .rounds thead { display: none; }
  .rounds tr, .rounds td { display: block; border: 0; padding: 0; text-align: left; white-space: normal; }
  .rounds tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .rounds td::before { content: attr(data-name) ": "; color: var(--soft); }
}
@media print { body { max-width: none; padding: 0; font-size: .9rem; } tr, .picture { break-inside: avoid; } }
"""


def page(title: str, sections: Sequence[str]) -> str:
    """An HTML page that needs nothing else.

    Args:
        title: what the page is called.
        sections: what is in it, as HTML, in order; empty ones are left out.

    >>> page("a < b", ["<p>yes</p>", ""]).count("a &lt; b")
    1
    """
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    body = "\n".join(section for section in sections if section)
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'
