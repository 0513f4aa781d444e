"""What a check of the audit is, and what it says: claimed, found, and what it could have found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Effort: TypeAlias = Literal["quick", "full"]
"""How hard a check tries: the whole audit takes two minutes, or up to an hour."""

ALARM = 1e-9
"""The chance with which one statistical finding calls a violation where there is none."""


@dataclass(frozen=True)
class AuditFinding:
    """One claim, and what came of trying to break it.

    Args:
        subject: what was examined.
        claimed: what it promises, in words.
        measured: what was found, in words.
        detectable: the smallest violation that would have been found.
        holds: whether the claim withstood.
        confidence: the chance that a claim which is true is found to hold; 1 where nothing is left to chance.
        evidence: the loss that was shown, where one was measured.
        tried: whether it could be examined here. A claim that was not has not withstood anything.

    >>> exact("a coin", "1/2", "1/2", "any difference", True).holds
    True
    """

    subject: str
    claimed: str
    measured: str
    detectable: str
    holds: bool
    confidence: float = 1.0
    evidence: float = 0.0
    tried: bool = True

    @property
    def form(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "subject": self.subject,
            "claimed": self.claimed,
            "found": self.measured,
            "detectable": self.detectable,
            "holds": self.holds,
            "tried": self.tried,
            "confidence": self.confidence,
        }

    def __str__(self) -> str:
        verdict = ("holds" if self.tried else "not tried") if self.holds else "VIOLATED"
        words = f"claimed {self.claimed}; found {self.measured}; detectable {self.detectable}"
        return f"{verdict}: {self.subject}: {words}"


@dataclass(frozen=True)
class Check:
    """Something that the audit tries.

    Args:
        name: what `--only` calls it.
        title: what it is about, in a few words.
        how: what is done, in a sentence or two.
        run: does it, with an effort.
        covers: the names of the mechanisms of which it examines the law.
    """

    name: str
    title: str
    how: str
    run: Callable[[Effort], Iterable[AuditFinding]]
    covers: tuple[str, ...] = ()


def exact(subject: str, claimed: str, measured: str, detectable: str, holds: bool) -> AuditFinding:
    """A finding in which nothing is left to chance."""
    return AuditFinding(subject, claimed, measured, detectable, bool(holds))


def not_tried(subject: str, why: str) -> AuditFinding:
    """What cannot be examined on this machine.

    >>> print(not_tried("a service", "install sulq[serve]"))
    not tried: a service: claimed not examined; found not tried: install sulq[serve]; detectable nothing
    """
    return AuditFinding(subject, "not examined", f"not tried: {why}", "nothing", True, tried=False)


def all_of(subject: str, claimed: str, failures: Sequence[str], tried: int) -> AuditFinding:
    """A finding about many cases, each of which must hold.

    Args:
        subject: what was examined.
        claimed: what must hold in every case.
        failures: the cases in which it does not, in words.
        tried: how many cases were tried.

    >>> all_of("bounds", "no row breaks one", [], 100).measured
    'none of 100 cases breaks it'
    >>> all_of("bounds", "no row breaks one", ["age = nan"], 100).measured
    '1 of 100 cases breaks it, as: age = nan'
    """
    if not failures:
        return exact(
            subject, claimed, f"none of {tried:,} cases breaks it", "one case of those tried", tried > 0
        )
    verb = "breaks" if len(failures) == 1 else "break"
    measured = f"{len(failures):,} of {tried:,} cases {verb} it, as: {failures[0]}"
    return exact(subject, claimed, measured, "one case of those tried", False)
