"""Row expressions over columns in different hands, as sums of products with one factor for each hand.

A row's value is written as Σ w·Π f, where each factor f is a row expression over the columns of one hand.
Then sums over people follow from what each hand says about its own factors. What cannot be written so is
refused, by its form alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.queries.arithmetic import Add, And, Multiply, Not, Or
from sulq.queries.cases import Where
from sulq.queries.codes import Cross, OneHot
from sulq.queries.denied import denied
from sulq.queries.factored import Floats, Places, Products
from sulq.queries.node import Node
from sulq.queries.products import Dot, Gram, Outer
from sulq.queries.query import is_one
from sulq.queries.scope import Batch, Scope
from sulq.queries.separated_choices import of_table, one_hot, only, parts_of
from sulq.queries.vectors import Only, Vector


class Separation:
    """Expressions over the columns of several hands, taken apart.

    Args:
        scope: expressions read against the schema of all hands.
        hands: the names of the columns of each hand.

    >>> import sulq
    >>> from sulq.queries.scope import scope_of
    >>> schema = sulq.Schema({"a": sulq.Boolean(), "b": sulq.Boolean()})
    >>> [products] = Separation(scope_of(schema), [["a"], ["b"]])(sulq.col("a") & sulq.col("b"))
    >>> sorted(products.factors)
    [0, 1]
    """

    def __init__(self, scope: Scope, hands: Sequence[Sequence[str]]) -> None:
        self.scope, self.hands = scope, range(len(hands))
        self.owner = {name: hand for hand, names in enumerate(hands) for name in names}

    def hands_of(self, *expressions: Node) -> set[int]:
        """The hands whose columns expressions look at."""
        names = {leaf.name for each in expressions for leaf in each.leaves().values()}
        return {self.owner[self._known(name)] for name in names}

    def __call__(self, expression: Node) -> list[Products]:
        """A row expression as sums of products."""
        if isinstance(expression, Only) and is_one(expression.inner):
            return self(expression.condition)
        hands = self.hands_of(expression)
        width = self.scope.number(expression).width
        every = np.arange(width)
        if not hands:
            return [Products(every, self._constants(expression), {}, {})]
        if len(hands) == 1:
            [hand] = hands
            return [Products(every, np.ones(width), {hand: expression}, {hand: every})]
        return RULES.get(type(expression), of_table)(self, expression)

    def refusal(self, expression: Node) -> QueryError:
        """Why an expression is not answered."""
        names = sorted({leaf.name for leaf in expression.leaves().values()})
        return QueryError(
            f"{expression.described()} looks at columns of several parties ({', '.join(names)}), and is no "
            "product or sum of expressions of one party each: those are what is answered across parties"
        )

    def times(self, left: Products, right: Products, pairs: tuple[Places, Places], to: Places) -> Products:
        """Products of products: those of `left` and `right` at `pairs`, for the coordinates `to`."""
        i, j = pairs
        weights = left.weights[i] * right.weights[j]
        factors, at = dict(left.factors), {hand: each[i] for hand, each in left.at.items()}
        for hand, node in right.factors.items():
            other = right.at[hand][j]
            if hand in factors:
                factors[hand], at[hand] = self._joint(factors[hand], at[hand], node, other)
            else:
                factors[hand], at[hand] = node, other
        return Products(to, weights, factors, at)

    def elementwise(self, left: Node, right: Node) -> list[Products]:
        """The products of two values, coordinate by coordinate; one of them may be a single number."""
        wide, other_wide = (self.scope.number(each).width for each in (left, right))
        if 1 in (wide, other_wide):
            return self.outer(self(left), self(right), other_wide)
        each = []
        for one in self(left):
            for other in self(right):
                i, j = np.nonzero(one.places[:, np.newaxis] == other.places)
                each.append(self.times(one, other, (i, j), one.places[i]))
        return each

    def spread(self, expression: Node, width: int) -> list[Products]:
        """An expression as products, a single number being repeated to stand beside a vector."""
        each = self(expression)
        if self.scope.number(expression).width == width:
            return each
        return [
            products.taken(
                np.tile(np.arange(len(products.places)), width),
                np.repeat(np.arange(width), len(products.places)),
            )
            for products in each
        ]

    def outer(self, left: list[Products], right: list[Products], width: int) -> list[Products]:
        """All products of coordinates, row by row of the matrix; `width` is that of `right`."""
        each = []
        for one in left:
            for other in right:
                i, j = (side.ravel() for side in np.indices((len(one.places), len(other.places))))
                each.append(self.times(one, other, (i, j), one.places[i] * width + other.places[j]))
        return each

    def _joint(self, left: Node, i: Places, right: Node, j: Places) -> tuple[Node, Places]:
        """The product of two factors of one hand, as one factor."""
        if is_one(left) or is_one(right):
            return (right, j) if is_one(left) else (left, i)
        flags = [self._is_flag(left), self._is_flag(right)]
        if all(flags):
            return (left, i) if left.key == right.key else (And(left, right), i)
        if any(flags):
            return (Only(left, right), j) if flags[0] else (Only(right, left), i)
        if isinstance(left, OneHot) and isinstance(right, OneHot):
            crossed = Cross((*parts_of(left.choice), *parts_of(right.choice)))
            return OneHot(crossed), i * self.scope.code(right.choice).size + j
        wide, other = self.scope.number(left).width, self.scope.number(right).width
        if left.key == right.key and wide > 1:
            low, high = np.minimum(i, j), np.maximum(i, j)
            return Gram(left), low * wide - low * (low - 1) // 2 + high - low
        return Outer(left, right), i * other + j

    def _is_flag(self, node: Node) -> bool:
        return self.scope.number(node).flag

    def _constants(self, expression: Node) -> Floats:
        value = Batch(self.scope, {}, 1).number(expression)
        return np.asarray(value[:, 0] * float(self.scope.number(expression).unit))

    def _known(self, name: str) -> str:
        if name not in self.owner:
            raise QueryError(f"no party has a column {name!r}; there are {', '.join(self.owner)}")
        return name


def _vector(separate: Separation, expression: Vector) -> list[Products]:
    """Parts of one hand stay one factor, which is then sketched, and multiplied with itself, as one."""
    ends = np.cumsum([separate.scope.number(part).width for part in expression.parts])
    places = np.split(np.arange(ends[-1]), ends[:-1])
    together: dict[int, list[int]] = {}
    each: list[Products] = []
    for place, part in enumerate(expression.parts):
        hands = separate.hands_of(part)
        if len(hands) == 1:
            together.setdefault(hands.pop(), []).append(place)
        else:
            each += [products.into(places[place]) for products in separate(part)]
    for of_hand in together.values():
        parts = tuple(expression.parts[place] for place in of_hand)
        node = parts[0] if len(parts) == 1 else Vector(parts)
        each += [products.into(np.concatenate([places[p] for p in of_hand])) for products in separate(node)]
    return each


def _add(separate: Separation, expression: Add) -> list[Products]:
    width = separate.scope.number(expression).width
    return [*separate.spread(expression.left, width), *separate.spread(expression.right, width)]


def _dot(separate: Separation, expression: Dot) -> list[Products]:
    each = separate.elementwise(expression.left, expression.right)
    return [Products(np.zeros_like(p.places), p.weights, p.factors, p.at) for p in each]


def _outer(separate: Separation, expression: Outer) -> list[Products]:
    width = separate.scope.number(expression.right).width
    return separate.outer(separate(expression.left), separate(expression.right), width)


def _gram(separate: Separation, expression: Gram) -> list[Products]:
    """Every pair of coordinates once: of two groups of products, each pair is met in one order only."""
    width, each = separate.scope.number(expression.inner).width, separate(expression.inner)
    pairs = []
    for one in each:
        for other in each:
            i, j = np.nonzero(one.places[:, np.newaxis] <= other.places)
            low, high = one.places[i], other.places[j]
            to = low * width - low * (low - 1) // 2 + high - low
            if len(i):
                pairs.append(separate.times(one, other, (i, j), to))
    return pairs


def _and(separate: Separation, expression: And | Multiply) -> list[Products]:
    return separate.elementwise(expression.left, expression.right)


def _not(separate: Separation, expression: Not) -> list[Products]:
    opposite = denied(expression.inner, separate.hands_of)
    if opposite.key != expression.key:
        return separate(opposite)
    every = separate.hands_of(expression)
    return [products.among(every) for products in (Products.one(), *_negative(separate(expression.inner)))]


def _or(separate: Separation, expression: Or) -> list[Products]:
    both = separate.elementwise(expression.left, expression.right)
    return [*separate(expression.left), *separate(expression.right), *_negative(both)]


def _where(separate: Separation, expression: Where) -> list[Products]:
    return separate(
        Add(
            Only(expression.condition, expression.then), Only(Not(expression.condition), expression.otherwise)
        )
    )


def _negative(each: list[Products]) -> list[Products]:
    return [Products(p.places, -p.weights, p.factors, p.at) for p in each]


RULES: dict[type[Node], Callable[[Separation, Any], list[Products]]] = {
    Vector: _vector,
    Add: _add,
    Multiply: _and,
    Dot: _dot,
    Outer: _outer,
    Gram: _gram,
    Only: only,
    And: _and,
    Not: _not,
    Or: _or,
    Where: _where,
    OneHot: one_hot,
}
"""How each kind of expression over several hands is taken apart; others must follow from a public table."""
