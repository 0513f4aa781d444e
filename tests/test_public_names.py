"""Every public name has an example and says what each of its parameters is; every class has a name of its own."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "sulq"
MODULES = ["sulq", "sulq.classes", "sulq.hypotheses", "sulq.local", "sulq.theory", "sulq.sklearn"]
SHARED = dict.fromkeys(
    ("Classifier", "KMeans", "LinearRegression", "LogisticRegression", "NaiveBayes", "PCA", "Regressor"),
    "scikit-learn's users know the estimator by this name, and sulq's users the learner",
)


def public_names() -> dict[str, Any]:
    """Every public class and function, by the name it is imported by. Names of types alone are left out."""
    names = {
        f"{module}.{name}": getattr(importlib.import_module(module), name)
        for module in MODULES
        for name in importlib.import_module(module).__all__
    }
    errors = importlib.import_module("sulq.errors")
    names |= {f"sulq.errors.{name}": value for name, value in vars(errors).items() if name.endswith("Error")}
    return {
        name: value for name, value in names.items() if inspect.isclass(value) or inspect.isfunction(value)
    }


def explained(value: Any) -> list[str]:
    """The parameters in the section `Args:` of a docstring, in order."""
    section = re.search(r"^Args:\n((?: {4}.*\n?)*)", inspect.getdoc(value) or "", re.MULTILINE)
    return re.findall(r"^ {4}\*{0,2}(\w+):", section[1], re.MULTILINE) if section else []


def parameters(value: Any) -> list[str]:
    """The parameters of a function or of a class's constructor; of what nobody calls, none."""
    plain_message = isinstance(value, type) and issubclass(value, Exception) and "__init__" not in vars(value)
    if getattr(value, "_is_protocol", False) or plain_message:
        return []
    return [name for name in inspect.signature(value).parameters if not name.startswith("_")]


def examples(value: Any) -> bool:
    documented = [value, *(vars(value).values() if inspect.isclass(value) else ())]
    return any(">>> " in (inspect.getdoc(each) or "") for each in documented if each is not None)


@pytest.mark.parametrize("name", sorted(public_names()))
def test_a_public_name_has_an_example(name: str) -> None:
    assert examples(public_names()[name])


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_parameter_of_a_public_name_is_explained_in_order(name: str) -> None:
    value = public_names()[name]
    assert explained(value) == parameters(value)


def test_the_walk_sees_a_parameter_that_is_not_explained() -> None:
    def planted(rows: int, share: float) -> None:
        """A function.

        Args:
            rows: how many rows.
        """

    assert (explained(planted), parameters(planted), examples(planted)) == (
        ["rows"],
        ["rows", "share"],
        False,
    )


def test_every_class_has_a_name_of_its_own() -> None:
    classes = Counter(
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^ *class (\w+)[:(\[]", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {name for name, times in classes.items() if times > 1} == set(SHARED)
