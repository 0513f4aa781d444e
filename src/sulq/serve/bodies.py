"""What requests bring and what responses hold, typed: the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Form = dict[str, Any]
EXACT = "an exact number as a text, as 1/4"


class Body(BaseModel):
    """A body with no more in it than is known."""

    model_config = ConfigDict(strict=True, extra="forbid")


class AskBody(Body):
    """A round that is asked in a run."""

    round: Form = Field(description="the form of a round: {'round': 1, 'queries': […], 'share': '1/10'}")
    run: str = Field("main", description="the run: the same round in the same run is answered once")
    allowance: str = Field("1", description=f"what shares are shares of, of the budget: {EXACT}")


class QuoteBody(AskBody):
    """A round whose cost and error are wanted."""

    beta: float = Field(0.05, description="the chance that an answer is further off than its error")


class CapBody(Body):
    """What an account may be charged in all."""

    cap: str = Field(description=EXACT)


class KeyBody(Body):
    """A key that is to be made."""

    name: str = Field(description="whose it is")
    scope: Literal["owner", "analyst"] = "analyst"
    datasets: list[str] | None = Field(None, description="what it is for; null for all data sets")
    expires: str | None = Field(None, description="as 2027-01-31, or 2027-01-31T12:00:00Z; null for never")


class DatasetView(BaseModel):
    """What a data set offers, and what is left of it for whoever asks."""

    name: str
    promise: str
    unit: Literal["epsilon", "rho", "queries"]
    total: str
    spent: str
    remaining: str
    offer: Form


class DatasetsView(BaseModel):
    """The data sets that a key is for."""

    datasets: list[DatasetView]


class QuoteView(BaseModel):
    """What a round would cost, and how well it would be answered."""

    unit: str
    cost: str
    error: list[float | None]
    promises: list[str | None]
    charged: bool
    remaining: str


class AnswersView(BaseModel):
    """One answer for each query of a round, in order."""

    answers: list[Form]


class RunView(BaseModel):
    """What a run was charged and answered."""

    run: str
    charges: int
    answers: int
    spent: str
    first: str
    last: str


class RunsView(BaseModel):
    """The runs of whoever asks, by name."""

    runs: list[RunView]
    more: bool


class ResultView(BaseModel):
    """A charge or an answer of a run."""

    number: int
    kind: Literal["charge", "answer"]
    time: str
    cost: str
    round: Form | None
    allowance: str | None
    answers: list[Form] | None


class ResultsView(BaseModel):
    """What a run was charged and answered, in order."""

    results: list[ResultView]
    more: bool


class EntryView(BaseModel):
    """An entry of a ledger."""

    number: int
    kind: Literal["charge", "answer", "cap"]
    run: str
    question: str
    answer: str | None
    time: str
    previous: str
    hash: str
    account: str | None
    cost: str
    spent: str
    cap: str | None


class EntriesView(BaseModel):
    """Entries of a ledger, in order."""

    entries: list[EntryView]
    more: bool


class SealView(BaseModel):
    """The hash that stands for a whole ledger."""

    seal: str


class VerificationView(BaseModel):
    """Whether every sum and every hash of a ledger fits."""

    sound: bool
    faults: list[str]
    seal: str


class AccountView(BaseModel):
    """What an account was charged, and may be."""

    account: str
    spent: str
    cap: str | None


class AccountsView(BaseModel):
    """The accounts of analysts, and those of runs that a cap holds for, by name."""

    accounts: list[AccountView]
    more: bool


class CapView(BaseModel):
    """What an account may be charged from now on."""

    account: str
    cap: str


class KeyView(BaseModel):
    """What is kept of a key."""

    id: str
    name: str
    scope: Literal["owner", "analyst"]
    datasets: list[str] | None
    created: str
    expires: str | None
    revoked: str | None


class KeysView(BaseModel):
    """All keys."""

    keys: list[KeyView]


class NewKeyView(BaseModel):
    """A key that was made: its secret is said once."""

    key: str


class ErrorBody(BaseModel):
    """What is wrong: a stable code, and words."""

    code: str
    message: str
    budget: Form | None = None


class ErrorView(BaseModel):
    """A refusal."""

    error: ErrorBody
