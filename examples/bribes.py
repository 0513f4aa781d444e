"""A survey on a sensitive question, from the file to the results, with 2,000 devices that report over HTTP.

It tells what the survey needs, lets everybody's device report, shows what the collector saw of one person,
what the results are beside the truth, and what happens if somebody uses a link twice or sends made-up
reports.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
from rich.console import Console

import sulq
from sulq.progress import shown
from sulq.survey.diagnostics import LIMITS, diagnose
from sulq.survey.file import SurveyFile
from sulq.survey.planning import plan_of
from sulq.survey.reading import survey_of
from sulq.survey.rehearsing import made_up, truth_of
from sulq.survey.respondents import Respondents
from sulq.survey.results import results_of
from sulq.survey.results_page import results_page, results_table
from sulq.survey.server import CollectorServer, Listening

PART = 5
"""Of so many people one is joined by somebody who sends made-up reports."""
FILE = """
[survey]
title = "Bribes"
about = "Your device randomizes your answers before they leave it."
epsilon = 4
divides = "epsilon"
people = 2000
precision = 0.1
keeps = "reports"

[questions.sector]
kind = "one-of"
text = "Where do you work?"
choices = ["private", "public"]
alone = false

[questions.paid]
kind = "yes-no"
text = "Did you pay a bribe in the last three years?"
by = "sector"

[questions.amount]
kind = "number"
text = "How much in all, at most 1,000?"
low = 0
high = 1000
unit = "€"
"""


def people_of(survey: SurveyFile, people: int) -> sulq.sources.table.TableSource:
    """People of whom one in four paid; where they work in the public sector, one in ten."""
    rng = np.random.default_rng(2027)
    public = rng.random(people) < 0.4
    paid = rng.random(people) < np.where(public, 0.1, 0.35)
    columns = {
        "sector": np.where(public, "public", "private"),
        "paid": paid,
        "amount": np.where(paid, rng.integers(20, 800, people), 0),
    }
    return made_up(survey.schema, people, columns)


def main(options: argparse.Namespace, console: Console) -> None:
    with TemporaryDirectory() as folder:
        form = tomllib.loads(FILE)
        form["survey"] |= {"epsilon": options.epsilon, "people": options.people}
        survey = replace(survey_of(form), store=str(Path(folder, "bribes.reports")))
        people = people_of(survey, options.people)
        console.print("\n[bold]1. What it takes[/]")
        plan = plan_of(survey)
        console.print(plan.table())
        if not plan.enough:
            console.print(plan.advice)
        with CollectorServer(survey, Listening(port=0)) as server:
            collect(server, people, console)
            options.page.write_text(results_page(server.collector), encoding="utf-8")
            spoil(server, console)
    console.print(f"The results as a page, before the made-up reports: {options.page}", soft_wrap=True)


def collect(server: CollectorServer, people: sulq.sources.table.TableSource, console: Console) -> None:
    """Everybody answers, and the results stand beside the truth."""
    survey, collector = server.collector.survey, server.collector
    links = collector.invite(people.rows)
    crowd = Respondents(server.url, people, survey.epsilon, links)
    crowd.answer()
    console.print(f"\n[bold]2. {people.rows:,} devices reported[/]: {dict(crowd.outcomes)}")
    results = results_of(collector)
    [first, *_] = collector.reports(1, results.questions[0].asked.item.key)
    console.print(f"All that the collector has of one person's answer on bribes: {first}")
    again = Respondents(server.url, people.only(np.arange(1)), survey.epsilon, links[:1])
    again.answer()
    console.print(f"A link that is used twice: {dict(again.outcomes)}")
    console.print("\n[bold]3. The results[/]")
    console.print(results_table(results))
    for question in results.questions:
        off = np.abs(question.values - truth_of(question.asked, people)).max()
        console.print(
            f"{question.asked.name}: off by {off:.3g}, and at most {question.radius:.3g} was promised"
        )
    console.print(f"Alarms: {sum(check.alarm for check in diagnose(collector))}")


def spoil(server: CollectorServer, console: Console) -> None:
    """Somebody with many links sends the same report again and again."""
    collector = server.collector
    before = results_of(collector)
    many = before.questions[0].reports // PART
    opened = httpx.get(f"{server.url}/round.json").json()
    keys = [question.asked.item.key for question in before.questions]
    reports = [{"report": 1, "item": key, "numbers": [3]} for key in keys]
    sent = [{"round": 1, "invitation": link, "reports": reports} for link in collector.invite(many)]
    form = {"reports-gathered": 1, "survey": opened["survey"], "sent": sent}
    httpx.post(f"{server.url}/gateway", json=form).raise_for_status()
    console.print(f"\n[bold]4. {many} made-up reports[/] that all say the same")
    for old, new in zip(before.questions, results_of(collector).questions, strict=True):
        moved = np.abs(new.values - old.values).max()
        most = many * new.asked.item.randomizer.influence(new.reports)
        console.print(
            f"{new.asked.name}: moved by {moved:.3g}, and by no more than {most:.3g} whatever they say"
        )
    for check in diagnose(collector):
        if check.alarm:
            console.print(f"alarm: {check.name}: {check.words}", soft_wrap=True)
    console.print(LIMITS[0], soft_wrap=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", default="4", metavar="ε", help="promised to everybody in this example")
    parser.add_argument("--people", type=int, default=2000, help="how many devices report")
    parser.add_argument("--page", type=Path, default=Path("bribes.html"), help="where to write the results")
    try:
        with shown():
            main(parser.parse_args(), Console(highlight=False))
    except (sulq.SulqError, OSError) as error:
        sys.exit(f"bribes: {error}")
