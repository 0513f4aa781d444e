"""Row groups whose encoded columns are kept in files: the same integers, whatever became of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import sulq
from sulq.sources import kept_groups
from sulq.sources.engine import CHANGED, OTHER_CODE, Adding, BlockLayout
from sulq.sources.kept_groups import KeptGroups, row_groups
from tests.sources.test_engine import DIFFERENT, FRAME, LAYOUT

ROWS = FRAME.num_rows
EXPECTED = [list(each) for each in sulq.open(FRAME, LAYOUT.schema).sums(DIFFERENT)]


@pytest.fixture(params=["kept", "not kept"])
def room(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an executor may write; and a machine that has no such place."""
    folder = tmp_path / "executor"
    folder.mkdir()
    if request.param == "kept":
        monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{folder},{tmp_path / 'another'}")
    else:
        monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    return folder


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptGroups:
    monkeypatch.setattr(kept_groups, "ROWS_AT_ONCE", 900)
    pq.write_table(FRAME, tmp_path / "t.parquet", row_group_size=500)
    return KeptGroups(LAYOUT, tuple(row_groups([tmp_path / "t.parquet"])), "sulq-test")


def added(groups: KeptGroups, parts: Any = DIFFERENT) -> list[list[Any]]:
    adding = Adding(LAYOUT, parts, ROWS)
    partials = [adding.added(groups.blocks([number], adding.leaves)) for number in range(len(groups.groups))]
    seen, totals = adding.totals(partials)
    assert seen == ROWS
    return [list(each) for each in totals]


def files(room: Path) -> list[Path]:
    return sorted(path for path in room.rglob("*") if path.is_file())


def test_small_row_groups_go_together(groups: KeptGroups) -> None:
    assert [(each.first, each.stop, each.rows) for each in groups.groups] == [
        (0, 2, 1000), (2, 4, 1000), (4, 6, 1000)
    ]  # fmt: skip


def test_kept_files_give_the_same_integers_again_and_again(groups: KeptGroups, room: Path) -> None:
    assert added(groups) == added(groups) == EXPECTED


def test_only_columns_that_are_asked_for_are_encoded(
    groups: KeptGroups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    first = next(iter(LAYOUT.schema))
    added(groups, (sulq.col(first),))
    kept = {path.name for path in files(tmp_path / "sulq-test")}
    assert kept == {LAYOUT.names[sulq.col(first).key]}


def test_files_that_are_lost_or_cut_short_are_made_anew(
    groups: KeptGroups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    added(groups)
    lost, cut, *_ = files(tmp_path / "sulq-test")
    lost.unlink()
    cut.write_bytes(cut.read_bytes()[:-1])
    assert added(groups) == EXPECTED
    assert lost.exists()


def test_later_passes_read_no_file_of_rows_any_more(
    groups: KeptGroups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    added(groups)
    (tmp_path / "t.parquet").unlink()
    assert added(groups) == EXPECTED


def test_a_disk_that_is_full_costs_time_and_nothing_else(
    groups: KeptGroups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "nowhere"))
    assert added(groups) == added(groups) == EXPECTED


def test_a_source_that_is_closed_leaves_nothing(groups: KeptGroups, room: Path) -> None:
    added(groups)
    groups.forget()
    assert files(room) == []


def test_files_that_changed_are_refused(groups: KeptGroups, room: Path, tmp_path: Path) -> None:
    pq.write_table(FRAME.slice(1), tmp_path / "t.parquet", row_group_size=500)
    with pytest.raises(sulq.SulqError, match=CHANGED):
        added(groups)


def test_a_machine_with_other_code_refuses_to_work(groups: KeptGroups) -> None:
    skewed = KeptGroups(BlockLayout(LAYOUT.schema, "0" * 64), groups.groups, "sulq-test")
    with pytest.raises(sulq.SulqError, match=OTHER_CODE):
        list(skewed.blocks([0], {}))
