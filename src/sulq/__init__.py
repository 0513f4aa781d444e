"""Learn from people's data without seeing it.

A learner asks statistical queries, sums of bounded row functions, and never sees a row; whoever answers
adds the noise that the trust between them calls for. See the README for a first look.
"""

from sulq.errors import BudgetError, QueryError, SulqError
from sulq.hypotheses.hypothesis import Hypothesis, error_rate
from sulq.learners.components import PCA, SVD
from sulq.learners.compress import Compress
from sulq.learners.conjunction import Conjunction
from sulq.learners.id3 import ID3
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import Learner
from sulq.learners.pairs import Pairs
from sulq.learners.parity import Parity
from sulq.learners.perceptron import Perceptron
from sulq.learners.select import Select
from sulq.learners.table import Table
from sulq.learners.unknown_rate import learn_at_unknown_rate
from sulq.ledger.ledger import Ledger
from sulq.oracles.crowd import Crowd
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.oracles.sample import Sample
from sulq.plans.plan import Plan, plan
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP
from sulq.queries.cases import clip, where
from sulq.queries.choose import choose
from sulq.queries.codes import bins, cross, nearest, one_hot, parity
from sulq.queries.expressions import col, known
from sulq.queries.functions import row_function
from sulq.queries.lookups import lookup
from sulq.queries.node import Node
from sulq.queries.products import dot, gram, outer
from sulq.queries.query import Query, count, mean, total
from sulq.queries.rounds import Round
from sulq.queries.vectors import clip_norm, features, vector
from sulq.renamed import TOP, moved
from sulq.samples import randhie
from sulq.schema import Boolean, Category, Csv, Date, Integer, Real, Schema, Unit
from sulq.sources.opening import open
from sulq.sources.source import Source
from sulq.talk.answers import Answer
from sulq.talk.oracle import Oracle, Rounds

__all__ = [
    "ID3",
    "PCA",
    "SVD",
    "ZCDP",
    "Answer",
    "ApproxDP",
    "Boolean",
    "BudgetError",
    "Category",
    "Compress",
    "Conjunction",
    "Crowd",
    "Csv",
    "Curator",
    "Date",
    "Exact",
    "Hypothesis",
    "Integer",
    "KMeans",
    "Learner",
    "Ledger",
    "Node",
    "Oracle",
    "Pairs",
    "Parity",
    "Perceptron",
    "Plan",
    "PureDP",
    "Query",
    "QueryError",
    "Real",
    "Round",
    "Rounds",
    "Sample",
    "Schema",
    "Select",
    "Source",
    "SulqError",
    "Table",
    "Unit",
    "bins",
    "choose",
    "clip",
    "clip_norm",
    "col",
    "count",
    "cross",
    "dot",
    "error_rate",
    "features",
    "gram",
    "known",
    "learn_at_unknown_rate",
    "lookup",
    "mean",
    "nearest",
    "one_hot",
    "open",
    "outer",
    "parity",
    "plan",
    "randhie",
    "row_function",
    "total",
    "vector",
    "where",
]

__getattr__ = moved("sulq", TOP)
