"""Labels: which there are is a public fact, and which one a row has is not."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from sulq.schema import text
from sulq.sklearn.frames import array_of
from sulq.sources.frames import LONGEST

FROM_Y = "from y"


def labels_of(y: Any, rows: int, estimator: str) -> NDArray[Any]:
    """One label for each row; None is one that cannot be read."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    # The type that NumPy would find for a list depends on all rows, and so would each row's label.
    given = _objects(y) if isinstance(y, list | tuple) else array_of(y, "y")
    if given.ndim == 2 and given.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {given.shape} instead.")
    if len(given) != rows:
        raise ValueError(f"X has {rows} rows and y has {len(given)} labels")
    return _objects([_label(label) for label in given.tolist()]) if given.dtype == object else given


def numbers_of(y: Any, rows: int, estimator: str) -> NDArray[np.float64]:
    """One number for each row; NaN is one that cannot be read."""
    labels = labels_of(y, rows, estimator)
    if labels.dtype.kind in "biuf":
        return labels.astype(np.float64)
    return np.array([_number(label) for label in labels.tolist()], dtype=np.float64)


def _number(label: Any) -> float:
    try:
        return float(label)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _objects(labels: Sequence[Any]) -> NDArray[Any]:
    """An array of labels, each as it is."""
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array


def _label(given: Any) -> Any:
    """A label, also where it is a list of one; None if it is none."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, list | tuple) and len(given) == 1:
        [given] = given
    if isinstance(given, np.generic):
        given = given.item()
    readable = isinstance(given, str | int) or (isinstance(given, float) and math.isfinite(given))
    if not readable or (isinstance(given, int) and abs(given) > LONGEST):
        return None
    return given


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
        readable = np.array([label for label in map(_label, labels.tolist()) if label is not None])
        if not len(readable):
            raise ValueError("there is no label in y that can be read: labels are texts, numbers or booleans")
        check_classification_targets(readable)
        return np.unique(readable)
    given = np.asarray(declared)
    if given.ndim != 1 or given.dtype.kind not in "biufU" or len(np.unique(given)) < 2:
        raise ValueError(f"classes must be a list of at least two different labels, not {declared!r}")
    return np.unique(given)


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the classes, where 3, 3.0 and "3" are one label.

    A label that is none of the classes, or cannot be read, counts as the first.
    """
    values = classes.tolist()
    place = {text(value): position for position, value in enumerate(values)}
    place |= {value: position for position, value in enumerate(values)}

    def code(given: object) -> int:
        label = _label(given)
        if label is None:
            return 0
        return place[label] if label in place else place.get(text(label), 0)

    return np.fromiter(map(code, labels.tolist()), dtype=np.int32, count=len(labels))
