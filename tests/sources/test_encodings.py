"""CSV files in other encodings and with other delimiters: declared, and never guessed from the rows."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import sulq
from sulq.drafts import draft

SCHEMA = {"Straße": sulq.Category(["Zürich", "Genève"]), "cost": sulq.Real(0, 10, missing=0, decimal=",")}
TEXT = "Straße;cost\nZürich;1,5\nGenève;2\n"
ROUND = sulq.Round([sulq.count(by="Straße"), sulq.total("cost")])


def answers(source: sulq.Source) -> tuple[list[float], float]:
    places, cost = source.exact().ask(ROUND)
    return places.value.tolist(), cost.value


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "mac-roman"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_in_a_declared_encoding_loses_no_cell(encoding: str, packed: bool, tmp_path: Path) -> None:
    raw = TEXT.encode(encoding)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    expected = ([1, 1, 0], 3.5)
    assert answers(sulq.open(path, SCHEMA, encoding=encoding)) == expected
    assert answers(sulq.open(path, sulq.Schema(SCHEMA, csv=sulq.Csv(encoding, ";")))) == expected


def test_long_files_in_another_encoding_are_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sulq.sources.csv_files.CHUNK", 7)
    path = tmp_path / "t.csv"
    header, *lines = TEXT.splitlines(keepends=True)
    path.write_bytes((header + "".join(lines) * 100).encode("latin-1"))
    assert answers(sulq.open(path, SCHEMA, encoding="latin-1")) == ([100, 100, 0], 350)


def test_what_an_encoding_lacks_is_a_cell_of_its_own_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"city,cost\nZ\x81rich,1\nBern,2\n")
    schema = {"city": sulq.Category(["Bern"]), "cost": sulq.Real(0, 10)}
    source = sulq.open(path, schema, encoding="cp1252")
    city, cost = source.exact().ask(sulq.Round([sulq.count(by="city"), sulq.total("cost")]))
    assert (city.value.tolist(), cost.value) == ([1, 1], 3)


def test_a_header_that_is_not_in_utf_8_says_what_to_declare(tmp_path: Path) -> None:
    for encoding in ("latin-1", "utf-16"):
        (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding))
        with pytest.raises(
            sulq.errors.SchemaError, match=r"is not in UTF-8: declare .* encoding = \"latin-1\""
        ):
            sulq.open(tmp_path / "t.csv", SCHEMA)


def test_a_delimiter_can_be_declared_where_the_header_misleads(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c;d\n1;5\n", encoding="utf-8")
    schema = {"a,b,c": sulq.Real(0, 10), "d": sulq.Real(0, 10)}
    with pytest.raises(sulq.errors.SchemaError, match="no column 'a,b,c'"):
        sulq.open(path, schema)
    source = sulq.open(path, schema, delimiter=";")
    assert source.exact().ask(sulq.Round([sulq.total("d")]))[0].value == 5
    assert "d" in draft(path, csv=sulq.Csv(delimiter=";"))


@pytest.mark.parametrize(
    "name", ["utf-7", "shift_jis", "iso2022_jp", "gb18030", "no such", "base64", "", 3, "\0"]
)
def test_an_encoding_in_which_a_cell_could_swallow_a_line_is_refused(name: str) -> None:
    with pytest.raises(
        sulq.errors.SchemaError, match="must be utf-8, utf-16 or one with a byte for each letter"
    ):
        sulq.Csv(name)


def test_csv_settings_are_refused_for_what_is_no_csv() -> None:
    for setting in ({"encoding": "latin-1"}, {"delimiter": ";"}):
        with pytest.raises(sulq.errors.SchemaError, match="about CSV files; this is not one"):
            sulq.open({"x": [1]}, {"x": sulq.Real(0, 1)}, **setting)  # type: ignore[arg-type]
    with pytest.raises(sulq.errors.SchemaError, match="delimiter = 'x' must be one of ',' ';'"):
        sulq.Csv(delimiter="x")


def test_a_schema_that_says_how_csv_is_written_says_so_in_its_form_and_in_its_draft(tmp_path: Path) -> None:
    schema = sulq.Schema({"x": sulq.Real(0, 1)}, csv=sulq.Csv("latin-1"))
    assert schema.form()["csv"] == {"encoding": "iso8859-1"}
    assert sulq.Schema.of(schema.form()) == schema
    usual = sulq.Schema({"x": sulq.Real(0, 1)}, csv=sulq.Csv())
    assert usual == sulq.Schema({"x": sulq.Real(0, 1)})
    assert usual.hash != schema.hash
    (tmp_path / "t.csv").write_bytes("Größe\n1\n".encode("latin-1"))
    drafted = draft(tmp_path / "t.csv", csv=sulq.Csv("latin-1"))
    assert '[csv]\nencoding = "iso8859-1"\n' in drafted
    assert '[columns."Größe"]' in drafted
