"""One private choice: which conditions tell two classes apart. Then how often they do, or how columns do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np

from sulq.classes.base import Setting
from sulq.classes.pick import Pick
from sulq.classes.small import SmallConjunctions
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.tree import End, Split, Tree
from sulq.learners.additive import Additive
from sulq.learners.estimates import Floats, usually_off
from sulq.learners.id3 import edges_of
from sulq.queries.arithmetic import And, Compare, Not
from sulq.queries.attributes import Edges, column_names, condition, features_beside, looked_at
from sulq.queries.expressions import Column, Constant
from sulq.queries.node import Node
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Category, Integer, Real, Schema
from sulq.talk.oracle import Rounds

CHOICE, COLUMNS, AND = Fraction(4, 5), Fraction(1, 3), Fraction(1, 8)
"""The part of the budget for the choice, by what the rest is for: counts of the labels where conditions hold
and where not, the effects of the columns that the conditions are about, or the effects of all columns."""
SURELY = 2.0
"""How many standard deviations of noise another label must lead by to displace the one that was chosen."""
EVEN, HALVINGS = 16, 10
"""Into how many intervals of equal width a number is cut, and how often the distance to 0 is halved."""
MOST_CONDITIONS = 2
MOST_HYPOTHESES = 2**20
"""More hypotheses than these take long to compare: then one condition must do."""


def positive(schema: Schema, label: Node) -> tuple[Node, int, int] | None:
    """When a label has the second of its two values, and the places of both values; None if it has not two.

    Args:
        schema: what is public about the columns.
        label: the label.

    >>> import sulq
    >>> schema = sulq.Schema({"plan": sulq.Category(["free", "paid"]), "old": sulq.Boolean()})
    >>> positive(schema, sulq.col("old"))[1:], positive(schema, sulq.col("plan"))[1:]
    ((0, 1), (0, 1))
    """
    kind = schema[label.name] if isinstance(label, Column) else None
    if isinstance(kind, Category):
        if len(kind.values) != 2:
            return None
        no, yes = kind.values
        return Compare("==", label, Constant(yes)), kind.levels.index(no), kind.levels.index(yes)
    facts = scope_of(schema).facts(label)
    return (condition(label, schema), 0, 1) if getattr(facts, "flag", False) else None


def few_conditions(
    setting: Setting, features: Sequence[str] | None, edges: Mapping[str, Edges]
) -> SmallConjunctions:
    """The hypotheses to choose from: conjunctions of two conditions and their opposites, or of one.

    Args:
        setting: the schema, and the label as a truth value.
        features: the columns; None for all beside the label.
        edges: public edges of numbers, by column.
    """
    names = column_names(features_beside(setting.schema, features, setting.label), setting.schema)
    numbers = {name: kind for name in names if isinstance(kind := setting.schema[name], Integer | Real)}
    usual = {name: edges_of(kind, EVEN, HALVINGS) for name, kind in numbers.items()}
    cut = {name: each for name, each in (usual | dict(edges)).items() if each}
    small = SmallConjunctions(MOST_CONDITIONS, names, opposites=True, edges=cut)
    return small if small.size(setting) <= MOST_HYPOTHESES else replace(small, most=1)


def selected(
    schema: Schema,
    label: Node,
    features: Sequence[str] | None,
    edges: Mapping[str, Edges],
    share: Fraction,
) -> Rounds[Tree]:
    """Choose conditions, and count the labels where each of them fails first and where all hold.

    Args:
        schema: what is public about the columns.
        label: what is predicted; `positive` has a condition for it.
        features: the columns; None for all beside the label.
        edges: public edges of numbers, by column.
        share: the part of the budget to spend.
    """
    literals, labels = yield from _chosen(schema, label, features, edges, share * CHOICE)
    tree = _nested(schema, label, literals, labels)
    return (yield from _with_counts(tree, share * (1 - CHOICE)))


def selected_effects(
    schema: Schema,
    label: Node,
    features: Sequence[str] | None,
    edges: Mapping[str, Edges],
    share: Fraction,
    every: bool = False,
) -> Rounds[AdditiveModel | Tree]:
    """Choose conditions, and learn an additive model of the columns they are about, or of all columns.

    The conditions, together, are one more attribute of it: effects that add up do not say "and", and what was
    chosen is clear where columns in many bins are not. If no condition was better than none, and no columns
    are to be learned from beside them, the labels are counted.

    Args:
        schema: what is public about the columns.
        label: what is predicted; `positive` has a condition for it.
        features: the columns; None for all beside the label.
        edges: public edges of numbers, by column.
        share: the part of the budget to spend.
        every: whether the model has an effect of every column.
    """
    part = AND if every else COLUMNS
    literals, labels = yield from _chosen(schema, label, features, edges, share * part)
    if not literals and not every:
        return (yield from _with_counts(_nested(schema, label, literals, labels), share * (1 - part)))
    names = sorted(frozenset[str]().union(*map(looked_at, literals)))
    attributes = list(features_beside(schema, features if every else names, label))
    if literals and (rule := reduce(And, literals)).key not in {column.key for column in attributes}:
        attributes.append(rule)
    cut = {name: each for name, each in edges.items() if every or name in names}
    return (yield from Additive(label, attributes, cut, share=share * (1 - part)).rounds(schema))


def _chosen(
    schema: Schema,
    label: Node,
    features: Sequence[str] | None,
    edges: Mapping[str, Edges],
    share: Fraction,
) -> Rounds[tuple[tuple[Node, ...], tuple[int, int]]]:
    """The conditions that err least often, and the labels where one of them fails and where all hold."""
    classes = positive(schema, label)
    assert classes is not None
    true, no, yes = classes
    setting = Setting(schema, true)
    hypotheses = few_conditions(setting, features, edges)
    [best] = yield Round([Pick(hypotheses, true)], share)
    literals, inside = conditions_of(hypotheses.hypothesis(int(best.value), setting))
    return literals, (no, yes) if inside else (yes, no)


def _with_counts(tree: Tree, share: Fraction) -> Rounds[Tree]:
    """A tree once the labels at its ends are counted."""
    ends = len(tree.ends)
    [answer] = yield Round([count(by=[tree.route(list(range(ends)), ends), tree.label])], share)
    counts = np.reshape(np.asarray(answer.value, dtype=np.float64), (ends, -1))
    return counted(tree, counts, usually_off(answer))


def conditions_of(hypothesis: Hypothesis) -> tuple[tuple[Node, ...], bool]:
    """The conditions of a conjunction or of the opposite of one, and whether it says yes where they hold."""
    said, holds = hypothesis.expression, True
    if isinstance(said, Not):
        said, holds = said.inner, False
    literals: list[Node] = []
    while isinstance(said, And):
        literals.insert(0, said.right)
        said = said.left
    return (() if isinstance(said, Constant) else (said, *literals)), holds


def counted(tree: Tree, counts: Floats, noise: float) -> Tree:
    """A tree with counts at its ends. An end keeps its label unless another one leads by more than noise.

    Args:
        tree: the tree, whose ends have the labels that were chosen.
        counts: how many rows have each label, at each end.
        noise: one standard deviation of the noise in a count.
    """
    ends = iter(
        End(_label(end.label, row, noise), tuple(row.tolist()), noise)
        for end, row in zip(tree.ends, counts, strict=True)
    )

    def filled(node: Split | End) -> Split | End:
        if isinstance(node, End):
            return next(ends)
        return Split(node.question, tuple(filled(branch) for branch in node.branches))

    return replace(tree, root=filled(tree.root))


def _label(chosen: int, counts: Floats, noise: float) -> int:
    best = int(counts.argmax())
    spread = np.hypot(SURELY * noise * 2**0.5, max(0.0, float(counts[best] + counts[chosen])) ** 0.5)
    return best if counts[best] - counts[chosen] > spread else chosen


def _nested(schema: Schema, label: Node, literals: Sequence[Node], labels: tuple[int, int]) -> Tree:
    """One condition after the other, and at the ends the label where one fails, and where all hold."""
    outside, inside = labels
    root: Split | End = End(inside, ())
    for place in reversed(range(len(literals))):
        root = Split(place, (End(outside, ()), root))
    return Tree(schema, None, label, tuple(literals), root)
