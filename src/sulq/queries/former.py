"""Forms of version 0, which had no version and called row expressions by the names of Python classes.

Ledgers know a question by its form, so a question is also looked for under the form that it had before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sulq.errors import QueryError
from sulq.queries.rounds import VERSION, Round
from sulq.wire import entry, shown

NAMES = {
    "add": "Add",
    "and": "And",
    "bins": "Bins",
    "clip": "Clip",
    "clip norm": "ClipNorm",
    "column": "Column",
    "compare": "Compare",
    "constant": "Constant",
    "cross": "Cross",
    "dot": "Dot",
    "feature": "Feature",
    "function": "Function",
    "gram": "Gram",
    "lookup": "Lookup",
    "multiply": "Multiply",
    "nearest": "Nearest",
    "not": "Not",
    "one hot": "OneHot",
    "only": "Only",
    "or": "Or",
    "outer": "Outer",
    "route": "Route",
    "scaled": "Scaled",
    "vector": "Vector",
    "where": "Where",
    "xor": "Parity",
}
"""What version 0 called each row expression that it knew. Row expressions made since do not belong here."""
TODAY = {old: name for name, old in NAMES.items()}
STATISTICS = ("count", "total", "mean")


def may_be_former(question: str | None) -> bool:
    """Whether version 0 may have written the question that a ledger begins with, and so some of the others.

    Version 0 refuses a ledger that a later version wrote in. So it wrote the first question or none.

    Args:
        question: the text of the first question; None if there is none.

    >>> may_be_former('{"round":{"queries":[],"round":1}}'), may_be_former('{"round":{"queries":[]}}')
    (False, True)
    """
    return question is not None and f'"round":{VERSION}' not in question


def former_form(round_: Round) -> dict[str, Any] | None:
    """The form that version 0 gave a round; None if the round asks what version 0 did not know.

    >>> import sulq
    >>> former_form(sulq.Round([sulq.count()], share=1))["queries"][0]["value"]
    {'node': 'Constant', 'constant': 1}
    """
    former: dict[str, Any] | None = former_data(round_.form)
    return former


def former_data(form: Any) -> Any:
    """Plain data, with every form inside as version 0 wrote it; None if version 0 did not know one of them.

    >>> former_data({"label": {"node": "column", "name": "sick"}})
    {'label': {'node': 'Column', 'name': 'sick'}}
    """
    try:
        return _former(form)
    except KeyError:
        return None


def _former(form: Any) -> Any:
    if isinstance(form, list | tuple):
        return [_former(each) for each in form]
    if not isinstance(form, Mapping):
        return form
    plain = {key: _former(value) for key, value in form.items()}
    if isinstance(plain.get("node"), str):
        return plain | {"node": NAMES[plain["node"]]}
    if isinstance(plain.get("query"), str):
        name = plain.pop("query")
        if name == "choose":
            return {"choose": plain.pop("candidates")} | plain
        if name not in STATISTICS:
            raise KeyError(name)
        return {"statistic": name} | plain
    if plain.get("round") == VERSION and "queries" in plain:
        del plain["round"]
    return plain


def upgraded(form: Any) -> Any:
    """Plain data that version 0 wrote, with every form inside as it is written now.

    >>> upgraded({"node": "Not", "inner": {"node": "Column", "name": "sick"}})
    {'node': 'not', 'inner': {'node': 'column', 'name': 'sick'}}
    """
    if isinstance(form, list):
        return [upgraded(each) for each in form]
    if not isinstance(form, Mapping):
        return form
    plain = {key: upgraded(value) for key, value in form.items()}
    if "node" in plain:
        plain["node"] = entry(plain["node"], TODAY, "row expression of version 0")
    return plain


def upgraded_round(form: Any) -> Any:
    """The form of a round that version 0 wrote, as it is written now."""
    plain = upgraded(form)
    if not isinstance(plain, Mapping) or not isinstance(plain.get("queries"), list):
        raise QueryError(f"this is not the form of a round: {shown(form)}")
    return {"round": VERSION} | dict(plain) | {"queries": [_question(each) for each in plain["queries"]]}


def _question(form: Any) -> Any:
    """The form of a query or choice of version 0 as it is written now."""
    if not isinstance(form, Mapping) or not ("choose" in form or form.get("statistic") in STATISTICS):
        raise QueryError(f"a query of version 0 is a choice or one of {', '.join(STATISTICS)}: {shown(form)}")
    named = {"query": "choose"} if "choose" in form else {}
    keys = {"choose": "candidates", "statistic": "query"}
    return named | {keys.get(key, key): value for key, value in form.items()}
