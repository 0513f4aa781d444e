"""Reports as a collector receives them: anyone can send anything, and that must not stop a survey.

What a report says is one person's matter: what no randomizer could have reported counts as a number that one
could. Only the shape of the whole array is the collector's matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError


def within(reports: ArrayLike, low: int, high: int, width: int | None = None) -> NDArray[np.int64]:
    """Whole numbers from low to high, each the nearest to what was sent; what is no number counts as 0.

    With a `width`, a report is a row of so many numbers.

    >>> within([-5, 1, "2", 2.6, None, float("inf")], 0, 9).tolist()
    [0, 1, 2, 3, 0, 9]
    """
    return nearest(reports, low, high, width).clip(low, high)


def nearest(reports: ArrayLike, low: int, high: int, width: int | None = None) -> NDArray[np.int64]:
    """The same, but whole numbers that were sent stay as they are, for whoever cuts them off in using them.

    >>> nearest([-5, 1], 0, 9).tolist(), nearest([-5, 1.2], 0, 9).tolist()
    ([-5, 1], [0, 1])
    """
    sent = numbers(reports, width)
    if sent.dtype.kind == "f":
        rounded = np.rint(np.nan_to_num(sent, posinf=np.inf, neginf=-np.inf).clip(low, high))
        return np.asarray(rounded.astype(np.int64))
    # 2^63 and more would be negative as signed numbers.
    signed = np.minimum(sent, 2**63 - 1) if sent.dtype == np.uint64 else sent
    return signed.astype(np.int64, copy=False)


def numbers(reports: ArrayLike, width: int | None = None) -> NDArray[Any]:
    """Reports as numbers, or as rows of `width` numbers; NaN stands for what is none.

    >>> numbers([[1, 2], [3]], width=2).tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    sent = as_sent(reports)
    expected = 1 if width is None else 2
    if sent.dtype == object and sent.ndim == 1:
        read: Callable[[Any], Any] = _number if width is None else lambda row: _row(row, width)
        shape = (len(sent),) if width is None else (len(sent), width)
        sent = np.array([read(report) for report in sent.tolist()], dtype=np.float64).reshape(shape)
    elif sent.ndim != expected or (width is not None and sent.shape[1] != width):
        wanted = "one number" if width is None else f"a row of {width} numbers"
        raise QueryError(f"reports are {wanted} for each person, not an array of shape {sent.shape}")
    if sent.dtype.kind not in "biuf":
        sent = np.array([_number(cell) for cell in sent.ravel().tolist()]).reshape(sent.shape)
    if sent.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return sent.astype(np.float64, copy=False)
    return sent


def as_sent(reports: ArrayLike) -> NDArray[Any]:
    """An array in which every report is as it was sent: one text in a list would make texts of all."""
    if not isinstance(reports, list | tuple):
        return np.asarray(reports)
    try:
        sent = np.array(reports)
    except (ValueError, OverflowError):
        sent = np.array(None)
    if sent.dtype.kind in "biuf":
        return sent
    sent = np.empty(len(reports), dtype=object)
    for place, report in enumerate(reports):
        sent[place] = report
    return sent


def _row(report: Any, width: int) -> list[float]:
    """A row of numbers; of another length, a row of none."""
    cells = report.tolist() if isinstance(report, np.ndarray) else report
    if not isinstance(cells, list | tuple) or len(cells) != width:
        return [np.nan] * width
    return [_number(cell) for cell in cells]


def _number(cell: object) -> float:
    if isinstance(cell, bytes):
        cell = cell.decode("ascii", "replace")
    if isinstance(cell, str):
        # As NumPy writes truth values where a text is among them.
        cell = {"True": 1, "False": 0}.get(cell, cell)
    if isinstance(cell, complex) and cell.imag == 0:
        cell = cell.real
    if not isinstance(cell, str | int | float | np.bool_ | np.integer | np.floating):
        return np.nan
    try:
        with np.errstate(over="ignore"):
            return float(cell)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf if cell > 0 else -np.inf  # type: ignore[operator]
