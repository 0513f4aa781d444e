"""What `sulq.audit` finds about other libraries: benchmarks/peers/audits.py, run where they are installed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from measure import PEERS, say, table

PYTHON = PEERS / ".venv-audit" / "bin" / "python"
"""An environment with requirements-audit.txt."""
SOURCES = Path(__file__).parents[1] / "src"


def section() -> str:
    """The section of RESULTS.md."""
    lines = [
        "## The audit, pointed at the peers",
        "",
        "`sulq.audit` is given a model and an ordinary table, and is not told where to look (`benchmarks/peers/audits.py`). A",
        "finding is wrong with a chance of 10⁻⁶. Runs: on each of the two tables that tell the most, half of them to choose an",
        "event, half to test it; fewer on the other pairs. By its parts: what the library's own mechanisms inside of the",
        "model lose together, in one run on each of the same pairs. Seconds of one core.",
        "",
    ]
    if not PYTHON.exists():
        return "\n".join([*lines, "Skipped: the peers are not there.", ""])
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(SOURCES)}
    command = [str(PYTHON), "-W", "ignore", str(PEERS / "audits.py")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **one_thread}
    ) as run:
        assert run.stdout is not None
        cells = [_cells(json.loads(line)) for line in run.stdout]
    if run.returncode:
        raise SystemExit(f"the audit of the peers ended with {run.returncode}")
    head = ["examined", "claimed", "found", "runs", "seconds"]
    return "\n".join([*lines, *table(head, cells), "", *NOTES])


NOTES = [
    "Bold: a violation. The law that both libraries draw their eigenvectors from is in the section on them. diffprivlib's `PCA`",
    "gives half of its ε to its part for matrices, which breaks that promise; the variances lose less than the other half, so that",
    "at 6 columns it does not show in all answers together. By its law it would from 10 columns on, where one draw takes 10⁵",
    "proposals, that is seconds: too slow for a black box.",
    "OpenDP's PCA is held to what its own `map(2)` says of one replaced row.",
    "",
]


def _cells(case: dict[str, Any]) -> list[str]:
    say(case["words"], case["found"])
    mark = "" if case["holds"] else "**"
    words = case["found"].replace("|", "\\|").replace("[", "\\[")
    return [
        case["words"],
        f"ε = {case['claim']:g}",
        f"{mark}{words}{mark}",
        f"{case['runs']:,}",
        f"{case['seconds']:.0f}",
    ]
