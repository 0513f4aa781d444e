"""A* of "What can we learn privately?" (full version), as its box has it: a noisy argmin over a test set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sulq.privacy.coins import shuffled
from sulq.privacy.gf2 import Bits, Words, packed_vector, products
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.parity import ParityMechanism


def noisy_argmin(wrong: list[int], epsilon: Fraction, runs: int) -> int:
    """Lines 5 and 6: which hypothesis has the fewest mistakes, each counted with Lap(k/ε) noise.

    On s rows the training error has Lap(k/sε) noise: here both are s times as large, and whole numbers. One
    row moves each of k counts by at most 1, so all noisy counts together are ε-differentially private
    (Lemma 4.5), whether or not they are told.

    Args:
        wrong: how many mistakes each hypothesis makes.
        epsilon: ε.
        runs: k, of which some may have said ⊥ and are not there.

    >>> noisy_argmin([900, 0, 700], Fraction(1), 3)
    1
    """
    noise = DiscreteLaplace(runs / epsilon).sample(len(wrong))
    return int(np.argmin(np.array(wrong, dtype=np.int64) + noise))


def boxed(
    mechanism: ParityMechanism, given: Words, unknowns: int, runs: int, each: int, tested: int
) -> Bits | None:
    """What A* outputs: None, which is ⊥, if every run of A does.

    Every row is in one part, so all of it costs what one run does. Which part is decided at random, because
    tables are often sorted, and positions are not drawn at random as the paper's rows are. Rows beyond
    kn′ + s are not looked at, as in the box.

    Args:
        mechanism: A.
        given: the rows' equations.
        unknowns: how many bits a parity has.
        runs: k.
        each: n′, the rows of a run.
        tested: s, the rows of the test set.
    """
    order = shuffled(len(given))
    parts = [given[order[run * each : (run + 1) * each]] for run in range(runs)]
    masks = [mask for part in parts if (mask := mechanism.release(part, unknowns)) is not None]
    if not masks:
        return None
    test_set = given[order[runs * each : runs * each + tested]]
    # ⟨x, r⟩ + y is 1 where r is wrong.
    wrong = [np.count_nonzero(products(test_set, packed_vector(np.append(mask, True)))) for mask in masks]
    return masks[noisy_argmin([int(each) for each in wrong], mechanism.epsilon, runs)]
