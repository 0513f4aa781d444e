"""The local model: randomizers that people run themselves, the LR oracle, and protocols by queries.

`source.crowd(epsilon)` picks randomizers by itself; here they are to be used one by one.
"""

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
from sulq.local.simulation import Call, Calls, Simulation, run_locally, simulated
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.simplex import nearest_distribution

__all__ = [
    "Ball",
    "Box",
    "Call",
    "Calls",
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
    "Simulation",
    "SphereReport",
    "UnaryResponse",
    "best_randomizer",
    "digits",
    "nearest_distribution",
    "run_locally",
    "simulated",
]
