"""What a browser does is tried by `make test-all`, which installs one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effort import long


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all tests of this folder to the thorough effort."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(long)
