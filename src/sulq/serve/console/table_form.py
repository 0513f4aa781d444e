"""A table as it is put together by clicking: from a form to a learner, an address and a piece of Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any, ClassVar
from urllib.parse import urlencode

from sulq.learners.table import Table
from sulq.queries.written import RELATIONS, comparison
from sulq.schema import Boolean, Category, Date, Integer, Real, Schema
from sulq.serve.console.choices import SHARE, Choices, check_names, numbers_in, share_in
from sulq.serve.refusals import RefusedError
from sulq.wire import digest, shown

MEASURES = ("mean", "sum", "median", "rate")
"""What is measured by clicking: fields of the form, each with the names of columns."""
CONDITIONS = ("where-column", "where-relation", "where-value")
BLANK = ("", "==", "")
MOST_LEVELS, MOST_EDGES, MOST_CONDITIONS = 20, 500, 20


@dataclass(frozen=True)
class TableForm:
    """What was clicked.

    Args:
        by: the columns of the groups.
        mean: the columns to average.
        sum: the columns to add up.
        median: the columns whose median is wanted.
        rate: the columns of which the share that is true is wanted.
        quantiles: columns, each with levels.
        bins: columns, each with edges.
        where: conditions that all have to hold: column, relation and value.
        share: the part of the budget to spend, as an exact number.
        run: the name of the run.
        rows: how many rows to expect, where their number is not public.

    >>> schema = Schema({"sick": Boolean(), "age": Integer(0, 120)})
    >>> form = TableForm.of(Choices.read("by=sick&mean=age&share=0.25&run=mine"), schema)
    >>> form.learner(schema).means, form.share, form.query
    (('age',), '1/4', 'by=sick&mean=age&share=1%2F4&run=mine')
    """

    kind: ClassVar[str] = "table"
    by: tuple[str, ...] = ()
    mean: tuple[str, ...] = ()
    sum: tuple[str, ...] = ()
    median: tuple[str, ...] = ()
    rate: tuple[str, ...] = ()
    quantiles: tuple[tuple[str, str], ...] = ()
    bins: tuple[tuple[str, str], ...] = ()
    where: tuple[tuple[str, str, str], ...] = ()
    share: str = SHARE
    run: str = ""
    rows: str = ""

    @classmethod
    def given(cls, choices: Choices, schema: Schema) -> TableForm:
        """What a form says, whether or not it makes sense: to show it again."""
        names = schema.attributes
        conditions = zip(*(choices.all(each) for each in CONDITIONS), strict=False)
        return cls(
            quantiles=_texts(choices, "quantiles", names),
            bins=_texts(choices, "bins", names),
            where=tuple((name, relation, value.strip()) for name, relation, value in conditions if name),
            share=choices.one("share", SHARE),
            run=choices.one("run"),
            rows=choices.one("rows"),
            **{each: tuple(dict.fromkeys(choices.all(each))) for each in ("by", *MEASURES)},
        )

    @classmethod
    def of(cls, choices: Choices, schema: Schema) -> TableForm:
        """What a form says, or a refusal. Without a name the run is called after what is asked."""
        form = cls.given(choices, schema)
        columns = [name for each in ("by", *MEASURES) for name in getattr(form, each)]
        check_names([*columns, *(name for name, _, _ in form.where)], schema.attributes)
        if len(form.where) > MOST_CONDITIONS:
            raise RefusedError("refused", f"a table has {MOST_CONDITIONS} conditions at most here")
        for _, relation, _ in form.where:
            if relation not in RELATIONS:
                raise RefusedError("malformed", f"a condition has one of {' '.join(RELATIONS)}")
        form = replace(form, share=share_in(form.share))
        _ = form.expected_rows  # refused here, and not once it is needed
        return form if form.run else replace(form, run=f"table-{digest(form.query)[:8]}")

    @property
    def expected_rows(self) -> int | None:
        """How many rows to expect, None if nobody says it."""
        if not self.rows:
            return None
        if not self.rows.isdecimal() or len(self.rows) > 12 or not int(self.rows):
            words = f"the rows to expect are a whole number from 1, not {shown(self.rows)}"
            raise RefusedError("refused", words)
        return int(self.rows)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of `sulq.Table` but for `where`, without those that say nothing."""
        settings = {
            "by": self.by,
            "sums": self.sum,
            "means": self.mean,
            "shares": self.rate,
            "medians": self.median,
            "quantiles": {
                name: numbers_in(levels, f"the quantiles of {name}", MOST_LEVELS)
                for name, levels in self.quantiles
            },
            "bins": {name: numbers_in(text, f"the edges of {name}", MOST_EDGES) for name, text in self.bins},
        }
        return {name: value for name, value in settings.items() if value} | {"share": self.share}

    def learner(self, schema: Schema) -> Table:
        """Who asks for the table."""
        conditions = [comparison(*each, schema) for each in self.where]
        return Table(**self.settings, where=reduce(and_, conditions) if conditions else None)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The form again, as names and values."""
        pairs = [("by", name) for name in self.by]
        pairs += [(each, name) for each in MEASURES for name in getattr(self, each)]
        pairs += [(f"quantiles:{name}", text) for name, text in self.quantiles]
        pairs += [(f"bins:{name}", text) for name, text in self.bins]
        for condition in self.where:
            pairs += list(zip(CONDITIONS, condition, strict=True))
        pairs.append(("share", self.share))
        return [*pairs, ("run", self.run)] if self.run else pairs

    @property
    def query(self) -> str:
        """The form as it stands in an address."""
        return urlencode(self.pairs)

    def python(self, url: str, dataset: str, schema: Schema) -> str:
        """Python that makes the same table, at no cost.

        Args:
            url: where the service is.
            dataset: the data set.
            schema: what is public about its columns.
        """
        settings = [f"    {name}={_code(value)}," for name, value in self.settings.items()]
        if self.where:
            settings.insert(-1, f"    where={' & '.join(_condition(each, schema) for each in self.where)},")
        return "\n".join(
            [
                "import sulq",
                "",
                f"people = sulq.connect({url!r}, dataset={dataset!r})  # the key is read from SULQ_KEY",
                "table = sulq.Table(",
                *settings,
                f").learn(people, run={self.run!r})  # the same run: nothing is spent",
                "print(table.describe())",
            ]
        )

    @property
    def conditions(self) -> list[tuple[str, str, str]]:
        """Three conditions for a page to show, or one more than there are."""
        return [*self.where, *[BLANK] * max(1, 3 - len(self.where))]

    def level_text(self, name: str) -> str:
        return dict(self.quantiles).get(name, "")

    def edge_text(self, name: str) -> str:
        return dict(self.bins).get(name, "")


def groupable(schema: Schema) -> list[str]:
    """The columns that groups can be made of as they are."""
    return [name for name in schema.attributes if isinstance(schema[name], Boolean | Category)]


def true_or_false(schema: Schema) -> list[str]:
    """The columns that are true for a share of the rows."""
    return [name for name in schema.attributes if isinstance(schema[name], Boolean)]


def countable(schema: Schema) -> list[str]:
    """The columns of numbers and of days."""
    return [name for name in schema.attributes if isinstance(schema[name], Integer | Real | Date)]


def _texts(choices: Choices, what: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    given = ((name, choices.one(f"{what}:{name}")) for name in names)
    return tuple((name, text) for name, text in given if text)


def _code(value: Any) -> str:
    if isinstance(value, Mapping):
        return repr({name: list(each) for name, each in value.items()})
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _condition(condition: tuple[str, str, str], schema: Schema) -> str:
    name, relation, value = condition
    kind, column = schema[name], f"sulq.col({name!r})"
    if isinstance(kind, Boolean):
        return column if (value.lower() == "true") == (relation == "==") else f"~{column}"
    text = repr(value) if isinstance(kind, Category | Date) else str(_number(value))
    return f"({column} {relation} {text})"


def _number(text: str) -> float | int:
    [number] = numbers_in(text, "a number", 1)
    return int(text) if text.lstrip("+-").isdecimal() else number
