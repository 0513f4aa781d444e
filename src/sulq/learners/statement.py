"""A SELECT in SQL, as a learner: it asks one round, and runs under every trust model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sulq.errors import QueryError, SulqError
from sulq.hypotheses.result_set import ResultSet
from sulq.learners.explaining import ExplainedQuestion, explained_questions, explanation
from sulq.learners.learner import Learner
from sulq.learners.tabulating import Tabulating
from sulq.numbers import Numeric
from sulq.queries.attributes import Edges
from sulq.schema import Schema
from sulq.talk.offer import Offer
from sulq.talk.oracle import Oracle, Rounds

if TYPE_CHECKING:
    from sulq.statements.reading import SelectRead


@dataclass(frozen=True)
class Statement(Learner[ResultSet]):
    """Learns what a SELECT asks for: aggregates in groups, with error bars.

    The statement is one SELECT over one table, in the dialect of DuckDB. What cannot be answered privately is
    refused in one line that says what to ask instead. It needs sqlglot: `pip install 'sulq[sql]'`.

    Args:
        text: the SELECT. FROM may name the table as it likes.
        bins: public edges by column: between which the rows are counted for quantiles of it. By default
            there is an edge at each whole number, or about 4,096 of them, which are close together near 0;
            fewer if there are many groups.
        margins: whether the sums over all groups but one are asked for too. By default they are sums of
            cells, which leaves more of the budget to the cells.
        share: the part of the budget to spend.

    >>> import sulq
    >>> text = "SELECT sex, count(*) AS n, median(age) FROM people WHERE age >= 18 GROUP BY sex ORDER BY n"
    >>> print(Statement(text).learn(sulq.randhie().exact()).describe())
    sex         n  median(age)
    male    5,559           34
    female  6,528           34
    """

    text: str
    bins: Mapping[str, Edges] = field(default_factory=dict)
    margins: bool = False
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[ResultSet]:
        select = self.read(schema)
        asked = yield from self.tabulating(schema).round(self.share)
        return ResultSet(
            schema,
            None,
            self.text,
            select.by,
            select.axes,
            select.where,
            select.measures,
            select.outputs,
            select.sets,
            select.having,
            select.order,
            select.limit,
            select.offset,
            asked,
        )

    def tabulating(self, schema: Schema) -> Tabulating:
        """How the statement is asked.

        Args:
            schema: what is public about the columns.
        """
        for name in self.bins:
            schema[name]  # a name that is not there is refused here, with the names that are
        select = self.read(schema)
        return Tabulating(schema, select.by, select.where, select.measures, self.bins, self.margins)

    def read(self, schema: Schema) -> SelectRead:
        """What the statement asks for.

        Args:
            schema: what is public about the columns.
        """
        try:
            from sulq.statements.reading import read
        except ModuleNotFoundError as error:
            if error.name != "sqlglot":
                raise
            raise SulqError(
                "SQL is read by sqlglot, which is not installed: pip install 'sulq[sql]'"
            ) from None
        if not isinstance(self.text, str):
            raise QueryError(f"a statement is a text, not {type(self.text).__name__}")
        if explained(self.text)[0]:
            raise QueryError(
                "EXPLAIN is for `sulq sql`; in Python, Statement(…).explain(oracle) shows the round"
            )
        return read(self.text, schema)

    def explain(self, oracle: Oracle) -> str:
        """The round in words: what is asked, for which figures, at what cost and how well answered.

        Nothing is asked and nothing is spent.

        Args:
            oracle: whoever would answer. Costs and errors are said of a curator.

        >>> import sulq
        >>> statement = Statement("SELECT sex, count(*), avg(age) FROM people GROUP BY sex")
        >>> print(statement.explain(sulq.randhie().curator(epsilon=1)))
        question                              for                 numbers  cost, epsilon  error at 95 %
        how many rows, in 2 groups            count(*), avg(age)        2            ...
        the sum of it, less 35 a row, in 2 groups  avg(age)             2            ...
        """
        offer = getattr(oracle, "offer", None)
        questions = self.questions(oracle.schema, offer)
        return explanation(questions, None if offer is None else offer.unit)

    def questions(self, schema: Schema, offer: Offer | None = None) -> list[ExplainedQuestion]:
        """What is asked, question by question.

        Args:
            schema: what is public about the columns.
            offer: what a curator offers; None to leave costs and errors out.
        """
        return explained_questions(self.tabulating(schema), self.read(schema).texts, self.share, offer)


def explained(text: str) -> tuple[bool, str]:
    """Whether a statement only asks to be explained, and the statement itself.

    >>> explained("EXPLAIN SELECT count(*) FROM people")
    (True, 'SELECT count(*) FROM people')
    """
    match = re.match(r"\s*explain\b\s*(analyze\b)?", text, re.IGNORECASE)
    if match is None:
        return False, text
    if match.group(1):
        raise QueryError("EXPLAIN ANALYZE would run the statement: write EXPLAIN, which spends nothing")
    return True, text[match.end() :]


def sql(text: str, oracle: Oracle, run: str = "main", *, share: Numeric = 1) -> ResultSet:
    """The result of a SELECT, with error bars.

    Args:
        text: the SELECT, in the dialect of DuckDB, over one table.
        oracle: whoever answers: `source.exact()`, `source.curator(…)`, `source.crowd(…)` and so on.
        run: the name of the run in the oracle's ledger, if it has one.
        share: the part of the budget to spend.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> result = sql("SELECT sex, count(*) AS n FROM people GROUP BY sex", people.curator(epsilon=1))
    >>> result.to_frame("polars").columns
    ['sex', 'n', 'n low', 'n high', 'n telling']
    >>> sql("SELECT max(age) FROM people", people.curator(epsilon=1))
    Traceback (most recent call last):
    sulq.errors.QueryError: max(age): the largest value is one person's: ask for a quantile, as ...
    """
    return Statement(text, share=share).learn(oracle, run)
