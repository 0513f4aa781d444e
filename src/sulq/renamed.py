"""Names of the version before: they work for one more version, with a warning that says the new name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {
    "sulq.atlas": "sulq.theory.atlas",
    "sulq.beyond": "sulq.classes",
    "sulq.beyond.classes": "sulq.classes.boolean",
    "sulq.beyond.compress": "sulq.learners.compress",
    "sulq.beyond.domains": "sulq.classes.domains",
    "sulq.beyond.gf2": "sulq.privacy.gf2",
    "sulq.beyond.grids": "sulq.classes.grids",
    "sulq.beyond.many": "sulq.privacy.many_candidates",
    "sulq.beyond.parity": "sulq.learners.parity",
    "sulq.beyond.rules": "sulq.hypotheses.rules",
    "sulq.beyond.samples": "sulq.classes.sizes",
    "sulq.beyond.select": "sulq.learners.select",
    "sulq.beyond.small": "sulq.classes.small",
    "sulq.beyond.transforms": "sulq.classes.transforms",
    "sulq.inside": "sulq.row_function_guard",
    "sulq.learners.features": "sulq.queries.attributes",
    "sulq.learners.hypothesis": "sulq.hypotheses.hypothesis",
    "sulq.learners.masked_parity": "sulq.theory.masked_parity",
    "sulq.learners.tree": "sulq.hypotheses.tree",
    "sulq.local.chances": "sulq.local.draws",
    "sulq.local.design": "sulq.local.blocks",
    "sulq.local.designs": "sulq.local.difference_sets",
    "sulq.oracles.adversary": "sulq.theory.adversary",
    "sulq.oracles.answers": "sulq.talk.statistics",
    "sulq.oracles.denoised": "sulq.talk.denoised",
    "sulq.oracles.emulation": "sulq.theory.emulation",
    "sulq.oracles.flips": "sulq.talk.flips",
    "sulq.oracles.mask_blind": "sulq.theory.mask_blind",
    "sulq.oracles.reports": "sulq.local.item",
    "sulq.oracles.open": "sulq.oracles.assembly",
    "sulq.oracles.wrapper": "sulq.talk.wrapper",
    "sulq.plans.asked": "sulq.plans.watching",
    "sulq.plans.chances": "sulq.plans.mistakes",
    "sulq.plans.needs": "sulq.plans.decisions",
    "sulq.plans.released": "sulq.plans.selection",
    "sulq.plans.theorems": "sulq.theory.theorems",
    "sulq.privacy.entries": "sulq.ledger.chain",
    "sulq.privacy.ledger": "sulq.ledger.ledger",
    "sulq.privacy.ledger_file": "sulq.ledger.sqlite",
    "sulq.privacy.parts": "sulq.ledger.parts",
    "sulq.privacy.purpose": "sulq.ledger.purpose",
    "sulq.queries.canonical": "sulq.queries.reading",
    "sulq.samples.masked_parity": "sulq.theory.masked_examples",
    "sulq.sources.cohort": "sulq.sources.subset",
}
"""Where the modules of the version before are now."""

TOP = {
    "AdaptivityError": "sulq.errors.AdaptivityError",
    "Adversary": "sulq.theory.Adversary",
    "Centres": "sulq.hypotheses.Centres",
    "Choice": "sulq.queries.choose.Choice",
    "Components": "sulq.hypotheses.Components",
    "Conjunctions": "sulq.classes.Conjunctions",
    "Denoised": "sulq.talk.denoised.Denoised",
    "Halfspace": "sulq.hypotheses.Halfspace",
    "Halfspaces": "sulq.classes.Halfspaces",
    "Hypotheses": "sulq.classes.Hypotheses",
    "Intervals": "sulq.classes.Intervals",
    "Labelings": "sulq.classes.Labelings",
    "LedgerError": "sulq.errors.LedgerError",
    "MaskBlind": "sulq.theory.MaskBlind",
    "MaskedParity": "sulq.theory.MaskedParity",
    "MaskedParityRule": "sulq.theory.MaskedParityRule",
    "MonotoneConjunctions": "sulq.classes.MonotoneConjunctions",
    "Origin": "sulq.hypotheses.Origin",
    "Parities": "sulq.classes.Parities",
    "ParityRule": "sulq.hypotheses.ParityRule",
    "Rectangles": "sulq.classes.Rectangles",
    "ReleaseError": "sulq.errors.ReleaseError",
    "Rule": "sulq.hypotheses.Rule",
    "SchemaError": "sulq.errors.SchemaError",
    "Selected": "sulq.hypotheses.Selected",
    "SmallConjunctions": "sulq.classes.SmallConjunctions",
    "Stumps": "sulq.classes.Stumps",
    "Thresholds": "sulq.classes.Thresholds",
    "Tree": "sulq.hypotheses.Tree",
    "emulated": "sulq.theory.emulated",
    "masked_parity_domain": "sulq.theory.masked_parity_domain",
    "masked_parity_rows": "sulq.theory.masked_parity_rows",
    "masked_parity_schema": "sulq.theory.masked_parity_schema",
    "occam_rows": "sulq.classes.sizes.occam_rows",
    "parity_rows": "sulq.classes.sizes.parity_rows",
    "parse": "sulq.queries.reading.parse",
    "parse_round": "sulq.queries.reading.parse_round",
    "perceptron_rounds": "sulq.learners.perceptron.perceptron_rounds",
    "vc_rows": "sulq.classes.sizes.vc_rows",
    "worst_answers": "sulq.theory.worst_answers",
}
"""Where the names of `sulq` itself are that it had before."""


def moved(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__`, which finds names that were there before.

    Args:
        module: the module's name.
        names: for every name of before, the module and the name of today.

    >>> find = moved("sulq.old", {"pi": "math.pi"})
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     find("pi")
    3.141592653589793
    >>> print(seen[0].message)
    sulq.old.pi is math.pi now; the old name works for this version only
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        _warn(f"{module}.{name}", names[name], level=3)
        return getattr(import_module(home), new)

    return find


class _Finder(MetaPathFinder, Loader):
    """Finds the modules of the version before."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _warn(spec.name, MODULES[spec.name], level=2)
        module = import_module(MODULES[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module of today has been run already; it only gets back what says where it is from."""
        module.__spec__ = None if module.__spec__ is None else module.__spec__.loader_state


def _warn(old: str, new: str, level: int) -> None:
    text = f"{old} is {new} now; the old name works for this version only"
    warnings.warn(text, DeprecationWarning, stacklevel=level + 1)


if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _Finder())  # before today's folders are searched for the old names
