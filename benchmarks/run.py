"""Regenerates RESULTS.md: `make bench`."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import picture
import sums

HEAD = """# Results

Made by `make bench`. Times are ratios within one run, because machines are shared and noisy. A goal that is
missed is shown as missed.

"""


def main() -> None:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}.\n\n"
    results = HEAD + machine + sums.section()
    (Path(__file__).parent / "RESULTS.md").write_text(results, encoding="utf-8")
    picture.draw(Path(__file__).parent.parent / "docs" / "plans.png")
    print(results)


if __name__ == "__main__":
    main()
