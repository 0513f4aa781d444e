"""`sulq atlas`: what each trust model can learn, measured: the picture of "What can we learn privately?"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.local.hadamard import transformed
from sulq.numbers import whole
from sulq.pictures.lines import Line, Scale, spanning
from sulq.privacy.gf2 import equations
from sulq.privacy.parity import ParityMechanism, first_of
from sulq.queries.expressions import col
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.reporting import Progress
from sulq.schema import Boolean
from sulq.sources.opening import open as open_source
from sulq.sources.source import Source
from sulq.theory.masked_examples import masked_parity_rows, masked_parity_schema
from sulq.theory.masked_parity import MaskedParity

REPEATS = 8
"""Runs of the parity learner's A, each with an eighth of ε; one in two says nothing."""
Trial = Callable[[int, np.random.Generator], bool]


@dataclass(frozen=True)
class Plate:
    """One picture of the atlas: how often learners find the concept, by how many rows there are."""

    name: str
    title: str
    note: str
    lines: tuple[Line, ...]

    @property
    def axes(self) -> tuple[Scale, Scale]:
        rows = [x for line in self.lines for x, _ in line.points]
        return spanning("people", rows, powers=True), Scale("share of runs that find the concept", 0.0, 1.0)


def atlas(dimension: int, epsilon: Fraction, runs: int, seed: int = 0) -> Iterator[Plate]:
    """Masked parity, which needs interaction where nobody is trusted; and parity, which needs trust.

    Args:
        dimension: how many bits a row has: a power of two from 2 to 16.
        epsilon: what is promised to each person.
        runs: how many runs there are for every point.
        seed: for the examples; noise has none.
    """
    if not 2 <= dimension <= 16 or dimension & (dimension - 1):
        raise QueryError(f"the dimension is a power of two from 2 to 16, not {dimension!r}")
    whole("runs", runs, 1)
    about = f"d = {dimension}, ε = {float(epsilon):g}, {runs} runs a point; bars are two standard errors"
    yield Plate(
        "masked-parity",
        "Masked parity: what interaction buys",
        about,
        (
            _line("a trusted curator", _masked(dimension, _curator(epsilon)), _powers(2, 5), runs, seed),
            _line("an interactive crowd", _masked(dimension, _crowd(epsilon)), _powers(3, 6), runs, seed),
            _line(
                "a crowd asked once",
                _masked(dimension, _crowd(epsilon, once=True)),
                _powers(3, 6),
                runs,
                seed,
            ),
        ),
    )
    yield Plate(
        "parity",
        "Parity: what trust buys",
        about,
        (
            _line("a trusted curator", _parity_by_equations(dimension, epsilon), _powers(2, 4), runs, seed),
            _line("a crowd", _parity_by_reports(dimension, epsilon), _powers(2, 6), runs, seed),
        ),
    )


def _powers(first: int, last: int) -> list[int]:
    """Two sizes for each power of ten."""
    return [round(10 ** (half / 2)) for half in range(2 * first, 2 * last + 1)]


def _line(name: str, trial: Trial, sizes: Sequence[int], runs: int, seed: int) -> Line:
    shares = []
    with Progress(name, len(sizes) * runs) as progress:
        for size in sizes:
            successes = 0
            for run in range(runs):
                successes += trial(size, np.random.default_rng([seed, size, run]))
                progress.advance(1)
            shares.append(successes / runs)
    points = tuple((float(size), share) for size, share in zip(sizes, shares, strict=True))
    return Line(name, points, tuple((share * (1 - share) / runs) ** 0.5 for share in shares))


def _curator(epsilon: Fraction) -> Callable[[Source], Any]:
    return lambda people: people.curator(epsilon)


def _crowd(epsilon: Fraction, once: bool = False) -> Callable[[Source], Any]:
    return lambda people: people.crowd(epsilon, interactive=not once)


def _masked(d: int, oracle: Callable[[Source], Any]) -> Trial:
    """Whether r and a are both found. One round says nothing of a: then it is guessed, by a coin."""
    schema = masked_parity_schema(d)

    def trial(size: int, rng: np.random.Generator) -> bool:
        secret, mask = tuple(rng.integers(0, 2, d).tolist()), int(rng.integers(0, 2))
        answerer = oracle(open_source(masked_parity_rows(secret, mask, size, rng), schema))
        learner = MaskedParity(share=1, adaptive=getattr(answerer, "interactive", True))
        rule = learner.learn(answerer)
        guess = int(rng.integers(0, 2)) if rule.mask is None else rule.mask
        return (rule.secret, guess) == (secret, mask)

    return trial


def _examples(d: int, size: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    secret = rng.random(d) < 0.5
    bits = rng.random((d, size)) < 0.5
    return secret, bits, np.logical_xor.reduce(bits[secret], axis=0) if secret.any() else np.zeros(size, bool)


def _parity_by_equations(d: int, epsilon: Fraction) -> Trial:
    """Learner A of the paper, repeated: a trusted curator may solve equations."""
    mechanism = ParityMechanism(epsilon / REPEATS)

    def trial(size: int, rng: np.random.Generator) -> bool:
        secret, bits, label = _examples(d, size, rng)
        solution = first_of(mechanism, equations(list(bits), label), d, REPEATS)
        return solution is not None and bool(np.array_equal(solution, secret))

    return trial


def _parity_by_reports(d: int, epsilon: Fraction) -> Trial:
    """The parity that agrees most with the table of all examples, as far as a crowd's reports tell it.

    No way of asking a crowd does much better: parities need exponentially many statistical queries.
    """
    names = [f"x{j}" for j in range(d)]
    schema = {name: Boolean() for name in [*names, "label"]}
    table_of_all = Round([count(by=[*map(col, names), col("label")])], share=1)

    def trial(size: int, rng: np.random.Generator) -> bool:
        secret, bits, label = _examples(d, size, rng)
        people = open_source(dict(zip(names, bits, strict=True)) | {"label": label}, schema)
        [table] = people.crowd(epsilon).ask(table_of_all)
        false, true = np.reshape(table.value, (-1, 2)).T
        agreement = transformed(np.rint(false - true).astype(np.int64))
        best = int(agreement.argmax())
        return bool(np.array_equal([best >> (d - 1 - j) & 1 for j in range(d)], secret))

    return trial
