"""diffprivlib's and OpenDP's learners, in an environment of their own (`requirements.txt`).

    python diffprivlib_learners.py job.npz

The job holds the rows (already within their public bounds), and as a JSON text under `job` the learner, its
settings, the values of epsilon and how often to repeat. Printed is, as JSON, a list of results for each epsilon:
accuracies on the rows outside the training mask, or centres, or directions. Everything that these learners would
otherwise read off the data with a warning (bounds, classes, norms) is given to them.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from diffprivlib import models

Arrays = dict[str, np.ndarray]


def classified(model: Callable[[float], Any]) -> Callable[[Arrays, float, int], float]:
    """How often a model of the rows in a repetition's mask is right about the others."""

    def accuracy(given: Arrays, epsilon: float, repetition: int) -> float:
        train = given["masks"][repetition % len(given["masks"])]
        fitted = model(epsilon).fit(given["rows"][train], given["labels"][train])
        return float(fitted.score(given["rows"][~train], given["labels"][~train]))

    return accuracy


def learner(name: str, given: Arrays, settings: dict[str, Any]) -> Callable[[Arrays, float, int], Any]:
    bounds = tuple(given["bounds"]) if "bounds" in given else None
    # Whole numbers from 0: diffprivlib 0.6.6 compares codes with the classes themselves in a forest, so that with
    # any other labels its forest is no better than chance.
    classes = np.arange(given["labels"].max() + 1) if "labels" in given else None
    if name == "tree":
        return classified(
            lambda e: models.DecisionTreeClassifier(epsilon=e, bounds=bounds, classes=classes, **settings)
        )
    if name == "forest":
        return classified(
            lambda e: models.RandomForestClassifier(epsilon=e, bounds=bounds, classes=classes, **settings)
        )
    if name == "logistic":
        return classified(lambda e: models.LogisticRegression(epsilon=e, max_iter=1000, **settings))
    if name == "kmeans":
        return lambda given, e, _: (
            models.KMeans(epsilon=e, bounds=bounds, **settings).fit(given["rows"]).cluster_centers_.tolist()
        )
    if name == "pca":
        return lambda given, e, _: (
            models.PCA(epsilon=e, bounds=bounds, **settings).fit(given["rows"].copy()).components_.tolist()
        )
    if name == "opendp pca":
        return lambda given, e, _: _opendp_components(given["rows"], e, settings)
    raise SystemExit(f"no learner {name!r}")


def _opendp_components(rows: np.ndarray, epsilon: float, settings: dict[str, Any]) -> list[list[float]]:
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    size, columns = rows.shape
    model = dp.sklearn.decomposition.PCA(epsilon=epsilon, n_samples=size, n_features=columns, **settings)
    directions: list[list[float]] = model.fit(rows).components_.tolist()
    return directions


def main() -> None:
    warnings.simplefilter("ignore")
    given = dict(np.load(sys.argv[1]))
    job = json.loads(str(given.pop("job")))
    # A sampler that rejects nearly everything would run for ever.
    resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"] + 5))
    learn = learner(job["learner"], given, job["settings"])
    results = [[learn(given, e, r) for r in range(job["repetitions"])] for e in job["epsilons"]]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
