"""One direction: the layers that `make lint` keeps, that it would notice, and that the documentation shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.effort import long

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sulq"
LONG = 300


def layers() -> list[list[str]]:
    """The layers from the top down, each with the modules that stand beside each other in it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        contract for contract in settings["tool"]["importlinter"]["contracts"] if contract["type"] == "layers"
    ]
    return [layer.split(" | ") for layer in contract["layers"]]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "COLUMNS": "300"}
    return subprocess.run(
        [*command, "--no-cache", "--no-logo"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "planted", "complaint"),
    [
        pytest.param("numbers.py", "", None, marks=long),  # `make lint` looks at the files as they are
        ("queries/scope.py", "from sulq.oracles.curator import Curator", "sulq.queries is not allowed"),
        ("numbers.py", "def hidden() -> None:\n    import sulq.talk.offer", "sulq.numbers is not allowed"),
        pytest.param(
            *(
                "schema.py",
                "if TYPE_CHECKING:\n    from sulq.queries.query import Query",
                "sulq.schema is not",
            ),
            marks=long,
        ),
        pytest.param(
            *("learners/learner.py", "from sulq.oracles.exact import Exact", "sulq.learners is not allowed"),
            marks=long,
        ),
        ("talk/laws.py", "from sulq.talk.answers import Answer", "No cycles are allowed in sulq.talk"),
    ],
    ids=["nothing", "upward", "lazy", "for types only", "beside", "in a circle"],
)
def test_an_import_in_the_wrong_direction_is_noticed(
    module: str, planted: str, complaint: str | None, tmp_path: Path
) -> None:
    shutil.copytree(SOURCE, tmp_path / "src" / "sulq", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file = tmp_path / "src" / "sulq" / module
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{planted}\n", encoding="utf-8")
    linted = lint(tmp_path)
    assert (linted.returncode == 0) == (complaint is None), linted.stdout
    if complaint is not None:
        assert complaint in linted.stdout


def test_the_architecture_page_has_the_layers_in_their_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- layers -->\n(.*?)<!-- end of layers -->", page, re.DOTALL)
    rows = [re.findall(r"`(\w+)/?`", line.split("|")[1]) for line in table.splitlines()[2:] if line]
    assert rows == layers()


def test_every_module_is_short_or_says_why_it_is_not() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONG:
            assert "This module is long because" in text.split('"""')[1], path
