"""How fast noise is drawn: sulq's exact samplers beside OpenDP's, diffprivlib's, and NumPy's in floating point.

NumPy shows what a sampler could do that need not be safe: its generator can be predicted, and the gaps between its
floating-point numbers can tell what the noise was added to (Mironov, 2012).
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from measure import PEERS, PYTHON, Cell, say, table
from peers.samplers import EXACT, FLOATING, Sampler, blocks
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace

SCALES = (1, 100, 1_000_000)
BATCHES = (1, 1_000, 1_000_000)
LAWS = ("Laplace", "Gaussian")
OWN = "sulq"


@dataclass(frozen=True)
class Line:
    """Numbers a second that a sampler made in batches of one size."""

    law: str
    sampler: str
    arithmetic: str
    scale: int
    batch: int
    rate: Cell


def section(scales: Sequence[int] = SCALES, batches: Sequence[int] = BATCHES, seconds: float = 2.0) -> str:
    """The section of RESULTS.md."""
    measured = [*_own(scales, batches, seconds), *_peers(scales, batches, seconds)]
    lines = [
        "## Samplers of noise",
        "",
        "Numbers a second ± a standard error of the mean, one thread, from up to five blocks of calls that together take about",
        f"{seconds:g} s, or from two calls where those take longer; × is how many times as fast sulq is with the same scale and batch, in",
        "bold and lost where it is slower. The scale is that of the Laplace law, and σ of the Gaussian one. `exact`: integer",
        "arithmetic, and exactly the law that is claimed; `floating point`: neither. sulq, OpenDP and diffprivlib draw from a source",
        "fit for secrets, NumPy from its default generator. diffprivlib makes one number at a time, so its batches are all alike.",
        "OpenDP is given and gives lists, sulq gives arrays.",
    ]
    for law in LAWS:
        lines += ["", f"The {law} law:", "", *_table([line for line in measured if line.law == law], batches)]
    return "\n".join(lines) + "\n"


def _own(scales: Sequence[int], batches: Sequence[int], seconds: float) -> Iterator[Line]:
    rng = np.random.default_rng()
    for scale in scales:
        laplace, gaussian = DiscreteLaplace(scale), DiscreteGaussian(scale**2)
        samplers: list[tuple[str, str, str, Sampler]] = [
            ("Laplace", OWN, EXACT, laplace.sample),
            ("Gaussian", OWN, EXACT, gaussian.sample),
            ("Laplace", "NumPy, not discrete", FLOATING, partial(rng.laplace, 0, scale)),
            ("Gaussian", "NumPy, not discrete", FLOATING, partial(rng.normal, 0, scale)),
        ]
        for law, name, arithmetic, sample in samplers:
            say("samplers,", name, law, scale)
            for batch in batches:
                rates = blocks(sample, batch, seconds)
                yield Line(law, name, arithmetic, scale, batch, Cell(tuple(rates)))


def _peers(scales: Sequence[int], batches: Sequence[int], seconds: float) -> list[Line]:
    job = {"scales": list(scales), "batches": list(batches), "seconds": seconds}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        done = subprocess.run(
            [str(PYTHON), "-W", "ignore", str(PEERS / "samplers.py"), str(path)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    told: list[list[Any]] = json.loads(done.stdout)
    return [
        Line(law, name, arithmetic, scale, batch, Cell(tuple(rates)))
        for law, name, arithmetic, scale, batch, rates in told
    ]


def _table(measured: Sequence[Line], batches: Sequence[int]) -> list[str]:
    own = {(line.scale, line.batch): line.rate.mean for line in measured if line.sampler == OWN}
    shown: dict[tuple[str, str, int], list[str]] = {}
    for line in sorted(measured, key=lambda line: line.scale):
        cells = shown.setdefault((line.sampler, line.arithmetic, line.scale), [])
        rate = f"{_three_digits(line.rate.mean)} ± {line.rate.error / line.rate.mean:.0%}"
        if line.sampler != OWN:
            ahead = own[line.scale, line.batch] / line.rate.mean
            rate += f", × {_three_digits(ahead)}" if ahead >= 1 else f", **× {ahead:.2g}** (lost)"
        cells.append(rate)
    head = ["sampler", "arithmetic", "scale", *(f"batches of {batch:,}" for batch in batches)]
    return table(
        head, [[name, arithmetic, f"{scale:,}", *cells] for (name, arithmetic, scale), cells in shown.items()]
    )


def _three_digits(rate: float) -> str:
    return f"{float(f'{rate:.3g}'):,.0f}" if rate >= 10 else f"{rate:.2g}"
