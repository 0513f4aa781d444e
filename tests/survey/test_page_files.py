"""The page's files: complete offline, in every language, readable in light and dark, and strict about where scripts come from."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import sulq
import sulq.survey
from sulq.errors import QueryError
from sulq.local import item_of
from sulq.queries.scope import Scope
from sulq.survey import devices
from sulq.survey.devices import KNOWN, refuse_unknown

FOLDER = Path(sulq.survey.__file__).parent
PAGE = FOLDER / "static" / "page"
LANGUAGES = {"en": "words.js", "de": "words_de.js", "fr": "words_fr.js", "es": "words_es.js"}


def words(file: str) -> dict[str, str]:
    text = (PAGE / file).read_text(encoding="utf-8")
    return dict(re.findall(r'^  (\w+):\s+"(.*)",$', text, re.MULTILINE))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything_with_the_same_values(language: str) -> None:
    english, other = words("words.js"), words(LANGUAGES[language])
    assert len(english) > 60 and other.keys() == english.keys()
    for word, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", other[word])) == sorted(re.findall(r"\{\w+\}", text)), word


def test_every_word_that_the_page_says_is_known() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in PAGE.glob("*.js") if "words" not in file.name)
    code += "".join(file.read_text(encoding="utf-8") for file in (FOLDER / "templates").glob("*.html"))
    used = set(re.findall(r'(?:say|heading|notice|button)\("(\w+)"', code)) | set(
        re.findall(r'data-words="(\w+)"', code)
    )
    assert len(used) > 30 and used <= words("words.js").keys()


def test_all_that_the_page_needs_is_kept_for_when_there_is_no_connection() -> None:
    worker = (FOLDER / "static" / "worker.js").read_text(encoding="utf-8")
    lists = re.findall(r"\.\.\.(\[[^\]]*\])\.map\(\s*\(name\) => `([^`]*)`,?\s*\)", worker)
    kept = {
        path.replace("${name}", name) for names, path in lists for name in re.findall(r'"([^"]+)"', names)
    }
    served = {
        f"/static/{file.relative_to(FOLDER / 'static')}"
        for file in (FOLDER / "static").rglob("*")
        if file.is_file()
    }
    assert served - kept == {"/static/worker.js", "/static/device/knows.json"} and kept <= served


@pytest.mark.parametrize("name", ["page.html", "protects.html"])
def test_pages_have_no_script_style_or_handler_of_their_own(name: str) -> None:
    text = (FOLDER / "templates" / name).read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?://", text)


def test_scripts_write_texts_and_never_markup() -> None:
    for file in (FOLDER / "static").rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        )


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_as_wcag_asks(theme: int) -> None:
    css = (PAGE / "style.css").read_text(encoding="utf-8")
    colours = dict(
        re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css.split("prefers-color-scheme: dark")[theme])
    )
    for text in ("ink", "quiet", "accent", "wrong"):
        for ground in ("paper", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
    for mark in ("real", "other"):
        assert contrast(colours[mark], colours["paper"]) >= 3


def test_items_that_browsers_do_not_know_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = Scope(sulq.Schema({"age": sulq.Integer(0, 120)}))
    function = sulq.row_function(lambda rows: rows["age"] / 2, ["age"], 0, 60)
    with pytest.raises(QueryError, match="'function'"):
        refuse_unknown(item_of(function, scope, Fraction(1)))
    with pytest.raises(QueryError, match="one row"):
        refuse_unknown(item_of(sulq.col("age"), scope, Fraction(1), rows=2))
    monkeypatch.setattr(devices, "KNOWN", replace(KNOWN, numbers=3))
    refuse_unknown(item_of(sulq.vector(*["age"] * 3), scope, Fraction(1)))
    with pytest.raises(QueryError, match="3 numbers of a row, not 4"):
        refuse_unknown(item_of(sulq.vector(*["age"] * 4), scope, Fraction(1)))
    assert "paper" not in KNOWN.randomizers
