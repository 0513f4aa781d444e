"""A small table of people, for the tests of commands."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np

from sulq.ledger.ledger import Ledger

SCHEMA = """
[columns.age]
type = "integer"
low = 0
high = 100

[columns.height]
type = "real"
low = 0.0
high = 2.5

[columns.income]
type = "category"
values = ["<=50K", ">50K"]
missing = "<=50K"

[columns.cough]
type = "boolean"

[columns.flu]
type = "boolean"
"""
BUDGETS = {
    "epsilon": ["--epsilon", "4"],
    "delta": ["--epsilon", "4", "--delta", "1e-6"],
    "rho": ["--rho", "0.5", "--neighbours", "add-remove"],
}


def write_people(folder: Path, rows: int = 600, unit: bool = False) -> list[str]:
    """Write data and a schema; what to say of them on a command line."""
    rng = np.random.default_rng(5)
    with (folder / "people.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["person", "age", "height", "income", "cough", "flu"])
        for row in range(rows):
            age, height, cough = int(rng.integers(100)), rng.uniform(1.4, 2.1), rng.random() < 0.5
            income = ">50K" if age > 50 else "<=50K"
            table.writerow([row // 2, age, f"{height:.2f}", income, cough, cough and age > 50])
    protected = '[unit]\ncolumn = "person"\nrows = 2\n' if unit else ""
    (folder / "people.toml").write_text(protected + SCHEMA)
    return [str(folder / "people.csv"), "--schema", str(folder / "people.toml")]


def spent(ledger: Path) -> Fraction:
    """What was charged to a ledger in a file."""
    with Ledger.read(ledger) as opened:
        return opened.spent
