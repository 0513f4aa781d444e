"""Parities, learned privately though no statistical query can: solve a random few of the rows' equations.

A(z, ε), from section 4 of "What can we learn privately?" (full version):

1. With probability 1/2 say ⊥.
2. Take each row into S, independently, with probability p.
3. Solve the equations ⟨x, r⟩ = y of the rows in S.
4. Say one of the solutions, all equally likely; ⊥ if there is none.

**Why it is ε-differentially private** on every table, with p = tanh(ε/2) in place of the paper's ε/4. Fix a
row i, and let a be the probability of an answer if row i is not in S, and b if it is.

- A parity h: one more equation takes h away, or leaves half of the solutions or all of them. So 0 ≤ b ≤ 2a,
  and whatever row i is, Pr[h] = (1 − p)·a + p·b lies between (1 − p)·a and (1 + p)·a. If row i is replaced,
  the ratio is at most (1 + p)/(1 − p) = e^ε. If it comes or goes, Pr[h] is compared with a itself: the ratio
  is at most 1/(1 − p), and p = 1 − e^-ε will do.
- ⊥: one more equation cannot make a system solvable, so a ≤ b ≤ 1, and a ≥ 1/2 by step 1. So Pr[⊥] lies
  between a and (1 − p)·a + p ≤ (1 + p)·a, and the ratio is at most 1 + p ≤ e^ε in both cases.

A table of one row that is replaced meets the first bound with equality, so p cannot be larger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from sulq.classes.sizes import Amplification, ParityPlan, Sampling, parity_plan
from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Origin
from sulq.hypotheses.rules import ONE, ParityRule
from sulq.learners.door import cost_of, enough, pure
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.privacy.budget import BudgetUnit, cost_of_pure
from sulq.privacy.coins import Coin, random_bytes, shuffled, toss, uniform
from sulq.privacy.gf2 import Bits, Words, equations, packed_vector, products, solve
from sulq.privacy.selection import PermuteAndFlip
from sulq.queries.attributes import condition, conditions
from sulq.queries.expressions import And, Node, Or
from sulq.queries.query import Neighbours
from sulq.schema import Schema
from sulq.sources.rows import rows_of

PAPERS_LARGEST = 2
"""Up to here the paper's 1 + 2p/(1 − p) ≤ 1 + ε holds for p = ε/4."""
FINEST = 2**62
"""A rational p is rounded down to a multiple of 1/FINEST."""


@dataclass(frozen=True)
class ParityMechanism:
    """A(z, ε): what it costs, and how to run it.

    `sampling`: "tight" takes rows with p = tanh(ε/2), or 1 − e^-ε if rows come or go; "paper" with ε/4. The
    coins are exact, and so is the ε.

    >>> mechanism = ParityMechanism(Fraction(1, 2))
    >>> mechanism.cost("epsilon"), mechanism.cost("rho")
    (Fraction(1, 2), Fraction(1, 8))
    >>> true = np.ones(1000, dtype=bool)
    >>> rows = equations([np.arange(1000) % 2 == 0, true], true)
    >>> said = [mechanism.release(rows, 2) for _ in range(40)]
    >>> {None if mask is None else tuple(mask.tolist()) for mask in said} == {None, (False, True)}
    True
    """

    epsilon: Fraction
    sampling: Sampling = "tight"
    neighbours: Neighbours = "replace"

    def __post_init__(self) -> None:
        if self.sampling not in get_args(Sampling):
            raise QueryError(f"sampling is 'tight' or 'paper', not {self.sampling!r}")
        if self.sampling == "paper" and self.epsilon > PAPERS_LARGEST:
            raise QueryError(
                f"with p = ε/4 a run can have an ε of at most {PAPERS_LARGEST}, not {float(self.epsilon):g}: "
                "use sampling='tight'"
            )

    def cost(self, unit: BudgetUnit) -> Fraction:
        return cost_of_pure(self.epsilon, unit)

    def release(self, given: Words, unknowns: int) -> Bits | None:
        """The mask of a parity, or None, which is ⊥."""
        if random_bytes(1)[0] & 1:
            return None
        solutions = solve(given[self.sample(len(given))], unknowns)
        return solutions.random() if solutions.consistent else None

    def sample(self, rows: int) -> NDArray[np.bool_]:
        """Which rows are in S."""
        if self.sampling == "paper":
            return np.asarray(uniform(FINEST, rows) < math.floor(self.epsilon / 4 * FINEST))
        # tanh(ε/2) = 1 − 2/(1 + e^ε).
        left_out = Coin(2, 1, self.epsilon) if self.neighbours == "replace" else Coin(1, 0, self.epsilon)
        return ~toss(left_out, rows)


@dataclass(frozen=True)
class Parity:
    """Learns a parity of boolean features from labels that are one, whatever the distribution of the rows.

    `label`, `features`: as for `Conjunction`. `error`, `confidence`: the parity errs on at most this part of
    the population that the rows were drawn from, with this chance. `constant`: consider the opposites of
    parities too. `sampling`: see `ParityMechanism`. `share`: the part of the budget to spend.

    `amplification`, how a learner that says ⊥ half of the time becomes reliable: "repeat" runs it several
    times on all rows, each time with a part of the ε, and the first parity decides (the paper's earlier
    version); "test set" runs it on disjoint parts with all of ε each, and chooses among the parities by
    their mistakes on other rows (the full version, with its footnote's way of choosing). "repeat" needs
    fewer rows.

    It needs the rows themselves and not their sums, so only a trusted curator can run it. Where the number of
    rows is public and too small for the promise, it is refused before anything is spent.

    >>> import sulq
    >>> rng = np.random.default_rng(0)
    >>> bits = rng.random((8, 4000)) < 0.5
    >>> rows = {f"x{i}": bits[i] for i in range(8)} | {"y": bits[1] ^ bits[4] ^ bits[6]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> learner = Parity(label="y", error=0.2, confidence="0.999999")
    >>> learner.learn(people.curator(epsilon=4)).describe()
    'x1 xor x4 xor x6'
    """

    label: str | Node
    features: Sequence[str | Node] | None = None
    error: Numeric = Fraction(1, 10)
    confidence: Numeric = Fraction(95, 100)
    constant: bool = False
    sampling: Sampling = "tight"
    amplification: Amplification = "repeat"
    share: Numeric = 1

    def learn(self, curator: Curator, run: str = "main") -> ParityRule | None:
        """The parity that was found, or None for ⊥, the likely outcome if the labels are no parity.

        Asked again in the same run, it is answered from the ledger at no cost.
        """
        label = condition(self.label, curator.schema)
        features = conditions(self.features, label, curator.schema) + ((ONE,) if self.constant else ())
        cost = cost_of(curator, self.share)
        # A person's rows may all change, one after the other; one that comes or goes tells less than that.
        epsilon = pure(curator, cost) / curator.schema.rows_per_unit
        plan = self.plan(len(features), epsilon, curator.neighbours)
        repeated = self.amplification == "repeat"
        if not repeated and curator.public_rows is None:
            raise QueryError("a test set needs a public number of rows: use amplification='repeat'")
        promise = f"an error of {float(rational('error', self.error)):g} with d = {len(features)}"
        enough(plan.rows, curator, f"{promise} and ε = {float(epsilon):g}")
        each = epsilon / plan.runs if repeated else epsilon
        mechanism = ParityMechanism(each, self.sampling, curator.neighbours)

        values = rows_of(curator.source, "Parity").values

        def look() -> list[int] | None:
            given = equations((values(feature) for feature in features), values(label))
            found = (
                first_of(mechanism, given, len(features), plan.runs)
                if repeated
                else best_of(mechanism, given, len(features), plan)
            )
            return None if found is None else found.astype(int).tolist()

        form = {
            "parity": [feature.form for feature in features],
            "label": label.form,
            "runs": plan.runs,
            "tested": plan.tested,
            "sampling": self.sampling,
            "cost": str(cost),
        }
        mask = curator.release(form, cost, look, run)
        if mask is None:
            return None
        origin = Origin(type(self).__name__, curator.promise, run, 1)
        return ParityRule(curator.schema, origin, features, tuple(mask))

    def plan(self, features: int, epsilon: Fraction, neighbours: Neighbours = "replace") -> ParityPlan:
        """How many runs there are, and how many rows the promise needs."""
        if self.amplification not in get_args(Amplification):
            raise QueryError(f"amplification is 'repeat' or 'test set', not {self.amplification!r}")
        error, sure = rational("error", self.error, most=1), rational("confidence", self.confidence, most=1)
        return parity_plan(
            features,
            float(error),
            float(1 - sure),
            float(epsilon),
            self.sampling,
            self.amplification,
            neighbours,
        )


def first_of(mechanism: ParityMechanism, given: Words, unknowns: int, runs: int) -> Bits | None:
    """A*, earlier version: what the first of several runs says that does not say ⊥. Costs all of them."""
    for _ in range(runs):
        found = mechanism.release(given, unknowns)
        if found is not None:
            return found
    return None


def best_of(mechanism: ParityMechanism, given: Words, unknowns: int, plan: ParityPlan) -> Bits | None:
    """A*, full version: one run on each part of the rows, and the best of them on the rows left to test on.

    Every row is in one part, so all of it costs what one run does. Which part is decided at random, because
    tables are often sorted, and positions are not drawn at random as the paper's rows are.
    """
    order = shuffled(len(given))
    tested, parts = given[order[: plan.tested]], np.array_split(order[plan.tested :], plan.runs)
    found = [mask for part in parts if (mask := mechanism.release(given[part], unknowns)) is not None]
    if not found:
        return None
    # ⟨x, r⟩ + y is 1 where r is wrong.
    wrong = [np.count_nonzero(products(tested, packed_vector(np.append(mask, True)))) for mask in found]
    choice = PermuteAndFlip(mechanism.epsilon, sensitivity=1)
    return found[choice.choose(-np.array(wrong, dtype=np.int64))]


def masked(bits: Sequence[str | Node], choices: Sequence[Node], mask: Node, schema: Schema) -> list[Node]:
    """MASKED-PARITY as a parity, of d + 1 features made from its input (x, i, b): section 5.3 of the paper.

    Where b is 0 the label is ⟨r, x⟩ + a, and where it is 1 it is rᵢ. Both are linear in (r, a), so features
    that are xⱼ where b is 0 and [i = j] where it is 1, and one more that is 1 where b is 0, make it a parity.
    `bits`: x. `choices`: the d conditions i = j. `mask`: b.

    >>> import sulq
    >>> names = ["x0", "x1", "i", "b"]
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in names})
    >>> i, b = sulq.col("i"), sulq.col("b")
    >>> [type(feature).__name__ for feature in masked(["x0", "x1"], [~i, i], b, schema)]
    ['Or', 'Or', 'Not']
    """
    if len(bits) != len(choices):
        raise QueryError(f"there are {len(bits)} bits and {len(choices)} choices among them")
    shown = ~condition(mask, schema)
    pairs = zip(bits, choices, strict=True)
    seen = [Or(And(shown, condition(x, schema)), And(mask, condition(j, schema))) for x, j in pairs]
    return [*seen, shown]
