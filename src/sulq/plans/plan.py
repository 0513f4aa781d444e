"""How many rows a learner needs, how good it will be, and what privacy that takes, before there are any rows.

Rows, error, confidence and ε depend on each other. From the others a plan works out the one that is not
given, and states it twice: by the bound of the papers, its constants made explicit, and as small as exact
tails allow.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

from sulq.errors import QueryError
from sulq.learners.compress import Compress
from sulq.learners.conjunction import Conjunction
from sulq.learners.learner import Learner
from sulq.learners.parity import Parity
from sulq.learners.select import Select
from sulq.numbers import Numeric, fraction, in_floats, whole
from sulq.plans.bounds import Both, Bounds, Figures, Goal, possible, short, solved
from sulq.plans.contents import Plan
from sulq.plans.decisions import label_of
from sulq.plans.emulation import emulable, emulated_plan, paper_noise
from sulq.plans.models import Model, Wanted, theorem
from sulq.plans.rehearsal import Known, rehearse
from sulq.plans.search import MOST_ROWS
from sulq.plans.selection import released_bounds
from sulq.plans.statistical import StatisticalBounds
from sulq.schema import Schema
from sulq.theory.masked_parity import MaskedParity

__all__ = ["Plan", "plan"]
NONE = Both(None, None)


@in_floats
def plan(
    learner: Any,
    schema: Any,
    *,
    error: Numeric | None = None,
    confidence: Numeric | None = None,
    epsilon: Numeric | None = None,
    rows: int | None = None,
    model: Model = "curator",
    noise_rate: Numeric = 0,
    known: Known | None = None,
    calibration: str = "tight",
    queries: int | None = None,
    delta: Numeric | None = None,
    gamma: Numeric | None = None,
) -> Plan:
    """What a learner needs to keep its promise about the distribution that rows are drawn from.

    A plan has the number that is not given. Without `rows` it says how many rows it takes. With `rows` and
    without `epsilon` it says the smallest ε. With both it says the smallest `error`, or, for masked parity,
    which is learned exactly or not at all, the `confidence`. If everything is given, the plan is checked, and
    refused with what would be possible instead. No data is needed, and nothing is spent.

    `Conjunction` and `MaskedParity` have theorems under every model, `Parity`, `Select` and `Compress` under
    a curator.
    Other learners are rehearsed on made-up rows, for which `rows` and `epsilon` are needed; such a plan is
    an `estimate`.

    Args:
        learner: the learner.
        schema: what is public about the columns: anything that `Schema.of` takes.
        error: on which part of the rows the hypothesis may be wrong; by default the learner's own.
        confidence: how sure that is; by default the learner's own.
        epsilon: what is promised to each person.
        rows: how many rows there are.
        model: who answers. "exact": the rows are all there is. "sample": rows are a sample, without privacy.
            "curator": somebody who is trusted. "crowd": nobody is trusted.
        noise_rate: how often labels are wrong.
        known: for a rehearsal, noisy counts of columns that were paid for already, so that the made-up rows
            look more like the real ones.
        calibration: "tight", or one of the SuLQ paper's own, "sulq-gaussian" and "sulq-laplace": Theorem 3,
            by repetition. Such a plan speaks of the rows themselves, and not of where they come from.
        queries: the number of queries T of the SuLQ paper's calibrations.
        delta: δ of "sulq-gaussian".
        gamma: γ of the paper's Theorem 4, for "sulq-gaussian"; by default Theorem 1.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "old", "flu")})
    >>> learner = sulq.Conjunction("flu", error=0.05)
    >>> plan(learner, schema, epsilon=1).rows
    Both(paper=473529, tight=1291)
    >>> plan(learner, schema, epsilon=1, rows=10_000).error.tight
    0.00544
    >>> plan(learner, schema, rows=10_000).epsilon.tight
    0.0839
    >>> plan(learner, schema, epsilon=1, calibration="sulq-laplace", queries=50).rows
    Both(paper=7087, tight=7004)
    """
    declared = Schema.of(schema)
    if model not in get_args(Model):
        raise QueryError(f"the model is one of {', '.join(get_args(Model))}, not {model!r}")
    if rows is not None:
        rows = whole("rows", rows, 1, MOST_ROWS)
    if not isinstance(learner, Learner):
        raise QueryError(f"a plan is for a learner, not for {type(learner).__name__}")
    wanted = Wanted(
        _given("error", error),
        _given("confidence", confidence),
        _given("epsilon", epsilon),
        rows,
        model,
        _given("noise_rate", noise_rate) or Fraction(0),
    )
    if calibration != "tight":
        if model != "curator" or wanted.rate or known is not None:
            raise QueryError("the SuLQ paper's calibrations are a curator's, and for labels that are right")
        noise, emulated = paper_noise(calibration, queries, delta, gamma), emulable(learner, declared)
        return emulated_plan(emulated, declared, _terms(learner, wanted), noise)
    if (queries, delta, gamma) != (None, None, None):
        raise QueryError("queries, delta and gamma go with the SuLQ paper's calibrations: name one")
    if isinstance(learner, Conjunction | MaskedParity | Parity | Select | Compress):
        if known is not None:
            raise QueryError("a theorem holds for all rows there can be: leave known out")
        return _proved(learner, declared, wanted)
    return _rehearsed(learner, declared, wanted, known)


def _proved(learner: Any, schema: Schema, wanted: Wanted) -> Plan:
    if schema.rows_per_unit > 1:
        raise QueryError(
            "where a person may have several rows, rows are no independent draws, and the theorems do not "
            "speak of them: rehearse instead, with `sulq learn … --dry-run`"
        )
    terms = _terms(learner, wanted)
    if not 0 <= wanted.rate < Fraction(1, 2):
        other = replace(wanted, rate=Fraction(4, 10))
        raise QueryError(
            f"noise_rate must be at least 0 and less than 1/2, not {short(wanted.rate)}: labels that are "
            "wrong half of the time say nothing, and more often, the opposite"
            + _instead(learner, schema, other, terms, "at a rate of 0.4, ")
        )
    _check_terms(learner, schema, wanted, terms)
    bounds = _bounds(learner, schema, wanted)
    figures = solved(bounds, terms)
    if not isinstance(bounds, StatisticalBounds):
        return _released(learner, figures)
    error = Fraction(str(figures.error.tight)) if not terms.exactly else Fraction(0)
    needs = bounds.needs(error, 1 - Fraction(str(figures.confidence.tight)))
    crowd = wanted.model == "crowd"
    return Plan(
        replace(needs.learner, confidence=Fraction(str(figures.confidence.tight))),
        wanted.model,
        _oracle(learner, wanted, figures),
        figures.rows,
        figures.error,
        figures.confidence,
        figures.epsilon,
        wanted.rate,
        len(needs.rounds),
        len(needs.tolerances),
        needs.tolerances,
        theorem(wanted.model, needs.theorem, wanted.rate),
        covered=True,
        reuse="nobody is asked twice" if crowd else needs.fixed,
    )


def _terms(learner: Any, wanted: Wanted) -> Goal:
    """What is given, what is the learner's own, and what is asked for."""
    exactly, private = isinstance(learner, MaskedParity), wanted.model in ("curator", "crowd")
    if exactly and wanted.error is not None:
        raise QueryError("masked parity is learned exactly: state a confidence, not an error")
    if wanted.epsilon is not None and not private:
        raise QueryError(f"there is no noise in the model {wanted.model!r}: leave epsilon out")
    if wanted.rows is None and wanted.epsilon is None and private:
        raise QueryError("state epsilon to hear how many rows it takes, or rows to hear which epsilon")
    both_given = wanted.rows is not None and (wanted.epsilon is not None or not private)
    error = wanted.error
    if exactly:
        error = Fraction(0)
    elif error is None and not both_given:
        if learner.error is None:
            raise QueryError("state the error that is wanted")
        error = fraction("error", learner.error)
    confidence = wanted.confidence
    if confidence is None and not (both_given and exactly):
        confidence = fraction("confidence", learner.confidence)
    return Goal(
        error, None if confidence is None else 1 - confidence, wanted.epsilon, wanted.rows, exactly, private
    )


def _check_terms(learner: Any, schema: Schema, wanted: Wanted, terms: Goal) -> None:
    """Refuse what no number of rows can give, and say what some can."""
    if terms.error is not None and not terms.exactly and not 0 < terms.error < 1:
        other = replace(terms, error=Fraction(1, 100))
        raise QueryError(
            f"error must lie strictly between 0 and 1, not {short(terms.error)}: at 0 no number of rows is "
            f"enough, and at 1 any rule will do{_instead(learner, schema, wanted, other)}"
        )
    if terms.beta is not None and not 0 < terms.beta < 1:
        other = replace(terms, beta=Fraction(1, 10**6))
        raise QueryError(
            f"confidence must lie strictly between 0 and 1, not {short(1 - terms.beta)}: at 1 no number "
            f"of rows is enough, and at 0 nothing is promised{_instead(learner, schema, wanted, other)}"
        )
    if terms.epsilon is not None and terms.epsilon <= 0:
        other = replace(terms, epsilon=Fraction(1, 10))
        raise QueryError(
            f"epsilon must be a positive number, not {short(terms.epsilon)}: at 0 nothing can be learned"
            f"{_instead(learner, schema, wanted, other)}"
        )


def _instead(learner: Any, schema: Schema, wanted: Wanted, terms: Goal, lead: str = "") -> str:
    """What would be possible, in words, if what else was asked for makes sense."""
    try:
        return f"; {lead}{possible(_bounds(learner, schema, wanted), terms)}"
    except (QueryError, ArithmeticError):
        return ""


def _bounds(learner: Any, schema: Schema, wanted: Wanted) -> Bounds:
    if isinstance(learner, Conjunction | MaskedParity):
        return StatisticalBounds(learner, schema, wanted.model, wanted.rate)
    if wanted.model != "curator" or wanted.rate:
        raise QueryError(
            f"{type(learner).__name__} looks at rows, not at sums, so only a trusted curator can run it, "
            "and wrong labels are not covered"
        )
    return released_bounds(learner, schema)


def _released(learner: Any, figures: Figures) -> Plan:
    theorems: dict[type, str] = {
        Parity: "Theorem 4.4 (full paper), Theorem 3.8 (earlier version)",
        Compress: "Theorem 3.4 and the end of section 3.1 (full paper)",
    }
    error, sure = (Fraction(str(figure.tight)) for figure in (figures.error, figures.confidence))
    goal_learner = replace(learner, error=error, confidence=sure, share=1)
    return Plan(
        goal_learner,
        "curator",
        f"source.curator(epsilon={figures.epsilon.tight:.10g})",
        figures.rows,
        figures.error,
        figures.confidence,
        figures.epsilon,
        Fraction(0),
        rounds=1,
        queries=1,
        tolerances=(),
        theorem=theorems.get(type(learner), "Theorem 3.4 (full paper)"),
        covered=True,
        reuse="there is one release only",
    )


def _oracle(learner: Any, wanted: Wanted, figures: Figures) -> str:
    private = "" if figures.epsilon.tight is None else f"epsilon={figures.epsilon.tight:.10g}"
    code = f"source.{wanted.model}({'fresh=False' if wanted.model == 'sample' else private})"
    if wanted.rate:
        code += f".denoised({label_of(learner)!r}, {float(wanted.rate):.10g})"
    return code


def _rehearsed(learner: Learner[Any], schema: Schema, wanted: Wanted, known: Known | None) -> Plan:
    """No theorem: what the learner asks of made-up rows, what it pays, and how well it is answered."""
    name = type(learner).__name__
    if wanted.error is not None or wanted.confidence is not None or wanted.rate:
        raise QueryError(f"no theorem says how good {name} is: leave error, confidence and noise_rate out")
    if wanted.model != "curator" or wanted.rows is None or wanted.epsilon is None:
        raise QueryError(
            f"no theorem says how many rows {name} needs: state rows and epsilon, and it is rehearsed under "
            "a curator on so many made-up rows"
        )
    rehearsal = rehearse(learner, schema, wanted.rows, epsilon=wanted.epsilon, known=known)
    return Plan(
        learner,
        "curator",
        f"source.curator(epsilon={short(wanted.epsilon)})",
        Both(None, wanted.rows),
        NONE,
        NONE,
        Both(None, float(rehearsal.cost)),
        Fraction(0),
        len(rehearsal.rounds),
        sum(round_.queries for round_ in rehearsal.rounds),
        (),
        "none: a rehearsal on made-up rows",
        covered=False,
        reuse="nothing is promised about the distribution of the rows",
        estimate=True,
        rehearsal=rehearsal,
    )


def _given(name: str, value: Numeric | None) -> Fraction | None:
    """A number, if one is given; whether it is possible is looked at later."""
    return None if value is None else fraction(name, value)
