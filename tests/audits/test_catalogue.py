"""The catalogue is complete: every mechanism, every learner and every known attack has a check, and checks can fail."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

import sulq
import sulq.local
import sulq.privacy
from sulq.audits import catalogue, curators, learners, ledger_faults
from sulq.audits.attacks import attacks
from sulq.audits.catalogue import CHECKS, Examined, audited, examine, named
from sulq.audits.findings import exact, not_tried
from sulq.audits.report import report
from sulq.errors import SulqError
from sulq.learners.learner import Learner
from sulq.privacy.noise import DiscreteLaplace
from tests.effort import either, long

QUICK = ["coins", "conversion", "answers", "faults", "races", "free-paths", "public-facts"]
QUICK += ["rereading", "devices", "for-life", "poisoning"]
KNOWN = """floating point, precision, order of sums, timing, error oracle, double spending, crash, retry, free path,
lazy re-reading, gaps between bins, nan and infinities, missing and asymmetric bounds, neighbour mix-ups, exact n,
truncation, keys, accounting, fork, replay, an unprotected bit, report length, wrong probabilities, poisoning"""


def mechanisms() -> Iterator[str]:
    """Every class of the packages that draws, chooses, releases or calibrates."""
    for package in (sulq.privacy, sulq.local):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                draws = any(hasattr(value, way) for way in ("sample", "choose", "release", "for_cost"))
                here = inspect.isclass(value) and value.__module__ == module.name
                if (
                    here
                    and draws
                    and not inspect.isabstract(value)
                    and not getattr(value, "_is_protocol", False)
                ):
                    yield name


def test_every_mechanism_has_a_check() -> None:
    covered = {name for check in CHECKS.values() for name in check.covers}
    assert set(mechanisms()) <= covered


def test_every_learner_is_run() -> None:
    exported = {
        name
        for name in sulq.__all__
        if inspect.isclass(getattr(sulq, name)) and issubclass(getattr(sulq, name), Learner)
    }
    assert exported == set(learners.CASES) | set(learners.NOT_ALONE)


def test_every_known_attack_is_tried_by_checks_that_exist() -> None:
    assert {attack.name.lower() for attack in attacks()} == {name.strip() for name in KNOWN.split(",")}
    assert {name for attack in attacks() for name in attack.checks} <= set(CHECKS)


@pytest.mark.parametrize("name", QUICK)
def test_a_check_holds(name: str) -> None:
    examined = examine(name)
    assert examined.holds, [str(finding) for finding in examined.findings if not finding.holds]
    assert all(finding.claimed and finding.measured and finding.detectable for finding in examined.findings)


@long
@pytest.mark.parametrize("name", sorted(set(CHECKS) - set(QUICK)))
def test_a_check_that_takes_longer_holds(name: str) -> None:
    examined = examine(name)
    assert examined.holds, [str(finding) for finding in examined.findings if not finding.holds]


def test_the_check_of_noise_notices_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = DiscreteLaplace.sample
    monkeypatch.setattr(
        DiscreteLaplace, "sample", lambda self, size: draw(DiscreteLaplace(self.scale / 2), size)
    )
    broken = [finding.subject for finding in curators.answers("quick") if not finding.holds]
    assert any("noise of answer" in subject for subject in broken)


def test_the_check_of_the_ledger_notices_a_charge_after_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    release = sulq.Ledger.release

    def looks_first(
        self: sulq.Ledger, run: str, question: str, cost: object, answer: object, **named: object
    ) -> str:
        early = answer()
        return release(self, run, question, cost, lambda: early, **named)

    monkeypatch.setattr(sulq.Ledger, "release", looks_first)
    examined = [finding for finding in ledger_faults.faults("quick") if not finding.holds]
    assert any("looked at" in finding.subject for finding in examined)


def test_a_check_that_cannot_run_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(effort: str) -> Iterator[object]:
        raise RuntimeError("gone")

    monkeypatch.setitem(catalogue.CHECKS, "coins", replace(CHECKS["coins"], run=breaks))
    examined = examine("coins")
    assert not examined.holds
    assert "RuntimeError: gone" in examined.findings[0].measured


def test_checks_run_one_after_the_other_or_two_at_once() -> None:
    for jobs in (2, 1)[: either(1, 2)]:
        examined = list(audited(["poisoning", "devices"], jobs=jobs))
        assert {each.check for each in examined} == {"poisoning", "devices"}
        assert all(each.holds for each in examined)


def test_a_check_that_is_not_there_is_refused() -> None:
    with pytest.raises(SulqError, match="there is no check 'luck'; there are answers"):
        named(["luck"])
    assert named([]) == list(CHECKS)


def test_a_report_tells_of_every_attack_and_of_what_is_broken() -> None:
    broken = Examined("coins", (exact("a coin", "fair", "bent <1>", "any", False),), 0.1)
    page = report([broken, examine("poisoning")], "quick")
    assert all(f">{attack.name}</h2>" in page for attack in attacks())
    assert "1 of 16 claims do not hold" in page
    assert "bent &lt;1&gt;" in page
    assert "Not tried in this run." in page


def test_what_could_not_be_tried_is_not_said_to_hold() -> None:
    missing = Examined("timing", (not_tried("times of a service", "no server <here>"),), 0.0)
    page = report([missing, examine("poisoning")], "quick")
    assert "All claims hold, in 15 findings of 1 checks. Not tried on this machine: timing." in page
    assert "<a href='#timing'>Timing</a></td><td>not tried<" in page
    assert "<a href='#poisoning'>Poisoning</a></td><td>nothing found<" in page
    assert (
        "<a href='#nan-and-infinities'>NaN and infinities</a></td><td>nothing found, not all was tried<"
        in page
    )
    assert "Nothing: 1 findings hold" not in page
    assert "No claim was tried." in report([missing], "quick")


def test_a_report_leads_from_each_attack_to_its_findings() -> None:
    page = report([examine("poisoning")], "quick")
    links, places = set(re.findall(r"href='#([^']+)'", page)), set(re.findall(r"id='([^']+)'", page))
    assert links <= places and {"check-poisoning", "poisoning"} <= links
