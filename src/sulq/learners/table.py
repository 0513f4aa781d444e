"""Tables: counts, sums, averages, shares and quantiles in groups, from one round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sulq.errors import QueryError
from sulq.hypotheses.measures import Measure
from sulq.hypotheses.tabulation import Tabulation
from sulq.learners.learner import Learner
from sulq.learners.tabulating import Tabulating
from sulq.numbers import Numeric
from sulq.queries.attributes import Edges, attribute, condition, distinct, edge_numbers
from sulq.queries.codes import bins
from sulq.queries.expressions import Column
from sulq.queries.missing import certainly_known, known_beside, looked_at_missing
from sulq.queries.node import Node
from sulq.schema import Schema
from sulq.talk.oracle import Rounds


@dataclass(frozen=True)
class Table(Learner[Tabulation]):
    """Learns a table: how many rows there are in each group, and what else is measured there.

    `Table(...).learn(curator)` makes a `Tabulation`: print it, show it in a notebook, or take `to_frame()`,
    `to_csv()`, `figures(name)` or `picture()` of it.

    All of it is asked in one round. An average is a sum over a count, and the count is paid for once; what is
    summed is the distance from the middle of the column's bounds, which needs half the noise. For quantiles,
    the rows between public edges are counted; where there are many edges, also between some of them only, so
    that the rows below an edge are a sum of few counts.

    Where the schema drops missing cells, a row is left out of every figure about a cell that it misses, and
    an average is over the rows that are known. A row that misses a cell of `where` or `by` is in no group.

    Args:
        by: the groups, an axis each: categories, booleans, small whole numbers, or what has few values.
        sums: numbers to add up in each cell.
        means: numbers to average.
        shares: conditions; which share of a cell's rows meets each.
        medians: numbers whose median is wanted.
        quantiles: columns, and for each the levels of its quantiles, as in {"age": [0.25, 0.75]}.
        where: only rows that meet this condition are looked at.
        bins: public edges by column: where a number in `by` is cut into groups, and between which edges the
            rows are counted for its quantiles. By default there is an edge at each whole number, or about
            4,096 of them, which are close together near 0; fewer if there are many cells.
        margins: whether the sums over all axes but one are asked for too. By default they are sums of cells,
            which leaves more of the budget to the cells.
        whole: whether counts are made whole numbers from 0 that add up.
        share: the part of the budget to spend.

    >>> import sulq
    >>> learner = Table(by=["sex"], medians=["age"], shares=["bought_drugs"], where=sulq.col("age") >= 18)
    >>> print(learner.learn(sulq.randhie().exact()).describe())
    sex      count  share bought_drugs  median age
    female   6,528           66.0386 %          34
    male     5,559           47.6525 %          34
    (all)   12,087           57.5825 %          34
    """

    by: Sequence[str | Node] = ()
    sums: Sequence[str | Node] = ()
    means: Sequence[str | Node] = ()
    shares: Sequence[str | Node] = ()
    medians: Sequence[str | Node] = ()
    quantiles: Mapping[str, Sequence[float]] = field(default_factory=dict)
    where: str | Node | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    margins: bool = False
    whole: bool = field(default=False, metadata={"asks": False})
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[Tabulation]:
        groups = self._groups(schema)
        where = None if self.where is None else condition(self.where, schema)
        where = known_beside(where, looked_at_missing([where, *groups], schema))
        measures = tuple(replace(each, only=_known(schema, each, where)) for each in self._measures(schema))
        table = Tabulating(schema, groups, where, measures, self.bins, self.margins)
        asked = yield from table.round(self.share)
        return Tabulation(schema, None, groups, where, measures, self.whole, asked)

    def _groups(self, schema: Schema) -> tuple[Node, ...]:
        given = distinct(schema, self.by, "by", "group")
        for name in self.bins:
            schema[name]  # a name that is not there is refused here, with the names that are
        return tuple(
            bins(group, edge_numbers(schema[group.name], self.bins[group.name]))
            if isinstance(group, Column) and group.name in self.bins
            else group
            for group in given
        )

    def _measures(self, schema: Schema) -> list[Measure]:
        measures = [Measure("count")]
        measures += [Measure("sum", each) for each in distinct(schema, self.sums, "sums", "sum")]
        measures += [Measure("mean", each) for each in distinct(schema, self.means, "means", "mean")]
        conditions = distinct(schema, self.shares, "shares", "share")
        measures += [Measure("share", condition(each, schema)) for each in conditions]
        medians = distinct(schema, self.medians, "medians", "median")
        measures += [Measure("quantile", each, 0.5) for each in medians]
        for name, levels in self.quantiles.items():
            for level in levels:
                if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
                    raise QueryError(f"a quantile of {name!r} has a level between 0 and 1, not {level!r}")
                measures.append(Measure("quantile", attribute(schema, name), float(level)))
        return measures


def _known(schema: Schema, measure: Measure, where: Node | None) -> Node | None:
    """Of which of the rows that meet a condition something is measured: of those that hold all it is made of.

    None for all of them: then their count, which the table has anyway, is not paid for again.
    """
    certain = certainly_known(where)
    return known_beside(None, [x for x in looked_at_missing([measure.value], schema) if x not in certain])
