"""Examples of masked parity, to try learners on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.numbers import whole
from sulq.schema import Boolean, Integer, Schema
from sulq.theory.theorems import MOST_BITS

MOST_LISTED = 18
"""Bits of which every example fits into memory: 2·18·2^18 rows."""


def masked_parity_schema(d: int) -> Schema:
    """The columns of examples of masked parity: x0 … x(d−1), index, switch, label.

    Args:
        d: how many bits an example has.

    >>> list(masked_parity_schema(2))
    ['x0', 'x1', 'index', 'switch', 'label']
    """
    whole("d", d, 1, MOST_BITS)
    return Schema(
        {f"x{j}": Boolean() for j in range(d)}
        | {"index": Integer(0, d - 1), "switch": Boolean(), "label": Boolean()}
    )


def masked_parity_rows(
    secret: Sequence[int], mask: int, rows: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Uniform examples of c_{r,a}, labelled: a table to try learners on.

    Args:
        secret: r, a list of zeros and ones.
        mask: a, 0 or 1.
        rows: how many examples.
        rng: where the examples are drawn from.

    >>> rows = masked_parity_rows((1, 0, 1), 0, 5, np.random.default_rng(0))
    >>> len(rows["label"])
    5
    """
    check_secret(secret, mask)
    d = len(secret)
    x, index, switch = rng.random((d, rows)) < 0.5, rng.integers(0, d, rows), rng.random(rows) < 0.5
    return _labelled(x, index, switch, secret, mask)


def masked_parity_domain(secret: Sequence[int], mask: int) -> dict[str, NDArray[Any]]:
    """Every example of c_{r,a} once: the uniform distribution itself, 2·d·2^d rows.

    Args:
        secret: r, a list of zeros and ones, of length d.
        mask: a, 0 or 1.

    >>> len(masked_parity_domain((1, 0, 1), 0)["label"])
    48
    """
    check_secret(secret, mask)
    d = whole("the length of a secret of which every example is listed", len(secret), 1, MOST_LISTED)
    rest, point = np.divmod(np.arange(2 * d << d), 1 << d)
    index, switch = rest % d, rest >= d
    return _labelled((point >> np.arange(d)[:, np.newaxis]) & 1 > 0, index, switch, secret, mask)


def check_secret(secret: Any, mask: Any = 0) -> None:
    """Refuse what is no secret r and no mask a.

    Args:
        secret: r, a list of zeros and ones.
        mask: a, 0 or 1.
    """
    given = secret if isinstance(secret, Sequence | np.ndarray) else ()
    if not len(given) or any(bit not in (0, 1) for bit in given):
        raise QueryError("a secret is a list of zeros and ones")
    if mask not in (0, 1):
        raise QueryError("a mask is 0 or 1")


def _labelled(
    x: NDArray[np.bool_],
    index: NDArray[np.int64],
    switch: NDArray[np.bool_],
    secret: Sequence[int],
    mask: int,
) -> dict[str, NDArray[Any]]:
    r = np.asarray(secret, dtype=bool)
    odd = np.logical_xor.reduce(x[r], axis=0) if r.any() else np.zeros(len(index), bool)
    label = np.where(switch, r[index], odd ^ bool(mask))
    return {f"x{j}": bit for j, bit in enumerate(x)} | {"index": index, "switch": switch, "label": label}
