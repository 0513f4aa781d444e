"""What every oracle keeps: one contract, and one walk over all of them.

The same round in gives the same shapes out, with laws of errors that cover; the same again in a run is told
the same; and what is refused is refused before a row is read and before anything is spent.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.plans.watching import Watched
from sulq.queries.choose import Choice
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.denoised import Denoised
from sulq.talk.laws import Within
from tests.serve.services import Curators, curators

ROWS = 4_000
RARE = 1e-9
SCHEMA = Schema(
    {
        "a": sulq.Boolean(),
        "x": sulq.Real(0, 1),
        "y": sulq.Boolean(),
        "level": sulq.Category(["low", "middle", "high"]),
    }
)
FEATURES = sulq.vector(sulq.col("x"), sulq.where(sulq.col("a"), sulq.col("x"), 0))


def data() -> dict[str, Any]:
    """Rows with exact frequencies, in an order without a pattern that a chunk could follow."""
    places = np.random.default_rng(5).permutation(ROWS)
    return {
        "a": (places % 5 < 2),
        "x": (places % 8) / 8,
        "y": (places % 4 == 0),
        "level": np.array(["low", "middle", "high"])[places % 3],
        "who": places,
    }


def people(**schema: Any) -> sulq.Source:
    return sulq.open(data(), Schema(dict(SCHEMA), **schema))


@dataclass
class Rounding:
    """An oracle in few lines: every answer is rounded to a multiple of what its query may be off by."""

    source: sulq.Source
    told: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)

    promise = "none: rounded answers"

    @property
    def schema(self) -> Schema:
        return self.source.schema

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        sulq.wire.check_run(run)
        if not isinstance(round_, Round) or not all(isinstance(query, Query) for query in round_.queries):
            raise sulq.QueryError("ask takes a Round of sums")
        if (run, round_.key) not in self.told:
            for query in round_.queries:
                for part in query.parts:
                    scope_of(self.schema).number(part)
            exact = self.source.exact().ask(round_)
            self.told[run, round_.key] = [
                Answer(np.rint(answer.value * 4) / 4 + 0.0, Within(0.125), answer.axes) for answer in exact
            ]
        return self.told[run, round_.key]


@dataclass(frozen=True)
class Case:
    """An oracle, and how it is asked.

    `by`: "share", "tolerance" or neither. `sampled`: whether its answers are about what the rows were drawn
    from. `choices`: whether it chooses. `spends`: whether something is used up.
    """

    make: Callable[[sulq.Source], Any]
    by: str = "share"
    sampled: bool = False
    choices: bool = True
    spends: bool = True
    schema: dict[str, Any] = field(default_factory=dict)
    at_most: bool = False
    """Whether what is said beforehand of errors is for values as large as can be, because more is known afterwards."""

    def rounds(self) -> list[Round]:
        how: dict[str, Any] = {"tolerance": "0.2", "beta": "0.01"} if self.by == "tolerance" else {}
        share = "1/8" if self.by == "share" else None
        a, x = sulq.col("a"), sulq.col("x")
        sums = [
            sulq.mean(x, **how),
            sulq.mean(a & (x < 0.5), **how),
            *([] if how else [sulq.count(), sulq.count(where="a"), sulq.count(by=["a", "level"])]),
            *([] if how else [sulq.total(x, where="a", by="level"), sulq.total(FEATURES)]),
            *([] if how else [sulq.mean(x, by="a")]),
        ]
        rounds = [Round(sums, share), Round(sums[:1], share)]
        if self.choices and not how:
            best = [
                sulq.choose(["a", "level"], label="y"),
                sulq.choose([sulq.count(where="a"), sulq.count()]),
            ]
            rounds.append(Round(best, share))
        return rounds


def curator(**settings: Any) -> Callable[[sulq.Source], Any]:
    return lambda source: source.curator(**settings)


SERVERS: list[Curators] = []


@pytest.fixture(autouse=True, scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A server in a thread, for all that is asked over the wire."""
    with curators(tmp_path_factory.mktemp("server")) as server:
        SERVERS.append(server)
        yield
    SERVERS.clear()


def remote(part: str | None = None, **settings: Any) -> Callable[[sulq.Source], Any]:
    """A curator who is asked over the wire."""

    def make(source: sulq.Source) -> Any:
        [server] = SERVERS
        connected = server.connect(source.curator(**settings))
        asked: Any = connected if part is None else connected.part(part)
        asked.source = source
        return asked

    return make


HANDS = (("a", "level"), ("x", "y"))


def parties(*makers: Callable[[sulq.Source], Any]) -> Callable[[sulq.Source], Any]:
    """Columns in two hands, each with a curator of its own."""

    def make(_: sulq.Source) -> Any:
        rows, kinds = data(), dict(SCHEMA) | {"who": sulq.Integer(0, ROWS)}
        tables = [
            sulq.open({name: rows[name] for name in names}, {name: kinds[name] for name in names})
            for names in ((*hand, "who") for hand in HANDS)
        ]
        together: Any = sulq.parties(
            [each(table) for each, table in zip(makers, tables, strict=True)], "who", people=ROWS
        )
        together.source = tables[0]
        return together

    return make


CASES: dict[str, Case] = {
    "exact": Case(lambda source: source.exact(), by="", spends=False),
    "curator in epsilon": Case(curator(epsilon=8)),
    "curator in rho": Case(curator(rho=4)),
    "curator in epsilon and delta": Case(curator(epsilon=8, delta="1e-6")),
    "curator, rows come and go": Case(curator(epsilon=8, neighbours="add-remove")),
    "curator, two rows a person": Case(curator(epsilon=8), schema={"unit": sulq.Unit("who", 2)}),
    "curator that truncates": Case(curator(epsilon=8, truncate=True)),
    "curator by tolerances": Case(curator(epsilon=8), by="tolerance"),
    "curator of a part": Case(lambda source: source.curator(epsilon=8).part("1/2")),
    "sulq-laplace": Case(curator(epsilon=8, calibration="sulq-laplace", queries=99), by="", choices=False),
    "sulq-gaussian": Case(
        curator(epsilon=1, delta="1e-6", calibration="sulq-gaussian", queries=99), by="", choices=False
    ),
    "chunks": Case(curator(epsilon=8, answering="chunks", queries=20), by="", sampled=True),
    "printed chunks": Case(curator(epsilon=80, answering="printed", queries=20), by="", sampled=True),
    "remote curator": Case(remote(epsilon=8)),
    "remote curator in rho": Case(remote(rho=4)),
    "remote curator by tolerances": Case(remote(epsilon=8), by="tolerance"),
    "remote curator, two rows a person": Case(remote(epsilon=8), schema={"unit": sulq.Unit("who", 2)}),
    "remote curator of a part": Case(remote("1/2", epsilon=8)),
    "remote sulq-laplace": Case(
        remote(epsilon=8, calibration="sulq-laplace", queries=99), by="", choices=False
    ),
    "denoised remote curator": Case(lambda s: remote(epsilon=8)(s).denoised("y", 0), choices=False),
    "watched remote curator": Case(lambda source: Watched(remote(epsilon=8)(source))),
    "crowd": Case(lambda source: source.crowd(epsilon=4)),
    "the paper's crowd": Case(lambda source: source.crowd(epsilon=4, method="paper")),
    "crowd by tolerances": Case(lambda source: source.crowd(epsilon=4), by="tolerance"),
    "crowd, two rows a person": Case(
        lambda source: source.crowd(epsilon=8), schema={"unit": sulq.Unit("who", 2)}
    ),
    "sample": Case(lambda source: source.sample(), sampled=True),
    "the same sample": Case(lambda source: source.sample(fresh=False), sampled=True, spends=False),
    "sample by tolerances": Case(lambda source: source.sample(), by="tolerance", sampled=True),
    **{
        f"adversary, {manner}": Case(
            lambda source, manner=manner: sulq.theory.Adversary(source, manner),  # type: ignore[misc]
            by="tolerance",
            spends=False,
        )
        for manner in ("high", "low", "random", "coarse")
    },
    "denoised exact": Case(lambda s: s.exact().denoised("y", 0), by="", spends=False, choices=False),
    "denoised curator": Case(lambda s: s.curator(epsilon=8).denoised("y", 0), choices=False),
    "denoised crowd": Case(lambda s: s.crowd(epsilon=4).denoised("y", 0), choices=False),
    "denoised sample": Case(lambda s: s.sample().denoised("y", 0), sampled=True, choices=False),
    "watched curator": Case(lambda source: Watched(source.curator(epsilon=8))),
    "watched crowd": Case(lambda source: Watched(source.crowd(epsilon=4))),
    "parties": Case(parties(curator(epsilon=8), curator(epsilon=8)), choices=False, at_most=True),
    "parties with other promises": Case(
        parties(curator(epsilon=8, delta="1e-6"), curator(epsilon=8, neighbours="add-remove")),
        choices=False,
        at_most=True,
    ),
    "parties elsewhere": Case(parties(remote(epsilon=8), curator(rho=4)), choices=False, at_most=True),
    "exact parties": Case(
        parties(*[lambda source: source.exact()] * 2), by="", spends=False, choices=False, at_most=True
    ),
    "a new oracle": Case(Rounding, by="", choices=False, spends=False),
}
EVERY = pytest.mark.parametrize("name", CASES)


def oracle(name: str) -> Any:
    return CASES[name].make(people(**CASES[name].schema))


def unspent(asked: Any) -> list[Any]:
    return [getattr(asked, fact, None) for fact in ("spent", "remaining", "left", "rounds", "queries")]


def slack(query: Any, value: Any) -> float:
    """How far a sample of at least 100 rows may be from the rows it was drawn from, but for RARE."""
    times = 1.0 if query.statistic == "mean" else float(ROWS)
    return float(times * 2 * np.sqrt(np.log(2 * np.size(value) / RARE) / (2 * 100)))


@EVERY
def test_answers_have_the_shapes_of_their_queries_and_laws_that_cover(name: str) -> None:
    case, asked = CASES[name], oracle(name)
    scope, exact = scope_of(SCHEMA), people().exact()
    for round_ in case.rounds():
        answers = asked.ask(round_)
        assert len(answers) == len(round_.queries)
        for query, answer, true in zip(round_.queries, answers, exact.ask(round_), strict=True):
            assert isinstance(query, Query | Choice)
            assert isinstance(answer, Answer)
            assert np.shape(answer.value) == query.shape(scope)
            assert [axis.name for axis in answer.axes] == [axis.name for axis in true.axes]
            if isinstance(query, Choice):
                assert 0 <= answer.value < len(query.candidates)
                assert answer.radius(RARE) >= 0
                continue
            off = np.abs(np.asarray(answer.value) - np.asarray(true.value))
            within = answer.radius(RARE) + (slack(query, answer.value) if case.sampled else 0) + 1e-9
            assert (off <= within).all()
            low, high = answer.interval(RARE)
            assert (np.asarray(low) <= answer.value).all() and (answer.value <= np.asarray(high)).all()


@EVERY
def test_answers_are_data(name: str) -> None:
    asked = oracle(name)
    for answer in asked.ask(CASES[name].rounds()[0]):
        for copy in (pickle.loads(pickle.dumps(answer)), Answer.from_json(answer.to_json())):
            assert np.array_equal(copy.value, answer.value, equal_nan=True)
            assert np.array_equal(copy.radius(0.05), answer.radius(0.05), equal_nan=True)
            assert copy.axes == answer.axes


@EVERY
def test_the_same_again_in_a_run_is_told_the_same_and_uses_nothing_up(name: str) -> None:
    case, asked = CASES[name], oracle(name)
    if name.startswith("adversary, random"):
        return  # it tosses anew, and keeps nothing
    first = case.rounds()[0]
    told = asked.ask(first, "mine")
    before = unspent(asked)[:3]
    for answer, again in zip(told, asked.ask(Round(first.queries, first.share), "mine"), strict=True):
        assert np.array_equal(answer.value, again.value, equal_nan=True)
    assert unspent(asked)[:3] == before
    if case.spends:
        asked.ask(first, "another")
        assert unspent(asked)[:3] != before or name == "chunks"


@EVERY
@pytest.mark.parametrize(
    "wrong",
    [
        "not a round",
        Round([sulq.count(where="nobody")], "1/8"),
        Round([sulq.total("level")], "1/8"),
        Round([sulq.mean(sulq.col("x"), where="x")], "1/8"),
    ],
    ids=["no round", "no column", "no number", "no condition"],
)
def test_a_refusal_reads_no_row_and_spends_nothing(
    name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = oracle(name)
    before = unspent(asked)
    source = getattr(asked, "innermost", asked).source

    def read(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(source, "sums", read)
    monkeypatch.setattr(source, "values", read)
    with pytest.raises(sulq.SulqError):
        asked.ask(wrong)
    for run in (7, "\ud800"):
        with pytest.raises(sulq.SulqError):
            asked.ask(CASES[name].rounds()[0], run)
    assert unspent(asked) == before


@EVERY
def test_what_is_said_beforehand_is_what_comes(name: str) -> None:
    case, asked = CASES[name], oracle(name)
    round_ = case.rounds()[0]
    if not hasattr(asked, "error") or not hasattr(
        asked.oracle if isinstance(asked, Denoised) else asked, "cost"
    ):
        assert not case.spends
        return
    errors, cost, before = asked.error(round_, 0.05), asked.cost(round_), unspent(asked)
    answers = asked.ask(round_)
    if case.spends and before[0] is not None:
        after, was, each = (
            value if isinstance(cost, dict) else {"": value} for value in (asked.spent, before[0], cost)
        )
        assert {name: after[name] - was[name] for name in after} == each
    elif case.spends and before[2] is not None:
        assert before[2] - asked.left == cost
    for error, answer in zip(errors, answers, strict=True):
        if error is not None:
            off = np.max(answer.radius(0.05))
            # What comes across parties is an estimate, from 64 buckets, that has noise of its own: it has a mean of
            # 0.75 and a deviation of 0.11 of what was said. It is above twice that with a chance below 10^-6, as the
            # noise in one bucket of each party would have to be 14 times its scale.
            assert off == pytest.approx(error) or (case.at_most and off <= 2 * error)


@EVERY
def test_a_chance_is_refused_that_is_none_also_where_there_is_no_noise(name: str) -> None:
    case, asked = CASES[name], oracle(name)
    if not hasattr(asked.oracle if isinstance(asked, Denoised) else asked, "error"):
        return
    known = [Round([sulq.count()], case.rounds()[0].share)] if case.by != "tolerance" else []
    before = unspent(asked)
    for round_ in [case.rounds()[0], *known]:
        for beta in (0, 1, 2, -0.5, float("nan"), None, "few"):
            with pytest.raises(sulq.QueryError, match=f"^beta must be .*got '?{beta}'?$"):
                asked.error(round_, beta)
        assert asked.error(round_, "0.05") == asked.error(round_, 0.05)
    assert unspent(asked) == before


@EVERY
def test_it_says_what_it_is(name: str) -> None:
    asked = oracle(name)
    assert set(asked.schema) == set(SCHEMA)
    assert isinstance(asked.promise, str) and asked.promise
