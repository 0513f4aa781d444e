"""Mechanisms of other libraries, as the audit takes them: diffprivlib and OpenDP, where they are installed.

Each function makes a black box: a table in, and what the library publishes about it out. What a model of
diffprivlib publishes is its attributes. `spent_by_parts` and `matrix_part` follow one level further down:
which of the library's own mechanisms a model uses, and what they lose on two neighbouring tables.
"""

from __future__ import annotations

import importlib
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.audits.findings import AuditFinding, exact
from sulq.audits.tables import pairs
from sulq.queries.query import Neighbours

Box = Callable[[Any], Any]
PUBLISHED = (
    "components_",
    "explained_variance_",
    "noise_variance_",
    "mean_",
    "cluster_centers_",
    "theta_",
    "var_",
    "class_count_",
    "class_prior_",
    "classes_",
    "coef_",
    "intercept_",
)
"""The attributes of a fitted model that stand for it; labels of the rows it was fitted to do not."""
UNEVEN = "one table uses mechanisms that the other does not"


def fitted(make: Callable[[], Any]) -> Box:
    """A black box that fits an estimator, as diffprivlib's models, to a table and says what it learned.

    Args:
        make: makes the estimator, with its ε and bounds. A table with labels is a pair.

    >>> class Mean:
    ...     def fit(self, rows):
    ...         self.coef_ = rows.mean(axis=0)
    ...         return self
    >>> fitted(Mean)(np.ones((2, 3)))
    {'coef_': array([1., 1., 1.])}
    """

    def box(table: Any) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(*table) if isinstance(table, tuple) else make().fit(table)
        return {name: getattr(model, name) for name in PUBLISHED if hasattr(model, name)}

    return box


def measured(measurement: Any) -> Box:
    """A black box of a measurement of OpenDP that takes an array.

    What it claims about a replaced row is its `map(2)`.

    Args:
        measurement: the measurement.

    >>> measured(lambda rows: rows.sum(axis=0))([[1, 2], [3, 4]])
    array([4., 6.])
    """

    def box(table: Any) -> Any:
        return measurement(np.asarray(table, dtype=np.float64))

    return box


def opendp_pca(vector_epsilon: float, value_epsilon: float, rows: int, columns: int) -> Any:
    """OpenDP's private PCA for one component, a measurement: `measured` makes a box of it.

    Rows are shortened to norm 1, and not centred.

    Args:
        vector_epsilon: the ε for the component, of one replaced row.
        value_epsilon: the ε for the variances, of one replaced row.
        rows: how many rows there are.
        columns: how many columns there are.
    """
    dp = importlib.import_module("opendp.prelude")
    maker = importlib.import_module("opendp.extras.sklearn.decomposition")
    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    domain = dp.numpy.array2_domain(norm=1.0, p=2, size=rows, num_columns=columns, T=float)
    parts = maker.PCAEpsilons(eigvals=float(value_epsilon), eigvecs=[float(vector_epsilon)], mean=None)
    return maker.make_private_pca(domain, dp.symmetric_distance(), parts, num_components=1)


def opendp_eigenvector(epsilon: float, rows: int, columns: int) -> Box:
    """OpenDP's private eigenvector of second moments, which its PCA is made of.

    Rows are shortened to norm 1.

    Args:
        epsilon: the ε that it is made for, of one replaced row.
        rows: how many rows there are.
        columns: how many columns there are.
    """
    dp = importlib.import_module("opendp.prelude")
    domains = importlib.import_module("opendp.extras.numpy")
    maker = importlib.import_module("opendp.extras.sklearn._make_eigenvector")
    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    domain = domains._sscp_domain(num_features=columns, norm=1.0, p=2, size=rows, T=float)
    made = maker.make_private_eigenvector(domain, dp.symmetric_distance(), epsilon)

    def box(table: Any) -> list[float]:
        array = _shortened(table)
        return list(made(array.T @ array))

    return box


def _shortened(table: Any) -> NDArray[np.float64]:
    """The rows, shortened to norm 1: more is not promised about longer ones."""
    rows = np.asarray(table, dtype=np.float64)
    return np.asarray(rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True)))


def matrix_part(make: Callable[[], Any], table: Any) -> tuple[Box, float]:
    """What the mechanisms for matrices inside of a model of diffprivlib say, as a black box, and their ε.

    They are found by fitting the model once. Their laws have no scale to compare with, so they are examined
    by running them. The ε is what the model gives to them: its promise less that of its other parts.

    Args:
        make: makes the model.
        table: a table that the model can be fitted to.
    """

    def heard(rows: Any) -> list[tuple[float, Any]]:
        calls: list[tuple[float, Any]] = []

        def see(mechanism: Any, value: Any, said: Any) -> Any:
            if not np.isscalar(value):
                calls.append((float(mechanism.epsilon), said))
            return said

        with _watched(see):
            fitted(make)(rows)
        return calls

    return lambda rows: [said for _, said in heard(rows)], sum(epsilon for epsilon, _ in heard(table))


def spent_by_parts(make: Callable[[], Any], one: Any, other: Any, claimed: float) -> AuditFinding:
    """What the mechanisms inside of a model of diffprivlib lose together, between two neighbouring tables.

    The model is fitted to the first table, and what its mechanisms are given and say is kept. Then it is
    fitted to the second, where they say the same again. A mechanism of scale sensitivity/ε loses
    |difference|/scale at most; one that is used for one table only tells them apart for good.

    Args:
        make: makes the model, with a fixed `random_state`, so that both begin alike.
        one: a table, or a pair of a table and labels.
        other: its neighbour.
        claimed: the ε of the model.
    """
    lost = _lost_by_parts(make, one, other)
    return _by_parts(make, lost, claimed, UNEVEN if math.isinf(lost) else f"ε = {lost:.4g} by its parts")


def most_by_parts(
    make: Callable[[], Any], table: Any, claimed: float, neighbours: Neighbours = "replace"
) -> AuditFinding:
    """The most that `spent_by_parts` finds on neighbouring tables that are made of a test table.

    Args:
        make: makes the model, with a fixed `random_state`.
        table: a test table, or a pair of a table and labels.
        claimed: the ε of the model.
        neighbours: in what two tables differ: "replace" or "add-remove".
    """
    tried = [(_lost_by_parts(make, one, other), words) for words, one, other in pairs(table, neighbours)]
    uneven = [f"{UNEVEN} [{words}]" for lost, words in tried if math.isinf(lost)]
    most, where = max(((lost, words) for lost, words in tried if lost < math.inf), default=(0.0, "nowhere"))
    found = "; ".join([f"ε = {most:.4g} by its parts [{where}]", *uneven[:1]])
    return _by_parts(make, math.inf if uneven else most, claimed, found)


def _lost_by_parts(make: Callable[[], Any], one: Any, other: Any) -> float:
    """What the mechanisms lose; infinity if one table uses mechanisms that the other does not."""
    given: list[tuple[str, float, float, float]] = []
    with _recording(given, None):
        fitted(make)(one)
    again: list[tuple[str, float, float, float]] = []
    with _recording(again, [said for *_, said in given]):
        fitted(make)(other)
    if len(given) != len(again):
        return math.inf
    return sum(abs(first[1] - second[1]) * first[2] for first, second in zip(given, again, strict=True))


def _by_parts(make: Callable[[], Any], lost: float, claimed: float, found: str) -> AuditFinding:
    return exact(
        f"the mechanisms inside of {type(make()).__name__}",
        f"ε = {claimed:g}",
        found,
        "any excess, in these tables and this run",
        lost <= claimed * (1 + 1e-9),
    )


@contextmanager
def _recording(calls: list[tuple[str, float, float, float]], script: list[float] | None) -> Iterator[None]:
    """Keep what mechanisms for numbers are given and say; with a script, they say what stands there."""

    def see(mechanism: Any, value: Any, said: Any) -> Any:
        if not np.isscalar(value):
            return said
        if script is not None and len(calls) < len(script):
            said = script[len(calls)]
        sensitivity = getattr(mechanism, "sensitivity", 0)
        rate = mechanism.epsilon / sensitivity if sensitivity else 0.0
        calls.append((type(mechanism).__name__, float(np.asarray(value)), rate, said))
        return said

    with _watched(see):
        yield


@contextmanager
def _watched(see: Callable[[Any, Any, Any], Any]) -> Iterator[None]:
    """Show somebody each mechanism of diffprivlib that runs, what it was given and what it says.

    Args:
        see: is shown a mechanism, what it was given and what it says, and returns what it says instead. It is
            not shown a mechanism inside of another.
    """
    module = importlib.import_module("diffprivlib.mechanisms")
    kinds: list[Any] = [
        kind for _, kind in inspect.getmembers(module, inspect.isclass) if "randomise" in vars(kind)
    ]
    kept = {kind: kind.randomise for kind in kinds}
    deep = 0

    def wrapped(original: Any) -> Any:
        def randomise(self: Any, value: Any) -> Any:
            nonlocal deep
            deep += 1
            try:
                said = original(self, value)
            finally:
                deep -= 1
            return said if deep else see(self, value, said)

        return randomise

    for kind in kinds:
        kind.randomise = wrapped(kept[kind])
    try:
        yield
    finally:
        for kind in kinds:
            kind.randomise = kept[kind]
