"""Given the same answers, every learner asks the same questions and learns the same as it always did.

The answers are exact, or exact ones bent by a fixed recipe. A question is known by what it comes to over the
rows, and not by how it is written down. The digests below were taken before the learners were rewritten; those of
trees were taken anew when trees began to keep all their ends, and those of trees that choose when a count of the
labels began to come before the first choice. Those of all trees were taken once more when the number of rows was asked
for beside the labels, when an end began to need more than noise to leave the label of the node above, and when
that began to depend on how far this label is ahead there, and rows that may be too few were counted again;
those of centres when k-means began to ask for the number of rows, and when its grid got at most 8^d cells for each
cluster; those of components when more noise than before
began to be taken for noise in how long rows are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.learners.learner import Learner
from sulq.local.tails import Bounded
from sulq.queries.choose import Choice
from sulq.queries.node import Node
from sulq.talk.answers import Answer
from sulq.talk.law_forms import Law
from sulq.talk.laws import Averaged, Noise
from sulq.wire import digest


@dataclass
class Bent:
    """Exact answers, bent the same way whenever the same rounds are asked; and a record of what was asked."""

    source: sulq.Source
    family: str = "exact"
    amount: int = 1
    record: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    promise: str = "none: bent answers"

    @property
    def schema(self) -> sulq.Schema:
        return self.source.schema

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Answer]:
        recipe = random.Random(len(self.record))
        exact = self.source.exact()
        self.keys.append(round_.key)
        self.record.append(f"{round_.share}")
        answers = []
        for query, answer in zip(round_.queries, exact.ask(round_), strict=True):
            shape = query.shape(self.source.scope)
            sums = [total.tolist() for total in self.source.sums(query.parts)]
            terms = [query.weight, getattr(query, "tolerance", None), getattr(query, "beta", None)]
            kind = "choice" if isinstance(query, Choice) else query.statistic
            self.record.append(f"{kind} {shape} {' '.join(map(str, terms))} {sums}")
            answers.append(self._bent(query, answer, (round_.share or Fraction(1)) * query.weight, recipe))
        return answers

    def _bent(self, query: Any, answer: Answer, paid: Fraction, recipe: random.Random) -> Answer:
        if self.family == "exact":
            return answer
        exact = np.asarray(answer.value)
        bends = np.reshape([recipe.random() for _ in range(exact.size)], exact.shape)
        if isinstance(query, Choice):
            moved = (exact + (bends < 0.2)) % len(query.candidates)
            return Answer(int(moved) if moved.ndim == 0 else moved, answer.law, answer.axes)
        law = self._law(paid, exact.size)
        steps = 1 if query.statistic == "count" else 2**10
        bent = exact + np.rint((4 * bends - 2) * law.deviation * steps) / steps
        return Answer(float(bent) if bent.ndim == 0 else bent, law, answer.axes)

    def _law(self, paid: Fraction, numbers: int) -> Law:
        if self.family == "laplace":
            return Noise("laplace", self.amount / paid, Fraction(1), numbers)
        if self.family == "gaussian":
            return Noise("gaussian", self.amount**2 / paid, Fraction(1), numbers)
        people = max(1, int(10_000 * paid))
        return Averaged(Bounded((0.25,), (1,), above=0.5, below=0.5, span=1.0), people, 200.0 * self.amount)


def numbers(thing: Any) -> Iterator[str]:
    """All numbers and texts in a hypothesis, but for expressions; as far as machines agree on them.

    Error bars, which hypotheses did not have at first, have defaults and are left out.
    """
    if isinstance(thing, float):
        yield f"{thing:.9g}"
    elif isinstance(thing, Node | sulq.Schema | sulq.hypotheses.Origin | None):
        return
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from numbers(each)
    elif is_dataclass(thing):
        for each in fields(thing):
            if not isinstance(thing, sulq.Hypothesis) or each.default is MISSING:
                yield from numbers(getattr(thing, each.name))
    else:
        yield str(thing)


@cache
def mixed() -> sulq.Source:
    draw = random.Random(1)
    rows: dict[str, list[Any]] = {name: [] for name in ("idle", "colour", "old", "weight", "pay", "y", "z")}
    for _ in range(900):
        colour, old = draw.choice(["red", "green", "blue"]), draw.random() < 0.5
        weight, pay = draw.randrange(400) / 4, int(2 ** (12 * draw.random()))
        y = (colour == "red" and old) or (colour == "blue" and weight >= 50) or draw.random() < 0.1
        z = "u" if y else "v" if pay > 100 else "w"
        row = (draw.random() < 0.5, colour, old, weight, pay, y, z)
        for name, value in zip(rows, row, strict=True):
            rows[name].append(value)
    kinds = {
        "idle": sulq.Boolean(),
        "colour": sulq.Category(["red", "green", "blue"]),
        "old": sulq.Boolean(),
        "weight": sulq.Real(0, 100),
        "pay": sulq.Integer(0, 5000),
        "y": sulq.Boolean(),
        "z": sulq.Category(["u", "v", "w"], missing="u"),
    }
    return sulq.open(rows, kinds)


@cache
def many() -> sulq.Source:
    """Sixteen boolean columns, of which sets of three are too many to compare."""
    draw = random.Random(2)
    bits = [[draw.random() < 0.5 for _ in range(16)] for _ in range(800)]
    labels = ["n" if not row[0] else "u" if row[3] != row[7] else "v" for row in bits]
    rows = {f"x{i}": [row[i] for row in bits] for i in range(16)} | {"y": labels}
    kinds = {f"x{i}": sulq.Boolean() for i in range(16)}
    return sulq.open(rows, kinds | {"y": sulq.Category(["n", "u", "v"], missing="n")})


@cache
def cloud(columns: int) -> sulq.Source:
    """Points around four places."""
    draw = random.Random(3)
    places = [[draw.uniform(-0.8, 0.8) for _ in range(columns)] for _ in range(4)]
    points = [
        [min(1, max(-1, x + draw.uniform(-0.1, 0.1))) for x in draw.choice(places)] for _ in range(1200)
    ]
    rows: dict[str, Any] = {f"x{i}": [point[i] for point in points] for i in range(columns)}
    rows["right"] = [(point[0] + point[-1] / 2 > 0.1) ^ (draw.random() < 0.1) for point in points]
    return sulq.open(rows, {f"x{i}": sulq.Real(-1, 1) for i in range(columns)} | {"right": sulq.Boolean()})


@cache
def bits() -> sulq.Source:
    draw = random.Random(4)
    rows: dict[str, list[bool]] = {name: [draw.random() < 0.7 for _ in range(700)] for name in "abcde"}
    rows["y"] = [a and b for a, b in zip(rows["a"], rows["b"], strict=True)]
    return sulq.open(rows, {name: sulq.Boolean() for name in rows})


@cache
def masked() -> sulq.Source:
    draw = random.Random(5)
    secret, rows = (1, 0, 1), []
    for _ in range(900):
        row, index, switch = [draw.random() < 0.5 for _ in secret], draw.randrange(3), draw.random() < 0.5
        odd = sum(bit for bit, one in zip(row, secret, strict=True) if one) % 2 == 1
        rows.append([*row, index, switch, bool(secret[index]) if switch else not odd])
    schema = sulq.theory.masked_parity_schema(3)
    return sulq.open(dict(zip(schema.attributes, map(list, zip(*rows, strict=True)), strict=True)), schema)


PLAIN = ["idle", "colour", "old", "weight", "pay"]
CASES: dict[str, tuple[Callable[[], sulq.Source], Learner[Any]]] = {
    "tree": (mixed, sulq.ID3("y", features=PLAIN)),
    "tree, a share": (mixed, sulq.ID3("z", share="1/3", prune=0)),
    "tree, counts": (mixed, sulq.ID3("y", pick="counts", features=PLAIN)),
    "tree, counts, binary": (mixed, sulq.ID3("y", pick="counts", split="binary", depth=3)),
    "tree, multiway": (mixed, sulq.ID3("z", split="multiway", features=["colour", "old", "idle", "pay"])),
    "tree, multiway, depth 3": (mixed, sulq.ID3("y", PLAIN, split="multiway", depth=3)),
    "tree, multiway, depth 2": (mixed, sulq.ID3("y", split="multiway", depth=2)),
    "tree, two ahead": (mixed, sulq.ID3("z", ahead=2, depth=5, features=["old", "pay", "idle"])),
    "tree, two ahead, multiway": (mixed, sulq.ID3("z", ahead=2, split="multiway")),
    "tree, edges": (mixed, sulq.ID3("y", bins={"weight": [20, 50, 70]}, depth=4)),
    "tree, an expression": (mixed, sulq.ID3(sulq.col("weight") >= 30, features=["old", "colour", "pay"])),
    "tree, no depth": (mixed, sulq.ID3("colour", depth=0)),
    "tree, many columns": (many, sulq.ID3("y")),
    "tree, many columns, a share": (many, sulq.ID3("y", share=0.5, depth=3)),
    "tree, many columns, deeper": (many, sulq.ID3("y", depth=5)),
    "centres": (lambda: cloud(2), sulq.KMeans(4)),
    "centres, one column": (lambda: cloud(2), sulq.KMeans(3, features=["x1"], iterations=1)),
    "centres, a share": (lambda: cloud(3), sulq.KMeans(4, iterations=5, share="1/3")),
    "centres, many columns": (lambda: cloud(9), sulq.KMeans(4, iterations=3)),
    "components": (lambda: cloud(5), sulq.SVD(2)),
    "components, a norm": (lambda: cloud(5), sulq.SVD(3, norm=1, share=0.5)),
    "principal components": (lambda: cloud(5), sulq.PCA(2)),
    "principal components, a norm": (lambda: cloud(5), sulq.PCA(1, norm=0.5, mean_share=0.3)),
    "halfspace": (lambda: cloud(3), sulq.Perceptron("right", norm=None)),
    "halfspace, last": (lambda: cloud(3), sulq.Perceptron("right", keep="last", iterations=4, norm=None)),
    "halfspace, average": (lambda: cloud(3), sulq.Perceptron("right", keep="average", share=0.5, norm=None)),
    "conjunction": (bits, sulq.Conjunction("y", share=1)),
    "conjunction, negations": (bits, sulq.Conjunction("y", negations=True, features=["a", "c"])),
    "masked parity": (masked, sulq.theory.MaskedParity(share=1)),
    "masked parity, the paper's": (masked, sulq.theory.MaskedParity(paper=True)),
    "masked parity, one round": (masked, sulq.theory.MaskedParity(adaptive=False)),
}
ANSWERS = {
    "exact": ("exact", 0),
    "laplace": ("laplace", 1),
    "much laplace": ("laplace", 40),
    "gaussian": ("gaussian", 3),
    "crowd": ("averaged", 1),
}
DIGESTS = {
    "tree": "8af29071486275f0",
    "tree, a share": "9c1ced7c95ed8f44",
    "tree, counts": "4573fa205117cfa2",
    "tree, counts, binary": "3b136bfb2800fe2c",
    "tree, multiway": "95f075d531c21744",
    "tree, multiway, depth 3": "00ad8ecbaac9b75c",
    "tree, multiway, depth 2": "b7fe183263cb652a",
    "tree, two ahead": "9777a0ba44fc8b67",
    "tree, two ahead, multiway": "7647658a03067604",
    "tree, edges": "151e60950e4cfbaf",
    "tree, an expression": "3d062b8e9d33a7a8",
    "tree, no depth": "d1d975a31ecbfd78",
    "tree, many columns": "48a722c5a6d7f87f",
    "tree, many columns, a share": "aeb066ce881d3599",
    "tree, many columns, deeper": "c041b834ae0aecc7",
    "centres": "0a9168d86b2c49d0",
    "centres, one column": "b30c54c84f11adfc",
    "centres, a share": "503849550f264b1a",
    "centres, many columns": "209036788886433d",
    "components": "4e3aada48753ab53",
    "components, a norm": "cdab6d1653411c95",
    "principal components": "729a184220914de7",
    "principal components, a norm": "766a855e0334c24d",
    "halfspace": "23c307419aeb66a7",
    "halfspace, last": "19fc89cce1efc986",
    "halfspace, average": "013e535a7120d19f",
    "conjunction": "4ebfb527af71f3e5",
    "conjunction, negations": "f4695af61c6d398f",
    "masked parity": "4992e7a1f5340819",
    "masked parity, the paper's": "af3810f8f32bb0f8",
    "masked parity, one round": "8d713e432b5a4e87",
}


def outcome(case: str) -> tuple[list[Bent], list[Any]]:
    people, learner = CASES[case]
    oracles = [Bent(people(), *bending) for bending in ANSWERS.values()]
    return oracles, [learner.learn(oracle) for oracle in oracles]


@pytest.mark.parametrize("case", CASES)
def test_the_same_answers_lead_to_the_same_questions_and_hypothesis(case: str) -> None:
    oracles, hypotheses = outcome(case)
    learned = [list(numbers(hypothesis)) for hypothesis in hypotheses]
    assert digest(repr([[oracle.record for oracle in oracles], learned]))[:16] == DIGESTS[case]


@pytest.mark.parametrize("bending", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("label", ["y", "z", "weight"])
def test_an_additive_model_asks_the_same_again_given_the_same_answers(
    label: str, bending: tuple[str, int]
) -> None:
    """So an interrupted run goes on from the ledger. Its sums of floats differ between machines: no digest."""
    first, again = (Bent(mixed(), *bending) for _ in range(2))
    models = [sulq.Additive(label).learn(oracle) for oracle in (first, again)]
    assert first.keys == again.keys
    assert models[0] == models[1]
