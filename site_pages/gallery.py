"""Draws the pictures of a page, by the lines that stand above each of them.

`python -m site_pages.gallery docs/gallery.md` writes them anew. Noise has no seed, so they differ
a little each time.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n!\[[^]]*\]\(([^)]+\.svg)\))?", re.MULTILINE | re.DOTALL)


def pictures(text: str) -> dict[str, str]:
    """The pictures of a page: each is called `picture` by the block above it.

    Args:
        text: the page, in Markdown.

    >>> pictures("```python\\npicture = '<svg/>'\\n```\\n\\n![a picture](a.svg)")
    {'a.svg': '<svg/>'}
    """
    names: dict[str, Any] = {}
    drawn = {}
    for code, path in BLOCK.findall(text):
        exec(code, names)
        if path:
            drawn[path] = names["picture"]
    return drawn


def main(pages: list[str]) -> None:
    """Draw the pictures of pages, and keep them where the pages look for them."""
    for page in map(Path, pages):
        for path, picture in pictures(page.read_text(encoding="utf-8")).items():
            (page.parent / path).parent.mkdir(exist_ok=True)
            (page.parent / path).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
