"""The audit, pointed at the peers: what does it find about their models, without being told where to look?

Each case is a model and an ordinary test table. The audit makes neighbouring tables, chooses the pair that tells the most
and an event with some runs, and tests them with others. Printed is one line of JSON for each case.

    PYTHONPATH=src python benchmarks/peers/audits.py [NAME ...]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from diffprivlib import models

import sulq
from sulq.audits.findings import AuditFinding
from sulq.audits.peers import (
    fitted,
    matrix_part,
    measured,
    most_by_parts,
    opendp_pca,
)

ROWS, COLUMNS = 800, 6
EPSILON = 2.0
RUNS, FEWER = 10_000, 4000
ALARM = 1e-6


def table() -> np.ndarray:
    """An ordinary one: every cell is uniform. Boxes shorten rows to norm 1."""
    return np.random.default_rng(0).uniform(-1, 1, (ROWS, COLUMNS))


def black_box(box: Callable[[Any], Any], claim: float, data: Any, runs: int) -> AuditFinding:
    return sulq.audit(box, claim, data, runs=runs, alarm=ALARM).findings[0]


def bayes() -> AuditFinding:
    rng = np.random.default_rng(0)
    box = fitted(lambda: models.GaussianNB(epsilon=1, bounds=(0, 1)))
    return black_box(box, 1, (rng.random((30, 2)), rng.integers(0, 2, 30)), 2000)


def kmeans(columns: int) -> AuditFinding:
    rows = np.random.default_rng(0).random((300, columns))
    return most_by_parts(lambda: models.KMeans(3, epsilon=1, bounds=(0, 1), random_state=7), rows, claimed=1)


def pca(epsilon: float) -> models.PCA:
    """It gives half of its ε to the component, and half to the variances."""
    return models.PCA(1, epsilon=epsilon, centered=True, data_norm=1.0)


def pca_part() -> AuditFinding:
    box, claim = matrix_part(lambda: pca(2 * EPSILON), table())
    return black_box(box, claim, table(), RUNS)


def whole_pca() -> AuditFinding:
    return black_box(fitted(lambda: pca(EPSILON)), EPSILON, table(), FEWER)


def private_pca() -> AuditFinding:
    made = opendp_pca(EPSILON, EPSILON / 100, ROWS, COLUMNS)
    return black_box(measured(made), made.map(2), table(), RUNS)


CASES: dict[str, tuple[str, float, int, Callable[[], AuditFinding]]] = {
    "bayes": ("diffprivlib `GaussianNB`, 2 columns", 1, 2000, bayes),
    "kmeans-30": ("diffprivlib `KMeans`, 30 columns", 1, 1, lambda: kmeans(30)),
    "kmeans-2": ("diffprivlib `KMeans`, 2 columns", 1, 1, lambda: kmeans(2)),
    "pca-part": (
        f"diffprivlib `PCA` with ε = {2 * EPSILON:g}, 1 component of {COLUMNS}: its part for matrices",
        EPSILON,
        RUNS,
        pca_part,
    ),
    "whole-pca": (f"diffprivlib `PCA`, 1 component of {COLUMNS}", EPSILON, FEWER, whole_pca),
    "opendp-pca": (
        f"OpenDP `make_private_pca`, 1 component of {COLUMNS}",
        EPSILON * 1.01,
        RUNS,
        private_pca,
    ),
}


def main(names: list[str]) -> None:
    for name in names or CASES:
        words, claim, runs, examine = CASES[name]
        start = time.process_time()
        finding = examine()
        seconds = time.process_time() - start
        line = {"name": name, "words": words, "claim": claim, "runs": runs, "seconds": seconds} | finding.form
        print(json.dumps(line | {"evidence": finding.evidence}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
