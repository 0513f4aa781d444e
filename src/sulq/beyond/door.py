"""What the learners that need more than sums ask of a curator and of a schema."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.learners.features import attribute
from sulq.oracles.curator import Curator
from sulq.privacy.budget import cost_of_pure
from sulq.privacy.coins import random_bytes
from sulq.queries.expressions import Node
from sulq.queries.query import Exact, rational
from sulq.queries.scope import Scope
from sulq.schema import Boolean, Schema

SIGNIFICANT = 40


def cost_of(curator: Curator, share: Exact) -> Fraction:
    """A share of what a curator may spend, in the unit of its budget."""
    if curator.calibration.unit not in ("epsilon", "rho"):
        raise QueryError("the paper's calibrations answer sums only: this needs the tight one")
    return rational("share", share, most=1) * curator.allowance * curator.calibration.total


def pure(curator: Curator, cost: Fraction) -> Fraction:
    """The largest ε, to 40 bits, that an ε-differentially private mechanism of this cost may have.

    >>> import sulq
    >>> epsilon = pure(sulq.randhie().curator(rho="0.02"), Fraction(2, 100))
    >>> round(float(epsilon), 9)
    0.2
    """
    if curator.calibration.unit == "epsilon":
        return cost
    scale = 1 << (SIGNIFICANT + max(0, cost.denominator.bit_length() - cost.numerator.bit_length()))
    epsilon = Fraction(math.isqrt(math.floor(2 * cost * scale * scale)), scale)
    assert cost_of_pure(epsilon, "rho") <= cost
    return epsilon


def enough(needed: int, curator: Curator, promise: str) -> None:
    """Refuse, before anything is spent, if the rows are too few for a promise; unless they are not public."""
    rows = curator.public_rows
    if rows is not None and rows < needed:
        raise QueryError(
            f"insufficient samples: {promise} needs {needed} rows, and there are {rows}; nothing was spent"
        )


def shuffled(rows: int) -> NDArray[np.int64]:
    """A random order of so many rows, all equally likely.

    >>> sorted(shuffled(5).tolist())
    [0, 1, 2, 3, 4]
    """
    while True:
        keys = random_bytes(8 * rows).view(np.uint64)
        order = np.argsort(keys)
        # Given that no two keys are equal, every order is as likely as another.
        if rows < 2 or (np.diff(keys[order]) != 0).all():
            return order


def condition(expression: str | Node, schema: Schema) -> Node:
    """A column or expression that is true or false of every row, as the schema says."""
    given = attribute(schema, expression)
    Scope(schema).condition(given)
    return given


def conditions(features: Sequence[str | Node] | None, label: Node, schema: Schema) -> tuple[Node, ...]:
    """The features, each true or false of every row: by default all boolean columns but the label's."""
    if features is None:
        own = {leaf.name for leaf in label.leaves().values()}
        features = [n for n in schema.attributes if isinstance(schema[n], Boolean) and n not in own]
    given = tuple(condition(feature, schema) for feature in features)
    if not given:
        raise QueryError("there are no features to learn from: name some that are true or false")
    keys = {feature.key for feature in given}
    if len(keys) < len(given):
        raise QueryError("a feature is named twice")
    if label.key in keys:
        raise QueryError("the label cannot be one of its own features")
    return given
