"""Error laws as plain data, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from sulq.errors import QueryError
from sulq.local.central import NearlyNormal, Tails
from sulq.local.tails import Bounded, Counted, LaplaceMeans
from sulq.local.two_coins import TwoCoins
from sulq.talk.choice_laws import BestOf, Gap, Population
from sulq.talk.combined import WeightedSums
from sulq.talk.laws import Averaged, Exactly, MeanOfNoise, Noise, PlainLaw, Ratio, Within
from sulq.talk.sketched import Sketched
from sulq.talk.vector_law import VectorNoise

Law: TypeAlias = PlainLaw | Ratio | Gap | BestOf | Population | WeightedSums | Sketched
LAWS: dict[str, type] = {
    "exact": Exactly,
    "noise": Noise,
    "vector noise": VectorNoise,
    "mean of noise": MeanOfNoise,
    "averaged": Averaged,
    "within": Within,
    "ratio": Ratio,
    "gap": Gap,
    "best of": BestOf,
    "population": Population,
    "weighted sums": WeightedSums,
    "sketched": Sketched,
}
TAILS: dict[str, type] = {
    "bounded": Bounded,
    "counted": Counted,
    "laplace": LaplaceMeans,
    "nearly normal": NearlyNormal,
    "two coins": TwoCoins,
}
FRACTIONS = ("parameter", "step", "epsilon", "sensitivity")


def law_form(law: Law | Tails) -> dict[str, Any]:
    """A law as plain data; `law_of` reads it back.

    >>> law_form(Noise("laplace", Fraction(7, 2), Fraction(1), 3))["parameter"]
    '7/2'
    >>> law_of(law_form(Within(0.5)))
    Within(tolerance=0.5)
    """
    kinds = TAILS if isinstance(law, tuple(TAILS.values())) else LAWS
    [name] = [name for name, cls in kinds.items() if type(law) is cls]
    return {"law": name} | {field: _plain(value) for field, value in vars(law).items()}


def law_of(form: Mapping[str, Any]) -> Any:
    """The law with this form; what is unknown is refused."""
    name = form.get("law") if isinstance(form, Mapping) else None
    cls = LAWS.get(str(name)) or TAILS.get(str(name))
    if cls is None:
        raise QueryError(f"{name!r} is no law of errors; there are {', '.join((*LAWS, *TAILS))}")
    try:
        return cls(**{field: _read(field, value) for field, value in form.items() if field != "law"})
    except (TypeError, ValueError, ZeroDivisionError):
        raise QueryError(f"this is not the form of a law of kind {name!r}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return law_form(value) if type(value) in (*LAWS.values(), *TAILS.values()) else value


def _read(field: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return law_of(value)
    if isinstance(value, list):
        return tuple(_read(field, item) for item in value)
    if field in FRACTIONS:
        return Fraction(value)
    return float(value) if value in ("nan", "inf", "-inf") else value
