"""Whether a run can be paid to its end: half of it would cost half, and teach nothing."""

from __future__ import annotations

from fractions import Fraction

from sulq.errors import QueryError
from sulq.queries.rounds import Ahead, Round
from sulq.talk.interaction import check_single
from sulq.talk.offer import Offer


def needed_for(offer: Offer, round_: Round, ahead: Ahead) -> Fraction:
    """What must be left for a run to be paid to its end, in the unit of the budget.

    Args:
        offer: what a round costs.
        round_: the round that is asked next.
        ahead: what this round and all later ones may cost.

    >>> import sulq
    >>> offer = sulq.randhie().curator(epsilon=1).offer
    >>> needed_for(offer, Round([sulq.count()], share=0.1), Ahead(share=Fraction(1, 2)))
    Fraction(1, 2)
    """
    check_single("curator", offer.interactive, round_, ahead)
    cost = offer.cost(round_)
    if offer.unit == "queries":
        cost = max(cost, _queries(round_, ahead))
    elif ahead.share is not None:
        cost = max(cost, ahead.share * offer.allowance * offer.total)
    return cost + sum((offer.cost(other) for other in ahead.later), ahead.reserve)


def _queries(round_: Round, ahead: Ahead) -> Fraction:
    """How many queries a run by shares takes: the SuLQ paper's T, which must be known beforehand."""
    numbers = ahead.numbers()
    if numbers is None and ahead.share is not None and round_.share != ahead.share:
        raise QueryError(
            "the SuLQ paper's calibrations need the number of queries beforehand, and answer no choices; how "
            "many all rounds of this learner ask is not known: use calibration='tight', or ask for sums "
            "alone, as ID3(pick='counts'), Pairs(pairs=[...]) and NaiveBayes do"
        )
    return Fraction(numbers or 0)
