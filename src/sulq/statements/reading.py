"""A SELECT, read against a schema: what is grouped, what is measured, and what is shown of it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

from sqlglot import exp

from sulq.errors import QueryError
from sulq.hypotheses.formulas import MOST_STEPS, Formula, measures_of
from sulq.hypotheses.measures import Measure
from sulq.hypotheses.result_rows import GroupAxis, Order, Output
from sulq.queries.missing import certainly_known
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.statements.aggregates import AggregateReader
from sulq.statements.cases import group_of
from sulq.statements.parsing import parsed, table_names
from sulq.statements.refusals import Tree, refused, written
from sulq.statements.rows import RowReader
from sulq.statements.values import Level

MOST_SETS = 64


@dataclass(frozen=True, eq=False)
class SelectRead:
    """What a SELECT asks for.

    Args:
        by: the groups, an axis each.
        axes: what the places of each group are called.
        where: the rows that are looked at; None for all of them.
        measures: what is measured in every group.
        texts: how the statement writes each measure.
        outputs: the columns, in the order of the SELECT.
        sets: the groups that are kept, for each grouping set.
        having: a formula that decides which rows are shown; empty for all of them.
        order: what the rows are sorted by.
        limit: how many rows are shown at most; None for all.
        offset: how many rows are left out first.
    """

    by: tuple[Node, ...]
    axes: tuple[GroupAxis, ...]
    where: Node | None
    measures: tuple[Measure, ...]
    texts: tuple[str, ...]
    outputs: tuple[Output, ...]
    sets: tuple[tuple[int, ...], ...]
    having: Formula
    order: tuple[Order, ...]
    limit: int | None
    offset: int


def read(text: str, schema: Schema) -> SelectRead:
    """What a statement asks for, or a refusal in one line.

    Args:
        text: the SELECT.
        schema: what is public about the columns.

    >>> from sulq.schema import Boolean
    >>> read("SELECT sick, count(*) FROM people GROUP BY sick", Schema({"sick": Boolean()})).axes
    (GroupAxis(labels=('false', 'true'), kind='boolean'),)
    """
    try:
        return _Reading(parsed(text), schema).result()
    except RecursionError:
        raise QueryError("this statement has too many expressions inside each other") from None


class _Reading:
    def __init__(self, select: exp.Select, schema: Schema) -> None:
        self._select = select
        self._schema = schema
        rows = RowReader(schema, table_names(select))
        where = select.args.get("where")
        self._where = None if where is None else rows.condition(where.this, "WHERE").yes
        self._rows = replace(rows, certain=certainly_known(self._where))
        named = {item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
        self._aggregates = AggregateReader(self._rows, named)
        self._groups: dict[tuple[str, GroupAxis], Node] = {}

    def result(self) -> SelectRead:
        sets = self._sets()
        outputs = tuple(self._output(item) for item in self._select.expressions)
        having = self._select.args.get("having")
        formula = () if having is None else self._aggregates.condition(having.this)
        order = tuple(self._orders(outputs))
        if len({measure for output in outputs for measure in measures_of(output.formula)}) == 0:
            raise QueryError(
                "this SELECT asks for nothing but groups, which are public: add an aggregate, as count(*)"
            )
        return self._pruned(
            SelectRead(
                tuple(self._groups.values()),
                tuple(axis for _, axis in self._groups),
                self._where,
                tuple(self._aggregates.measures),
                tuple(self._aggregates.texts),
                outputs,
                sets,
                formula,
                order,
                self._whole("limit"),
                self._whole("offset") or 0,
            )
        )

    def _pruned(self, select: SelectRead) -> SelectRead:
        """Without the measures that nothing is computed from: each would cost a part of the budget."""
        formulas = [
            *(output.formula for output in select.outputs),
            select.having,
            *(order.by.formula for order in select.order),
        ]
        if any(len(formula) > MOST_STEPS for formula in formulas):
            raise QueryError(f"an expression of aggregates has at most {MOST_STEPS:,} steps")
        used = sorted({measure for formula in formulas for measure in measures_of(formula)})

        def renumbered(formula: Formula) -> Formula:
            return tuple(
                replace(step, number=used.index(int(step.number))) if step.do == "measure" else step
                for step in formula
            )

        def column(output: Output) -> Output:
            return replace(output, formula=renumbered(output.formula))

        return replace(
            select,
            measures=tuple(select.measures[place] for place in used),
            texts=tuple(select.texts[place] for place in used),
            outputs=tuple(map(column, select.outputs)),
            having=renumbered(select.having),
            order=tuple(replace(order, by=column(order.by)) for order in select.order),
        )

    def _output(self, item: Tree) -> Output:
        name = item.alias if isinstance(item, exp.Alias) else written(item)
        axis = self._axis(item)
        return Output(name, axis, () if axis is not None else self._computed(item))

    def _computed(self, item: Tree) -> Formula:
        part = self._aggregates.part(item)
        if part.constant:
            raise QueryError(f"{written(item)} is a constant: leave it out of the SELECT")
        return part.formula

    def _axis(self, item: Tree) -> int | None:
        """Which group an expression is; None if it is none."""
        tree = item.unalias()
        if (
            tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.Select, exp.Star) is not None
            or not self._groups
        ):
            return None
        keys = list(self._groups)
        if isinstance(tree, exp.Column) and not self._is_column(tree):
            tree = self._aggregates.aliases.get(tree.name.lower(), tree)
            if tree.find(exp.AggFunc) is not None:
                return None
        if tree.find(exp.Column) is None:
            return None
        key = self._group_key(tree)[0]
        return keys.index(key) if key in keys else None

    def _is_column(self, tree: Tree) -> bool:
        return any(name.lower() == tree.name.lower() for name in self._schema)

    def _group_key(self, tree: Tree) -> tuple[tuple[str, GroupAxis], Node]:
        node, levels = group_of(self._rows.read(tree), self._schema, written(tree))
        first = next(level for level in levels if level is not None)
        kind = "boolean" if isinstance(first, bool) else "number" if isinstance(first, Fraction) else "text"
        axis = GroupAxis(tuple(_label(level) for level in levels), kind)
        return (node.key, axis), node

    def _group(self, tree: Tree) -> int:
        """The axis of an expression in GROUP BY."""
        if isinstance(tree, exp.Paren):
            return self._group(tree.this)
        if isinstance(tree, exp.Literal) and not tree.args["is_string"]:
            return self._group(self._item(tree, "GROUP BY").unalias())
        if isinstance(tree, exp.Column) and not self._is_column(tree):
            tree = self._aggregates.aliases.get(tree.name.lower(), tree)
        if tree.find(exp.AggFunc) is not None:
            raise QueryError(f"{written(tree)}: GROUP BY takes what a row has, not an aggregate")
        key, node = self._group_key(tree)
        self._groups.setdefault(key, node)
        return list(self._groups).index(key)

    def _item(self, tree: Tree, clause: str) -> Tree:
        """The column of the SELECT at a position."""
        items = self._select.expressions
        if not tree.name.isdigit() or not 1 <= int(tree.name) <= len(items):
            raise QueryError(f"{clause} {tree.name[:40]} is no column of the SELECT, which has {len(items)}")
        item: Tree = items[int(tree.name) - 1]
        return item

    def _sets(self) -> tuple[tuple[int, ...], ...]:
        """The groups that each grouping set keeps."""
        group = self._select.args.get("group")
        if group is None:
            return ((),)
        if group.args.get("all"):
            items = [item.unalias() for item in self._select.expressions]
            return (tuple(dict.fromkeys(self._group(item) for item in items if not item.find(exp.AggFunc))),)
        parts = [self._parts(tree) for tree in group.expressions]
        for name in ("rollup", "cube", "grouping_sets"):
            parts += [self._parts(tree) for tree in group.args.get(name) or () if isinstance(tree, Tree)]
        sets = [tuple(dict.fromkeys(axis for each in chosen for axis in each)) for chosen in product(*parts)]
        if len(sets) > MOST_SETS:
            raise QueryError(f"a SELECT has {MOST_SETS} grouping sets at most, not {len(sets)}")
        return tuple(sets)

    def _parts(self, tree: Tree) -> list[tuple[int, ...]]:
        """The grouping sets of one item of GROUP BY."""
        if isinstance(tree, exp.GroupingSets):
            return [chosen for each in tree.expressions for chosen in self._parts(each)]
        if isinstance(tree, exp.Rollup | exp.Cube):
            each = [self._together(one) for one in tree.expressions]
            if isinstance(tree, exp.Rollup):
                chosen = [each[:many] for many in range(len(each), -1, -1)]
            elif len(each) > 6:
                raise QueryError("CUBE takes 6 groups at most")
            else:
                chosen = [
                    list(some) for many in range(len(each), -1, -1) for some in combinations(each, many)
                ]
            return [tuple(axis for one in some for axis in one) for some in chosen]
        return [self._together(tree)]

    def _together(self, tree: Tree) -> tuple[int, ...]:
        if isinstance(tree, exp.Tuple):
            return tuple(self._group(one) for one in tree.expressions)
        return (self._group(tree),)

    def _orders(self, outputs: Sequence[Output]) -> list[Order]:
        clause = self._select.args.get("order")
        orders = []
        for ordered in () if clause is None else clause.expressions:
            if not isinstance(ordered, exp.Ordered) or ordered.args.get("with_fill"):
                raise refused(ordered)
            sides = bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
            tree = ordered.this
            if isinstance(tree, exp.Var) and tree.name.upper() == "ALL":
                orders += [Order(output, *sides) for output in outputs]
                continue
            if isinstance(tree, exp.Literal) and not tree.args["is_string"]:
                item = self._item(tree, "ORDER BY")
                place = [each is item for each in self._select.expressions].index(True)
                orders.append(Order(outputs[place], *sides))
                continue
            names = [output.name.lower() for output in outputs]
            if isinstance(tree, exp.Column) and tree.name.lower() in names and not tree.args.get("table"):
                orders.append(Order(outputs[names.index(tree.name.lower())], *sides))
                continue
            orders.append(Order(self._output(tree), *sides))
        return orders

    def _whole(self, clause: str) -> int | None:
        given = self._select.args.get(clause)
        if given is None:
            return None
        number = given.expression
        plain = isinstance(number, exp.Literal) and not number.args["is_string"] and number.name.isdigit()
        if not plain or given.args.get("limit_options") or len(number.name) > 9 or given.args.get("offset"):
            raise QueryError(f"{clause.upper()} takes a whole number, as {clause.upper()} 10")
        return int(number.name)


def _label(level: Level | bool | None) -> str | None:
    if level is None or isinstance(level, str):
        return level
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, datetime.date):
        return level.isoformat()
    return str(level.numerator) if level.denominator == 1 else repr(float(level))
