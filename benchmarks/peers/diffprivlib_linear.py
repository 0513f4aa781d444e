"""diffprivlib's linear regression, in an environment of its own (`requirements.txt`).

    python diffprivlib_linear.py job.npz

The job holds the features and the number of the rows to learn from and of the others, their public bounds, the values
of epsilon and how often to repeat. Printed is, as JSON, a list of R² on the other rows for each epsilon.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
from diffprivlib import models


def main() -> None:
    warnings.simplefilter("ignore")
    job = np.load(sys.argv[1])
    bounds, ends = tuple(job["bounds"]), tuple(job["ends"].tolist())
    results = []
    for epsilon in job["epsilons"].tolist():
        scores = []
        for _ in range(int(job["repetitions"])):
            model = models.LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=ends)
            said = model.fit(job["rows"].copy(), job["numbers"].copy()).predict(job["others"]).clip(*ends)
            truth = job["truth"]
            scores.append(float(1 - ((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()))
        results.append(scores)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
