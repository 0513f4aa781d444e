"""Opening the rows that a command was told of."""

from __future__ import annotations

import argparse

from sulq.schema import Schema
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source


def opened(options: argparse.Namespace, schema: Schema) -> Source:
    """The rows, for questions.

    Args:
        options: what was given to a command with `add_data`.
        schema: what is public about the columns.
    """
    return open_source(
        options.data,
        schema,
        table=options.table,
        query=options.query,
        quoted_newlines=options.quoted_newlines,
    )
