"""Plans: the number that is left, twice; and what is said of requests that nobody can meet."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sulq
from sulq.plans.models import Model
from sulq.plans.plan import plan
from sulq.talk.row_questions import PublicFacts

TWENTY = sulq.Schema({name: sulq.Boolean() for name in [*(f"x{j}" for j in range(20)), "y"]})
FOUR = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "c", "d", "y")})
RULE = sulq.Conjunction("y")
MASKED = sulq.theory.MaskedParity()
MASKED_SCHEMA = sulq.theory.masked_parity_schema(8)
MODELS: list[Model] = ["sample", "curator", "crowd"]


def epsilon_of(model: Model) -> int | None:
    return None if model == "sample" else 1


def test_tight_is_at_most_a_tenth_of_the_papers_bound_for_conjunctions_of_twenty() -> None:
    rows = plan(RULE, TWENTY, error=0.1, confidence=0.95, epsilon=1).rows
    assert rows.paper is not None and rows.tight is not None
    assert rows.tight <= rows.paper / 10
    assert rows.ratio is not None and rows.ratio > 500


@pytest.mark.parametrize("rate", [0, Fraction(1, 5)])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("learner", "schema"), [(RULE, FOUR), (MASKED, MASKED_SCHEMA)])
def test_rows_error_confidence_and_epsilon_hang_together(
    learner: Any, schema: sulq.Schema, model: Model, rate: Any
) -> None:
    """With the planned rows the error, the confidence and the ε are what they were planned for, or a little better."""
    there = {"model": model, "noise_rate": rate}
    first = plan(learner, schema, epsilon=epsilon_of(model), **there)
    assert first.rows.tight is not None and first.rows.paper is not None
    assert first.rows.tight < first.rows.paper
    rows = int(first.rows.tight)
    back = plan(learner, schema, epsilon=epsilon_of(model), rows=rows, **there)
    if learner is RULE:
        assert 0.097 <= (back.error.tight or 0) <= 0.1
        assert back.error.paper is None or back.error.paper > 0.1
    else:
        assert 0.95 <= (back.confidence.tight or 0) <= 0.953
    if model != "sample":
        smallest = plan(learner, schema, rows=rows, **there).epsilon
        assert smallest.tight is not None
        assert int(plan(learner, schema, epsilon=smallest.tight, **there).rows.tight or 0) <= rows
        # Where wrong labels are what makes it hard, Chernoff's bound has room for noise. What a curator's noise may
        # add is a whole number of violations: a little more noise may move it by one, and be better.
        near = model == "crowd" or not rate
        whole = learner is RULE and model == "curator"
        assert (0.7 if near and whole else 0.985 if near else 0.1) <= smallest.tight <= 1
    with pytest.raises(sulq.QueryError, match="too few"):
        asked = {"error": 0.1} if learner is RULE else {"confidence": 0.95}
        plan(learner, schema, epsilon=epsilon_of(model), rows=rows - 3, **asked, **there)


def test_more_is_asked_for_more_rows_are_needed() -> None:
    def rows(**asked: Any) -> float:
        return plan(RULE, FOUR, **({"epsilon": 1} | asked)).rows.tight or 0

    usual = rows()
    assert rows(error=0.05) > usual > rows(error=0.2)
    assert rows(confidence=0.999) > usual > rows(confidence=0.5)
    assert rows(epsilon=0.1) > usual > rows(epsilon=10)
    assert rows(noise_rate=0.4) > rows(noise_rate=0.1) > usual
    assert rows(model="crowd") > usual
    assert plan(RULE, FOUR, model="sample").rows.tight < usual  # type: ignore[operator]
    assert plan(RULE, FOUR, model="exact").rows.tight == 1
    flipped, drawn = (plan(RULE, FOUR, model=model, noise_rate=0.1).rows for model in ("exact", "sample"))  # type: ignore[arg-type]
    assert flipped == drawn, "which labels are wrong is up to chance, also where the rows are not"


def test_a_plan_says_what_it_rests_on_and_what_to_run() -> None:
    found = plan(RULE, FOUR, epsilon=1, model="crowd", noise_rate=0.3)
    assert found.theorem == "Theorem 5, Theorem 8 (lecture notes); Theorem 5.7 (full paper)"
    assert found.oracle == "source.crowd(epsilon=1).denoised('y', 0.3)"
    assert (found.rounds, found.queries, found.tolerances) == (1, 4, (0.0125,) * 4)
    assert found.learner.share == 1
    masked = plan(MASKED, MASKED_SCHEMA, epsilon=1)
    assert (masked.rounds, masked.queries) == (2, 9)
    assert masked.tolerances == (1 / 33,) * 8 + (0.2,)
    assert masked.covered and "whenever the first answers" in masked.reuse
    assert plan(sulq.theory.MaskedParity(adaptive=False), MASKED_SCHEMA, epsilon=1).rounds == 1
    single = plan(sulq.theory.MaskedParity(paper=True), MASKED_SCHEMA, epsilon=1)
    assert single.rows.tight is not None and single.rows.tight > (masked.rows.tight or 0)


def test_parity_and_selection_have_plans_of_their_own() -> None:
    parity = plan(sulq.Parity("y"), TWENTY, epsilon=1)
    assert parity.rows.tight == sulq.classes.sizes.parity_rows(20, 0.1, 0.05, 1.0)
    assert plan(sulq.Parity("y"), TWENTY, epsilon=1, rows=10_000).error.tight < 0.03  # type: ignore[operator]
    chosen = plan(sulq.Select(sulq.classes.MonotoneConjunctions(), "y"), FOUR, epsilon=1, error=0.05)
    assert chosen.rows.tight == sulq.classes.sizes.occam_rows(2**4, 0.05, 0.05, 1.0)
    assert chosen.rows.paper is not None and chosen.rows.paper > chosen.rows.tight
    listed = plan(sulq.Select(["a", "b"], "y"), FOUR, epsilon=1, error=0.05)
    assert listed.rows.tight == sulq.classes.sizes.occam_rows(2, 0.05, 0.05, 1.0)
    for refused in ({"model": "crowd"}, {"noise_rate": 0.1}):
        with pytest.raises(sulq.QueryError, match="trusted curator"):
            plan(sulq.Parity("y"), FOUR, epsilon=1, **refused)  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="state the error"):
        plan(sulq.Select(["a", "b"], "y"), FOUR, epsilon=1)


def test_a_learner_without_a_theorem_is_rehearsed_and_that_is_an_estimate() -> None:
    found = plan(sulq.ID3("y", depth=2), FOUR, rows=5_000, epsilon=1)
    assert found.estimate and not found.covered
    assert found.rehearsal is not None and found.rehearsal.rounds
    assert found.rounds == len(found.rehearsal.rounds)
    assert found.epsilon.tight == 1
    for missing in ({"epsilon": 1}, {"rows": 10}, {"epsilon": 1, "rows": 10, "error": 0.1}):
        with pytest.raises(sulq.QueryError, match="no theorem"):
            plan(sulq.ID3("y"), FOUR, **missing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": 1, "error": 0}, r"error must lie .* an error of 0.01 at ε = 1 .* takes [\d,]+ rows"),
        (
            {"epsilon": 1, "confidence": 1},
            r"confidence must lie .* with confidence 0.999999 takes [\d,]+ rows",
        ),
        ({"epsilon": 0}, r"at 0 nothing can be learned; .* at ε = 0.1 .* takes [\d,]+ rows"),
        ({"epsilon": 1, "noise_rate": "1/2"}, r"say nothing.*; at a rate of 0.4, .* takes [\d,]+ rows"),
        ({"epsilon": 1, "noise_rate": 0.7}, r"the opposite; at a rate of 0.4"),
        (
            {"epsilon": 1, "rows": 800, "error": 0.1},
            r"800 rows are too few: .*; with 800 rows, ε = 1.\d+ is possible",
        ),
        (
            {"epsilon": 1, "rows": 500, "error": 0.1},
            r"with 500 rows, an error of [\d.]+ at ε = 1 is possible",
        ),
        (
            {"epsilon": 1, "rows": 20_000, "error": 0},
            r"with 20,000 rows, an error of 0.00\d+ at ε = 1 is poss",
        ),
        ({"rows": 10}, r"10 rows are too few: .* takes [\d,]+ rows"),
        ({"rows": 10, "epsilon": 1}, r"10 rows are too few: an error of 0.1 at ε = 1 .* takes [\d,]+ rows"),
        ({}, "state epsilon"),
        ({"rows": 0, "epsilon": 1}, "rows must be"),
        ({"rows": 10**400}, "rows must be a whole number from 1 to 1125899906842624"),
        ({"epsilon": "much"}, "epsilon must be a number"),
        ({"model": "sample", "epsilon": 1}, "leave epsilon out"),
        ({"model": "oracle"}, "the model is one of"),
        ({"epsilon": 1, "error": "1e-14"}, "more than 2\\^50 rows"),
    ],
)
def test_impossible_requests_are_told_what_is_possible(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(sulq.QueryError, match=said):
        plan(RULE, FOUR, **asked)


def test_masked_parity_has_no_error_to_trade() -> None:
    with pytest.raises(sulq.QueryError, match="learned exactly"):
        plan(MASKED, MASKED_SCHEMA, epsilon=1, error=0.1)
    with pytest.raises(sulq.QueryError, match=r"50 rows are too few: learning it exactly at ε = 1 .* rows"):
        plan(MASKED, MASKED_SCHEMA, epsilon=1, rows=50)


def test_what_the_theorems_do_not_speak_of_is_refused() -> None:
    several = sulq.Schema(dict(FOUR.items()), sulq.Unit("person", rows=2))
    with pytest.raises(sulq.QueryError, match="several rows"):
        plan(RULE, several, epsilon=1)
    with pytest.raises(sulq.QueryError, match="must be a column"):
        plan(sulq.Conjunction(sulq.col("a") & sulq.col("b"), ["c"]), FOUR, epsilon=1, noise_rate=0.1)
    with pytest.raises(sulq.QueryError, match="for a learner"):
        plan("tree", FOUR, epsilon=1)


def test_a_plan_for_compression_is_what_a_run_takes() -> None:
    """With so many rows all classes have their rounds, and with one less the last has none."""
    schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "c", "y")})
    classes = [sulq.classes.Conjunctions(["a"]), sulq.classes.Conjunctions(["a", "b", "c"])]
    learner = sulq.Compress(classes, "y")
    planned = sulq.plan(learner, schema, epsilon=1)
    assert planned.rows.tight is not None and planned.rows.paper is not None
    assert planned.rows.tight < planned.rows.paper
    question = planned.learner.question(schema)
    for rows, rounds in ((planned.rows.tight, 2), (planned.rows.tight - 1, 1)):
        facts = PublicFacts(schema, rows=int(rows))
        assert len(question.plan(facts, Fraction(1))) == rounds
    assert planned.theorem == "Theorem 3.4 and the end of section 3.1 (full paper)"
    assert sulq.plan(learner, schema, rows=10**5).epsilon.tight < 1
    assert sulq.plan(learner, schema, rows=10**5, epsilon=1).error.tight < 0.1
    with pytest.raises(sulq.QueryError, match="only a trusted curator can run it"):
        sulq.plan(learner, schema, epsilon=1, model="crowd")
    for none in ([], classes[0]):
        with pytest.raises(sulq.QueryError, match="nothing to choose from"):
            sulq.plan(sulq.Compress(none, "y"), schema, epsilon=1)  # type: ignore[arg-type]


EXTREMES = ("1e-400", "1e-300", "1e-50", "0.4999999999999999999", "0.9999999999999999999", "1e300", "1e999")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", ["sample", "curator", "crowd"])
@pytest.mark.parametrize("name", ["error", "confidence", "epsilon", "noise_rate"])
def test_extreme_numbers_have_a_plan_or_a_refusal(name: str, model: Model) -> None:
    schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "flu")})
    private = {"epsilon": 1} if model != "sample" else {}
    for number in EXTREMES:
        for rows in (None, 100_000):
            for known in ({"error": 0.1}, {"error": 0.1, "confidence": 0.9}):
                try:
                    plan(
                        sulq.Conjunction("flu"),
                        schema,
                        rows=rows,
                        model=model,
                        **{**private, **known, name: number},  # type: ignore[arg-type]
                    )
                except sulq.QueryError as refusal:
                    assert len(str(refusal).splitlines()) == 1


@pytest.mark.parametrize(
    ("learner", "settings", "said"),
    [
        (sulq.Conjunction("flu"), {"error": "1e500"}, "beyond the range of floats"),
        (sulq.Conjunction("flu"), {"noise_rate": "0.4999999999999999999"}, "beyond the range of floats"),
        (
            sulq.Conjunction("flu"),
            {"error": "1e-300", "calibration": "sulq-laplace", "queries": 500, "rows": 10**5},
            "beyond the range of floats",
        ),
    ],
)
def test_what_floats_cannot_hold_is_refused_in_a_line(learner: Any, settings: Any, said: str) -> None:
    schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "flu")})
    with pytest.raises(sulq.QueryError, match=said):
        plan(learner, schema, epsilon=1, **settings)


def test_one_row_is_no_rows() -> None:
    schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "flu")})
    with pytest.raises(sulq.QueryError, match=r"^1 row is too few: .* takes [0-9,]+ rows$"):
        plan(sulq.Conjunction("flu"), schema, rows=1, epsilon=1, error=0.01)
