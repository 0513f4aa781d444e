"""The papers' numbers of rows, with the constants that their O() and their "sufficiently large c" leave out.

Each is what the printed proof gives when it is carried through, with its slips mended; what was printed
stands beside it where it differs. `docs/theorems.md` has the table. They are for comparison: `sulq.plan`
shows them beside numbers computed from exact tails, which are smaller.

M = `queries` of tolerance τ = `tolerance`, all of them answered within τ but for a chance of β = `beta`.
`width` is the length of the queries' range: 1 for the papers' [0, 1], 1/(1 − 2η) for queries rewritten for
labels that are wrong at the rate η.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from sulq.errors import QueryError
from sulq.numbers import fraction, in_floats, rational, whole

Answering = Literal["joint", "chunks", "printed"]
MOST_BITS = 10_000
"""Bounds on what is learned of more bits than that are asked for by nobody."""


@in_floats
def sample_rows(queries: int, tolerance: float, beta: float, width: float = 1.0) -> int:
    """SQ → PAC, Theorem 6 of the lecture notes: a chunk of rows for every query.

    Hoeffding: 2·exp(−2mτ²/w²) ≤ β/M, so M·⌈w²·ln(2M/β)/2τ²⌉ rows.

    >>> sample_rows(20, 0.0025, 0.05)
    10695380
    """
    queries, tolerance, beta, width = _checked(queries, tolerance, beta, width)
    return queries * math.ceil(width**2 * math.log(2 * queries / beta) / (2 * tolerance**2))


@in_floats
def private_rows(
    queries: int,
    tolerance: float,
    beta: float,
    epsilon: float,
    answering: Answering = "chunks",
    width: float = 1.0,
) -> int:
    """SQ → private PAC, Theorem 7 of the lecture notes: half of τ and of β for sampling, half for noise.

    Sampling needs m ≥ 2w²·ln(4M/β)/τ² rows to a query. Laplace noise of scale w/mε′ exceeds τ/2 with the
    chance exp(−τmε′/2w), so noise needs m ≥ 2w·ln(2M/β)/τε′. `answering`:

    - "chunks": a chunk for every query, and the whole ε′ = ε on it, because chunks are disjoint: M·m rows.
      This is what the theorem states, O(M/ετ + M/τ²)·log.
    - "printed": the proof's algorithm, which splits the rows and still has ε′ = ε/M: M·m rows, M²/ετ of
      them for the noise. The proof bounds the noise as if ε′ were ε; with that slip the two are the same.
      (Its "scale parameter α|S|/M" is the rate, the reciprocal of the scale.)
    - "joint": all rows for every query and ε′ = ε/M: m rows. Where later questions depend on earlier
      answers the sampling half is not covered, unless good answers leave only one way to go on.

    >>> [private_rows(20, 0.0025, 0.05, 1, how) for how in ("printed", "chunks", "joint")]
    [47217660, 47217660, 2360883]
    >>> [private_rows(20, 0.0025, 0.05, 0.01, how) for how in ("printed", "chunks", "joint")]
    [213907580, 47217660, 10695379]
    """
    queries, tolerance, beta, width = _checked(queries, tolerance, beta, width)
    epsilon = float(rational("epsilon", epsilon))
    each = epsilon if answering == "chunks" else epsilon / queries
    sampling = 2 * width**2 * math.log(4 * queries / beta) / tolerance**2
    noise = 2 * width * math.log(2 * queries / beta) / (tolerance * each)
    return math.ceil(max(sampling, noise)) * (1 if answering == "joint" else queries)


@in_floats
def relabelled_rows(queries: int, tolerance: float, beta: float, rate: float) -> int:
    """Wrong labels, Theorem 8 of the lecture notes, as its proof goes: three estimates for a query.

    E[φ(x, 1)] and E[φ(x, −1)] within τ/2 each, which makes half their sum as good, and the mean of
    y·(φ(x, 1) − φ(x, −1))/2, of width 1, within τ(1 − 2η)/2: every one from rows of its own and with β/3M.
    One rewritten query does it with fewer: `sample_rows` with the width 1/(1 − 2η).

    >>> relabelled_rows(20, 0.0025, 0.05, 0.3), sample_rows(20, 0.0025, 0.05, width=2.5)
    (410954260, 66846120)
    """
    queries, tolerance, beta, _ = _checked(queries, tolerance, beta)
    if not 0 <= (wrong := fraction("rate", rate)) < Fraction(1, 2):
        raise QueryError(f"the rate of wrong labels is from 0 to below 1/2, not {rate!r}")
    half = 2 * math.log(6 * queries / beta) / tolerance**2
    return queries * (2 * math.ceil(half) + math.ceil(half / (1 - 2 * float(wrong)) ** 2))


@in_floats
def local_rows(
    queries: int,
    tolerance: float,
    beta: float,
    epsilon: float,
    width: float = 1.0,
    as_printed: bool = False,
) -> int:
    """SQ by a crowd, Theorem 5.7 of the full paper: people of their own for every query, Laplace reports.

    With values in [−b, b], b = w/2, and β′ = β/M, Lemma 5.6 needs 2·exp(−τ²m/8b²) ≤ β′/2 for sampling. For
    the mean of m reports' noise, λ = 2b/ε, Lemma A.3 prints exp(−δ²m/4λ²), by 1/(1 − u) < e^u, which is
    false. 1/(1 − u) ≤ e^2u for u ≤ 1/2 makes it 2·exp(−δ²m/8λ²) for δ ≤ 2√2·λ, and 2·e^−m from there on.
    With δ = τ/2: m ≥ max{8, 128/ε²}·(b/τ)²·ln(4M/β), and m ≥ ln(4M/β). As printed, 64/ε² and ln(2M/β).

    >>> local_rows(20, 0.0025, 0.05, 1), local_rows(20, 0.0025, 0.05, 1, as_printed=True)
    (755482520, 342252140)
    """
    queries, tolerance, beta, width = _checked(queries, tolerance, beta, width)
    epsilon = float(rational("epsilon", epsilon))
    ratio = (width / 2 / tolerance) ** 2
    sampling = 8 * ratio * math.log(4 * queries / beta)
    if as_printed:
        noise = 64 / epsilon**2 * ratio * math.log(2 * queries / beta)
    else:
        noise = max(128 / epsilon**2 * ratio, 1) * math.log(4 * queries / beta)
    return queries * math.ceil(max(sampling, noise))


@in_floats
def laplace_mean_tail(n: int, distance: float, scale: float, as_printed: bool = False) -> float:
    """How likely the mean of n Laplace variables is further than this from 0: Lemma A.3 of the full paper.

    >>> round(laplace_mean_tail(100, 0.5, 1), 4), round(laplace_mean_tail(100, 0.5, 1, as_printed=True), 4)
    (0.0879, 0.0019)
    """
    many, square = whole("n", n, 1), float(fraction("distance", distance) / rational("scale", scale)) ** 2
    if as_printed:
        return math.exp(-square * many / 4)
    return min(1.0, 2 * math.exp(-min(square / 8, 1) * many))


@in_floats
def conjunction_tolerance(features: int, error: float) -> float:
    """Theorem 5 of the lecture notes: d queries of tolerance error/2d learn a monotone conjunction.

    >>> conjunction_tolerance(20, 0.1)
    0.0025
    """
    return float(rational("error", error)) / (2 * whole("features", features, 1))


def masked_parity_tolerance(bits: int) -> float:
    """Proposition 5.18 of the full paper: d + 1 queries, the finest of tolerance 1/(4d + 1).

    Its proof tells 1/2d from 0 (printed as 1/2^d in one place), so anything below 1/4d will do.

    >>> masked_parity_tolerance(16) < 1 / 64
    True
    """
    return 1 / (4 * whole("bits", bits, 1, MOST_BITS) + 1)


def masked_parity_failure(bits: int, queries: int, as_printed: bool = False) -> float:
    """Theorem 5.16(2) of the full paper: how often a nonadaptive learner of masked parity errs on a quarter.

    It is at least 1/2 − t/2^(d/3+2), as printed, over a uniform concept, for t queries with values in [−1, 1]
    and tolerances of at least 2^(−d/3). The proof: a query's part on examples with b = 0 has a norm² of at
    most 1/2, and so has each of the 2^d orthogonal c_r there. So it correlates by more than τ with at most
    1/4τ² = 2^(2d/3)/4 of them: some query does with a chance of at most t/2^(d/3+2) over r. Otherwise the
    answers say nothing of a, and whatever is guessed of it errs on 1/4 with a chance of 1/2. That makes
    (1 − t/2^(d/3+2))/2, which is more.

    Args:
        bits: d.
        queries: t, how many queries are asked at once.
        as_printed: the printed bound, which is smaller.

    >>> masked_parity_failure(30, 1000), masked_parity_failure(30, 1000, as_printed=True)
    (0.3779296875, 0.255859375)
    """
    correlated = Fraction(2.0 ** -(whole("bits", bits, 1, MOST_BITS) / 3 + 2)) * whole("queries", queries, 1)
    known = float(min(Fraction(1), correlated))
    return max(0.0, 0.5 - known if as_printed else (1 - known) / 2)


def _checked(
    queries: int, tolerance: float, beta: float, width: float = 1.0
) -> tuple[int, float, float, float]:
    return (
        whole("queries", queries, 1),
        float(rational("tolerance", tolerance)),
        float(rational("beta", beta, below=1)),
        float(rational("width", width)),
    )
