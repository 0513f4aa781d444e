"""One hypothesis of every kind, and its text as it was written before texts had a version."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

import sulq
from sulq.hypotheses import (
    AdditiveModel,
    Centres,
    ChosenModel,
    Components,
    DependenceTree,
    Effect,
    End,
    Evaluation,
    Halfspace,
    LinearModel,
    LogisticModel,
    Origin,
    PairsRelease,
    ParityRule,
    ResultSet,
    Rule,
    RuleList,
    Selected,
    Tabulation,
    Tree,
)
from sulq.hypotheses.dependence import Dependence
from sulq.hypotheses.formulas import FormulaStep
from sulq.hypotheses.measures import Asked, Measure
from sulq.hypotheses.pairs.columns import PairsColumn
from sulq.hypotheses.pairs.release import PairsTable
from sulq.hypotheses.result_rows import GroupAxis, Order, Output
from sulq.hypotheses.tree import Split
from sulq.queries.expressions import Constant
from sulq.talk.answers import Answer, Axis
from sulq.talk.laws import Exactly, Noise
from sulq.theory import MaskedParityRule, masked_parity_schema

col = sulq.col
SCHEMA = sulq.Schema(
    {
        "old": sulq.Boolean(),
        "age": sulq.Integer(0, 120),
        "income": sulq.Real(-1.5, 1e6),
        "plan": sulq.Category(["full", "some", "é"], missing="some"),
        "person": sulq.Integer(0, 9),
    },
    sulq.Unit("person", rows=3),
)
ORIGIN = Origin("ID3", "ε = 1 (pure)", "tree", 4)
ENDS = (End(0, (8.25, -2.0, 0.1)), End(2, (0.0, 5.0, 1e-3)), End(1, (1.0, 1.0, 1.0)))
ROOT = Split(0, (Split(1, ENDS[:2]), ENDS[2], ENDS[0], ENDS[2]))
LAW = Noise("laplace", Fraction(3), Fraction(1, 2), numbers=2)
SELECTED = sulq.lookup(sulq.cross("plan", sulq.bins("age", [65])), [0, 1, 1, 0, 1, 0]) > 0
TABLE = (
    Asked(None, (0,), (), Answer(np.array([8.0, -2.0]), LAW, (Axis("column 'old'", ("false", "true")),))),
    Asked(col("age"), (0,), (18.0, 65.0), Answer(np.array([[1.0, 5.0, 2.5], [0.0, 1.0, 9.0]]), LAW)),
    Asked(col("income") - 499_999.25, (0,), (), Answer(np.array([1e6, -0.5]), LAW)),
)
MEASURES = (Measure("count"), Measure("quantile", col("age"), 0.5), Measure("mean", col("income")))
DEPENDENCE = (
    Dependence(col("old"), None, ((0.25, 0.75),)),
    Dependence(sulq.bins("age", [18, 65]), 0, ((0.5, 0.25, 0.25), (0.125, 0.125, 0.75))),
)
PAIR = Answer(np.array([[5.0, 1.0], [-0.5, 4.0]]), LAW)
PAIRED = (
    PairsColumn("old", (), (), Answer(np.array([6.0, 4.0]), LAW)),
    PairsColumn("age", (18.0, 40.5, 65.0), (40.5,), Answer(np.array([1.0, 3.0, -1.0, 6.0]), LAW)),
)
RATIO = (FormulaStep("measure", 2), FormulaStep("number", 2.5), FormulaStep("/"), FormulaStep("round", 1))
OUTPUTS = (Output("old", 0), Output("n", None, (FormulaStep("measure", 0),)), Output("pay", None, RATIO))
RESULT = ResultSet(
    SCHEMA,
    ORIGIN,
    "SELECT old, count(*) AS n, round(avg(income) / 2.5, 1) AS pay FROM p GROUP BY ROLLUP (old) HAVING …",
    (col("old"),),
    (GroupAxis(("false", "true"), "boolean"),),
    col("age") > 3,
    MEASURES,
    OUTPUTS,
    ((0,), ()),
    (FormulaStep("measure", 0), FormulaStep("number", -3.0), FormulaStep(">")),
    (Order(OUTPUTS[1], True, False), Order(OUTPUTS[0], False, True)),
    2,
    0,
    TABLE,
)
EFFECTS = (
    Effect(
        sulq.bins("age", [18, 65]), (0.2, 0.5, 0.3), ((-1.0,), (0.125,), (0.5,)), ((0.5,), (0.1,), (0.0,))
    ),
    Effect(col("plan"), (0.5, 0.25, 0.25), ((0.0,), (2.0,), (-1e-3,)), ((0.25,), (0.5,), (1.0,))),
)
LINEAR = (
    sulq.clip(col("age"), 18, 65),
    sulq.lookup("plan", [0, 0, 1]),
    sulq.lookup("plan", [1, 0, 0]),
    col("old"),
)
KINDS: dict[str, sulq.Hypothesis] = {
    "additive": AdditiveModel(SCHEMA, ORIGIN, col("old"), (-1.5,), EFFECTS),
    "additive_of_a_category": AdditiveModel(SCHEMA, None, col("plan"), (0.0, 0.5, -1.0), ()),
    "additive_of_a_number": AdditiveModel(SCHEMA, None, col("income"), (0.25,), EFFECTS),
    "linear": LinearModel(
        SCHEMA, ORIGIN, col("income"), LINEAR, (2.5, -1e3, 0.0, 7.0), (0.5, 1e3, 0.25, 1.0), 1e4
    ),
    "logistic": LogisticModel(
        SCHEMA, ORIGIN, col("old"), LINEAR[1:], ((0.5,), (-2.0,), (0.0,)), ((0.1,), (1.5,), (0.2,)), (-1.25,)
    ),
    "logistic_of_a_category": LogisticModel(
        SCHEMA, None, col("plan"), LINEAR[:1], ((0.5, 0.0, -0.25),), ((0.1, 0.1, 0.1),), (0.0, 0.5, -1.0)
    ),
    "rule_list": RuleList(SCHEMA, ORIGIN, col("plan"), (col("age") >= 65, ~col("old")), ENDS),
    "rule_list_of_no_rules": RuleList(SCHEMA, None, col("old"), (), (End(1, (3.0, 4.0), 2.0),)),
    "tree": Tree(SCHEMA, ORIGIN, col("plan"), (sulq.bins("age", [18, 40.5, 65]), col("old")), ROOT),
    "end": Tree(SCHEMA, None, col("old"), (), End(1, (3.0, 4.0))),
    "rule": Rule(SCHEMA, ORIGIN, (col("old"), ~(col("age") >= 65), col("plan") == "é")),
    "parity": ParityRule(SCHEMA, ORIGIN, (col("old"), col("income") > 0.1, Constant(1)), (1, 0, 1)),
    "selected": Selected(SCHEMA, ORIGIN, SELECTED, "plan and age"),
    "centres": Centres(SCHEMA, ORIGIN, ("age", "income"), ((-0.5, 0.25), (0.1, 1.0)), (10.0, -2.5)),
    "components": Components(SCHEMA, ORIGIN, ("age", "income"), (0.0, 0.125), ((0.6, 0.8),), (0.3,), 0.4),
    "halfspace": Halfspace(SCHEMA, ORIGIN, "old", ("age", "income"), (0.5, 2.0), -1.0, None),
    "halfspace_of_a_category": Halfspace(SCHEMA, None, "plan", ("age",), (0.5,), 0.0, ("full", "some")),
    "evaluation": Evaluation(
        SCHEMA,
        ORIGIN,
        "Tree",
        col("old"),
        col("age") > 65,
        ("false", "true"),
        (0.25, 0.5),
        True,
        (
            Answer(np.array([[8.0, -2.0], [1.0, 5.0]]), LAW),
            Answer(np.array([[8.0, -2.0], [1.0, 5.0], [0.0, 3.0]]), LAW),
            Answer(np.array([0.5, -0.25, 0.0]), LAW),
        ),
        "held out",
    ),
    "evaluation_of_a_number": Evaluation(
        SCHEMA,
        None,
        "AdditiveModel",
        col("income"),
        col("age") * 2,
        (),
        (),
        False,
        tuple(Answer(value, LAW) for value in (10.0, 20.0, 12.0, 90.0, 10.0)),
    ),
    "chosen": ChosenModel(
        SCHEMA, ORIGIN, Rule(SCHEMA, ORIGIN, (col("old"),)).to_json(), 1, 3, Answer(1, Exactly())
    ),
    "dependence": DependenceTree(SCHEMA, ORIGIN, 1, DEPENDENCE),
    "pairs": PairsRelease(SCHEMA, ORIGIN, Answer(10.0), PAIRED, (PairsTable((0, 1), PAIR),)),
    "table": Tabulation(SCHEMA, ORIGIN, (col("old"),), col("age") > 3, MEASURES, True, TABLE),
    "result_set": RESULT,
    "masked_parity": MaskedParityRule(
        masked_parity_schema(2), ORIGIN, ("x0", "x1"), "index", "switch", (1, 0), 1
    ),
}
LATER = (
    "table",
    "result_set",
    "chosen",
    "additive",
    "evaluation",
    "linear",
    "logistic",
    "rule_list",
    "dependence",
    "pairs",
)
FORMER = {
    name: Path(__file__).with_name("version_0") / f"{name}.json"
    for name in KINDS
    if not name.startswith(LATER)
}
"""What version 0 wrote to a file. It knew no tables, no pairs, no evaluations, and no models that came later."""
