"""The documentation: its links lead somewhere, and its pages do what they show."""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import sulq
import sulq.classes
import sulq.hypotheses
import sulq.local
import sulq.sklearn
import sulq.theory
from site_pages.notebook import as_markdown
from sulq.classes.sizes import parity_rows, printed_parity_rows
from sulq.cli import _parser, _with_learner, main
from sulq.privacy.selection import ExponentialMechanism

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "RESULTS.md",
    ROOT / "examples" / "README.md",
    ROOT / "src" / "sulq" / "samples" / "README.md",
]
FOR_CONTRIBUTORS = sorted(set(ROOT.glob("*.md")) - {ROOT / "README.md"})
NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
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


def text_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return as_markdown(text, page.name) if page in NOTEBOOKS else text


def broken(page: Path) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        link = urlsplit(target)
        if link.scheme:
            continue
        there = (page.parent / link.path).resolve() if link.path else page
        found = there.exists() and there.is_relative_to(ROOT)
        if not found or (link.fragment and link.fragment not in anchors(there.read_text(encoding="utf-8"))):
            yield target


@pytest.mark.parametrize("page", [*PAGES, *FOR_CONTRIBUTORS, *NOTEBOOKS], ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_the_theorems_are_where_their_page_says() -> None:
    """Each system has code and a test; each file that is named is there, and has the name that follows it."""
    text = (ROOT / "docs" / "theorems.md").read_text()
    systems = text.split("## The systems, by name")[1].split("\n## ")[0]
    rows = [line for line in systems.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 28 and any("vertically partitioned" in row for row in rows)
    for row in rows:
        assert re.search(r"\(\.\./src/\S+\.py\), \[test\]\(\.\./tests/\S+\.py\)", row), row
    for path, name in re.findall(r"`(\w+/\w+\.py)`(?: `(\w+))?", text):
        code = (ROOT / "src" / "sulq" / path).read_text()
        assert re.search(rf"^(?:def|class) {name}\b|^    def {name}\b", code, re.MULTILINE) or not name, path


def test_every_page_is_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- (?:.+: )?(\S+\.(?:md|ipynb))$", settings, re.MULTILINE)
    pages = [page for page in [*PAGES, *NOTEBOOKS] if page != ROOT / "README.md"]
    assert sorted(named) == sorted(map(name_of, pages))


def test_the_home_page_leads_to_a_table_from_a_csv_in_one_click() -> None:
    """And the page says it in steps whose commands are run: see below."""
    home, target = text_of(ROOT / "docs" / "index.md"), "from-a-csv-to-a-published-table"
    assert re.search(
        rf"^\| publish a table from a CSV \| \[[^]]+\]\(tables.md#{target}\) \|$", home, re.MULTILINE
    )
    assert target in anchors(text_of(ROOT / "docs" / "tables.md"))


def test_every_extra_is_explained_and_there_is_no_other() -> None:
    text = text_of(ROOT / "docs" / "install.md")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = re.findall(r"^\| `sulq\[([\w-]+)\]` \| .{10,} \| .+ \|$", text, re.MULTILINE)
    rest = re.findall(r"`(?:sulq)?\[([\w-]+)\]`", text.split("\n`sulq[test]`")[1])
    assert sorted([*rows, "test", *rest]) == sorted(declared["optional-dependencies"])
    for page in [*PAGES, *NOTEBOOKS]:
        for named in re.findall(r"pip install '?(?:sulq|\.)\[([\w,-]+)\]", text_of(page)):
            assert set(named.split(",")) <= set(declared["optional-dependencies"]), page


def test_the_home_page_leads_to_every_page_that_says_how_to() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    guides = re.findall(
        r"^      - (?:.+: )?docs/(\S+\.md)$", settings.split("- How to:")[1].split("\n  - ")[0], re.MULTILINE
    )
    assert len(guides) > 15
    linked = re.findall(r"\]\(([\w-]+\.md)", text_of(ROOT / "docs" / "index.md"))
    assert set(guides) - set(linked) == set()


def test_every_target_of_make_on_a_page_is_one_that_there_is() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in [*PAGES, *FOR_CONTRIBUTORS]:
        text = text_of(page)
        named = re.findall(r"`make ([a-z-]+)`", text) + re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)
        assert [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == [], (
            page
        )


def test_the_home_page_says_how_to_install_it() -> None:
    home = text_of(ROOT / "docs" / "index.md")
    assert home.index("pip install dist/*.whl") < home.index(">>> import sulq")
    assert "[Installation](install.md)" in home


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


@cache
def parser() -> argparse.ArgumentParser:
    return _parser()


def typed(page: Path) -> Iterator[list[str]]:
    """The commands in blocks of a page that are not run: what would be typed, in words."""
    for language, block in BLOCK.findall(text_of(page)):
        lines = block.replace("\\\n", " ").splitlines()
        for line in lines if language in ("", "sh", "bash") else []:
            if line.removeprefix("$ ").startswith("sulq "):
                yield shlex.split(line.removeprefix("$ ").split(" > ")[0], comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_on_a_page_is_one_that_there_is(page: Path) -> None:
    for words in typed(page):
        with contextlib.suppress(SystemExit):  # --help and --version end a command
            assert parser().parse_args(_with_learner(words)).run, words


@pytest.mark.parametrize(("page", "least"), [("getting-started.md", 10), ("tables.md", 2)])
def test_a_page_of_commands_does_what_it_shows(
    page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its blocks in order, in one folder: Python is run, the schema is saved, commands are run.

    The chance that noise changes a word is below 1e-6. At a fifth of the first page's ε, 200 of 200 runs found the
    tree that is shown, so at most 2 % of them find another; and the chance falls exponentially in ε, to its fifth
    power. The table of the other page has no word that depends on noise, and no figure that noise could halve: counts
    of 3,300 with noise of scale 12, and sums of 6,600,000 with noise of scale 60,000 (chances below e^-50).
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    printed, names, ran = "", {"__name__": "page"}, 0
    for language, block in BLOCK.findall(text_of(ROOT / "docs" / page)):
        if language == "python" and not block.startswith(">>>"):
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
    assert ran >= least
    [report] = Path().glob("*.html")
    assert "</html>" in report.read_text(encoding="utf-8")


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


def test_the_readmes_tight_figures_are_what_the_code_says() -> None:
    """Those of reports and of error bars are held in `tests/local`."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = [table for table in tables(text) if "printed, or plain" in table]
    bits = {**{f"x{i}": sulq.Boolean() for i in range(4)}, "y": sulq.Boolean()}
    rows = sulq.plan(sulq.Conjunction("y", error=0.1), sulq.Schema(bits), epsilon=1).rows
    assert f"| {rows.paper:,} | {rows.tight:,} |" in shown
    sizes = 64, 0.05, 0.05, 0.5
    assert f"| {printed_parity_rows(*sizes):,} | {parity_rows(*sizes):,} |" in shown
    choice = ExponentialMechanism(10, 1)
    assert f"| {float(choice.rho(printed=True))} | {float(choice.rho()):.1f} |" in shown
    names = [f"x{i}" for i in range(8)]
    people = sulq.open({name: [0.5] for name in names}, {name: sulq.Real(-1, 1) for name in names})
    offer = people.curator(epsilon=1).offer
    some = sulq.Round([sulq.mean("x0", where=sulq.col("x1") > 0)], share=1)
    scales = [each.noises[1].scale for each in (offer.terms(some, former=True), offer.terms(some))]
    assert f"| {scales[0]} | {scales[1]} |" in shown
    many = sulq.Round([sulq.total(sulq.vector(*names))], share=1)
    [plain], [best] = offer.terms(many, vectors=False).noises, offer.terms(many).noises
    assert f"σ | 1 | {best.std / plain.std:.2f} |" in shown
    one, stds = sulq.Round([sulq.total("x0")], share=1), []
    for calibration in ("zcdp", "tight", "gaussian"):
        curator = people.curator(epsilon=1, delta="1e-6", calibration=calibration, ledger=":memory:")
        stds.append(curator.offer.terms(one).noises[0].std)
    assert f"| 1 | {stds[1] / stds[0]:.2f}, {stds[2] / stds[0]:.2f} |" in shown


def test_the_readmes_figures_beside_peers_stand_in_the_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [beside] = [table for table in tables(text) if "the best peer" in table]
    measured = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    figures = re.findall(r"\d\.\d{3,4}", beside)
    assert len(figures) == 12
    assert [figure for figure in figures if figure not in measured] == []
