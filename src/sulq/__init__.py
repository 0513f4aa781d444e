"""Learn from people's data without seeing it.

A learner asks statistical queries, sums of bounded row functions, and never sees a row. Whoever answers adds
the noise that the trust between them calls for, and charges it to a budget.

First say what is public about the columns, and open the data. No row is read yet:

>>> import sulq
>>> schema = {"age": sulq.Integer(0, 120), "sick": sulq.Boolean(), "ward": sulq.Category(["A", "B"])}
>>> rows = {"age": [30, 60] * 500, "sick": [False, True] * 500, "ward": ["A", "B"] * 500}
>>> people = sulq.open(rows, schema)   # or a CSV, Parquet or DuckDB file, or a data frame

Then choose who is trusted. A curator sees the rows and has a budget; in a crowd nobody is trusted; exact
answers, without privacy, are for comparison:

>>> curator = people.curator(epsilon=1)

Then ask, or learn. Every answer has its error:

>>> [answer] = curator.ask(sulq.Round([sulq.count(by="ward")], share=0.25))
>>> answer.value.shape, bool(answer.radius(0.05) < 40), curator.remaining
((3,), True, Fraction(3, 4))
>>> table = sulq.Table(by=["ward"], means=["age"], share=0.5).learn(curator)
>>> table.figures("mean age").value.shape
(3,)

What there is:

- columns: Real, Integer, Category, Boolean, Date; Schema, Unit, Csv; open, randhie
- who answers: Source.curator, .crowd, .sample, .exact; Curator, Crowd, Sample, Exact; Ledger
- questions: count, total, mean, choose, in a Round; of col, known, bins, cross, where, features, …;
  any function by your own promise: promised, promised_choice
- learners: Classifier, Regressor, Table, Pairs, ID3, Additive, LinearRegression, LogisticRegression,
  NaiveBayes, DecisionList, KMeans, PCA, SVD, Perceptron, Conjunction, Select, Parity, Compress
- how good it is: Evaluate, CrossValidate, Holdout, ChooseModel
- before anything is spent: plan; whether promises are kept, anybody's: audit

help(sulq.Table), help(sulq.Curator) and the like explain each of them, with an example. On the command line,
start with `sulq demo`.
"""

from sulq.audits.own import audit
from sulq.classes.promised import promised, promised_choice
from sulq.errors import AccessError, BudgetError, QueryError, RemoteError, SulqError
from sulq.hypotheses.hypothesis import Hypothesis, error_rate
from sulq.learners.additive import Additive
from sulq.learners.choose_model import ChooseModel
from sulq.learners.classifier import Classifier
from sulq.learners.components import PCA, SVD
from sulq.learners.compress import Compress
from sulq.learners.conjunction import Conjunction
from sulq.learners.decision_list import DecisionList
from sulq.learners.evaluate import Evaluate
from sulq.learners.id3 import ID3
from sulq.learners.kmeans import KMeans
from sulq.learners.learner import Learner
from sulq.learners.linear import LinearRegression
from sulq.learners.logistic import LogisticRegression
from sulq.learners.naive_bayes import NaiveBayes
from sulq.learners.pairs import Pairs
from sulq.learners.parity import Parity
from sulq.learners.perceptron import Perceptron
from sulq.learners.regressor import Regressor
from sulq.learners.select import Select
from sulq.learners.statement import Statement, sql
from sulq.learners.table import Table
from sulq.learners.unknown_rate import learn_at_unknown_rate
from sulq.learners.validation import CrossValidate, Holdout
from sulq.ledger.ledger import Ledger
from sulq.oracles.crowd import Crowd
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.oracles.parties import Parties, parties
from sulq.oracles.remote import Remote, connect
from sulq.oracles.remote_async import AsyncRemote, connect_async
from sulq.oracles.sample import Sample
from sulq.plans.plan import Plan, plan
from sulq.privacy.budget import ZCDP, ApproxDP, PureDP
from sulq.privacy.noise import DiscreteLaplace
from sulq.queries.buckets import bucket, sign
from sulq.queries.cases import clip, where
from sulq.queries.choose import choose
from sulq.queries.codes import bins, cross, nearest, one_hot, parity
from sulq.queries.expressions import col, known
from sulq.queries.folds import fold
from sulq.queries.functions import row_function
from sulq.queries.logistic import logistic
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
from sulq.talk.truncation import truncated

__version__ = "0.2.0"

__all__ = [
    "ID3",
    "PCA",
    "SVD",
    "ZCDP",
    "AccessError",
    "Additive",
    "Answer",
    "ApproxDP",
    "AsyncRemote",
    "Boolean",
    "BudgetError",
    "Category",
    "ChooseModel",
    "Classifier",
    "Compress",
    "Conjunction",
    "CrossValidate",
    "Crowd",
    "Csv",
    "Curator",
    "Date",
    "DecisionList",
    "DiscreteLaplace",
    "Evaluate",
    "Exact",
    "Holdout",
    "Hypothesis",
    "Integer",
    "KMeans",
    "Learner",
    "Ledger",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Node",
    "Oracle",
    "Pairs",
    "Parity",
    "Parties",
    "Perceptron",
    "Plan",
    "PureDP",
    "Query",
    "QueryError",
    "Real",
    "Regressor",
    "Remote",
    "RemoteError",
    "Round",
    "Rounds",
    "Sample",
    "Schema",
    "Select",
    "Source",
    "Statement",
    "SulqError",
    "Table",
    "Unit",
    "audit",
    "bins",
    "bucket",
    "choose",
    "clip",
    "clip_norm",
    "col",
    "connect",
    "connect_async",
    "count",
    "cross",
    "dot",
    "error_rate",
    "features",
    "fold",
    "gram",
    "known",
    "learn_at_unknown_rate",
    "logistic",
    "lookup",
    "mean",
    "nearest",
    "one_hot",
    "open",
    "outer",
    "parity",
    "parties",
    "plan",
    "promised",
    "promised_choice",
    "randhie",
    "row_function",
    "sign",
    "sql",
    "total",
    "truncated",
    "vector",
    "where",
]

__getattr__ = moved("sulq", TOP)
