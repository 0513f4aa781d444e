"""Do the peers' samplers of private eigenvectors follow the law that their proofs need?

diffprivlib (`mechanisms.Bingham`) and OpenDP (`make_private_eigenvector`) both draw a unit vector u with density
∝ exp(−uᵀAu), A = ε/4·(λ₁I − C), by rejection from the envelope (uᵀΩu)^(−d/2), Ω = I + 2A/b. A proposal must then be
kept with probability exp(−uᵀAu)·(uᵀΩu)^(d/2)/M. Both divide by (uᵀΩu)^(d/2) instead, so what they draw has density
∝ exp(−uᵀAu)·(uᵀΩu)^(−d). Printed is what follows from that, and whether samples agree.

    python eigenvectors.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
from diffprivlib.mechanisms import Bingham
from opendp.extras.numpy import _sscp_domain
from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector
from scipy import optimize, stats

DRAWS = 5000
DIMENSION, EPSILON, NEAR = 6, 1.0, 0.9
ROWS = 1000
RARE = 1e-3
Draw = Callable[[np.ndarray], np.ndarray]


class Law:
    """The law of u for ROWS + 1 rows at e₁, ROWS at e₂, as proved or as drawn, integrated on a grid.

    In terms of t = 1 − u₁² − u₂² and the angle φ between (u₁, u₂) and e₁: on the sphere t has density
    ∝ t^((d−4)/2) and φ is uniform.
    """

    def __init__(self, d: int, epsilon: float, drawn: bool) -> None:
        log_t = np.linspace(-50, 0, 4001)[:, None]
        phi = (np.arange(720)[None] + 0.5) * 2 * np.pi / 720
        t = np.exp(log_t)
        self.first = (1 - t) * np.cos(phi) ** 2
        second = (1 - t) * np.sin(phi) ** 2
        far, near = epsilon / 4 * (ROWS + 1), epsilon / 4
        self.form = near * second + far * t
        self.b = optimize.brentq(
            lambda b: 1 / b + 1 / (b + 2 * near) + (d - 2) / (b + 2 * far) - 1, 0.5, d + 1
        )
        stretched = 1 + 2 * self.form / self.b
        measure = (d - 2) / 2 * log_t + math.log((d - 2) / 2) + math.log(50 / 4000 / 720)
        log_density = -self.form - (d * np.log(stretched) if drawn else 0)
        joint = log_density + measure
        self.log_whole = float(np.logaddexp.reduce(joint, axis=None))
        self.weights = np.exp(joint - self.log_whole)
        # ∫(uᵀΩu)^(−d/2) = |Ω|^(−1/2), so this is the chance that a proposal is kept.
        log_m = -(d - self.b) / 2 + d / 2 * math.log(d / self.b)
        half_log_det = math.log1p(2 * near / self.b) / 2 + (d - 2) * math.log1p(2 * far / self.b) / 2
        self.kept = math.exp(self.log_whole - log_m + half_log_det)

    def mean(self) -> float:
        return float((self.weights * self.first).sum())

    def chance(self) -> tuple[float, float]:
        """How likely u is near e₁, from these rows and from those with one row moved from e₁ to e₂."""
        # With the row moved, e₁ and e₂ have changed places, and u₁² is what u₂² was.
        moved = 1 - np.exp(np.linspace(-50, 0, 4001)[:, None]) - self.first
        return float(self.weights[self.first > NEAR].sum()), float(self.weights[moved > NEAR].sum())


def real_epsilon(d: int, epsilon: float) -> float:
    """The log of the densities' ratio at e₁, one row moved from e₁ to e₂: what is really spent, at least.

    The two data sets are mirror images, so their laws have the same constant, and it cancels.
    """
    return epsilon / 4 + d * math.log1p(epsilon / 2 / Law(d, epsilon, drawn=True).b)


def second_moments(d: int, moved: int = 0) -> np.ndarray:
    return np.diag([ROWS + 1.0 - moved, ROWS + 0.0 + moved, *[0.0] * (d - 2)])


def samplers() -> dict[str, Draw]:
    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    domain = _sscp_domain(num_features=DIMENSION, norm=1.0, p=2, size=2 * ROWS + 1, T=float)
    opendp = make_private_eigenvector(domain, dp.symmetric_distance(), EPSILON)
    assert opendp.map(2) == EPSILON
    return {"diffprivlib": Bingham(epsilon=EPSILON).randomise, "OpenDP": lambda c: np.asarray(opendp(c))}


def spent(draw: Draw) -> tuple[float, float, float]:
    """From samples alone: the mean of u₁², its standard error, and what is spent at least (but for RARE chance).

    If ε were kept, u would be near e₁ at most e^ε times as often before the row is moved as after it, and near e₂
    after it as before it; so also for the two events added up, which has the less error. Clopper and Pearson's
    interval stays valid for draws with two different chances.
    """
    here, moved = (
        np.array([draw(second_moments(DIMENSION, m))[:2] ** 2 for _ in range(DRAWS)]) for m in (0, 1)
    )
    often = int((here[:, 0] > NEAR).sum() + (moved[:, 1] > NEAR).sum())
    seldom = int((moved[:, 0] > NEAR).sum() + (here[:, 1] > NEAR).sum())
    low = stats.beta.ppf(RARE / 2, often, 2 * DRAWS - often + 1)
    high = stats.beta.ppf(1 - RARE / 2, seldom + 1, 2 * DRAWS - seldom)
    first = here[:, 0]
    return float(first.mean()), float(first.std() / math.sqrt(DRAWS)), math.log(low / high)


def main() -> None:
    print("## The peers' private eigenvectors\n")
    print(
        "diffprivlib 0.6.6 and OpenDP 0.16.0 sample a private eigenvector by rejection. Where a proposal should be"
    )
    print(
        "kept with a probability that grows with (uᵀΩu)^(d/2), both divide by it, so they do not draw from the law"
    )
    print(
        "that their proofs are about: its density is multiplied by (uᵀΩu)^(−d). For d columns, 1,001 rows at e₁ and"
    )
    print("1,000 at e₂, one of them moved from e₁ to e₂ (`benchmarks/peers/eigenvectors.py`):\n")
    print(
        "| d | ε claimed | spent by the law proved | spent by the law drawn, at least | proposals for one draw |"
    )
    print("|---|---|---|---|---|")
    for d in (3, 5, 10, 30, 64):
        for epsilon in (0.1, 1.0, 3.0):
            real, tries = real_epsilon(d, epsilon), 1 / Law(d, epsilon, drawn=True).kept
            mark = f"**{real:.2f}**" if real > epsilon else f"{real:.2f}"
            print(f"| {d} | {epsilon:g} | {epsilon / 4:.3f} | {mark} | {tries:.2g} |")
    print(
        "\nBold: more than is claimed. The proposals needed explain why they hang when there are many columns.\n"
    )
    proved, drawn = (Law(DIMENSION, EPSILON, drawn=which) for which in (False, True))
    often, seldom = drawn.chance()
    print(
        f"Samples agree (d = {DIMENSION}, ε = {EPSILON:g}, {DRAWS:,} draws from each of the two tables). Mean of u₁²:"
    )
    print(
        f"{proved.mean():.4f} by the law proved, {drawn.mean():.4f} by the law drawn. The event u₁² > {NEAR}: its"
    )
    print(
        f"probability in one table over that in the other should be e^{math.log(often / seldom):.2f} by the law drawn,"
    )
    print(f"and at most e^{EPSILON:g} if ε were kept.\n")
    print(f"| sampler | mean of u₁² | spent, at least, with confidence 1 − {RARE:g} | claimed |")
    print("|---|---|---|---|")
    for name, draw in samplers().items():
        mean, error, least = spent(draw)
        print(f"| {name} | {mean:.4f} ± {error:.4f} | {least:.2f} | {EPSILON:g} |")


if __name__ == "__main__":
    main()
