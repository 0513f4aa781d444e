"""What learners return: something to predict with, to read, to draw and to keep."""

from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.centres import Centres
from sulq.hypotheses.chosen import ChosenModel
from sulq.hypotheses.components import Components
from sulq.hypotheses.dependence import DependenceTree
from sulq.hypotheses.effect import Effect
from sulq.hypotheses.evaluation import Evaluation
from sulq.hypotheses.halfspace import Halfspace
from sulq.hypotheses.hypothesis import Origin
from sulq.hypotheses.intervals import Metric
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.logistic import LogisticModel
from sulq.hypotheses.nodes import End
from sulq.hypotheses.nothing import Nothing
from sulq.hypotheses.pairs.release import PairsRelease
from sulq.hypotheses.pairs.synthetic import SyntheticRows
from sulq.hypotheses.result_set import ResultSet
from sulq.hypotheses.rule_list import RuleList
from sulq.hypotheses.rules import ParityRule, Rule, Selected
from sulq.hypotheses.tabulation import Tabulation
from sulq.hypotheses.tree import Tree

__all__ = [
    "AdditiveModel",
    "Centres",
    "ChosenModel",
    "Components",
    "DependenceTree",
    "Effect",
    "End",
    "Evaluation",
    "Halfspace",
    "LinearModel",
    "LogisticModel",
    "Metric",
    "Nothing",
    "Origin",
    "PairsRelease",
    "ParityRule",
    "ResultSet",
    "Rule",
    "RuleList",
    "Selected",
    "SyntheticRows",
    "Tabulation",
    "Tree",
]
