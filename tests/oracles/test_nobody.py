"""Tables without rows, conditions that nobody meets and columns that cannot vary: an answer, or a refusal that
comes from public facts; never another error, and no warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sulq

col = sulq.col
SCHEMA = {
    "a": sulq.Boolean(),
    "x": sulq.Real(0, 1),
    "same": sulq.Real(3, 3),
    "nothing": sulq.Real(0, 0),
    "k": sulq.Category(["u", "v"]),
    "y": sulq.Boolean(),
}
QUERIES: dict[str, Any] = {
    "a mean": sulq.mean(col("x")),
    "how many": sulq.count(),
    "a condition nobody meets": sulq.count(where=col("y")),
    "a condition nobody can meet": sulq.count(where=col("x") > 2),
    "a mean of nobody": sulq.mean(col("x"), where=col("y")),
    "a mean of nobody ever": sulq.mean(col("x"), where=col("x") > 2),
    "groups": sulq.count(by="k"),
    "means by group": sulq.mean(col("x"), by="k"),
    "a constant": sulq.mean(col("same")),
    "zero": sulq.total(col("nothing")),
    "a constant by group": sulq.total(col("same"), by="k"),
    "a vector with a constant": sulq.total(sulq.vector(col("x"), col("same"))),
    "a choice": sulq.choose(["a", "k"], label="y"),
    "a choice of sums": sulq.choose([sulq.count(where=col("a")), sulq.count(where=col("x") > 0.5)]),
    "a mean within": sulq.mean(col("x"), tolerance=0.2, beta=0.1),
    "a constant within": sulq.mean(col("same"), tolerance=0.2, beta=0.1),
    "a total within": sulq.total(col("x"), tolerance=90, beta=0.1),
    "a count within": sulq.count(where=col("y"), tolerance=90, beta=0.1),
    "a mean of some within": sulq.mean(col("x"), where=col("y"), tolerance=0.2, beta=0.1),
}
ORACLES: dict[str, Callable[[sulq.Source], Any]] = {
    "crowd": lambda people: people.crowd(epsilon=1),
    "the paper's crowd": lambda people: people.crowd(epsilon=1, method="paper"),
    "sample": lambda people: people.sample(),
    "the same sample": lambda people: people.sample(fresh=False),
    "chunks": lambda people: people.curator(epsilon=1, answering="chunks", queries=2),
    "denoised crowd": lambda people: people.crowd(epsilon=1).denoised("y", "0.2"),
    "denoised sample": lambda people: people.sample().denoised("y", "0.2"),
    "denoised curator": lambda people: people.curator(epsilon=1).denoised("y", "0.2"),
}


def people(rows: int) -> sulq.Source:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"a": rng.random(rows) < 0.5, "x": rng.random(rows)}
    columns |= {"same": np.full(rows, 3.0), "nothing": np.zeros(rows), "k": np.full(rows, "u", dtype=object)}
    return sulq.open({**columns, "y": np.zeros(rows, dtype=bool)}, SCHEMA)


def outcome(work: Callable[[], Any]) -> str:
    """How it ends: only these ends are allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            work()
        except (sulq.QueryError, sulq.BudgetError):
            return "refused"
        return "answered"


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("query", QUERIES)
def test_nothing_is_answered_or_refused(query: str, oracle: str) -> None:
    """And what is answered could be priced before."""
    asked = sulq.Round([QUERIES[query]], share=None if query.endswith("within") else 1)
    for rows in (0, 1, 700):
        made = ORACLES[oracle]
        answered = outcome(lambda rows=rows, made=made: made(people(rows)).ask(asked)[0].radius(0.05))
        priced = outcome(lambda rows=rows, made=made: made(people(rows)).cost(asked))
        judged = outcome(lambda rows=rows, made=made: made(people(rows)).error(asked, 0.05))
        assert answered == "refused" or priced == judged == "answered"
        if "crowd" in oracle:
            moved = outcome(lambda rows=rows, made=made: made(people(rows)).influence(asked))
            assert moved == priced
        if rows == 700 and not query.endswith("within"):
            assert answered == "answered"


@pytest.mark.parametrize("query", QUERIES)
def test_without_rows_there_is_nobody_to_ask(query: str) -> None:
    asked = sulq.Round([QUERIES[query]], share=None if query.endswith("within") else 1)
    for oracle in (people(0).crowd(epsilon=1), people(0).sample(), people(0).sample(fresh=False)):
        with pytest.raises(sulq.QueryError, match="nobody to ask"):
            oracle.ask(asked)
    with pytest.raises(sulq.QueryError, match="0 rows cannot be dealt"):
        people(0).curator(epsilon=1, answering="chunks", queries=2)


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_refusal_does_not_depend_on_what_rows_say(oracle: str) -> None:
    """The same questions, of rows that say something else."""
    rng = np.random.default_rng(1)
    others = {"a": rng.random(700) < 0.9, "x": np.full(700, np.nan), "same": np.full(700, -1e9)}
    others |= {"nothing": np.full(700, np.inf), "k": np.full(700, None), "y": np.ones(700, dtype=bool)}
    for name, query in QUERIES.items():
        asked = sulq.Round([query], share=None if name.endswith("within") else 1)
        ends = {
            outcome(lambda rows=rows, asked=asked: ORACLES[oracle](rows).ask(asked))
            for rows in (people(700), sulq.open(others, SCHEMA))
        }
        assert len(ends) == 1, name
