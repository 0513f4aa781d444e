"""What all estimators have in common: a table is opened, asked under a curator, and let go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sulq.learners.learner import Learner
from sulq.privacy.budget import budget
from sulq.queries.node import Node
from sulq.runs.run import Run
from sulq.schema import Boolean, Kind, Schema
from sulq.sklearn.frames import columns_of, kinds
from sulq.sklearn.spending import tally
from sulq.sources.opening import open_here

Frame = dict[str, Any]


class Estimator(BaseEstimator):
    """The base of all estimators: parameters are kept by `__init__`, and looked at by `fit`."""

    epsilon: Any
    delta: Any
    neighbours: Any
    ledger: Any
    schema: Any
    n_features_in_: int
    bounds: Any = None
    hypothesis_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # An error about a cell would depend on a row: every cell has an outcome.
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        # Noise comes from the operating system and has no seed.
        tags.non_deterministic = True
        return tags

    def _opened(self, X: Any) -> tuple[Frame, Schema]:
        """The columns to learn from by name, and what is public about them."""
        # Whether there are rows at all is not public where their number is not.
        columns = columns_of(self, X, reset=True, least=0 if self.neighbours == "add-remove" else 1)
        names = list(getattr(self, "feature_names_in_", ()))
        if self.schema is None:
            names = names or [f"x{position}" for position in range(len(columns))]
            schema = Schema(self._kinds(names, columns))
        elif self.bounds is not None:
            raise ValueError("give bounds or a schema, not both: a schema has bounds")
        else:
            schema = Schema.of(self.schema)
            if not names and len(schema) != len(columns):
                raise ValueError(
                    f"X has {len(columns)} columns without names and the schema {len(schema)}: "
                    "give a table with names, or a schema of all columns in order"
                )
            names = names or list(schema)
        return dict(zip(names, columns, strict=True)), schema

    def _kinds(self, names: list[str], columns: list[Any]) -> dict[str, Kind]:
        return kinds(names, columns, self.bounds, Boolean())

    def _learned(self, learner: Learner[Any], frame: Frame, schema: Schema) -> Any:
        """What the learner learns from a curator. Afterwards curator, rows and ledger are let go."""
        rows = open_here(frame, schema)
        try:
            promised = budget(plain(self.epsilon), plain(self.delta))
            learned = Run(learner, rows, promised, self.neighbours, self.ledger).learn().hypothesis
            if self.ledger is None:
                tally(type(self).__name__, schema, promised.total)
            return learned
        finally:
            rows.close()

    def _settings(self, *names: str) -> dict[str, Any]:
        """Parameters that the learner takes under the same name."""
        return {name: plain(getattr(self, name)) for name in names}

    @property
    def _names(self) -> list[str]:
        """The columns of X, in order."""
        frame = list(self.hypothesis_.schema)[: self.n_features_in_]
        return list(getattr(self, "feature_names_in_", frame))

    def _frame(self, X: Any) -> Frame:
        """The columns of rows that one may see."""
        check_is_fitted(self, "hypothesis_")
        columns = columns_of(self, X, reset=False)
        names = getattr(self, "feature_names_in_", list(self.hypothesis_.schema)[: len(columns)])
        return dict(zip(names, columns, strict=True))

    def _values(self, expression: Node, frame: Frame) -> NDArray[Any]:
        """The value of an expression on rows that one may see."""
        known = {name: kind for name, kind in self.hypothesis_.schema.items() if name in frame}
        return open_here(frame, Schema(known)).values(expression)


def plain(value: Any) -> Any:
    """A number as Python has it: grids of parameters are often made with NumPy."""
    return value.item() if isinstance(value, np.generic) else value
