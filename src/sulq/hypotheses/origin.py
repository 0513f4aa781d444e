"""Where a hypothesis comes from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Origin:
    """Where a hypothesis comes from.

    Args:
        learner: the name of the learner's class.
        promise: what the oracle promised to every person, in words.
        run: the name of the run.
        rounds: how many rounds were asked.
        chosen: which of several learners was chosen and why, by a learner that chooses; else None.

    >>> import sulq
    >>> rows = {"a": [True, False], "y": [True, False]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> sulq.Conjunction("y", error=0.1).learn(people.exact()).origin
    Origin(learner='Conjunction', promise='none: exact answers', run=..., rounds=1, chosen=None)
    """

    learner: str
    promise: str
    run: str
    rounds: int
    chosen: str | None = field(default=None, metadata={"written": "if stated"})
