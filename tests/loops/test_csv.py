"""CSV is cut by the compiled loops as by NumPy's, and what is text is what Python takes for text."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sulq.loops import compiled, plain
from tests.effort import examples
from tests.loops.twins import built, same

CSV = st.lists(
    st.sampled_from([b'"', b'""', b",", b",", b"\n", b"\n", b"\r", b"\r\n", b"\0", b"a", b"12"])
    | st.binary(max_size=3)
    | st.sampled_from(["é€😀\U0010ffff", "\ud7ff\ue000"]).map(str.encode)
    | st.sampled_from(
        [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xe0\x9f\xbf"]
    )
).map(b"".join)


@built
@settings(max_examples=examples(1000))
@given(
    CSV,
    st.sampled_from(b",;\t|"),
    st.booleans(),
    st.booleans(),
    st.sets(st.integers(0, 5), max_size=4),
    st.integers(0, 9),
)
def test_csv_is_cut_and_gathered_alike(
    text: bytes, delimiter: int, across: bool, last: bool, wanted: set[int], room: int
) -> None:
    given_ = np.frombuffer(text.replace(b",", bytes([delimiter])), dtype=np.uint8)
    settings_ = (delimiter, across, last, sorted(wanted), room)
    one, other = compiled.cut_csv(given_, *settings_), plain.cut_csv(given_, *settings_)
    same(one.starts, other.starts)
    same(one.lengths, other.lengths)
    assert one.consumed == other.consumed
    assert one.consumed == len(given_) or not last or one.starts.shape[1] == room
    for starts, lengths in zip(one.starts, one.lengths, strict=True):
        for mine, theirs in zip(
            compiled.gather_csv(given_, starts, lengths),
            plain.gather_csv(given_, starts, lengths),
            strict=True,
        ):
            same(mine, theirs)


@built
@given(st.binary(max_size=12) | CSV)
def test_what_is_text_is_what_python_takes_for_text(cell: bytes) -> None:
    one = np.array([0], dtype=np.int64)
    _, data, present = compiled.gather_csv(np.frombuffer(cell, dtype=np.uint8), one, one + len(cell))
    try:
        cell.decode()
    except UnicodeDecodeError:
        assert not present[0]
    else:
        assert present[0]
        assert data.tobytes() == cell
