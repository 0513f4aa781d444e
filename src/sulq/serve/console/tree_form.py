"""A decision tree as it is asked for by clicking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from sulq.learners.id3 import ID3
from sulq.schema import Boolean, Category, Schema
from sulq.serve.console.choices import SHARE, Choices, check_names, share_in
from sulq.serve.refusals import RefusedError
from sulq.wire import digest, shown

DEPTHS = ("1", "2", "3", "4", "5", "6")


@dataclass(frozen=True)
class TreeForm:
    """What was clicked.

    Args:
        label: the column that the tree tells.
        features: the columns to ask about; all others if there are none.
        depth: how many questions lead to an end at most, "" to leave it to the learner.
        share: the part of the budget to spend, as an exact number.
        run: the name of the run.

    >>> schema = Schema({"sick": Boolean(), "old": Boolean()})
    >>> form = TreeForm.of(Choices.read("label=sick&depth=2"), schema)
    >>> form.learner(schema).depth, form.query.startswith("label=sick&depth=2&share=1%2F10&run=tree-")
    (2, True)
    """

    kind: ClassVar[str] = "tree"
    label: str = ""
    features: tuple[str, ...] = ()
    depth: str = ""
    share: str = SHARE
    run: str = ""
    expected_rows: ClassVar[None] = None

    @classmethod
    def given(cls, choices: Choices, schema: Schema) -> TreeForm:
        """What a form says, whether or not it makes sense: to show it again."""
        features = tuple(dict.fromkeys(choices.all("features")))
        settings = (choices.one("depth"), choices.one("share", SHARE), choices.one("run"))
        return cls(choices.one("label"), features, *settings)

    @classmethod
    def of(cls, choices: Choices, schema: Schema) -> TreeForm:
        """What a form says, or a refusal. Without a name the run is called after what is asked."""
        form = cls.given(choices, schema)
        check_names([form.label], tellable(schema))
        check_names(form.features, schema.attributes)
        if form.depth not in ("", *DEPTHS):
            raise RefusedError("refused", f"the depth is one of {', '.join(DEPTHS)}, not {shown(form.depth)}")
        form = replace(form, share=share_in(form.share))
        return form if form.run else replace(form, run=f"tree-{digest(form.query)[:8]}")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of `sulq.ID3`, without those that say nothing."""
        settings: dict[str, Any] = {"label": self.label}
        if self.features:
            settings["features"] = list(self.features)
        if self.depth:
            settings["depth"] = int(self.depth)
        return settings | {"share": self.share}

    def learner(self, schema: Schema) -> ID3:
        """Who learns the tree."""
        return ID3(**self.settings)

    @property
    def query(self) -> str:
        """The form as it stands in an address."""
        pairs = [("label", self.label), *(("features", name) for name in self.features)]
        pairs += [("depth", self.depth)] if self.depth else []
        pairs.append(("share", self.share))
        return urlencode([*pairs, ("run", self.run)] if self.run else pairs)

    def python(self, url: str, dataset: str, schema: Schema) -> str:
        """Python that learns the same tree, at no cost.

        Args:
            url: where the service is.
            dataset: the data set.
            schema: what is public about its columns.
        """
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return "\n".join(
            [
                "import sulq",
                "",
                f"people = sulq.connect({url!r}, dataset={dataset!r})  # the key is read from SULQ_KEY",
                f"learner = sulq.ID3({settings})",
                f"tree = learner.learn(people, run={self.run!r})  # the same run: nothing is spent",
                "print(tree.describe())",
            ]
        )


def tellable(schema: Schema) -> list[str]:
    """The columns that a tree can tell."""
    return [name for name in schema.attributes if isinstance(schema[name], Boolean | Category)]
