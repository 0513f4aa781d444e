"""`sulq survey learn`: a learner asks people who answer from their own devices, round by round."""

from __future__ import annotations

import argparse
import re
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sulq.commands.checks import check_writable
from sulq.commands.command import Command
from sulq.commands.learners import COMMANDS, run_name
from sulq.errors import SulqError
from sulq.hypotheses.tree import Tree
from sulq.pictures.svg import clean
from sulq.runs.files import write_whole
from sulq.survey.file import SurveyFile
from sulq.survey.oracle import StillOpenError, collected
from sulq.survey.reading import read_survey

LOGS = ("", "-wal", "-shm")
"""What the names of the files of a store end with."""
INTERRUPTED = "interrupted; the round stays open, and the same command again goes on from there"


def add_survey_learn(actions: Any) -> None:
    """Add `sulq survey learn` to the actions, with a command of its own for each learner.

    Args:
        actions: the actions of `sulq survey`.
    """
    parser = actions.add_parser(
        "learn",
        help="learn a tree, clusters and more from people who answer in rounds",
        description='Drive a survey with divides = "rounds": the learner opens a round in the store, people '
        "answer it at the collector (`sulq survey serve`, which runs meanwhile), and the learner goes on. "
        "Everybody answers one part of one round.",
        epilog="`sulq survey learn tree --help` has examples.",
    )
    learners = parser.add_subparsers(title="learners", required=True, metavar="LEARNER")
    for command in COMMANDS:
        _add(learners, command)


def _add(learners: Any, command: Command) -> None:
    start = f"  sulq survey learn {command.name} health.toml"
    examples = [re.split(r"\s*--(?:epsilon|rho)\b", example)[0] for example in command.examples]
    parser = learners.add_parser(
        command.name,
        help=command.help,
        description=textwrap.fill(command.description, 80),
        epilog="\n".join(
            ["examples:", *dict.fromkeys(f"{start} {example}".rstrip() for example in examples)]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the survey's TOML file")
    command.add_options(parser.add_argument_group("what to learn"))
    rounds = parser.add_argument_group("rounds")
    rounds.add_argument(
        "--wait",
        type=_seconds,
        metavar="SECONDS",
        help="end after so many seconds if a round is still open, with exit code 1; the same command again "
        "goes on from there (default: wait for as long as it takes)",
    )
    rounds.add_argument(
        "--close-after",
        type=_seconds,
        metavar="SECONDS",
        help="close a round after so many seconds, once everything it asks has a report (default: once "
        "everything has its people)",
    )
    rounds.add_argument(
        "--named", metavar="RUN", help="the run's name in the store; by default it follows from the settings"
    )
    rounds.add_argument("--json", metavar="FILE", help="write the hypothesis, for `from_json` to read")
    parser.set_defaults(run=partial(_learn, command))


def _learn(command: Command, options: argparse.Namespace, console: Console) -> int:
    survey = read_survey(options.file)
    learner = command.learner(options, survey.schema)
    refuse_overwriting(survey, options, "json")
    check_writable(options, None)
    oracle = collected(survey, seconds=options.close_after, wait=options.wait)
    try:
        hypothesis = learner.learn(oracle, options.named or run_name(command.name, learner))
    except StillOpenError as waiting:
        console.print(Text(str(waiting)), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(INTERRUPTED) from None
    finally:
        oracle.collector.close()
    if options.json is not None:
        write_whole(Path(options.json), hypothesis.to_json() + "\n")
    shown = {"prune": getattr(options, "prune", True)} if isinstance(hypothesis, Tree) else {}
    console.print(hypothesis.drawing(**shown))
    for sentence in hypothesis.doubts:
        console.print(Text(clean(sentence), "yellow"), soft_wrap=True)
    return 0


def refuse_overwriting(survey: SurveyFile, options: argparse.Namespace, *names: str) -> None:
    """Refuse to write over the survey, over what it keeps, or over another result.

    Args:
        survey: the survey.
        options: what was given on the command line; `file` is the survey's file.
        names: the options that name a file to write.
    """
    needed = {Path(f"{path}{ending}").resolve() for path in (options.file, survey.store) for ending in LOGS}
    for name in names:
        given = getattr(options, name)
        if given is None:
            continue
        if Path(given).resolve() in needed:
            raise SulqError(f"--{name} {given} would overwrite a file that is needed: name another")
        needed.add(Path(given).resolve())


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds: give one as 0 or 3600")
    return seconds
