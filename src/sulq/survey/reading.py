"""From a TOML file to a survey: every mistake is one line that says what would be valid."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sulq.errors import SulqError
from sulq.ledger.places import SCHEMES
from sulq.numbers import rational
from sulq.survey.file import DIVIDES, KEEPS, SurveyFile
from sulq.survey.questions import KINDS, SurveyChoice, SurveyQuestion, Words
from sulq.wire import shown

OF_SURVEY = (
    "title", "about", "languages", "epsilon", "divides", "people", "precision", "confidence", "invited",
    "keeps", "opens", "closes", "busiest", "store",
)  # fmt: skip
OF_QUESTION = (
    "kind", "text", "help", "choices", "low", "high", "step", "unit", "weight", "by", "alone", "precision",
)  # fmt: skip


def read_survey(path: str | Path) -> SurveyFile:
    """The survey that a TOML file describes. Paths in it are relative to the file.

    Args:
        path: the file; `sulq survey new FILE` writes one to begin with.
    """
    path = Path(path)
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SulqError(f"cannot read {path}: {error.strerror}; `sulq survey new` writes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SulqError(f"{path} is not TOML: {error}") from None
    try:
        survey = survey_of(form, default_store=path.with_suffix(".reports").name)
    except SulqError as error:
        raise SulqError(f"{path}: {error}") from None
    if survey.store.startswith(SCHEMES):
        return survey
    return replace(survey, store=str(path.absolute().parent / survey.store))


def survey_of(form: Mapping[str, Any], default_store: str = "survey.reports") -> SurveyFile:
    """The survey with this form.

    Args:
        form: the tables `survey` and `questions`.
        default_store: where it is kept, if the form does not say.

    >>> questions = {"paid": {"kind": "yes-no", "text": "Did you ever pay a bribe?"}}
    >>> about = {"title": "Bribes", "people": 2000}
    >>> survey_of({"survey": about | {"epsilon": 2}, "questions": questions}).people
    2000
    >>> survey_of({"survey": about, "questions": questions})
    Traceback (most recent call last):
    sulq.errors.SulqError: [survey] needs epsilon: what a person is promised, as epsilon = 2; there is ...
    """
    _only(form, ("survey", "questions"), "a survey file")
    about, questions = (_table(form.get(name, {}), f"[{name}]") for name in ("survey", "questions"))
    _only(about, OF_SURVEY, "[survey]")
    if "epsilon" not in about:
        raise SulqError(
            "[survey] needs epsilon: what a person is promised, as epsilon = 2; there is no default"
        )
    for name, why in (("title", "what people read first"), ("people", "how many people are expected")):
        if name not in about:
            raise SulqError(f"[survey] needs {name}: {why}")
    given = dict(about)
    languages = _languages(given.pop("languages", ["en"]))
    chosen = {
        "title": _words(given.pop("title"), languages, "title"),
        "about": None if "about" not in given else _words(given.pop("about"), languages, "about"),
        "languages": languages,
        "epsilon": rational("epsilon", given.pop("epsilon")),
        "divides": _one_of(given.pop("divides", "epsilon"), DIVIDES, "divides"),
        "keeps": _one_of(given.pop("keeps", "tallies"), KEEPS, "keeps"),
        "opens": _moment(given.pop("opens", None), "opens"),
        "closes": _moment(given.pop("closes", None), "closes"),
        "store": given.pop("store", default_store),
        "questions": tuple(_question(name, each, languages) for name, each in questions.items()),
    }
    _check_types(
        given, {"precision": (float, int), "confidence": (float, int), "invited": (bool,)}, "[survey]"
    )
    if not isinstance(chosen["store"], str) or not chosen["store"]:
        raise SulqError(
            f"store is the path of a file or an address of Postgres, not {shown(chosen['store'])}"
        )
    return SurveyFile(**chosen, **given)


def _question(name: str, form: object, languages: tuple[str, ...]) -> SurveyQuestion:
    here = f"[questions.{name}]"
    given = dict(_table(form, here))
    _only(given, OF_QUESTION, here)
    for needed in ("kind", "text"):
        if needed not in given:
            raise SulqError(f"{here} needs {needed}")
    number = (float, int)
    types = {"low": number, "high": number, "step": number, "precision": number}
    _check_types(given, types | {"unit": (str,), "by": (str,), "alone": (bool,)}, here)
    given["kind"] = _one_of(given["kind"], KINDS, f"kind in {here}")
    for text in ("text", "help"):
        if text in given:
            given[text] = _words(given[text], languages, f"{text} in {here}")
    if "weight" in given:
        given["weight"] = rational(f"weight in {here}", given["weight"])
    if "choices" in given:
        given["choices"] = _choices(given["choices"], languages, here)
    return SurveyQuestion(name, **given)


def _choices(form: object, languages: tuple[str, ...], here: str) -> tuple[SurveyChoice, ...]:
    """Choices are a list of texts, or a table of what each is called and what people read."""
    if isinstance(form, Sequence) and not isinstance(form, str) and all(isinstance(e, str) for e in form):
        return tuple(SurveyChoice(each, dict.fromkeys(languages, str(each))) for each in form)
    if isinstance(form, Mapping):
        return tuple(
            SurveyChoice(value, _words(text, languages, f"choice {value!r} in {here}"))
            for value, text in form.items()
        )
    raise SulqError(f'choices in {here} are a list of texts, or a table, as {{never = "Never"}}')


def _words(given: object, languages: tuple[str, ...], what: str) -> Words:
    if isinstance(given, str) and len(languages) == 1:
        return {languages[0]: given}
    if isinstance(given, Mapping) and all(isinstance(text, str) for text in given.values()):
        missing = [language for language in languages if language not in given]
        strange = [language for language in given if language not in languages]
        if not missing and not strange:
            return dict(given)
        wrong = [f"{each} is missing" for each in missing] + [
            f"{each} is not one of them" for each in strange
        ]
        raise SulqError(f"{what} has a text in each of {', '.join(languages)}: {', '.join(wrong)}")
    example = ", ".join(f'{language} = "…"' for language in languages)
    raise SulqError(f"{what} is a text in each language, as {{{example}}}, not {shown(given)}")


def _languages(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) and each for each in given):
        raise SulqError(f'languages are a list of short names, as ["en", "de"], not {shown(given)}')
    if len(set(given)) < len(given):
        raise SulqError("a language is named twice")
    return tuple(given)


def _moment(given: object, what: str) -> datetime | None:
    if given is None:
        return None
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise SulqError(f"{what} needs a time zone, as {what} = 2027-01-31T12:00:00Z")
        return given.astimezone(UTC)
    if isinstance(given, date):
        return datetime(given.year, given.month, given.day, tzinfo=UTC)
    raise SulqError(f"{what} is a date, as {what} = 2027-01-31, not {shown(given)}")


def _one_of(given: object, known: Sequence[str], what: str) -> Any:
    if given not in known:
        raise SulqError(f"{what} is one of {', '.join(known)}, not {shown(given)}")
    return given


def _table(form: object, where: str) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise SulqError(f"{where} is a table, not {shown(form)}")
    return form


def _only(form: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for name in form:
        if name not in known:
            raise SulqError(f"{where} has no setting {shown(name)}; it takes {', '.join(known)}")


def _check_types(form: Mapping[str, Any], types: Mapping[str, tuple[type, ...]], where: str) -> None:
    for name, allowed in types.items():
        if name in form and type(form[name]) not in allowed:
            raise SulqError(f"{name} in {where} is {_TYPES[allowed[0]]}, not {shown(form[name])}")


_TYPES: Mapping[type, str] = {
    float: "a number", bool: "true or false", str: "a text",
}  # fmt: skip
