"""`import sulq` stays light: a server and its clients are imported when they are used."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("fastapi", "starlette", "uvicorn", "pydantic", "httpx", "jinja2", "sulq.serve", "sulq.commands")


def test_importing_sulq_imports_no_server_and_no_client() -> None:
    code = f"import sys, sulq; sys.exit(repr([name for name in {HEAVY} if name in sys.modules]))"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert imported.stderr.strip() == "[]"


def test_the_command_line_imports_no_server_before_it_serves() -> None:
    heavy = HEAVY[:5]
    code = f"import sys, sulq.cli; sys.exit(repr([name for name in {heavy} if name in sys.modules]))"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert imported.stderr.strip() == "[]"
