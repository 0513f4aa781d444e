"""A second look at a number alone, and its average."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import sulq
from sulq.learners.attributes_in_bins import attributes
from sulq.learners.coordinates import in_few_bins
from sulq.learners.whereabouts import Whereabouts, average, spread_of
from sulq.talk.answers import Answer

SCHEMA = sulq.Schema({"y": sulq.Real(-5000, 5000), "z": sulq.Boolean()})
ROWS = {"y": np.random.default_rng(0).normal(30, 10, 5000), "z": np.zeros(5000, dtype=bool)}


def blurred() -> Whereabouts:
    """A histogram that is noise alone: seeded, with a standard deviation of 2000 rows."""
    [bins] = attributes(SCHEMA, sulq.col("z"), ["y"], {})
    few = in_few_bins(SCHEMA, bins)
    counts = np.random.default_rng(1).normal(0, 2000, few.size)
    return Whereabouts(SCHEMA, sulq.col("y"), few, 5000.0, counts, 2000.0)


def driven(rounds: Any, oracle: Any) -> tuple[Any, int]:
    """What a generator of rounds returns, and how many rounds it asked."""
    asked = 0
    question = next(rounds)
    while True:
        asked += 1
        try:
            question = rounds.send(oracle.ask(question))
        except StopIteration as stop:
            return stop.value, asked


def test_a_second_look_shows_where_a_number_is() -> None:
    where = blurred()
    assert not where.clear
    [answer] = sulq.open(ROWS, SCHEMA).exact().ask(sulq.Round(where.questions()))
    sharp = where.given([answer])
    assert sharp.clear and sharp.span.high - sharp.span.low < 200


def test_two_looks_count_by_how_little_noise_they_have() -> None:
    where = blurred()
    curator = sulq.open(ROWS, SCHEMA).curator(epsilon="0.01")
    [answer] = curator.ask(sulq.Round(where.questions(), 1))
    both, again = where.given([answer]), float(np.max(answer.deviation))
    assert both.off < min(where.off, again)
    low = np.minimum(where.counts, np.asarray(answer.value)) - 1e-6
    high = np.maximum(where.counts, np.asarray(answer.value)) + 1e-6
    assert ((low <= both.counts) & (both.counts <= high)).all()


def test_the_average_of_exact_answers_is_the_average() -> None:
    exact = sulq.open(ROWS, SCHEMA).exact()
    model, asked = driven(average(blurred(), Fraction(1), 100.0), exact)
    assert asked == 2 and abs(model.intercept - ROWS["y"].mean()) < 0.1


def test_a_histogram_that_noise_would_drown_is_not_asked_for() -> None:
    exact = sulq.open(ROWS, SCHEMA).exact()
    model, asked = driven(average(blurred(), Fraction(1), 1.0), exact)
    assert asked == 1 and abs(model.intercept - ROWS["y"].mean()) < 1


def test_a_blurred_first_look_leads_to_a_second_one_in_linear_regression() -> None:
    """The noise of the first look is stated by its law, which the exact answers of a sure oracle lack."""
    people = sulq.open(ROWS, SCHEMA)
    learner = sulq.LinearRegression("y", ["z"])
    curator = people.curator(epsilon="0.1")
    rounds = learner.rounds(SCHEMA)
    first = next(rounds)
    laws = curator.ask(first)
    clean = [
        Answer(sure.value, noisy.law, sure.axes)
        for sure, noisy in zip(people.exact().ask(first), laws, strict=True)
    ]
    second = rounds.send(clean)
    assert len(second.queries) == 1 and second.queries[0].statistic == "count"


def test_laplace_noise_far_from_all_rows_is_not_taken_for_rows() -> None:
    """40 empty intervals: each seems to have rows once in 600 times if a bell curve's tail is expected.

    Of 300 histograms a twelfth would reach too far then, about 24; by Laplace's tail fewer than 1 of 300.
    """
    schema = sulq.Schema({"y": sulq.Real(0, 1e6)})
    bins = spread_of(schema, sulq.col("y"))
    rng = np.random.default_rng(8)
    wide = {1.0: 0, 0.5: 0}
    for _ in range(300):
        counts = rng.laplace(0, 100 / 2**0.5, bins.size)
        counts[:3] += 10_000
        for power in wide:
            where = Whereabouts(schema, sulq.col("y"), bins, 30_000.0, counts, 100.0, power)
            wide[power] += where.span.high > 10_000
    assert wide[1.0] <= 4 and wide[0.5] > 8
