"""What tests of commands share."""

from pathlib import Path

import pytest

from tests.commands.people import write_people


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    """Data and a schema in the test's folder; what to say of them on a command line."""
    return write_people(tmp_path)
