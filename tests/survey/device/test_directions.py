"""Directions that a device reports, by a plane and from a cap: the JavaScript has the law that Python claims."""

from __future__ import annotations

import json
import math
import os
import random
from typing import Any

import pytest

from sulq.local.cap import CapReport
from sulq.local.caps import MARGIN, MASSES, stated_mass
from sulq.local.draws import ONE
from sulq.local.sphere import SphereReport
from sulq.wire import canonical
from tests.effort import either
from tests.survey.device.engine import Engine, RefusedError

ALARM = 1e-9
"""How often a test raises a false alarm, at most."""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("value", [(2.0, 0.0, 0.0), (0.5, 0.5, -1.0), (0.0, 0.0, 0.0)])
def test_the_sides_of_random_planes_average_to_the_vector(engine: Engine, value: tuple[float, ...]) -> None:
    """By Hoeffding's bound; thorough 10^6 draws in all, false alarms with a chance of 10^-9."""
    n, randomizer = either(5000, 333_334), SphereReport(3, 2, 1)
    moments = engine.moments_of(randomizer.to_json(), json.dumps(value), int.from_bytes(os.urandom(3)), n)
    far = math.sqrt(math.log(2 * 6 / ALARM) / (2 * n))
    for total, square, each in zip(moments["sums"], moments["squares"], value, strict=True):
        assert abs(total / n - each / randomizer.reach) <= 2 * far  # between -1 and 1
        assert abs(square / n - 1 / 3) <= far


@pytest.mark.parametrize("value", [(2.0, 0.0, 0.0), (0.5, 0.5, -1.0), (0.0, 0.0, 0.0), (0.3, 0.0, 0.0)])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_directions_from_caps_average_to_the_vector(
    engine: Engine, value: tuple[float, ...], epsilon: int
) -> None:
    """As above. Of the squares it is known that they add up to 1, and that those of no vector are alike."""
    n, randomizer = either(5000, 250_000), CapReport(3, 2, epsilon)
    moments = engine.moments_of(randomizer.to_json(), json.dumps(value), int.from_bytes(os.urandom(3)), n)
    far = math.sqrt(math.log(2 * 6 / ALARM) / (2 * n))
    for total, square, each in zip(moments["sums"], moments["squares"], value, strict=True):
        assert abs(total / n - each / randomizer.reach) <= 2 * far
        assert any(value) or abs(square / n - 1 / 3) <= far
    assert sum(moments["squares"]) == pytest.approx(n)


def test_directions_from_caps_are_as_often_in_the_cap_as_python_claims(engine: Engine) -> None:
    """n = 1000, thorough 10^5: by Hoeffding's bound, with a false alarm of 10^-9."""
    n, randomizer, rng = either(1000, 100_000), CapReport(3, 2, 3), random.Random(7)
    inside = 0
    for _ in range(n // 100):
        given = rng.randbytes(100_000).hex()
        drawn = engine.draws_of(randomizer.to_json(), "[0, 2, 0]", given, 100)["drawn"]
        inside += sum(report[1] >= randomizer.threshold for report in drawn)
    chance = 1 - randomizer.lies / ONE
    assert abs(inside / n - chance) <= math.sqrt(math.log(2 / ALARM) / (2 * n))


@pytest.mark.parametrize("d", [2, 3, 8, 51, 1000, 9999])
def test_a_device_computes_the_mass_of_a_cap_itself(engine: Engine, d: int) -> None:
    """A mass that is a millionth too large, or a cap that is nearly nothing, is refused."""
    form = CapReport(d, 1, 3).form
    assert engine.keeps(canonical(form), "3") is True
    larger = stated_mass(d, form["threshold"]) / (1 - MARGIN) * (1 + 1e-7)
    for mass in (math.ceil(larger), MASSES // 2, 1):
        with pytest.raises(RefusedError) as refused:
            engine.keeps(canonical(form | {"mass": mass}), "3")
        assert refused.value.code == "promise"


@pytest.mark.parametrize(
    "change", [{"threshold": 1.0}, {"threshold": -0.5}, {"mass": 0}, {"norm": -1}, {"d": 0}]
)
def test_a_cap_that_is_none_is_refused(engine: Engine, change: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        engine.keeps(canonical(CapReport(3, 1, 3).form | change), "3")


def test_a_report_by_a_plane_is_a_unit_vector_whose_sign_alone_hangs_on_the_value(engine: Engine) -> None:
    """The direction is drawn first, by bytes alone: opposite vectors get the same one, up to its sign."""
    form, rng = SphereReport(3, 2, 1).to_json(), random.Random(1)
    for _ in range(100):
        given = rng.randbytes(64).hex()
        here, there = (engine.draws_of(form, json.dumps(v), given, 1) for v in ([2, 0, 0], [-2, 0, 0]))
        [[*a]], [[*b]] = here["drawn"], there["drawn"]
        assert here["taken"] == there["taken"] and abs(math.hypot(*a) - 1) < 1e-12
        assert a == b or a == [-x for x in b]


@pytest.mark.parametrize("epsilon", [1, 4])
def test_how_many_bytes_a_direction_from_a_cap_takes_does_not_tell_its_side(
    engine: Engine, epsilon: int
) -> None:
    """Only the byte that says whether the report is from outside the cap differs: as many bytes are taken."""
    randomizer, rng, taken = CapReport(3, 2, epsilon), random.Random(epsilon), set()
    for _ in range(40):
        before, after = rng.randbytes(4), rng.randbytes(17 * 1000)
        drawn = [
            engine.draws_of(randomizer.to_json(), "[0, 2, 0]", (before + coin + after).hex(), 1)
            for coin in (b"\x00", b"\xff")
        ]
        assert drawn[0]["taken"] == drawn[1]["taken"]
        assert drawn[0]["drawn"][0][1] < randomizer.threshold <= drawn[1]["drawn"][0][1]
        taken.add(drawn[0]["taken"])
    assert len(taken) > 3 and min(taken) == 5 + 2 * 17
