"""Compiles the inner loops when sulq is installed; without a C compiler NumPy does their work.

Python never sees the compiled part, which is loaded by ctypes: so one wheel serves every version of Python on
a platform. `SULQ_PURE=1` makes the wheel for all other platforms, without it.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# No option here changes a result: neither exceptions of floating point nor `errno` are looked at.
OPTIONS = ["-O3", "-fno-trapping-math", "-fno-math-errno", "-shared", "-fPIC"]
# Loops on whole numbers may fuse multiplications with additions; on others that would change their last bits.
LIBRARIES = {"loops": [], "directions": ["-ffp-contract=off"]}


class CompiledLoops(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / "src" / "sulq" / "loops"
        libraries = {folder / f"{name}.c": folder / f"{name}.so" for name in LIBRARIES}
        if os.environ.get("SULQ_PURE"):
            return
        # Not every compiler can choose a processor's version of a function when it is loaded.
        if not all(
            any(_compiled(source, library, *LIBRARIES[source.stem], *how) for how in ([], ["-DPLAIN"]))
            for source, library in libraries.items()
        ):
            for library in libraries.values():
                library.unlink(missing_ok=True)
            self.app.display_warning("no working C compiler: sulq will be slower, with the same results")
            return
        build_data["artifacts"] += [f"src/sulq/loops/{library.name}" for library in libraries.values()]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _compiled(source: Path, library: Path, *more: str) -> bool:
    # Written beside and moved into place, because a running process may have the old one mapped.
    made = library.with_suffix(f".{os.getpid()}.so")
    command = [*shlex.split(os.environ.get("CC", "cc")), *OPTIONS, *more, str(source), "-o", str(made)]
    try:
        subprocess.run(command, check=True, capture_output=True)
        ctypes.CDLL(str(made))
    except (OSError, subprocess.CalledProcessError):
        made.unlink(missing_ok=True)
        return False
    made.replace(library)
    return True
