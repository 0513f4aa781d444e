"""The local model: what people's devices are asked, what they report by, and what is kept of it.

`source.crowd(epsilon)` plays all parts by itself; here they are to be used one by one.
"""

from sulq.local.best import best_randomizer
from sulq.local.blocks import DesignResponse
from sulq.local.cap import CapReport
from sulq.local.coordinates import CoordinateReport
from sulq.local.device import Device, PersonalDevice
from sulq.local.digits import Digits, digits
from sulq.local.hadamard import HadamardResponse
from sulq.local.item import Item, item_of
from sulq.local.kary import KaryResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.lifetime import Lifetime
from sulq.local.lr import LocalRandomness
from sulq.local.onebit import OneBitReport
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.questionnaire import Questionnaire
from sulq.local.randomizer import Randomizer
from sulq.local.reading import randomizer_from_json, randomizer_of, shape_of
from sulq.local.report import Report
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf
from sulq.local.sphere import SphereReport
from sulq.local.tally import Tally
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport
from sulq.renamed import moved
from sulq.simplex import nearest_distribution

__all__ = [
    "Ball",
    "Box",
    "CapReport",
    "CoordinateReport",
    "DesignResponse",
    "Device",
    "Digits",
    "Flag",
    "HadamardResponse",
    "Interval",
    "Item",
    "KaryResponse",
    "Keyed",
    "KeyedReport",
    "LaplaceReport",
    "Lifetime",
    "LocalRandomness",
    "OneBitReport",
    "OneOf",
    "PaperReport",
    "PersonalDevice",
    "PiecewiseReport",
    "Questionnaire",
    "RandomizedResponse",
    "Randomizer",
    "Report",
    "SphereReport",
    "Tally",
    "UnaryResponse",
    "WindowReport",
    "best_randomizer",
    "digits",
    "item_of",
    "nearest_distribution",
    "randomizer_from_json",
    "randomizer_of",
    "shape_of",
]

__getattr__ = moved(
    "sulq.local",
    {name: f"sulq.theory.{name}" for name in ("Call", "Calls", "Simulation", "run_locally", "simulated")}
    | {"OneHot": "sulq.local.OneOf"},
)
