"""`sulq demo`: the first five minutes, on the sample that ships with the project."""

from __future__ import annotations

from rich.console import Console

from sulq.commands.show import rounds_table
from sulq.hypotheses.hypothesis import error_rate
from sulq.learners.id3 import ID3
from sulq.plans.watching import Watched
from sulq.queries.rounds import Round
from sulq.samples import randhie
from sulq.tables import amount, schema_table

CODE = """\
    asked = ["doctor_visits", "plan", "health", "age", "sex"]
    bins = {"doctor_visits": [1, 2, 4], "age": [18, 40]}
    learner = sulq.ID3("bought_drugs", asked, depth=2, bins=bins,
                       split="multiway", share=0.9)
    learner.learn(sulq.randhie().curator(epsilon=1))
"""

NEXT = """\
[bold]Your own data[/]
    sulq schema draft people.csv > people.toml    and fill its holes
    sulq learn tree people.csv --schema people.toml --label sick --epsilon 1
        --dry-run                                 what it would cost
        --report tree.html                        the tree, for everyone to see
    sulq learn --help                             clusters, components and more
"""


def demo(console: Console) -> None:
    """Learn a tree from the sample, privately and exactly, and say what to do next."""
    people, label = randhie(), "bought_drugs"
    asked = ["doctor_visits", "plan", "health", "age", "sex"]
    bins = {"doctor_visits": [1, 2, 4], "age": [18, 40]}
    learner = ID3(label, asked, depth=2, bins=bins, split="multiway", share=0.9)

    console.print(
        "\n[bold]The RAND Health Insurance Experiment[/]: 5,912 people, insured by lot, watched for up to "
        "five years each. A schema says what any row could hold. The schema is public; the rows are not.\n"
    )
    console.print(schema_table(people.schema))
    console.print(
        "\nWho buys drugs? A learner never sees a row. It asks for sums, and a trusted curator answers with "
        "noise, charged to a budget first. Protected is a person, with all of their years:\n"
    )
    console.print(CODE, style="cyan", markup=False, highlight=False)
    curator = people.curator(epsilon=1)
    watched = Watched(curator)
    private = learner.learn(watched)
    console.print(private.drawing())
    console.print("\nThis may be published. What it cost, and how far off it may be:\n")
    console.print(rounds_table(tuple(watched.asked), curator.ledger.total, "epsilon"))

    console.print(
        "\nThe same learner, told exact answers, to see what privacy took. [red]Not to be published:[/]\n"
    )
    exact = learner.learn(people.exact())
    console.print(exact.drawing())
    [wrong] = curator.ask(Round([error_rate(private, label)], share=0.1))
    [truly] = people.exact().ask(Round([error_rate(exact, label)]))
    right, within = _percent(1 - wrong.value), _percent(wrong.radius(0.05))
    console.print(
        f"\nThe private tree is right about [bold]{right} ± {within}[/] of the rows, says one more question "
        f"for the rest of the budget. The exact one is right about {_percent(1 - truly.value)}. "
        f"Left: ε = {amount(curator.remaining)}.\n",
        highlight=False,
    )
    console.print(NEXT, highlight=False)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
