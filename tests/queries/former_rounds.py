"""Rounds whose texts were frozen when forms had no version and carried the names of Python classes."""

from __future__ import annotations

from pathlib import Path

import sulq
from sulq.queries.routes import Route
from sulq.queries.vectors import Only

col = sulq.col
X = sulq.features("r", "i")
TEXTS = Path(__file__).with_name("version_0.txt").read_text().splitlines()
"""What version 0 wrote, one round a line, in the order below."""
ROUNDS = [
    sulq.Round([sulq.count()]),
    sulq.Round([sulq.count(where="b", by=["c", "d"], weight="7/3")], share=0.1),
    sulq.Round([sulq.total("r", tolerance=20, beta=0.05), sulq.mean(X, tolerance=1, beta="1/3")]),
    sulq.Round([sulq.choose([sulq.count(), sulq.total("i")])], share=1),
    sulq.Round([sulq.choose(["b", "c"], label="d", by="i", weight=2, score="purity")], share="1/7"),
    sulq.Round([sulq.total(sulq.where((col("c") == "u") | ~col("b"), col("r") - 0.5, 1e12 * col("i")))]),
    sulq.Round([sulq.mean(sulq.clip("r", 0, 2.5), where=(col("i") >= 1) & (col("d") != "é✓\n"))]),
    sulq.Round([sulq.count(by=[sulq.bins("r", [0, 1.25]), sulq.nearest(X, [[0, 0.1], [1, -1]])])]),
    sulq.Round(
        [sulq.total(sulq.one_hot(sulq.cross("c", "b"))), sulq.total(sulq.lookup("c", [1, 2, 3, 0.1]))]
    ),
    sulq.Round([sulq.count(where=sulq.parity(["b", col("d") == "yes"], [1, 0]))], share="0.001"),
    sulq.Round(
        [sulq.total(sulq.gram(sulq.clip_norm(sulq.vector(X, 1, sulq.features(col("r") + 1)), 1.5, 1)))]
    ),
    sulq.Round(
        [sulq.total(sulq.outer(X, X)), sulq.total(sulq.dot(X, [1, -2])), sulq.total(Only(col("b"), X))]
    ),
    sulq.Round([sulq.count(by=Route((col("b"), col("c")), ((0, 1, 2), (0,), (1,)), 2))]),
]
