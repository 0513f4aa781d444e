"""Sketches: what a party publishes of its factors, so that their products with another's can be estimated.

People are dealt into T buckets by a public hash of their identifiers (`sulq.queries.buckets`). A party
publishes the noisy sums of a factor a by buckets, S = Σᵢ Rᵢ aᵢ + noise, where Rᵢ is the unit vector of person
i's bucket. Another party does the same with b. After the average over the buckets is taken away from each,

    T/(T − 1) · Σₖ S_A[k]·S_B[k]

estimates Σᵢ aᵢbᵢ. By Parseval's identity it is also the mean over T − 1 public sign vectors of the products
of signed sums, which is Dwork and Nissim's estimate: see `sulq.queries.buckets.Sign`.

*No bias.* Without its average, Rᵢ becomes Pᵢ with |Pᵢ|² = 1 − 1/T and E Pᵢ = 0. Different people's are
independent, so E⟨Pᵢ, Pⱼ⟩ = 0, and only products of one person with themselves are left. Noise has mean 0,
and the noises of two parties are independent. Who is in one table only meets nobody, and adds nothing.

*Variance.* With m = T − 1, noise of variance σ² in each bucket and ‖a‖² = Σ aᵢ²,

    V = (‖a‖²‖b‖² + (a·b)² − 2Σ aᵢ²bᵢ²)/m + ‖a‖²σ_B² + ‖b‖²σ_A² + m·σ_A²σ_B² ≤ (E Q_A · E Q_B + (a·b)²)/m,

where Q_A = T/m·Σₖ S_A[k]² has mean ‖a‖² + m·σ_A² and is public. So the error bar needs nothing that is not
published. The first part falls with m and the last one grows: the best m is about ‖a‖‖b‖/(σ_Aσ_B), and
there V ≈ (‖a‖σ_B + ‖b‖σ_A)².

*Nothing linear is better.* Let people be dealt any independent vectors Rᵢ of m numbers, all with one law,
and let noise be as large in every direction as the longest |Rᵢ| asks for. The estimate has no bias where
E|Rᵢ|² = 1 and E Rᵢ = 0, so the noise is least where all |Rᵢ| = 1. Then its part of V is the same for all such
laws. The other part is E⟨Rᵢ, Rⱼ⟩² times what depends on the rows alone. With C = E RᵢRᵢᵀ, whose trace is 1,
that is tr C² ≥ 1/m, with equality where C is the identity over m. Both hold here, with T − 1 for m. Dense
signs ±1/√m do as well under Gaussian noise, for T times the work. Under Laplace noise they need √m times as
much noise, because a person moves all T numbers instead of one.

*Three factors.* Σₖ S_A[k]·S_B[k]·S_C[k] has mean (1 − 1/T)(1 − 2/T)·Σ aᵢbᵢcᵢ, because E Pⱼ = 0 leaves only
products of one person with themselves. With λ = n/T people in a bucket, and values of size 1,

    V ≤ T·(18λ² + 6λ³ + 3(λ + 3λ²)σ² + 3λσ⁴ + σ⁶):

two people who meet, three who do, and noise beside two, one and none. With much noise the best of it is about
9.6·n·σ⁴: it takes many people. Four factors would meet in pairs as well, and are refused. Of rare flags few
buckets have a product, and products say little of how much they vary. So the deviation is at least what it is
if one factor's buckets are dealt anew:
for each factor, Σₖ (S_A[k]·S_B[k])²·Σₖ S_C[k]²/T is a variance that knows of meetings which did not happen.
The products of one person with themselves are in the deviation, too, though no error comes of them: it is at
least about √Σ(aᵢbᵢcᵢ)², however little noise there is.

*What error bars leave out.* They hold where an error is made of many people's. If one identifier has most of
the rows of each table, as placeholders have, and another one in each, then an estimate is off by the product
of both wherever these two share a bucket: with chance 1/T, whatever β is. A unit in the schema says how many
rows of one identifier count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.factored import Products

Floats = NDArray[np.float64]
FEWEST_BUCKETS = 64
"""With fewer, errors do not follow the law that is stated."""
MOST_FACTORS = 3
AT_ONCE = 2**22
"""How many products of three are made at once."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """The noisy sums of a factor's coordinates by buckets.

    Args:
        sums: a row for each bucket, a column for each coordinate.

    >>> Sketch(np.arange(8.0).reshape(4, 2)).into(2).sums.tolist()
    [[2.0, 4.0], [10.0, 12.0]]
    """

    sums: Floats

    @property
    def buckets(self) -> int:
        return len(self.sums)

    def into(self, buckets: int) -> Sketch:
        """The sketch with fewer buckets: neighbouring ones are joined."""
        return Sketch(self.sums.reshape(buckets, -1, self.sums.shape[1]).sum(axis=1))

    @property
    def centred(self) -> Floats:
        """The sums without their average over the buckets."""
        return np.asarray(self.sums - self.sums.mean(axis=0))


@dataclass(frozen=True, eq=False)
class SketchEstimate:
    """Sums of products over the people who are in all tables concerned.

    Args:
        values: one for each product.
        deviations: one standard deviation of the error of each.
        degrees: of freedom of these deviations.
    """

    values: Floats
    deviations: Floats
    degrees: int


def check_factors(many: int) -> None:
    """Refuse products of more factors than can be estimated.

    Args:
        many: of how many parties' columns.
    """
    if many > MOST_FACTORS:
        raise QueryError(
            f"products of {many} parties' columns are asked for, and those of at most {MOST_FACTORS} parties "
            "can be estimated: name fewer columns, or for a tree less depth"
        )


def estimated(products: Products, sketches: Sequence[Sketch]) -> SketchEstimate:
    """The sum over people of each product, from a sketch of each factor.

    Args:
        products: which coordinates of the factors are multiplied.
        sketches: of the factors, in the order of the hands that they are in.

    >>> one = Sketch(np.eye(64)[:, :1])  # a single person, in the first of 64 buckets
    >>> at = np.zeros(1, np.intp)
    >>> products = Products(at, np.ones(1), {}, {0: at, 1: at})
    >>> estimated(products, [one, one]).values.round(6).tolist()
    [1.0]
    """
    buckets = min(sketch.buckets for sketch in sketches)
    centred = [sketch.into(buckets).centred for sketch in sketches]
    at = [products.at[hand] for hand in sorted(products.at)]
    # Squares of very large or small numbers would leave the range of floats; powers of two lose nothing.
    sizes = [np.frexp(np.abs(each).max(axis=0))[1] for each in centred]
    scaled = [np.ldexp(each, -size) for each, size in zip(centred, sizes, strict=True)]
    size = sum(size[places] for size, places in zip(sizes, at, strict=True))
    found = _of_two(*scaled, *at) if len(sketches) == 2 else _of_three(scaled, at)
    return SketchEstimate(np.ldexp(found.values, size), np.ldexp(found.deviations, size), found.degrees)


def _of_two(left: Floats, right: Floats, i: NDArray[np.intp], j: NDArray[np.intp]) -> SketchEstimate:
    buckets = len(left)
    scale, degrees = buckets / (buckets - 1), buckets - 1
    values = (left.T @ right)[i, j] * scale
    squares = (left**2).sum(axis=0)[i] * (right**2).sum(axis=0)[j] * scale**2
    return SketchEstimate(values, np.sqrt((squares + values**2) / degrees), degrees)


def _of_three(centred: Sequence[Floats], at: Sequence[NDArray[np.intp]]) -> SketchEstimate:
    buckets = len(centred[0])
    scale = 1 / ((1 - 1 / buckets) * (1 - 2 / buckets))
    values, deviations = np.zeros(len(at[0])), np.zeros(len(at[0]))
    step = max(1, AT_ONCE // buckets)
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        sides = [side[:, place[some]] for side, place in zip(centred, at, strict=True)]
        each = sides[0] * sides[1] * sides[2]
        values[some] = each.sum(axis=0) * scale
        squares = [side**2 for side in sides]
        spreads = [each.var(axis=0) * buckets]
        for third, (first, second) in zip(squares, ((1, 2), (0, 2), (0, 1)), strict=True):
            met = (squares[first] * squares[second]).sum(axis=0)
            spreads.append(met * third.sum(axis=0) / buckets)
        deviations[some] = np.sqrt(np.max(spreads, axis=0)) * scale
    return SketchEstimate(values, deviations, buckets - 1)
