"""What a service is told before it starts: its data sets, their budgets, and how it is reached."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from sulq.errors import SulqError
from sulq.ledger.accounts import ANALYST
from sulq.ledger.places import SCHEMES, Address, place_of
from sulq.numbers import rational, whole
from sulq.privacy.budget import Budget, budget
from sulq.serve.limits import Limits
from sulq.serve.schedule import Schedule
from sulq.sources.postgres import is_address
from sulq.sources.spark import is_session
from sulq.wire import shown

T = TypeVar("T")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What a data set may be called: it stands in addresses."""
MOST_WORKERS = 64
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class DatasetSettings:
    """One data set: where its rows are, what is public about them, and what may be spent.

    Args:
        name: what analysts call it.
        data: a CSV, Parquet or DuckDB file, a glob of several, or the address of a Postgres database.
        schema: a TOML file that says what is public about the columns.
        budget: the whole budget, for all analysts and all times.
        table: the table, if the data is a DuckDB or Postgres database.
        neighbours: "replace" or "add-remove".
        truncate: whether answers are brought into the range that is public.
        quoted_newlines: whether cells of a CSV file may have line ends.
        query: instead of a table of a Postgres database, a SELECT.
        ledger: the file, or the address in Postgres, that remembers what was spent; None for the file beside
            the data.
        caps: what each analyst may spend of the budget, by name; "*" stands for all that are not named.
    """

    name: str
    data: str
    schema: str
    budget: Budget
    table: str | None = None
    neighbours: str = "replace"
    truncate: bool = False
    quoted_newlines: bool = False
    query: str | None = None
    ledger: str | None = None
    caps: Mapping[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise SulqError(
                f"a data set is called by 1 to 64 letters, digits or . _ - and not {shown(self.name)}"
            )


@dataclass(frozen=True)
class ServiceSettings:
    """A whole service.

    Args:
        datasets: what it serves.
        keys: the file of its keys.
        host: the address it listens at.
        port: the port; 0 for any that is free.
        certificate: the file of its TLS certificate, None to speak plain HTTP.
        private_key: the file of the certificate's private key.
        behind_proxy: whether a proxy in front of it speaks TLS.
        limits: how much may be asked; each process counts for itself.
        schedule: when answers leave.
        workers: how many processes serve. More than one need ledgers in Postgres.
    """

    datasets: tuple[DatasetSettings, ...]
    keys: str
    host: str = "127.0.0.1"
    port: int = 8443
    certificate: str | None = None
    private_key: str | None = None
    behind_proxy: bool = False
    limits: Limits = field(default_factory=Limits)
    schedule: Schedule = field(default_factory=Schedule)
    workers: int = 1

    def __post_init__(self) -> None:
        whole("port", self.port, 0, 65535)
        whole("workers", self.workers, 1, MOST_WORKERS)
        if (self.certificate is None) != (self.private_key is None):
            raise SulqError("a certificate and its private key go together: give both files, or none")
        for path in (self.certificate, self.private_key):
            if path is not None and not Path(path).is_file():
                raise SulqError(f"no file {path!r}, which should hold the certificate or its private key")
        if self.certificate is None and self.host not in LOOPBACK and not self.behind_proxy:
            raise SulqError(
                f"without TLS, keys and answers can be read on the way to {self.host}: give a certificate "
                "and its private key, or say that a proxy in front speaks TLS (behind_proxy, "
                "--behind-proxy), or listen at 127.0.0.1"
            )
        ledgers = [place_of(settings.ledger) for settings in self.datasets if settings.ledger is not None]
        if len(set(ledgers)) < len(ledgers):
            raise SulqError("two data sets name the same ledger, and each needs one of its own")
        for each in self.datasets if self.workers > 1 else ():
            if not isinstance(place_of(each.ledger or ""), Address):
                raise SulqError(
                    f"{self.workers} workers cannot share the ledger of {each.name}, which is a file: they "
                    "would take its lock at random, and some analysts would wait for seconds; give it one in "
                    "Postgres, as postgresql://HOST/DATABASE?schema=NAME, or have 1 worker"
                )

    @property
    def url(self) -> str:
        """Where it is reached on its own machine."""
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"


def read_settings(path: str | Path) -> ServiceSettings:
    """The service that a TOML file describes. Paths in it are relative to the file.

    Args:
        path: the file.
    """
    path = Path(path)
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SulqError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SulqError(f"{path} is not TOML: {error}") from None
    try:
        return settings_of(form, path.absolute().parent, default_keys=path.with_suffix(".keys").name)
    except SulqError as error:
        raise SulqError(f"{path}: {error}") from None


def settings_of(form: Mapping[str, Any], folder: Path, default_keys: str = "curator.keys") -> ServiceSettings:
    """The service with this form.

    Args:
        form: tables `server`, `limits` and `datasets`.
        folder: what paths in it are relative to.
        default_keys: the file of keys, if none is named.

    >>> people = {"data": "people.csv", "schema": "people.toml", "epsilon": 1, "caps": {"ada": 0.25}}
    >>> settings = settings_of({"datasets": {"people": people}}, Path("/srv"))
    >>> settings.url, settings.datasets[0].data, settings.datasets[0].caps
    ('http://127.0.0.1:8443', '/srv/people.csv', {'ada': Fraction(1, 4)})
    """
    known = ("server", "limits", "datasets")
    tables = {name: _table(form.get(name, {}), f"[{name}]") for name in known}
    _only(form, known, "a configuration")
    server = dict(tables["server"])
    paths = {"keys": default_keys, "certificate": None, "private_key": None}
    for name, default in paths.items():
        server[name] = _path(server.get(name, default), folder, f"{name} in [server]")
    schedule = Schedule(server.pop("answers_after", Schedule.first))
    datasets = tuple(_dataset(name, each, folder) for name, each in tables["datasets"].items())
    if not datasets:
        raise SulqError("a service needs at least one data set: [datasets.NAME] in its configuration")
    limits = _made(Limits, tables["limits"], "[limits]")
    allowed = [each.name for each in fields(ServiceSettings)]
    _only(server, [name for name in allowed if name not in ("datasets", "limits", "schedule")], "[server]")
    _check_types(server, {"host": str, "port": int, "behind_proxy": bool, "workers": int}, "[server]")
    return ServiceSettings(datasets, limits=limits, schedule=schedule, **server)


def _dataset(name: str, form: object, folder: Path) -> DatasetSettings:
    here = f"[datasets.{name}]"
    given = dict(_table(form, here))
    stated = {each: given.pop(each, None) for each in ("epsilon", "delta", "rho", "accounting")}
    try:
        promised = budget(**stated)
        capped = _table(given.pop("caps", {}), here)
        caps = {who: rational(f"the cap of {who}", cap) for who, cap in capped.items()}
    except SulqError as error:
        raise SulqError(f"{here}: {error}") from None
    elsewhere = is_address(given.get("data")) or is_session(given.get("data"))
    for each in ("schema", "ledger") if elsewhere else ("data", "schema", "ledger"):
        if each in given or each != "ledger":
            given[each] = _place(given.get(each), folder, f"{each} in {here}")
            if given[each] is None:
                raise SulqError(f"{here} needs {each}")
    allowed = [each.name for each in fields(DatasetSettings) if each.name not in ("name", "budget", "caps")]
    _only(given, [*allowed, "epsilon", "delta", "accounting", "rho", "caps"], here)
    texts = {"neighbours": str, "table": str, "query": str}
    _check_types(given, {"truncate": bool, "quoted_newlines": bool, **texts}, here)
    return DatasetSettings(name, budget=promised, caps=caps, **given)


def account_of(name: str) -> str:
    """The account of an analyst in a ledger.

    >>> account_of("ada")
    'analyst:ada'
    """
    return f"{ANALYST}{name}"


def _made(cls: type[T], form: Mapping[str, Any], where: str) -> T:
    _only(form, [each.name for each in fields(cls)], where)  # type: ignore[arg-type]
    return cls(**form)


def _table(form: object, where: str) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise SulqError(f"{where} is a table, not {shown(form)}")
    return form


def _only(form: Mapping[str, Any], known: Any, where: str) -> None:
    for name in form:
        if name not in known:
            raise SulqError(f"{where} has no setting {shown(name)}; it takes {', '.join(known)}")


def _check_types(form: Mapping[str, Any], types: Mapping[str, type], where: str) -> None:
    for name, type_ in types.items():
        if name in form and type(form[name]) is not type_:
            raise SulqError(f"{name} in {where} is of type {type_.__name__}, not {shown(form[name])}")


def _place(value: object, folder: Path, what: str) -> str | None:
    """A path, or the address of a ledger in Postgres."""
    if isinstance(value, str) and value.startswith(SCHEMES):
        return str(place_of(value))
    return _path(value, folder, what)


def _path(value: object, folder: Path, what: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise SulqError(f"{what} is the path of a file, not {shown(value)}")
    return str(folder / value)
