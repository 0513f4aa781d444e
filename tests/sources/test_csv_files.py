"""One line of a CSV file is one row, whatever is on it and wherever the file is cut."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import sulq
from sulq.sources import csv_files
from sulq.sources.csv_files import CsvFiles
from tests.effort import examples

SCHEMA: dict[str, Any] = {
    "n": sulq.Integer(0, 120),
    "plan": sulq.Category(["free", "50 %, with comma", 'with "quotes"']),
    "sick": sulq.Boolean(),
    "x": sulq.Real(-1, 1),
}
LINES = [
    b"31,free,true,0.5",
    b'64,"50 %, with comma",false,-0.25',
    b'"7","with ""quotes""",TRUE,"1e-3"',
    b",,,",
    b"120,free,1,nan",
    b"0,other,f,2",
]
NASTY = st.lists(
    st.sampled_from(
        [b'"', b'""', b",", b"\r", b"\0", b"\xe9", "é€😀".encode(), b"free", b"1", b" ", b"1e999"]
    )
).map(b"".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv")


def long_file(line: bytes) -> bytes:
    """200,000 lines, of which one in the middle is this."""
    many = [LINES[i % 3] for i in range(200_000)]
    many[70_000] = line
    return b"\n".join([b"n,plan,sick,x", *many, b""])


@pytest.fixture(scope="module")
def usual(folder: Path) -> np.ndarray[Any, Any]:
    """The rows of a long file with nothing odd in it."""
    return table(written(folder, long_file(LINES[70_000 % 3])))


@pytest.fixture(autouse=True)
def whole_chunks() -> Iterator[None]:
    """The sizes of chunks as they were, after a test that made them small."""
    kept = csv_files.CHUNK, csv_files.MOST_ROWS
    yield
    csv_files.CHUNK, csv_files.MOST_ROWS = kept


def cut_at(size: int, rows: int) -> None:
    csv_files.CHUNK, csv_files.MOST_ROWS = size, rows


def written(folder: Path, text: bytes, packed: bool = False) -> Path:
    path = folder / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text, 0) if packed else text)
    return path


def table(path: Path, **settings: Any) -> np.ndarray[Any, Any]:
    source = sulq.open(path, SCHEMA, **settings)
    rows = source.rows
    values = np.array([source.values(sulq.col(name)).astype(float) for name in SCHEMA]).T
    assert len(values) == rows
    return values


def cells(path: Path, names: Sequence[str] = "abc", **settings: Any) -> list[list[str | None]]:
    """The text of each row's cells."""
    reader = CsvFiles([path], settings.get("quoted_newlines", False))
    rows: list[list[str | None]] = [[None] * len(names) for _ in range(reader.rows)]
    for part in reader.parts(list(names), settings.get("many", 1)):
        for name, start, array in part:
            for row, value in enumerate(array.to_pylist(), start):
                rows[row][names.index(name)] = value
    return rows


REPLACED = (
    st.integers(0, len(LINES) - 1),
    st.one_of(st.binary(max_size=40), NASTY).map(lambda line: line.replace(b"\n", b"")),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)


def neighbours(folder: Path, at: int, line: bytes, end: bytes, packed: bool) -> tuple[Path, Path]:
    """A file, and one with another line in place of one of its lines."""
    lines = [b"n,plan,sick,x", *LINES]
    other = [*lines[: at + 1], line, *lines[at + 2 :]]
    (folder / "other").mkdir(exist_ok=True)
    one, two = (b"".join(line + end for line in each) for each in (lines, other))
    return written(folder, one, packed), written(folder / "other", two, packed)


@settings(max_examples=examples(60))
@given(*REPLACED)
def test_whatever_replaces_a_line_only_that_row_is_another(
    folder: Path, at: int, line: bytes, end: bytes, packed: bool
) -> None:
    before, after = (table(path, threads=1) for path in neighbours(folder, at, line, end, packed))
    assert after.shape == before.shape
    assert (np.delete(after, at, axis=0) == np.delete(before, at, axis=0)).all()


@settings(max_examples=examples(150))
@given(*REPLACED, st.integers(1, 50))
def test_wherever_a_file_is_cut_its_cells_are_the_same(
    folder: Path, at: int, line: bytes, end: bytes, packed: bool, chunk: int
) -> None:
    one, other = neighbours(folder, at, line, end, packed)
    cut_at(2**20, 2**20)
    names = list(SCHEMA)
    before, after = cells(one, names), cells(other, names)
    assert len(after) == len(before)
    assert after[:at] + after[at + 1 :] == before[:at] + before[at + 1 :]
    cut_at(chunk, 1 + chunk % 3)
    assert cells(other, names, many=1 + chunk % 2) == after


@pytest.mark.parametrize(
    "line",
    [
        b'31,"' + b"line\r" * 9_000 + b'",true,0.5',
        b'31,"free,true,0.5',
        b"31,fr\xe9e,true,0.5",
        b"31,free",
        b"",
        b"31,free,\rtrue,0.5",
        b"31," + b"x" * 3_000_000 + b",true,0.5",
        b"31,free,true,0.5,and,more",
        b"\0" * 5000,
    ],
)
def test_a_line_moves_no_other_in_a_file_of_several_chunks(folder: Path, usual: Any, line: bytes) -> None:
    other = table(written(folder, long_file(line)))
    assert len(usual) == len(other) == 200_000
    assert set(np.flatnonzero((usual != other).any(axis=1))) <= {70_000}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"1,2,3", ["1", "2", "3"]),
        (b"", [None, None, None]),
        (b"1,,3", ["1", None, "3"]),
        (b"1,2", ["1", "2", None]),
        (b"1,2,3,4", ["1", "2", "3"]),
        (b'1,"a,b",3', ["1", "a,b", "3"]),
        (b'"say ""hi""",2,"3"', ['say "hi"', "2", "3"]),
        (b'"",2,3', [None, "2", "3"]),
        (b'1,"never closed,3', ["1", None, None]),
        (b'1,"closed" late,3', ["1", None, "3"]),
        (b'1, "2",3', ["1", ' "2"', "3"]),
        (b'1,5"7,3', ["1", '5"7', "3"]),
        (b"1,\xe9,3", ["1", None, "3"]),
        (b"1,\xed\xa0\x80,3", ["1", None, "3"]),
        ("1,é😀,3".encode(), ["1", "é😀", "3"]),
        (b"1,a\rb,\r3", ["1", "a\rb", "\r3"]),
        (b"1,\0,3", ["1", "\0", "3"]),
        (b"1," + b"x" * 1000 + b",3", ["1", "x" * 1000, "3"]),
    ],
)
def test_what_the_cells_of_a_line_are(folder: Path, line: bytes, expected: list[str | None]) -> None:
    between = [["4", "5", "6"], expected, ["7", "8", "9"]]
    for chunk in (1, 2, 3, 7, 2**20):
        cut_at(chunk, 2)
        for end in (b"\n", b"\r\n"):
            lines = [b"a,b,c", b"4,5,6", line, b"7,8,9"]
            assert cells(written(folder, end.join([*lines, b""]))) == between
            assert cells(written(folder, end.join(lines))) == between, "the last line may have no end"


def test_a_last_line_without_end_counts_unless_it_is_empty(folder: Path) -> None:
    for text, rows in ((b"a", 0), (b"a\n", 0), (b"a\n\n", 1), (b"a\n1", 1), (b"a\n1\n", 1), (b"a\n1\n\n", 2)):
        assert len(cells(written(folder, text), "a")) == rows


def test_a_mark_of_the_encoding_and_other_delimiters_are_read(folder: Path) -> None:
    text = '\ufeff"a";b;\'c\n1;2,5;3\n'.encode()
    assert cells(written(folder, text.replace(b"'", b""))) == [["1", "2,5", "3"]]
    assert cells(written(folder, b"c\tb\ta\n3\t2\t1\n")) == [["1", "2", "3"]]


@settings(max_examples=examples(100))
@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=3, max_size=3)), st.integers(1, 30))
def test_declared_line_ends_are_read_in_order(folder: Path, rows: list[list[str]], chunk: int) -> None:
    """Every cell in quotes, so that it may hold anything; and the number of rows is known before."""
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    cut_at(chunk, 2)
    path = written(folder, "\n".join(["a,b,c", *quoted, ""]).encode())
    expected = [[cell or None for cell in row] for row in rows]
    for many in (1, 3):
        assert cells(path, quoted_newlines=True, many=many) == expected


def test_an_open_quote_swallows_what_follows_only_where_line_ends_are_declared(folder: Path) -> None:
    text = b'a,b,c\n1,"2,3\n4,5,6\n7,8,9\n'
    assert cells(written(folder, text)) == [["1", None, None], ["4", "5", "6"], ["7", "8", "9"]]
    assert cells(written(folder, text), quoted_newlines=True) == [["1", None, None]]
    text = b'a,b,c\r\n1,"2\r\n2",3\r\n4,5,"6"\r\n'
    assert cells(written(folder, text), quoted_newlines=True) == [["1", "2\r\n2", "3"], ["4", "5", "6"]]


def test_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    for name, text in (("b", "x\n0.5\n"), ("a", "x\n0.25\n1"), ("c", "x\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    source = sulq.open(tmp_path / "*.csv", {"x": sulq.Real(0, 1)})
    assert source.values(sulq.col("x")).tolist() == [0.25, 1, 0.5]


def test_a_file_that_changes_or_goes_or_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x\n1\n")
    source = sulq.open(path, {"x": sulq.Real(0, 1)})
    assert source.rows == 1
    path.write_bytes(b"x\n1\n2\n")
    with pytest.raises(sulq.SulqError, match="has changed since it was opened"):
        source.values(sulq.col("x"))
    path.unlink()
    with pytest.raises(sulq.SulqError, match="has changed since it was opened"):
        source.values(sulq.col("x"))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        file.write(b"x\n" + b"1\n" * 10_000)
    (tmp_path / "t.csv.gz").write_bytes(packed.getvalue()[:-9])
    with pytest.raises(sulq.SulqError, match="cannot be read to its end"):
        sulq.open(tmp_path / "t.csv.gz", {"x": sulq.Real(0, 1)}).rows  # noqa: B018
