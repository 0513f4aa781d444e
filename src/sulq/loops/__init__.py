"""The inner loops of sums, elimination, CSV and directions: compiled from C where possible, or else NumPy's.

Both return the same numbers bit for bit, so which one runs is a matter of time alone.
"""

from sulq.loops.compiled import LIBRARY
from sulq.loops.moving import Finish, Moved, Moves, Norm
from sulq.loops.plain import Cleaning, Cut, Members, Step, Taken

if LIBRARY is None:
    from sulq.loops.plain import (
        aimed,
        codes_of_entries,
        combined,
        cut_csv,
        echelon,
        gather_csv,
        gram,
        grouped_product,
        joint_counts,
        met,
        nearest,
        normals,
        product,
        real_features,
        real_steps,
        written,
    )
else:
    from sulq.loops.compiled import (
        aimed,
        codes_of_entries,
        combined,
        cut_csv,
        echelon,
        gather_csv,
        gram,
        grouped_product,
        joint_counts,
        met,
        nearest,
        normals,
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
    "aimed",
    "codes_of_entries",
    "combined",
    "cut_csv",
    "echelon",
    "gather_csv",
    "gram",
    "grouped_product",
    "joint_counts",
    "met",
    "nearest",
    "normals",
    "product",
    "real_features",
    "real_steps",
    "written",
]
