"""What cannot be answered is refused in one line that says why and what to ask instead, before a row is read."""

from __future__ import annotations

import pytest

import sulq
from sulq.learners.statement import Statement
from tests.statements.people import SCHEMA

EXAMPLE = "a statement looks like 'SELECT ward, count(*), avg(cost) FROM people GROUP BY ward'"
ROWS = "name groups in GROUP BY and ask for aggregates, as count(*)"
ONE = "ask one SELECT of the table at a time"
NAMES = "count, count_if, sum, avg, median, quantile_cont, quantile_disc and their FILTER (WHERE …)"
SINGLE = (
    "column 'age' is neither in GROUP BY nor within an aggregate, so it would show single rows: GROUP BY it, or ask "
    "for avg(age) and the like"
)
JOIN = "a join is not answered: put what you need into one table first; there is one table here"
COLUMNS = "the schema has ward, sex, sick, age, visits, cost, debt, born, left_on, person, smokes"
REFUSED = {
    "SELECT * FROM people": f"*: this shows single rows: {ROWS}",
    "FROM people": f"*: this shows single rows: {ROWS}",
    "SELECT age FROM people": SINGLE,
    "SELECT ward, count(*) FROM people": SINGLE.replace("avg(age)", "count(*)").replace("'age'", "'ward'"),
    "SELECT ward, age FROM people GROUP BY ward": SINGLE,
    "SELECT ward, count(*) FROM people GROUP BY ward ORDER BY age": SINGLE,
    "SELECT count(*) FROM people, doctors": JOIN,
    "SELECT count(*) FROM people LEFT JOIN doctors USING (person)": JOIN,
    "SELECT DISTINCT ward FROM people": "SELECT DISTINCT is not answered: GROUP BY the columns: their possible values "
    "are public",
    "SELECT count(DISTINCT age) FROM people": "count(DISTINCT age): which values are there is not answered here: "
    "GROUP BY the column: its possible values are public",
    "SELECT avg(count(*)) FROM people": "count(*): aggregates cannot lie inside each other: ask for the inner ones in "
    "groups, and compute with the answers",
    "SELECT count(*) FROM (SELECT * FROM people)": "FROM takes the name of the table: a statement within a statement "
    "is not answered",
    "SELECT count(*) FROM people WHERE age > (SELECT avg(age) FROM people)": "(SELECT avg(age) FROM people): a "
    f"statement within a statement is not answered: {ONE}",
    "SELECT count(*) FROM people WHERE age IN (SELECT 1)": f"(SELECT 1): a statement within a statement is not "
    f"answered: {ONE}",
    "WITH p AS (SELECT 1) SELECT count(*) FROM p": f"WITH is not answered: {ONE}",
    "SELECT sum(age) OVER () FROM people": "sum(age) OVER (): a window function says something of every row: aggregate "
    "in groups, by GROUP BY",
    "SELECT count(*) FROM people UNION ALL SELECT 1": "UNION and its like are not answered: ask one SELECT at a time",
    "SELECT min(age) FROM people": "min(age): the smallest value is one person's: ask for a quantile, as "
    "quantile_disc(x, 0.05)",
    "SELECT max(age) FROM people": "max(age): the largest value is one person's: ask for a quantile, as "
    "quantile_disc(x, 0.95)",
    "SELECT stddev(age) FROM people": "stddev(age): spreads are not computed here: ask for avg(x) and avg(x * x), or "
    "for quantiles: the variance is avg(x * x) - avg(x) * avg(x)",
    "SELECT corr(age, cost) FROM people": f"corr(age, cost) is not answered here: there are {NAMES}",
    "SELECT list(age) FROM people": f"array_agg(age): this shows the values of single rows: there are {NAMES}",
    "SELECT mad(age) FROM people": f"mad(age) is not answered here: there are {NAMES}, and + - * / round of them",
    "SELECT count(*) FROM a; SELECT count(*) FROM b": "there are 2 statements: ask one at a time",
    "DROP TABLE people": f"DROP is not answered, only SELECT: {EXAMPLE}",
    "DELETE FROM people": f"DELETE is not answered, only SELECT: {EXAMPLE}",
    "INSERT INTO people VALUES (1)": f"INSERT is not answered, only SELECT: {EXAMPLE}",
    "CREATE TABLE x AS SELECT 1": f"CREATE is not answered, only SELECT: {EXAMPLE}",
    "COPY people TO 'people.csv'": f"COPY is not answered, only SELECT: {EXAMPLE}",
    "SUMMARIZE people": f"SUMMARIZE is not answered, only SELECT: {EXAMPLE}",
    "SELECT count(*) FROM 'other.csv'": '"other.csv" is another table or file: there is one, that was given; call it '
    "people",
    "SELECT count(*) FROM read_csv('x')": "FROM takes a name for the table that was given, as people, not "
    "read_csv('x')",
    "SELECT count(*) FROM people WHERE q.age > 3": "q.age is of another table: there is one, people",
    "SELECT count(*)": f"FROM is missing: {EXAMPLE}",
    "SELECT count(* FROM people": f"cannot read this SQL at 'FROM', line 1, column 19; {EXAMPLE}",
    "SELECT 'a": "cannot read this SQL: is a quote or a comment left open?",
    "": f"the statement is empty; {EXAMPLE}",
    "hello": f"hello is not answered, only SELECT: {EXAMPLE}",
    "SELECT count(*) FROM people WHERE town = 'x'": f"no column 'town'; {COLUMNS}",
    "SELECT count(*) FROM people WHERE ward = 'attic'": "column 'ward' has no value 'attic'; it has north, south, west, "
    "(other)",
    "SELECT count(*) FROM people WHERE age = '18'": "a number cannot be compared with a text",
    "SELECT count(*) FROM people WHERE age LIKE '1%'": "LIKE takes a category, not a number",
    "SELECT count(*) FROM people WHERE cost = NULL": "a comparison with NULL is never true: write IS NULL, or IS NOT "
    "NULL",
    "SELECT count(*) FROM people WHERE age IS NULL": "age is never NULL here: column 'age' keeps no missing cells unless "
    'it is declared with missing = "drop"',
    "SELECT count(*) FROM people WHERE ward IS NULL": "ward is never NULL here: what is missing or not listed is the "
    "value '(other)', which can be compared with",
    "SELECT count(*) FROM people WHERE 1 = 1": "WHERE 1 = 1 is the same for every row: leave it out",
    "SELECT count(*) FROM people WHERE count(*) > 3": "count(*): an aggregate belongs in SELECT, HAVING or ORDER BY, not "
    "in here",
    "SELECT sum(cost / age) FROM people": "a quotient of two columns has no bounds: divide by a constant, or divide "
    "totals, as in sum(a) / sum(b)",
    "SELECT cost, count(*) FROM people GROUP BY cost": "cost has no short list of values to group by: write floor(x / "
    "10) * 10, or CASE WHEN x < 10 THEN …",
    "SELECT ward FROM people GROUP BY ward": "this SELECT asks for nothing but groups, which are public: add an "
    "aggregate, as count(*)",
    "SELECT ward, count(*) FROM people GROUP BY ward HAVING ward = 'north'": "HAVING compares aggregates: a condition on "
    "ward belongs in WHERE",
    "SELECT avg(sick) FROM people": "avg(sick): a condition has no average in SQL: write avg(CAST(x AS INT))",
    "SELECT avg(born) FROM people": "avg(born) takes a number, not a date: ask it of x - DATE '2000-01-01', the number "
    "of days",
    "SELECT quantile_cont(age, 1) FROM people": "quantile_cont(age, 1): a quantile has one level between 0 and 1, as "
    "quantile_cont(x, 0.9)",
    "SELECT count(*) FROM people WHERE born > now()": "CURRENT_DATE: the day changes, and with it the question: write "
    "the day itself, as DATE '2024-01-31'",
    "SELECT count(*) FROM people WHERE age = ?": "?: a placeholder has no value here: write the value itself",
    "SELECT avg(date_part('year', age(DATE '2000-01-01', born))) FROM people": "an age is counted to a day that no date "
    "of the column is after: 2019-12-31 or later, not 2000-01-01",
    "SELECT count(*) FROM people USING SAMPLE 10": "a sample of the rows is not answered: ask about all rows: noise is "
    "what protects them",
    "SELECT ward, count(*) FROM people GROUP BY ward LIMIT 10%": "LIMIT takes a whole number, as LIMIT 10",
    "SELECT born, visits, count(*) FROM people GROUP BY ALL": "a table has 65,536 cells at most, not 803,550: group by "
    "less, or by bins",
    "EXPLAIN ANALYZE SELECT count(*) FROM people": "EXPLAIN ANALYZE would run the statement: write EXPLAIN, which "
    "spends nothing",
}


def line(text: str, schema: sulq.Schema) -> str:
    with pytest.raises(sulq.SulqError) as refusal:
        next(Statement(text).rounds(schema))
    return str(refusal.value)


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_answered_is_refused_with_the_reason_and_what_to_ask_instead(text: str) -> None:
    assert line(text, sulq.Schema(SCHEMA)) == REFUSED[text]
    assert "\n" not in REFUSED[text]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT person, count(*) FROM people GROUP BY person",
        "SELECT count(person) FROM people",
        "SELECT count(*) FROM people WHERE Person = 3",
        "SELECT count(*) FILTER (WHERE person > 3) FROM people",
        "SELECT sum(CASE WHEN sick THEN person ELSE 0 END) FROM people",
        "SELECT count(*) FROM people GROUP BY ROLLUP (ward, person)",
    ],
)
def test_whose_row_it_is_cannot_be_asked(text: str) -> None:
    schema = sulq.Schema(SCHEMA, sulq.Unit("person", rows=2))
    assert line(text, schema).startswith("column 'person' says whose row it is")


def test_a_statement_is_a_text_of_bounded_length() -> None:
    schema = sulq.Schema(SCHEMA)
    assert "at most 20,000 letters" in line("SELECT count(*) FROM people" + " " * 20_000, schema)
    assert line(3, schema) == "a statement is a text, not int"  # type: ignore[arg-type]
    assert "EXPLAIN is for `sulq sql`" in line("EXPLAIN SELECT count(*) FROM people", schema)


@pytest.mark.parametrize("text", ["(" * 3000, "SELECT " + "(" * 500 + "1" + ")" * 500 + " FROM p",
                                                            "SELECT count(*) FROM p WHERE " + "NOT " * 1500 + "sick",
                                  "SELECT sum(" + "+".join(["age"] * 900) + ") FROM p"])  # fmt: skip
def test_what_is_too_deep_is_refused_too(text: str) -> None:
    assert "\n" not in line(text, sulq.Schema(SCHEMA))


def test_many_conditions_are_not_too_many() -> None:
    text = (
        "SELECT count(*) FROM p WHERE "
        + " AND ".join(f"age <> {age}" for age in range(90))
        + " OR sick" * 300
    )
    next(Statement(text).rounds(sulq.Schema(SCHEMA)))
    wards = ", ".join(["'north'", "'south'"] * 400)
    next(Statement(f"SELECT count(*) FROM p WHERE ward IN ({wards})").rounds(sulq.Schema(SCHEMA)))
