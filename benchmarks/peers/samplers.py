"""OpenDP's and diffprivlib's samplers of noise, in an environment of their own (`requirements.txt`).

    python samplers.py job.json

The job holds the scales, the batches and how many seconds to measure each; printed is, as JSON, a list of lines: law,
sampler, arithmetic, scale, batch, and the numbers a second of each block of calls. `blocks` is also what sulq's samplers are
measured with, so that all have the same stopwatch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Sampler = Callable[[int], Any]
BLOCKS = 5
EXACT, FLOATING = "exact", "floating point"


def blocks(sample: Sampler, batch: int, seconds: float) -> list[float]:
    """Numbers a second in blocks of calls that together take about so long; two blocks at least.

    Two blocks have a spread. A call cannot be stopped, so one that takes longer than its block is a block by itself.
    """
    sample(1)
    rates: list[float] = []
    started = time.perf_counter()
    while len(rates) < 2 or (len(rates) < BLOCKS and time.perf_counter() - started < seconds):
        calls, begun = 0, time.perf_counter()
        while calls == 0 or time.perf_counter() - begun < seconds / BLOCKS:
            sample(batch)
            calls += 1
        rates.append(calls * batch / (time.perf_counter() - begun))
    return rates


def opendp(scale: int) -> Iterator[tuple[str, str, Sampler]]:
    """Noise on whole numbers, which is discrete and exact; one number by itself, several as a list."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    one, several = dp.atom_domain(T=int), dp.vector_domain(dp.atom_domain(T=int))
    laws = (("Laplace", dp.m.make_laplace, dp.l1_distance), ("Gaussian", dp.m.make_gaussian, dp.l2_distance))
    for law, make, distance in laws:
        alone = make(one, dp.absolute_distance(T=int), scale=float(scale))
        together = make(several, distance(T=int), scale=float(scale))

        def sample(size: int, alone: Any = alone, together: Any = together) -> Any:
            return alone(0) if size == 1 else together([0] * size)

        yield law, EXACT, sample


def diffprivlib(scale: int) -> Iterator[tuple[str, str, str, Sampler]]:
    """Mechanisms that make one number at a time, whatever the batch."""
    from diffprivlib import mechanisms

    laplace = mechanisms.Laplace(epsilon=1 / scale, sensitivity=1)
    geometric = mechanisms.Geometric(epsilon=1 / scale, sensitivity=1)
    gaussian = mechanisms.GaussianDiscrete(epsilon=1, delta=0.01)
    # It has no parameter for the scale, and looks for it in vain where it is large.
    gaussian._scale = float(scale)
    yield "Laplace", "`Laplace`, not discrete", FLOATING, lambda _: laplace.randomise(0.0)
    yield "Laplace", "`Geometric`", FLOATING, lambda _: geometric.randomise(0)
    yield "Gaussian", "`GaussianDiscrete`", FLOATING, lambda _: gaussian.randomise(0)


def main(path: str) -> None:
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    lines: list[list[Any]] = []
    for scale in job["scales"]:
        for law, arithmetic, sample in opendp(scale):
            for batch in job["batches"]:
                print("· OpenDP,", law, scale, batch, file=sys.stderr, flush=True)
                rates = blocks(sample, batch, job["seconds"])
                lines.append([law, "OpenDP", arithmetic, scale, batch, rates])
        for law, name, arithmetic, sample in diffprivlib(scale):
            print("· diffprivlib,", name, scale, file=sys.stderr, flush=True)
            rates = blocks(sample, 1, job["seconds"])
            lines += [
                [law, f"diffprivlib {name}", arithmetic, scale, batch, rates] for batch in job["batches"]
            ]
    print(json.dumps(lines))


if __name__ == "__main__":
    main(sys.argv[1])
