"""The pieces that pictures are made of: colours, words that fit, and SVG that stands on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from rich.cells import cell_len, set_cell_size

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colours, which people tell apart however they see colour; without yellow, pale on white."""
INK, QUIET, FAINT, PAPER = "#1f2933", "#5f6b7a", "#d5dbe1", "#ffffff"
SIZE, SMALL, MARGIN, TITLE = 13.0, 11.0, 20.0, 34.0
WIDEST_TITLE = 640.0
NARROW, WIDE = " .,:;'|!()[]/-ijltfrI", "mwMW%@"
THIN, EM, THICK, BOLD = 0.38, 0.62, 0.95, 1.1
"""For a guess at how wide words are, in sizes of their font: a generic family cannot be measured."""


def colour(number: int) -> str:
    """The colour of the label or cluster with this number. After the last one they start again."""
    return PALETTE[number % len(PALETTE)]


def clean(words: str) -> str:
    """A text on one line that is safe on a terminal and in XML: what cannot be printed is shown as �.

    >>> clean("two\\nlines \\x1b[31m")
    'two lines �[31m'
    """
    joiners = "\u200c\u200d"  # not printable by themselves, but some scripts are not readable without
    return "".join(
        letter if letter.isprintable() or letter in joiners else " " if letter.isspace() else "�"
        for letter in words
    )


def wide(words: str, size: float = SIZE) -> float:
    """About how wide a text is, in pixels."""
    ems = (
        THIN if letter in NARROW else THICK if letter in WIDE else EM * cell_len(letter)
        for letter in clean(words)
    )
    return size * sum(ems)


def short(words: str, cells: int) -> str:
    """A clean text, cut to so many cells of a terminal.

    >>> short("a rather long name", 10)
    'a rather…'
    """
    words = clean(words)
    return words if cell_len(words) <= cells else set_cell_size(words, cells - 1).rstrip() + "…"


def plain(number: float, digits: int = 4) -> str:
    """A number for people, with so many significant digits.

    >>> plain(12345.6), plain(0.25), plain(-0.0), plain(1e7)
    ('12,350', '0.25', '0', '10,000,000')
    """
    return f"{float(f'{number:.{digits}g}') + 0.0:,.12g}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def ticks(low: float, high: float) -> list[float]:
    """A few round numbers between two bounds.

    >>> ticks(17, 90)
    [20.0, 40.0, 60.0, 80.0]
    """
    if not low < high:
        return [low]
    rough = high / 4 - low / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * times for times in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / rough)))
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def tag(name: str, inside: str = "", /, **attributes: str | float) -> str:
    """An element. What is inside is SVG already; attributes are escaped here.

    >>> tag("circle", r=1.23456, stroke_width=2, fill='"')
    '<circle r="1.23" stroke-width="2" fill="&quot;"/>'
    """
    written = "".join(
        f' {key.replace("_", "-")}="{escape(value) if isinstance(value, str) else f"{round(value, 2):.9g}"}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def group(inside: Sequence[str], x: float = 0, y: float = 0) -> str:
    return tag("g", "".join(inside), transform=f"translate({x:.1f} {y:.1f})")


def box(x: float, y: float, width: float, height: float, **attributes: str | float) -> str:
    return tag("rect", x=x, y=y, width=width, height=height, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = FAINT) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke)


def hint(words: str) -> str:
    """What an element says when it is pointed at."""
    return tag("title", escape(clean(words)))


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    *,
    room: float = math.inf,
    size: float = SIZE,
    fill: str = INK,
    weight: str = "normal",
) -> str:
    """Words on a line with its middle at `y`, cut to fit the room: the whole is said when pointed at."""
    whole = clean(words)
    most = len(whole) if room == math.inf else int(room / (THIN * size))
    fits = whole[:most]
    if fits != whole or wide(fits, size) > room:
        while fits and wide(fits + "…", size) > room:
            fits = fits[:-1]
        fits = fits.rstrip() + "…"
    inside = escape(fits) + (hint(whole) if fits != whole else "")
    style = {"text_anchor": anchor, "fill": fill, "font_weight": weight}
    return tag("text", inside, x=x, y=y + 0.36 * size, font_size=size, **style)


def aside(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Words that matter less."""
    return text(x, y, words, anchor, size=SMALL, fill=QUIET)


def document(title: str, body: Sequence[str], width: float, height: float, note: str) -> str:
    """A whole picture: what is in `body` below the title and above the note, with a margin around it all.

    It is on white paper of its own, so it can be read on dark pages too, and needs nothing but itself.
    """
    width = max(width, min(WIDEST_TITLE, BOLD * wide(title, 15)), wide(note, SMALL))
    whole, high = width + 2 * MARGIN, TITLE + height + (26 if note else 0) + 2 * MARGIN
    inside = [
        box(0, 0, whole, high, rx=10, fill=PAPER),
        text(MARGIN, MARGIN + 8, title, room=width / BOLD, size=15, weight="bold"),
        group(body, MARGIN, MARGIN + TITLE),
        aside(MARGIN, high - MARGIN - 4, note) if note else "",
    ]
    frame = {"viewBox": f"0 0 {whole:.1f} {high:.1f}", "style": "max-width:100%;height:auto"}
    about = {"font_family": "sans-serif", "role": "img", "aria_label": clean(title)}
    size = {"width": whole, "height": high}
    return tag("svg", "".join(inside), xmlns="http://www.w3.org/2000/svg", **size, **frame, **about)
