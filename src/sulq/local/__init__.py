"""The local model: randomizers that people run themselves, and the LR oracle.

`source.crowd(epsilon)` picks randomizers by itself; here they are to be used one by one.
"""

import warnings
from typing import Any

from sulq.local.best import best_randomizer
from sulq.local.coordinates import CoordinateReport
from sulq.local.design import DesignResponse
from sulq.local.digits import Digits, digits
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.lr import LocalRandomness
from sulq.local.onebit import OneBitReport
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.randomizer import Randomizer
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneHot
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.simplex import nearest_distribution

__all__ = [
    "Ball",
    "Box",
    "CoordinateReport",
    "DesignResponse",
    "Digits",
    "Flag",
    "HadamardResponse",
    "Interval",
    "KaryResponse",
    "Keyed",
    "KeyedReport",
    "LaplaceReport",
    "LocalRandomness",
    "OneBitReport",
    "OneHot",
    "PaperReport",
    "PiecewiseReport",
    "RandomizedResponse",
    "Randomizer",
    "SphereReport",
    "UnaryResponse",
    "best_randomizer",
    "digits",
    "nearest_distribution",
]

MOVED = ("Call", "Calls", "Simulation", "run_locally", "simulated")
"""To `sulq.theory`; for one version they are found here as well."""


def __getattr__(name: str) -> Any:
    if name not in MOVED:
        raise AttributeError(f"module 'sulq.local' has no attribute {name!r}")
    import sulq.theory

    warnings.warn(f"sulq.local.{name} is sulq.theory.{name} now", DeprecationWarning, stacklevel=2)
    return getattr(sulq.theory, name)
