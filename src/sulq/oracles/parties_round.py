"""A round across parties: what each party is asked, and the answers that are made of what they say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar, cast

import numpy as np

from sulq.errors import QueryError
from sulq.oracles.parties_answers import Key, across, factor_key
from sulq.oracles.parties_plan import Factor, SketchPlan, best_buckets, deviation, in_common
from sulq.oracles.party import Party
from sulq.oracles.published import Published, PublishedSketch
from sulq.oracles.sketches import FEWEST_BUCKETS, Sketch, SketchEstimate, check_factors, estimated
from sulq.queries.buckets import Bucket
from sulq.queries.choose import Choice
from sulq.queries.factored import Products
from sulq.queries.missing import with_missing
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.question import Question
from sulq.queries.rounds import Round
from sulq.queries.separated import Separation
from sulq.talk.answers import Answer, errors_of
from sulq.talk.laws import PlainLaw

T = TypeVar("T")
ALONE = Fraction(1, 16)
"""The part of a round's share for sums of one party, beside its sketches, whose error is much larger."""


@dataclass(frozen=True)
class Group:
    """Several parties, and what they have published.

    Args:
        members: the parties.
        people: about how many people there are.
        salt: goes into the hash of identifiers.
        separate: takes expressions apart.
        published: the sketches that there are.
        common: whether all sums are about the people whom all parties have in common.
    """

    members: tuple[Party, ...]
    people: int
    salt: str
    separate: Separation
    published: Published
    common: bool = False

    def products(self, expression: Node) -> list[Products]:
        """An expression as sums of products, over the people whom it is about."""
        each = self.separate(expression)
        return [products.among(self.separate.hands) for products in each] if self.common else each


@dataclass
class PartiesRound:
    """What a round asks of each party.

    Args:
        group: the parties.
        share: the share of the round.
        queries: the queries of the round.
        across: for each query that several parties answer, its parts as sums of products.
        direct: for each query that one party answers, that party.
        sums: sums of one party that go into answers across parties.
        factors: the factors that are sketched.
        crossing: who has a factor in an estimate, whether or not it was sketched before.
    """

    group: Group
    share: Fraction | None
    queries: tuple[Question, ...] = ()
    across: dict[int, list[list[Products]]] = field(default_factory=dict)
    direct: dict[int, int] = field(default_factory=dict)
    sums: dict[Key, Query] = field(default_factory=dict)
    factors: dict[Key, tuple[Node, Fraction]] = field(default_factory=dict)
    crossing: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, round_: Round, group: Group) -> PartiesRound:
        """What a round asks, or a refusal by the form of what is asked.

        Args:
            round_: the queries.
            group: the parties.
        """
        asked = cls(group, round_.share, round_.queries)
        for place, query in enumerate(round_.queries):
            hands = group.separate.hands_of(*query.parts)
            if group.common or len(hands) > 1:
                asked._add_across(place, query)
            elif isinstance(query, Query | Choice):
                asked.direct[place] = min(hands, default=0)
            else:
                raise QueryError(
                    "only count, total, mean and choose can be asked of parties: ask one of them the rest"
                )
        return asked

    def _add_across(self, place: int, query: Question) -> None:
        if not isinstance(query, Query):
            raise QueryError(
                "a choice over columns of several parties, or about the people whom they have in common, "
                "cannot be made by any of them: ask for the counts"
            )
        if query.tolerance is not None:
            raise QueryError(
                "what is estimated across parties has an error that no budget can choose: ask with a share "
                "instead of a tolerance, and `error` says how far off the answer would be"
            )
        parts = self.across[place] = [self.group.products(part) for part in query.parts]
        for products in (each for part in parts for each in part):
            hands = sorted(products.factors)
            check_factors(len(hands))
            for hand in hands or [0]:
                node = products.factors.get(hand)
                if len(hands) > 1 and node is not None:
                    self.add_factor(hand, node, query.weight)
                else:
                    self.sums[factor_key(hand, node)] = self._sum(node, query.weight)

    def add_factor(self, hand: int, node: Node, weight: Fraction) -> None:
        """Have a factor sketched, unless there is a sketch of it."""
        key = factor_key(hand, node)
        self.crossing.add(hand)
        if self.group.published.of(hand, node) is None:
            _, before = self.factors.get(key, (node, Fraction(0)))
            self.factors[key] = node, max(before, weight)

    @property
    def hands(self) -> list[int]:
        """Who is asked for something."""
        keys = [*self.sums, *self.factors]
        return sorted({*self.direct.values(), *(hand for hand, _ in keys)})

    def alone(self, hand: int) -> Round | None:
        """What a party is asked about its own columns."""
        queries = [self.queries[place] for place, whose in self.direct.items() if whose == hand]
        queries += [query for (whose, _), query in self.sums.items() if whose == hand]
        return Round(queries, self._part(hand, sketched=False)) if queries else None

    def sketched(self, hand: int, buckets: int) -> Round | None:
        """The sketches that a party is asked for."""
        by = Bucket(self.group.members[hand].key, buckets, self.group.salt)
        queries = [
            self._sum(node, weight, by)
            for (whose, _), (node, weight) in self.factors.items()
            if whose == hand
        ]
        return Round(queries, self._part(hand, sketched=True)) if queries else None

    def _sum(self, node: Node | None, weight: Fraction, by: Bucket | None = None) -> Query:
        """The sum of a factor as it stands: which rows are left out was said where it was taken apart."""
        if node is None:
            return count(weight=weight)
        return total(node, with_missing(node, self.group.separate.scope.schema), by, weight=weight)

    def _part(self, hand: int, sketched: bool) -> Fraction | None:
        if self.share is None:
            return None
        # A factor that was sketched before counts as well: the same round again is the same to each party.
        alone = hand in self.direct.values() or any(whose == hand for whose, _ in self.sums)
        if not (alone and hand in self.crossing):
            return self.share
        return self.share * (1 - ALONE if sketched else ALONE)

    def rounds(self, hand: int) -> list[Round]:
        """All that a party is asked."""
        both = (self.alone(hand), self.sketched(hand, self.buckets))
        return [round_ for round_ in both if round_ is not None]

    @cached_property
    def known(self) -> dict[Key, Factor]:
        """What is known of every factor, whether or not there is a sketch of it."""
        scope, known = self.group.separate.scope, {}
        for hand in {hand for hand, _ in self.factors}:
            totals = self.sketched(hand, FEWEST_BUCKETS)
            assert totals is not None
            of_hand = {key: node for key, (node, _) in self.factors.items() if key[0] == hand}
            laws = cast(list[PlainLaw], self.group.members[hand].laws(totals))
            for (key, node), law in zip(of_hand.items(), laws, strict=True):
                known[key] = Factor.of(scope.number(node), float(law.deviation))
        for products in self._crossed:
            for hand, node in products.factors.items():
                if (key := factor_key(hand, node)) not in known:
                    there = self.group.published.sketches[key]
                    known[key] = Factor.of(scope.number(node), there.noise, there.sketch.buckets)
        return known

    @property
    def _crossed(self) -> list[Products]:
        every = [each for parts in self.across.values() for part in parts for each in part]
        return [products for products in every if len(products.factors) > 1]

    def _factors(self, products: Products) -> list[Factor]:
        return [self.known[factor_key(hand, node)] for hand, node in products.factors.items()]

    @cached_property
    def buckets(self) -> int:
        """The best number of buckets for what is sketched."""
        if not self.factors:
            return FEWEST_BUCKETS
        products = [self._factors(each) for each in self._crossed]
        # Of what is published for later, nobody knows yet what it will be multiplied by: by its like.
        products = products or [[each] * 2 for each in self.known.values()]
        widths = [0] * len(self.group.members)
        for hand, key in self.factors:
            widths[hand] += self.known[hand, key].width
        return best_buckets(products, self.group.people, max(widths))

    def plan(self) -> SketchPlan:
        """How well estimates would be, in the worst of them, by what causes the errors."""
        shares = {
            self.group.members[hand].name: float(sum(each.share or 0 for each in self.rounds(hand)))
            for hand in self.hands
        }
        people, worst = self.group.people, (0.0, 0.0, 0)
        for products in self._crossed:
            factors = self._factors(products)
            both = deviation(factors, people, self.buckets)
            alone = deviation([replace(each, noise=0.0) for each in factors], people, self.buckets)
            worst = max(worst, (both, alone, in_common(factors, self.buckets)))
        both, alone, buckets = worst
        noisy = math.sqrt(max(0.0, both - alone)) * math.sqrt(both + alone)
        return SketchPlan(people, buckets, alone, noisy, shares)

    def errors(self, beta: float) -> list[float | None]:
        """How far off each answer would be at most; None for a mean, whose error depends on its count."""
        asked = {hand: round_ for hand in self.hands if (round_ := self.alone(hand))}
        laws = {hand: iter(self.group.members[hand].laws(round_)) for hand, round_ in asked.items()}
        own, sums = self._told(laws)
        scope, blank = self.group.separate.scope, {}
        for key, law in sums.items():
            width = scope.number(self.sums[key].parts[0]).width
            blank[key] = Answer(np.zeros(width), cast(PlainLaw, law))
        for place, parts in self.across.items():
            query = cast(Query, self.queries[place])
            mean = query.statistic == "mean"
            own[place] = None if mean else across(query, parts, blank, self._expected, scope).law
        return errors_of((own[place] for place in range(len(self.queries))), beta)

    def _expected(self, products: Products) -> SketchEstimate:
        """An estimate before it is made: how far off it is, whatever the rows are."""
        factors, numbers = self._factors(products), np.zeros(len(products.places))
        off = deviation(factors, self.group.people, self.buckets, worst=True)
        return SketchEstimate(numbers, numbers + off, in_common(factors, self.buckets) - 1)

    def _told(self, said: Mapping[int, Iterator[T]]) -> tuple[dict[int, T], dict[Key, T]]:
        """What parties say of their own columns: for whole queries, and for parts of others."""
        direct = {place: next(said[hand]) for place, hand in self.direct.items()}
        return direct, {key: next(said[key[0]]) for key in self.sums}

    def assembled(self, answers: Mapping[int, Sequence[Answer]]) -> list[Answer]:
        """The answers to the round, from what each party said; sketches are kept.

        Args:
            answers: of each party, the answers to its rounds.
        """
        said = {hand: iter(each) for hand, each in answers.items()}
        given, sums = self._told(said)
        for (hand, _), (node, _) in self.factors.items():
            answer = next(said[hand])
            numbers, noise = np.ravel(np.asarray(answer.value, np.float64)), np.max(answer.deviation)
            width = self.group.separate.scope.number(node).width
            if numbers.size != (self.buckets + 1) * width or not np.isfinite(numbers.sum() + noise):
                raise QueryError(
                    f"{self.group.members[hand].name} answered with other numbers than a sketch has: what "
                    "was charged stays charged, and nothing was estimated"
                )
            by_bucket = numbers.reshape(self.buckets + 1, width)[:-1]
            self.group.published.add(hand, PublishedSketch(node, Sketch(by_bucket), float(noise)))
        for place, parts in self.across.items():
            query = cast(Query, self.queries[place])
            given[place] = across(query, parts, sums, self._estimate, self.group.separate.scope)
        return [given[place] for place in range(len(self.queries))]

    def _estimate(self, products: Products) -> SketchEstimate:
        sketches = self.group.published.sketches
        keys = [factor_key(hand, products.factors[hand]) for hand in sorted(products.factors)]
        return estimated(products, [sketches[key].sketch for key in keys])
