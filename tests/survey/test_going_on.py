"""A survey that was begun with printed reports goes on with them, whatever is the best by now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sulq
from sulq.local.onebit import OneBitReport
from sulq.local.window import WindowReport
from sulq.survey.collector import Collector
from sulq.survey.oracle import StillOpenError, collected
from sulq.survey.results import results_of
from tests.survey.surveys import EVERY_KIND, survey
from tests.survey.test_diagnostics import sent_by

AMOUNT = {"amount": EVERY_KIND["amount"]}


def before(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As things were when the printed reports were the best there were."""
    monkeypatch.setattr(Collector, "method", "printed")
    return monkeypatch


def test_a_survey_in_progress_keeps_its_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = survey(tmp_path, AMOUNT, epsilon=1)
    with monkeypatch.context() as patch:
        before(patch)
        with Collector(made) as collector:
            [asked] = collector.asked
            assert isinstance(asked.item.randomizer, OneBitReport)
            sent_by(collector, asked, asked.item.randomizer.sample(np.full(300, 20.0)).tolist())
            reported = results_of(collector).questions[0].values
    with Collector(made) as collector:
        [asked] = collector.asked
        assert collector.method == "printed" and isinstance(asked.item.randomizer, OneBitReport)
        [result] = results_of(collector).questions
        assert result.reports == 300 and result.values.tolist() == reported.tolist()


def test_a_new_survey_has_the_best_reports(tmp_path: Path) -> None:
    for _ in range(2):
        with Collector(survey(tmp_path, AMOUNT, epsilon=1)) as collector:
            assert collector.method == "best"
            assert isinstance(collector.asked[0].item.randomizer, WindowReport)


def test_a_learners_survey_in_progress_keeps_its_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = survey(tmp_path, AMOUNT, epsilon=1, divides="rounds")
    round_ = sulq.Round([sulq.mean("amount")], share="1/2")
    with monkeypatch.context() as patch:
        before(patch)
        with pytest.raises(StillOpenError):
            collected(made, wait=0).ask(round_)
    again = collected(made, wait=0)
    assert again.method == "printed"
    with pytest.raises(StillOpenError, match="round 1 has 0 of"):
        again.ask(round_)
    [kept] = again.collector.rounds()
    [item] = again.questionnaire(round_).items
    assert item.key in kept.items
