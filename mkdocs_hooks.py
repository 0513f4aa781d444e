"""The site is built from the files as they lie in the repository, so that a link that works there works here.

MkDocs knows files by their path below `docs`. Here all have their path in the repository instead: pages
outside `docs` can be in the navigation, and `../src/sulq/local` leads to something. Addresses of pages in
`docs` are as they would be without this.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import sulq
from site_pages.commands import PLACE, commands_page
from site_pages.markup import prompted, tabbed
from site_pages.notebook import as_markdown
from sulq.cli import _parser

ROOT = Path(__file__).parent
TARGET = re.compile(r"\]\(([^)#\s:]+)")
PICTURES = (".png", ".svg")
NOTEBOOK = ".ipynb"
PLAIN = """\
<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark } pre { white-space: pre-wrap; overflow-wrap: anywhere }</style>
"""
"""How a text looks that is no page: it fits a phone, and is dark where the system is."""
LINK_TO_NOTEBOOK = re.compile(r"\]\([^)#\s:]+\.ipynb")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings have the anchors that code hosts give them, and the title has the version."""
    config.mdx_configs["toc"]["slugify"] = anchor
    config.nav = _with_pages(config.nav)
    config.site_name = f"sulq {sulq.__version__}"
    return config


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Tabs, examples and commands, as only the site shows them; the home page has all of the width."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    if PLACE in markdown:
        markdown = markdown.replace(PLACE, commands_page(_parser()))
    return prompted(tabbed(LINK_TO_NOTEBOOK.sub(lambda link: paged(link[0]), markdown)))


def paged(path: str) -> str:
    """The page that shows a notebook.

    >>> paged("docs/tutorial.ipynb")
    'docs/tutorial.md'
    """
    return path.removesuffix(NOTEBOOK) + ".md" if path.endswith(NOTEBOOK) else path


def _with_pages(nav: Any) -> Any:
    """A navigation that leads to pages, not to notebooks."""
    if isinstance(nav, str):
        return paged(nav)
    if isinstance(nav, dict):
        return {name: _with_pages(part) for name, part in nav.items()}
    return [_with_pages(part) for part in nav]


def anchor(heading: str, separator: str) -> str:
    """What a link calls a heading.

    >>> anchor("What ε means, in words", "-")
    'what-ε-means-in-words'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """All pages by their path in the repository, and whatever else they link to."""
    ours = [file for file in files if file.src_dir == config.docs_dir]
    shown_files = {file.src_uri: file for file in files if file.src_dir != config.docs_dir}
    for file in ours:
        path, address = file.abs_src_path, file.dest_uri
        file.src_uri = f"docs/{file.src_uri}"
        file.abs_src_path, file.dest_uri = path, address
        shown_files[file.src_uri] = file
    for path in _pages(config.nav):
        if path not in shown_files and (ROOT / path).is_file():
            shown_files[path] = File.generated(config, path, abs_src_path=str(ROOT / path))
    for path in [path for path in shown_files if path.endswith(NOTEBOOK)]:
        text = as_markdown((ROOT / path).read_text(encoding="utf-8"), Path(path).name)
        page = File.generated(config, paged(path), content=text)
        page.dest_uri = str(Path(shown_files[path].dest_uri).with_suffix(".html"))
        shown_files[page.src_uri] = page
    for page in [file for file in shown_files.values() if file.is_documentation_page()]:
        for target in TARGET.findall(page.content_string):
            path = normpath(join(dirname(page.src_uri), target))
            if path not in shown_files and not path.startswith("..") and (ROOT / path).exists():
                shown_files[path] = _shown(path, config)
    return Files(list(shown_files.values()))


def _pages(nav: Any) -> list[str]:
    """The paths in a navigation, at whatever depth."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [path for part in parts for path in _pages(part)]


def _shown(path: str, config: MkDocsConfig) -> File:
    """A picture as it is; the text of another file, or the names in a folder, to be read in a browser."""
    if path.endswith(PICTURES):
        return File.generated(config, path, abs_src_path=str(ROOT / path))
    at = ROOT / path
    if at.is_dir():
        text = "\n".join(sorted(file.name for file in at.glob("[!_.]*")))
    else:
        text = at.read_text(encoding="utf-8")
    title = html.escape(path)
    shown = f"{PLAIN}<title>{title}</title><pre>{html.escape(text)}</pre>\n"
    file = File.generated(config, path, content=shown)
    file.dest_uri = f"{path}.html"
    return file


class Examples(griffe.Extension):
    """Marks examples in docstrings as code: to Markdown, lines that begin with >>> are quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """A docstring with its examples as blocks of code; each ends at an empty line.

    >>> fenced("A sum.\\n\\n>>> 1 + 1\\n2").splitlines()
    ['A sum.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    example = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
    return example.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
