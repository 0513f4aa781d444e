"""The documentation: its links lead somewhere, its first page does what it shows, and the site can be built."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import sulq
import sulq.classes
import sulq.hypotheses
import sulq.local
import sulq.sklearn
import sulq.theory
from sulq.cli import main
from tests.effort import long

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "RESULTS.md",
    ROOT / "examples" / "README.md",
    ROOT / "src" / "sulq" / "samples" / "README.md",
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
BARS = re.compile(r"[█▉▊▋▌▍▎▏]+")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", BLOCK.sub("", text))


def anchors(text: str) -> set[str]:
    """What a code host and the site both call the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}


def broken(page: Path) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        link = urlsplit(target)
        if link.scheme:
            continue
        there = (page.parent / link.path).resolve() if link.path else page
        found = there.exists() and there.is_relative_to(ROOT)
        if not found or (link.fragment and link.fragment not in anchors(there.read_text(encoding="utf-8"))):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_every_page_is_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", settings, re.MULTILINE)
    assert sorted(named) == sorted(name_of(page) for page in PAGES if page != ROOT / "README.md")


def test_every_public_name_is_in_the_reference_once() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)
    public = {
        f"{module.__name__}.{name}"
        for module in (sulq, sulq.classes, sulq.hypotheses, sulq.local, sulq.theory, sulq.sklearn)
        for name in module.__all__
    }
    assert public - set(shown) == set()
    assert len(set(shown)) == len(shown)


def masked(text: str) -> str:
    return NUMBER.sub("#", BARS.sub("", DATE.sub("", text)))


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(DATE.sub("", text))]


def alike(shown: str, printed: str) -> bool:
    """Whether two outputs are the same up to noise: the same words, and no number more than twice another.

    A line of three dots stands for lines that the page leaves out; then numbers are not compared.
    """
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not doctest.OutputChecker().check_output(masked(shown), masked(printed), flags):
        return False
    pairs = zip(numbers(shown), numbers(printed), strict=False)
    return "..." in shown or all(a / 2 <= b <= 2 * a for a, b in pairs)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, and what the page says each prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [
        (command, shown) for command, shown in (re.split(r"(?<!\\)\n", part, maxsplit=1) for part in parts)
    ]


def entered(command: str) -> tuple[int, str, str]:
    """How a command ends and what it prints: in a shell where it needs one, else in this process, which is faster."""
    if ">" in command:
        run = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
        return run.returncode, run.stdout, run.stderr
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = main(shlex.split(command.replace("\\\n", " "))[1:])
    return code, output.getvalue(), errors.getvalue()


def test_the_first_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks in order, in one folder: Python is run, the schema is saved, commands are run.

    The chance that noise changes a word is below 1e-6. At a fifth of the page's ε, 200 of 200 runs found the tree
    that is shown, so at most 2 % of them find another; and the chance falls exponentially in ε, to its fifth power.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    printed, names, ran = "", {"__name__": "page"}, 0
    for language, block in BLOCK.findall((ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(block, names)
            printed = out.getvalue()
        elif language == "text":
            assert alike(block, printed), printed
        elif language == "toml":
            Path("people.toml").write_text(block, encoding="utf-8")
        elif language == "console":
            for command, shown in commands(block):
                assert command.startswith("sulq ")
                code, output, errors = entered(command)
                refused = shown.startswith("sulq: ")
                assert code == (2 if refused else 0), f"{command}\n{errors}"
                assert alike(shown, errors if refused else output), f"{command}\n{output}{errors}"
                ran += 1
    assert ran >= 10
    assert "</html>" in Path("tree.html").read_text(encoding="utf-8")


class UpToNoise(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return alike(want, got)


def test_the_readme_shows_what_its_code_prints() -> None:
    """Its words; numbers may differ as noise does. At a quarter of its ε, 60 of 60 trees had the same words."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", str(ROOT / "README.md"), 0)
    assert sum(bool(example.want) for example in examples.examples) >= 2
    out = io.StringIO()
    runner = doctest.DocTestRunner(UpToNoise(), verbose=False)
    runner.run(examples, out=out.write)
    assert runner.failures == 0, out.getvalue()


def tables(text: str) -> list[str]:
    return re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)


def test_the_readmes_figures_are_the_measured_ones() -> None:
    measured = tables((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"))
    [shown] = [table for table in tables((ROOT / "README.md").read_text(encoding="utf-8")) if "±" in table]
    assert shown in measured


class Fetched(HTMLParser):
    """What a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") != "canonical":
            self.addresses.append(given.get("href") or "")
        if tag in ("script", "img", "iframe", "source", "video", "audio", "object", "embed"):
            self.addresses.append(given.get("src") or given.get("data") or "")


def fetched(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""", text)
    parser = Fetched()
    parser.feed(text)
    return parser.addresses


@long
def test_the_site_is_built_without_a_warning_and_needs_nobody_else(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    assert doctest.testmod(importlib.import_module("mkdocs_hooks")).failed == 0
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert built.returncode == 0, built.stderr
    for page in [*tmp_path.rglob("*.html"), *tmp_path.rglob("*.css")]:
        outside = [address for address in fetched(page) if re.match(r"(?!data:)([a-z]+:)?//", address)]
        assert outside == [], page
    results = (tmp_path / "benchmarks" / "RESULTS.html").read_text(encoding="utf-8")
    assert re.findall(r'<img [^>]*src="([^"]+)"', results)
    for picture in re.findall(r'<img [^>]*src="([^"]+)"', results):
        assert (tmp_path / "benchmarks" / picture).is_file()
    curator = (tmp_path / "reference" / "oracles.html").read_text(encoding="utf-8")
    assert "charges every round to a budget before it looks at a cell" in curator
    assert "<blockquote>" not in curator
