"""A curator that is killed while it answers: what came out was charged, and a resumed run says the same."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.ledger.ledger import Ledger
from sulq.talk.answers import Answer
from tests.effort import either

ROUNDS = 40
WORKER = f"""
import json, sys, sulq
curator = sulq.randhie().curator(epsilon=1, ledger=sys.argv[1])
print("ready", flush=True)
for age in range({ROUNDS}):
    asked = sulq.Round([sulq.count(where=sulq.col("age") >= age), sulq.choose(["sex", "plan"], label="limited")], share="1/100")
    print(json.dumps([age, *(answer.value for answer in curator.ask(asked, run="ages"))]), flush=True)
"""


def attempt(ledger: Path, patience: float | None) -> list[tuple[int, Any]]:
    """What one process says before it is killed, or all it has to say."""
    process = subprocess.Popen([sys.executable, "-c", WORKER, str(ledger)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if patience is not None:
        time.sleep(patience)
        process.kill()
    lines = process.stdout.read().splitlines()
    assert process.wait() == (0 if patience is None else -9)
    complete = lines if patience is None else [line for line in lines if line.endswith("]")]
    return [(age, rest) for age, *rest in map(json.loads, complete)]


def test_a_killed_curator_has_charged_for_all_it_said_and_resumes_with_the_same_answers(
    tmp_path: Path,
) -> None:
    """Three kills at random moments, or one, then a run to the end. (200 kills of the ledger itself: tests/ledger/test_crashes.py.)"""
    path = tmp_path / "ledger"
    said: dict[int, Any] = {}
    for patience in [random.uniform(0, 0.15) for _ in range(either(1, 3))] + [None]:
        for age, answer in attempt(path, patience):
            assert said.setdefault(age, answer) == answer, "no answer changes"
        with Ledger.read(path) as ledger:
            assert ledger.verify() == []
            charges = [entry for entry in ledger.entries() if entry.kind == "charge"]
            assert len(charges) >= len(said), "charges cover the answers that came out"
    assert sorted(said) == list(range(ROUNDS))
    with Ledger.read(path) as ledger:
        assert ledger.spent == Fraction(ROUNDS, 100), "and nothing was charged twice"


@dataclass(frozen=True)
class Halving:
    """Asks four rounds, each depending on the last answer."""

    def learn(self, oracle: Any, run: str) -> list[float]:
        asked = self.rounds()
        round_ = next(asked)
        try:
            while True:
                round_ = asked.send(oracle.ask(round_, run))
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def rounds(self) -> Generator[sulq.Round, list[Answer], list[float]]:
        low, high, seen = 0.0, 64.0, []
        for _ in range(4):
            middle = (low + high) / 2
            [answer] = yield sulq.Round([sulq.mean(sulq.col("x") < middle)], share=0.25)
            seen.append(answer.value)
            low, high = (middle, high) if answer.value < 0.5 else (low, middle)
        return seen


class PowerCutError(Exception):
    pass


@dataclass
class Failing:
    """Passes rounds on until the power fails."""

    oracle: Any
    rounds_left: int

    def ask(self, round_: sulq.Round, run: str) -> list[Answer]:
        if self.rounds_left == 0:
            raise PowerCutError
        self.rounds_left -= 1
        answers: list[Answer] = self.oracle.ask(round_, run)
        return answers


def test_an_interrupted_learner_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source = sulq.open({"x": np.random.default_rng(0).uniform(0, 64, 500)}, {"x": sulq.Real(0, 64)})
    curator = source.curator(epsilon=1, ledger=tmp_path / "ledger")
    for rounds in (0, 1, 2, 3):
        with pytest.raises(PowerCutError):
            Halving().learn(Failing(curator, rounds), "median")
        assert curator.spent == Fraction(rounds, 4)
    whole = Halving().learn(source.curator(epsilon=1, ledger=tmp_path / "ledger"), "median")
    assert curator.remaining == 0
    assert Halving().learn(curator, "median") == whole, "and once more, from the store alone"
