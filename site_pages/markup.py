"""What a page has on the site beyond what it has on a code host: tabs, and colours of examples."""

from __future__ import annotations

import re
from textwrap import indent

TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"^\*\*([^*\n]+)\*\*$", re.MULTILINE)
PROMPT = re.compile(r"^(\s*)```python\n(?=\s*>>> )", re.MULTILINE)


def tabbed(text: str) -> str:
    """A page with tabs in place of the parts that stand between `<!-- tabs -->` and `<!-- /tabs -->`.

    Each part begins with its name, alone on a line and in bold. A code host shows the parts below each other.

    Args:
        text: the page, in Markdown.

    >>> print(tabbed("<!-- tabs -->\\n**Python**\\n\\n1 + 1\\n\\n**Shell**\\n\\nexpr 1 + 1\\n<!-- /tabs -->"))
    === "Python"
    <BLANKLINE>
        1 + 1
    <BLANKLINE>
    === "Shell"
    <BLANKLINE>
        expr 1 + 1
    <BLANKLINE>
    """
    return TABS.sub(lambda match: _tabs(match[1]), text)


def _tabs(text: str) -> str:
    _, *parts = LABEL.split(text)
    return "\n".join(
        f'=== "{name}"\n\n{indent(part.strip(), "    ")}\n'
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    )


def prompted(text: str) -> str:
    """A page whose examples with prompts are marked as such, so that what they print has no colours.

    Args:
        text: the page, in Markdown.

    >>> prompted("```python\\n>>> 1 + 1\\n2\\n```").splitlines()[0]
    '```pycon'
    """
    return PROMPT.sub(r"\1```pycon\n", text)
