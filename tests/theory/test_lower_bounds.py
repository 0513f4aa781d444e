"""What statistical queries cannot learn: parity's blind oracle, the masked-parity bound, the SQ dimension."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import sulq
from sulq.theory import (
    MaskBlind,
    ParityBlind,
    concepts_of,
    masked_parity_failure,
    parity_queries,
    sq_dimension,
)
from tests.effort import examples


def parities(bits: int) -> np.ndarray:  # type: ignore[type-arg]
    x = np.array(list(itertools.product([0, 1], repeat=bits)))
    return 1 - 2 * (x @ x.T % 2)


def test_every_answer_of_parity_blind_is_valid() -> None:
    """Within the tolerance of the truth, whatever is asked."""
    oracle = ParityBlind((1, 0, 1, 1))
    truth = oracle._populations[0]
    label, x0, x2 = sulq.col("label"), sulq.col("x0"), sulq.col("x2")
    for value in (label, label & x0, label & ~x2, x0 & x2, sulq.where(label, 0.25, 1)):
        for tolerance in ("0.5", "0.2", "0.01"):
            round_ = sulq.Round([sulq.mean(value, tolerance=tolerance, beta="0.01")])
            [blind], [exact] = oracle.ask(round_), truth.ask(round_)
            assert abs(blind.value - exact.value) <= float(tolerance) + 1e-12
    assert oracle.rounds == oracle.queries == 15


@pytest.mark.parametrize("bits", [3, 4])
def test_only_few_secrets_answer_a_query_otherwise_than_a_coin(bits: int) -> None:
    """Parseval: with values in [−1, 1] at most 1/τ² of all 2^d parities, for whatever query."""
    rng, tolerance = np.random.default_rng(bits), 2 ** (-bits / 3)
    concepts = parities(bits)
    for _ in range(examples(200)):
        query = rng.choice([-1.0, 1.0], 2**bits) if rng.random() < 0.5 else concepts[rng.integers(2**bits)]
        told = np.abs(concepts @ query) / 2**bits > tolerance
        assert told.sum() <= tolerance**-2


@pytest.mark.parametrize("secret", [(1, 0, 1), (1, 1, 1, 1), (0, 1, 1, 0, 1)])
def test_a_learner_by_queries_learns_nothing_from_a_blind_oracle(secret: tuple[int, ...]) -> None:
    """All correlations with a single bit or a pair are left out, but for the parity itself."""
    oracle = ParityBlind(secret)
    label = sulq.col("label")
    names = [f"x{j}" for j in range(len(secret))]
    pairs = [sulq.col(a) & sulq.col(b) for a, b in itertools.combinations(names, 2)]
    answers = oracle.ask(sulq.Round([sulq.mean(label & each) for each in [*map(sulq.col, names), *pairs]]))
    halves = [0.25] * len(names) + [0.125] * len(pairs)
    assert [answer.value for answer in answers] == pytest.approx(halves)
    itself = sulq.parity([sulq.col(name) for name in names], secret)
    [told] = oracle.ask(sulq.Round([sulq.mean(sulq.where(label, itself, ~itself))]))
    assert told.value == 1, "a question that guesses the secret gets the truth"


def test_parity_takes_exponentially_many_queries() -> None:
    """2^(d/3) of tolerance 2^(−d/3), in the paper's round numbers."""
    assert [parity_queries(d, 2 ** (-d / 3)) for d in (3, 30, 60)] == [2, 1024, 2**20]
    assert parity_queries(30, 2**-10, as_printed=True) == 1024
    assert parity_queries(30, 2**-14) == 4, "fine tolerances tell more"
    assert parity_queries(1, 0.5) == 1
    with pytest.raises(sulq.QueryError, match="tolerances of at least"):
        parity_queries(30, 2**-14, as_printed=True)
    with pytest.raises(sulq.QueryError):
        ParityBlind((0, 2))


def test_the_masked_parity_bound_is_computed() -> None:
    """1/2 − t/2^(d/3+2): with 2^(d/3) queries a quarter is left."""
    assert masked_parity_failure(30, 2**10, as_printed=True) == 0.25
    assert masked_parity_failure(30, 2**10) == 0.375
    assert masked_parity_failure(30, 2**20) == masked_parity_failure(30, 2**20, as_printed=True) == 0
    for d, t in itertools.product((2, 16, 64), (1, 50, 10**4)):
        assert masked_parity_failure(d, t) >= masked_parity_failure(d, t, as_printed=True)
        printed = 0.5 - t / 2 ** (d / 3 + 2)
        assert masked_parity_failure(d, t, as_printed=True) == max(0.0, printed)


def test_the_count_behind_the_masked_parity_bound() -> None:
    """On examples with b = 0 a ±1 query correlates by more than τ = 2^(−d/3) with at most 1/4τ² of the c_r."""
    bits, rng = 4, np.random.default_rng(0)
    tau, concepts = 2 ** (-bits / 3), parities(bits)
    for _ in range(examples(200)):
        query = rng.choice([-1.0, 1.0], 2**bits) if rng.random() < 0.5 else concepts[rng.integers(2**bits)]
        correlated = np.abs(concepts @ query) / 2**bits / 2  # half of all examples have b = 0
        assert (correlated > tau).sum() <= 1 / (4 * tau**2)


def test_one_round_errs_on_a_quarter_as_often_as_the_bound_says() -> None:
    """Over all concepts at d = 2 and 4: the learner of one round guesses a, and is wrong half of the time."""
    for d in (2, 4):
        failures = []
        for secret in itertools.product((0, 1), repeat=d):
            for mask in (0, 1):
                rule = sulq.theory.MaskedParity(adaptive=False).learn(MaskBlind(secret, mask))
                domain = sulq.theory.masked_parity_domain(secret, mask)
                wrong = np.asarray(rule.predict(domain)) != np.asarray(domain["label"], dtype=bool)
                failures.append(wrong.mean() >= 0.25)
        assert np.mean(failures) >= masked_parity_failure(d, 2 * d)


def test_the_sq_dimension_of_parities_is_their_number() -> None:
    assert [sq_dimension(parities(bits)) for bits in (1, 2, 3, 4, 6)] == [2, 4, 8, 16, 64]


def test_the_sq_dimension_is_that_of_an_exhaustive_search() -> None:
    rng = np.random.default_rng(1)
    for _ in range(examples(60)):
        concepts = rng.choice([-1, 1], (6, int(rng.integers(2, 9))))
        weights = rng.dirichlet(np.ones(concepts.shape[1]))
        power = float(rng.choice([0.5, 1, 3]))
        correlated = np.abs((concepts * weights) @ concepts.T)
        best = max(
            size
            for size in range(1, 7)
            for some in itertools.combinations(range(6), size)
            if all(correlated[i, j] <= size**-power + 1e-12 for i, j in itertools.combinations(some, 2))
        )
        assert sq_dimension(concepts, weights.tolist(), power) == best


def test_classes_have_their_concepts() -> None:
    schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "y")})
    table = concepts_of(sulq.classes.Parities(), schema, "y")
    assert sorted(map(tuple, table.tolist())) == sorted(map(tuple, (-parities(2)).tolist()))
    assert sq_dimension(concepts_of(sulq.classes.Conjunctions(), schema, sulq.col("y"))) >= 2
    numbers = sulq.Schema({"a": sulq.Real(0, 1), "y": sulq.Boolean()})
    with pytest.raises(sulq.QueryError, match="boolean columns"):
        concepts_of(sulq.classes.Stumps(edges={"a": [0.5]}), numbers, "y")


@pytest.mark.parametrize(
    "concepts",
    [[], [[1, 0]], [1, -1], [[]], [[1] * 2] * 600, [[1, -1], [1]], [["a"]], "ab", sulq.classes.Parities()],
)
def test_what_are_no_concepts_is_refused(concepts: object) -> None:
    with pytest.raises(sulq.QueryError):
        sq_dimension(concepts)
    for weights in ([0.5, math.pi], ["a", "b"], [1], [[0.5, 0.5]], 1, [math.nan] * 2):
        with pytest.raises(sulq.QueryError, match="add up to 1"):
            sq_dimension([[1, -1]], weights)  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="power must be a positive"):
        sq_dimension([[1, -1]], power=0)
