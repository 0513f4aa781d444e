"""A statement's round in words: what is asked of the rows, for which figures, at what cost and how well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sulq.hypotheses.measures import centred
from sulq.learners.tabulating import TableQuestion, Tabulating
from sulq.numbers import Numeric, amount
from sulq.pictures.svg import clean
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.queries.query import Query, moves
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.talk.answers import BETA
from sulq.talk.columns import plain_table
from sulq.talk.offer import Offer


@dataclass(frozen=True)
class ExplainedQuestion:
    """One question of a round.

    Args:
        words: what is asked.
        serves: the figures that follow from its answer, as the statement writes them.
        numbers: how many numbers the answer has.
        cost: what the question costs, in the unit of the budget; None where there is none.
        error: how far off any number of the answer is, but for a chance of 5 %; None where nobody can say.
    """

    words: str
    serves: tuple[str, ...]
    numbers: int
    cost: Fraction | None = None
    error: float | None = None


def explained_questions(
    table: Tabulating, texts: Sequence[str], share: Numeric, offer: Offer | None
) -> list[ExplainedQuestion]:
    """What a statement asks, question by question. Nothing is asked and nothing is spent.

    Args:
        table: how the statement is asked.
        texts: how the statement writes each measure.
        share: the part of the budget to spend.
        offer: what a curator offers; None where there is no budget.
    """
    questions = table.questions()
    queries = [table.query(question) for question in questions]
    round_ = Round(queries, share)
    costs: Sequence[Fraction | None] = [None] * len(queries)
    errors: Sequence[float | None] = [None] * len(queries)
    if offer is not None:
        costs, errors = _costs(round_, queries, offer), offer.error(round_, BETA)
    alone = [
        {_key(each) for each in replace(table, measures=(measure,)).questions()} for measure in table.measures
    ]
    scope = scope_of(table.schema)
    return [
        ExplainedQuestion(
            _words(question, table),
            tuple(text for text, keys in zip(texts, alone, strict=True) if _key(question) in keys),
            math.prod(query.shape(scope)),
            cost,
            error,
        )
        for question, query, cost, error in zip(questions, queries, costs, errors, strict=True)
    ]


def explanation(questions: Sequence[ExplainedQuestion], unit: str | None) -> str:
    """The questions of a round, as text.

    Args:
        questions: the questions.
        unit: what the budget is counted in; None where there is none.
    """
    headings = ["question", "for", "numbers", *([f"cost, {unit}", "error at 95 %"] if unit else [])]
    rows = []
    for each in questions:
        row = [clean(each.words), clean(", ".join(each.serves)), f"{each.numbers:,}"]
        if unit:
            off = "none" if each.error == 0 else "unknown" if each.error is None else f"± {each.error:,.3g}"
            row += [amount(each.cost or Fraction(0)), off]
        rows.append(row)
    return plain_table(headings, rows, 2)


def _words(question: TableQuestion, table: Tabulating) -> str:
    kept = [scope_of(table.schema).code(table.groups[axis]).size for axis in question.axes]
    groups = f", in {math.prod(kept):,} groups" if kept else ", in all" if table.groups else ""
    some = " of those that count for it" if question.only is not None else ""
    if question.value is None:
        return f"how many rows{some}{groups}"
    if question.edges:
        return f"how many rows{some} between {len(question.edges) + 2} edges{groups}"
    for measure in table.measures:
        if measure.kind in ("mean", "share") and measure.value is not None:
            value, middle = centred(table.schema, measure.value)
            if value.key == question.value.key:
                return f"the sum of it, less {middle:g} a row{some}{groups}"
    return f"the sum of it{some}{groups}"


def _costs(round_: Round, queries: Sequence[Query], offer: Offer) -> list[Fraction]:
    """What each question costs: its part of the cost of the round."""
    terms = offer.terms(round_)
    parts = []
    for query, noise in zip(queries, terms.noises, strict=True):
        [part] = query.parts
        step = offer.scope.number(part).unit
        if isinstance(noise, DiscreteLaplace):
            parts.append(noise.epsilon(moves(offer.scope, part, 1, offer.neighbours) / step))
        elif isinstance(noise, DiscreteGaussian | FinerGaussian):
            parts.append(noise.rho(moves(offer.scope, part, 2, offer.neighbours) / step**2))
        else:
            parts.append(Fraction(0))
    whole = sum(parts, Fraction(0))
    return [terms.cost * part / whole if whole else Fraction(0) for part in parts]


def _key(question: TableQuestion) -> tuple[object, ...]:
    nodes = (question.value, question.only)
    return question.axes, question.edges, *(None if node is None else node.key for node in nodes)
