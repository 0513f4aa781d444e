"""Noise for whole vectors: masses of cubes, losses, tails and draws, worked out here once more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.laws import draws, tally
from sulq.audits.statistics import fit
from sulq.privacy.coins import fair_signs
from sulq.privacy.normals import normals
from sulq.privacy.spherical import SphericalLaplace

POINTS = 60
"""Of the midpoint rule, on each side of a square."""
SLACK = 1e-6
NORMALS = 1_000_000
"""At least so many: few numbers are compared with the bell, and a fault there changes little."""


def vectors(effort: Effort) -> Iterator[AuditFinding]:
    """Pairs of numbers cell by cell, longer vectors by their lengths and in one direction."""
    yield from _normal(effort)
    for scale in (Fraction(1), Fraction(5, 2)):
        yield from _pairs(scale, effort)
    for width, scale in ((3, Fraction(1000)), (6, Fraction(2**45))):
        yield from _lengths(width, scale, effort)


def _normal(effort: Effort) -> Iterator[AuditFinding]:
    size = max(NORMALS, draws(effort))
    values = normals(size).floats * fair_signs(size)
    edges = [-math.inf, -2.0, -1.0, -0.25, 0.0, 0.5, 1.5, 2.5, math.inf]
    below = [0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges]
    counts = [int(((values >= a) & (values < b)).sum()) for a, b in itertools.pairwise(edges)]
    yield fit("normal numbers", counts, [b - a for a, b in itertools.pairwise(below)])


def _pairs(scale: Fraction, effort: Effort) -> Iterator[AuditFinding]:
    """All cells of a square: their masses are integrals of exp(−‖z‖/s)/2πs²."""
    reach = 12
    middle = (np.arange(POINTS) + 0.5) / POINTS - 0.5
    x, y = np.meshgrid(middle, middle)
    cells = [(a, b) for a in range(-reach, reach + 1) for b in range(-reach, reach + 1)]
    area = 2 * math.pi * float(scale) ** 2
    mass = {(a, b): float(np.exp(-np.hypot(a + x, b + y) / float(scale)).mean()) / area for a, b in cells}
    noise, excess = SphericalLaplace(scale, 2), []
    for move in itertools.product(range(-2, 3), repeat=2):
        claim = float(noise.epsilon(Fraction(math.hypot(*move))))
        for a, b in cells:
            other = mass.get((a - move[0], b - move[1]))
            if other is not None and math.log(mass[a, b] / other) > claim + SLACK:
                excess.append(f"{(a, b)} moved by {move}")
    yield all_of(
        f"pairs of scale {scale}, moved by up to (2, 2)", "no cell loses more than ε", excess, 25 * len(cells)
    )
    inner = [cell for cell in cells if max(map(abs, cell)) <= 3]
    size = draws(effort)
    drawn = (tuple(map(int, pair)) for pair in noise.sample(2 * size).reshape(-1, 2))
    chances = [mass[cell] for cell in inner]
    yield fit(f"pairs of scale {scale}: draws", tally(drawn, inner), [*chances, 1 - math.fsum(chances)])


def _lengths(width: int, scale: Fraction, effort: Effort) -> Iterator[AuditFinding]:
    """‖Z‖/s has the Gamma law of shape w, and a number is as far off as the law says."""
    noise, size = SphericalLaplace(scale, width), draws(effort) // width
    drawn = noise.sample(size * width).astype(np.float64).reshape(-1, width)
    lengths = np.linalg.norm(drawn, axis=1) / float(scale)
    edges = [0.0, width / 2, float(width), 1.5 * width, 2.0 * width, math.inf]
    beyond = [1.0, *(_gamma_tail(edge, width) for edge in edges[1:-1]), 0.0]
    counts = [int(((lengths >= a) & (lengths < b)).sum()) for a, b in itertools.pairwise(edges)]
    name = f"vectors of {width} numbers of scale {float(scale):g}"
    yield fit(f"{name}: lengths", counts, [a - b for a, b in itertools.pairwise(beyond)])
    chance = noise.tail(noise.radius(0.1))
    far = int((np.abs(drawn[:, 0]) > float(noise.radius(0.1))).sum())
    yield fit(f"{name}: beyond the radius of 10 %", [far, size - far], [chance, 1 - chance])
    yield exact(
        f"{name}: the ε of a move of 7",
        f"{7 / float(scale):.6g}",
        f"{float(noise.epsilon(7)):.6g}",
        "any difference",
        noise.epsilon(7) == 7 / scale,
    )


def _gamma_tail(x: float, shape: int) -> float:
    return math.exp(-x) * math.fsum(x**k / math.factorial(k) for k in range(shape))


CHECKS = (
    Check(
        "vector-noise",
        "Noise for whole vectors",
        "Masses of all cells around zero, by numerical integrals; losses of moved pairs; lengths against the "
        "Gamma law, radii, and draws.",
        vectors,
        ("SphericalLaplace",),
    ),
)
