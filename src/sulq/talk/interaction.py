"""The papers' noninteractive models: everything is asked at once, and a second round is refused."""

from __future__ import annotations

from sulq.errors import AdaptivityError
from sulq.queries.rounds import Ahead, Round


def second_round(who: str) -> AdaptivityError:
    """The refusal of a second round.

    Args:
        who: whoever was asked.

    >>> print(second_round("crowd"))
    this crowd answers one round, and was asked a second: ask everything at once, or make it with ...
    """
    return AdaptivityError(
        f"this {who} answers one round, and was asked a second: ask everything at once, or make it with "
        "interactive=True"
    )


def check_single(who: str, interactive: bool, round_: Round, ahead: Ahead) -> None:
    """Refuse a run that has more rounds ahead, of an oracle that answers one.

    Args:
        who: whoever is asked.
        interactive: whether there may be a second round.
        round_: the round that is asked next.
        ahead: what this round and all later ones may cost.

    >>> import sulq
    >>> check_single("crowd", False, Round([sulq.count()], share=1), Ahead(share=1))
    """
    more = ahead.share is not None and round_.share is not None and round_.share < ahead.share
    if not interactive and (more or ahead.later or ahead.reserve):
        raise second_round(who)
