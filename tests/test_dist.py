"""The wheels of `make dist`, each installed in an empty environment without a compiler."""

from __future__ import annotations

import doctest
import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import sulq

ROOT = Path(__file__).parents[1]
DIST = os.environ.get("SULQ_DIST")
pytestmark = pytest.mark.skipif(DIST is None, reason="`make dist` builds wheels and tries them")


def made(pattern: str) -> Path:
    [path] = (ROOT / (DIST or "")).rglob(pattern)
    return path


@pytest.fixture(scope="module", params=["py3-none-any", "py3-none-[!a]*"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bool]:
    """Where the programs of an environment are that has the wheel, and whether that has compiled loops."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wheel = made(f"sulq-*-{request.param}.whl")
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel]
    subprocess.run(command, check=True, env=bare())
    return folder / "bin", "any" not in wheel.name


def bare() -> dict[str, str]:
    """What is set where nobody has a compiler, and no other sulq is found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SULQ"))}
    return {**kept, "CC": "/bin/false", "PATH": "/bin"}


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=bare(), cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_compiled_loops_are_there_and_are_loaded(installed: tuple[Path, bool], tmp_path: Path) -> None:
    programs, compiled = installed
    says = "import sulq; from sulq.loops import LIBRARY; print(LIBRARY is not None, sulq.__version__, sulq.__file__)"
    loaded, version, path = run(tmp_path, str(programs / "python"), "-c", says).split()
    assert (loaded, version) == (str(compiled), sulq.__version__)
    assert path.startswith(str(programs.parent))


def test_the_lines_of_the_readme_run(installed: tuple[Path, bool], tmp_path: Path) -> None:
    programs, _ = installed
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if ">>>" in block]
    lines = [example.source for block in blocks for example in doctest.DocTestParser().get_examples(block)]
    assert lines
    assert run(tmp_path, str(programs / "python"), "-c", "".join(lines))


def test_the_demo_and_the_help_run(installed: tuple[Path, bool], tmp_path: Path) -> None:
    programs, _ = installed
    assert run(tmp_path, str(programs / "sulq"), "--version").strip() == f"sulq {sulq.__version__}"
    assert "ε" in run(tmp_path, str(programs / "sulq"), "demo")
    assert "learn" in run(tmp_path, str(programs / "sulq"), "--help")


def test_the_sources_have_what_the_tests_need_and_nothing_compiled() -> None:
    with tarfile.open(made("sulq-*.tar.gz")) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {
        "src/sulq/loops/loops.c",
        "Makefile",
        "tests/test_dist.py",
        "benchmarks/RESULTS.md",
        "mutants/run.py",
    } <= names
    if (ROOT / ".git").exists():  # not where this runs in a folder of the sources
        kept = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
        assert set(kept.stdout.splitlines()) <= names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


def test_one_wheel_is_for_this_platform() -> None:
    assert len(list((ROOT / (DIST or "")).glob("*.whl"))) == 1


def test_a_wheel_says_what_it_is() -> None:
    with zipfile.ZipFile(made("sulq-*-py3-none-any.whl")) as wheel:
        [name] = [each for each in wheel.namelist() if each.endswith("METADATA")]
        said = email.message_from_bytes(wheel.read(name))
    assert (
        said["Version"] == sulq.__version__ and said["Author"] and said["License-Expression"] == "Apache-2.0"
    )
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert {"sklearn", "serve", "sql", "spark", "dask", "postgres"} <= set(said.get_all("Provides-Extra", []))
