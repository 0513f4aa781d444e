"""The papers' boxes, by name, with settings and tables that nobody would choose: refused beforehand, or done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.learners.learner import Learner
from sulq.serve.trial import trial

SPOTS = ["x", "i"]
START = [[0.0, 1.0], [1.0, 5.0]]
BAD: dict[str, Callable[[], Learner[Any]]] = {
    "a centre too large for a float": lambda: sulq.KMeans(2, SPOTS, start=[[10**400, 1], [0, 1]]),
    "a centre that is no number": lambda: sulq.KMeans(2, SPOTS, start=[[math.nan, 1], [0, 1]]),
    "a centre without an end": lambda: sulq.KMeans(2, SPOTS, start=[[math.inf, 1], [0, 1]]),
    "too few centres": lambda: sulq.KMeans(2, SPOTS, start=[[0, 1]]),
    "centres that are flat": lambda: sulq.KMeans(2, SPOTS, start=[0, 1]),  # type: ignore[list-item]
    "centres in letters": lambda: sulq.KMeans(2, SPOTS, start="ab"),  # type: ignore[arg-type]
    "no centres": lambda: sulq.KMeans(0, SPOTS, start=[]),
    "an unknown step": lambda: sulq.KMeans(2, SPOTS, step="plain"),  # type: ignore[arg-type]
    "scaled, in letters": lambda: sulq.SVD(1, SPOTS, scaled="no"),  # type: ignore[arg-type]
    "a norm of 0": lambda: sulq.SVD(1, SPOTS, scaled=False, norm=0),
    "a norm that is no number": lambda: sulq.SVD(1, SPOTS, scaled=False, norm=math.nan),
    "an endless norm": lambda: sulq.SVD(1, SPOTS, scaled=False, norm=math.inf),
    "too many components": lambda: sulq.SVD(3, SPOTS, scaled=False),
    "an endless gamma": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=math.inf),
    "a gamma of 0": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=0),
    "a gamma of almost nothing": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=1e-300),
    "a gamma that is 0 as a float": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma="1e-400"),
    "gamma and within": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=2, within=1),
    "within almost nothing": lambda: sulq.ID3("y", ["b", "c"], pick="counts", within=1e-300),
    "a stop of 0": lambda: sulq.Perceptron("y", SPOTS, norm=None, stop=0),
    "a stop below 0": lambda: sulq.Perceptron("y", SPOTS, norm=None, stop=-1),
    "a stop that is no number": lambda: sulq.Perceptron("y", SPOTS, norm=None, stop=math.nan),
    "an intercept, in letters": lambda: sulq.Perceptron("y", SPOTS, intercept="no"),  # type: ignore[arg-type]
    "an unknown keep": lambda: sulq.Perceptron("y", SPOTS, keep="first"),  # type: ignore[arg-type]
    "an unknown keep of literals": lambda: sulq.Conjunction("y", ["b"], keep="loose"),  # type: ignore[arg-type]
}
ODD: dict[str, Callable[[], Learner[Any]]] = {
    "the same centre twice": lambda: sulq.KMeans(2, SPOTS, start=[[0, 1], [0, 1]], step="paper"),
    "centres of NumPy": lambda: sulq.KMeans(2, SPOTS, start=np.array(START), step="paper"),  # type: ignore[arg-type]
    "columns of very different size": lambda: sulq.SVD(1, ["x", "z"], scaled=False),
    "one column": lambda: sulq.SVD(1, ["z"], scaled=False, norm=2),
    "nothing to ask about": lambda: sulq.ID3("y", [], pick="counts", gamma=2),
    "no depth": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=2, depth=0),
    "a huge gamma": lambda: sulq.ID3("y", ["b", "c"], pick="counts", gamma=1e300),
    "a tiny gamma": lambda: sulq.ID3("y", ["b", "c", "i"], pick="counts", gamma=1e-9, depth=2),
    "binary questions": lambda: sulq.ID3("y", ["i", "c"], pick="counts", gamma=1e-9, split="binary", depth=2),
    "a tiny stop": lambda: sulq.Perceptron(
        "y", SPOTS, norm=None, intercept=False, scaled=False, keep="average", stop="1e-300"
    ),
    "a category as the label": lambda: sulq.Perceptron("c", SPOTS, norm=None, intercept=False, scaled=False),
    "literals as the paper keeps them": lambda: sulq.Conjunction("y", ["b"], keep="paper", share=1),
}
ORACLES: dict[str, Callable[[sulq.Source], Any]] = {
    "exact": lambda source: source.exact(),
    "curator": lambda source: source.curator(epsilon=1),
    "almost no noise": lambda source: source.curator(epsilon=1e9),
    "almost nothing but noise": lambda source: source.curator(epsilon="1e-9"),
    "rows that come or go": lambda source: source.curator(rho=1, neighbours="add-remove"),
    "truncated": lambda source: source.curator(epsilon=1, truncate=True),
    "SuLQ": lambda source: source.curator(epsilon=1, calibration="sulq-laplace", queries=10**5),
    "denoised": lambda source: source.curator(epsilon=1).denoised("y", 0.1),
    "crowd": lambda source: source.crowd(epsilon=1),
}


def people(rows: int, unit: sulq.Unit | None = None) -> sulq.Source:
    rng = np.random.default_rng(2)
    table: dict[str, Any] = {"x": rng.normal(size=rows), "z": 1e9 * rng.normal(size=rows)}
    table["x"][::3] = math.nan
    table["z"][::4], table["z"][1::4] = math.inf, -math.inf
    table |= {"i": rng.integers(-5, 60, rows), "c": rng.choice(["u", "v", "w"], rows)}
    table |= {"b": rng.random(rows) < 0.3, "y": rng.random(rows) < 0.5, "who": np.arange(rows) // 3}
    columns = {"x": sulq.Real(-3, 3), "z": sulq.Real(-1e9, 1e9), "i": sulq.Integer(0, 50)}
    columns |= {"c": sulq.Category(["u", "v"]), "b": sulq.Boolean(), "y": sulq.Boolean()}
    return sulq.open(table, sulq.Schema(columns, unit))


@pytest.mark.parametrize("learner", BAD.values(), ids=BAD)
@pytest.mark.parametrize("epsilon", [1000, None], ids=["curator", "exact"])
def test_settings_that_make_no_sense_are_refused_before_anything_is_asked(
    learner: Callable[[], Learner[Any]], epsilon: int | None
) -> None:
    oracle = people(30).exact() if epsilon is None else people(30).curator(epsilon=epsilon)
    with pytest.raises(sulq.SulqError) as refused:
        learner().learn(oracle)
    assert "\n" not in str(refused.value)
    assert oracle.rounds == 0
    if epsilon is not None:
        assert oracle.spent == 0


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("learner", ODD.values(), ids=ODD)
@pytest.mark.parametrize("unit", [None, sulq.Unit("who", 2)], ids=["rows", "unit"])
def test_odd_settings_and_cells_stop_no_run(
    learner: Callable[[], Learner[Any]], oracle: Callable[[sulq.Source], Any], unit: sulq.Unit | None
) -> None:
    hypothesis = learner().learn(oracle(people(2000, unit)))
    text = hypothesis.to_json()
    assert "NaN" not in text and "Infinity" not in text
    assert sulq.Hypothesis.from_json(text).describe() == hypothesis.describe()


@pytest.mark.parametrize("learner", ODD.values(), ids=ODD)
@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_row_and_of_one_stop_no_run(learner: Callable[[], Learner[Any]], rows: int) -> None:
    for oracle in (people(rows).exact(), people(rows).curator(epsilon=1)):
        assert learner().learn(oracle).describe()


def test_questions_that_others_answered_end_no_tree() -> None:
    """With splits that tell nothing but noise, a node may like best what its way has answered already."""
    for run in range(6):
        curator = people(60).curator(epsilon=1)
        learner = sulq.ID3("y", ["c", "i"], pick="counts", gamma=1e-9, split="binary", depth=3)
        assert learner.learn(curator, str(run)).describe()


def test_the_boxes_learn_elsewhere_what_they_learn_here() -> None:
    with trial(people=people(300).curator(epsilon=10**6)) as (url, key):
        remote = sulq.connect(url, key, "people")
        for name in ("centres of NumPy", "one column", "binary questions", "a tiny stop"):
            learner = ODD[name]()
            part = remote.part("1/8")
            assert learner.learn(part, name).describe()
        with pytest.raises(sulq.SulqError):
            BAD["a stop of 0"]().learn(remote)
