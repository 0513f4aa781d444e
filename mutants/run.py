"""Plant faults, one at a time, and see that each is caught: `make mutants`.

A fault is a text in a file of sulq and what stands there instead (`faults.toml`). The tree is copied, the
fault is planted, and what should catch it is run: a check of `sulq audit`, which has to fail and to be named,
or tests. A fault whose text no longer stands in its file exactly once is an error: the catalogue follows
the code. A fault that changes no behaviour says so (`survives`), and why.

    python mutants/run.py                 all faults, two at a time
    python mutants/run.py laplace coins   those whose names contain one of these words
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
JOBS = int(os.environ.get("MUTANTS_JOBS", "2"))
BESIDE = (
    "tests",
    "docs",
    "pyproject.toml",
    "README.md",
    "Makefile",
    "benchmarks",
    "hatch_build.py",
    "mutants",
)
PATIENCE = 1200
"""Seconds after which a fault that makes something hang counts as caught: what hangs releases nothing."""


@dataclass(frozen=True)
class Fault:
    """A planted fault.

    Args:
        name: what it is called.
        file: where it is planted.
        text: what stands there, exactly once.
        replacement: what stands there instead.
        by: what catches it: "audit:CHECK", or a path for pytest.
        words: what is wrong with it, in words.
        survives: why it changes no behaviour, if it does not.
    """

    name: str
    file: str
    text: str
    replacement: str
    by: str
    words: str
    survives: str = ""

    def planted(self, root: Path) -> str:
        """The file with the fault in it."""
        whole = (root / self.file).read_text(encoding="utf-8")
        if (times := whole.count(self.text)) != 1:
            raise ValueError(f"{self.name}: the text stands {times} times in {self.file}, not once")
        return whole.replace(self.text, self.replacement)


@dataclass(frozen=True)
class Verdict:
    """Whether a fault was caught, and what was said of it."""

    fault: Fault
    caught: bool
    words: str


def faults() -> list[Fault]:
    """All planted faults."""
    path = Path(__file__).with_name("faults.toml")
    return [Fault(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]


def examined(fault: Fault) -> Verdict:
    """Plant a fault in a copy of the tree, and run what should catch it."""
    planted = fault.planted(ROOT)
    with tempfile.TemporaryDirectory(prefix="sulq-mutant-") as folder:
        tree = Path(folder)
        shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
        for name in BESIDE:
            (tree / name).symlink_to(ROOT / name)
        (tree / fault.file).write_text(planted, encoding="utf-8")
        if fault.file.endswith(".c"):
            _compile(tree / fault.file)
        return _verdict(fault, tree)


def _compile(source: Path) -> None:
    flags = ["-O3", "-fno-trapping-math", "-fno-math-errno", "-shared", "-fPIC"]
    if source.stem == "directions":
        flags.append("-ffp-contract=off")
    subprocess.run(["cc", *flags, str(source), "-o", str(source.with_suffix(".so"))], check=True)


def _verdict(fault: Fault, tree: Path) -> Verdict:
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    check = fault.by.removeprefix("audit:") if fault.by.startswith("audit:") else None
    python = [sys.executable, "-m"]
    command = (
        [*python, "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", fault.by]
        if check is None
        else [*python, "sulq", "audit", "--only", check, "--jobs", "1", "--json"]
    )
    try:
        run = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Verdict(fault, True, f"{fault.by} does not end")
    if check is None:
        failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        caught = run.returncode in (1, 2) and bool(failed)
        return Verdict(fault, caught, (failed or ["all tests pass"])[0][:160])
    try:
        said = json.loads(run.stdout)["checks"]
    except ValueError:
        return Verdict(fault, False, f"the audit did not run: {run.stderr.strip()[-160:]}")
    broken = [f for each in said if each["check"] == check for f in each["findings"] if not f["holds"]]
    caught = run.returncode == 1 and bool(broken)
    words = f"{broken[0]['subject']}: {broken[0]['found']}" if broken else "every claim holds"
    return Verdict(fault, caught, words[:160])


def main(words: Sequence[str]) -> int:
    chosen = [fault for fault in faults() if not words or any(word in fault.name for word in words)]
    for fault in chosen:
        fault.planted(ROOT)
    survivors: list[Verdict] = []
    with ThreadPoolExecutor(JOBS) as pool:
        running = [pool.submit(examined, fault) for fault in chosen]
        for done, ended in enumerate(as_completed(running), 1):
            verdict = ended.result()
            fault = verdict.fault
            sign = "caught  " if verdict.caught else "SURVIVES"
            print(f"[{done:2}/{len(chosen)}] {sign} {fault.name} ({fault.by}): {verdict.words}", flush=True)
            if not verdict.caught:
                survivors.append(verdict)
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} faults were caught.")
    for verdict in survivors:
        reason = verdict.fault.survives or f"NO REASON IS KNOWN: {verdict.fault.words}"
        print(f"  {verdict.fault.name}: {reason}")
    return 1 if any(not verdict.fault.survives for verdict in survivors) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
