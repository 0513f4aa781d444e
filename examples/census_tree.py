"""One learner of decision trees, unchanged, under every trust model.

A learner asks questions and is told answers. Who answers decides who must be trusted, and what it costs.
Trees are judged by a third of the people, held out: rows one may see, or no accuracy could be comparison.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from studies import BESIDE, Task, census, health

import sulq
from sulq.pictures.lines import Line, picture, spanning
from sulq.progress import shown
from sulq.queries.choose import Choice
from sulq.talk.answers import Answer
from sulq.talk.laws import Within

SEED = 1  # of whose label is wrong; noise for privacy has no seed
MORE = 10  # how many times as many people the larger crowd has
NEAR = 0.02  # how much less often right than the exact tree is still near
REPORT = [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(8)]  # ε of one report to a crowd
BETA = Fraction(1, 20)  # an adversary must be told, and does not care
TOLERANCES = (0.001, 0.01, 0.05)


class Worst:
    """Every answer off by a tolerance, a share of all rows: the adversary, for a learner that states none."""

    def __init__(self, people: sulq.Source, share: float, manner: Any) -> None:
        self.people, self.tolerance = people, Fraction(max(1, round(share * people.rows)))
        self.adversary = sulq.theory.Adversary(people, manner)
        self.schema, self.promise = people.schema, self.adversary.promise

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Answer]:
        return [self._named(q) if isinstance(q, Choice) else self._bent(q) for q in round_.queries]

    def _bent(self, query: sulq.Query) -> Answer:
        return self.adversary.ask(sulq.Round([replace(query, tolerance=self.tolerance, beta=BETA)]))[0]

    def _named(self, choice: sulq.queries.choose.Choice) -> Answer:
        """Which is best? The worst that cannot be told from it, if scores may be off by the tolerance."""
        scope = self.people.scope
        steps = choice.scores(self.people.sums(choice.parts), scope)
        scores = (steps * choice.score_step(scope)).astype(float)
        near = scores >= scores.max(axis=0) - 2 * float(self.tolerance)
        worst = np.where(near, scores, np.inf).argmin(axis=0).reshape(choice.shape(scope))
        return Answer(int(worst) if worst.ndim == 0 else worst, Within(2 * float(self.tolerance)))


@dataclass(frozen=True)
class Comparison:
    """A table that grows by a line for each way of being answered."""

    task: Task
    table: Table
    runs: int

    def tried(self, oracles: Sequence[Callable[[], Any]]) -> NDArray[np.float64]:
        """Learn once from each oracle: a row of accuracies, and one of how many trees say have the label."""
        return np.array([self.task.judged(self.task.learner.learn(oracle())) for oracle in oracles]).T

    def add(self, who: str, took: str, *oracles: Callable[[], Any]) -> tuple[float, float]:
        """A line of the table: the mean accuracy and its standard error."""
        right, says = self.tried(oracles)
        error = float(right.std() / max(1, len(right) - 1) ** 0.5)
        bar = f" ± {100 * error:.1f}" if len(right) > 1 else ""
        self.table.add_row(who, f"{100 * right.mean():.1f}{bar}", f"{100 * says.mean():.1f}", took)
        return float(right.mean()), error

    def line(
        self, who: str, took: str, oracle: Callable[[Fraction], Any], epsilons: Sequence[Fraction]
    ) -> Line:
        """The same oracle for several ε, for the table and for the picture."""
        self.table.add_section()
        made = {epsilon: functools.partial(oracle, epsilon) for epsilon in epsilons}
        measured = [
            self.add(who, f"{took}{float(epsilon):g}", *[make] * self.runs) for epsilon, make in made.items()
        ]
        points = tuple((float(epsilon), right) for epsilon, (right, _) in zip(made, measured, strict=True))
        return Line(who, points, tuple(error for _, error in measured))

    def wrong_labels(self, rate: Fraction, epsilon: Fraction) -> None:
        """Labels that are wrong at a known rate, as they are and denoised."""
        rows, label = self.task.learn, self.task.label
        flips = np.random.default_rng(SEED).random(len(rows)) < float(rate)
        flipped = rows.drop_columns(label).append_column(label, pa.array(rows[label].to_numpy() ^ flips))
        people = sulq.open(flipped, self.task.schema)
        self.table.add_section()
        took = f"{100 * float(rate):g} % wrong, ε = {float(epsilon):g}"
        self.add("wrong labels", took, *[lambda: people.curator(epsilon)] * self.runs)
        denoised = [lambda: people.curator(epsilon).denoised(label, rate)] * self.runs
        self.add("the same, denoised", took, *denoised)

    def adversary(self, people: sulq.Source, share: float) -> None:
        """Of several manners of answering badly, the one that harms most."""
        worst = [functools.partial(Worst, people, share, how) for how in ("high", "low", "coarse", "random")]
        most = min(worst, key=lambda oracle: float(self.tried([oracle])[0, 0]))
        self.add("an adversary", f"answers off by {100 * share:g} %", most)


def main(options: argparse.Namespace, console: Console) -> None:
    by_curator, by_crowd = (
        [sulq.PureDP(e).epsilon for e in given] for given in (options.curator, options.crowd or [])
    )
    if options.runs < 1:
        raise sulq.SulqError(f"there must be at least one run, not {options.runs}")
    path = options.data or (BESIDE if BESIDE.is_file() else None)
    task = health() if path is None else census(path)
    people, label = sulq.open(task.learn, task.schema), task.label
    rate = Fraction(people.exact().denoised(label, options.wrong).rate)  # or a refusal
    # Of a person with several rows each gets a part of ε.
    by_curator, by_crowd = (
        sorted(by_curator),
        sorted(by_crowd) or [epsilon * task.schema.rows_per_unit for epsilon in REPORT],
    )
    share = float(task.judge[label].to_numpy().mean())
    majority = max(share, 1 - share)
    console.print(f"\n[bold]{task.about}[/]" + ("" if path else " For the census give --data adult.csv.gz."))
    console.print(f"Rows to learn from: {people.rows:,}; to judge by: {len(task.judge):,}.")
    console.print(f"Of these {100 * share:.1f} % are a yes, which is what the column {label} has.\n")

    table = Table("who answers", "right, %", "says yes, %", "what it took", box=box.SIMPLE)
    comparison = Comparison(task, table, options.runs)
    table.add_row("nobody: the majority", f"{100 * majority:.1f}", "", "nothing")
    exact, _ = comparison.add("exact", "all answers are true", people.exact)
    comparison.add("a sample", "a row answers once", *[people.sample] * options.runs)
    lines = [comparison.line("a curator", "everybody's ε = ", people.curator, by_curator)]
    lines += [
        comparison.line(f"a crowd of {crowd.rows:,}", "reports, ε = ", crowd.crowd, by_crowd)
        for crowd in (people, sulq.open(task.more(MORE), task.schema))
    ]
    comparison.wrong_labels(rate, by_curator[-1])
    table.add_section()
    for tolerance in TOLERANCES:
        comparison.adversary(people, tolerance)
    console.print(table)

    console.print(f"The larger crowd is {MORE} copies of the same people, who report by themselves.")
    console.print(f"Within {100 * NEAR:g} points of the exact tree, beyond two standard errors:")
    for line in lines:
        # The smallest of several noisy means to pass would flatter: all larger ε have to pass with it.
        sure = [
            right - 2 * error >= exact - NEAR
            for (_, right), error in zip(line.points, line.errors, strict=True)
        ]
        enough = [epsilon for place, (epsilon, _) in enumerate(line.points) if all(sure[place:])]
        console.print(f"  {line.name}: " + (f"from ε = {enough[0]:g}" if enough else "at none of these ε"))
    console.print(
        "Wrong labels leave most majorities as they are, and trees about as right. But they pull what trees\n"
        f"say towards 50 %, away from the {100 * share:.1f} % who are a yes. Denoising mends that.",
        soft_wrap=True,
    )
    flat = [("exact answers", exact), ("the majority", majority)]
    across = spanning("ε", [x for line in lines for x, _ in line.points], powers=True)
    lines += [Line(name, ((across.low, right), (across.high, right))) for name, right in flat]
    ends = [
        y + side * e
        for line in lines
        for (_, y), e in zip(line.points, line.errors, strict=False)
        for side in (-2, 2)
    ]
    up = spanning("right about people held out", [*ends, exact, majority])
    note = f"{task.about} Runs a point: {options.runs}; bars are two standard errors."
    drawn = picture("One learner, and who answers it", across, up, lines, note)
    options.picture.write_text(drawn, encoding="utf-8")
    console.print(f"\nThe picture of it: {options.picture}", soft_wrap=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--data", type=Path, help="Adult census income, CSV with a header; else a health study"
    )
    parser.add_argument("--curator", nargs="+", default=["0.01", "0.1", "1"], metavar="ε")
    parser.add_argument(
        "--crowd", nargs="+", metavar="ε", help="by default 0.5 to 8 for each row of a person"
    )
    parser.add_argument("--wrong", default="0.3", metavar="η", help="how often a label is wrong, below 1/2")
    parser.add_argument("--runs", type=int, default=10, help="for each line of the table")
    parser.add_argument("--picture", type=Path, default=Path("census_tree.svg"), help="where to draw it")
    try:
        with shown():
            main(parser.parse_args(), Console(highlight=False))
    except (sulq.SulqError, OSError, pa.ArrowException) as error:
        sys.exit(f"census_tree: {error}")
