"""`sulq plan parties`: columns in different hands, before there are any rows."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.errors import SulqError
from sulq.oracles.parties import MOST_PEOPLE
from sulq.oracles.parties_plan import in_short
from sulq.plans.parties import PartiesPlan, plan_parties
from sulq.queries.expressions import col
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema

DESCRIPTION = (
    "Several parties hold different columns about the same people, and none hands out its rows. Each "
    "publishes noisy sums by public buckets, from which estimates across parties follow. This says "
    "how many buckets are best, how far off an estimate will be, and how many people a precision takes. It "
    "looks at schemas alone: no row is read and nothing is spent."
)
EXAMPLES = """examples: a table of a column here by a column there, and the people that 0.01 takes;
the sum of products of two numbers, under (epsilon, delta)
  sulq plan parties --party hospital=hospital.toml --party registry=registry.toml \\
      --key person --by smokes sick --people 100000 --epsilon 1 --within 0.01
  sulq plan parties --party bank=bank.toml --party shop=shop.toml --key customer \\
      --product income spent --people 1000000 --epsilon 1 --delta 1e-6"""


def add_plan_parties(subjects: Any) -> None:
    """Add `sulq plan parties` to what can be planned."""
    parser = subjects.add_parser(
        "parties",
        help="columns in different hands: how many buckets, how far off, how many people",
        description=textwrap.fill(DESCRIPTION, 80),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--party",
        action="append",
        required=True,
        metavar="NAME=SCHEMA",
        help="a party and the schema of its table; give this option for each of them, at least twice",
    )
    parser.add_argument(
        "--key",
        nargs="+",
        required=True,
        metavar="COLUMN",
        help="the column that names people: one name, or a name for each party, in their order",
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "--by",
        nargs="+",
        metavar="COLUMN",
        help="columns of different parties: the table of all of them is asked for",
    )
    asked.add_argument(
        "--product",
        nargs=2,
        metavar="COLUMN",
        help="two numbers, of different parties: the sum of their products is asked for",
    )
    parser.add_argument(
        "--people", type=int, required=True, metavar="N", help="about how many people there are"
    )
    parser.add_argument(
        "--epsilon",
        required=True,
        metavar="E",
        help="what each party promises its people; there is no default",
    )
    parser.add_argument(
        "--delta", metavar="DELTA", help="the delta of that promise (default: none, pure epsilon)"
    )
    parser.add_argument(
        "--share",
        default="1",
        metavar="PART",
        help="the part of its budget that each party spends (default: all)",
    )
    parser.add_argument(
        "--within",
        metavar="ERROR",
        help="how far off an average over the people may be, one standard deviation, as the share of those "
        "who smoke and are sick; then it is said how many people that takes",
    )
    parser.set_defaults(run=_show)


def _show(options: argparse.Namespace, console: Console) -> None:
    tables = dict(map(_party, options.party))
    if len(tables) < len(options.party):
        raise SulqError("two parties have the same name: name each otherwise")
    query = _query(options)
    key = options.key[0] if len(options.key) == 1 else options.key

    def planned(people: int, within: str | None = None) -> PartiesPlan:
        return plan_parties(
            tables,
            key,
            Round([query], options.share),
            people=people,
            epsilon=options.epsilon,
            delta=options.delta,
            within=within,
        )

    plan = planned(options.people, options.within)
    console.print(Text(plan.describe()), soft_wrap=True)
    if plan.plan.buckets:
        several = (options.people // 10, options.people, options.people * 10)
        sizes = [people for people in several if 1 <= people <= MOST_PEOPLE]
        console.print()
        console.print(_table([planned(people) for people in sizes]))
    console.print(Text(f"\npromised: {plan.promise}"), soft_wrap=True)


def _party(text: str) -> tuple[str, Schema]:
    name, separator, path = text.partition("=")
    if not (separator and name and path):
        raise SulqError(f"--party needs a name and a schema, as in hospital=hospital.toml, not {text!r}")
    return name, Schema.of(path)


def _query(options: argparse.Namespace) -> Query:
    if options.by is not None:
        return count(by=options.by)
    one, other = options.product
    return total(col(one) * col(other))


def _table(plans: list[PartiesPlan]) -> Table:
    table = Table(box=None)
    for heading in ("people", "buckets", "off by ±", "an average ±", "by shared buckets", "by noise"):
        table.add_column(heading, justify="right")
    for each in plans:
        plan = each.plan
        errors = map(in_short, (plan.deviation, each.average, plan.sketch_error, plan.noise_error))
        table.add_row(f"{plan.people:,}", f"{plan.buckets:,}", *errors)
    return table
