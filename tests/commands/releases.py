"""People with labels that are parities and conjunctions, and the learners that ask for one release of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sulq.cli import main
from sulq.ledger.ledger import Ledger

Captured = pytest.CaptureFixture[str]
ROWS = 4000
PARITY = [
    "parity",
    "--label",
    "odd",
    "--features",
    "a,b,c,d",
    "--error",
    "0.2",
    "--confidence",
    "0.999999999",
]
NO_PARITY = ["parity", "--label", "even", "--features", "a,b,c,d", "--error", "0.2"]
STUMP = ["stump", "--label", "age>=50", "--features", "a,plan,height", "--bins", "height=0.5,1"]
SELECT = ["conjunction", "--select", "--label", "both", "--features", "a,b,c,d"]
RUNS = {
    "parity": (PARITY, "a xor c"),
    "stump": (STUMP, "height >= 1"),
    "monotone conjunctions": (SELECT, "a and b"),
    "conjunctions": ([*SELECT, "--negations"], "a and b"),
    "small conjunctions": ([*SELECT[:4], "--size", "2"], "a and b"),
    "small conjunctions with bins": (
        [*SELECT[:3], "young", "--features", "a,age", "--size", "2", "--negations", "--bins", "age=20,40"],
        "a and age < 40",
    ),
}


@cache
def rows() -> str:
    """People whose label `odd` is a parity of a and c, and whose label `even` has nothing to do with the bits."""
    rng = np.random.default_rng(3)
    bits = rng.random((4, ROWS)) < 0.5
    lines = ["a,b,c,d,odd,even,both,young,age,height,plan,who"]
    for row, (own, age) in enumerate(zip(bits.T.tolist(), rng.integers(0, 100, ROWS).tolist(), strict=True)):
        a, b, c, _ = own
        labels = [a != c, row % 2 == 0, a and b, a and age < 40]
        plan = "free" if row % 3 else "paid"
        lines.append(",".join(map(str, [*own, *labels, age, age / 50, plan, row // 2])))
    return "\n".join(lines) + "\n"


def write_people(folder: Path, unit: bool = False) -> list[str]:
    """Write data and a schema; what to say of them on a command line."""
    (folder / "people.csv").write_text(rows())
    names = [*"abcd", "odd", "even", "both", "young"]
    schema = "".join(f'[columns.{name}]\ntype = "boolean"\n' for name in names)
    schema += '[columns.age]\ntype = "integer"\nlow = 0\nhigh = 100\n'
    schema += '[columns.height]\ntype = "real"\nlow = 0\nhigh = 2\n'
    schema += '[columns.plan]\ntype = "category"\nvalues = ["free", "paid"]\nmissing = "free"\n'
    protected = '[unit]\ncolumn = "who"\nrows = 2\n' if unit else ""
    (folder / "people.toml").write_text(protected + schema)
    return [str(folder / "people.csv"), "--schema", str(folder / "people.toml")]


def run(arguments: list[str], people: list[str], *more: str) -> int:
    return main(["learn", arguments[0], *people, *arguments[1:], *more])


def spent(folder: Path) -> Fraction:
    with Ledger.read(folder / "people.csv.ledger") as opened:
        return opened.spent


def words(text: str) -> str:
    return " ".join(text.split())


class Text(HTMLParser):
    """What a page says."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said = ""
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.said += data
