"""Which of the randomizers for one possibility out of k is best."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sulq.errors import QueryError
from sulq.local.blocks import DesignResponse
from sulq.local.frequencies import FrequencyReport, NumberedReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.randomizer import usable_epsilon
from sulq.local.unary import UnaryResponse
from sulq.numbers import Numeric

# A long report must be better by this much to be preferred to a short one.
_WORTH_ITS_LENGTH = 0.98
# And of more bits than this it is not sent: a million people's would be half a gigabyte.
_LONGEST = 2**12


def one_hot_response(k: int, epsilon: Numeric) -> FrequencyReport:
    """The randomizer with the least variance where a possibility is rare; of nearly equals, a short report.

    Reports of very many bits are left out.

    >>> [type(one_hot_response(k, 1)).__name__ for k in (3, 100, 100_000)]
    ['KaryResponse', 'DesignResponse', 'HadamardResponse']
    """
    numbered = numbered_response(k, epsilon)
    if k > _LONGEST:
        return numbered
    unary = UnaryResponse(k, epsilon, optimised=True)
    return unary if unary.variance(1, 0) < _WORTH_ITS_LENGTH * numbered.variance(1, 0) else numbered


def numbered_response(k: int, epsilon: Numeric) -> NumberedReport:
    """The same among those whose report is a single number.

    >>> type(numbered_response(100_000, 1)).__name__
    'HadamardResponse'
    """
    makers: list[Callable[[int, Numeric], NumberedReport]] = [KaryResponse, HadamardResponse, DesignResponse]
    return min(_possible(makers, k, usable_epsilon(epsilon)), key=lambda response: response.variance(1, 0))


def _possible(
    makers: Iterable[Callable[[int, Numeric], NumberedReport]], k: int, epsilon: Numeric
) -> Iterable[NumberedReport]:
    for make in makers:
        try:
            yield make(k, epsilon)
        except QueryError:
            continue
