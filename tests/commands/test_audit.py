"""`sulq audit`: what it prints, what it writes, and its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sulq.audits import catalogue
from sulq.audits.findings import exact
from sulq.cli import main


def test_the_checks_are_listed_and_none_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in catalogue.CHECKS)


def test_the_list_is_json_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["check"] for each in listed] == list(catalogue.CHECKS)
    assert all(each["examined"] and each["how"] for each in listed)


def test_every_check_says_what_is_claimed_found_and_detectable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--only", "poisoning,devices", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    for word in ("claimed", "found", "detectable", "All 17 claims hold"):
        assert word in printed


def test_findings_are_printed_as_json_and_written_as_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "audit.html"
    assert main(["audit", "--only", "poisoning", "--jobs", "1", "--json", "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("}\n")
    form = json.loads(printed)
    assert (form["audit"], form["holds"], form["effort"]) == (1, True, "quick")
    assert {"subject", "claimed", "found", "detectable", "holds", "confidence"} <= set(
        form["checks"][0]["findings"][0]
    )
    assert "Poisoning" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_violation_is_named_and_the_exit_code_is_1(
    form: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = replace(
        catalogue.CHECKS["coins"], run=lambda effort: [exact("a coin", "fair", "bent", "any", False)]
    )
    monkeypatch.setitem(catalogue.CHECKS, "coins", broken)
    assert main(["audit", "--only", "coins", "--jobs", "1", *form]) == 1
    printed = capsys.readouterr().out
    assert "bent" in printed
    assert form or "VIOLATED: coins" in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--only", "luck"], "there is no check 'luck'; there are answers"),
        (["--jobs", "0"], "--jobs is at least 1"),
        (["--only", ","], "--only names no check"),
        (["--report", "nowhere/audit.html"], "cannot write --report nowhere/audit.html: No such file"),
        (["--report", "."], "cannot write --report .: Is a directory; nothing was examined"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sulq.commands.audit.audited", lambda *_: pytest.fail("a check was run"))
    assert main(["audit", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("missing", [["timing"], ["timing", "service"]])
def test_what_could_not_be_tried_is_named_and_is_no_claim_that_holds(
    missing: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sulq.audits.services._is_installed", lambda: False)
    assert main(["audit", "--only", ",".join(["poisoning", *missing]), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "All 15 claims hold" in printed and f"Not tried, see above: {', '.join(missing)}." in printed
    assert printed.count("pip install 'sulq[serve]'") == len(missing)
    assert main(["audit", "--only", "timing", "--jobs", "1"]) == 0
    assert "claims hold" not in capsys.readouterr().out
