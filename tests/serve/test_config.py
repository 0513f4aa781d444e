"""A configuration: what it says is what is served, and what makes no sense is refused in one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.errors import SulqError
from sulq.serve.config import read_settings
from sulq.serve.opening import checked, opened
from tests.serve.services import settings, write_people

GOOD = """
[server]
host = "127.0.0.1"
port = 9000
keys = "my.keys"
answers_after = 0.5

[limits]
queries = 10

[datasets.people]
data = "people.csv"
schema = "people.toml"
epsilon = "1/3"
ledger = "spent"
caps = { "*" = 0.1, ada = "1/4" }
"""


def test_a_file_is_read_with_paths_beside_it(tmp_path: Path) -> None:
    (tmp_path / "curator.toml").write_text(GOOD)
    told = read_settings(tmp_path / "curator.toml")
    [people] = told.datasets
    assert told.url == "http://127.0.0.1:9000" and told.keys == str(tmp_path / "my.keys")
    assert told.schedule.first == 0.5 and told.limits.queries == 10 and told.limits.depth == 200
    assert people.budget == sulq.PureDP("1/3") and people.data == str(tmp_path / "people.csv")
    assert people.caps == {"*": Fraction(1, 10), "ada": Fraction(1, 4)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[server]", "[sever]"), "has no setting 'sever'"),
        (("queries = 10", "querys = 10"), "has no setting 'querys'"),
        (("queries = 10", "queries = 0"), "must be a whole number from 1"),
        (("queries = 10", "queries = 1.5"), "must be a whole number"),
        (('epsilon = "1/3"', ""), "a budget is epsilon, or rho"),
        (('epsilon = "1/3"', "epsilon = 0"), "must be a positive"),
        (('epsilon = "1/3"', 'epsilon = 1\naccounting = "zcdp"'), "an accounting is for epsilon with delta"),
        (
            ('epsilon = "1/3"', 'epsilon = 1\ndelta = "1e-6"\naccounting = "rdp"'),
            "accounting is one of tight",
        ),
        (('data = "people.csv"', ""), "needs data"),
        (('data = "people.csv"', "data = 3"), "is the path of a file"),
        (("[datasets.people]", '[datasets."../people"]'), "a data set is called by"),
        (("port = 9000", "port = 70000"), "port must be a whole number from 0 to 65535"),
        (("port = 9000", 'port = "9000"'), "port in [server] is of type int"),
        (('host = "127.0.0.1"', 'host = "0.0.0.0"'), "without TLS, keys and answers can be read"),
        (('keys = "my.keys"', 'certificate = "cert.pem"'), "go together"),
        (("answers_after = 0.5", "answers_after = -1"), "the schedule's first time"),
        (("epsilon", "answering = 'chunks'\nepsilon"), "has no setting 'answering'"),
        (("[server]", "[server"), "is not TOML"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    path = tmp_path / "curator.toml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(SulqError) as refused:
        read_settings(path)
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_check_makes_no_ledger_and_finds_what_would_be_refused(tmp_path: Path) -> None:
    told = settings(tmp_path)
    assert checked(told)["people"].promise == "ε = 8 (pure)"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "people.toml"]
    for desk in opened(told).values():
        desk.curator.ledger.close()
    assert (tmp_path / "people.csv.ledger").exists()
    assert checked(told)["people"].promise == "ε = 8 (pure)"
    with pytest.raises(SulqError, match="was made for something else"):
        checked(settings(tmp_path, dataset={"epsilon": 9}))
    (tmp_path / "people.toml").write_text('[columns.nobody]\ntype = "boolean"')
    with pytest.raises(SulqError, match="no column 'nobody'"):
        checked(told)


@pytest.mark.parametrize(
    "dataset",
    [
        {"epsilon": 1, "delta": "1e-6"},
        {"epsilon": 1, "delta": "1e-6", "accounting": "gaussian"},
        {"epsilon": None, "rho": "1/2"},
        {"neighbours": "add-remove"},
        {"truncate": True},
    ],
)
def test_a_check_says_what_is_then_served(tmp_path: Path, dataset: dict[str, Any]) -> None:
    told = settings(tmp_path, dataset=dataset)
    offer = checked(told)["people"]
    desk = opened(told)["people"]
    assert desk.curator.offer.form == offer.form
    desk.curator.ledger.close()


def test_caps_are_in_the_ledger_when_a_service_opens(tmp_path: Path) -> None:
    write_people(tmp_path)
    desk = opened(settings(tmp_path, dataset={"caps": {"*": "1/2", "ada": 1}}))["people"]
    with desk.curator.ledger as ledger:
        assert ledger.remaining_of("analyst:ada") == 1
        assert ledger.remaining_of("analyst:bob") == Fraction(1, 2)
