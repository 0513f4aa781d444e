"""Classes of hypotheses to choose from: `sulq.Select(sulq.classes.Stumps(), label="sick")`."""

from sulq.classes.boolean import Conjunctions, Hypotheses, MonotoneConjunctions, Parities
from sulq.classes.domains import Halfspaces, Labelings
from sulq.classes.grids import Intervals, Rectangles, Stumps, Thresholds
from sulq.classes.small import SmallConjunctions

__all__ = [
    "Conjunctions",
    "Halfspaces",
    "Hypotheses",
    "Intervals",
    "Labelings",
    "MonotoneConjunctions",
    "Parities",
    "Rectangles",
    "SmallConjunctions",
    "Stumps",
    "Thresholds",
]
