"""A source that only adds up: what needs sums works on it, and what needs single rows says so beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sulq
from sulq.classes.boolean import Conjunctions
from sulq.queries.node import Node
from sulq.sources.rows import Rows
from sulq.sources.sums import Sums
from sulq.theory.protocols import run_locally

BITS = np.random.default_rng(0).random((3, 20_000)) < 0.5
COLUMNS = {"a": BITS[0], "b": BITS[1], "y": BITS[0]}
SCHEMA = {name: sulq.Boolean() for name in COLUMNS}


class SumsOnly(sulq.Source):
    """The sums of a table that nobody may look into."""

    def __init__(self) -> None:
        super().__init__(SCHEMA)
        self._table = sulq.open(COLUMNS, SCHEMA)
        self.looks = 0

    @property
    def rows(self) -> int:
        return self._table.rows

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        self.looks += 1
        return self._table.sums(parts)


NEEDS_ROWS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "crowd": ("a crowd", lambda people: people.crowd(1)),
    "sample": ("a sample with fresh=True", lambda people: people.sample()),
    "chunks": (
        "a curator who deals rows in chunks",
        lambda people: people.curator(1, answering="chunks", queries=4),
    ),
    "protocol": ("a local protocol", lambda people: run_locally(lambda: iter(()), people, 1)),  # type: ignore[arg-type, return-value]
}
LEARNERS: dict[str, Any] = {
    "Select": sulq.Select(["a", "b"], "y"),
    "Parity": sulq.Parity("y", ["a", "b"]),
    "Compress": sulq.Compress([Conjunctions(["a"]), Conjunctions(["a", "b"])], "y"),
}


@pytest.mark.parametrize("name", NEEDS_ROWS)
def test_what_needs_single_rows_is_refused_when_it_is_made(name: str) -> None:
    people, (who, make) = SumsOnly(), NEEDS_ROWS[name]
    with pytest.raises(sulq.QueryError, match=f"^{who} looks at single rows, and this source only adds up"):
        make(people)
    assert people.looks == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_that_needs_single_rows_is_refused_before_anything_is_charged(name: str) -> None:
    people = SumsOnly()
    curator = people.curator(epsilon=4)
    with pytest.raises(sulq.QueryError, match="looks at single rows, and this source only adds up"):
        LEARNERS[name].learn(curator)
    assert (curator.spent, people.looks, list(curator.ledger.entries())[1:]) == (0, 0, [])
    assert LEARNERS[name].learn(sulq.open(COLUMNS, SCHEMA).curator(epsilon=4)) is not None


def test_no_ledger_is_begun_for_chunks_that_cannot_be_dealt(tmp_path: Path) -> None:
    with pytest.raises(sulq.QueryError, match="only adds up"):
        SumsOnly().curator(1, answering="chunks", queries=4, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def test_what_needs_sums_alone_works() -> None:
    people, asked = SumsOnly(), sulq.Round([sulq.mean(sulq.col("a"))], share=1)
    truth = BITS[0].mean()
    assert people.exact().ask(asked)[0].value == truth
    assert people.sample(fresh=False).ask(asked)[0].value == pytest.approx(truth)
    [noisy] = people.curator(sulq.ZCDP(1)).ask(asked)
    assert abs(noisy.value - truth) <= noisy.radius(1e-12)
    tree = sulq.ID3("y", ["a", "b"], depth=1, share=1).learn(people.curator(epsilon=1))
    assert tree.predict({"a": [True, False], "b": [True, True]}).tolist() == [1, 0]


def test_the_two_interfaces_are_small() -> None:
    assert Sums.__abstractmethods__ == {"rows", "sums"}
    assert sulq.Source.__abstractmethods__ == {"rows", "sums"}
    assert Rows.__abstractmethods__ == {"rows", "sums", "ordered", "values", "only"}
