"""What a hypothesis says of a row beside what is true, as row expressions that can be counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis, words
from sulq.hypotheses.measures import bounds_of
from sulq.queries.arithmetic import Compare
from sulq.queries.attributes import attribute, looked_at
from sulq.queries.cases import clip
from sulq.queries.expressions import Constant
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.scope import Scope, scope_of
from sulq.schema import Schema


@dataclass(frozen=True)
class Verdict:
    """What is predicted and what is true, as positions among the same classes, or as two numbers.

    Args:
        predicted: what the hypothesis says of a row.
        truth: what is true of it.
        classes: the classes in order; none for numbers.
        likelihood: how likely the second of two classes is, if the hypothesis says so.
        margin: a number that orders rows by how sure the second of two classes is, if there is one.
    """

    predicted: Node
    truth: Node
    classes: tuple[str, ...]
    likelihood: Node | None
    margin: Node | None


def verdict(hypothesis: Hypothesis, label: str | Node | None, schema: Schema) -> Verdict:
    """What a hypothesis says of the rows of a schema, beside their label; a refusal if it tells no label.

    Args:
        hypothesis: what was learned.
        label: the truth: a column or an expression; None for what the hypothesis says it is about.
        schema: what is public about the columns of the rows.

    >>> import sulq
    >>> schema = sulq.Schema({"a": sulq.Boolean(), "y": sulq.Boolean()})
    >>> rule = sulq.hypotheses.Rule(schema, None, (sulq.col("a"),))
    >>> verdict(rule, "y", schema).classes
    ('false', 'true')
    """
    name = type(hypothesis).__name__
    if not isinstance(hypothesis, Hypothesis):
        raise QueryError(f"what is evaluated is a hypothesis, not {name}")
    if hypothesis.no_label:
        raise QueryError(f"{name} cannot be evaluated: it says {hypothesis.no_label}")
    given = label if label is not None else getattr(hypothesis, "label", None)
    if given is None:
        raise QueryError(f"{name} does not say what it is about: name the label to compare it with")
    truth = told_apart(given, schema)
    check_same_columns(hypothesis, truth, schema)
    return _compared(hypothesis, truth, schema)


def told_apart(label: str | Node, schema: Schema) -> Node:
    """A label as a row expression; a refusal if it has a single class, of which nothing can be told wrong.

    Args:
        label: a column or an expression.
        schema: what is public about the columns of the rows.
    """
    truth = attribute(schema, label)
    facts = scope_of(schema).facts(truth)
    if isinstance(facts, Code) and facts.size == 1:
        raise QueryError(f"{words(truth)} can only have one value: there is nothing to evaluate")
    return truth


def check_same_columns(hypothesis: Hypothesis, truth: Node, schema: Schema) -> None:
    """Refuse a hypothesis about columns that are declared otherwise here: it would read other values."""
    for name in sorted(looked_at(hypothesis.expression)):
        if schema[name] != hypothesis.schema[name]:
            raise QueryError(
                f"column {name!r} is declared otherwise than where {type(hypothesis).__name__} was learned"
            )
    for name in sorted(looked_at(truth) & set(hypothesis.schema)):
        if schema[name] != hypothesis.schema[name]:
            raise QueryError(
                f"the label's column {name!r} is declared otherwise than where "
                f"{type(hypothesis).__name__} was learned"
            )


def _compared(hypothesis: Hypothesis, truth: Node, schema: Schema) -> Verdict:
    scope = scope_of(schema)
    predicted, truth = _two_ways(hypothesis.expression, scope), _two_ways(truth, scope)
    says, is_ = scope.facts(predicted), scope.facts(truth)
    values: Any = getattr(hypothesis, "values", None) or getattr(hypothesis, "classes", None)
    if isinstance(is_, Code):
        levels = is_.levels or tuple(map(str, range(is_.size)))
        if isinstance(says, Code) and says.size == is_.size:
            return _of_classes(hypothesis, predicted, truth, levels)
        if not isinstance(says, Code) and says.flag and is_.size == 2:
            return _of_classes(hypothesis, predicted, truth, levels)
        if not isinstance(says, Code) and says.flag and isinstance(values, tuple) and len(values) == 2:
            one = Compare("==", truth, Constant(values[1]))
            return _of_classes(hypothesis, predicted, one, (f"not {values[1]}", values[1]))
    elif is_.flag:
        if (says.size if isinstance(says, Code) else 2 * says.flag) == 2:
            return _of_classes(hypothesis, predicted, truth, ("false", "true"))
    elif not isinstance(says, Code) and says.width == is_.width == 1 and _is_number(hypothesis, says.flag):
        # A row's error is then no larger than the label's bounds are apart.
        return Verdict(clip(hypothesis.expression, *bounds_of(schema, truth)), truth, (), None, None)
    raise QueryError(
        f"{type(hypothesis).__name__} says {_kind(says)} of a row, and {words(truth)} is {_kind(is_)}: these "
        "cannot be compared"
    )


def _is_number(hypothesis: Hypothesis, flag: bool) -> bool:
    """Whether a number is told: one that is always 0 or 1 looks like a truth value, but for its label."""
    about = getattr(hypothesis, "label", None)
    if not flag or about is None:
        return not flag
    facts = scope_of(hypothesis.schema).facts(attribute(hypothesis.schema, about))
    return not isinstance(facts, Code) and not facts.flag


def _two_ways(expression: Node, scope: Scope) -> Node:
    """A truth value that can be both: one that is the same for all rows would have a single class."""
    facts = scope.facts(expression)
    constant = not isinstance(facts, Code) and facts.flag and facts.low[0] == facts.high[0]
    return Compare(">", expression, Constant(0)) if constant else expression


def _of_classes(hypothesis: Hypothesis, predicted: Node, truth: Node, classes: tuple[str, ...]) -> Verdict:
    if len(classes) != 2:
        return Verdict(predicted, truth, classes, None, None)
    return Verdict(predicted, truth, classes, hypothesis.likelihood, hypothesis.margin)


def _kind(facts: Any) -> str:
    if isinstance(facts, Code):
        return f"one of {facts.size} classes"
    return "true or false" if facts.flag else "a number" if facts.width == 1 else "a vector"
