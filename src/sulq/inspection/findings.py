"""What an owner is told of a table: one finding for each kind of trouble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

NOTICE = "Exact facts about people, for the owner of the data only: do not publish or pass on what follows."


@dataclass(frozen=True)
class Finding:
    """One kind of trouble, and what it does to answers.

    Args:
        where: the column, or "lines", "encoding" or "people".
        what: the kind of trouble in a few words, as "not a number".
        many: how many cells, lines or people have it.
        of: how many there are in all.
        effect: what becomes of them, and of answers.
        spellings: the most frequent texts of such cells, with how often each occurs.
        try_: settings of the schema that would mend some of it, as lines of TOML.
        worry: whether answers suffer from it.
    """

    where: str
    what: str
    many: int
    of: int
    effect: str
    spellings: Mapping[str, int]
    try_: tuple[str, ...] = ()
    worry: bool = True

    def form(self) -> dict[str, Any]:
        """The finding as plain data."""
        form = asdict(self)
        return {name.rstrip("_"): value for name, value in form.items()}


@dataclass(frozen=True)
class Inspection:
    """All that was found in a table. It is exact, and so not private.

    Args:
        rows: how many rows the table has.
        findings: what is wrong with them.
    """

    rows: int
    findings: tuple[Finding, ...]

    @property
    def worry(self) -> bool:
        """Whether answers suffer from anything that was found."""
        return any(finding.worry for finding in self.findings)

    def form(self) -> dict[str, Any]:
        """The inspection as plain data."""
        return {
            "check": 1,
            "notice": NOTICE,
            "rows": self.rows,
            "worry": self.worry,
            "findings": [finding.form() for finding in self.findings],
        }
