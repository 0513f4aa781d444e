"""Synthetic rows by OpenDP's MST (mbi), in an environment of their own (`requirements-synthetic.txt`).

    python synthetic_rows.py job.json codes.npy drawn.npy

The job has the sizes of the columns, ρ and MST's settings. `codes.npy` holds for each row and column
which value it has; as many rows are drawn and written to `drawn.npy`. A row is added or removed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")


def main(job_file: str, codes_file: str, drawn_file: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    codes = np.load(codes_file)
    names = [f"c{place}" for place in range(codes.shape[1])]
    rows = pl.DataFrame({name: codes[:, place].astype(np.int64) for place, name in enumerate(names)})
    context = dp.Context.compositor(
        data=rows.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        # Its parts of the budget add up to a little more than the budget, by rounding.
        privacy_loss=dp.loss_of(rho=job["rho"] * (1 + 1e-9)),
    )
    table = (
        context.query(rho=job["rho"])
        .contingency_table(
            keys={name: list(range(size)) for name, size in zip(names, job["sizes"], strict=True)},
            algorithm=dp.mbi.MST(**job["settings"]),
        )
        .release()
    )
    drawn = table.synthesize(len(rows))
    np.save(drawn_file, np.stack([known(drawn[name].to_numpy()) for name in names], axis=1))


def known(values: np.ndarray) -> np.ndarray:
    """A column without the few empty cells that noise makes: they are drawn from the others."""
    values = values.astype(np.float64)
    empty = np.isnan(values)
    values[empty] = np.random.default_rng(0).choice(values[~empty], empty.sum())
    return values.astype(np.int64)


if __name__ == "__main__":
    main(*sys.argv[1:])
