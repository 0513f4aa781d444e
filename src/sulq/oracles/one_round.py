"""The one round of a curator who answers no second: which it is, a ledger keeps."""

from __future__ import annotations

from fractions import Fraction

from sulq.errors import QueryError
from sulq.ledger.ledger import Ledger
from sulq.queries.rounds import Round
from sulq.talk.interaction import second_round
from sulq.wire import canonical, check_run, digest

ONE_ROUND = "(one round)"
"""The run of the ledger that says which round is the only one."""


def is_the_one(ledger: Ledger, round_: Round, run: str) -> bool:
    """Whether the ledger holds this round as the one; a refusal if it holds another.

    Args:
        ledger: the record of what was spent.
        round_: the queries, as rows are asked them.
        run: the name of the run that asks.
    """
    held = [entry.answer for entry in ledger.pages.kept(ONE_ROUND, "round") if entry.answer]
    if held not in ([], [_name(round_, run)]):
        raise second_round("curator")
    return bool(held)


def make_the_one(ledger: Ledger, round_: Round, run: str) -> None:
    """Have the ledger hold this round as the one; a refusal if it holds another.

    Args:
        ledger: the record of what was spent.
        round_: the queries, as rows are asked them.
        run: the name of the run that asks.
    """
    mine = _name(round_, run)
    # Of all who ask at once, one finds its own name in the ledger.
    if ledger.release(ONE_ROUND, "round", Fraction(0), lambda: mine) != mine:
        raise second_round("curator")


def check_own(run: str) -> None:
    """Refuse what names no run, and a name that the curator keeps for itself."""
    check_run(run)
    if run == ONE_ROUND:
        raise QueryError(f"the run {run!r} is the curator's own: name yours otherwise")


def _name(round_: Round, run: str) -> str:
    return digest(canonical([run, round_.key]))
