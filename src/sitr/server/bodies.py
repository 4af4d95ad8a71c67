"""What programs send to be answered: the fields of each kind of question, and the request that they make."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sitr.server.sent import SentQuestion, check_length, understood
from sitr.session.aggregate import AggregateRequest
from sitr.session.budget import Budget
from sitr.session.request import Request

Cell = str | int | bool | None
Pair = tuple[float, float]


class Body(BaseModel):
    """What a program sends. A field that is not known is an error."""

    model_config = ConfigDict(extra="forbid", str_max_length=100_000)


class PayingBody(Body):
    """The price, and who pays it."""

    price: str = Field(examples=["zcdp(0.05)"])
    account: str = Field("", description="The sub-budget that pays; yours if you have one.")
    period: str = Field("", description="The period whose budget pays, such as 2026-03, if the data set has periods.")
    request: int | None = Field(None, description="The number of the approved request that this answers.")
    fresh: bool = Field(False, description="Pay for a new answer, even if the same question was answered before.")
    plan: str | None = Field(None, max_length=64, description="The hash of the plan that the client expects.")

    @property
    def effort(self) -> int:
        """How many usual previews take as long as that of this."""
        return 5


class OneQuestion(Body):
    """A question in SQL, with public limits of its own."""

    sql: str = Field(examples=["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"])
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    max_rows: int | None = None
    bounds: dict[str, Pair] | None = None
    keys: dict[str, list[Cell]] | None = None
    bias: float | Literal["off"] = 0.05
    bias_rows: int | None = None
    caps: Literal["auto"] | None = None
    other: bool = False
    weights: dict[str, float] | None = None

    def question(self) -> SentQuestion:
        """The question with its limits."""
        names = set(OneQuestion.model_fields) - {"sql"}
        return SentQuestion(self.sql, {name: getattr(self, name) for name in sorted(names)})

    def made(self, budget: Budget) -> AggregateRequest:
        """The request."""
        return understood(budget, self.question())


class AskBody(OneQuestion, PayingBody):
    """A question that is paid."""


class BatchAskBody(PayingBody):
    """Questions with one plan and one charge."""

    questions: dict[str, OneQuestion] | list[OneQuestion] = Field(min_length=1, max_length=100)
    weights: dict[str, float] | list[float] | None = None

    @property
    def effort(self) -> int:
        """Each question takes as long as it would alone."""
        each = self.questions.values() if isinstance(self.questions, dict) else self.questions
        return sum(5 + one.question().effort for one in each)

    def made(self, budget: Budget) -> Request[Any]:
        """The request."""
        named = self.questions if isinstance(self.questions, dict) else dict(enumerate(self.questions, start=1))
        check_length([each.question() for each in named.values()])
        return budget.batch({str(name): each.made(budget) for name, each in named.items()}, weights=self.weights)


class CellsBody(Body):
    """How columns are cut into public cells."""

    bins: int | list[int] | dict[str, int] | None = None
    bounds: Pair | dict[str, Pair] | None = None
    edges: list[float] | dict[str, list[float]] | None = None
    keys: list[Cell] | dict[str, list[Cell]] | None = None

    def cells(self) -> dict[str, Any]:
        """Those that were given."""
        found = {name: getattr(self, name) for name in CellsBody.model_fields}
        return {name: value for name, value in found.items() if value is not None}


class HistogramAskBody(CellsBody, PayingBody):
    """A histogram."""

    columns: list[str] = Field(min_length=1, max_length=4)

    def made(self, budget: Budget) -> Request[Any]:
        """The request."""
        return budget.histogram(*self.columns, **self.cells())


class TablesAskBody(CellsBody, PayingBody):
    """Many tables that add up."""

    tables: list[str | list[str]] = Field(min_length=1, max_length=100, examples=[[["ward", "sex"], "ward"]])
    measures: list[str] = Field(["count"], min_length=1, max_length=10)
    weights: dict[str, float] | None = None
    objective: Literal["largest", "sum"] = "largest"
    hierarchies: dict[str, dict[str, dict[str, list[str]]]] | None = None
    rows_per_person: int | None = None

    def made(self, budget: Budget) -> Request[Any]:
        """The request."""
        return budget.tables(
            self.tables,
            measures=self.measures,
            weights=self.weights,
            objective=self.objective,
            hierarchies=self.hierarchies,
            rows_per_person=self.rows_per_person,
            **self.cells(),
        )


class SuggestBody(PayingBody):
    """Caps and bounds for a question or a column, chosen privately for a price."""

    question: str = Field(max_length=10_000, description="A question in SQL, or the name of a column to be summed.")
    later: str | None = Field(None, description="What the question itself will cost; ten times the price if left out.")

    def made(self, budget: Budget) -> Request[Any]:
        """The request."""
        return budget.suggest(self.question, price=self.later)


class SynthesizeBody(PayingBody):
    """Synthetic rows that imitate some columns."""

    columns: list[str] | None = Field(None, max_length=50)
    bins: int | dict[str, int] = 64
    bounds: dict[str, Pair] | None = None
    keys: dict[str, list[Cell]] | None = None
    required: list[str] = Field([], max_length=50)
    rows_per_person: int | None = None
    people: bool = Field(False, description="Draw the rows of each person together.")
    constant: list[str] = Field([], max_length=50, description="Columns that are the same in all rows of a person.")
    order: str | None = Field(None, description="The column by which the rows of a person follow each other.")
    fit_triples: bool = Field(False, description="Measure and fit coarse tables of all triples of columns, too.")
    rows: int | None = Field(
        None, ge=0, le=100_000, description="How many rows to send; as many as there are by noisy count."
    )

    def made(self, budget: Budget) -> Request[Any]:
        """The request."""
        return budget.synthesize(
            columns=self.columns,
            bins=self.bins,
            bounds=self.bounds,
            keys=self.keys,
            required=self.required,
            rows_per_person=self.rows_per_person,
            people=self.people,
            constant=self.constant,
            order=self.order,
            fit_triples=self.fit_triples,
        )


AnyBody = AskBody | BatchAskBody | HistogramAskBody | TablesAskBody | SuggestBody | SynthesizeBody
"""Every kind of question that is paid."""
