"""How often error bars hold: against what the same learner makes of exact answers to the same questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd

import sulq
from data_sets import Floats, census_numbers, load, pums
from measure import say, table
from sulq.queries.codes import Bins

STATED, SURELY = 0.95, 1.96
ROWS = 33_000
Run = Callable[[sulq.Source, Any, str], tuple[Floats, Floats, Floats] | None]
"""One run on some people with an oracle, about a column: coefficients, deviations and exact coefficients."""


@dataclass(frozen=True)
class Case:
    """A cell of the table.

    Args:
        model: which model.
        data: which table.
        epsilon: ε.
        runs: how many runs.
        delta: δ, or nothing for pure ε.
        neighbours: what two neighbouring tables are.
        crowd: whether people answer for themselves.
    """

    model: str
    data: str
    epsilon: str
    runs: int
    delta: str | None = "1e-6"
    neighbours: Literal["replace", "add-remove"] = "replace"
    crowd: bool = False

    @property
    def promise(self) -> str:
        if self.crowd:
            return f"ε = {self.epsilon}, crowd"
        return f"ε = {self.epsilon}, {f'δ = {self.delta}' if self.delta else 'pure'}, {self.neighbours}"

    def oracle(self, people: sulq.Source) -> Any:
        """Whoever answers."""
        if self.crowd:
            return people.crowd(epsilon=self.epsilon)
        promise: dict[str, Any] = {"delta": self.delta} if self.delta else {}
        return people.curator(**promise, epsilon=self.epsilon, neighbours=self.neighbours)


def cases() -> list[Case]:
    """All cells."""
    made = ("made-up, mixed", "made-up, bell curves")
    chosen = []
    for model, many in {"linear": 40, "logistic": 20}.items():
        for data in made:
            chosen += [Case(model, data, epsilon, many) for epsilon in ("0.1", "1", "10")]
            chosen += [Case(model, data, epsilon, 5 * many, None) for epsilon in ("1", "10")]
        chosen += [Case(model, data, "1", many, "1e-6", "add-remove") for data in made]
        chosen += [Case(model, "made-up, bell curves", "4", 30, None, crowd=True)]
        for data, runs in {"adult, numbers": 10, "pums": 20, "wdbc": 6}.items():
            chosen += [Case(model, data, epsilon, runs) for epsilon in ("1", "10")]
    for data, runs in {"adult, numbers": 4, "pums": 6, "made-up, mixed": 4, "skin": 10}.items():
        chosen += [
            Case("additive", data, epsilon, runs, "1e-5", "add-remove") for epsilon in ("0.5", "1", "3")
        ]
        chosen += [Case("additive", data, "1", runs, None)]
    chosen += [Case("additive", "adult", "1", 1, "1e-5", "add-remove")]
    chosen += [Case("additive, a number", "made-up, mixed", epsilon, 6) for epsilon in ("1", "3")]
    for model in ("release.additive", "release.additive, a number", "release.linear"):
        chosen += [Case(model, "made-up, mixed", epsilon, 40) for epsilon in ("1", "10")]
    return [case for case in chosen if people(case.data) is not None]


def section() -> str:
    """The part of all coefficients and effects that are within their error bars."""
    every = cases()
    with ProcessPoolExecutor(4) as pool:
        shown = list(pool.map(measured, every))
    lines = [
        "## Error bars of coefficients and effects",
        "",
        "How often a coefficient, or the effect of a value, is within 1.96 of its stated deviations of what the same learner makes of exact",
        "answers: in the same bins, or after the same first look at histograms. 95 % are stated, and a cell below that is missed; bars of one run",
        "go together, so that few runs say little. **Worst** is the coefficient that is missed most often (where coefficients are the same in",
        "all runs; of 12 runs and 20 coefficients, one that is held in 9 is no surprise). **Length** is how long a bar is in the middle of all,",
        "in units of the shortest that would do: 1.96 times the root of the mean squared error of that coefficient; for effects, whose bins",
        "differ from run to run, of all effects of a run. Where noise hides a value or a direction, bars are as long as weights and",
        "effects may be at all, and far longer than errors, because estimates are shrunk. Naive Bayes has no error bars.",
        "",
        *table(["model", "data", "promise", "runs", "within", "worst", "length"], shown),
    ]
    return "\n".join(lines) + "\n"


def measured(case: Case) -> list[object]:
    """A row of the table."""
    say("coverage,", case.model, case.data, case.promise)
    source, number, label = people(case.data) or _nobody()
    column = (
        number
        if case.model in ("linear", "additive, a number", "release.additive, a number", "release.linear")
        else label
    )
    run = RUNS[case.model.removesuffix(", a number")]
    runs = [run(source, case.oracle(source), column) for _ in range(case.runs)]
    known = [each for each in runs if each is not None]
    start: list[object] = [case.model, case.data, case.promise, f"{len(known)} of {case.runs}"]
    if not known:
        return [*start, "– (none claimed)", "", ""]
    inside = [np.abs(added - exact) <= SURELY * off for added, off, exact in known]
    share = float(np.mean(np.concatenate(inside)))
    within = f"{share:.1%}" if share >= STATED else f"**{share:.1%}** (missed)"
    if case.model.startswith("additive"):
        errors = np.concatenate([np.sqrt(np.mean((a - t) ** 2)) + 0 * a for a, _, t in known])
        lengths = np.concatenate([off for _, off, _ in known]) / errors.clip(min=1e-12)
        return [*start, within, "", f"{np.median(lengths):.1f}"]
    worst = float(np.mean(inside, axis=0).min())
    errors = np.sqrt(np.mean([(a - t) ** 2 for a, _, t in known], axis=0))
    lengths = np.median([off for _, off, _ in known], axis=0) / errors.clip(min=1e-12)
    return [*start, within, f"{worst:.0%}", f"{np.median(lengths):.1f}"]


def _weights(learner: Any) -> Run:
    """Coefficients of a run, and of one with exact answers after the same first look.

    The questions after a look at histograms depend on its answers, so these are the same for both. How many
    rows have each class decides on no question, so that it is exact.
    """

    def run(source: sulq.Source, oracle: Any, column: str) -> tuple[Floats, Floats, Floats] | None:
        exact, asks = source.exact(), learner(column)
        noisy, clean = asks.rounds(source.schema), asks.rounds(source.schema)
        model, truth, classes = next(noisy), next(clean), 2 * isinstance(asks, sulq.LogisticRegression)
        while isinstance(truth, sulq.Round):
            answers = oracle.ask(model) if isinstance(model, sulq.Round) else None
            look = answers and all(getattr(query, "statistic", None) == "count" for query in truth.queries)
            exactly = exact.ask(truth)
            truth = _sent(clean, [*exactly[:classes], *answers[classes:]] if answers and look else exactly)
            model = _sent(noisy, answers) if answers else model
        while isinstance(model, sulq.Round):
            model = _sent(noisy, oracle.ask(model))
        if not model.features or not truth.features:
            return None
        return np.ravel(model.coefficients), np.ravel(model.deviations), np.ravel(truth.coefficients)

    return run


def _effects(source: sulq.Source, oracle: Any, column: str) -> tuple[Floats, Floats, Floats] | None:
    features = None if column != "cost" else ["age", "town", "smoker"]
    model: Any = sulq.Additive(column, features).learn(oracle)
    bins = {effect.code.inner.name: effect.code.edges for effect in model.effects if _in_bins(effect)}
    exact: Any = sulq.Additive(column, features, bins=bins).learn(source.exact())
    known = {_column(effect): effect for effect in exact.effects}
    unit, each = _unit(model), _unit(exact)
    both = [(effect, known[_column(effect)]) for effect in model.effects if _column(effect) in known]
    if not both:
        return None
    return _end_to_end(
        [
            (unit * np.array(effect.added), unit * np.array(effect.deviations), each * _there(effect, other))
            for effect, other in both
        ]
    )


def _unit(model: Any) -> float:
    """What 1 is worth in an effect: of a number half the distance between the ends that were seen."""
    low, high = (-1.0, 1.0) if model.classes is not None else model.target.bounds
    return float(high - low) / 2


def _released(kind: str) -> Run:
    """A model of a release, and of one with exact answers in the same public bins."""

    def run(source: sulq.Source, oracle: Any, column: str) -> tuple[Floats, Floats, Floats] | None:
        bins = {"age": [30.0, 45.0, 60.0, 75.0], "pay": [10.0, 20.0, 50.0], "cost": [25.0, 40.0, 55.0, 70.0]}
        learner = sulq.Pairs(bins=bins)
        model, exact = (getattr(learner.learn(each), kind)(column) for each in (oracle, source.exact()))
        if kind == "linear":
            return np.ravel(model.coefficients), np.ravel(model.deviations), np.ravel(exact.coefficients)
        each = zip(model.effects, exact.effects, strict=True)
        return _end_to_end([(np.array(a.added), np.array(a.deviations), _there(a, b)) for a, b in each])

    return run


RUNS: dict[str, Run] = {
    "linear": _weights(sulq.LinearRegression),
    "logistic": _weights(sulq.LogisticRegression),
    "additive": _effects,
    "release.additive": _released("additive"),
    "release.linear": _released("linear"),
}


@cache
def people(name: str) -> tuple[sulq.Source, str, str] | None:
    """A table as a source, a number to predict, and a label."""
    if name.startswith("made-up"):
        return _mixed() if "mixed" in name else _bell_curves()
    data = {"pums": pums, "adult, numbers": census_numbers}.get(name, lambda: load(name))()
    if data is None:
        return None
    rows = data.rows.sample(min(ROWS, len(data.rows)), random_state=0).reset_index(drop=True)
    number = {"pums": "income", "wdbc": "f3", "skin": "R"}.get(name, "hours_per_week")
    assert data.label is not None
    return sulq.open(rows, data.schema), number, data.label


def _nobody() -> tuple[sulq.Source, str, str]:
    raise FileNotFoundError("cases() leaves out data that is not there")


def _mixed(rows: int = 8000) -> tuple[sulq.Source, str, str]:
    """Numbers, one of them skewed, categories, a rare one among them, and a truth value."""
    rng = np.random.default_rng(0)
    towns = np.array(["n", "s", "e", "w"])
    age, town = rng.uniform(18, 90, rows), rng.choice(towns, rows, p=[0.5, 0.3, 0.15, 0.05])
    pay, smoker = np.exp(rng.normal(3, 1, rows)).clip(0, 1000), rng.random(rows) < 0.2 + 0.2 * (town == "s")
    odds = -2 + 0.04 * (age - 50) + smoker + 0.8 * (town == "s") - 0.3 * np.log(pay)
    sick = rng.random(rows) < 1 / (1 + np.exp(-odds))
    cost = (10 + 0.5 * age + 20 * (town == "s") + 5 * smoker + rng.normal(0, 10, rows)).clip(0, 200)
    table_ = pd.DataFrame(
        {"age": age, "town": town, "pay": pay, "smoker": smoker, "sick": sick, "cost": cost}
    )
    schema = sulq.Schema(
        {
            "age": sulq.Real(0, 120),
            "town": sulq.Category(towns.tolist(), missing="n"),
            "pay": sulq.Real(0, 1000),
            "smoker": sulq.Boolean(),
            "sick": sulq.Boolean(),
            "cost": sulq.Real(0, 200),
        }
    )
    return sulq.open(table_, schema), "cost", "sick"


def _bell_curves(rows: int = 8000) -> tuple[sulq.Source, str, str]:
    """Four numbers, two of them alike."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 4))
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    y = x @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=rows)
    label = rng.random(rows) < 1 / (1 + np.exp(0.5 - x @ [1.5, -1.0, 0.5, 0.0]))
    columns = {f"x{i}": x[:, i].clip(-5, 5) for i in range(4)}
    kinds = {name: sulq.Real(-5, 5) for name in columns}
    table_ = pd.DataFrame({**columns, "y": y.clip(-10, 10), "label": label})
    return sulq.open(table_, {**kinds, "y": sulq.Real(-10, 10), "label": sulq.Boolean()}), "y", "label"


def _sent(rounds: Any, answers: Any) -> Any:
    try:
        return rounds.send(answers)
    except StopIteration as stop:
        return stop.value


def _end_to_end(parts: Sequence[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
    added, off, exact = (
        np.concatenate([np.ravel(each) for each in column]) for column in zip(*parts, strict=True)
    )
    return added, off, exact


def _there(effect: Any, exact: Any) -> Floats:
    """The exact effects of the values of another effect, 0 on average by its shares."""
    added = np.array(exact.added)
    if _in_bins(effect):
        starts = [-np.inf, *effect.code.edges]
        added = added[np.searchsorted(np.array(exact.code.edges), starts, side="right")]
    return np.asarray(added - np.average(added, axis=0, weights=effect.shares))


def _in_bins(effect: Any) -> bool:
    return isinstance(effect.code, Bins)


def _column(effect: Any) -> str:
    return str((effect.code.inner if _in_bins(effect) else effect.code).name)
