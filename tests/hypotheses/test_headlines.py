"""What reports begin with: a sentence about what was learned, and what of it noise could have made."""

from __future__ import annotations

from typing import Any

import pytest

import sulq
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.effect import Effect


def model(*sizes: float) -> AdditiveModel:
    """A model of as many columns, whose effects have these sizes and error bars of 0.196."""
    names = [f"c{place}" for place in range(len(sizes))]
    schema = sulq.Schema({name: sulq.Boolean() for name in [*names, "sick"]})
    effects = tuple(
        Effect(sulq.col(name), (0.5, 0.5), ((-size,), (size,)), ((0.1,), (0.1,)))
        for name, size in zip(names, sizes, strict=True)
    )
    return AdditiveModel(schema, None, sulq.col("sick"), (0.0,), effects)


@pytest.mark.parametrize(
    ("sizes", "headline", "doubts"),
    [
        ((1, 2), "sick is told by c1 and c0.", ()),
        ((1, 0.1), "sick is told by c0.", ("The effect of c1 is within the noise.",)),
        (
            (0.1, 0.15),
            "sick is told by no column that can be told from noise.",
            ("The effects of c1 and c0 are within the noise.",),
        ),
        ((), "sick is told by no column that can be told from noise.", ()),
        ((5, 4, 3, 2, 1), "sick is told by c0, c1, c2, c3 and 1 other column.", ()),
        ((6, 5, 4, 3, 2, 1), "sick is told by c0, c1, c2, c3 and 2 other columns.", ()),
    ],
)
def test_an_additive_model_says_which_columns_tell_the_label(
    sizes: tuple[float, ...], headline: str, doubts: tuple[str, ...]
) -> None:
    made = model(*sizes)
    assert (made.headline, made.doubts) == (headline, doubts)


def test_every_headline_is_a_sentence() -> None:
    """It ends in a stop, and not in the middle of a list."""
    people = sulq.randhie()
    columns = ["age", "sex", "plan", "doctor_visits"]
    learners: list[Any] = [
        sulq.ID3("bought_drugs", columns, depth=1),
        sulq.Additive("bought_drugs", columns),
        sulq.Additive("doctor_visits", columns[:3]),
        sulq.NaiveBayes("bought_drugs", columns),
        sulq.LinearRegression("doctor_visits", columns[:3]),
        sulq.LogisticRegression("bought_drugs", columns),
        sulq.DecisionList("bought_drugs", columns, length=1),
        sulq.Perceptron("bought_drugs", ["age", "doctor_visits"]),
        sulq.KMeans(2, ["age", "income"]),
        sulq.PCA(1, ["age", "income"]),
        sulq.Pairs(columns),
        sulq.Table(["plan"]),
    ]
    made = [learner.learn(people.curator(epsilon=4, delta="1e-6")) for learner in learners]
    release = sulq.Pairs([*columns, "bought_drugs"]).learn(people.curator(epsilon=4, delta="1e-6"))
    made += [release.tree("plan"), release.naive_bayes("plan"), release.linear("age")]
    for hypothesis in made:
        assert hypothesis.headline.endswith("."), type(hypothesis)
        assert "1 rules" not in hypothesis.headline


def test_a_release_says_which_columns_go_together_most() -> None:
    """Two equal columns of 4,000 rows and one of coins. At ε = 1,000 noise is below a row but for a chance of e^-100."""
    rows = {"a": [0, 1] * 2000, "b": [0, 1] * 2000, "coin": [0, 0, 1, 1] * 1000}
    people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    release = sulq.Pairs(list(rows)).learn(people.curator(epsilon=1000))
    assert release.headline.endswith(" a and b go together most.")
    assert release.headline.startswith("3 tables of two of 3 columns")
