"""How far off components are: by noise, and by rows that were shortened so that there is less of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sulq.learners.estimates import Floats
from sulq.talk.answers import BETA, Answer


def variance_error(d: int, products: Answer, rows: Answer, largest: float) -> float:
    """How far off each eigenvalue is by noise, at 95 %: by Weyl's theorem, the norm of the noise's matrix.

    Noise of deviation s in every entry has a norm of about 2s√d, as Wigner's semicircle ends there; a single
    entry that is further off adds no more than itself. With few columns, d times the largest entry is less.

    Args:
        d: how many columns there are.
        products: the answer about the sums of products.
        rows: the answer about the number of rows, whose error moves all eigenvalues by the same part.
        largest: the largest eigenvalue.
    """
    off = float(np.max(products.radius(BETA)))
    norm = min(d * off, 2 * math.sqrt(d) * float(np.max(products.deviation)) + off)
    return (norm + largest * float(np.max(rows.radius(BETA)))) / _fewest(rows)


def shortening(d: int, hands: int, products: Answer, rows: Answer, lengths: Answer) -> float:
    """How far off each eigenvalue is at most by rows that were shortened, at 95 %.

    The sum of squared lengths of the rows as they are is known, and the trace says that of shortened rows.
    Let e be the difference. What is missing of x xᵀ has no negative eigenvalue where x is shortened as a
    whole, so no eigenvalue is off by more than e.

    Where each hand shortens its own part, x becomes y, with |x|² − |y|² = e and x·y ≥ |y|². The eigenvalues
    of x xᵀ − y yᵀ are e/2 ± ½√((|x|² + |y|²)² − 4(x·y)²). As |x − y|² ≤ e and |x + y|² ≤ 4|x|², none is
    larger than e/2 + √(e·|x|²), which holds for the sums over rows, too, by Cauchy and Schwarz.

    Args:
        d: how many columns there are.
        hands: in how many hands they are.
        products: the answer about the sums of products of shortened rows.
        rows: the answer about the number of rows.
        lengths: the answer about the sum of the squared lengths of rows as they are.
    """
    at = np.flatnonzero(np.equal(*np.triu_indices(d)))
    kept, off = (np.broadcast_to(each, d * (d + 1) // 2)[at] for each in (products.value, products.deviation))
    whole = max(0.0, float(np.max(lengths.value))) + float(np.max(lengths.radius(BETA)))
    lost = max(0.0, whole - float(kept.sum()) + 2 * float(np.linalg.norm(off)))
    return (lost if hands == 1 else lost / 2 + math.sqrt(lost * max(lost, whole))) / _fewest(rows)


def angles(values: Floats, best: NDArray[np.intp], error: float) -> tuple[float, ...]:
    """By how many degrees each eigenvector may be turned: Davis and Kahan's theorem.

    The sine of the angle is at most the norm of what was added to the matrix over the distance of its
    eigenvalue to the nearest other one of the matrix that is meant, which is at least that to the one that is
    known, less the norm.

    Args:
        values: all eigenvalues that are known.
        best: the places of those whose vectors are returned.
        error: the norm of what was added.
    """
    if error == 0:
        return ()
    turned = []
    for place in best:
        others = np.delete(values, place)
        gap = float(np.abs(others - values[place]).min()) - error if others.size else math.inf
        turned.append(math.degrees(math.asin(error / gap)) if gap > error else 90.0)
    return tuple(turned)


def _fewest(rows: Answer) -> float:
    """How many rows there are at least, at 95 %."""
    return max(1.0, float(rows.value) - float(np.max(rows.radius(BETA))))
