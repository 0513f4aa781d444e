"""One road for a run: what can be refused is refused before there is a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.errors import LedgerError
from sulq.runs.run import Run


@pytest.mark.parametrize("name", [5, None, "\ud800"])
def test_a_name_that_no_ledger_could_keep_is_refused_before_there_is_a_file(
    name: Any, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"
    run = Run(sulq.ID3("bought_drugs", depth=1), sulq.randhie(), sulq.PureDP(1), ledger=path, name=name)
    with pytest.raises(LedgerError, match="the name of a run"):
        run.learn()
    assert not path.exists()
