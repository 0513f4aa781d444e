"""The data sets that learners are measured on, each with what is public about it.

Bounds and categories are written down from the data sets' own descriptions and from what the columns mean, in
round numbers, and were checked to cover the rows. The files lie beside the repository, in `shared/data`; one that is not
there is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets as bundled

import sulq
from sulq.schema import Kind

FOLDER = Path(__file__).parents[2] / "shared" / "data"
Floats = NDArray[np.float64]


def one_of(values: str) -> sulq.Category:
    """A category that is never missing."""
    return sulq.Category(values.split(), missing=values.split()[0])


def or_unknown(values: str) -> sulq.Category:
    return sulq.Category(values.split())


# Without fnlwgt: it says how many people a row of the survey stands for, and nothing about the one in it.
ADULT = {
    "age": sulq.Integer(17, 90),
    "workclass": or_unknown(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"
    ),
    "education": one_of(
        "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm "
        "Bachelors Masters Prof-school Doctorate"
    ),
    "education_num": sulq.Integer(1, 16),
    "marital_status": one_of(
        "Never-married Married-civ-spouse Married-AF-spouse Married-spouse-absent Separated Divorced Widowed"
    ),
    "occupation": or_unknown(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"
    ),
    "relationship": one_of("Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    "race": one_of("White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    "sex": one_of("Female Male"),
    "capital_gain": sulq.Integer(0, 99_999),
    "capital_loss": sulq.Integer(0, 5_000),
    "hours_per_week": sulq.Integer(1, 99),
    "native_country": or_unknown(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
        "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
        "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
        "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"
    ),
    "income": one_of("<=50K >50K"),
}
MUSHROOM = {
    "cap-shape": "b c x f k s",
    "cap-surface": "f g y s",
    "cap-color": "n b c g r p u e w y",
    "bruises?": "t f",
    "odor": "a l c y f m n p s",
    "gill-attachment": "a d f n",
    "gill-spacing": "c w d",
    "gill-size": "b n",
    "gill-color": "k n b h g r o p u e w y",
    "stalk-shape": "e t",
    "stalk-root": "b c u e z r",
    "stalk-surface-above-ring": "f y k s",
    "stalk-surface-below-ring": "f y k s",
    "stalk-color-above-ring": "n b c g o p e w y",
    "stalk-color-below-ring": "n b c g o p e w y",
    "veil-type": "p u",
    "veil-color": "n o w y",
    "ring-number": "n o t",
    "ring-type": "c e f l n p s z",
    "spore-print-color": "k n b h r o u w y",
    "population": "a c n s v y",
    "habitat": "g l m p u w d",
    "class": "e p",
}
CAR = {
    "buying": "vhigh high med low",
    "maint": "vhigh high med low",
    "doors": "2 3 4 5more",
    "persons": "2 4 more",
    "lug_boot": "small med big",
    "safety": "low med high",
    "class": "unacc acc good vgood",
}
# Of a cell nucleus: radius, texture, perimeter, area, smoothness, compactness, concavity, concave points,
# symmetry, fractal dimension; their means, standard errors and worst values.
NUCLEUS = [
    *(30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1),
    *(3, 5, 25, 600, 0.04, 0.15, 0.4, 0.06, 0.1, 0.03),
    *(40, 50, 260, 4500, 0.25, 1.2, 1.3, 0.3, 0.7, 0.25),
]
IRIS = {"sepal_length": (4, 8), "sepal_width": (2, 5), "petal_length": (1, 7), "petal_width": (0, 3)}
WINE = {
    "alcohol": (11, 15),
    "malic_acid": (0, 6),
    "ash": (1, 4),
    "alcalinity_of_ash": (10, 30),
    "magnesium": (60, 170),
    "total_phenols": (0, 4),
    "flavanoids": (0, 6),
    "nonflavanoid_phenols": (0, 1),
    "proanthocyanins": (0, 4),
    "color_intensity": (1, 13),
    "hue": (0, 2),
    "od280/od315_of_diluted_wines": (1, 4),
    "proline": (200, 1700),
}


@dataclass(frozen=True)
class DataSet:
    """Rows, what is public about them, and the column to predict."""

    rows: pd.DataFrame
    schema: sulq.Schema
    label: str | None = None

    @property
    def numeric(self) -> list[str]:
        return [name for name, kind in self.schema.items() if isinstance(kind, sulq.Real | sulq.Integer)]

    @property
    def truth(self) -> NDArray[np.str_]:
        return np.asarray(self.rows[self.label].astype(str), dtype=str)

    def scaled(self) -> Floats:
        """The numeric and boolean columns, each with its public interval scaled to [−1, 1]."""
        columns = []
        for name, kind in self.schema.items():
            if isinstance(kind, sulq.Real | sulq.Integer):
                values = self.rows[name].to_numpy(dtype=float).clip(kind.low, kind.high)
                columns.append((values - kind.low) / (kind.high - kind.low) * 2 - 1)
            elif isinstance(kind, sulq.Boolean) and name != self.label:
                columns.append(self.rows[name].to_numpy(dtype=float) * 2 - 1)
        return np.stack(columns, axis=1)

    def codes(self) -> tuple[Floats, Floats]:
        """Every feature as a number, a category as its place in the list, and the public bounds (2 × columns)."""
        columns, bounds = [], []
        for name, kind in self.schema.items():
            if name == self.label:
                continue
            if isinstance(kind, sulq.Category):
                columns.append(_places(self.rows[name], kind).astype(float))
                bounds.append((0.0, len(kind.levels) - 1.0))
            elif isinstance(kind, sulq.Boolean):
                columns.append(self.rows[name].to_numpy(dtype=float))
                bounds.append((0.0, 1.0))
            else:
                columns.append(self.rows[name].to_numpy(dtype=float).clip(kind.low, kind.high))
                bounds.append((kind.low, kind.high))
        return np.stack(columns, axis=1), np.array(bounds).T

    def one_hot(self) -> tuple[Floats, float]:
        """A column for each value of a category, numbers scaled to [0, 1], and how long a row can be."""
        values, bounds = self.codes()
        kinds = [kind for name, kind in self.schema.items() if name != self.label]
        parts = []
        for column, (low, high), kind in zip(values.T, bounds.T, kinds, strict=True):
            if isinstance(kind, sulq.Category):
                parts.append(column[:, None] == np.arange(len(kind.levels)))
            else:
                parts.append(((column - low) / (high - low))[:, None])
        return np.hstack(parts).astype(float), float(np.sqrt(len(kinds)))


def load(name: str) -> DataSet | None:
    """A data set by name, or nothing if its file is not there."""
    if name in ("iris", "wine", "digits"):
        return _bundled(name)
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        return None
    rows = pd.read_csv(path, dtype=str if name in ("mushroom", "car") else None)
    if name == "adult":
        return DataSet(rows, sulq.Schema(ADULT), "income")
    if name == "mushroom":
        kinds = {column: one_of(values) for column, values in MUSHROOM.items()}
        return DataSet(rows, sulq.Schema(kinds | {"stalk-root": or_unknown(MUSHROOM["stalk-root"])}), "class")
    if name == "car":
        return DataSet(rows, sulq.Schema({column: one_of(values) for column, values in CAR.items()}), "class")
    if name == "wdbc":
        measures: dict[str, Kind] = {f"f{i}": sulq.Real(0, high) for i, high in enumerate(NUCLEUS)}
        return DataSet(rows, sulq.Schema(measures | {"label": one_of("1 2")}), "label")
    if name == "skin":
        colours: dict[str, Kind] = {colour: sulq.Integer(0, 255) for colour in "RGB"}
        return DataSet(rows, sulq.Schema(colours | {"label": one_of("1 2")}), "label")
    high = {"s1": 1_000_000, "a3": 65_536}[name]
    return DataSet(rows[["x", "y"]], sulq.Schema({axis: sulq.Integer(0, high) for axis in "xy"}))


def pums() -> DataSet | None:
    """Who of 1,000 Californians is married."""
    path = FOLDER / "pums1000.csv.gz"
    if not path.exists():
        return None
    rows = pd.read_csv(path)
    rows = rows.assign(married=rows["married"] == 1, sex=rows["sex"] == 1, race=rows["race"].astype(str))
    kinds: dict[str, Kind] = {"age": sulq.Integer(0, 100), "sex": sulq.Boolean(), "educ": sulq.Integer(1, 16)}
    kinds |= {"race": one_of("1 2 3 4 5 6"), "income": sulq.Integer(0, 500_000), "married": sulq.Boolean()}
    return DataSet(rows, sulq.Schema(kinds), "married")


def census_numbers() -> DataSet | None:
    """Adult's numeric columns, and its two-valued one as a truth value, for learners of halfspaces."""
    adult = load("adult")
    if adult is None:
        return None
    kinds = {name: kind for name, kind in adult.schema.items() if name in [*adult.numeric, "income"]}
    rows = adult.rows.assign(male=adult.rows["sex"] == "Male")
    return DataSet(rows, sulq.Schema({"male": sulq.Boolean(), **kinds}), "income")


def separable(rows: int = 20_000, columns: int = 5, margin: float = 0.1, seed: int = 0) -> DataSet:
    """Uniform points of the cube, but for those within the margin of a random halfspace's edge."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=columns)
    normal /= np.linalg.norm(normal)
    points = rng.uniform(-1, 1, (4 * rows, columns))
    points = points[np.abs(points @ normal) >= margin][:rows]
    names = [f"x{i}" for i in range(columns)]
    table = pd.DataFrame(points, columns=names).assign(y=np.where(points @ normal > 0, "in", "out"))
    kinds: dict[str, Kind] = {name: sulq.Real(-1, 1) for name in names}
    return DataSet(table, sulq.Schema(kinds | {"y": one_of("out in")}), "y")


def _bundled(name: str) -> DataSet:
    found = getattr(bundled, f"load_{name}")()
    bounds = {"iris": IRIS, "wine": WINE, "digits": {f"p{i}": (0, 16) for i in range(64)}}[name]
    table = pd.DataFrame(found.data, columns=list(bounds))
    return DataSet(table, sulq.Schema({column: sulq.Real(*ends) for column, ends in bounds.items()}))


def _places(column: pd.Series, kind: sulq.Category) -> NDArray[np.intp]:
    place = {level: i for i, level in enumerate(kind.levels)}
    unknown = place[kind.missing] if kind.missing is not None else len(kind.levels) - 1
    return np.asarray(column.map(place).fillna(unknown), dtype=np.intp)
