"""The doors from a source to the oracles that answer about it.

They are the only upward imports of the project: an oracle stands above the sources, and is imported when its
door is opened. No other module may import from a folder above its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sulq.numbers import Numeric, truth
from sulq.privacy.budget import ApproxDP, Budget, pure_epsilon, stated
from sulq.queries.query import Neighbours
from sulq.sources.sums import Sums

if TYPE_CHECKING:
    from sulq.oracles.crowd import Crowd
    from sulq.oracles.curator import Curator
    from sulq.oracles.exact import Exact
    from sulq.oracles.sample import Sample


class Doors(Sums):
    """Sums with a door to every kind of oracle."""

    def exact(self, *, interactive: bool = True) -> Exact:
        """The oracle that tells the truth: what a learner can do without privacy.

        Args:
            interactive: whether later rounds may depend on earlier answers.
        """
        from sulq.oracles.exact import Exact

        return Exact(self, truth("interactive", interactive))

    def curator(
        self,
        budget: Numeric | Budget | None = None,
        delta: Numeric | None = None,
        rho: Numeric | None = None,
        *,
        epsilon: Numeric | None = None,
        neighbours: Neighbours = "replace",
        ledger: str | Path | None = None,
        truncate: bool = False,
        calibration: Literal["tight", "gaussian", "zcdp", "sulq-gaussian", "sulq-laplace"] = "tight",
        queries: int | None = None,
        answering: Literal["joint", "chunks", "printed"] = "joint",
        gamma: Numeric | None = None,
        interactive: bool = True,
    ) -> Curator:
        """A trusted curator who answers with noise, within a budget, and keeps a ledger.

        Args:
            budget: a `PureDP`, `ZCDP` or `ApproxDP`. A number stands for `epsilon`.
            delta: with `epsilon`, for (ε, δ)-differential privacy.
            rho: a budget in zCDP, alone.
            epsilon: a budget in pure differential privacy, alone, or with `delta`.
            neighbours: what one person's presence means: "replace" (the number of rows is public) or
                "add-remove".
            ledger: the file that remembers what was spent, by default one beside the data, which several
                files do not have; or an address, as "postgresql:///clinic?schema=people"; ":memory:" forgets
                it with the process, as does any source that is not a file.
            truncate: bring answers into the range that is public, which makes them biased.
            calibration: how noise follows from the budget. For (ε, δ), "gaussian" is the best for rounds
                without choices, and "zcdp" goes by zCDP alone; an `ApproxDP` says this too. The SuLQ paper's
                own, "sulq-gaussian" and "sulq-laplace", need the number of `queries` beforehand.
            queries: how many queries there will be, where that must be known.
            answering: "joint" answers every query with all rows and charges rounds jointly; "chunks" deals
                the rows to so many `queries`, each with all of the budget on rows of its own; "printed" is
                the same with an equal part of the budget for each, as the lecture notes have it.
            gamma: γ of the SuLQ paper's Theorem 4, with calibration="sulq-gaussian".
            interactive: whether there may be a second round. False is the papers' centralized noninteractive
                model: the ledger holds one round, whoever asks.

        >>> import sulq
        >>> sulq.randhie().curator(sulq.PureDP(1)).promise
        'ε = 1 (pure)'
        >>> sulq.randhie().curator(epsilon=1, delta="1e-6").promise
        '(ε, δ) = (1, 1e-06)'
        """
        from sulq.oracles.assembly import curator

        numbers = stated(budget, epsilon, delta, rho)
        if isinstance(budget, ApproxDP) and calibration == "tight":
            calibration = budget.accounting
        return curator(
            self,
            *numbers,
            neighbours,
            ledger,
            truth("truncate", truncate),
            calibration,
            queries,
            answering,
            gamma,
            truth("interactive", interactive),
        )

    def crowd(
        self,
        epsilon: Numeric | Budget,
        *,
        interactive: bool = True,
        method: Literal["best", "printed", "paper"] = "best",
    ) -> Crowd:
        """The local model: each row plays a person who is asked once and randomizes their own report.

        Every crowd is a survey of its own: what people are promised adds up over all surveys they take part
        in.

        Args:
            epsilon: what is promised to every person: a number, or a `PureDP`.
            interactive: whether later rounds may depend on earlier answers.
            method: "best" picks the randomizer with the least variance for what is asked, "printed" the best
                of those that articles print, "paper" is the Laplace report of the paper.

        >>> import sulq
        >>> sulq.randhie().crowd(sulq.PureDP(1)).promise
        'ε = 1 (pure, local)'
        """
        from sulq.oracles.crowd import Crowd

        return Crowd(self, pure_epsilon(epsilon), method, interactive=truth("interactive", interactive))

    def sample(self, *, fresh: bool = True, interactive: bool = True) -> Sample:
        """The PAC model: answers about the distribution that the rows were drawn from, without privacy.

        Args:
            fresh: a chunk of rows for each question, or all rows for all questions.
            interactive: whether later rounds may depend on earlier answers.

        >>> import sulq
        >>> sulq.randhie().sample(fresh=False).promise
        'none: averages of a sample'
        """
        from sulq.oracles.sample import Sample

        return Sample(self, truth("fresh", fresh), interactive=truth("interactive", interactive))
