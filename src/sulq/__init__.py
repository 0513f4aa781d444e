"""Learn from people's data without seeing it.

A learner asks statistical queries, sums of bounded row functions, and never sees a row; whoever answers
adds the noise that the trust between them calls for. See the README for a first look.
"""

from sulq.beyond.classes import Conjunctions, Hypotheses, MonotoneConjunctions, Parities
from sulq.beyond.compress import Compress
from sulq.beyond.domains import Halfspaces, Labelings
from sulq.beyond.grids import Intervals, Rectangles, Stumps, Thresholds
from sulq.beyond.parity import Parity
from sulq.beyond.rules import ParityRule, Selected
from sulq.beyond.samples import occam_rows, parity_rows, vc_rows
from sulq.beyond.select import Select
from sulq.beyond.small import SmallConjunctions
from sulq.errors import (
    AdaptivityError,
    BudgetError,
    LedgerError,
    QueryError,
    ReleaseError,
    SchemaError,
    SulqError,
)
from sulq.learners.components import PCA, SVD, Components
from sulq.learners.conjunction import Conjunction
from sulq.learners.hypothesis import Hypothesis, Origin, Rule, error_rate
from sulq.learners.id3 import ID3
from sulq.learners.kmeans import Centres, KMeans
from sulq.learners.learner import Learner, Oracle, Rounds
from sulq.learners.masked_parity import MaskedParity, MaskedParityRule
from sulq.learners.perceptron import Halfspace, Perceptron, perceptron_rounds
from sulq.learners.tree import Tree
from sulq.learners.unknown_rate import learn_at_unknown_rate
from sulq.oracles.adversary import Adversary, worst_answers
from sulq.oracles.denoised import Denoised
from sulq.oracles.emulation import emulated
from sulq.oracles.mask_blind import MaskBlind
from sulq.plans.plan import Plan, plan
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP
from sulq.queries.canonical import parse, parse_round
from sulq.queries.cases import clip, where
from sulq.queries.choose import Choice, choose
from sulq.queries.codes import bins, cross, lookup, nearest, one_hot, parity
from sulq.queries.expressions import Node, col
from sulq.queries.functions import row_function
from sulq.queries.products import dot, gram, outer
from sulq.queries.query import Query, count, mean, total
from sulq.queries.rounds import Round
from sulq.queries.vectors import clip_norm, features, vector
from sulq.samples import randhie
from sulq.samples.masked_parity import masked_parity_domain, masked_parity_rows, masked_parity_schema
from sulq.schema import Boolean, Category, Integer, Real, Schema, Unit
from sulq.sources.source import Source, open
from sulq.talk.answers import Answer

__all__ = [
    "ID3",
    "PCA",
    "SVD",
    "ZCDP",
    "AdaptivityError",
    "Adversary",
    "Answer",
    "ApproxDP",
    "Boolean",
    "BudgetError",
    "Category",
    "Centres",
    "Choice",
    "Components",
    "Compress",
    "Conjunction",
    "Conjunctions",
    "Denoised",
    "Halfspace",
    "Halfspaces",
    "Hypotheses",
    "Hypothesis",
    "Integer",
    "Intervals",
    "KMeans",
    "Labelings",
    "Learner",
    "LedgerError",
    "MaskBlind",
    "MaskedParity",
    "MaskedParityRule",
    "MonotoneConjunctions",
    "Node",
    "Oracle",
    "Origin",
    "Parities",
    "Parity",
    "ParityRule",
    "Perceptron",
    "Plan",
    "PureDP",
    "Query",
    "QueryError",
    "Real",
    "Rectangles",
    "ReleaseError",
    "Round",
    "Rounds",
    "Rule",
    "Schema",
    "SchemaError",
    "Select",
    "Selected",
    "SmallConjunctions",
    "Source",
    "Stumps",
    "SulqError",
    "Thresholds",
    "Tree",
    "Unit",
    "bins",
    "choose",
    "clip",
    "clip_norm",
    "col",
    "count",
    "cross",
    "dot",
    "emulated",
    "error_rate",
    "features",
    "gram",
    "learn_at_unknown_rate",
    "lookup",
    "masked_parity_domain",
    "masked_parity_rows",
    "masked_parity_schema",
    "mean",
    "nearest",
    "occam_rows",
    "one_hot",
    "open",
    "outer",
    "parity",
    "parity_rows",
    "parse",
    "parse_round",
    "perceptron_rounds",
    "plan",
    "randhie",
    "row_function",
    "total",
    "vc_rows",
    "vector",
    "where",
    "worst_answers",
]
