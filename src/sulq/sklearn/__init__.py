"""sulq's learners as scikit-learn estimators. Needs scikit-learn: `pip install 'sulq[sklearn]'`.

`Classifier` and `Regressor` are the defaults: they choose a learner by rows, columns and budget, and say
which.

What the parameters have in common:

- `epsilon`, perhaps with `delta`: what one `fit` may spend. There is no default.
- `neighbours`: "replace" (the number of rows is public) or "add-remove".
- `bounds`: what is public about columns: a pair (low, high) for all of them, a list of pairs in order, or a
  dict by name, of pairs for numbers and of lists of texts for categories. "from X" in place of such a list
  states that the list in a column's category type is public. Columns of truth values need none.
- `schema`: instead of bounds, anything `sulq.open` takes for a schema: for categories, and for people with
  several rows. Columns that the schema leaves out are not looked at.
- `classes`: the labels that a row could have, or "from y" to state that the set of labels in y is public.
- `ledger`: a file that remembers what was spent on a table. By default each fit has a ledger of its own, in
  memory.

A fitted estimator has a `hypothesis_`, which holds noisy answers and public facts; everything else that it
has follows from that one. No value of a row is an error. A value out of bounds is clamped. A missing value,
or one that is no number, becomes the middle of the bounds. An unknown or unreadable label becomes the first
class. In a list of rows, a row of another length than most has missing values only. A refusal quotes no cell
and no label.
"""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError:
    raise ImportError("sulq.sklearn needs scikit-learn: pip install 'sulq[sklearn]'") from None

from sulq.sklearn.additive import AdditiveClassifier, AdditiveRegressor
from sulq.sklearn.classifiers import PerceptronClassifier, TreeClassifier
from sulq.sklearn.clusters import KMeans
from sulq.sklearn.components import PCA, TruncatedSVD
from sulq.sklearn.conjunctions import ConjunctionClassifier
from sulq.sklearn.linear import LinearRegression, LogisticRegression, NaiveBayes
from sulq.sklearn.predictors import Classifier, Regressor
from sulq.sklearn.searches import search_epsilon
from sulq.sklearn.selection import SelectClassifier
from sulq.sklearn.spending import SpendingWarning

__all__ = [
    "PCA",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Classifier",
    "ConjunctionClassifier",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "PerceptronClassifier",
    "Regressor",
    "SelectClassifier",
    "SpendingWarning",
    "TreeClassifier",
    "TruncatedSVD",
    "search_epsilon",
]
