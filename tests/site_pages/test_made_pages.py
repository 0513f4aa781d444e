"""Pages that are made: the reference of the command line, the tutorial, the gallery, and tabs."""

from __future__ import annotations

import argparse
import doctest
import importlib
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from site_pages.commands import PLACE, commands, commands_page
from site_pages.gallery import BLOCK, pictures
from site_pages.markup import prompted, tabbed
from site_pages.notebook import as_markdown, code_cells, run
from sulq.cli import _parser
from tests.effort import long

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ["commands", "gallery", "markup", "notebook"]


@pytest.mark.parametrize("name", MADE)
def test_the_examples_are_right(name: str) -> None:
    tried = doctest.testmod(importlib.import_module(f"site_pages.{name}"))
    assert tried.attempted > 0
    assert tried.failed == 0


def test_every_command_and_every_option_is_in_the_reference() -> None:
    page = commands_page(_parser())
    assert PLACE in (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    listed = [command for command in commands(_parser()) if command.name != "sulq"]
    assert len(listed) > 30
    for command in listed:
        assert page.count(f"## {command.name}\n") == 1
        for action in command.parser._actions:
            if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
                named = action.option_strings or [str(action.metavar or action.dest)]
                assert all(f"`{name}" in page for name in named), (command.name, named)


def test_options_that_commands_share_are_listed_once() -> None:
    page = commands_page(_parser())
    assert page.count("| `--epsilon E` | the whole budget of this data") == 1
    assert page.count(": as for [`sulq table`](#sulq-table).") > 10


def test_the_tutorial_runs_and_is_kept_with_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures may differ, as noise does; how many things each cell shows, and of which kinds, may not."""
    text = (DOCS / "tutorial.ipynb").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    kinds = [
        [
            [(output["output_type"], sorted(output.get("data", {}))) for output in cell["outputs"]]
            for cell in code_cells(json.loads(notebook))
        ]
        for notebook in (text, run(text))
    ]
    assert kinds[0] == kinds[1]
    assert sum(map(bool, kinds[0])) == len(kinds[0]) >= 8
    assert "spent 2/5" in text
    assert (tmp_path / "stays.csv.ledger").is_file()


def test_the_tutorial_is_a_page_with_its_pictures() -> None:
    page = as_markdown((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"), "tutorial.ipynb")
    assert page.startswith("# A tutorial")
    assert page.count("data:image/svg+xml;base64,") == 2
    assert '<a href="tutorial.ipynb" download>' in page


def test_every_picture_of_the_gallery_has_lines_that_draw_it() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    kept = sorted((DOCS / "gallery").iterdir())
    assert sorted(path for _, path in BLOCK.findall(text) if path) == [
        f"gallery/{path.name}" for path in kept
    ]
    assert all(path.stat().st_size < 40_000 for path in kept)


@long
def test_the_gallery_shows_what_its_lines_draw() -> None:
    """Pictures differ a little each time; each has the same title."""
    for path, picture in pictures((DOCS / "gallery.md").read_text(encoding="utf-8")).items():
        kept = (DOCS / path).read_text(encoding="utf-8")
        labels = [ElementTree.fromstring(text).get("aria-label") for text in (kept, picture)]
        assert labels[0] == labels[1]


def test_what_is_in_tabs_is_on_a_code_host_and_in_tests_as_it_was() -> None:
    """A tab is marked by comments, so its blocks are not indented, and the tests find them."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert "\n```python\n>>> import sulq\n" in text
    shown = prompted(tabbed(text))
    assert '=== "Python"\n\n    ```pycon\n    >>> import sulq\n' in shown
    assert '=== "Command line"' in shown
    assert "<!-- tabs" not in shown


def test_tabs_on_every_page_have_an_end() -> None:
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- tabs -->") == text.count("<!-- /tabs -->") == tabbed(text).count('=== "') / 2
