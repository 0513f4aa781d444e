"""Names of the version before still work, and say the new name."""

import importlib
import subprocess
import sys

import pytest

import sulq
from sulq.renamed import MODULES, TOP


@pytest.mark.parametrize("name", sorted(TOP))
def test_a_top_level_name_of_before_is_found_with_a_warning(name: str) -> None:
    home, _, new = TOP[name].rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"sulq\.{name} is {TOP[name]} now"):
        assert getattr(sulq, name) is getattr(importlib.import_module(home), new)


def test_no_name_is_both_old_and_new() -> None:
    assert set(TOP).isdisjoint(sulq.__all__)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_of_before_is_the_module_of_today(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="works for this version only"):
        for loaded in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
            del sys.modules[loaded]
        old = importlib.import_module(name)
    new = importlib.import_module(MODULES[name])
    assert old is new
    assert new.__spec__ is not None and new.__spec__.name == MODULES[name]


def test_the_expression_that_was_called_parity_is_found_with_a_warning() -> None:
    codes = importlib.import_module("sulq.queries.codes")
    with pytest.warns(
        DeprecationWarning, match=r"sulq\.queries\.codes\.Parity is sulq\.queries\.codes\.Xor now"
    ):
        assert codes.Parity is codes.Xor


def test_an_unknown_name_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="module 'sulq' has no attribute 'Nonsense'"):
        sulq.Nonsense  # noqa: B018


def test_importing_sulq_warns_of_nothing() -> None:
    code = "import warnings; warnings.simplefilter('error'); import sulq, sulq.theory, sulq.local"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("module", "name", "today"),
    [
        ("sulq.queries.codes", "Lookup", "sulq.queries.lookups.Lookup"),
        ("sulq.queries.codes", "lookup", "sulq.queries.lookups.lookup"),
        ("sulq.sources.source", "open", "sulq.sources.opening.open"),
        ("sulq.sources.subset", "Cohort", "sulq.sources.subset.Subset"),
    ],
)
def test_a_name_that_left_its_module_is_still_found_there(module: str, name: str, today: str) -> None:
    home, _, new = today.rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{module}.{name} is {today} now"):
        assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(home), new)
