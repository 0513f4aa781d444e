"""Aggregates, and what a SELECT computes of them, read into measures and formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from sulq.errors import QueryError
from sulq.hypotheses.formulas import Formula, FormulaStep
from sulq.hypotheses.measures import Kind, Measure
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Category
from sulq.statements.computations import Computation, folded, number, scaled
from sulq.statements.refusals import AGGREGATES as NAMES
from sulq.statements.refusals import FOR_AGGREGATES, Tree, refused, written
from sulq.statements.rows import NUMBERS, RELATIONS, RowReader
from sulq.statements.values import Const, Day, Truth, Value, both, numbered, words

LEVELS = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)
AGGREGATES = (exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Median, *LEVELS)
DISTINCT = "which values are there", "GROUP BY the column: its possible values are public"
OPERATIONS: dict[type[Tree], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


@dataclass(frozen=True, eq=False)
class AggregateReader:
    """Reads expressions over aggregates, and collects what has to be measured for them.

    Args:
        rows: reads what is inside of aggregates.
        aliases: expressions that have a name in the statement, by that name in lower case.
        measures: what has to be measured.
        texts: how the statement writes each measure, for people.
    """

    rows: RowReader
    aliases: dict[str, Tree] = field(default_factory=dict)
    measures: list[Measure] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def part(self, tree: Tree) -> Computation:
        """Something computed of aggregates, or a refusal."""
        if isinstance(tree, exp.Paren | exp.Alias):
            return self.part(tree.this)
        if isinstance(tree, exp.Filter | exp.WithinGroup | exp.AggFunc):
            return self._aggregate(tree, tree, None)
        if isinstance(tree, exp.Literal) and not tree.args["is_string"]:
            constant = self.rows.read(tree)
            assert isinstance(constant, Const) and isinstance(constant.value, Fraction)
            return number(constant.value)
        if type(tree) in OPERATIONS:
            return self._operation(OPERATIONS[type(tree)], tree)
        if isinstance(tree, exp.Neg):
            return scaled(self.part(tree.this), Fraction(-1))
        if isinstance(tree, exp.Round | exp.Floor | exp.Ceil | exp.Abs):
            return self._function(tree)
        if isinstance(tree, exp.Cast) and tree.args["to"].this.name in NUMBERS[:2]:
            return self.part(tree.this)
        if isinstance(tree, exp.Column) and not tree.args.get("table"):
            named = self.aliases.get(tree.name.lower())
            if named is not None and named.find(exp.AggFunc) is not None:
                return self._named(tree.name.lower()).part(named)
        raise self._refused(tree)

    def condition(self, tree: Tree) -> Formula:
        """A condition on aggregates, as HAVING has it."""
        if isinstance(tree, exp.Paren):
            return self.condition(tree.this)
        if isinstance(tree, exp.And | exp.Or):
            word = "and" if isinstance(tree, exp.And) else "or"
            return (*self.condition(tree.this), *self.condition(tree.expression), FormulaStep(word))
        if isinstance(tree, exp.Not):
            return (*self.condition(tree.this), FormulaStep("not"))
        if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            self._check_aggregates(tree)
            value = self.part(tree.this).formula
            low, high = (self.part(tree.args[end]).formula for end in ("low", "high"))
            return (*value, *low, FormulaStep(">="), *value, *high, FormulaStep("<="), FormulaStep("and"))
        self._check_aggregates(tree)
        if type(tree) in RELATIONS:
            sides = self.part(tree.this).formula, self.part(tree.expression).formula
            return (*sides[0], *sides[1], FormulaStep(RELATIONS[type(tree)]))
        raise QueryError(f"HAVING compares aggregates, as in count(*) > 100: {written(tree)} does not")

    def _check_aggregates(self, tree: Tree) -> None:
        for column in tree.find_all(exp.Column):
            named = self.aliases.get(column.name.lower())
            if column.find_ancestor(exp.AggFunc) is None and (named is None or not named.find(exp.AggFunc)):
                raise QueryError(
                    f"HAVING compares aggregates: a condition on {written(column)} belongs in WHERE"
                )

    def _named(self, name: str) -> AggregateReader:
        """A reader for what has a name, which does not know the name itself."""
        rest = {each: tree for each, tree in self.aliases.items() if each != name}
        return AggregateReader(self.rows, rest, self.measures, self.texts)

    def _aggregate(self, tree: Tree, whole: Tree, only: Node | None) -> Computation:
        if isinstance(tree, exp.Filter):
            if not isinstance(tree.expression, exp.Where):
                raise refused(tree)
            where = self.rows.condition(tree.expression.this, "FILTER (WHERE …)")
            return self._aggregate(tree.this, whole, both(only, where.yes))
        if isinstance(tree, exp.WithinGroup):
            return self._ordered(tree, whole, only)
        if not isinstance(tree, AGGREGATES):
            raise refused(tree)
        inner = tree.this
        if isinstance(inner, exp.Distinct):
            raise refused(tree, *DISTINCT)
        if isinstance(inner, exp.Order):
            raise refused(tree, "an order within an aggregate", "leave the ORDER BY out")
        if isinstance(tree, exp.Count):
            return self._count(tree, whole, only)
        if inner is None or isinstance(inner, exp.Star):
            raise refused(tree, "*", f"name a column in it; {_known(self)}")
        value = self._inside(inner)
        if isinstance(tree, exp.CountIf):
            if not isinstance(value, Truth):
                raise QueryError(f"{written(tree)} takes a condition, not {words(value)}")
            return self._measured("count", whole, only=both(only, value.yes))
        if isinstance(tree, exp.Median):
            return self._quantile(value, Fraction(1, 2), True, whole, only)
        if isinstance(tree, LEVELS):
            level = tree.args.get("quantile") if isinstance(tree, exp.Quantile) else tree.expression
            return self._quantile(
                value, self._level(level, tree), isinstance(tree, exp.PercentileCont), whole, only
            )
        return self._summed("sum" if isinstance(tree, exp.Sum) else "mean", value, whole, only)

    def _count(self, tree: Tree, whole: Tree, only: Node | None) -> Computation:
        if tree.expressions:
            raise refused(tree, "a count of several columns", "count one column, or count(*)")
        if tree.this is None or isinstance(tree.this, exp.Star):
            if isinstance(tree.this, exp.Star) and any(tree.this.args.values()):
                raise refused(tree.this)
            return self._measured("count", whole, only=only)
        value = self._inside(tree.this)
        if isinstance(value, Const):
            if value.value is None:
                raise QueryError("count(NULL) is 0: write count(*), or count(x) for the rows that have x")
            return self._measured("count", whole, only=only)
        return self._measured("count", whole, only=both(only, value.present))

    def _summed(self, kind: Kind, value: Value, whole: Tree, only: Node | None) -> Computation:
        if isinstance(value, Truth) and kind == "mean":
            raise QueryError(
                f"{written(whole)}: a condition has no average in SQL: write avg(CAST(x AS INT))"
            )
        if isinstance(value, Truth):
            return self._measured("sum", whole, value.yes, only=both(only, value.present))
        if isinstance(value, Const):
            raise QueryError(f"{written(whole)} adds up a constant: write count(*), times the constant")
        found = numbered(value)
        if found is None:
            raise QueryError(f"{written(whole)} takes a number, not {words(value)}{_for_days(value)}")
        share = kind == "mean" and scope_of(self.rows.schema).number(found.node).flag
        kept = both(only, found.present)
        return scaled(self._measured("share" if share else kind, whole, found.node, only=kept), found.scale)

    def _quantile(
        self, value: Value, level: Fraction, interpolated: bool, whole: Tree, only: Node | None
    ) -> Computation:
        found = None if isinstance(value, Const) else numbered(value)
        if found is None:
            raise QueryError(f"{written(whole)} takes a number, not {words(value)}{_for_days(value)}")
        node, scale = (found.node, found.scale) if found.scale > 0 else (-found.node, -found.scale)
        only = both(only, found.present)
        return scaled(self._measured("quantile", whole, node, float(level), only, interpolated), scale)

    def _ordered(self, tree: Tree, whole: Tree, only: Node | None) -> Computation:
        """PERCENTILE_CONT(level) WITHIN GROUP (ORDER BY value)."""
        inner, ordered = tree.this, tree.expression.expressions
        if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(ordered) != 1:
            raise refused(inner if type(inner) in FOR_AGGREGATES else tree)
        if ordered[0].args.get("desc"):
            raise refused(tree, "DESC in a quantile", "take the level from the other end, as 0.1 for 0.9")
        value, level = self._inside(ordered[0].this), self._level(inner.this, tree)
        return self._quantile(value, level, isinstance(inner, exp.PercentileCont), whole, only)

    def _level(self, tree: Tree | None, whole: Tree) -> Fraction:
        value = self.rows.read(tree) if isinstance(tree, exp.Literal) else None
        level = value.value if isinstance(value, Const) else None
        if not isinstance(level, Fraction) or not 0 < level < 1:
            raise QueryError(
                f"{written(whole)}: a quantile has one level between 0 and 1, as quantile_cont(x, 0.9)"
            )
        return level

    def _inside(self, tree: Tree) -> Value:
        """What is aggregated, which has no aggregates in it."""
        if (nested := tree.find(exp.AggFunc, exp.Window)) is not None:
            raise QueryError(
                f"{written(nested)}: aggregates cannot lie inside each other: ask for the inner "
                "ones in groups, and compute with the answers"
            )
        return self.rows.read(tree)

    def _measured(
        self,
        kind: Kind,
        tree: Tree,
        value: Node | None = None,
        level: float | None = None,
        only: Node | None = None,
        interpolated: bool = False,
    ) -> Computation:
        measure = Measure(kind, value, level, only, interpolated)
        keys = [_key(each) for each in self.measures]
        if _key(measure) not in keys:
            self.measures.append(measure)
            self.texts.append(written(tree))
            keys.append(_key(measure))
        place = keys.index(_key(measure))
        return Computation((FormulaStep("measure", place),), place)

    def _operation(self, word: str, tree: Tree) -> Computation:
        left, right = self.part(tree.this), self.part(tree.expression)
        if left.constant and right.constant:
            return number(folded(word, left.factor, right.factor))
        if word == "*" and (left.constant or right.constant):
            part, by = (right, left) if left.constant else (left, right)
            if by.factor:
                return scaled(part, by.factor)
        if word == "/" and right.constant:
            if not right.factor:
                raise QueryError(f"{written(tree)}: division by 0 is NULL: leave it out")
            return scaled(left, 1 / right.factor)
        if word == "/" and (ratio := self._ratio(left, right, tree)) is not None:
            return ratio
        return Computation((*left.formula, *right.formula, FormulaStep(word)), None)

    def _ratio(self, left: Computation, right: Computation, tree: Tree) -> Computation | None:
        """A sum or a count over the count of the same rows: an average or a share, which is less noisy."""
        if left.single is None or right.single is None:
            return None
        top, bottom = self.measures[left.single], self.measures[right.single]
        if bottom.kind != "count":
            return None
        factor = left.factor / right.factor
        if top.kind == "count" and top.only is not None and bottom.only is None:
            return scaled(self._measured("share", tree, top.only), factor)
        same = (None if each.only is None else each.only.key for each in (top, bottom))
        if top.kind == "sum" and len(set(same)) == 1:
            return scaled(self._measured("mean", tree, top.value, only=top.only), factor)
        return None

    def _function(self, tree: Tree) -> Computation:
        part = self.part(tree.this)
        if part.constant:
            raise QueryError(f"{written(tree)} is the same for every row: write the number itself")
        if not isinstance(tree, exp.Round):
            if tree.args.get("decimals") is not None:
                raise refused(tree)
            names: dict[type[Tree], str] = {exp.Floor: "floor", exp.Ceil: "ceil", exp.Abs: "abs"}
            return Computation((*part.formula, FormulaStep(names[type(tree)])), None)
        decimals = tree.args.get("decimals")
        places = number(Fraction(0)) if decimals is None else self.part(decimals)
        if not places.constant or places.factor.denominator > 1 or abs(places.factor) > 15:
            raise QueryError(f"{written(tree)}: round takes 15 decimals at most, as in round(x, 2)")
        return Computation((*part.formula, FormulaStep("round", int(places.factor))), None)

    def _refused(self, tree: Tree) -> QueryError:
        if isinstance(tree, exp.Cast):
            return refused(tree, f"a cast to {tree.args['to'].this.name}", "write round(…) or floor(…)")
        aggregated = tree.find(exp.AggFunc) is not None and tree.find(exp.Window, exp.Subquery) is None
        if isinstance(tree, exp.Anonymous) or aggregated:
            return QueryError(
                f"{written(tree)} is not answered here: there are {NAMES}, and + - * / round of them"
            )
        column = tree.find(exp.Column)
        if type(tree) not in (exp.Window, exp.Subquery, exp.Star, exp.Columns) and column is not None:
            name = self.rows.column(column)
            text = isinstance(self.rows.schema[name], Category)
            return QueryError(
                f"column {name!r} is neither in GROUP BY nor within an aggregate, so it would show single "
                f"rows: GROUP BY it, or ask for {'count(*)' if text else f'avg({name})'} and the like"
            )
        return refused(tree)


def _key(measure: Measure) -> tuple[object, ...]:
    nodes = (measure.value, measure.only)
    return (
        measure.kind,
        measure.level,
        measure.interpolated,
        *(None if each is None else each.key for each in nodes),
    )


def _for_days(value: Value) -> str:
    return ": ask it of x - DATE '2000-01-01', the number of days" if isinstance(value, Day) else ""


def _known(reader: AggregateReader) -> str:
    return f"there are {', '.join(reader.rows.schema.attributes)}"
