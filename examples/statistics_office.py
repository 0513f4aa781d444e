"""A statistics office publishes a table, clusters and principal components, all from one budget.

The people are those of the health study that ships with sulq: up to five years of each, all protected
together. Everything is planned before a row is looked at. The ledger remembers what was paid for, so that
a run that was interrupted, or is started again, costs nothing more.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

import sulq
from sulq.commands.tables import amount, ledger_tables
from sulq.oracles.curator import Curator
from sulq.progress import shown
from sulq.runs.run import Run
from sulq.sources.table import TableSource

BETA = 0.05
PLACE = ["age", "income"]
LIFE = ["age", "education", "income", "chronic", "mental_health", "doctor_visits"]
# What is published, and the part of the budget for each; a tenth is left for what nobody thought of.
SAW_DOCTOR = sulq.col("doctor_visits") >= 1
COUNTS = sulq.Round([sulq.count(by=["plan", SAW_DOCTOR])], share="0.1")
CLUSTERS = sulq.KMeans(4, PLACE, share="0.4")
COMPONENTS = sulq.PCA(2, LIFE, share="0.4")
ABOUT_ROWS = 20_000  # the office's own public statement of how many there are, for the rehearsal alone


@dataclass(frozen=True)
class Published:
    """Everything that leaves the office."""

    counts: NDArray[np.float64]
    radius: float
    clusters: sulq.hypotheses.Centres
    components: sulq.hypotheses.Components

    def same_as(self, other: Published) -> bool:
        equal = np.array_equal(self.counts, other.counts) and self.clusters == other.clusters
        return equal and self.components == other.components


def published(curator: Curator, people: sulq.Source, epsilon: str, ledger: Path) -> Published:
    """Ask for all of it. What was asked before, in runs of these names, is answered from the ledger."""
    [counts] = curator.ask(COUNTS, run="table")
    budget = sulq.PureDP(epsilon)
    clusters, components = (
        Run(learner, people, budget, ledger=ledger, name=name).learn().hypothesis
        for learner, name in ((CLUSTERS, "clusters"), (COMPONENTS, "components"))
    )
    return Published(counts.value, counts.radius(BETA), clusters, components)


def show_plan(people: sulq.Source, epsilon: str, console: Console) -> None:
    """What it will cost and how good it will be: from public facts and made-up rows."""
    rehearsed = people.curator(epsilon, ledger=":memory:")
    table = Table("what", "asks", "ε", "error at 95 %", box=box.SIMPLE)
    [error] = rehearsed.error(COUNTS, BETA)
    table.add_row(
        "table", "rows by plan, doctor seen", amount(rehearsed.cost(COUNTS)), f"± {error:,.0f} rows"
    )
    for what, learner in (("clusters", CLUSTERS), ("components", COMPONENTS)):
        table.add_section()
        plan = sulq.plan(learner, people.schema, rows=ABOUT_ROWS, epsilon=epsilon)
        assert plan.rehearsal is not None  # no theorem plans these, so they are rehearsed
        for round_ in plan.rehearsal.rounds:
            table.add_row(what, round_.describe(), amount(round_.cost), round_.errors())
    console.print(table)
    for tolerance in (100, 200, 500):
        one = sulq.Round([sulq.count(by=["plan", SAW_DOCTOR], tolerance=tolerance, beta=BETA)])
        console.print(f"  The table to ± {tolerance} rows would cost ε = {float(rehearsed.cost(one)):.3f}.")


def show_counts(release: Published, plans: tuple[str, ...], console: Console) -> None:
    """Noisy counts, and what follows from them at no cost: shares, with error bars that follow too."""
    table = Table("plan", "years", "with a doctor seen", "share, %", box=box.SIMPLE)
    for plan, (without, seen) in zip(plans, release.counts, strict=True):
        both = without + seen
        # Both counts are within the radius at once; the share moves most if one is too low, one too high.
        known = both > 2 * release.radius
        share = (
            f"{100 * seen / both:.1f} ± {100 * release.radius / both:.1f}" if known else "too noisy to say"
        )
        table.add_row(plan, f"{both:,.0f}", f"{seen:,.0f} ± {release.radius:,.0f}", share)
    console.print(table)


def show_comparison(people: TableSource, release: Published, console: Console) -> None:
    """What privacy took: only possible here, where the data are public, and not to be published elsewhere."""
    rows = people.values(sulq.features(*PLACE))

    def inertia(centres: sulq.hypotheses.Centres) -> float:
        from_centre = rows[:, None, :] - np.array(centres.centres)[None]
        return float((from_centre**2).sum(axis=2).min(axis=1).mean())

    exact = [Run(learner, people, None).learn().hypothesis for learner in (CLUSTERS, COMPONENTS)]
    further = inertia(release.clusters) / inertia(exact[0])
    pairs = zip(release.components.directions, exact[1].directions, strict=True)
    angles = [np.degrees(np.arccos(min(1.0, abs(np.dot(one, other))))) for one, other in pairs]
    console.print(
        f"Beside exact answers, which no office would publish: squared distances from the centres are "
        f"{further:.2f} times as large; the components are {angles[0]:.0f}° and {angles[1]:.0f}° off.\n"
    )


def main(options: argparse.Namespace, console: Console) -> None:
    people = sulq.randhie()
    sulq.PureDP(options.epsilon)
    console.print(f"\n[bold]1. The plan[/], for a budget of ε = {options.epsilon}. No row was looked at:")
    show_plan(people, options.epsilon, console)

    curator = people.curator(options.epsilon, ledger=options.ledger)
    before = curator.spent
    if before:
        console.print(f"\n{options.ledger} is there already: this run goes on where that one ended.")
    release = published(curator, people, options.epsilon, options.ledger)
    plan = people.schema["plan"]
    assert isinstance(plan, sulq.Category)
    console.print("\n[bold]2. Years of people by insurance plan[/], and in how many they saw a doctor:")
    show_counts(release, plan.levels, console)
    console.print("[bold]3. Clusters[/] by age and family income:\n")
    console.print(release.clusters.drawing())
    console.print("\n[bold]4. Principal components[/]: what differs most between people:\n")
    console.print(release.components.drawing())
    console.print()
    show_comparison(people, release, console)

    console.print("[bold]5. The ledger[/]")
    for table in ledger_tables(curator.ledger, entries=False):
        table.box = box.SIMPLE if table.show_header else None
        console.print(table)
    console.print(f"This run spent ε = {amount(curator.spent - before)}.")
    try:
        curator.ask(sulq.Round([sulq.count(by="health")], share="0.2"), run="more")
    except sulq.BudgetError as refusal:
        console.print(f"One more question is refused: {refusal}.")

    spent = curator.spent
    curator.ledger.close()
    again = people.curator(options.epsilon, ledger=options.ledger)
    same = published(again, people, options.epsilon, options.ledger).same_as(release)
    console.print("\n[bold]6. All of it asked again[/], as after a crash:")
    console.print(f"Cost: ε = {amount(again.spent - spent)}. The same answers: {'yes' if same else 'no'}.")
    options.picture.write_text(release.clusters.picture(), encoding="utf-8")
    console.print(
        f"\nThe picture of the clusters: {options.picture}; the ledger: {options.ledger}", soft_wrap=True
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", default="4", metavar="ε", help="the whole budget of this example")
    parser.add_argument(
        "--ledger", type=Path, default=Path("statistics_office.ledger"), help="where it is kept"
    )
    parser.add_argument(
        "--picture", type=Path, default=Path("statistics_office.svg"), help="where to draw it"
    )
    try:
        with shown():
            main(parser.parse_args(), Console(highlight=False))
    except (sulq.SulqError, OSError) as error:
        sys.exit(f"statistics_office: {error}")
