"""A survey about something sensitive, where nobody is trusted: everybody randomizes their own answer.

It tells what one respondent's device does, how many respondents a wanted error takes, how good the estimates
are when the survey is held among the people of a real health study, and what liars can do to it.
"""

from __future__ import annotations

import argparse
import math
import sys
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from studies import one_year_each

import sulq
from sulq.local import OneOf, RandomizedResponse, best_randomizer, nearest_distribution
from sulq.pictures.lines import Line, picture, spanning
from sulq.progress import shown
from sulq.sources.table import TableSource

QUESTION, WORDS = sulq.col("limited"), "Do you have a physical limitation?"
CHOICE, ASKED = "health", "How do you rate your health?"
EVERYBODY = sulq.Round([sulq.mean(QUESTION)], share=1)
BETA = 0.05
NORMAL = NormalDist().inv_cdf(1 - BETA / 2)
EPSILONS, POINTS = [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)], (5, 2, 1)
LIARS = (1, 10, 100)


def show_device(epsilon: Fraction, console: Console) -> None:
    """One respondent: the truth goes in, a report comes out, and the chances of both are known exactly."""
    warner = RandomizedResponse(epsilon)
    table = Table("the truth", "reports yes", "reports no", box=box.SIMPLE)
    for truth in (True, False):
        chances = [percent(float(warner.pmf(report, truth)), 2) for report in (True, False)]
        table.add_row("yes" if truth else "no", *chances)
    console.print(table)
    ratio = float(warner.ratio)
    console.print(f"No report is more than {ratio:.6f} times as likely for one truth as for the other;")
    console.print(
        f"e^ε = {math.exp(epsilon):.6f}. Chances are multiples of 2^-64, rounded to the side of privacy."
    )
    for prior in (0.01, 0.1, 0.5):
        odds = prior / (1 - prior) * ratio
        after = percent(odds / (1 + odds))
        console.print(f"  Who thought {percent(prior, 0)} likely, and sees a yes, now thinks {after}.")


def respondents(people: sulq.Source, epsilon: Fraction | None, points: int) -> tuple[int, int]:
    """How many respondents keep an error within so many points, in 95 % of surveys: guaranteed, and about.

    The first is the cost of a tolerance: it holds whatever the truth. The second is the textbook's normal
    approximation, z²·(e^ε/(e^ε − 1)² + 1/4)/error²: a report's own noise, and the luck of who is asked.
    """
    error = Fraction(points, 100)
    round_ = sulq.Round([sulq.mean(QUESTION, tolerance=error, beta=str(BETA))])
    noise = 0.0 if epsilon is None else math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
    oracle = people.sample() if epsilon is None else people.crowd(epsilon)
    return oracle.cost(round_), math.ceil(NORMAL**2 * (noise + 1 / 4) / float(error) ** 2)


def show_needs(people: sulq.Source, where: Path, console: Console) -> None:
    """The table of respondents needed, and its picture."""
    headings = [f"ε = {float(epsilon):g}" for epsilon in EPSILONS]
    table = Table("error", "", *headings, "no privacy", box=box.SIMPLE)
    lines = []
    for points in POINTS:
        needs = [respondents(people, epsilon, points) for epsilon in (*EPSILONS, None)]
        table.add_row(f"± {points} points", "guaranteed", *(f"{sure:,}" for sure, _ in needs))
        table.add_row("", "about", *(f"{about:,}" for _, about in needs), end_section=True)
        *private, (open_poll, _) = needs
        at = zip(EPSILONS, private, strict=True)
        lines.append(Line(f"± {points} points", tuple((float(e), float(sure)) for e, (sure, _) in at)))
        flat = tuple((float(end), float(open_poll)) for end in (EPSILONS[0], EPSILONS[-1]))
        lines.append(Line(f"± {points} points, no privacy", flat))
    console.print(table)
    across = spanning("ε, to every respondent", [float(epsilon) for epsilon in EPSILONS])
    up = spanning("respondents", [y for line in lines for _, y in line.points], powers=True)
    note = "A yes-or-no question by randomized response; the error is kept in 95 % of surveys."
    where.write_text(picture("What privacy costs a survey", across, up, lines, note), encoding="utf-8")


def show_survey(people: TableSource, epsilon: Fraction, runs: int, console: Console) -> None:
    """The survey among everybody, again and again: how often the error bar has the truth in it."""
    truth = float(people.values(QUESTION).mean())
    answers = [people.crowd(epsilon).ask(EVERYBODY)[0] for _ in range(runs)]
    bar = float(answers[0].radius(BETA))
    rough = NORMAL * RandomizedResponse(epsilon).variance(people.rows) ** 0.5
    off = np.abs([answer.value - truth for answer in answers])
    within, roughly = (percent(float(np.mean(off <= most))) for most in (bar, rough))
    estimate = f"{percent(answers[0].value)} ± {percent(bar)}"
    console.print(f"{people.rows:,} respondents say {estimate}. The truth: {percent(truth)}.")
    console.print(f"In {runs:,} such surveys the truth was within ± {percent(bar)} in {within},")
    console.print(f"and within the textbook's ± {percent(rough)} in {roughly}; 95 % was wanted.")


def show_choice(people: TableSource, epsilon: Fraction, console: Console) -> None:
    """One of k answers, by the best randomizer for that many."""
    kind = people.schema[CHOICE]
    assert isinstance(kind, sulq.Category)
    levels = kind.levels
    device = best_randomizer(OneOf(len(levels)), epsilon)
    console.print(f"The device: {type(device).__name__}, with a ratio of {float(device.ratio):.6f}.")
    [answer] = people.crowd(epsilon).ask(sulq.Round([sulq.count(by=CHOICE)], share=1))
    shares, bar = answer.value / people.rows, answer.radius(BETA) / people.rows
    truth = np.bincount(people.values(sulq.col(CHOICE)), minlength=len(levels)) / people.rows
    # Estimates without bias may be negative: the nearest shares that can be are never worse.
    table = Table("answer", "estimate, %", "nearest possible, %", "truth, %", box=box.SIMPLE)
    for level, share, near, so in zip(levels, shares, nearest_distribution(shares), truth, strict=True):
        table.add_row(level, f"{100 * share:.1f} ± {100 * bar:.1f}", f"{100 * near:.1f}", f"{100 * so:.1f}")
    console.print(table)


def show_liars(people: TableSource, epsilon: Fraction, console: Console) -> None:
    """A respondent can send what they like; `influence` says how far that moves the estimate at most."""
    rows, values, warner = people.rows, people.values(QUESTION), RandomizedResponse(epsilon)
    [most], [strict] = (people.crowd(promised).influence(EVERYBODY) for promised in (epsilon, EPSILONS[0]))
    at, least = (f"at most, ε = {float(promised):g}" for promised in (epsilon, EPSILONS[0]))
    table = Table("liars", "in an open poll", at, "seen, all saying yes", least, box=box.SIMPLE)
    for liars in LIARS:
        honest = warner.sample(values)
        reports = honest.copy()
        reports[:liars] = True
        seen = float(warner.estimate(reports)[0] - warner.estimate(honest)[0])
        moved = (liars / rows, liars * most / rows, seen, liars * strict / rows)
        table.add_row(f"{liars}", *(f"{100 * share:.2f}" for share in moved))
    console.print(table)


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def main(options: argparse.Namespace, console: Console) -> None:
    people, epsilon = one_year_each(), sulq.PureDP(options.epsilon).epsilon
    if options.runs < 1:
        raise sulq.SulqError(f"there must be at least one run, not {options.runs}")
    console.print(f"\n[bold]1. What a respondent's device does[/], ε = {float(epsilon):g}. “{WORDS}”")
    show_device(epsilon, console)
    console.print("\n[bold]2. How many respondents it takes[/], in 95 % of surveys:")
    show_needs(people, options.picture, console)
    console.print("[bold]3. The survey[/] among the people of a health study.")
    show_survey(people, epsilon, options.runs, console)
    console.print(f"\n[bold]4. One of several answers[/]. “{ASKED}”")
    console.print(f"A second survey: who takes part in both was promised ε = {2 * float(epsilon):g} in all.")
    show_choice(people, epsilon, console)
    console.print("[bold]5. Liars[/]. By how many points a few who agree move the estimate:")
    show_liars(people, epsilon, console)
    console.print(f"The picture of what it takes: {options.picture}", soft_wrap=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", default="2", metavar="ε", help="promised to everybody in this example")
    parser.add_argument("--runs", type=int, default=500, help="how often the survey is repeated")
    parser.add_argument("--picture", type=Path, default=Path("survey.svg"), help="where to draw it")
    try:
        with shown():
            main(parser.parse_args(), Console(highlight=False))
    except (sulq.SulqError, OSError) as error:
        sys.exit(f"survey: {error}")
