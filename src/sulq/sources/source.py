"""A source: rows somewhere, a schema, the exact sums of row expressions, and doors to the oracles."""

from __future__ import annotations

from sulq.renamed import moved
from sulq.sources.doors import Doors


class Source(Doors):
    """Rows that can be asked for sums, and the doors to whoever answers about them.

    `sulq.open` makes one of files, frames and arrays. A new engine subclasses it and implements `rows` and
    `sums`; `sulq.sources.sums.sums_of_blocks` does most of the work where rows come in blocks. What looks at
    single rows, such as a crowd, also needs `sulq.sources.rows.Rows`.

    Args:
        schema: what is public about the columns: a Schema, a dict, or the path of a TOML file.
        files: the files or the database that hold the rows, if any do. A curator's ledger lies beside them.

    >>> import numpy as np, sulq
    >>> class Nobody(sulq.Source):
    ...     rows = 0
    ...     def sums(self, parts):
    ...         return [np.zeros(self.scope.number(part).width, dtype=object) for part in parts]
    >>> nobody = Nobody({"age": sulq.Integer(0, 120)})
    >>> nobody.exact().ask(sulq.Round([sulq.total(sulq.col("age"))]))[0].value
    0.0
    """


__getattr__ = moved("sulq.sources.source", {"open": "sulq.sources.opening.open"})
