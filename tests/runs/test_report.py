from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from fractions import Fraction
from hashlib import sha256
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.cli import main
from sulq.plans.watching import Watched
from sulq.privacy.budget import budget
from sulq.runs.outcome import Outcome, RunBudget, promise_in_words
from sulq.runs.report import report
from sulq.runs.run import Run

VOID = {"meta", "br", "rect", "line", "path", "circle"}
HOSTILE = ['<script>alert("1")</script>', "[bold]b[/bold]", "a & b", "'\"><img src=x onerror=y>"]


class Page(HTMLParser):
    """The tags, attributes and text of a page; fails where tags do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_people(folder: Path) -> list[str]:
    """Data whose columns and categories are named to be misunderstood, and the command to learn it."""
    column, label = HOSTILE[:2]
    codes = np.random.default_rng(0).integers(len(HOSTILE), size=4000)
    table = pa.table({column: [HOSTILE[code] for code in codes], label: (codes % 2).astype(bool)})
    pq.write_table(table, folder / "people.parquet")
    values = json.dumps(HOSTILE)  # a list of texts is written alike in JSON and in TOML
    (folder / "people.toml").write_text(
        f'[columns.{json.dumps(column)}]\ntype = "category"\nvalues = {values}\nmissing = "a & b"\n'
        f'[columns.{json.dumps(label)}]\ntype = "boolean"\n'
    )
    data = [str(folder / "people.parquet"), "--schema", str(folder / "people.toml")]
    return ["learn", "tree", *data, "--label", label, "--epsilon", "10", "--run", "<b>[red]run"]


def test_hostile_names_are_only_text_on_the_page_and_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "<i>[red]out.html"
    assert main([*hostile_people(tmp_path), "--report", str(path)]) == 0
    page = Page(path.read_text())
    assert not {"script", "img", "b", "i"} & set(page.tags)
    assert not any(name.startswith("on") for name, _ in page.attributes)
    for name in (*HOSTILE, "<b>[red]run"):
        assert name in page.text
    shown = "".join(capsys.readouterr().out.split())
    for name in (*HOSTILE, "<b>[red]run", "<i>[red]out.html"):
        assert "".join(name.split()) in shown


def outcome(exact: bool = False) -> Outcome:
    people = sulq.randhie()
    watched = Watched(people.exact() if exact else people.curator(epsilon=1))
    tree = sulq.ID3("bought_drugs", ["plan", "sex"], depth=1).learn(watched, "a run")
    account = RunBudget(budget(epsilon=1), "replace", "folder/people.ledger", Fraction(1, 4))
    assert tree.origin is not None
    charged = None if exact else account
    return Outcome(tree, tuple(watched.asked), charged, tree.origin, people.schema)


def test_a_report_needs_nothing_else_and_tells_all_there_is() -> None:
    told = outcome()
    page = Page(text := report(told, "A tree"))
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not {"src", "href", "xlink:href"} & {name for name, _ in page.attributes}
    assert text.replace('xmlns="http://www.w3.org/2000/svg"', "").count("http") == 0
    assert "@import" not in text
    assert "url(" not in text
    assert told.hypothesis.picture() in text
    words = " ".join(page.text.split())
    for part in (
        *told.hypothesis.describe().splitlines(),
        "A tree",
        "ε = 1 (pure)",
        "one person (person) with all of the rows that count, at most 5",
        "run: a run",
        "This run cost ε = 1 of a budget of ε = 1",
        "ε = 0.25 was left in the ledger people.ledger",
        "What this does not say",
        "sulq.Hypothesis.from_json",
        *(asked.describe() for asked in told.asked),
        *(asked.errors() for asked in told.asked),
    ):
        assert part in words
    assert "folder" not in text


def test_the_json_on_the_page_is_the_hypothesis() -> None:
    told = outcome()
    text = Page(report(told, "A tree")).text
    read = sulq.hypotheses.Tree.from_json(text[text.index('{\n "hypothesis"') : text.rindex("}") + 1])
    assert read.to_json() == told.hypothesis.to_json()


def test_a_report_does_not_tell_how_long_it_took() -> None:
    told = outcome()
    slower = tuple(replace(asked, seconds=asked.seconds + 1234.5) for asked in told.asked)
    assert report(replace(told, asked=slower), "A tree") == report(told, "A tree")


def test_a_report_of_exact_answers_warns_and_promises_nothing() -> None:
    words = Page(report(outcome(exact=True), "A tree")).text
    assert "must not be published" in words
    assert "The promise:" not in words
    assert "What it cost" not in words


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": 1}, "e^ε, about 2.72."),
        ({"epsilon": "0.1"}, "e^ε, about 1.11."),
        ({"epsilon": 1, "delta": "1e-6"}, "e^ε, about 2.72, and by no more than δ = 1e-06 beyond that"),
        ({"rho": "0.1"}, "at most ρα"),
        ({"epsilon": 1000}, "about 10^434."),
    ],
)
def test_the_promise_is_told_for_every_budget(given: dict[str, str], said: str, neighbours: str) -> None:
    schema = sulq.Schema({"sick": sulq.Boolean()})
    told = " ".join(promise_in_words(budget(**given), neighbours, schema))  # type: ignore[arg-type]
    assert said in told
    assert ("is public" in told) == (neighbours == "replace")
    assert ("Exchange any one row" in told) == (neighbours == "replace")


def test_the_odds_of_a_guess_grow_by_no_more_than_the_promise() -> None:
    """From 1 : 9 to e : 9 is from 10 % to 23.2 %, and a limit is rounded up."""
    schema = sulq.Schema({"sick": sulq.Boolean()}, sulq.Unit("who", 3))
    told = " ".join(promise_in_words(budget(epsilon=1), "add-remove", schema))
    assert "gave a guess that they are there a chance of 10 %, can give it at most 24 % afterwards" in told
    assert "one person (who) with all of the rows that count, at most 3" in told


def learned(learner: sulq.Learner[sulq.Hypothesis], **terms: str | int) -> str:
    """The report of a run on the sample."""
    return report(Run(learner, sulq.randhie(), budget(**terms)).learn(), "A page")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("terms", "after"),
    [({"epsilon": 1}, 24), ({"epsilon": "0.1"}, 11), ({"rho": "0.01"}, 20), ({"epsilon": 9}, 100)],
)
def test_a_report_opens_with_what_was_learned_and_what_the_promise_means(
    terms: dict[str, str | int], after: int
) -> None:
    page = learned(sulq.ID3("bought_drugs", ["plan", "sex"], depth=1), **terms)
    words = Page(page).text
    headline, meaning = (
        words.index("bought_drugs is"),
        words.index("means: someone who knows everybody else's"),
    )
    assert headline < meaning < words.index("What was learned") < words.index("What was asked")
    assert f"can give it at most {after} in 100 after reading this page" in words
    assert f"at most {after} in 100</text>" in page
    assert ("but for a chance of one in a million" in words) == ("rho" in terms)
    assert ("says next to nothing" in words) == (after == 100)


def test_a_report_says_what_became_of_missing_cells() -> None:
    kinds = {"age": sulq.Integer(0, 99), "cost": sulq.Real(0, 9), "sick": sulq.Boolean()}
    dropped = {"cost": sulq.Real(0, 9, drop_missing=True), "sick": sulq.Boolean(drop_missing=True)}
    for given, words in (
        (kinds, "missing ones became a public constant."),
        (kinds | dropped, "a public constant; tables, sums and means of cost and sick leave them out."),
    ):
        source = sulq.open({"age": [3], "cost": [None], "sick": [None]}, given)
        assert words in report(Run(sulq.Table(means=["cost"]), source, budget(1)).learn(), "people")


def test_a_report_is_dated_and_says_which_version_wrote_it() -> None:
    words = Page(report(outcome(), "A tree")).text
    assert f"learned by sulq {version('sulq')} (ID3) · written on {date.today().isoformat()}" in words


def test_a_report_flags_what_is_within_the_noise() -> None:
    centres = learned(sulq.KMeans(9, ["age", "income"]), epsilon="0.01")
    assert "are within the noise: their sizes and their centres are guesses." in centres
    table = learned(sulq.Table(by=["plan", "health"]), epsilon="0.01")
    assert "are within the noise (in grey)." in table
    # Nine clusters and twenty cells, all of whose counts noise of thousands of rows has drowned.
    for page in (centres, table):
        assert page.index("within the noise") < page.index("What was learned")


def test_a_report_says_how_to_check_it() -> None:
    words = " ".join(Page(report(outcome(), "A tree")).text.split())
    assert "sulq ledger verify people.ledger recomputes every sum and every hash" in words
    assert "shows what the run a run was charged" in words
    assert outcome().schema.hash in words
    memory = Page(learned(sulq.ID3("bought_drugs", ["plan"], depth=1), epsilon=1)).text
    assert "kept in memory, so nobody can check" in memory


def test_a_result_that_is_made_again_has_the_hash_on_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [*hostile_people(tmp_path), "--report", "tree.html"]
    assert main(command) == 0
    page = Page(Path("tree.html").read_text()).text
    assert main([*command[:-2], "--json", "tree.json"]) == 0  # at no cost
    assert sha256(Path("tree.json").read_bytes()).hexdigest() in page
    assert "data: people.parquet" in page


def test_a_report_does_not_have_the_seal_of_the_ledger(tmp_path: Path) -> None:
    """The seal stands for when answers were ready, and that depends on the rows."""
    assert main([*hostile_people(tmp_path), "--report", str(tmp_path / "tree.html")]) == 0
    text = (tmp_path / "tree.html").read_text()
    with sulq.Ledger.read(tmp_path / "people.parquet.ledger") as ledger:
        hashes = {ledger.seal, *(entry.hash for entry in ledger.entries())}
    assert not any(value in text for value in hashes)


def test_a_report_of_a_run_elsewhere_names_no_file_to_verify() -> None:
    made = outcome()
    assert made.account is not None
    account = replace(made.account, ledger="people at sulq.example", elsewhere=True)
    words = Page(report(replace(made, account=account), "A tree")).text
    assert "The ledger is kept where the data is, people at sulq.example." in words
    assert "sulq ledger verify" not in words


def test_many_rounds_are_folded_away() -> None:
    few = outcome()
    many = replace(few, asked=few.asked * 40)
    assert "<summary>" not in report(few, "A tree").split("What was asked")[1].split("<h2>")[0]
    folded = report(many, "A tree").split("What was asked")[1].split("<h2>")[0]
    assert f"<summary>{len(many.asked)} rounds, " in folded
    assert folded.count("<tr>") == len(many.asked) + 1


def test_a_report_can_be_read_in_the_dark_and_on_a_phone() -> None:
    page = report(outcome(), "A tree")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    # Where there is no room for headings, every cell names itself.
    assert page.count('data-name="95 % error"') == len(outcome().asked)


@pytest.mark.parametrize("kind", ["crowd", "sample"])
def test_a_report_of_reports_says_what_they_promise(kind: str) -> None:
    people = sulq.randhie()
    watched = Watched(people.crowd(epsilon=4) if kind == "crowd" else people.sample())
    tree = sulq.ID3("bought_drugs", ["plan", "sex"], depth=1).learn(watched)
    assert tree.origin is not None
    page = Page(report(Outcome(tree, tuple(watched.asked), None, tree.origin, people.schema), "A tree"))
    assert ("ε = 4 (pure, local): every person randomized what they reported" in page.text) == (
        kind == "crowd"
    )
    assert ("Averages of a sample: there is no privacy" in page.text) == (kind == "sample")
    assert "Exact answers" not in page.text
    assert "95 % error" in page.text
