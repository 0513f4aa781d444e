"""The audit as a page: one section for each known attack, and all findings."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from html import escape
from importlib.metadata import version

from sulq.audits.attacks import Attack, attacks
from sulq.audits.catalogue import CHECKS, Examined
from sulq.audits.findings import AuditFinding, Effort
from sulq.runs.style import page


def report(examined: Sequence[Examined], effort: Effort) -> str:
    """An HTML page about an audit.

    Args:
        examined: the checks that were run.
        effort: how hard they tried.

    >>> from sulq.audits.catalogue import examine
    >>> text = report([examine("poisoning")], "quick")
    >>> text.count("<h2"), "All claims hold" in text
    (26, True)
    """
    by_name = {each.check: each for each in examined}
    broken = [finding for each in examined for finding in each.findings if not finding.holds]
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    system = f"Python {platform.python_version()}, {platform.system()}"
    about = f"sulq {version('sulq')}, {system}, {now}; effort: {effort}"
    head = [
        f"<h1>An audit of sulq</h1><p class='soft'>{escape(about)}</p>",
        f"<p class='lead'>{escape(_lead(examined, len(broken)))}</p>",
    ]
    if broken:
        head.append(
            f"<div class='warning'>{''.join(f'<p>{escape(str(finding))}</p>' for finding in broken)}</div>"
        )
    head.append(
        "<p>Each finding says what is claimed, what was found, and the smallest violation that would have "
        "been found. "
        "Where chance is involved, a claim that is true is called broken with a chance of one in "
        "10<sup>9</sup>. "
        "Run it yourself: <code>sulq audit --report audit.html</code>.</p>"
    )
    sections = [_attack(attack, by_name) for attack in attacks()]
    checks = [_check(each) for each in examined]
    return page("An audit of sulq", [*head, _contents(by_name), *sections, "<h2>All findings</h2>", *checks])


def _lead(examined: Sequence[Examined], broken: int) -> str:
    """What came of it, in a sentence or two."""
    claims = sum(len(each.tried) for each in examined)
    missing = [each.check for each in examined if not each.tried]
    if broken:
        result = f"{broken} of {claims:,} claims do not hold."
    elif claims:
        result = f"All claims hold, in {claims:,} findings of {len(examined) - len(missing)} checks."
    else:
        result = "No claim was tried."
    return result + (f" Not tried on this machine: {', '.join(missing)}." if missing else "")


def _contents(by_name: dict[str, Examined]) -> str:
    """The known attacks, each with its verdict."""
    rows = "".join(
        f"<tr><td><a href='#{_place(attack)}'>{escape(attack.name)}</a></td>"
        f"<td>{_verdict(attack, by_name)}</td></tr>"
        for attack in attacks()
    )
    return f"<h2>Known attacks</h2><table><tr><th>attack</th><th>here</th></tr>{rows}</table>"


def _verdict(attack: Attack, by_name: dict[str, Examined]) -> str:
    run = [by_name[name] for name in attack.checks if name in by_name]
    if not all(each.holds for each in run):
        return "VIOLATED"
    whole = len(run) == len(attack.checks) and all(each.tried for each in run)
    if any(each.tried for each in run):
        return "nothing found" if whole else "nothing found, not all was tried"
    return "not tried"


def _place(attack: Attack) -> str:
    return escape(attack.name.lower().replace(" ", "-"))


def _attack(attack: Attack, by_name: dict[str, Examined]) -> str:
    run = [by_name[name] for name in attack.checks if name in by_name and by_name[name].tried]
    missing = [name for name in attack.checks if name not in {each.check for each in run}]
    broken = [finding for each in run for finding in each.findings if not finding.holds]
    links = ", ".join(f"<a href='#check-{each.check}'>{each.check}</a>" for each in run)
    if not run:
        result = "Not tried in this run."
    elif broken:
        result = f"Violated ({links}): {escape('; '.join(map(str, broken)))}"
    else:
        result = f"Nothing: {sum(len(each.tried) for each in run)} findings hold ({links})."
    if run and missing:
        result += f" Not tried in this run: {', '.join(missing)}."
    rows = [
        ("what it is", escape(attack.what)),
        ("whom it hit", escape(attack.whom)),
        ("what was tried here", escape(attack.tried)),
        ("what was found", result),
    ]
    table = "".join(f"<tr><th style='width: 8rem'>{name}</th><td>{text}</td></tr>" for name, text in rows)
    return f"<h2 id='{_place(attack)}'>{escape(attack.name)}</h2><table>{table}</table>"


def _check(each: Examined) -> str:
    about = CHECKS[each.check]
    rows = "".join(_row(finding) for finding in each.findings)
    head = "<tr><th></th><th>examined</th><th>claimed</th><th>found</th><th>detectable</th></tr>"
    verdict = ("holds" if each.tried else "not tried") if each.holds else "VIOLATED"
    words = f"{escape(about.title)} (<code>{each.check}</code>): {verdict}, {len(each.tried)} findings"
    how = f"<p id='check-{each.check}'>{escape(about.how)}</p>"  # inside: a link to it opens what is folded
    inside = f"<summary>{words}</summary>{how}<div class='findings'><table>{head}{rows}</table></div>"
    return f"<details{'' if each.holds else ' open'}>{inside}</details>"


def _row(finding: AuditFinding) -> str:
    sign = ("✓" if finding.tried else "–") if finding.holds else "✗"
    words = (finding.subject, finding.claimed, finding.measured, finding.detectable)
    return f"<tr><td>{sign}</td>{''.join(f'<td>{escape(text)}</td>' for text in words)}</tr>"
