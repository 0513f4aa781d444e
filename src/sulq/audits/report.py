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
    (25, True)
    """
    by_name = {each.check: each for each in examined}
    broken = [finding for each in examined for finding in each.findings if not finding.holds]
    many = sum(len(each.findings) for each in examined)
    lead = (
        f"All claims hold, in {many:,} findings of {len(examined)} checks."
        if not broken
        else f"{len(broken)} of {many:,} claims do not hold."
    )
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    system = f"Python {platform.python_version()}, {platform.system()}"
    about = f"sulq {version('sulq')}, {system}, {now}; effort: {effort}"
    head = [
        f"<h1>An audit of sulq</h1><p class='soft'>{escape(about)}</p>",
        f"<p class='lead'>{escape(lead)}</p>",
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
    return page("An audit of sulq", [*head, *sections, "<h2>All findings</h2>", *checks])


def _attack(attack: Attack, by_name: dict[str, Examined]) -> str:
    run = [by_name[name] for name in attack.checks if name in by_name]
    broken = [finding for each in run for finding in each.findings if not finding.holds]
    many = sum(len(each.findings) for each in run)
    if not run:
        result = "Not tried in this run."
    elif broken:
        result = "Violated: " + "; ".join(map(str, broken))
    else:
        result = f"Nothing: {many} findings hold ({', '.join(each.check for each in run)})."
    rows = [
        ("what it is", attack.what),
        ("whom it hit", attack.whom),
        ("what was tried here", attack.tried),
        ("what was found", result),
    ]
    table = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    place = attack.name.lower().replace(" ", "-")
    return f"<h2 id='{escape(place)}'>{escape(attack.name)}</h2><table>{table}</table>"


def _check(each: Examined) -> str:
    about = CHECKS[each.check]
    rows = "".join(_row(finding) for finding in each.findings)
    head = "<tr><th></th><th>examined</th><th>claimed</th><th>found</th><th>detectable</th></tr>"
    verdict = "holds" if each.holds else "VIOLATED"
    words = f"{escape(about.title)} (<code>{each.check}</code>): {verdict}, {len(each.findings)} findings"
    inside = f"<summary>{words}</summary><p>{escape(about.how)}</p><table>{head}{rows}</table>"
    return f"<details{'' if each.holds else ' open'}>{inside}</details>"


def _row(finding: AuditFinding) -> str:
    sign = "✓" if finding.holds else "✗"
    words = (finding.subject, finding.claimed, finding.measured, finding.detectable)
    return f"<tr><td>{sign}</td>{''.join(f'<td>{escape(text)}</td>' for text in words)}</tr>"
