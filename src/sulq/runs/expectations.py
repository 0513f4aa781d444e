"""What to expect of a run, in words: how far off its counts and choices are; and which requests are odd."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sulq.numbers import several
from sulq.plans.watching import AskedRound, QuestionLine
from sulq.privacy.budget import ZCDP, ApproxDP, Budget
from sulq.runs.odds import growth

ODD_DELTA, ODD_EPSILON = Fraction(1, 100), 20
"""From here on a promise says next to nothing."""
HOPELESS, HARD = 0.25, 0.05
"""A choice that may miss the best by so large a part of the rows finds nothing, or only what is plain."""


def odd_requests(budget: Budget | None, rows: int | None) -> list[str]:
    """What is odd about a request, a sentence each. Public facts alone decide it.

    Args:
        budget: what may be spent; None for exact answers.
        rows: how many rows there are, where that is public; else None.

    >>> from sulq.privacy.budget import PureDP
    >>> for sentence in odd_requests(PureDP(1000), 0):
    ...     print(sentence)
    ε = 1000 promises next to nothing: from ε = 20 on, answers can give a person away; ε = 1 is usual
    there are no rows: whatever is learned is noise
    """
    if budget is None:
        return []
    sentences = []
    if isinstance(budget, ApproxDP) and budget.delta >= ODD_DELTA:
        sentences.append(
            f"δ = {float(budget.delta):g} promises next to nothing: with this chance a person may be given "
            "away; it should be far below one over the number of people, as 1e-6"
        )
    epsilon = growth(budget) if isinstance(budget, ZCDP) else float(budget.epsilon)
    if epsilon >= ODD_EPSILON:
        stated = f"ρ = {float(budget.rho):g}, about ε" if isinstance(budget, ZCDP) else "ε"
        sentences.append(
            f"{stated} = {epsilon:.4g} promises next to nothing: from ε = {ODD_EPSILON} on, answers can give "
            "a person away; ε = 1 is usual"
        )
    if rows == 0:
        sentences.append("there are no rows: whatever is learned is noise")
    return sentences


def to_expect(rounds: Sequence[AskedRound], rows: int | None, spent: str) -> list[str]:
    """What the errors of a run's counts and choices mean for so many rows, a sentence each.

    Args:
        rounds: what would be asked.
        rows: how many rows there are, or are thought of; None where nobody said.
        spent: what the rounds cost, in words.

    >>> line = QuestionLine("how many rows, in 8 groups", 8, "rows", error=100.0)
    >>> to_expect([AskedRound(1, (line,), Fraction(1))], 5_000, "ε = 0.3")
    ['With 5,000 rows and ε = 0.3, counts are off by up to 100: groups of fewer are within the noise.']
    """
    if not rows:
        return []
    sentences = []
    choice = next((line for line in _lines(rounds) if line.unit == "best"), None)
    if choice is not None and choice.error:
        sentences.append(_of_choice(choice.error, rows))
    counted = [line for line in _lines(rounds) if line.unit == "rows"]
    if counted and (off := counted[-1].error):
        groups = f"counts are off by up to {off:,.0f}: {_of_counts(off, rows, counted[-1].numbers)}"
        sentences.insert(0, groups)
    if not sentences:
        return []
    first, *rest = sentences
    return [
        f"With {several(rows, 'row', 'rows')} and {spent}, {first}.",
        *(f"{each[0].upper()}{each[1:]}." for each in rest),
    ]


def _of_counts(off: float, rows: int, groups: int) -> str:
    if off >= rows:
        return "nothing can be told from noise; ask for less, or spend more"
    if off >= rows / groups:
        return f"if rows spread evenly over {groups} groups, all of them are within the noise"
    return "groups of fewer are within the noise"


def _of_choice(off: float, rows: int) -> str:
    part = off / rows
    percent = f"{100 * min(1.0, part):.{0 if part >= 0.01 else 2}f} %"
    start = f"the first choice may be {off:,.0f} rows ({percent}) worse than the best"
    if part >= HOPELESS:
        return f"{start}: expect no split, or one that noise has made"
    if part >= HARD:
        return f"{start}: expect only what tells very much to be found"
    return f"{start}: what tells more than that is found"


def _lines(rounds: Sequence[AskedRound]) -> list[QuestionLine]:
    return [line for asked in rounds for line in asked.questions]
