"""A decision tree or an additive model as it is asked for by clicking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from sulq.learners.additive import Additive
from sulq.learners.id3 import ID3
from sulq.schema import Boolean, Category, Schema
from sulq.serve.console.choices import SHARE, Choices, check_names, share_in
from sulq.serve.refusals import RefusedError
from sulq.wire import digest, shown


@dataclass(frozen=True)
class ModelForm:
    """What was clicked.

    Args:
        label: the column that the model tells.
        features: the columns to look at; all others if there are none.
        depth: how many questions of a tree lead to an end at most, "" to leave it to the learner.
        share: the part of the budget to spend, as an exact number.
        run: the name of the run.
    """

    kind: ClassVar[str]
    """What it is called in addresses."""
    title: ClassVar[str]
    """What it is called on pages."""
    learns: ClassVar[type[ID3] | type[Additive]]
    """The learner, which has the same name in Python."""
    depths: ClassVar[tuple[str, ...]] = ()
    """Among which depths to choose, if it has one."""
    expected_rows: ClassVar[None] = None

    label: str = ""
    features: tuple[str, ...] = ()
    depth: str = ""
    share: str = SHARE
    run: str = ""

    @classmethod
    def given(cls, choices: Choices, schema: Schema) -> Self:
        """What a form says, whether or not it makes sense: to show it again."""
        features = tuple(dict.fromkeys(choices.all("features")))
        settings = (choices.one("depth"), choices.one("share", SHARE), choices.one("run"))
        return cls(choices.one("label"), features, *settings)

    @classmethod
    def of(cls, choices: Choices, schema: Schema) -> Self:
        """What a form says, or a refusal. Without a name the run is called after what is asked."""
        form = cls.given(choices, schema)
        check_names([form.label], cls.tellable(schema))
        check_names(form.features, schema.attributes)
        if form.depth not in ("", *cls.depths):
            known = ", ".join(cls.depths) or "left empty here"
            raise RefusedError("refused", f"the depth is one of {known}, not {shown(form.depth)}")
        form = replace(form, share=share_in(form.share))
        return form if form.run else replace(form, run=f"{cls.kind}-{digest(form.query)[:8]}")

    @classmethod
    def tellable(cls, schema: Schema) -> list[str]:
        """The columns that such a model can tell."""
        return list(schema.attributes)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner, without those that say nothing."""
        settings: dict[str, Any] = {"label": self.label}
        if self.features:
            settings["features"] = list(self.features)
        if self.depth:
            settings["depth"] = int(self.depth)
        return settings | {"share": self.share}

    def learner(self, schema: Schema) -> ID3 | Additive:
        """Who learns the model."""
        return self.learns(**self.settings)

    @property
    def query(self) -> str:
        """The form as it stands in an address."""
        pairs = [("label", self.label), *(("features", name) for name in self.features)]
        pairs += [("depth", self.depth)] if self.depth else []
        pairs.append(("share", self.share))
        return urlencode([*pairs, ("run", self.run)] if self.run else pairs)

    def python(self, url: str, dataset: str, schema: Schema) -> str:
        """Python that learns the same model, at no cost.

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
                f"learner = sulq.{self.learns.__name__}({settings})",
                f"model = learner.learn(people, run={self.run!r})  # the same run: nothing is spent",
                "print(model.describe())",
            ]
        )


@dataclass(frozen=True)
class TreeForm(ModelForm):
    """A tree that was asked for by clicking. Its arguments are those of `ModelForm`.

    >>> schema = Schema({"sick": Boolean(), "old": Boolean()})
    >>> form = TreeForm.of(Choices.read("label=sick&depth=2"), schema)
    >>> form.learner(schema).depth, form.query.startswith("label=sick&depth=2&share=1%2F10&run=tree-")
    (2, True)
    """

    kind = "tree"
    title = "decision tree"
    learns = ID3
    depths = ("1", "2", "3", "4", "5", "6")

    @classmethod
    def tellable(cls, schema: Schema) -> list[str]:
        return [name for name in schema.attributes if isinstance(schema[name], Boolean | Category)]


@dataclass(frozen=True)
class AdditiveForm(ModelForm):
    """An additive model that was asked for by clicking. Its arguments are those of `ModelForm`.

    >>> schema = Schema({"sick": Boolean(), "old": Boolean()})
    >>> form = AdditiveForm.of(Choices.read("label=sick&features=old&run=mine"), schema)
    >>> form.learner(schema).features, form.query
    (['old'], 'label=sick&features=old&share=1%2F10&run=mine')
    """

    kind = "additive"
    title = "additive model"
    learns = Additive
