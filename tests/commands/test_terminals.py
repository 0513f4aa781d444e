"""Whatever a terminal can show and whether or not anybody reads, a run ends well and its files are written."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

import sulq
from sulq.cli import main
from sulq.commands.terminal import Listener, plain
from sulq.ledger.ledger import Ledger
from tests.commands.people import write_people
from tests.effort import either, long

SELECT = "SELECT income, count(*), median(age) FROM people GROUP BY income"
TREE = ["--label", "flu", "--depth", "1", "--epsilon", "1", "--share", "1/2"]

UTF_8 = ("draft", "check as JSON")
"""What is printed by these is for files, which are in UTF-8 whatever a terminal can show."""


class Place:
    """A folder with people, a ledger with one run, and the commands that can be run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.people = write_people(folder)
        self.report, self.json, self.svg = folder / "tree.html", folder / "tree.json", folder / "plan.svg"
        files = ["--report", str(self.report), "--json", str(self.json)]
        ledger = str(folder / "people.csv.ledger")
        self.commands = {
            "learn": ["learn", "tree", *self.people, *TREE, *files],
            "learn again": ["learn", "tree", *self.people, *TREE],
            "learn exactly": ["learn", "tree", *self.people, "--label", "flu", "--exact"],
            "rehearse": ["learn", "kmeans", *self.people, "--k", "2", "--epsilon", "1", "--dry-run"],
            "release": ["learn", "stump", *self.people, "--label", "flu", "--epsilon", "1", "--share", "1/4"],
            "table": [
                *(
                    "table",
                    *self.people,
                    "--by",
                    "income",
                    "--mean",
                    "age",
                    "--epsilon",
                    "1",
                    "--share",
                    "1/8",
                ),
                *("--csv", str(folder / "table.csv"), "--report", str(folder / "table.html")),
            ],
            "check": ["check", *self.people],
            "check as JSON": ["check", *self.people, "--json"],
            "select": ["sql", *self.people, SELECT, "--exact"],
            "explain": ["sql", *self.people, f"EXPLAIN {SELECT}", "--epsilon", "1"],
            "rehearse a select": ["sql", *self.people, SELECT, "--epsilon", "1", "--dry-run"],
            "plan": ["plan", "conjunction", "--dimension", "4", "--epsilon", "1", "--svg", str(self.svg)],
            "plan a tree": [
                *("plan", "tree", "--schema", self.people[2], "--rows", "1000", "--label", "flu"),
                *("--epsilon", "1"),
            ],
            "atlas": ["atlas", "--dimension", "2", "--epsilon", "1", "--runs", "1", "--out", str(folder)],
            "demo": ["demo"],
            "show": ["ledger", "show", ledger, "--entries"],
            "verify": ["ledger", "verify", ledger],
            "schema": ["schema", "show", self.people[2], "--data", self.people[0]],
            "draft": ["schema", "draft", self.people[0]],
            "refused": ["learn", "tree", *self.people, "--label", "ε−×", "--epsilon", "1"],
        }

    def spent(self) -> Fraction:
        with Ledger.read(self.folder / "people.csv.ledger") as ledger:
            return ledger.spent


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def atlas_of_two_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sulq.theory.atlas._powers", lambda first, last: [100, 300])


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[io.BytesIO, io.BytesIO]]:
    """Put streams of an encoding in the place of the standard ones; they raise at letters they do not have."""

    def put(encoding: str) -> tuple[io.BytesIO, io.BytesIO]:
        written = io.BytesIO(), io.BytesIO()
        for name, bytes_ in zip(("stdout", "stderr"), written, strict=True):
            monkeypatch.setattr(sys, name, io.TextIOWrapper(bytes_, encoding=encoding, errors="strict"))
        return written

    return put


@contextmanager
def nobody_reads() -> Iterator[None]:
    """Put pipes whose readers have gone in the place of the standard streams."""
    opened = []
    for _ in range(2):
        reader, writer = os.pipe()
        os.close(reader)
        opened.append(io.TextIOWrapper(io.FileIO(writer, "w"), encoding="utf-8", write_through=True))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdout", opened[0])
        patched.setattr(sys, "stderr", opened[1])
        yield
    for stream in opened:
        stream.close()


@pytest.mark.usefixtures("atlas_of_two_sizes")
@pytest.mark.parametrize(
    "encoding", ["ascii", pytest.param("latin-1", marks=long), pytest.param("cp1252", marks=long)]
)
def test_every_command_shows_what_it_can_on_a_terminal_that_lacks_letters(
    place: Place, streams: Callable[[str], tuple[io.BytesIO, io.BytesIO]], encoding: str
) -> None:
    for name, command in place.commands.items():
        output, errors = streams(encoding)
        assert main(command) == (2 if name == "refused" else 0), name
        files = "utf-8" if name in UTF_8 else encoding
        shown = output.getvalue().decode(files) + errors.getvalue().decode(encoding)
        assert len(shown) > 20, name
        if name in ("learn", "plan"):
            assert "epsilon" in shown
        if name == "refused":
            assert "cannot read 'epsilon-" in shown
    assert place.spent() == Fraction(7, 8)
    assert "ε" in place.report.read_text(encoding="utf-8")


@pytest.mark.usefixtures("atlas_of_two_sizes")
@long
def test_every_command_ends_as_usual_when_nobody_reads(place: Place) -> None:
    for name, command in place.commands.items():
        with nobody_reads():
            assert main(command) == (2 if name == "refused" else 0), name
    assert place.report.read_text(encoding="utf-8").endswith("</html>\n")
    assert sulq.hypotheses.Tree.from_json(place.json.read_text()).origin.run
    assert place.svg.exists()
    assert {"table.csv", "table.html"} <= {path.name for path in place.folder.iterdir()}
    assert {path.name for path in place.folder.glob("*parity.svg")} == {"masked-parity.svg", "parity.svg"}
    assert place.spent() == Fraction(7, 8)


def test_a_check_that_fails_says_so_when_nobody_reads(place: Place) -> None:
    assert main(place.commands["learn"]) == 0
    with nobody_reads():
        assert main([*place.commands["verify"], "--seal", "0" * 64]) == 1


def run(place: Place, name: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own, as a shell would run it."""
    start = [sys.executable, "-m", "sulq", *place.commands[name]]
    known = {
        key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHONIO"))
    }
    command = ["bash", "-c", f'set -o pipefail; "$@" {shell}', "bash", *start] if shell else start
    return subprocess.run(command, capture_output=True, env=known | environment, timeout=120, check=False)


@long
def test_a_run_ends_well_where_the_locale_knows_only_ascii(place: Place) -> None:
    settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run(place, "learn", **settings)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)
    assert b"epsilon = 0.5" in done.stdout
    assert place.report.exists()


def test_a_run_ends_quietly_when_its_reader_has_gone(place: Place) -> None:
    done = run(place, "learn", "2>&1 | true")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert place.report.exists()
    assert place.json.exists()
    assert place.spent() == Fraction(1, 2)


def test_a_run_whose_output_finds_no_room_has_written_its_files_and_says_so(place: Place) -> None:
    done = run(place, "learn", "> /dev/full")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        b"sulq: cannot print: No space left on device; the same command again costs nothing"
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert place.report.exists()


def test_a_draft_that_goes_to_a_file_has_every_letter_whatever_the_locale(place: Place) -> None:
    path = place.folder / "people.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("age,", "größe,", 1), encoding="utf-8")
    locales = (
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
    )
    for settings in locales[: either(1, 2)]:
        done = run(place, "draft", **settings)
        assert (done.returncode, done.stderr) == (0, b"")
        assert '[columns."größe"]' in done.stdout.decode()


@long
def test_a_ledger_never_gets_the_number_of_a_stream_that_is_closed(place: Place) -> None:
    """What a library prints to standard error would be written into the ledger."""
    script = (
        "import os, sys\n"
        "from sulq import cli\n"
        "from sulq.plans.watching import Watched\n"
        "ask = Watched.ask\n"
        "def noisy(self, *given):\n"
        "    for number in (1, 2):\n"
        "        try:\n"
        "            os.lseek(number, 0, os.SEEK_SET)\n"
        "            os.write(number, b'a warning of a library')\n"
        "        except OSError:\n"
        "            pass  # a library has the number, for a file that it reads, as libffi does\n"
        "    return ask(self, *given)\n"
        "Watched.ask = noisy\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", script, *place.commands["learn"]]
    done = subprocess.run(
        ["bash", "-c", '"$@" >&- 2>&-', "bash", *command], capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0
    assert main(place.commands["verify"]) == 0
    assert place.spent() == Fraction(1, 2)


@long
def test_help_is_cut_off_quietly(place: Place) -> None:
    place.commands["help"] = ["learn", "tree", "--help"]
    done = run(place, "help", "| true")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_names_that_are_no_text_can_be_shown(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(place.folder)
    ledger, report = os.fsdecode(b"a\xff.ledger"), os.fsdecode(b"a\xff.html")
    assert main(["learn", "tree", *place.people, *TREE, "--ledger", ledger, "--report", report]) == 0
    shown = capsysbinary.readouterr().out
    assert b"a?.ledger" in shown
    assert b"written: a?.html" in shown
    assert "<code>a?.ledger</code>" in Path(report).read_text(encoding="utf-8")


def test_what_has_no_likeness_becomes_a_question_mark() -> None:
    assert plain("┌─┐│█▌● café 結 \udc80", "ascii") == "+-+|##o cafe ? ?"
    assert plain("┌─┐│█▌● café 結", "utf-8") == "┌─┐│█▌● café 結"


def test_a_stream_that_is_not_there_takes_everything() -> None:
    stream = Listener(None)
    assert stream.write("ε") == 1
    stream.flush()
    assert (stream.isatty(), stream.failure) == (False, None)
