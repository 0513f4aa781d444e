"""How spending is accounted can be said on the command line, and holds for rehearsal, ledger and service."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import sulq
from sulq.cli import main
from sulq.ledger.ledger import Ledger
from sulq.privacy.prices import Accounting
from tests.commands.people import spent

BUDGET = ["--epsilon", "1", "--delta", "1e-6"]


@pytest.mark.parametrize("accounting", get_args(Accounting))
def test_a_ledger_holds_what_the_accounting_that_was_named_allows(
    accounting: Accounting, people: list[str], tmp_path: Path
) -> None:
    command = ["table", *people, "--by", "flu", *BUDGET, "--accounting", accounting, "--share", "1/2"]
    assert main([*command, "--dry-run"]) == 0
    assert main(command) == 0
    total = sulq.ApproxDP(1, "1e-6", accounting).total
    with Ledger.read(tmp_path / "people.csv.ledger") as ledger:
        assert ledger.total == total
    assert spent(tmp_path / "people.csv.ledger") == total / 2


def test_without_a_name_a_ledger_goes_on_as_it_began_and_another_name_is_refused(
    people: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["table", *people, "--by", "flu", *BUDGET, "--share", "1/4"]
    assert main([*command, "--accounting", "zcdp"]) == 0
    assert main([*command, "--run", "second"]) == 0
    total = sulq.ApproxDP(1, "1e-6", "zcdp").total
    assert spent(tmp_path / "people.csv.ledger") == total / 2
    assert main([*command, "--run", "third", "--accounting", "gaussian"]) == 2
    assert "was made for something else" in capsys.readouterr().err
    assert spent(tmp_path / "people.csv.ledger") == total / 2


def test_a_rehearsal_costs_what_the_accounting_that_was_named_charges(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rehearsed = {}
    for accounting in get_args(Accounting):
        command = ["learn", "kmeans", *people, "--k", "2", *BUDGET, "--accounting", accounting, "--dry-run"]
        assert main(command) == 0
        rehearsed[accounting] = capsys.readouterr().out
    assert len(set(rehearsed.values())) == 3
