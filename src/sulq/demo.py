"""`sulq demo`: the first five minutes, on the sample that ships with the project."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sulq.queries.expressions import col
from sulq.queries.query import count, mean
from sulq.queries.rounds import Round
from sulq.samples import randhie
from sulq.schema import Category, Schema
from sulq.tables import schema_table


def demo(console: Console) -> None:
    """Show the sample, ask it a few questions, and say what to do next."""
    people = randhie()
    console.print(
        "\n[bold]The RAND Health Insurance Experiment[/]: 5,912 people, insured by lot,\n"
        "watched for up to five years each. A schema says what any row could hold.\n"
        "The schema is public; the rows are not.\n"
    )
    console.print(schema_table(people.schema))

    plans, health = col("plan"), col("health")
    asked = Round(
        [
            mean(col("doctor_visits") > 0, by=plans),
            mean(col("limited"), by=health),
            mean(col("doctor_visits")),
        ]
    )
    console.print(
        "\nA learner never sees a row. It asks for sums, here three in one round, and\n"
        "an oracle answers. This one tells the exact truth, to see what there is to\n"
        "learn; nothing it says may be published:\n"
    )
    console.print(
        "    people = sulq.randhie()\n"
        "    people.exact().ask(sulq.Round([\n"
        '        sulq.mean(col("doctor_visits") > 0, by="plan"),\n'
        '        sulq.mean(col("limited"), by="health"),\n'
        '        sulq.mean(col("doctor_visits"))]))\n',
        style="cyan",
        highlight=False,
    )
    visited, limited, visits = people.exact().ask(asked)
    console.print(
        bars(
            "saw a doctor in the year, by the share of bills paid",
            _levels(people.schema, "plan"),
            visited.value,
        )
    )
    console.print(
        bars(
            "has a physical limitation, by self-rated health", _levels(people.schema, "health"), limited.value
        )
    )
    console.print(f"\nvisits to a doctor, a year: [bold]{visits.value:.3f}[/]\n")

    everyone = Round([count(by=[plans, health])])
    console.print(
        "Every question knows how far one person, with all their years, can move its\n"
        "answer. That follows from the schema alone. It is what noise has to hide:\n"
    )
    for what, round_ in (("the three means above, together", asked), ("a table of plan by health", everyone)):
        one, two = (float(round_.sensitivity(people.schema, order)) for order in (1, 2))
        console.print(f"    {what:33}{one:7.1f} in the 1-norm{two:7.1f} in the 2-norm")
    console.print(
        "\n[bold]Your own data[/]\n"
        "    sulq schema draft people.csv > people.toml     the columns, with holes for what is public\n"
        "    sulq schema show people.toml --data people.csv check it, and that the data has those columns\n"
        '    sulq.open("people.csv", "people.toml")           and ask, from Python\n',
        highlight=False,
    )


def bars(title: str, names: tuple[str, ...], shares: Any) -> Table:
    """Shares between 0 and 1 as a bar chart."""
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 1))
    for name, share in zip(names, np.asarray(shares), strict=True):
        table.add_row(f"  {escape(name)}", f"{share:6.1%}", "█" * round(40 * share))
    return table


def _levels(schema: Schema, name: str) -> tuple[str, ...]:
    kind = schema[name]
    assert isinstance(kind, Category)
    return kind.levels
