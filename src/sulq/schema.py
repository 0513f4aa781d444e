"""Public facts about the columns, declared by the user and never read off the data.

A schema says what any row could hold, so that bounds, and with them the noise, follow from public
knowledge alone. What a row really holds is made to fit: out of range is clamped, missing becomes a public
constant (or, for a category, a level of its own). No value can make an answer fail.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from sulq.dates import Date
from sulq.delimited import DELIMITERS, Csv
from sulq.errors import SchemaError
from sulq.faces import columns_grid, face
from sulq.kinds import OTHER, Boolean, Category, Integer, Kind, Real, Settings, drops, fill, text
from sulq.numbers import several, whole
from sulq.wire import digest, encodable

HOLE = "___"
"""Stands in a draft where the user's public knowledge belongs."""
KINDS: dict[str, type[Kind]] = {kind.type: kind for kind in (Real, Integer, Category, Boolean, Date)}
T = TypeVar("T")
__all__ = [
    "DELIMITERS",
    "HOLE",
    "KINDS",
    "OTHER",
    "Boolean",
    "Category",
    "Csv",
    "Date",
    "Integer",
    "Kind",
    "Real",
    "Schema",
    "Unit",
    "drops",
    "text",
]


@dataclass(frozen=True)
class Unit:
    """Whose privacy is kept: that of a person who may have several rows.

    Which of a person's rows count is decided by a hash of each row's own values and the public `salt`, so one
    person's presence never moves another's rows. Rows that name nobody do not count.

    Args:
        column: the column that names the person.
        rows: how many rows of one person count, at most.
        salt: a public text that goes into the hash.

    >>> import sulq
    >>> unit = Unit("patient", rows=2)
    >>> schema = Schema({"patient": Integer(0, 99), "sick": Boolean()}, unit)
    >>> visits = sulq.open({"patient": [7, 7, 7, 8], "sick": [True, True, True, False]}, schema)
    >>> visits.exact().ask(sulq.Round([sulq.count()]))[0].value
    3.0
    """

    column: str
    rows: int
    salt: str = "sulq"

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not encodable(self.salt):
            raise SchemaError("a unit's column and salt are texts, of whole letters")
        fill(self, rows=whole("a unit's rows", self.rows, 1, 2**20, error=SchemaError))


class Schema(Mapping[str, Kind]):
    """The columns a learner may ask about, in order, the privacy unit, and how CSV files are written.

    Args:
        columns: for every column its name and its kind: `Real`, `Integer`, `Category`, `Boolean` or `Date`.
        unit: whose privacy is kept, if a person can have several rows; by default every row is a person.
        csv: how CSV files of the table are written, if not as usual.

    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean()})
    >>> schema["age"].high
    120
    >>> age = {"type": "integer", "low": 0, "high": 120}
    >>> Schema.of({"columns": {"age": age, "sick": "boolean"}}) == schema
    True
    """

    def __init__(
        self, columns: Mapping[str, Settings], unit: Unit | None = None, csv: Csv | None = None
    ) -> None:
        if not columns:
            raise SchemaError("a schema needs at least one column")
        self._columns: dict[str, Kind] = {}
        for name, kind in columns.items():
            if not isinstance(name, str) or not name:
                raise SchemaError(f"a column's name must be a non-empty text, not {name!r}")
            if not isinstance(kind, Kind):
                raise SchemaError(
                    f"column {name!r} must be Real, Integer, Category, Boolean or Date, not {kind!r}"
                )
            self._columns[name] = kind
        self.unit = unit
        self.csv = None if csv == Csv() else csv

    @classmethod
    def of(cls, given: Any) -> Schema:
        """A schema from a schema, a dict (of kinds or of their descriptions), or the path of a TOML file."""
        if isinstance(given, Schema):
            return given
        if isinstance(given, str | Path):
            return cls._from_toml(Path(given))
        if not isinstance(given, Mapping):
            raise SchemaError(f"a schema is a Schema, a dict or the path of a TOML file, not {given!r}")
        if all(isinstance(kind, Kind) for kind in given.values()):
            return cls(given)
        if unknown := set(given) - {"columns", "unit", "csv"}:
            raise SchemaError(
                f"a schema has [columns] and perhaps [unit] and [csv]; what is {sorted(unknown)}?"
            )
        unit, csv = given.get("unit"), given.get("csv")
        return cls(
            {name: _kind(name, declared) for name, declared in given.get("columns", {}).items()},
            None if unit is None else _built("[unit]", Unit, unit),
            None if csv is None else _built("[csv]", Csv, csv),
        )

    @classmethod
    def _from_toml(cls, path: Path) -> Schema:
        try:
            written = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SchemaError(f"cannot read the schema {str(path)!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise SchemaError(f"the schema {str(path)!r} is not a text in UTF-8") from None
        lines = enumerate(written.splitlines(), 1)
        if holes := [str(number) for number, line in lines if HOLE in line.split("#")[0]]:
            raise SchemaError(
                f"{str(path)!r} still has holes ({HOLE}) where public facts belong: "
                f"see line {', '.join(holes)}"
            )
        try:
            return cls.of(tomllib.loads(written))
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{str(path)!r} is not valid TOML: {error}") from None

    def form(self) -> dict[str, Any]:
        """The schema as plain data, in canonical form: what `Schema.of` reads back."""
        columns = {name: {"type": kind.type} | kind.settings() for name, kind in self.items()}
        others = {"unit": self.unit, "csv": self.csv}
        return {"columns": columns} | {
            name: {key: value for key, value in asdict(other).items() if value is not None}
            for name, other in others.items()
            if other is not None
        }

    @cached_property
    def _kept(self) -> dict[str, Any]:  # schemas are compared at every question
        return self.form()

    @cached_property
    def hash(self) -> str:
        """Names the schema: equal for equal schemas, on every machine."""
        return digest(json.dumps(self._kept))

    @cached_property
    def drops_missing(self) -> bool:
        """Whether some column has rows left out of sums of it, because they miss its cell."""
        return any(drops(kind) for kind in self._columns.values())

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that can be learned from or about: all but the one that says whose row it is.

        >>> columns = {"pid": Integer(0, 999), "sick": Boolean()}
        >>> Schema(columns, Unit("pid", rows=2)).attributes
        ('sick',)
        """
        person = None if self.unit is None else self.unit.column
        return tuple(name for name in self._columns if name != person)

    def attribute(self, name: str) -> Kind:
        """The kind of a column that can be learned from or about, or a refusal."""
        if self.unit is not None and name == self.unit.column:
            raise SchemaError(
                f"column {name!r} says whose row it is, which is no feature and no label: leave it out, of "
                f"{', '.join(self.attributes) or 'no others'}"
            )
        return self[name]

    @property
    def hands(self) -> tuple[tuple[str, ...], ...]:
        """Who holds which columns: all are in one hand, unless `sulq.parties` put several tables together."""
        return (self.attributes,)

    def in_one_hand(self, names: Iterable[str]) -> bool:
        """Whether somebody answers about rows of which they hold all of these columns.

        Args:
            names: the columns.
        """
        return True

    @property
    def protected(self) -> str:
        """Who is protected, in words."""
        unit = self.unit
        return (
            "one row"
            if unit is None
            else f"a person ({unit.column}), with at most {several(unit.rows, 'row', 'rows')},"
        )

    @property
    def rows_per_unit(self) -> int:
        return 1 if self.unit is None else self.unit.rows

    def __getitem__(self, name: str) -> Kind:
        try:
            return self._columns[name]
        except KeyError:
            raise SchemaError(f"no column {name!r}; the schema has {', '.join(self._columns)}") from None

    def __iter__(self) -> Any:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Schema) and self._kept == other._kept)

    def __hash__(self) -> int:
        return hash(self.hash)

    def _repr_html_(self) -> str:
        return face(f"Schema: {self.protected} is protected", columns_grid(self._columns))

    def __repr__(self) -> str:
        others = {"unit": self.unit, "csv": self.csv}
        given = "".join(f", {name}={other!r}" for name, other in others.items() if other is not None)
        return f"Schema({self._columns!r}{given})"


def _kind(name: str, declared: object) -> Kind:
    if isinstance(declared, Kind):
        return declared
    if isinstance(declared, str):
        declared = {"type": declared}
    if not isinstance(declared, Mapping) or declared.get("type") not in KINDS:
        raise SchemaError(f"column {name!r} needs a type: one of {', '.join(KINDS)}")
    rest = {key: value for key, value in declared.items() if key != "type"}
    if rest.get("missing") == "drop" and "drop_missing" in signature(KINDS[declared["type"]]).parameters:
        rest = {key: value for key, value in rest.items() if key != "missing"} | {"drop_missing": True}
    return _built(f"column {name!r}", KINDS[declared["type"]], rest)


def _built(what: str, cls: type[T], arguments: Mapping[str, Any]) -> T:
    """`cls(**arguments)`, with errors that say where the trouble is."""
    settings = signature(cls).parameters
    known = list(settings)
    for name in arguments:
        if name not in known:
            raise SchemaError(f"{what}: unknown setting {name!r}; it takes {', '.join(known)}")
    try:
        return cls(**arguments)
    except TypeError:
        missing = [
            name for name, each in settings.items() if each.default is each.empty and name not in arguments
        ]
        raise SchemaError(
            f"{what} needs {' and '.join(missing)}: public facts, declared and never read off the data"
        ) from None
    except SchemaError as error:
        raise SchemaError(f"{what}: {error}") from None
