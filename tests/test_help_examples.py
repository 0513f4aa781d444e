"""The examples in the help of each command, which the reference of the command line shows: each is run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sulq
from site_pages.commands import commands
from sulq.audits.catalogue import named
from sulq.cli import _parser, main
from sulq.serve.keys import Keys
from tests.effort import long

ROWS = 10_000
SCHEMA = """
[columns]
age = {{ type = "integer", low = 0, high = 120 }}
cost = {{ type = "real", low = 0, high = 1000 }}
year = {{ type = "integer", low = 2000, high = 2030 }}
income = {income}
{others}
"""
CATEGORIES = {"diagnosis": "flu,cold", "ward": "east,west", "town": "here,there", "sex": "f,m"}
FLAGS = ("sick", "flu", "odd", "a", "b", "c")
PARTIES = {
    "hospital": ("person", 'sick = { type = "boolean" }'),
    "registry": ("person", 'smokes = { type = "boolean" }'),
    "bank": ("customer", 'income = { type = "real", low = 0, high = 1000 }'),
    "shop": ("customer", 'spent = { type = "real", low = 0, high = 1000 }'),
}
OF_PEOPLE = ("survey learn", "survey rounds")
"""Needs people who answer: tests/commands/test_survey_learn.py runs it."""
LAST = ("serve", "survey serve")
"""Does not end by itself: tests/test_page_commands.py starts it."""


def examples() -> Iterator[str]:
    for command in commands(_parser()):
        for line in (command.parser.epilog or "").replace("\\\n", " ").splitlines():
            example = line.strip().removeprefix("example: ")
            if example.startswith("sulq "):
                yield example


def words_of(example: str) -> list[str]:
    return shlex.split(example.split(" > ")[0])[1:]


EXAMPLES = list(examples())


def test_there_are_examples_of_most_commands() -> None:
    assert len(EXAMPLES) > 80
    assert {words_of(example)[0] for example in EXAMPLES} >= {
        "audit",
        "learn",
        "table",
        "sql",
        "plan",
        "survey",
    }


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_can_be_read(example: str) -> None:
    options = _parser().parse_args(words_of(example))
    if example.startswith("sulq audit"):
        assert named(name for given in options.only for name in given.split(","))


def is_run(words: list[str]) -> bool:
    line = " ".join(words)
    return (
        words[0] != "audit"
        and not line.startswith(OF_PEOPLE)
        and ("--check" in words or not line.startswith(LAST))
    )


def folder_of_a_reader(folder: Path, example: str) -> None:
    """What an example takes for granted."""
    rng = np.random.default_rng(0)
    classes = ">50K" in example
    columns = {
        "age": rng.integers(0, 100, ROWS),
        "cost": rng.integers(0, 1000, ROWS),
        "year": rng.integers(2000, 2030, ROWS),
        "income": np.where(rng.random(ROWS) < 0.3, ">50K", "<=50K")
        if classes
        else rng.integers(0, 1000, ROWS),
        **{name: rng.choice(values.split(","), ROWS) for name, values in CATEGORIES.items()},
        **{name: rng.integers(0, 2, ROWS) for name in FLAGS},
    }
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    income = (
        '{ type = "category", values = ["<=50K", ">50K"] }'
        if classes
        else '{ type = "real", low = 0, high = 1000 }'
    )
    others = [
        f'{name} = {{ type = "category", values = {values.split(",")} }}'
        for name, values in CATEGORIES.items()
    ]
    others += [f'{name} = {{ type = "boolean" }}' for name in FLAGS]
    (folder / "people.toml").write_text(
        SCHEMA.format(income=income, others="\n".join(others)), encoding="utf-8"
    )
    for party, (key, held) in PARTIES.items():
        text = f'[columns]\n{key} = {{ type = "integer", low = 0, high = 1000000 }}\n{held}\n'
        (folder / f"{party}.toml").write_text(text, encoding="utf-8")


def made_before(words: list[str]) -> list[str]:
    """The results of other commands that an example reads, and the example as it is typed then."""
    learn = ["people.csv", "--schema", "people.toml", "--epsilon", "1", "--share", "1/2"]
    if words[0] == "evaluate":
        assert main(["learn", "tree", *learn, "--label", "sick", "--json", "tree.json"]) == 0
    if words[0] == "synthesize":
        assert main(["learn", "pairs", *learn, "--json", "release.json"]) == 0
    if words[0] == "ledger":
        schema = sulq.Schema.of("people.toml")
        if words[1] == "carry":
            schema = sulq.Schema({name: kind for name, kind in schema.items() if name != "ward"})
        curator = sulq.open("people.csv", schema).curator(epsilon=1, ledger="people.csv.ledger")
        curator.ask(sulq.Round([sulq.count()], share="1/2"))
    if words[0] == "key" and words[1] != "add":
        with Keys("people.csv.keys") as keys:
            keys.add("ada")
            [key] = keys.list()
        words = [key.id if word == "5f0c9a1e" else word for word in words]
    if words[0] == "survey" and words[1] != "new":
        assert main(["survey", "new", "sick.toml"]) == 0
    if words[0] == "atlas":
        Path("pictures").mkdir()
    return words


@long
@pytest.mark.parametrize("example", [example for example in EXAMPLES if is_run(words_of(example))])
def test_an_example_runs(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of_a_reader(tmp_path, example)
    monkeypatch.chdir(tmp_path)
    assert main(made_before(words_of(example))) == 0
