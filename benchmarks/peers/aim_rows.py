"""Synthetic rows by dpmm's AIM, in an environment of their own (`requirements-aim.txt`).

    python aim_rows.py job.json codes.npy drawn.npy

The job has the sizes of the columns, ε, δ and the settings: AIM's own, and `last_steps`, with which the model is fitted at the
end to all that was measured. `codes.npy` holds for each row and column which value it has; as many rows are drawn and
written to `drawn.npy`. A row is added or removed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.base.mbi import Domain, FactoredInference


def main(job_file: str, codes_file: str, drawn_file: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    codes = np.load(codes_file)
    names = [f"c{place}" for place in range(codes.shape[1])]
    sizes = dict(zip(names, job["sizes"], strict=True))
    settings = dict(job["settings"])
    last_steps = settings.pop("last_steps")
    promise = {"epsilon": float(job["epsilon"]), "delta": float(job["delta"])}
    aim = AIMGM(**promise, domain=sizes, compress=False, n_jobs=1, **settings)
    aim.fit(pd.DataFrame(codes, columns=names), marginals_only=True)
    fitted = FactoredInference(Domain.fromdict(sizes), iters=last_steps).estimate(aim.generator.measures)
    drawn = fitted.synthetic_data(rows=len(codes)).df
    np.save(drawn_file, drawn[names].to_numpy().astype(np.int64))


if __name__ == "__main__":
    main(*sys.argv[1:])
