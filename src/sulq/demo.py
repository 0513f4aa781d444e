"""`sulq demo`: the first five minutes, on the sample that ships with the project."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from sulq.commands.show import rounds_table
from sulq.commands.tables import schema_table
from sulq.hypotheses.hypothesis import error_rate
from sulq.learners.id3 import ID3
from sulq.numbers import amount
from sulq.privacy.budget import PureDP
from sulq.queries.rounds import Round
from sulq.runs.run import Run
from sulq.samples import randhie
from sulq.sources.source import Source

LABEL = "bought_drugs"
CODE = """\
    features = ["doctor_visits", "plan", "health", "age", "sex"]
    bins = {"doctor_visits": [1, 2, 4], "age": [18, 40]}
    learner = sulq.ID3("bought_drugs", features, depth=2, bins=bins,
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
    people = randhie()
    features = ["doctor_visits", "plan", "health", "age", "sex"]
    bins = {"doctor_visits": [1, 2, 4], "age": [18, 40]}
    learner = ID3(LABEL, features, depth=2, bins=bins, split="multiway", share=0.9)

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
    with TemporaryDirectory() as folder:
        _compare(people, learner, Path(folder, "people.ledger"), console)
    console.print(NEXT, highlight=False)


def _compare(people: Source, learner: ID3, ledger: Path, console: Console) -> None:
    """A tree learned privately, and the same learner told the truth."""
    outcome = Run(learner, people, PureDP(1), ledger=ledger).learn()
    console.print(outcome.hypothesis.drawing())
    console.print("\nThis may be published. What it cost, and how far off it may be:\n")
    console.print(rounds_table(outcome.asked, PureDP(1).total, "epsilon"))

    console.print(
        "\nThe same learner, told exact answers, to see what privacy took. [red]Not to be published:[/]\n"
    )
    exact = Run(learner, people, None).learn().hypothesis
    console.print(exact.drawing())
    curator = people.curator(PureDP(1).epsilon, ledger=ledger)
    with curator.ledger:
        [wrong] = curator.ask(Round([error_rate(outcome.hypothesis, LABEL)], share=0.1))
        remaining = curator.remaining
    [truly] = people.exact().ask(Round([error_rate(exact, LABEL)]))
    right, within = _percent(1 - wrong.value), _percent(wrong.radius(0.05))
    console.print(
        f"\nThe private tree is right about [bold]{right} ± {within}[/] of the rows, says one more question "
        f"for the rest of the budget. The exact one is right about {_percent(1 - truly.value)}. "
        f"Left: ε = {amount(remaining)}.\n",
        highlight=False,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
