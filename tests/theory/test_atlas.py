"""The atlas: who finds masked parity and parity, with how many people."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from sulq.cli import main
from sulq.pictures import lines
from sulq.theory import atlas

ONE = Fraction(1)


def successes(trial: atlas.Trial, size: int, runs: int = 6) -> int:
    return sum(trial(size, np.random.default_rng([size, run])) for run in range(runs))


def test_trust_and_interaction_find_masked_parity_and_a_crowd_asked_once_guesses() -> None:
    """d = 8. Where a learner should find it always, it does so in six of six; one that guesses a bit finds
    it in all of 24 runs once in 10⁷ times."""
    assert successes(atlas._masked(8, atlas._curator(ONE)), 10_000) == 6
    assert successes(atlas._masked(8, atlas._crowd(ONE)), 300_000) == 6
    assert successes(atlas._masked(8, atlas._crowd(ONE, once=True)), 100_000, runs=24) < 24


def test_a_curator_finds_parity_where_a_hundred_times_as_many_reports_do_not() -> None:
    """d = 16: a guess among 65,536 parities is right in one of twelve runs once in 5,000 times, in two of
    them once in 10⁷."""
    assert successes(atlas._parity_by_equations(16, ONE), 3_000) >= 5
    assert successes(atlas._parity_by_reports(16, ONE), 3_000) <= 1
    assert successes(atlas._parity_by_reports(16, ONE), 300_000) <= 1


def test_reports_do_find_a_parity_of_few_bits() -> None:
    assert successes(atlas._parity_by_reports(4, ONE), 50_000) == 6


def test_a_plate_is_drawn(tmp_path: Path) -> None:
    plate = atlas.Plate(
        "x",
        "A <title>",
        "note",
        (
            lines.Line("some & others", ((100.0, 0.0), (1000.0, 0.5)), (0.0, 0.1)),
            lines.Line("all", ((100.0, 1.0),)),
        ),
    )
    across, up = plate.axes
    svg = lines.picture(plate.title, across, up, plate.lines, plate.note)
    words = " ".join(ElementTree.fromstring(svg).itertext())
    for said in ("A <title>", "some & others", "all", "people", "100", "1k", "note"):
        assert said in words


def test_names_of_lines_that_end_together_do_not_overlap() -> None:
    same = [lines.Line(f"line {i}", ((1.0, 1.0), (2.0, 1.0))) for i in range(4)]
    svg = lines.picture("t", lines.Scale("x", 1, 2), lines.Scale("y", 0, 1), same)
    words = [node for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]
    names = [node for node in words if (node.text or "").startswith("line ")]
    heights = sorted(float(node.attrib["y"]) for node in names)
    assert len(heights) == 4 and min(np.diff(heights)) >= 14


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--epsilon", "0"],
        ["--epsilon", "much"],
        ["--epsilon", "1", "--dimension", "5"],
        ["--epsilon", "1", "--dimension", "32"],
        ["--epsilon", "1", "--runs", "0"],
        ["--epsilon", "1", "--out", "/nowhere/at/all"],
    ],
)
def test_bad_input_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["atlas", *arguments]) == 2
    assert capsys.readouterr().err.startswith("sulq: ")
