"""Masked parity: two rounds learn it from any valid answers, and one round cannot learn the mask."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import sulq

MANNERS = ["high", "low", "random", "coarse"]


def domain(secret: tuple[int, ...], mask: int) -> sulq.Source:
    return sulq.open(
        sulq.theory.masked_parity_domain(secret, mask), sulq.theory.masked_parity_schema(len(secret))
    )


def test_the_domain_has_every_example_once_labelled_by_the_concept() -> None:
    rows = sulq.theory.masked_parity_domain((1, 0), 1)
    examples = set(zip(*(rows[name].tolist() for name in ("x0", "x1", "index", "switch")), strict=True))
    assert len(examples) == len(rows["label"]) == 2 * 2 * 4
    for x0, _x1, i, b, y in zip(*(rows[name].tolist() for name in rows), strict=True):
        assert y == (bool((1, 0)[i]) if b else bool(x0 ^ True))


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("paper", [False, True])
def test_no_answers_within_tolerance_make_it_miss(manner: Any, paper: bool) -> None:
    for secret, mask in itertools.product(itertools.product((0, 1), repeat=3), (0, 1)):
        for seed in range(4 if manner == "random" else 1):
            oracle = sulq.theory.Adversary(domain(secret, mask), manner, seed)
            rule = sulq.theory.MaskedParity(paper=paper).learn(oracle)
            assert (rule.secret, rule.mask) == (secret, mask)


def test_a_larger_tolerance_than_stated_would_be_a_mistake() -> None:
    """The adversary is not toothless: at five times its tolerance the learner is misled."""

    class Careless(sulq.theory.MaskedParity):
        def tolerance(self, d: int) -> Any:
            return 5 * super().tolerance(d)

    secret, mask = (1, 0, 1), 1
    found = [
        Careless().learn(sulq.theory.Adversary(domain(secret, mask), "random", seed)).secret
        for seed in range(20)
    ]
    assert any(other != secret for other in found)


def test_it_asks_two_rounds_and_as_many_queries_as_the_paper() -> None:
    oracle = domain((1, 1, 0, 1), 0).exact()
    sulq.theory.MaskedParity(paper=True).learn(oracle)
    assert (oracle.rounds, oracle.queries) == (2, 4 + 1)
    oracle = domain((1, 1, 0, 1), 0).exact()
    sulq.theory.MaskedParity().learn(oracle)
    assert (oracle.rounds, oracle.queries) == (2, 2)


@pytest.mark.parametrize("mask", [0, 1])
def test_one_round_is_wrong_of_a_quarter(mask: int) -> None:
    secret = (1, 0, 1, 1)
    rule = sulq.theory.MaskedParity(adaptive=False).learn(domain(secret, mask).exact())
    rows = sulq.theory.masked_parity_domain(secret, mask)
    assert np.mean(rule.predict(rows) != rows["label"]) == 1 / 4


def test_the_blind_oracle_is_valid_and_says_the_same_for_both_masks() -> None:
    """Theorem 5.16: of nonadaptive questions only those about the parity of r itself get the truth."""
    secret = (1, 0, 1, 1, 0, 1)
    bits, label = [sulq.col(f"x{j}") for j in range(6)], sulq.col("label")
    rng = np.random.default_rng(0)
    guesses = [tuple(rng.integers(0, 2, 6).tolist()) for _ in range(20)]
    asked = sulq.Round(
        [sulq.mean((label != sulq.parity(bits, guess)) & ~sulq.col("switch")) for guess in guesses]
        + [sulq.mean(label, where=bits[0] & bits[3]), sulq.count(where=label, by="index")]
    )
    blind = [sulq.theory.MaskBlind(secret, mask).ask(asked) for mask in (0, 1)]
    for mask in (0, 1):
        truth = domain(secret, mask).exact().ask(asked)
        for own, true in zip(blind[mask], truth, strict=True):
            assert np.all(np.abs(own.value - true.value) <= own.radius(1e-9))
    assert secret not in guesses
    for one, other in zip(*blind, strict=True):
        np.testing.assert_array_equal(one.value, other.value)


@pytest.mark.parametrize("mask", [0, 1])
def test_one_round_against_the_blind_oracle_is_wrong_of_a_quarter(mask: int) -> None:
    """d = 16: all 2,097,152 examples. Nothing in the answers tells the mask, and nothing is learned of it."""
    secret = tuple(np.random.default_rng(mask).integers(0, 2, 16).tolist())
    rule = sulq.theory.MaskedParity(adaptive=False).learn(sulq.theory.MaskBlind(secret, mask))
    assert (rule.secret, rule.mask) == (secret, None)
    rows = sulq.theory.masked_parity_domain(secret, mask)
    assert np.mean(rule.predict(rows) != rows["label"]) == 1 / 4


def test_answers_searched_for_do_no_more_harm_than_the_proof_allows() -> None:
    people = domain((1, 0, 1), 1)
    loss, rule = sulq.theory.worst_answers(
        sulq.theory.MaskedParity(), people, lambda own: float(own.secret != (1, 0, 1))
    )
    assert (loss, rule.mask) == (0.0, 1)


def test_the_blind_oracle_tells_the_truth_to_who_knows_the_secret() -> None:
    for mask in (0, 1):
        rule = sulq.theory.MaskedParity().learn(sulq.theory.MaskBlind((1, 0, 1, 1, 0, 1), mask))
        assert rule.mask == mask


def test_the_paper_s_first_round_needs_a_uniform_index_and_ours_does_not() -> None:
    rows = sulq.theory.masked_parity_domain((1, 1, 0), 0)
    often = rows["index"] != 1
    some = {name: np.r_[np.repeat(column[often], 40), column] for name, column in rows.items()}
    people = sulq.open(some, sulq.theory.masked_parity_schema(3))
    assert sulq.theory.MaskedParity(paper=True).learn(people.exact()).secret != (1, 1, 0)
    assert sulq.theory.MaskedParity().learn(people.exact()).secret == (1, 1, 0)


def test_under_a_curator_and_as_text() -> None:
    rows = sulq.theory.masked_parity_rows((1, 0, 0, 1), 1, 20_000, np.random.default_rng(0))
    people = sulq.open(rows, sulq.theory.masked_parity_schema(4))
    rule = sulq.theory.MaskedParity(confidence="0.9999999").learn(people.curator(epsilon=1))
    assert (rule.secret, rule.mask) == ((1, 0, 0, 1), 1)
    assert np.array_equal(rule.predict(rows), rows["label"])
    assert sulq.theory.MaskedParityRule.from_json(rule.to_json()) == rule


@pytest.mark.parametrize("secret", [(), (1, 2), "10", 3, None], ids=repr)
def test_what_is_no_secret_is_refused(secret: Any) -> None:
    rng = np.random.default_rng(0)
    for make in (
        lambda: sulq.theory.MaskBlind(secret, 0),
        lambda: sulq.theory.ParityBlind(secret),
        lambda: sulq.theory.masked_parity_domain(secret, 0),
        lambda: sulq.theory.masked_parity_rows(secret, 0, 9, rng),
    ):
        with pytest.raises(sulq.QueryError, match="zeros and ones"):
            make()
    with pytest.raises(sulq.QueryError, match="a mask is 0 or 1"):
        sulq.theory.MaskBlind((1, 0), 2)


def test_bad_input_is_refused() -> None:
    schema = sulq.theory.masked_parity_schema(4)
    for learner, said in [
        (sulq.theory.MaskedParity(bits=["x0", "x1"]), "integer column from 0 to 1"),
        (sulq.theory.MaskedParity(bits=["x0", "x0", "x1", "x2"]), "named twice"),
        (sulq.theory.MaskedParity(bits="x0"), "list of columns"),
        (sulq.theory.MaskedParity(index="x0"), "boolean"),
        (sulq.theory.MaskedParity(confidence=1), "less than 1"),
        (sulq.theory.MaskedParity(label="nothing"), "nothing"),
        (sulq.theory.MaskedParity(adaptive="no"), "adaptive must be True or False"),  # type: ignore[arg-type]
        (sulq.theory.MaskedParity(paper=1), "paper must be True or False"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(sulq.SulqError, match=said):
            next(learner.rounds(schema))
