"""Rows as points that a halfspace is to separate, and what weights of points are as weights of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.halfspace import point
from sulq.learners.attributes_in_bins import Attribute, public_edges
from sulq.learners.coordinates import in_few_bins
from sulq.learners.spans import Span
from sulq.numbers import rational
from sulq.queries.attributes import interval
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import clip_norm, vector
from sulq.schema import Integer, Real, Schema


@dataclass(frozen=True)
class Points:
    """Rows as points.

    Args:
        row: the point of a row, as a row expression.
        to: this matrix times the weights of a point are the weights of the features, and at last the
            intercept, as `sulq.hypotheses.Halfspace` has them.
    """

    row: Node
    to: Floats

    @property
    def width(self) -> int:
        """How many coordinates a point has."""
        return int(self.to.shape[1])


def as_they_are(
    schema: Schema, names: Sequence[str], norm: float | None, intercept: bool, scaled: bool
) -> Points:
    """Rows as the schema scales them, or in their own units.

    Args:
        schema: what is public about the columns.
        names: the features.
        norm: longer points are shortened to it; None to shorten none.
        intercept: whether a constant 1 is added to a point.
        scaled: whether public intervals are scaled to [−1, 1].
    """
    row = point(schema, names, scaled)
    if intercept:
        row = vector(row, 1)
    width = scope_of(schema).number(row).width
    to = np.eye(width) if intercept else np.eye(width + 1, width)
    return Points(row if norm is None else clip_norm(row, float(rational("norm", norm))), to)


def histograms(schema: Schema, names: Sequence[str]) -> dict[str, Attribute]:
    """The features that are numbers, in few public intervals.

    Args:
        schema: what is public about the columns.
        names: the features.
    """
    numbers = [name for name in names if isinstance(schema[name], Integer | Real)]
    each = {
        name: public_edges(*interval(schema, name), isinstance(schema[name], Integer)) for name in numbers
    }
    return {
        name: in_few_bins(schema, Attribute(Bins(Column(name), tuple(edges)), len(edges) + 1, True))
        for name, edges in each.items()
    }


def standardized(schema: Schema, names: Sequence[str], spans: Mapping[str, Span], norm: float) -> Points:
    """Rows whose numbers count by how many standard deviations they are from their mean.

    Args:
        schema: what is public about the columns.
        names: the features.
        spans: where the values of each number are.
        norm: longer points are shortened to it.
    """
    parts = [
        spans[name].scaled(Column(name), spans[name].deviation) if name in spans else point(schema, [name])
        for name in names
    ]
    row = vector(*parts, 1)
    to, place = np.eye(scope_of(schema).number(row).width), 0
    for name, part in zip(names, parts, strict=True):
        if name in spans:
            (low, high), span = interval(schema, name), spans[name]
            to[place, place] = (high - low) / 2 / span.deviation
            to[-1, place] = ((low + high) / 2 - span.middle) / span.deviation
        place += scope_of(schema).number(part).width
    return Points(clip_norm(row, norm), to)
