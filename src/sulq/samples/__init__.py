"""The sample that ships with sulq: see the README beside this file for where it comes from."""

from __future__ import annotations

from pathlib import Path

from sulq.sources.opening import open_here
from sulq.sources.table import TableSource


def randhie() -> TableSource:
    """The RAND Health Insurance Experiment: 20,190 years in the lives of 5,912 people.

    >>> people = randhie()
    >>> people.rows
    20190
    """
    folder = Path(__file__).parent
    people = open_here(folder / "randhie.parquet", folder / "randhie.toml")
    people.files = None  # a ledger beside the sample would lie in the installed package
    return people
