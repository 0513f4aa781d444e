"""The SuLQ paper's step of k-means as its box has it (section 4.2), and Lemma 1 for what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sulq.errors import QueryError
from sulq.learners.estimates import Floats
from sulq.learners.lloyd import WIDEST, on_grid, plain
from sulq.queries.attributes import interval
from sulq.queries.codes import Nearest, nearest
from sulq.queries.missing import coordinate
from sulq.queries.query import Query, count, total
from sulq.queries.vectors import features, vector
from sulq.schema import Schema
from sulq.talk.answers import BETA, Answer


def box_step(schema: Schema, names: Sequence[str], centres: Floats) -> list[Query]:
    """Steps 1 and 2 of the box: k queries for the clusters' sizes, kd for the sums of their rows.

    Rows lie in [0, 1]^d, as in the paper: every public interval is scaled to that.

    Args:
        schema: what is public about the columns.
        names: the columns that span the space.
        centres: where the centres are, with each public interval scaled to [−1, 1].
    """
    cluster: Nearest = nearest(features(*names), plain(centres))
    ends = {name: interval(schema, name) for name in names}
    row = [(coordinate(name, schema) - low) * (1 / (high - low)) for name, (low, high) in ends.items()]
    return [count(by=cluster), total(vector(*row), by=cluster)]


def box_moved(centres: Floats, count_: Answer, total_: Answer) -> tuple[Floats, Floats]:
    """The centres after a step of the box, the sums over the sizes, and the sizes.

    Where a size is not above 0 the box has no mean to say: the centre stays. What noise puts outside of the
    public intervals is brought back into them, where the next question is asked.

    Args:
        centres: where the centres were.
        count_: the answer about the sizes.
        total_: the answer about the sums.
    """
    sizes = np.reshape(count_.value, (-1, 1))
    means = 2 * total_.value.reshape(centres.shape) / np.where(sizes > 0, sizes, 1.0) - 1
    after = np.where(sizes > 0, np.clip(means, -1, 1), centres)
    return on_grid(after), np.maximum(np.ravel(sizes), 0.0)


def box_errors(after: Floats, count_: Answer, total_: Answer) -> Floats:
    """Lemma 1: how far each centre is, in each coordinate, from the mean of the rows nearest to it.

    The lemma's two sources of error, made explicit: with a sum T that is off by at most a and a size N that
    is off by at most b, T/N is off by at most (a + b·|T/N|)/(N − b). The lemma has (‖μ‖ + √d)·√R/N for it.
    The noise alone is meant, but for a chance of 5 % for all centres at once. Where N may be 0, the error is
    2, as wide as the space.

    Args:
        after: where the centres are, scaled to [−1, 1].
        count_: the answer about the sizes.
        total_: the answer about the sums.
    """
    off, size_off = float(np.max(total_.radius(BETA / 2))), float(np.max(count_.radius(BETA / 2)))
    if off == 0 and size_off == 0:
        return np.zeros_like(after)
    sizes = np.reshape(count_.value, (-1, 1))
    known = sizes > size_off
    means = total_.value.reshape(after.shape) / np.where(known, sizes, 1.0)
    noisy = 2 * (off + size_off * np.abs(means)) / np.where(known, sizes - size_off, 1.0)
    return np.where(known, np.minimum(noisy + np.abs(after - (2 * means - 1)), WIDEST), WIDEST)


def given_centres(schema: Schema, names: Sequence[str], k: int, start: Sequence[Sequence[float]]) -> Floats:
    """Centres in the columns' own units, as they are scaled here; a refusal if they are no centres.

    Args:
        schema: what is public about the columns.
        names: the columns that span the space.
        k: how many centres there are.
        start: the centres.

    >>> import sulq
    >>> schema = sulq.Schema({"x": sulq.Real(0, 10)})
    >>> given_centres(schema, ["x"], 2, [[2.5], [10]]).tolist()
    [[-0.5], [1.0]]
    """
    try:
        given = np.array([[float(x) for x in centre] for centre in start])
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.shape != (k, len(names)):
        raise QueryError(
            f"start has {k} centres of {len(names)} numbers each: one for each of {', '.join(names)}"
        )
    low, high = np.array([interval(schema, name) for name in names]).T
    if not ((given >= low) & (given <= high)).all():
        raise QueryError("the centres to start from lie within the public bounds of their columns")
    return on_grid(2 * (given - low) / (high - low) - 1)
