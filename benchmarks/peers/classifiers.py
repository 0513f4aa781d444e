"""DP-EBM and diffprivlib's classifiers, in an environment of their own (`requirements-defaults.txt`).

    python classifiers.py job.npz

The job holds the rows (categories as codes, numbers within their public bounds), and as a JSON text under `job`
the learner, its settings, the values of epsilon and how often to repeat. Printed is, as JSON, for each epsilon a
list of accuracy and AUROC on the rows outside the training mask. Bounds, classes and norms are given where a learner
takes them. DP-EBM takes the categories and the number of rows from the data.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

Arrays = dict[str, np.ndarray]


def model(name: str, given: Arrays, epsilon: float, settings: dict[str, Any]) -> Any:
    from diffprivlib import models

    bounds, classes = tuple(given["bounds"]), np.arange(given["labels"].max() + 1)
    if name == "bayes":
        return models.GaussianNB(epsilon=epsilon, bounds=bounds)
    if name == "logistic":
        return models.LogisticRegression(epsilon=epsilon, max_iter=1000, **settings)
    if name == "forest":
        return models.RandomForestClassifier(epsilon=epsilon, bounds=bounds, classes=classes, **settings)
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["nominal" if category else "continuous" for category in given["categories"]]
    ends = [(float(low), float(high)) for low, high in given["bounds"].T]
    return DPExplainableBoostingClassifier(
        epsilon=epsilon, feature_types=kinds, privacy_bounds=dict(enumerate(ends)), n_jobs=1, **settings
    )


def measured(
    name: str, given: Arrays, epsilon: float, repetition: int, settings: dict[str, Any]
) -> list[float]:
    train = given["masks"][repetition % len(given["masks"])]
    rows, labels = given["rows"], given["labels"]
    fitted = model(name, given, epsilon, settings).fit(rows[train], labels[train])
    right = float((fitted.predict(rows[~train]) == labels[~train]).mean())
    if labels.max() > 1:
        return [right, float("nan")]
    likely = np.nan_to_num(fitted.predict_proba(rows[~train])[:, 1], nan=0.5)
    return [right, float(roc_auc_score(labels[~train] == 1, likely))]


def main() -> None:
    warnings.simplefilter("ignore")
    given = dict(np.load(sys.argv[1]))
    job = json.loads(str(given.pop("job")))
    results = [
        [measured(job["learner"], given, e, r, job["settings"]) for r in range(job["repetitions"])]
        for e in job["epsilons"]
    ]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
