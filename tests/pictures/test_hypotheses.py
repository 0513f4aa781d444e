"""Every hypothesis can be drawn: as SVG that stands on its own, and on a terminal."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import sulq
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.centres import Centres
from sulq.hypotheses.chosen import ChosenModel
from sulq.hypotheses.components import Components
from sulq.hypotheses.dependence import Dependence, DependenceTree
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.evaluation import Evaluation
from sulq.hypotheses.formulas import FormulaStep
from sulq.hypotheses.halfspace import Halfspace
from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.logistic import LogisticModel
from sulq.hypotheses.measures import Asked, Measure
from sulq.hypotheses.nothing import Nothing
from sulq.hypotheses.pairs.columns import PairsColumn
from sulq.hypotheses.pairs.release import PairsRelease, PairsTable
from sulq.hypotheses.result_rows import GroupAxis, Output
from sulq.hypotheses.result_set import ResultSet
from sulq.hypotheses.rule_list import RuleList
from sulq.hypotheses.rules import ONE, ParityRule, Rule, Selected
from sulq.hypotheses.tabulation import Tabulation
from sulq.hypotheses.tree import End, Split, Tree
from sulq.talk.answers import Answer, Axis
from sulq.talk.laws import Noise
from sulq.theory.masked_parity import MaskedParityRule

DATA = Path(__file__).parents[3] / "shared" / "data"
SVG = "{http://www.w3.org/2000/svg}"
ORIGIN = Origin("Somebody", "ε = 1 (pure)", "main", 3)
HOSTILE = (
    '</text><script>alert("1")</script>',
    "[bold red]a&b[/]",
    "\x1b[2Jescape\x00\ud800\ufffe",
    "line\nbreak\ttab",
    "\u202egnp.exe",
    "長い名前" * 40,
)


def mixed(names: tuple[str, ...]) -> sulq.Schema:
    numbers = {name: sulq.Real(-5, 10) for name in (*names, "height")}
    return sulq.Schema(numbers | {"sick": sulq.Boolean()})


def example(kind: type[Hypothesis], names: tuple[str, ...]) -> Hypothesis:
    """A hypothesis of a kind about columns of these names, which are also what a tree says."""
    schema, loadings = mixed(names), tuple((-1) ** i / (i + 1) for i in range(len(names)))
    if kind is Rule:
        return Rule(schema, ORIGIN, tuple(sulq.col(name) > 1 for name in names))
    if kind is ChosenModel:
        return ChosenModel(schema, ORIGIN, example(Rule, names).to_json(), 0, 2, Answer(0))
    if kind is Evaluation:
        many = len(names)
        confusion = Answer(np.arange(float(many**2)).reshape(many, many))
        return Evaluation(
            schema, ORIGIN, names[0], sulq.col("sick"), sulq.col(names[0]) > 1, names, (), False, (confusion,)
        )
    if kind is Centres:
        return Centres(schema, ORIGIN, names, (loadings, (0.0,) * len(names), loadings), (12.0, 0.0, 5.4))
    if kind is Components:
        return Components(schema, ORIGIN, names, (0.0,) * len(names), (loadings, loadings), (0.4, 0.1), 1.0)
    if kind is Halfspace:
        return Halfspace(schema, ORIGIN, names[0], names, loadings, -0.5, (names[0], names[-1]))
    if kind is AdditiveModel:
        effects = [
            Effect(sulq.bins(name, [0, 5]), (0.5, 0.3, 0.2), ((-loading,), (0.0,), (loading,)), ((0.1,),) * 3)
            for name, loading in zip(names, loadings, strict=True)
        ]
        return AdditiveModel(schema, ORIGIN, sulq.col("sick"), (-0.5,), tuple(effects))
    columns, bars = tuple(map(sulq.col, names)), (0.3,) * len(names)
    if kind is LinearModel:
        return LinearModel(schema, ORIGIN, columns[0], columns, loadings, bars, -0.5)
    if kind is LogisticModel:
        weights, offs = tuple((each,) for each in loadings), tuple((each,) for each in bars)
        return LogisticModel(schema, ORIGIN, sulq.col("sick"), columns, weights, offs, (-0.5,))
    if kind is RuleList:
        ends = tuple(End(i % 2, (8.0, -2.5), 3.0) for i in range(len(names) + 1))
        return RuleList(schema, ORIGIN, sulq.col("sick"), tuple(each > 1 for each in columns), ends)
    if kind is MaskedParityRule:
        return MaskedParityRule(schema, ORIGIN, names, "sick", "sick", (1,) * len(names), 0)
    if kind is ParityRule:
        return ParityRule(schema, ORIGIN, tuple(sulq.col(name) > 1 for name in names), (1,) * len(names))
    if kind is Nothing:
        return Nothing(schema, ORIGIN, " ".join(" ".join(names).split()), 0.05)
    if kind is Selected:
        rule = Rule(schema, None, tuple(sulq.col(name) > 1 for name in names))
        return Selected(schema, ORIGIN, rule.expression, rule.describe())
    if kind is LinearModel:
        return LinearModel(schema, ORIGIN, "height", names, loadings, tuple(map(abs, loadings)), 0.5)
    if kind is DependenceTree:
        root = Dependence(sulq.bins(names[0], [0]), None, ((0.5, 0.5),))
        rest = [Dependence(sulq.bins(name, [1]), 0, ((0.5, 0.5), (0.25, 0.75))) for name in names[1:]]
        return DependenceTree(schema, ORIGIN, 0, (root, *rest))
    if kind is PairsRelease:
        law = Noise("laplace", Fraction(3), Fraction(1), 4)
        counts, table = Answer(np.array([40.0, 60.0]), law), Answer(np.array([[35.0, 5.0], [8.0, 52.0]]), law)
        columns = tuple(PairsColumn(name, (1.0,), (1.0,), counts) for name in (*names, "height"))
        tables = tuple(PairsTable((place, place + 1), table) for place in range(len(names)))
        return PairsRelease(schema, ORIGIN, Answer(100.0), columns, tables)
    if kind in (Tabulation, ResultSet):
        schema = sulq.Schema({"is": sulq.Category(list(names), missing=names[0])} | dict(schema))
        measures = (Measure("count"), *(Measure("sum", sulq.col(name)) for name in names))
        axes, law = (Axis("column 'is'", names),), Noise("laplace", Fraction(3), Fraction(1), len(names))
        answer = Answer(np.arange(len(names)) * 4.0 - 2, law, axes)
        asked = tuple(Asked(measure.value, (0,), (), answer) for measure in measures)
        by = (sulq.col("is"),)
        if kind is Tabulation:
            return Tabulation(schema, ORIGIN, by, None, measures, False, asked)
        sums = (Output(name, None, (FormulaStep("measure", place),)) for place, name in enumerate(names, 1))
        columns, groups = (Output("is", 0), *sums), (GroupAxis(names),)
        text = f"SELECT {', '.join(names)}"
        return ResultSet(
            schema, ORIGIN, text, by, groups, None, measures, columns, ((0,),), (), (), None, 0, asked
        )
    levels = sulq.Category([str(i) for i in range(len(names))], missing="0")
    schema = sulq.Schema({names[0]: levels, "is": sulq.Category(list(names), missing=names[0])})
    ends = tuple(End(i, tuple(float(i + j) for j in range(len(names)))) for i in range(len(names)))
    return Tree(schema, ORIGIN, sulq.col("is"), (sulq.col(names[0]),), Split(0, ends))


KINDS = [kind for kind in Hypothesis.__subclasses__() if kind.__module__.startswith("sulq.")]
DRAWN = {
    "features": ("age", "income"),
    "one feature": ("age",),
    "forty features": tuple(f"column {i}" for i in range(40)),
    "hostile": HOSTILE,
}


def printed(hypothesis: Hypothesis, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(hypothesis.drawing())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def texts(picture: str) -> str:
    return "\n".join(ET.fromstring(picture).itertext())


def test_there_is_an_example_of_every_hypothesis_of_the_learners() -> None:
    assert len(KINDS) >= 8
    assert [type(example(kind, ("a", "b"))) for kind in KINDS] == KINDS


@pytest.mark.parametrize("names", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_valid_and_stands_on_its_own(kind: type[Hypothesis], names: tuple[str, ...]) -> None:
    picture = example(kind, names).picture()
    picture.encode()
    root = ET.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert [float(side) for side in root.attrib["viewBox"].split()][2:] == pytest.approx(
        [float(root.attrib["width"]), float(root.attrib["height"])], abs=0.1
    )
    known = {"svg", "g", "rect", "text", "title", "line", "path", "polyline", "circle"}
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in known
        assert not {"id", "class", "href"} & {key.split("}")[-1] for key in element.attrib}
        for key, value in element.attrib.items():
            assert key == "aria-label" or not re.search(r"nan|inf|url|http", value, re.IGNORECASE)
            assert not key.startswith("on")


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_who_learned_it_and_under_what_promise(kind: type[Hypothesis]) -> None:
    hypothesis = example(kind, ("age", "income"))
    assert "learned by Somebody · privacy: ε = 1 (pure)" in texts(hypothesis.picture())
    assert hypothesis._repr_svg_() == hypothesis.picture()


@pytest.mark.parametrize("names", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_in_the_picture_in_full(kind: type[Hypothesis], names: tuple[str, ...]) -> None:
    shown = texts(example(kind, names).picture())
    for name in names:
        plain = "".join(c if c.isprintable() else " " if c in "\n\t" else "�" for c in name)
        assert plain in shown


@pytest.mark.parametrize("names", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("kind", KINDS)
def test_a_drawing_sends_no_commands_to_the_terminal(kind: type[Hypothesis], names: tuple[str, ...]) -> None:
    said = printed(example(kind, names))
    # Rich writes styles as commands of its own, which end in m and hold digits.
    rest = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert all(letter.isprintable() or letter == "\n" for letter in rest)
    if names is HOSTILE:
        assert "[bold red]a&b[/]" in rest.replace("\n", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawing_names_the_features(kind: type[Hypothesis]) -> None:
    said = printed(example(kind, ("age", "income")))
    assert "age" in said and "income" in said


def test_a_tree_shows_its_questions_their_answers_and_what_it_is_about() -> None:
    schema = sulq.Schema({"age": sulq.Real(0, 100), "limited": sulq.Boolean(), "sick": sulq.Boolean()})
    questions = (sulq.bins(sulq.col("age"), [30, 60]), sulq.col("limited"))
    deeper = Split(1, (End(0, (7.0, 1.0)), End(1, (2.0, 6.0))))
    tree = Tree(schema, None, sulq.col("sick"), questions, Split(0, (End(0, (9.0, -1.0)), deeper, deeper)))
    lines = texts(tree.picture()).split("\n")
    for words, times in {
        "sick": 1,
        "age": 1,
        "limited": 2,
        "below 30": 1,
        "30 to 60": 1,
        "60 and up": 1,
    }.items():
        assert lines.count(words) == times
        assert printed(tree).count(words) == (times if words != "sick" else 0)
    assert [lines.count(label) for label in ("false", "true")] == [2 + 3, 2 + 2]
    assert lines.count("8") == 5 and lines.count("75 %") == 2


def test_an_empty_rule_is_always_true() -> None:
    rule = Rule(mixed(("age",)), None, ())
    assert "always" in texts(rule.picture())
    assert printed(rule).strip() == "always"


def test_a_parity_of_nothing_is_never_true_and_its_opposite_always() -> None:
    schema = mixed(("age",))
    assert "never" in texts(ParityRule(schema, None, (sulq.col("sick"),), (0,)).picture())
    opposite = ParityRule(schema, None, (sulq.col("sick"), ONE), (1, 1))
    assert [word in texts(opposite.picture()).split("\n") for word in ("sick", "xor", "true")] == [True] * 3
    assert printed(opposite).strip() == "sick xor true"


def test_a_halfspace_of_zeros_says_that_nothing_was_found() -> None:
    zeros = Halfspace(mixed(("age", "income")), None, "sick", ("age", "income"), (0.0, 0.0), 0.0, None)
    assert "sick nowhere" in texts(zeros.picture()) and "sick nowhere" in printed(zeros)
    assert "age" in texts(zeros.picture()) and "nan" not in zeros.picture()


def test_a_single_centre_of_no_rows_and_a_column_with_one_value_are_drawn() -> None:
    schema = sulq.Schema({"a": sulq.Real(5, 5), "b": sulq.Integer(0, 9)})
    for names in [("a",), ("a", "b")]:
        centres = Centres(schema, None, names, ((0.0,) * len(names),), (-3.0,))
        assert "1 centre" in texts(centres.picture())
        assert "nan" not in centres.picture()
        assert "●" in printed(centres)


def test_a_label_with_a_percent_sign_is_described_as_it_is() -> None:
    schema = sulq.Schema({"plan": sulq.Category(["25%", "50%"], missing="25%")})
    tree = Tree(schema, None, sulq.col("plan"), (), End(1, (1.0, 3.0)))
    assert tree.describe() == "always 50% (4 rows, 75 %)"


@pytest.mark.skipif(not (DATA / "adult.csv.gz").exists(), reason="needs the development data")
def test_a_tree_learned_from_census_data_is_drawn() -> None:
    frame = pd.read_csv(DATA / "adult.csv.gz", usecols=["education", "relationship", "age", "income"])
    schema = {
        name: sulq.Category(sorted(frame[name].dropna().unique()))
        for name in ["education", "relationship", "income"]
    }
    people = sulq.open(frame, {**schema, "age": sulq.Integer(17, 90)})
    tree = sulq.ID3("income", depth=2).learn(people.curator(epsilon=1))
    shown = texts(tree.picture())
    for end in tree.ends:
        assert str(tree.values[end.label]) in shown
    assert "ε = 1 (pure)" in shown
