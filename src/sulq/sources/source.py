"""A source: rows somewhere, a schema, and one verb, the exact sums of row expressions.

Each column a question needs is read and cleaned once, into compact arrays; every later question runs on
those. What comes out are integers that no order of rows, batch size or number of threads can change.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from sulq.errors import SchemaError, SulqError
from sulq.numbers import whole
from sulq.progress import Progress
from sulq.queries.expressions import Leaf, Node, col
from sulq.queries.facts import BLOCK, Code
from sulq.queries.kernel import Kernel, Totals
from sulq.queries.scope import Batch, Floats, Scope
from sulq.queries.vectors import scaled
from sulq.schema import Category, Schema
from sulq.sources.encoding import Encoder, check_type, dtype_of_leaf
from sulq.sources.files import Files
from sulq.sources.people import check_person_type, counted_rows
from sulq.sources.readers import Piece, Reader, reader
from sulq.sources.storage import Storage, StoredColumn

if TYPE_CHECKING:
    from sulq.numbers import Numeric
    from sulq.oracles.crowd import Crowd
    from sulq.oracles.curator import Curator
    from sulq.oracles.exact import Exact
    from sulq.oracles.sample import Sample
    from sulq.queries.query import Neighbours

HEED = 0.1
"""Seconds in which an interrupt is heeded, at most."""


class Source:
    """Rows that can be asked for sums. Made by `sulq.open`."""

    def __init__(
        self, reader: Reader, schema: Schema, memory: int, threads: int, files: Files | None = None
    ) -> None:
        self.schema = schema
        self.files = files
        self.scope = Scope(schema)
        self._reader = reader
        self._storage = Storage(memory)
        self._columns: dict[str, StoredColumn] = {}
        self._rows: int | None = None
        self._threads = threads
        self._lock = threading.Lock()

    @property
    def rows(self) -> int:
        """How many rows count. No cell is looked at for it, unless a unit makes that depend on cells."""
        with self._lock:
            if self._rows is None and self.schema.unit is None:
                self._rows = self._reader.rows
            elif self._rows is None:
                self._load({})
            assert self._rows is not None
            return self._rows

    @property
    def ordered(self) -> bool:
        """Whether the rows come in the same order whenever they are opened."""
        return self._reader.ordered

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        """The exact sum of each row expression over all rows, as integers in steps of its grid."""
        different = {part.key: part for part in parts}
        rows = self.rows
        kernel = Kernel(list(different.values()), self.scope, rows)
        with self._lock:
            self._load(kernel.leaves)
        starts = iter(range(0, rows, kernel.block))
        columns = {key: self._columns[key] for key in kernel.leaves}
        workers: list[tuple[Totals, dict[str, Floats]]] = [
            (kernel.nothing(), {}) for _ in range(self._threads)
        ]
        with Progress("summing", rows) as progress:

            def work(own: tuple[Totals, dict[str, Floats]], start: int) -> None:
                totals, room = own
                stop = min(start + kernel.block, rows)
                block = {key: column.read(start, stop) for key, column in columns.items()}
                totals.add(kernel.sums(block, stop - start, room))
                progress.advance(stop - start)

            self._share_out(work, workers, starts)
        running = workers[0][0]
        for totals, _ in workers[1:]:
            running.merge(totals)
        by_key = dict(zip(different, kernel.totals(running), strict=True))
        return [by_key[part.key] for part in parts]

    def values(self, expression: Node) -> NDArray[Any]:
        """The value of an expression on every row, in order.

        For rows one may see, such as those to predict, or where each row plays a person who sees their own.
        Truth values and codes as they are, numbers as floats in natural units, one row of them for each row.
        """
        leaves = expression.leaves()
        rows = self.rows
        with self._lock:
            self._load(leaves)
        found = []
        for start in range(0, max(1, rows), BLOCK):  # no rows are one empty block: the type is the same
            stop = min(start + BLOCK, rows)
            block = {key: self._columns[key].read(start, stop) for key in leaves}
            found.append(_natural(expression, Batch(self.scope, block, stop - start)))
        return np.concatenate(found)

    def only(self, at: NDArray[np.intp]) -> Source:
        """The rows at some places, as a source of their own."""
        from sulq.sources.cohort import Cohort

        return Cohort(self, at)

    def exact(self) -> Exact:
        """The oracle that tells the truth: what a learner can do without privacy."""
        from sulq.oracles.exact import Exact

        return Exact(self)

    def curator(
        self,
        epsilon: Numeric | None = None,
        delta: Numeric | None = None,
        rho: Numeric | None = None,
        *,
        neighbours: Neighbours = "replace",
        ledger: str | Path | None = None,
        truncate: bool = False,
        calibration: Literal["tight", "sulq-gaussian", "sulq-laplace"] = "tight",
        queries: int | None = None,
        answering: Literal["joint", "chunks", "printed"] = "joint",
    ) -> Curator:
        """A trusted curator who answers with noise, within a budget, and keeps a ledger.

        The budget: `epsilon` alone, `rho` alone, or `epsilon` with `delta`. `neighbours`: what one person's
        presence means, "replace" (the number of rows is public) or "add-remove". `ledger`: the file that
        remembers what was spent, by default one beside the data, which several files do not have; ":memory:"
        forgets it with the process, as does any source that is not a file. `truncate`: bring answers into the
        range that is public, which makes them biased. `calibration`: how noise follows from the budget; the
        SuLQ paper's own need the number of `queries` beforehand. `answering`: "joint" answers every query
        with all rows and charges rounds jointly; "chunks" deals the rows to so many `queries`, each with all
        of the budget on rows of its own; "printed" is the same with an equal part of the budget for each, as
        the lecture notes have it.
        """
        from sulq.oracles.assembly import curator

        return curator(
            self, epsilon, delta, rho, neighbours, ledger, truncate, calibration, queries, answering
        )

    def crowd(
        self, epsilon: Numeric, *, interactive: bool = True, method: Literal["best", "paper"] = "best"
    ) -> Crowd:
        """The local model: each row plays a person who is asked once and randomizes their own report.

        `epsilon`: what is promised to every person. `interactive`: whether later rounds may depend on
        earlier answers. `method`: "best" picks the randomizer with the least variance for what is asked,
        "paper" is the Laplace report of the paper. Every crowd is a survey of its own: what people are
        promised adds up over all surveys they take part in.
        """
        from sulq.numbers import rational
        from sulq.oracles.crowd import Crowd

        return Crowd(self, rational("epsilon", epsilon), interactive, method)

    def sample(self, *, fresh: bool = True) -> Sample:
        """The PAC model: answers about the distribution that the rows were drawn from, without privacy.

        `fresh`: a chunk of rows for each question, or all rows for all questions.
        """
        from sulq.oracles.sample import Sample

        return Sample(self, fresh)

    def close(self) -> None:
        """Give back the memory and the temporary files of the encoded columns."""
        for column in self._columns.values():
            column.free()
        self._columns.clear()

    def __repr__(self) -> str:
        return f"<sulq source of {len(self.schema)} columns: {', '.join(self.schema)}>"

    def column(self, leaf: Leaf) -> StoredColumn:
        """An encoded column, read and cleaned if it was not before."""
        with self._lock:
            self._load({leaf.key: leaf})
        return self._columns[leaf.key]

    def _load(self, leaves: Mapping[str, Leaf]) -> None:
        """Read and clean what was not read before.

        Where rows might come in another order next time, or a scan costs the same for all columns as for one,
        every column is read at the first; what is asked for on another scale is then made from what was kept.
        """
        everything = self._reader.whole or self.schema.unit is not None
        if everything and not self._columns:
            self._read({col(name).key: col(name) for name in self.schema})
        missing = {key: leaf for key, leaf in leaves.items() if key not in self._columns}
        if not missing:
            return
        if everything:
            self._rescale(missing)
        else:
            self._read(missing)

    def _read(self, leaves: Mapping[str, Leaf]) -> None:
        rows = None if self.schema.unit else self._rows
        if rows is None and self._reader.ordered:  # else counting could mean to run a long query twice
            rows = self._reader.rows
        with self._storage.all_or_nothing():
            columns = {key: self._new_column(leaf, rows) for key, leaf in leaves.items()}
            people = self._fill(columns, leaves, rows)
            if people is not None:
                columns = self._only_counted(columns, people)
            found = max(column.rows for column in columns.values())
            if self._rows not in (None, found):
                raise SulqError("the data does not have as many rows as it says it has")
        self._rows = found
        self._columns |= columns

    def _fill(
        self, columns: Mapping[str, StoredColumn], leaves: Mapping[str, Leaf], rows: int | None
    ) -> pa.ChunkedArray | None:
        """Read and clean all rows; says whom each is about, where the schema has a unit."""
        unit = self.schema.unit
        people: dict[int, pa.Array] = {}
        names = {leaf.name for leaf in leaves.values()} | ({unit.column} if unit else set())
        of_name: dict[str, list[tuple[StoredColumn, Encoder]]] = {name: [] for name in names}
        for key, leaf in leaves.items():
            of_name[leaf.name].append((columns[key], Encoder(leaf, self.scope)))
        cells = None if rows is None else rows * len(names)
        with Progress("reading", cells) as progress:

            def work(_: None, part: Iterator[Piece]) -> None:
                for name, start, array in part:
                    for column, encoder in of_name[name]:
                        column.fill(start, array, encoder)
                    if unit and name == unit.column:
                        people[start] = array
                    progress.advance(len(array))

            parts = self._reader.parts(sorted(names), self._threads)
            self._share_out(work, [None] * self._threads, iter(parts))
        if cells not in (None, progress.done):
            raise SulqError("the data does not have as many rows as it says it has")
        if unit is None:
            return None
        return pa.chunked_array([people[start] for start in sorted(people)], self._reader.types[unit.column])

    def _rescale(self, leaves: Mapping[str, Leaf]) -> None:
        assert self._rows is not None
        for key, leaf in leaves.items():
            kept, facts = self._columns[col(leaf.name).key], self.scope.number(col(leaf.name))
            with self._storage.all_or_nothing():
                column = self._new_column(leaf, self._rows)
                for start in range(0, self._rows, BLOCK):
                    piece = kept.read(start, min(start + BLOCK, self._rows))
                    column.write(start, scaled(piece[np.newaxis], facts)[0])
            self._columns[key] = column

    def _only_counted(
        self, columns: dict[str, StoredColumn], people: pa.ChunkedArray
    ) -> dict[str, StoredColumn]:
        """The columns without the rows beyond what a person may contribute."""
        assert self.schema.unit is not None
        whole = {key: column.read(0, column.rows) for key, column in columns.items()}
        counted = counted_rows(self.schema.unit, people, whole.values())
        kept = {}
        for key, column in columns.items():
            values = whole.pop(key)[counted]
            kept[key] = self._storage.column(values.dtype, len(counted))
            kept[key].write(0, values)
            column.free()
        return kept

    def _new_column(self, leaf: Leaf, rows: int | None) -> StoredColumn:
        return self._storage.column(dtype_of_leaf(leaf, self.schema[leaf.name]), rows)

    def _share_out(self, work: Callable[[Any, Any], None], own: Sequence[Any], tasks: Any) -> None:
        """Do every task, on as many threads as there are members of `own`, each with its own member.

        If one of them fails, or somebody interrupts, the others stop after the piece or the block at hand.
        """
        turn = threading.Lock()
        done = object()
        over = threading.Event()

        def labour(mine: Any) -> None:
            try:
                while not over.is_set():
                    with turn:
                        task = next(tasks, done)
                    if task is done:
                        return
                    # A task may be a whole part of the rows, which is read piece by piece.
                    work(mine, _until(over, task) if isinstance(task, Iterator) else task)
            except BaseException:
                over.set()
                raise

        # The blocks are small: BLAS with threads of its own would only get in the way of ours.
        with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(len(own)) as pool:
            try:
                labours = [pool.submit(labour, mine) for mine in own]
                # Polars, once imported, keeps an interrupt from waking a thread that waits for long.
                while wait(labours, HEED, FIRST_EXCEPTION).not_done and not over.is_set():
                    pass
                for finished in labours:
                    finished.result()
            finally:
                over.set()


def open(
    data: Any,
    schema: Any,
    *,
    table: str | None = None,
    quoted_newlines: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Source:
    """Open rows for questions.

    `data`: the path of a Parquet or CSV file (or a glob of several), a DuckDB relation or the path of a
    DuckDB file with `table`, a pandas, Polars or Arrow table, a dict of arrays, or a NumPy array whose
    columns are the schema's in order. `schema`: a Schema, a dict, or the path of a TOML file. `memory`: how
    much the encoded columns may take ("4GB", or bytes; half of what is free by default) before they go to
    temporary files. No row of a file is read yet.

    In a CSV file one line is one row, whatever is on it. `quoted_newlines`: a cell in quotes may have line
    ends. Then one quote that is never closed swallows all rows after it, so one person's cell can change what
    others count: say it only of files that are known to be well-formed, as their privacy then rests on that.

    >>> import numpy as np, sulq
    >>> people = sulq.open({"age": np.array([31, 64, 70])}, {"age": sulq.Integer(0, 120)})
    >>> people.exact().ask(sulq.Round([sulq.count(where=sulq.col("age") >= 65)]))[0].value
    1.0
    """
    declared = Schema.of(schema)
    person = declared.unit.column if declared.unit else None
    texts = [name for name, kind in declared.items() if isinstance(kind, Category) and name != person]
    unit = [] if person is None or person in declared else [person]
    files = Files.find(data, table) if isinstance(data, str | Path) else None
    opened = reader(files or data, [*declared, *unit], texts, None if files else table, quoted_newlines)
    for name in [*declared, *unit]:
        if name not in opened.types:
            raise SchemaError(f"the data has no column {name!r}; it has {', '.join(opened.types)}")
    for name, kind in declared.items():
        check_type(name, kind, opened.types[name])
    if person is not None:
        check_person_type(person, opened.types[person])
    return Source(opened, declared, _bytes(memory), _threads(threads), files)


def _until(over: threading.Event, pieces: Iterator[Any]) -> Iterator[Any]:
    return takewhile(lambda _: not over.is_set(), pieces)


def _natural(expression: Node, batch: Batch) -> NDArray[Any]:
    facts = batch.scope.facts(expression)
    if isinstance(facts, Code):
        return batch.code(expression).copy()
    if facts.flag:
        return batch.condition(expression).copy()
    numbers = batch.number(expression).T * float(facts.unit)
    return numbers[:, 0] if facts.width == 1 else numbers


@cache
def _blas() -> Any:
    return ThreadpoolController()


def _bytes(memory: int | str | None) -> int:
    if memory is None:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    if isinstance(memory, str):
        for suffix, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)):
            number = memory.removesuffix(suffix).strip()
            if number != memory and number.replace(".", "", 1).isdigit():
                return int(float(number) * factor)
    elif isinstance(memory, int) and memory >= 0:
        return memory
    raise SchemaError(f"memory is a number of bytes or a text such as '4GB', not {memory!r}")


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("threads", threads, 1, error=SchemaError)
