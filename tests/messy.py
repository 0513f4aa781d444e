"""A messy table of patients, with the truth about it: what `sulq` makes of it is held against that."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

PATIENTS, COUNTED = 5_000, 2
WARDS = ("Cardiology", "Oncology", "Neurology", "Rehabilitation Zürich")
DIAGNOSES = ("mild", "severe")
SCHEMA = """
[unit]
column = "patient"
rows = 2
{csv}
[columns.ward]
type = "category"
values = ["Cardiology", "Oncology", "Neurology", "Rehabilitation Zürich"]
trim = true
fold_case = true
aliases = {{ "Onc." = "Oncology" }}

[columns.diagnosis]
type = "category"
values = ["mild", "severe"]
missing = "mild"

[columns.cost]
type = "real"
low = 0
high = 20000
missing = "drop"
thousands = ","
strip = "$"

[columns.born]
type = "date"
first = 1920-01-01
last = 2010-12-31
missing = "drop"
format = "%d.%m.%Y"

[columns.readmitted]
type = "boolean"
missing = "drop"
"""


@dataclass(frozen=True)
class Messy:
    """A messy table.

    Args:
        rows: the rows as people wrote them, with a heading.
        truth: the same rows without a flaw, as far as they count; what nobody can know is missing.
        planted: how many cells of each column have which flaw.
    """

    rows: list[list[str]]
    truth: pd.DataFrame
    planted: dict[tuple[str, str], int]

    def write(self, path: Path, encoding: str) -> None:
        """Write the table as a CSV file."""
        with path.open("w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=";").writerows(self.rows)


def messy(seed: int = 0) -> Messy:
    """5,000 patients; some have several rows, and many cells are not as they should be.

    Several rows of one patient are alike, so the truth does not depend on which of them count.
    """
    rng = np.random.default_rng(seed)
    ward = rng.choice(len(WARDS), PATIENTS, p=[0.4, 0.3, 0.2, 0.1])
    severe = rng.random(PATIENTS) < 0.2 + 0.15 * ward
    cost = np.round(np.minimum(19_999, rng.gamma(2.0, 900.0, PATIENTS) * (1 + severe)), 2)
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 28_000, PATIENTS), unit="D")
    readmitted = rng.random(PATIENTS) < np.where(severe, 0.8, 0.15)
    no_cost, no_born, no_answer = (rng.random(PATIENTS) < part for part in (0.06, 0.03, 0.02))
    copies = np.where(rng.random(PATIENTS) < 0.1, 2, 1)
    copies[rng.random(PATIENTS) < 0.02] = 5
    truth = pd.DataFrame(
        {
            "ward": np.array(WARDS)[ward],
            "diagnosis": np.array(DIAGNOSES)[severe.astype(int)],
            "cost": np.where(no_cost, np.nan, cost),
            "born": pd.Series(born).where(~no_born),
            "readmitted": pd.Series(readmitted, dtype=object).where(~no_answer),
        }
    )
    rows, planted = [["patient", *truth]], _Planted()
    for place in range(PATIENTS):
        cells = [f"P{place:05d}"]
        cells.append(_ward(WARDS[ward[place]], rng, planted, copies[place]))
        cells.append(DIAGNOSES[int(severe[place])])
        cells.append(_cost(cost[place], no_cost[place], rng, planted, copies[place]))
        cells.append("" if no_born[place] else f"{born[place]:%d.%m.%Y}")
        cells.append("unknown" if no_answer[place] else "yes" if readmitted[place] else "no")
        planted.add("born", "missing", copies[place] * no_born[place])
        planted.add("readmitted", "neither true nor false", copies[place] * no_answer[place])
        planted.add("people", f"more than {COUNTED} rows", int(copies[place] > COUNTED))
        rows += [cells] * copies[place]
    counted = truth.loc[truth.index.repeat(np.minimum(copies, COUNTED))]
    return Messy([rows[0], *(rows[1:][i] for i in rng.permutation(len(rows) - 1))], counted, planted.many)


class _Planted:
    """Counts flaws."""

    def __init__(self) -> None:
        self.many: dict[tuple[str, str], int] = {}

    def add(self, column: str, what: str, many: Any) -> None:
        self.many[column, what] = self.many.get((column, what), 0) + int(many)


def _ward(name: str, rng: np.random.Generator, planted: _Planted, copies: int) -> str:
    flaw = rng.random()
    spelling = (
        f"{name}  " if flaw < 0.1 else name.lower() if flaw < 0.2 else name.upper() if flaw < 0.25 else name
    )
    if name == "Oncology" and flaw > 0.8:
        spelling = "Onc."
    planted.add("ward", "not listed", copies * (spelling != name))
    return spelling


def _cost(cost: float, missing: bool, rng: np.random.Generator, planted: _Planted, copies: int) -> str:
    if missing:
        word = str(rng.choice(["", "???"]))
        planted.add("cost", "missing" if not word else "not a number", copies)
        return word
    text = f"{cost:,.2f}" if rng.random() < 0.8 else f"{cost:.2f} $"
    planted.add("cost", "not a number", copies * ("," in text or "$" in text))
    return text
