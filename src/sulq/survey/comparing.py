"""Groups compared: shares within each, and whether two differ, with the errors that reports really have.

All of it is made of the joint frequencies f(group, answer), whose covariance follows from the randomizer. The
share of an answer in group a is f(a, L)/F(a). Two shares are equal where f(a, L)·F(b) = f(b, L)·F(a), and the
test is of the difference of these products: nothing is divided by a noisy number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sulq.local.frequencies import FrequencyReport, NumberedReport
from sulq.local.tally import Tally, histogram_of
from sulq.local.unary import UnaryResponse

Floats = NDArray[np.float64]
CLEAR = 4.0
"""A group can be compared if its share is this many standard errors above nothing."""


@dataclass(frozen=True)
class GroupShare:
    """The share of an answer within a group; `group` is None for all people.

    Args:
        group: the group.
        answer: the answer.
        value: the share, without bias but for what a division by a noisy number brings.
        radius: how far off it may be, at the survey's confidence, by the normal approximation.
    """

    group: str | None
    answer: str
    value: float
    radius: float


@dataclass(frozen=True)
class GroupDifference:
    """A test of whether two groups differ in the share of an answer.

    Args:
        first: one group.
        second: the other.
        answer: the answer.
        value: the share in the first less that in the second.
        radius: how far off that may be, at the survey's confidence.
        p: the chance of as large a difference if there is none, times the number of tests of the question.
    """

    first: str
    second: str
    answer: str
    value: float
    radius: float
    p: float


@dataclass(frozen=True)
class JointShares:
    """The joint frequencies of groups and answers, and their covariance.

    Args:
        groups: what the groups are called.
        answers: what the answers are called.
        shares: f(group, answer).
        covariance: of these, group by group.

    >>> joint = JointShares(("a", "b"), ("no", "yes"), np.array([[0.2, 0.3], [0.4, 0.1]]), np.eye(4) * 1e-6)
    >>> [difference] = joint.differences(beta=0.05)
    >>> round(difference.value, 2), difference.p < 1e-9
    (0.4, True)
    """

    groups: tuple[str, ...]
    answers: tuple[str, ...]
    shares: Floats
    covariance: Floats

    @property
    def told(self) -> tuple[int, ...]:
        """The places of the answers that are worth telling: of two, the second says all."""
        return (1,) if len(self.answers) == 2 else tuple(range(len(self.answers)))

    @property
    def clear(self) -> list[int]:
        """The places of the groups that are large enough to be compared."""
        return [
            place
            for place, size in enumerate(self.shares.sum(axis=1).tolist())
            if size > CLEAR * self._deviation(self._mask(place))
        ]

    def within(self, beta: float) -> tuple[GroupShare, ...]:
        """The share of each answer among all people, and within each group that is large enough."""
        z = NormalDist().inv_cdf(1 - beta / 2)
        told = []
        for answer in self.told:
            everywhere = np.zeros_like(self.shares)
            everywhere[:, answer] = 1
            value = float(self.shares[:, answer].sum())
            told.append(GroupShare(None, self.answers[answer], value, z * self._deviation(everywhere)))
        for group in self.clear:
            for answer in self.told:
                value, gradient = self._share(group, answer)
                radius = z * self._deviation(gradient)
                told.append(GroupShare(self.groups[group], self.answers[answer], value, radius))
        return tuple(told)

    def differences(self, beta: float) -> tuple[GroupDifference, ...]:
        """Every pair of groups that are large enough, tested on every answer."""
        z = NormalDist().inv_cdf(1 - beta / 2)
        pairs = [(*pair, answer) for pair in combinations(self.clear, 2) for answer in self.told]
        return tuple(self._difference(*pair, z, len(pairs)) for pair in pairs)

    def _difference(self, a: int, b: int, answer: int, z: float, tests: int) -> GroupDifference:
        (one, of_one), (other, of_other) = self._share(a, answer), self._share(b, answer)
        sizes = self.shares.sum(axis=1)
        gradient = np.zeros_like(self.shares)
        gradient[a] -= self.shares[b, answer]
        gradient[a, answer] += sizes[b]
        gradient[b] += self.shares[a, answer]
        gradient[b, answer] -= sizes[a]
        crossed = self.shares[a, answer] * sizes[b] - self.shares[b, answer] * sizes[a]
        p = math.erfc(abs(crossed) / self._deviation(gradient) / math.sqrt(2))
        return GroupDifference(
            self.groups[a],
            self.groups[b],
            self.answers[answer],
            one - other,
            z * self._deviation(of_one - of_other),
            min(1.0, p * tests),
        )

    def _share(self, group: int, answer: int) -> tuple[float, Floats]:
        """A share within a group, and its gradient."""
        size, part = float(self.shares[group].sum()), float(self.shares[group, answer])
        gradient = np.zeros_like(self.shares)
        gradient[group] = -part / size**2
        gradient[group, answer] += 1 / size
        return part / size, gradient

    def _mask(self, group: int) -> Floats:
        mask = np.zeros_like(self.shares)
        mask[group] = 1
        return mask

    def _deviation(self, gradient: Floats) -> float:
        flat = gradient.ravel()
        return math.sqrt(max(float(flat @ self.covariance @ flat), 1e-300))


def joint_shares(
    randomizer: FrequencyReport, tally: Tally, groups: tuple[str, ...], answers: tuple[str, ...]
) -> JointShares:
    """The joint frequencies that a tally tells.

    Args:
        randomizer: what devices drew their reports by.
        tally: the tally of the reports.
        groups: what the groups are called.
        answers: what the answers are called.
    """
    shares = randomizer.estimate_of(tally)
    shape = (len(groups), len(answers))
    covariance = _supports(randomizer, tally, shares) / (
        tally.reports * float(randomizer.support.contrast) ** 2
    )
    return JointShares(groups, answers, shares.reshape(shape), covariance)


def _supports(randomizer: FrequencyReport, tally: Tally, shares: Floats) -> Floats:
    """The covariance of what one report supports, over the people and their devices' draws.

    A few reports never look as if nothing could vary: half a report of each kind is added, and shares are
    such as people can have.
    """
    if isinstance(randomizer, NumberedReport):
        counts = histogram_of(tally, randomizer.reports) + 0.5
        kinds = counts / counts.sum()
        supports = randomizer.supporting(np.eye(randomizer.reports, dtype=np.int64)).astype(np.float64)
        together = supports.T @ (kinds[:, np.newaxis] * supports)
        alone = np.diag(together).copy()
    else:
        assert isinstance(randomizer, UnaryResponse)
        own, other = float(randomizer.support.own), float(randomizer.support.other)
        possible = np.maximum(shares, 0) + np.finfo(np.float64).tiny
        shares = possible / possible.sum()
        # A person of another possibility sets both bits by chance; one of either, their own as well.
        together = other**2 + np.add.outer(shares, shares) * (own * other - other**2)
        alone = other + shares * (own - other)
        np.fill_diagonal(together, alone)
    return np.asarray(together - np.outer(alone, alone))
