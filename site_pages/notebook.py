"""Notebooks without Jupyter: run, kept with what they print, and shown as a page of the site.

`python -m site_pages.notebook docs/tutorial.ipynb` runs a notebook in an empty folder, and keeps its outputs.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SVG, HTML, TEXT = "image/svg+xml", "text/html", "text/plain"
MIME = {"_repr_svg_": SVG, "_repr_html_": HTML}


def run(text: str) -> str:
    """A notebook with the outputs of its cells, which are run in order, in the folder that is current.

    Args:
        text: the notebook, as its file has it.
    """
    notebook = json.loads(text)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), start=1):
        cell["execution_count"] = number
        cell["outputs"] = outputs("".join(cell["source"]), names, number)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook that are code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, and what its last line shows.

    Args:
        source: the code.
        names: what the cells before it have defined.
        number: the number of the cell among those that are code.

    >>> outputs("a = 1 + 1\\nprint(a)\\na + 1", {}, 1)[-1]["data"]
    {'text/plain': ['3']}
    """
    body = ast.parse(source)
    last = body.body[-1] if body.body else None
    shown = None
    if isinstance(last, ast.Expr):
        body.body.pop()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(body, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    made: list[dict[str, Any]] = []
    if printed.getvalue():
        made.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if shown is not None:
        made.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": _faces(shown),
            }
        )
    return made


def _faces(shown: Any) -> dict[str, list[str]]:
    """An object in the richest form that it has, and as text."""
    rich = {mime: _lines(getattr(shown, method)()) for method, mime in MIME.items() if hasattr(shown, method)}
    return rich | {TEXT: _lines(repr(shown))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def as_markdown(text: str, name: str) -> str:
    """A notebook as a page.

    Args:
        text: the notebook, as its file has it.
        name: the name of its file, beside the page.
    """
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += [f"```python\n{source}\n```", *_shown(cell["outputs"])]
    download = f'<p><a href="{name}" download>This page as a notebook</a></p>'
    return "\n\n".join([*parts[:1], download, *parts[1:]]) + "\n"


def _shown(made: list[dict[str, Any]]) -> Iterator[str]:
    for output in made:
        data = output.get("data", {})
        if SVG in data:
            picture = base64.b64encode("".join(data[SVG]).encode()).decode()
            yield f'<p><img alt="what the lines above draw" src="data:{SVG};base64,{picture}"></p>'
        elif HTML in data:
            yield f'<div class="face">{"".join(data[HTML])}</div>'
        else:
            words = "".join(output.get("text", data.get(TEXT, [])))
            yield f"```text\n{words.rstrip()}\n```"


def main(paths: list[str]) -> None:
    """Run notebooks, each in an empty folder, and keep what they print."""
    for path in map(Path, paths):
        text, here = path.read_text(encoding="utf-8"), Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                kept = run(text)
            finally:
                os.chdir(here)
        path.write_text(kept, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
