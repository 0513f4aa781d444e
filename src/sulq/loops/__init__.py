"""The inner loops of sums, elimination and CSV: compiled from C where possible, otherwise NumPy's.

Both return the same integers bit for bit, so which one runs is a matter of time alone.
"""

from sulq.loops.compiled import LIBRARY
from sulq.loops.moving import Finish, Moved, Moves, Norm
from sulq.loops.plain import Cleaning, Cut, Members, Step, Taken

if LIBRARY is None:
    from sulq.loops.plain import (
        codes_of_entries,
        cut_csv,
        echelon,
        gather_csv,
        gram,
        grouped_product,
        joint_counts,
        nearest,
        product,
        real_features,
        real_steps,
        written,
    )
else:
    from sulq.loops.compiled import (
        codes_of_entries,
        cut_csv,
        echelon,
        gather_csv,
        gram,
        grouped_product,
        joint_counts,
        nearest,
        product,
        real_features,
        real_steps,
        written,
    )

__all__ = [
    "Cleaning",
    "Cut",
    "Finish",
    "Members",
    "Moved",
    "Moves",
    "Norm",
    "Step",
    "Taken",
    "codes_of_entries",
    "cut_csv",
    "echelon",
    "gather_csv",
    "gram",
    "grouped_product",
    "joint_counts",
    "nearest",
    "product",
    "real_features",
    "real_steps",
    "written",
]
