"""Labels: which there are is a public fact, and which one a row has is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from sulq.schema import text
from sulq.sources.frames import LONGEST

FROM_Y = "from y"


def labels_of(y: Any, rows: int, estimator: str) -> NDArray[Any]:
    """One label for each row."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    if isinstance(y, list | tuple):
        # The type that NumPy would find for a list depends on all rows, and so would each row's label.
        y = np.array(y, dtype=object)
    labels = np.asarray(column_or_1d(y, warn=True))
    if len(labels) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(labels)} labels")
    return labels


def classes_of(declared: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """The classes in order, as declared, or as they occur where that is declared to be public."""
    if declared is None:
        raise ValueError(
            "which labels there are is a public fact, declared and never read off the data: give "
            f"classes=[...], or classes={FROM_Y!r} to state that the set of labels that occur is public"
        )
    if isinstance(declared, str):
        if declared != FROM_Y:
            raise ValueError(f"classes must be a list of labels, or {FROM_Y!r}, not {declared!r}")
        found = np.array(labels.tolist())
        check_classification_targets(found)
        return np.unique(found)
    given = np.asarray(declared)
    if given.ndim != 1 or given.dtype.kind not in "biufU" or len(np.unique(given)) < 2:
        raise ValueError(f"classes must be a list of at least two different labels, not {declared!r}")
    return np.unique(given)


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the classes, where 3, 3.0 and "3" are one label.

    A label that is none of the classes counts as the first.
    """
    values = classes.tolist()
    place = {text(value): position for position, value in enumerate(values)}
    place |= {value: position for position, value in enumerate(values)}

    def code(label: object) -> int:
        if isinstance(label, np.generic):
            label = label.item()
        if not isinstance(label, str | int | float) or (isinstance(label, int) and abs(label) > LONGEST):
            return 0
        return place[label] if label in place else place.get(text(label), 0)

    return np.fromiter(map(code, labels.tolist()), dtype=np.int32, count=len(labels))
