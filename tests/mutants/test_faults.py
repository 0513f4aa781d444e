"""The catalogue of planted faults follows the code, and what is planted is caught and named."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from sulq.audits.catalogue import CHECKS
from tests.effort import long

ROOT = Path(__file__).parents[2]
ENOUGH = 60


def runner() -> ModuleType:
    """`mutants/run.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("mutants_run", ROOT / "mutants" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RUN = runner()
FAULTS = {fault.name: fault for fault in RUN.faults()}


def test_there_are_enough_faults_and_each_has_a_name() -> None:
    assert len(FAULTS) == len(RUN.faults()) >= ENOUGH


@pytest.mark.parametrize("name", FAULTS)
def test_the_text_of_a_fault_stands_in_its_file_exactly_once(name: str) -> None:
    fault = FAULTS[name]
    planted = fault.planted(ROOT)
    assert planted != (ROOT / fault.file).read_text(encoding="utf-8")
    if fault.file.endswith(".py"):
        compile(planted, fault.file, "exec")
    if fault.by.startswith("audit:"):
        assert fault.by.removeprefix("audit:") in CHECKS
    else:
        assert (ROOT / fault.by).exists()


def test_a_text_that_is_gone_is_an_error() -> None:
    gone = RUN.Fault("gone", "src/sulq/cli.py", "no such text", "", "audit:coins", "")
    with pytest.raises(ValueError, match="stands 0 times"):
        gone.planted(ROOT)


def test_every_group_of_faults_is_there() -> None:
    folders = Counter("/".join(fault.file.split("/")[2:3]) for fault in FAULTS.values())
    assert {"privacy", "local", "queries", "sources", "oracles", "ledger", "loops", "serve", "talk"} <= set(
        folders
    )


@pytest.mark.parametrize("name", ["uniform biased", pytest.param("charge after look", marks=long)])
def test_a_planted_fault_is_caught_and_named(name: str) -> None:
    verdict = RUN.examined(FAULTS[name])
    assert verdict.caught, verdict.words


@long
def test_a_fault_that_changes_nothing_survives() -> None:
    nothing = RUN.Fault(
        "nothing",
        "src/sulq/privacy/coins.py",
        "    first = coin.bias(8)\n",
        "    first = coin.bias(bits=8)\n",
        "audit:devices",
        "",
    )
    assert not RUN.examined(nothing).caught
