"""The people in these examples, with what is public about them: the census of Adult, and a health study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

import sulq
from sulq.schema import Kind
from sulq.sources.table import TableSource

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.csv.gz"
SAMPLES = Path(sulq.__file__).parent / "samples"
SEED = 0
"""Of who is held out. Noise for privacy has no seed."""
MARRIED = (
    "Never-married Married-civ-spouse Married-AF-spouse Married-spouse-absent Separated Divorced Widowed"
)
# What any row of the census could hold is public knowledge: nothing of it is read off the rows.
CENSUS: dict[str, Kind] = {
    "age": sulq.Integer(17, 90),
    "education_num": sulq.Integer(1, 16),
    "marital_status": sulq.Category(tuple(MARRIED.split()), missing="Never-married"),
    "capital_gain": sulq.Integer(0, 99_999),
    "rich": sulq.Boolean(),
}


@dataclass(frozen=True)
class Task:
    """A label to learn: rows to learn from, rows to judge by, what is public about both, and the learner."""

    about: str
    learn: pa.Table
    judge: pa.Table
    schema: sulq.Schema
    learner: sulq.ID3

    @property
    def label(self) -> str:
        return str(self.learner.label)

    def more(self, times: int) -> pa.Table:
        """Several times as many people to learn from, of the same kind: all are there so often, as others."""
        if self.schema.unit is None:
            return pa.concat_tables([self.learn] * times)
        who = self.schema.unit.column
        number, place = self.learn[who], self.learn.column_names.index(who)
        many = pc.add(pc.max(number), 1)
        copies = [pc.add(number, pc.multiply(many, copy)) for copy in range(times)]
        return pa.concat_tables([self.learn.set_column(place, who, own) for own in copies])

    def judged(self, tree: sulq.hypotheses.Tree) -> tuple[float, float]:
        """How often the tree is right about people it never saw, and how many it says have the label."""
        people, ends = sulq.open(self.judge, self.schema), tree.ends
        chance = np.array([end.confidence if end.label else 1 - end.confidence for end in ends])
        end_of_row = people.values(tree.route(list(range(len(ends))), len(ends))) if len(ends) > 1 else [0]
        right = tree.predict(self.judge) == self.judge[self.label].to_numpy()
        return float(np.mean(right)), float(np.mean(chance[end_of_row]))


def census(path: Path) -> Task:
    """Adult census income: who earns more than 50,000 dollars a year?"""
    if not path.is_file():
        raise sulq.SulqError(f"there is no file {path}")
    table = pyarrow.csv.read_csv(path)
    missing = ({*CENSUS, "income"} - {"rich"}) - set(table.column_names)
    if missing:
        raise sulq.SulqError(f"{path} has no column {', '.join(sorted(missing))}: is it Adult with a header?")
    rows = table.append_column("rich", pc.equal(table["income"], ">50K")).select(list(CENSUS))
    bins = {"education_num": [10, 13], "capital_gain": [5000], "age": [28, 60]}
    features = ["marital_status", "education_num", "capital_gain", "age"]
    learner = sulq.ID3("rich", features, depth=3, bins=bins, split="multiway")
    about = "Adult census income: who earns more than 50,000 dollars a year?"
    return _divided(about, rows, np.arange(len(rows)), sulq.Schema(CENSUS), learner)


def health() -> Task:
    """The health study that ships with sulq: who buys drugs? Protected is a person, with up to five years."""
    rows = pyarrow.parquet.read_table(SAMPLES / "randhie.parquet")
    bins = {"doctor_visits": [1, 2, 4], "age": [18, 40]}
    features = ["doctor_visits", "plan", "health", "age"]
    learner = sulq.ID3("bought_drugs", features, depth=2, bins=bins, split="multiway")
    about = "The health study that ships with sulq: who buys drugs?"
    return _divided(about, rows, rows["person"].to_numpy(), sulq.Schema.of(SAMPLES / "randhie.toml"), learner)


def one_year_each() -> TableSource:
    """The first year of everybody in the health study, so that a person is a row."""
    rows = pyarrow.parquet.read_table(SAMPLES / "randhie.parquet")
    _, first = np.unique(rows["person"].to_numpy(), return_index=True)
    kinds = dict(sulq.Schema.of(SAMPLES / "randhie.toml"))
    return sulq.open(rows.take(pa.array(first)).select(list(kinds)), kinds)


def _divided(
    about: str, rows: pa.Table, person: NDArray[np.int64], schema: sulq.Schema, learner: sulq.ID3
) -> Task:
    """Two thirds of the people to learn from, with all their rows, and the others to judge by."""
    held = (np.random.default_rng(SEED).random(person.max() + 1) < 1 / 3)[person]
    return Task(about, rows.filter(pa.array(~held)), rows.filter(pa.array(held)), schema, learner)
