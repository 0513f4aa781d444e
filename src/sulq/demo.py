"""`sulq demo`: the first five minutes, on the sample that ships with the project."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sulq.queries.expressions import col
from sulq.queries.query import mean
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

    saw_a_doctor = col("doctor_visits") > 0
    plans, healths = _levels(people.schema, "plan"), _levels(people.schema, "health")
    asked = Round(
        [mean(saw_a_doctor, by="plan"), mean(col("limited"), by="health"), mean(col("doctor_visits"))]
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
        markup=False,
        highlight=False,
    )
    visited, limited, visits = people.exact().ask(asked)
    console.print(bars("saw a doctor in the year, by the share of bills paid", plans, visited.value))
    console.print(bars("has a physical limitation, by self-rated health", healths, limited.value))
    console.print(f"\nvisits to a doctor, a year: [bold]{visits.value:.3f}[/]\n")

    console.print(
        "A trusted curator answers the same with noise, and charges it to a budget\n"
        "first. How far one person, with all their years, can move an answer follows\n"
        "from the schema alone; the noise hides that much, and no more:\n"
    )
    console.print(
        "    curator = people.curator(epsilon=1)\n"
        '    seen = sulq.mean(col("doctor_visits") > 0, by="plan")\n'
        "    curator.ask(sulq.Round([seen], share=0.5))\n",
        style="cyan",
        markup=False,
        highlight=False,
    )
    curator = people.curator(epsilon=1)
    half = Round([mean(saw_a_doctor, by="plan")], share=0.5)
    [private] = curator.ask(half)
    console.print(bars("the same, private at half of ε = 1", plans, private.value, private.radius(0.05)))
    one, two = (float(half.sensitivity(people.schema, order)) for order in (1, 2))
    console.print(
        f"\none person moves these sums by at most {one:g} in the 1-norm, {two:.1f} in the 2-norm\n"
        f"spent ε = {float(curator.spent):g}, left ε = {float(curator.remaining):g}\n",
        highlight=False,
    )
    console.print(
        "[bold]Your own data[/]\n"
        "    sulq schema draft people.csv > people.toml       fill its holes, then\n"
        "    sulq schema show people.toml --data people.csv   check it, and from Python\n"
        '    sulq.open("people.csv", "people.toml")           ask\n',
        highlight=False,
    )


def bars(title: str, names: tuple[str, ...], shares: Any, errors: Any = 0.0) -> Table:
    """Shares between 0 and 1 as a bar chart, with error bars if there are any."""
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 1))
    for name, share, error in zip(names, shares, np.broadcast_to(errors, np.shape(shares)), strict=True):
        beyond = f" ± {error:.1%}" if error else ""
        table.add_row(f"  {escape(name)}", f"{share:6.1%}{beyond}", "█" * round(40 * min(max(share, 0), 1)))
    return table


def _levels(schema: Schema, name: str) -> tuple[str, ...]:
    kind = schema[name]
    assert isinstance(kind, Category)
    return kind.levels
