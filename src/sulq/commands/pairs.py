"""`sulq learn pairs` and `sulq synthesize`: tables of all pairs of columns, and rows drawn from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sulq.commands.command import Command, bins_option, share_option
from sulq.commands.reading import columns_in, edges_in
from sulq.errors import QueryError, SulqError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.pairs.release import PairsRelease
from sulq.learners.pairs import Pairs
from sulq.runs.files import write_whole
from sulq.runs.synthetic_report import synthetic_report
from sulq.schema import Schema
from sulq.talk.columns import csv_text


def _pairs(options: argparse.Namespace, schema: Schema) -> Pairs:
    if options.label is not None:
        schema[options.label]  # a name that is not there is refused here, with the names that are
    return Pairs(
        columns_in(options.columns, schema),
        options.label,
        _two_each(options.pair, schema),
        edges_in(options.bins, schema),
        options.share,
    )


def _two_each(texts: Sequence[str], schema: Schema) -> list[tuple[str, str]] | None:
    pairs = []
    for text in texts:
        names = columns_in([text], schema) or []
        if len(names) != 2:
            raise QueryError(f"a pair is two columns with a comma between, as --pair age,sick; not {text!r}")
        pairs.append((names[0], names[1]))
    return pairs or None


def _options(parser: Any) -> None:
    parser.add_argument(
        "--columns",
        action="append",
        metavar="A,B,C",
        help="the columns to pair; all of them by default. May be given several times",
    )
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="a column that models will be made for most: its tables are more precise, and never left out",
    )
    parser.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="A,B",
        help="ask for the table of these two columns, and for no others but those named so; by default all "
        "pairs are asked for, but for those that noise would drown",
    )
    bins_option(parser, "found by the counts of a first round, 16 at most")
    share_option(parser, "a fifth of it counts each column alone, the rest the pairs")


PAIRS = Command(
    "pairs",
    "tables of pairs",
    "tables of every two columns: spend once, make any number of models and synthetic rows of them",
    "Publish the tables of all pairs of columns, which agree with each other, with error bars. What is made "
    "of them afterwards is free and needs no data: additive models, linear regression, naive Bayes and "
    "trees (in Python), and synthetic rows (`sulq synthesize`). --dry-run says how large the release is, how "
    "noisy, and which pairs it would leave out.",
    (
        "--epsilon 1 --delta 1e-6 --dry-run",
        "--label sick --epsilon 1 --delta 1e-6 --json release.json --report release.html",
        "--columns age,sex,sick --bins age=18,40,65 --epsilon 1 --json release.json",
    ),
    _options,
    _pairs,
)


def add_synthesize(commands: Any) -> None:
    """Add `sulq synthesize` to the commands."""
    parser = commands.add_parser(
        "synthesize",
        help="draw synthetic rows from what `sulq learn pairs` published; costs nothing",
        description="Draw rows that nobody is behind from a release of `sulq learn pairs`, and say how far "
        "their tables are from the published ones. Only the release is read: no data, no ledger, and nothing "
        "is spent. Whoever may see the release may see the rows.",
        epilog="example: sulq synthesize release.json --rows 10000 --out rows.csv --report rows.html",
    )
    parser.add_argument("release", help="what `sulq learn pairs --json` wrote")
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="how many rows to draw")
    parser.add_argument("--out", required=True, metavar="FILE", help="where to: a .csv or .parquet file")
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draws the same rows every time; by default randomness is the operating system's",
    )
    parser.add_argument(
        "--differences", metavar="FILE", help="write a CSV file that compares every published table"
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write a page that compares every published count, with a picture"
    )
    parser.set_defaults(run=synthesize)


def synthesize(options: argparse.Namespace, console: Console) -> None:
    """Draw rows from a release, write them, and say how far off they are."""
    kind = Path(options.out).suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise SulqError(f"--out is a file that ends in .csv or .parquet, not {options.out!r}")
    try:
        text = Path(options.release).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SulqError(f"cannot read {options.release}: {getattr(error, 'strerror', 'no text')}") from None
    release = Hypothesis.from_json(text)
    if not isinstance(release, PairsRelease):
        raise SulqError(f"{options.release} is a {release.wire}, and no release of `sulq learn pairs`")
    rows = release.sample(options.rows, options.seed)
    if kind == ".csv":
        write_whole(options.out, rows.to_csv() or "")
    else:
        rows.to_parquet(options.out)
    if options.differences is not None:
        write_whole(options.differences, csv_text(rows.differences()))
    if options.report is not None:
        title = f"Synthetic rows of {Path(options.release).stem}"
        write_whole(options.report, synthetic_report(rows, release.origin, title, text))
    console.print(Text(rows.report()), soft_wrap=True)
    promise = "none is known" if release.origin is None else release.origin.promise
    console.print(Text(f"privacy: that of the release, {promise}; nothing was spent"), soft_wrap=True)
    for path in (options.out, options.differences, options.report):
        if path is not None:
            console.print(Text(f"written: {path}"), soft_wrap=True)
