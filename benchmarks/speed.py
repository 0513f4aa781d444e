"""Learning from a million rows under a curator, against the same learner with exact answers.

Both ask the same source, whose columns were encoded before, and take turns in one process; medians are compared.
Noise can make a learner ask more or fewer rounds than it would of exact answers, so rounds are shown too. What does
not grow with the rows (calibration, noise, the ledger) is the curator's time on a thousand of them.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import pandas as pd

import sulq
from data_sets import DataSet, load
from measure import say, table

ROWS, FEW, REPETITIONS = 1_000_000, 1_000, 7
EPSILON = 1
GOAL = 1.5


def section() -> str:
    """The section of RESULTS.md."""
    adult = load("adult")
    lines = ["## Learning under a curator, against exact answers", ""]
    if adult is None:
        return "\n".join([*lines, "Skipped: the data is not there."]) + "\n"
    shown = []
    for name, learner, data in _cases(adult):
        say("speed,", name)
        many, few = (sulq.open(_resampled(data.rows, rows), data.schema) for rows in (ROWS, FEW))
        learner.learn(many.exact())
        exact, private, small, rounds = [], [], [], []
        for _ in range(REPETITIONS):
            exact.append(_learned(learner, many.exact()))
            private.append(_learned(learner, many.curator(epsilon=EPSILON)))
            small.append(_learned(learner, few.curator(epsilon=EPSILON))[0])
            rounds.append(private[-1][1])
        told, noisy = (statistics.median(seconds for seconds, _ in runs) for runs in (exact, private))
        ratio = noisy / told
        shown.append(
            [
                name,
                f"{told:.3f}",
                f"{ratio:.2f}" if ratio <= GOAL else f"**{ratio:.2f}** (missed)",
                GOAL,
                f"{statistics.median(small):.3f}",
                f"{exact[0][1]} / {statistics.median(rounds):g}",
            ]
        )
    lines += [
        f"{ROWS:,} rows (Adult, drawn again and again; for conjunctions 20 random attributes), ε = {EPSILON}, columns",
        f"already encoded, medians of {REPETITIONS}, taking turns.",
        "",
    ]
    head = [
        "learner",
        "exact, s",
        "curator / exact",
        "goal",
        f"curator on {FEW:,} rows, s",
        "rounds, exact / curator",
    ]
    return "\n".join([*lines, *table(head, shown)]) + "\n"


def _cases(adult: DataSet) -> list[tuple[str, Any, DataSet]]:
    bits = np.random.default_rng(0).random((FEW, 20)) < 0.7
    attributes = {f"x{i}": bits[:, i] for i in range(20)} | {"y": bits[:, :3].all(axis=1)}
    booleans = DataSet(pd.DataFrame(attributes), sulq.Schema(dict.fromkeys(attributes, sulq.Boolean())))
    return [
        ("`Conjunction`", sulq.Conjunction("y", share=1), booleans),
        ("`PCA`, 3 components", sulq.PCA(3, adult.numeric), adult),
        ("`KMeans`, k = 5", sulq.KMeans(5, adult.numeric), adult),
        ("`Perceptron`", sulq.Perceptron("income", adult.numeric), adult),
        ("`ID3`", sulq.ID3("income"), adult),
    ]


def _resampled(rows: pd.DataFrame, size: int) -> pd.DataFrame:
    return rows.iloc[np.random.default_rng(0).integers(0, len(rows), size)].reset_index(drop=True)


def _learned(learner: Any, oracle: Any) -> tuple[float, int]:
    started = time.perf_counter()
    learner.learn(oracle)
    return time.perf_counter() - started, oracle.rounds
