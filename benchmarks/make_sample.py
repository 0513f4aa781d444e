"""Make the sample data set, `src/sulq/samples/randhie.parquet`, from the copy inside statsmodels.

Needs statsmodels (which brings pandas) and pyarrow:

    python benchmarks/make_sample.py

What each column means and why it is recoded so is told in `src/sulq/samples/README.md`.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from statsmodels.datasets import randhie

SOURCE = Path(randhie.__file__).parent / "src" / "randhie.csv"
TARGET = Path(__file__).parents[1] / "src" / "sulq" / "samples" / "randhie.parquet"


def recoded(raw: pd.DataFrame) -> pd.DataFrame:
    """The sample's columns: one row for each person and study year, in the source's order."""
    health = np.select(
        [raw.hlthp == 1, raw.hlthf == 1, raw.hlthg == 1], ["poor", "fair", "good"], "excellent"
    )
    shared = raw.coins.map({0: "free", 25: "25%", 50: "50%", 95: "95-100%", 100: "95-100%"})
    return pd.DataFrame(
        {
            "person": pd.factorize(raw.zper)[0] + 1,
            "age": np.floor(raw.xage).astype("int64"),
            "sex": np.where(raw.female == 1, "female", "male"),
            "education": raw.educdec,
            "income": raw.income,
            "plan": shared.mask((raw.coins == 0) & (raw.idp == 1), "deductible"),
            "health": health,
            "limited": raw.physlm >= 0.5,
            "chronic": raw.disea,
            "mental_health": raw.mhi,
            "doctor_visits": raw.mdvis.astype("int64"),
            "bought_drugs": raw.drugdol > 0,
        }
    )


def main() -> None:
    table = pa.Table.from_pandas(recoded(pd.read_csv(SOURCE)), preserve_index=False)
    for index, field in enumerate(table.schema):
        if pa.types.is_large_string(field.type):
            table = table.set_column(index, field.name, table[field.name].cast(pa.string()))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(), TARGET, compression="zstd", compression_level=19)
    print(f"{TARGET.name}: {table.num_rows:,} rows, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
