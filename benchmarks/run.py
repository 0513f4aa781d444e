"""Regenerates RESULTS.md: `make bench`, or `python benchmarks/run.py trees kmeans` for some of its sections.

Each section is kept in `results`, and RESULTS.md is put together from those.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import additive
import audits
import beyond
import cliffs
import clusters
import defaults
import draws
import engines
import error_bars
import fits
import growth
import learners
import ledgers
import linear
import local
import measure
import pairs
import parties
import picture
import quantiles
import samplers
import serve_timing
import serving
import speed
import sums
import survey
import trust
from sulq.progress import shown

HERE = Path(__file__).parent

HEAD = """# Results

Made by `make bench`. Times are ratios within one run, because machines are shared and noisy. A goal that is
missed is shown as missed.

"""


def eigenvectors() -> str:
    command = [str(measure.PYTHON), str(measure.PEERS / "eigenvectors.py")]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


LEARNERS = {
    "trees": learners.trees,
    "kmeans": clusters.kmeans,
    "components": clusters.components,
    "eigenvectors": eigenvectors,
    "audits": audits.section,
    "halfspaces": learners.halfspaces,
    "additive": additive.section,
    "linear": linear.section,
    "coverage": error_bars.section,
    "defaults": defaults.section,
}
SECTIONS: dict[str, Callable[[], str]] = {
    "sums": sums.section,
    "cliffs": cliffs.section,
    "growth": growth.section,
    "trust": trust.section,
    "quantiles": quantiles.section,
    **LEARNERS,
    "pairs": pairs.section,
    "parties": parties.section,
    "speed": speed.section,
    "fits": fits.section,
    "local": local.section,
    "draws": draws.section,
    "beyond": beyond.section,
    "samplers": samplers.section,
    "serve": serving.section,
    "ledgers": ledgers.section,
    "serve-timing": serve_timing.section,
    "survey": survey.section,
    "engines": engines.section,
}


def main(asked: list[str]) -> None:
    named = [name for each in asked for name in (LEARNERS if each == "learners" else [each])]
    unknown = sorted(set(named) - set(SECTIONS))
    if unknown:
        raise SystemExit(f"no section {', '.join(unknown)}; there are learners, {', '.join(SECTIONS)}")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"
    for name in named or SECTIONS:
        (HERE / "results" / f"{name}.md").write_text(f"{SECTIONS[name]()}\n({machine}.)\n", encoding="utf-8")
    if not named:
        picture.draw(HERE.parent / "docs" / "plans.png")
    kept = [HERE / "results" / f"{name}.md" for name in SECTIONS]
    results = HEAD + "\n".join(path.read_text(encoding="utf-8") for path in kept if path.exists())
    (HERE / "RESULTS.md").write_text(results, encoding="utf-8")
    print(results)


if __name__ == "__main__":
    with shown():
        main(sys.argv[1:])
