"""`sulq survey`: people answer from their own devices, and nobody is trusted."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sulq.commands.survey_learn import add_survey_learn, refuse_overwriting
from sulq.commands.terminal import print_utf8
from sulq.errors import SulqError
from sulq.numbers import whole
from sulq.pictures.svg import clean
from sulq.privacy.budget import PureDP
from sulq.runs.expectations import odd_requests
from sulq.runs.files import write_whole
from sulq.survey.collector import Collector
from sulq.survey.diagnostics import RATE, diagnose
from sulq.survey.planning import plan_of
from sulq.survey.reading import read_survey
from sulq.survey.results import results_of
from sulq.survey.results_page import checks_table, results_page, results_table
from sulq.survey.starting import START

MOST_INVITED = 10_000_000
FILE = "the survey's TOML file"


def add_survey(commands: Any) -> None:
    """Add `sulq survey` to the commands."""
    parser = commands.add_parser(
        "survey",
        help="ask people who answer from their own devices",
        description="Hold a survey in which nobody is trusted: everybody's device randomizes the answers "
        "before they leave it. Write a file, see what it takes, invite, serve, and read the results.",
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    _add_before(actions)
    _add_serve(actions)
    add_survey_learn(actions)
    _add_after(actions)


def _add_before(actions: Any) -> None:
    action = actions.add_parser(
        "new",
        help="write a survey file to begin with",
        description="Write a survey file with comments, to be changed. A file that is there is not touched.",
        epilog="example: sulq survey new sick.toml",
    )
    action.add_argument("file", help="the file to write")
    action.set_defaults(run=_new)

    action = actions.add_parser(
        "plan",
        help="how many people the precision takes, question by question",
        description="Say how many people the wanted precision needs, question by question, and draw how "
        "errors shrink with their number. What cannot work is refused, with the reason. The exit code is 1 "
        "if too few people are expected.",
        epilog="example: sulq survey plan sick.toml --picture sick.svg",
    )
    action.add_argument("file", help=FILE)
    action.add_argument("--picture", metavar="SVG", help="write the drawing there")
    action.set_defaults(run=_plan)

    action = actions.add_parser(
        "rehearse",
        help="hold it among made-up people, and see how well it would go",
        description="Let made-up people, with a device each, answer the survey over HTTP, and print the "
        "estimates beside what is true of them. Nothing is kept, and the survey itself is not touched.",
        epilog="example: sulq survey rehearse sick.toml --people 2000",
    )
    action.add_argument("file", help=FILE)
    action.add_argument("--people", type=int, metavar="N", help="how many (default: as many as are expected)")
    action.set_defaults(run=_rehearse)

    action = actions.add_parser(
        "invite",
        help="make single-use links",
        description="Make links that are good for one person each, and print them, one a line. Only their "
        "hashes are kept: they cannot be printed again, and no report tells which link brought it.",
        epilog="example: sulq survey invite sick.toml --people 500 --url https://survey.example > links.txt",
    )
    action.add_argument("file", help=FILE)
    action.add_argument("--people", required=True, type=int, metavar="N", help="how many links")
    action.add_argument(
        "--url", default="http://127.0.0.1:8444", help="where the page is reached (default %(default)s)"
    )
    action.set_defaults(run=_invite)


def _add_serve(actions: Any) -> None:
    action = actions.add_parser(
        "serve",
        help="collect: the page, and where devices send their reports",
        description="Serve the page that people answer on, and collect what their devices send. A report is "
        "counted once it is on the disk, and once only. No address, time or header of who sends is written "
        "down.",
        epilog="example: sulq survey serve sick.toml --host 0.0.0.0 --certificate a.pem --private-key a.key",
    )
    action.add_argument("file", help=FILE)
    action.add_argument("--host", default="127.0.0.1", help="the address (default %(default)s)")
    action.add_argument("--port", type=int, default=8444, help="the port; 0 for any (default %(default)s)")
    action.add_argument(
        "--certificate", metavar="FILE", help="the TLS certificate; needed beyond this machine"
    )
    action.add_argument("--private-key", metavar="FILE", help="the private key of the certificate")
    action.add_argument("--behind-proxy", action="store_true", help="a proxy in front of it speaks TLS")
    action.add_argument(
        "--public-results", action="store_true", help="show the results to everybody, at /results"
    )
    action.add_argument(
        "--workers", type=int, default=1, metavar="N", help="how many processes; several need Postgres"
    )
    action.set_defaults(run=_serve)


def _add_after(actions: Any) -> None:
    action = actions.add_parser(
        "results",
        help="estimates with error bars, and who is still needed",
        description="Print what the reports tell so far: estimates with error bars, grey until they mean "
        "something, how many people are still needed for the wanted precision, and whether groups differ. "
        "Results are made of randomized reports alone, so that looking at them costs nobody anything.",
        epilog="example: sulq survey results sick.toml --csv results.csv --page results.html",
    )
    action.add_argument("file", help=FILE)
    action.add_argument("--csv", metavar="FILE", help="write the numbers there, as CSV")
    action.add_argument("--json", metavar="FILE", help="write everything there, as JSON")
    action.add_argument("--page", metavar="FILE", help="write a page for people there, as HTML")
    action.set_defaults(run=_results)

    action = actions.add_parser(
        "rounds",
        help="which rounds there were, and who is still missing",
        description="Print the rounds of a survey: whose run asked, what is reported, how many reports there "
        "are, and how many each item is to have. A learner that is run again goes on where it was.",
        epilog="example: sulq survey rounds health.toml",
    )
    action.add_argument("file", help=FILE)
    action.set_defaults(run=_rounds)

    action = actions.add_parser(
        "check",
        help="signs that reports were made up, and what no test can show",
        description="Test whether reports are such as devices draw them: impossible ones, a fit to the "
        "randomizer's law, bursts, equal reports. The exit code is 1 if there is an alarm.",
        epilog="example: sulq survey check sick.toml",
    )
    action.add_argument("file", help=FILE)
    action.set_defaults(run=_check)


def _new(options: argparse.Namespace, console: Console) -> None:
    path = Path(options.file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(START)
    except FileExistsError:
        raise SulqError(f"{path} is there already: name another file") from None
    except OSError as error:
        raise SulqError(f"cannot write {path}: {error.strerror}") from None
    console.print(Text(f"written: {path}; change it, and then: sulq survey plan {path}"), soft_wrap=True)


def _plan(options: argparse.Namespace, console: Console) -> int:
    survey = read_survey(options.file)
    refuse_overwriting(survey, options, "picture")
    plan = plan_of(survey)
    for sentence in odd_requests(PureDP(survey.epsilon), None):
        console.print(Text(sentence, "yellow"), soft_wrap=True)
    console.print(plan.table())
    if options.picture is not None:
        write_whole(Path(options.picture), plan.picture())
        console.print(Text(f"written: {options.picture}"), soft_wrap=True)
    if not plan.enough:
        console.print(Text(plan.advice), soft_wrap=True)
    return 0 if plan.enough else 1


def _rehearse(options: argparse.Namespace, console: Console) -> None:
    survey = read_survey(options.file)
    with _needing("rehearse"):
        from sulq.survey.rehearsing import rehearse
    rehearsed = rehearse(survey, survey.people if options.people is None else options.people)
    console.print(results_table(rehearsed.results))
    for question, off in zip(rehearsed.results.questions, rehearsed.off, strict=True):
        words = f"{question.asked.name}: off by {off:.3g} at most, and {question.radius:.3g} was promised"
        console.print(Text(words), soft_wrap=True)


@contextmanager
def _needing(action: str) -> Iterator[None]:
    """What an action needs is installed, or else it is said what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SulqError(f"`sulq survey {action}` needs {error.name}: pip install 'sulq[survey]'") from None


def _invite(options: argparse.Namespace, console: Console) -> None:
    whole("--people", options.people, 1, MOST_INVITED)
    survey = read_survey(options.file)
    if not survey.invited:
        raise SulqError("this survey is open to everybody (invited = false), so links mean nothing")
    with Collector(survey) as collector:
        links = collector.invite(options.people)
    print_utf8("".join(f"{options.url.rstrip('/')}/#{token}\n" for token in links))


def _serve(options: argparse.Namespace, console: Console) -> None:
    survey = read_survey(options.file)
    with _needing("serve"):
        from sulq.serve.logs import log_to
        from sulq.survey.server import CollectorProcesses, CollectorServer, Listening
    where = Listening(
        options.host,
        options.port,
        options.certificate,
        options.private_key,
        options.behind_proxy,
        options.public_results,
    )
    server: CollectorServer | CollectorProcesses
    if options.workers == 1:
        server = CollectorServer(survey, where)
    else:
        server = CollectorProcesses(survey, where, options.workers)
    console.print(Text(f"collecting at {server.url}; Ctrl-C ends it"), soft_wrap=True)
    log_to()
    server.run()


def _results(options: argparse.Namespace, console: Console) -> None:
    survey = read_survey(options.file)
    refuse_overwriting(survey, options, "csv", "json", "page")
    with Collector(survey) as collector:
        results = results_of(collector)
        console.print(results_table(results))
        writers = [(options.csv, results.to_csv), (options.json, results.to_json)]
        for path, write in [*writers, (options.page, lambda: results_page(collector))]:
            if path is not None:
                write_whole(Path(path), write())
                console.print(Text(f"written: {path}"), soft_wrap=True)


def _rounds(options: argparse.Namespace, console: Console) -> None:
    table = Table("round", "run", "state", "reported by", "reports", "of", box=None, padding=(0, 2, 0, 0))
    with Collector(read_survey(options.file)) as collector:
        for kept in collector.rounds():
            received = collector.received(kept.number)
            for place, (key, people) in enumerate(kept.planned.items()):
                about = (str(kept.number), kept.run, kept.state) if place == 0 else ("", "", "")
                counts = (f"{received.get(key, 0):,}", f"{people:,}")
                table.add_row(*(Text(clean(cell)) for cell in (*about, kept.items[key].described, *counts)))
    console.print(table)


def _check(options: argparse.Namespace, console: Console) -> int:
    with Collector(read_survey(options.file)) as collector:
        names = {each.item.key: each.name for each in collector.asked}
        rounds = collector.rounds()
        rate = RATE / max(1, len(rounds))
        checks = [check for kept in rounds for check in diagnose(collector, kept.number, rate)]
    console.print(checks_table(checks, names))
    return int(any(check.alarm for check in checks))
