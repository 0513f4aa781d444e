"""Compiles the inner loops when sulq is installed; without a C compiler NumPy does their work."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# No option here changes a result: exceptions of floating point are neither raised nor looked at.
OPTIONS = ["-O3", "-fno-trapping-math", "-shared", "-fPIC"]


class CompiledLoops(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / "src" / "sulq" / "loops"
        source, library = folder / "loops.c", folder / "loops.so"
        if not self._compiled(source, library) and not self._compiled(source, library, "-DPLAIN"):
            self.app.display_warning("no working C compiler: sulq will be slower, with the same results")
            return
        build_data["artifacts"].append("src/sulq/loops/loops.so")
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _compiled(self, source: Path, library: Path, *more: str) -> bool:
        # Written beside and moved into place, because a running process may have the old one mapped.
        made = library.with_suffix(f".{os.getpid()}")
        command = [os.environ.get("CC", "cc"), *OPTIONS, *more, str(source), "-o", str(made)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return False
        made.replace(library)
        return True
