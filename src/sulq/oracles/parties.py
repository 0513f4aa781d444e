"""Columns in different hands: an oracle over several curators, joined by identifiers that stay with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, get_args

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational, whole
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.oracles.joint_schema import JointSchema
from sulq.oracles.parties_plan import SketchPlan
from sulq.oracles.parties_round import Group, PartiesRound
from sulq.oracles.party import Party, promised_together, warn_of_sizes
from sulq.oracles.published import Published, read_sketches, sketches_form
from sulq.oracles.remote import Remote
from sulq.oracles.sketches import MOST_FACTORS, check_factors
from sulq.queries.expressions import named
from sulq.queries.missing import without_missing
from sulq.queries.node import Node
from sulq.queries.query import count, total
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round, asked_of
from sulq.queries.scope import scope_of
from sulq.queries.separated import Separation
from sulq.queries.vectors import Vector
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.wire import canonical, check_run, encodable, of_json, shown

MOST_PEOPLE = 2**40
About = Literal["each", "common"]


@dataclass
class Parties:
    """Several curators who hold different columns about the same people. `sulq.parties` makes one.

    A question about one party's columns goes to that party. A question that is made of products with one
    factor for each of two or three parties is estimated: each of them publishes a noisy sketch of its factor,
    once, and all that is estimated from sketches later is free. Every answer says how far off it may be.

    Args:
        members: the parties.
        people: about how many people there are.
        salt: a public text that goes into the hash of identifiers.
        about: whom sums are about: "each" party's people, or those whom all parties have in "common".

    >>> import sulq
    >>> ids, number = range(1000), sulq.Integer(0, 999)
    >>> health = {"id": ids, "sick": [i % 2 for i in ids]}
    >>> habits = {"id": ids, "smokes": [i % 4 < 2 for i in ids]}
    >>> hospital = sulq.open(health, {"id": number, "sick": sulq.Boolean()})
    >>> registry = sulq.open(habits, {"id": number, "smokes": sulq.Boolean()})
    >>> both = parties([hospital.exact(), registry.exact()], key="id")
    >>> [answer] = both.ask(sulq.Round([sulq.count(where=sulq.col("sick") & sulq.col("smokes"))]))
    >>> bool(abs(answer.value - 250) < answer.radius(1e-6))
    True
    """

    members: tuple[Party, ...]
    people: int
    salt: str = "sulq"
    about: About = "each"
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.about not in get_args(About):
            raise QueryError(f"about is 'each' or 'common', not {shown(self.about)}")
        self.schema  # noqa: B018, parties that do not go together are refused

    denoised = denoised

    @cached_property
    def schema(self) -> JointSchema:
        """The columns of all parties; those that name people are left out."""
        return _joint(self.members, self.about == "common")

    @cached_property
    def group(self) -> Group:
        """The parties, and the sketches that they have published."""
        separate = Separation(scope_of(self.schema), self.schema.hands)
        return Group(
            self.members, self.people, self.salt, separate, Published(separate), self.about == "common"
        )

    @property
    def promise(self) -> str:
        """What each party promises its people, and what follows for those who are in several tables."""
        each = "; ".join(f"{party.name}: {party.oracle.promise}" for party in self.members)
        return f"{each}; to whoever is in all tables: {promised_together(self.members)}"

    @property
    def spent(self) -> dict[str, Fraction]:
        """What each party was charged so far, in the unit of its own budget."""
        return {p.name: p.oracle.spent for p in self.members if not isinstance(p.oracle, Exact)}

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of each party's budget, in its own unit."""
        return {p.name: p.oracle.remaining for p in self.members if not isinstance(p.oracle, Exact)}

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order.

        The share of the round is what each party concerned is asked for. A sixteenth of it is for sums of a
        party's own columns, where another query of the round makes an estimate of its columns: also where
        nothing is left to sketch, so that the same round again is the same to each party, and free. Nobody is
        asked before it is known that all of them can be paid.

        Args:
            round_: the queries.
            run: the name of the run that asks, in every party's ledger.
        """
        answers = self._answered(self._asked(round_), run)
        self.rounds += 1
        self.queries += len(round_.queries)
        return answers

    def publish(self, *factors: str | Node, share: Numeric, run: str = "main") -> None:
        """Have sketches of expressions published, each by the party whose columns it looks at.

        Whatever is asked later about products of them with those of other parties is free. Where the schema
        drops missing cells, each part of a vector leaves out its own, as a total of it does.

        Args:
            *factors: names of columns, or row expressions over the columns of one party: numbers and vectors.
            share: the part of its budget that each party concerned is asked for.
            run: the name of the run that asks.
        """
        if not factors:
            raise QueryError(
                "nothing is to be published: name columns, or expressions over one party's columns"
            )
        asked = PartiesRound(self.group, rational("share", share, most=1))
        for node in map(named, factors):
            hands = self.group.separate.hands_of(node)
            if len(hands) != 1:
                raise QueryError(
                    f"what is published looks at one party's columns, and {node.described()} does not"
                )
            self.group.separate.scope.number(node)
            parts = node.parts if isinstance(node, Vector) else (node,)
            summed = [part for each in parts for part in without_missing(total(each), self.schema).parts]
            factor = Vector(tuple(summed)) if isinstance(node, Vector) else summed[0]
            asked.add_factor(hands.pop(), factor, Fraction(1))
        self._answered(asked, run)

    def sketches_to_json(self) -> str:
        """All sketches that were published so far, as JSON: for `sketches_from_json`, here or elsewhere."""
        return canonical(sketches_form(self.group.published, self.salt, self.members))

    def sketches_from_json(self, text: str) -> None:
        """Take over sketches that were published before, so that nobody is asked for them again.

        Args:
            text: what `sketches_to_json` said.
        """
        form = of_json(text, "sketches")
        read_sketches(form, self.group.published, self.salt, self.members)

    def plan(self, round_: Round) -> SketchPlan:
        """How a round would be answered: by how many buckets, how well, and who is asked for how much.

        Nothing is spent.

        Args:
            round_: the queries.
        """
        return self._asked(round_).plan()

    def cost(self, round_: Round) -> dict[str, Fraction]:
        """What a round would cost each party, in the unit of its budget. Nothing is spent."""
        asked = self._asked(round_)
        return {self.members[hand].name: self.members[hand].cost(asked.rounds(hand)) for hand in asked.hands}

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be at most, but for a chance of `beta` each. Nothing is spent.

        For estimates across parties, every person's value is taken for as large as there can be. None where
        the error depends on the answer itself, as that of a mean does. Of three parties' products the answer
        may have a wider bar than this, since people's own products go into it.
        """
        return self._asked(round_).errors(beta)

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that one of the parties could not be paid for to its end.

        A party that is asked in later rounds only has to have the share of all of them. Where it is certain
        that some people are in one table only, a warning says so.

        Args:
            round_: the round that is asked next.
            run: the name of the run that asks.
            ahead: what this round and all later ones may cost.
        """
        check_factors(ahead.hands())
        if self.about == "each":
            warn_of_sizes(self.members)
        asked = self._asked(round_)
        last = round_.share == ahead.share
        fresh = [self.members[hand].afford(asked.rounds(hand), run, ahead, last) for hand in asked.hands]
        if any(fresh) and ahead.share is not None:
            all_of_it, later = Round([count()], ahead.share), ahead.columns()
            for hand, columns in enumerate(self.schema.hands):
                if hand not in asked.hands and not later.isdisjoint(columns):
                    self.members[hand].afford([all_of_it], run, ahead)
        return any(fresh)

    def _asked(self, round_: Round) -> PartiesRound:
        return PartiesRound.of(asked_of(round_, self.schema), self.group)

    def _answered(self, asked: PartiesRound, run: str) -> list[Answer]:
        check_run(run)
        rounds = {hand: asked.rounds(hand) for hand in asked.hands}
        for hand, each in rounds.items():
            self.members[hand].afford(each, run, NOTHING_AHEAD)
        return asked.assembled({hand: self.members[hand].ask(each, run) for hand, each in rounds.items()})


def parties(
    oracles: Sequence[Curator | Remote | Exact] | Mapping[str, Curator | Remote | Exact],
    key: str | Sequence[str],
    *,
    people: int | None = None,
    salt: str = "sulq",
    about: About = "each",
) -> Parties:
    """An oracle over several curators, who hold different columns about the same people.

    People are joined by an identifier that never leaves the curators: each of them deals its people into
    public buckets by a hash of it. Each party has its own rows, noise, ledger and budget, and trusts nobody.
    See docs/parties.md.

    Args:
        oracles: the curators, here or elsewhere (`sulq.connect`), in a list, or by name.
        key: the column that names people: one name, or a name for each party.
        people: about how many people there are, from which the number of buckets follows. By default the
            most rows that a party makes public.
        salt: a public text that all parties agree on; it goes into the hash of identifiers.
        about: whom sums are about. With "each", those of one party's columns are about that party's people:
            learners take it that all tables are about the same people. With "common", every sum, `count()`
            too, is an estimate about the people who are in all tables, and is off by more.

    >>> import sulq
    >>> ids, number = range(50_000), sulq.Integer(0, 10**6)
    >>> def curator(column):
    ...     rows, schema = {"id": ids, column: [i % 2 for i in ids]}, {"id": number, column: sulq.Boolean()}
    ...     return sulq.open(rows, schema).curator(epsilon=1)
    >>> curators = {"hospital": curator("sick"), "registry": curator("smokes")}
    >>> both = parties(curators, key="id")
    >>> both.promise
    'hospital: ε = 1 (pure); registry: ε = 1 (pure); to whoever is in all tables: ε = 2 (pure)'
    >>> smoking = sulq.Round([sulq.count(by=["sick", "smokes"])], share=0.5)
    >>> both.cost(smoking)
    {'hospital': Fraction(1, 2), 'registry': Fraction(1, 2)}
    >>> [answer] = both.ask(smoking)
    >>> answer.value.shape, both.remaining["hospital"]
    ((2, 2), Fraction(1, 2))
    """
    if not isinstance(oracles, Iterable):
        raise QueryError(f"parties are curators in a list, or by name, not {shown(oracles)}")
    given = dict(oracles) if isinstance(oracles, Mapping) else {}
    if not isinstance(oracles, Mapping):
        given = {f"party {place}": oracle for place, oracle in enumerate(oracles, 1)}
    keys: Sequence[str] = [key] * len(given) if isinstance(key, str) else key
    if (
        not isinstance(keys, Sequence)
        or len(keys) != len(given)
        or not all(isinstance(each, str) for each in keys)
    ):
        raise QueryError("key is the name of the column that names people, or a name for each party")
    if not encodable(salt):
        raise QueryError(f"the salt of buckets is a text of whole letters, not {shown(salt)}")
    members = tuple(
        Party(name, each, column) for (name, each), column in zip(given.items(), keys, strict=True)
    )
    _joint(members)  # what is wrong with the parties is said before what they do not make public
    if people is None:
        people = max((party.rows for party in members if party.rows is not None), default=None)
        if people is None:
            raise QueryError(
                "no party makes public how many rows it has: say people=, about how many people there are"
            )
    return Parties(members, whole("people", people, 0, MOST_PEOPLE), salt, about)


def _joint(members: Sequence[Party], common: bool = False) -> JointSchema:
    """The columns of all parties; a refusal where parties do not go together."""
    if len(members) < 2:
        raise QueryError("parties are at least two: ask one alone itself")
    if common and len(members) > MOST_FACTORS:
        raise QueryError(f"the people in common of at most {MOST_FACTORS} parties can be asked about")
    return JointSchema([party.schema for party in members], [party.key for party in members], common)
