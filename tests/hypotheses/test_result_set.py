"""What is said of a SELECT's result: whatever its names are, in reports and on terminals."""

from __future__ import annotations

import sulq
from sulq.hypotheses.result_set import ResultSet

LEVELS = ["a\x1b[2J", "b\nc"]
TEXT = 'SELECT ward, count(*) AS "n\x1b[1m\nof", avg(cost) AS c FROM people GROUP BY ward ORDER BY c'


def result(epsilon: str) -> ResultSet:
    schema = {"ward": sulq.Category(LEVELS, missing="b\nc"), "cost": sulq.Real(0, 9)}
    rows = {"ward": LEVELS * 50, "cost": [1.0, 8.0] * 50}
    return sulq.sql(TEXT, sulq.open(rows, schema).curator(epsilon=epsilon))


def test_names_and_values_cannot_write_to_a_terminal() -> None:
    noisy = result("0.001")
    words = [noisy.describe(), noisy.note, noisy.outlook, noisy.headline, *noisy.doubts]
    assert not any("\x1b" in each for each in words)
    assert len(noisy.describe().splitlines()) == 1 + len(LEVELS) + 1 + len(noisy.doubts)
    statement = sulq.Statement("SELECT count(*) FILTER (WHERE ward = 'a\x1b[2J') FROM people")
    assert "\x1b" not in statement.explain(sulq.open({"ward": []}, {"ward": sulq.Category(LEVELS)}).exact())


def test_a_result_opens_with_what_was_asked_and_says_what_noise_could_have_made() -> None:
    noisy = result("0.001")
    assert noisy.headline.startswith("n�[1m of and c, as asked by SELECT ward, count(*)")
    assert noisy.doubts == tuple(
        f"{name}: 2 of 2 are within the noise (in brackets)." for name in ("n�[1m of", "c")
    )
    assert noisy.note.splitlines()[1:] == list(noisy.doubts)
    assert "HAVING, ORDER BY and LIMIT go by the noisy figures." in noisy.note
    assert result("1000").doubts == ()
