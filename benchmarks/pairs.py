"""One release of all pairs of columns: how good the models and the synthetic rows are that are made of it."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score

import sulq
from data_sets import DataSet, load
from measure import ABSENT, PEERS, Cell, behind, cells, environment, say, table, verdict
from sulq.hypotheses import PairsRelease
from sulq.hypotheses.pairs.columns import PairsColumn
from sulq.privacy.conversion import rho_of

RUNS = 5
EPSILON, DELTA = "1", "1e-6"
INTERVALS = 10
"""Into so many intervals with about as many real rows each a number is cut to measure distances."""
SHARED = {"distance": False, "boosted: AUROC": True}
"""What all are measured by, and whether more is better."""


@dataclass(frozen=True)
class Peer:
    """A library's synthesizer, and how it is run."""

    name: str
    environment: str
    script: str
    settings: dict[str, Any]
    runs: int

    @property
    def line(self) -> str:
        return f"{self.name}, add-remove"


AIM = Peer("AIM", "aim", "aim_rows.py", {"max_model_size": 80.0, "n_iters": 200, "last_steps": 1000}, RUNS)
MST = Peer("MST", "synthetic", "synthetic_rows.py", {"measure_split": 0.875}, 1)
"""Its own split of ρ, 0.9, fails by rounding."""
OTHERS = (MST, AIM)

HEAD = f"""## Pairs

All two-way tables of Adult's columns are published once, by `Pairs(label="income")`; what follows is made of the release alone.
Mean of {RUNS} runs ± its standard error ({MST.runs} run for MST); (ε, δ) = ({EPSILON}, {DELTA}). Four fifths of the rows are
learned from, and models are tested on the others. *Distance*: the total variation between a two-way table of as many synthetic
rows as there are real ones and that of the real rows, mean over all pairs of columns, numbers in about {INTERVALS} intervals with as
many real rows each. *Boosted*: scikit-learn's `HistGradientBoostingClassifier`, trained on the synthetic rows. The peers are MST
of OpenDP 0.16 with mbi 1.1 and AIM of dpmm 0.1.9: they get the bins that `Pairs` found at no cost to them, and numbers inside of a
bin are drawn from the real rows, which flatters them; one of sulq's lines has its numbers drawn in the same way. Add-remove is their
promise. AIM chooses among all pairs of columns, for a model of at most {AIM.settings["max_model_size"]:g} MB, its default (one that was looked at had 1 MB). After
each choice it fits by {AIM.settings["n_iters"]} steps, not by its default of 1,000, which takes about four times as long, and by {AIM.settings["last_steps"]:,} at the end:
five minutes a run. Rare values are not merged; as they are by default, the first split has 0.019 and 0.904, without that 0.018 and 0.901.
The peers and the line beside them were measured apart, MST on the first of the splits, with bins that other
releases of `Pairs` found.
"""


def section() -> str:
    data = load("adult")
    if data is None:
        return f"## Pairs\n\n{ABSENT}\n"
    results: dict[str, list[list[float]]] = {"sulq, replace": [], "sulq, add-remove": []}
    results |= {FLATTERED: []} | {peer.line: [] for peer in OTHERS} | {EXACT: []}
    for run in range(RUNS):
        say("pairs, run", run + 1)
        taken = np.random.default_rng(run).random(len(data.rows)) < 0.8
        rows, others = data.rows[taken].reset_index(drop=True), data.rows[~taken]
        source = sulq.open(rows, data.schema)
        for neighbours in ("replace", "add-remove"):
            curator = source.curator(epsilon=EPSILON, delta=DELTA, neighbours=neighbours)
            release = sulq.Pairs(label=data.label).learn(curator)
            results[f"sulq, {neighbours}"].append(_measured(data, release, rows, others))
        drawn = _flattered(data, release, rows)
        results[FLATTERED].append([_distance(data, rows, drawn), _boosted(data, drawn, others)])
        for peer in OTHERS:
            made = _peer(data, release, rows, peer) if run < peer.runs else None
            if made is not None:
                results[peer.line].append([_distance(data, rows, made), _boosted(data, made, others)])
        results[EXACT].append(_without_privacy(data, source, rows, others))
    head = ["", *SHARED]
    head += [
        f"`{way}`: {what}" for way in ("additive", "naive_bayes", "tree") for what in ("accuracy", "AUROC")
    ]
    lines = [[name, *_columns(values, len(head) - 1)] for name, values in results.items()]
    return "\n".join([HEAD, *table(head, lines), "", verdict(_lost(results)), ""])


FLATTERED = "sulq, add-remove, numbers as the peers'"
EXACT = "exact; boosted on real rows"


def _lost(results: dict[str, list[list[float]]]) -> list[str]:
    """In what a peer is ahead at the same promise."""
    lost = []
    own = _cells(results["sulq, add-remove"])
    for peer in OTHERS:
        for theirs, mine, (what, most) in zip(_cells(results[peer.line]), own, SHARED.items(), strict=False):
            lost += behind([mine], [theirs], [f"{what} ({peer.name})"], most)
    return lost


def _peer(data: DataSet, release: PairsRelease, rows: pd.DataFrame, peer: Peer) -> pd.DataFrame | None:
    """Rows drawn by a peer, with the bins of a release; nothing if it fails."""
    # A multiple of a power of two: elsewhere its parts of the budget add up to more than the budget.
    rho = math.floor(rho_of(Fraction(EPSILON), Fraction(DELTA)) * 2**14) / 2**14
    job = {"settings": peer.settings, "epsilon": EPSILON, "delta": DELTA, "rho": rho}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("job.json", "codes.npy", "drawn.npy")]
        paths[0].write_text(json.dumps(job | {"sizes": release.facts.agreement.sizes}), encoding="utf-8")
        np.save(paths[1], _all_codes(data, release, rows))
        run = subprocess.run([str(environment(peer.environment)), str(PEERS / peer.script), *map(str, paths)])
        if run.returncode:
            return None
        return _decoded(data, release, rows, np.load(paths[2]))


def _flattered(data: DataSet, release: PairsRelease, rows: pd.DataFrame) -> pd.DataFrame:
    """A release's own rows, with numbers drawn inside of bins as they are for the peers."""
    drawn = release.sample(len(rows)).to_frame("pandas")
    return _decoded(data, release, rows, _all_codes(data, release, drawn))


def _decoded(
    data: DataSet, release: PairsRelease, rows: pd.DataFrame, drawn: NDArray[np.int64]
) -> pd.DataFrame:
    """Rows from codes; numbers are those of real rows in the same bin."""
    codes = _all_codes(data, release, rows)
    generator, columns = np.random.default_rng(0), {}
    for place, column in enumerate(release.columns):
        kind, values = data.schema[column.name], rows[column.name].to_numpy()
        columns[column.name] = np.empty(len(drawn), dtype=object)
        for code in np.unique(drawn[:, place]):
            here, real = drawn[:, place] == code, values[codes[:, place] == code]
            if isinstance(kind, sulq.Category):
                columns[column.name][here] = kind.levels[code]
            else:
                columns[column.name][here] = generator.choice(real if len(real) else values, here.sum())
    return pd.DataFrame(columns).infer_objects()


def _all_codes(data: DataSet, release: PairsRelease, rows: pd.DataFrame) -> NDArray[np.int64]:
    return np.stack([_codes(data, column, rows) for column in release.columns], axis=1)


def _codes(data: DataSet, column: PairsColumn, rows: pd.DataFrame) -> NDArray[np.int64]:
    """Which value of a column in a release each row has."""
    kind = data.schema[column.name]
    if isinstance(kind, sulq.Category):
        codes = pd.Categorical(rows[column.name], categories=list(kind.levels)).codes.astype(np.int64)
        return np.where(codes < 0, len(kind.levels) - 1, codes)
    return np.asarray(np.searchsorted(column.edges, rows[column.name], side="right"))


def _measured(data: DataSet, release: PairsRelease, rows: pd.DataFrame, others: pd.DataFrame) -> list[float]:
    assert data.label is not None
    drawn = release.sample(len(rows)).to_frame("pandas")
    found = [_distance(data, rows, drawn), _boosted(data, drawn, others)]
    truth = (others[data.label] == ">50K").to_numpy()
    for way in ("additive", "naive_bayes", "tree"):
        likely = getattr(release, way)(data.label).predict_proba(others)[:, 1]
        found += [accuracy_score(truth, likely > 0.5), roc_auc_score(truth, likely)]
    return found


def _without_privacy(
    data: DataSet, source: sulq.Source, rows: pd.DataFrame, others: pd.DataFrame
) -> list[float]:
    """The same from exact answers, but for the boosted model: that one learns from the real rows."""
    measured = _measured(data, sulq.Pairs(label=data.label).learn(source.exact()), rows, others)
    return [measured[0], _boosted(data, rows, others), *measured[2:]]


def _distance(data: DataSet, rows: pd.DataFrame, drawn: pd.DataFrame) -> float:
    places = {name: _places(data, name, rows, drawn) for name in data.schema}
    apart = []
    for one, other in combinations(places, 2):
        size = places[other][2]
        tables = [
            np.bincount(places[one][which] * size + places[other][which], minlength=places[one][2] * size)
            for which in (0, 1)
        ]
        apart.append(np.abs(tables[0] / len(rows) - tables[1] / len(drawn)).sum() / 2)
    return float(np.mean(apart))


def _places(data: DataSet, name: str, rows: pd.DataFrame, drawn: pd.DataFrame) -> tuple[Any, Any, int]:
    """Which value of a column real and synthetic rows have, and how many values there are."""
    kind = data.schema[name]
    if isinstance(kind, sulq.Category):
        given = [pd.Categorical(each[name], categories=list(kind.levels)).codes for each in (rows, drawn)]
        unknown = len(kind.levels) - 1  # the last level is for what is missing
        real, made = (np.where(codes < 0, unknown, codes).astype(np.int64) for codes in given)
        return real, made, len(kind.levels)
    edges = _cuts(rows[name].to_numpy())
    real, made = (np.searchsorted(edges, each[name], side="right") for each in (rows, drawn))
    return real, made, len(edges) + 1


def _cuts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges with about as many rows between; a value that has so many alone is alone."""
    edges, rows = [], 0
    for value, many in zip(*np.unique(values, return_counts=True), strict=True):
        if rows >= len(values) / INTERVALS:
            edges.append(value)
            rows = 0
        rows += many
    return np.array(edges)


def _boosted(data: DataSet, rows: pd.DataFrame, others: pd.DataFrame) -> float:
    label = data.label
    assert label is not None

    def points(frame: pd.DataFrame) -> NDArray[np.float64]:
        columns = [
            pd.Categorical(frame[name], categories=list(kind.levels)).codes
            if isinstance(kind, sulq.Category)
            else frame[name]
            for name, kind in data.schema.items()
            if name != label
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    categories = [isinstance(kind, sulq.Category) for name, kind in data.schema.items() if name != label]
    model = HistGradientBoostingClassifier(random_state=0, categorical_features=categories)
    model.fit(points(rows), rows[label] == ">50K")
    return float(roc_auc_score(others[label] == ">50K", model.predict_proba(points(others))[:, 1]))


def _columns(values: list[list[float]], many: int) -> list[Cell | str]:
    """A line's cells; one run has no standard error, and who has no models of its own no figures for them."""
    shown = [cell if len(cell.values) > 1 else f"{cell.mean:.3f}" for cell in _cells(values)]
    return [*shown, *["–"] * (many - len(shown))]


def _cells(values: list[list[float]]) -> list[Cell]:
    return cells(np.array(values).T.tolist())


if __name__ == "__main__":
    print(section())
