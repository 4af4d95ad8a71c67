"""On which account a question is charged, and by whose leave."""

from __future__ import annotations

from typing import Annotated, TypedDict

import typer

from sitr.dataclass import dataclass

Account = Annotated[
    str | None, typer.Option(help="The sub-budget that pays, such as ana or team/ana; see sitr ledger allot.")
]
Request = Annotated[int | None, typer.Option(min=1, help="The number of the approved request that this answers.")]
Key = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key", metavar="KEY", help="A text of your own: asked again with it, nothing is charged twice."
    ),
]

PeriodName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The period whose budget pays, such as 2026-03; only its rows are read."),
]


class Given(TypedDict):
    """The same in Python."""

    period: str | None

    account: str | None
    request: int | None
    key: str | None


@dataclass(frozen=True, slots=True)
class Paying:
    """The period and the sub-budget that pay, the request that allows it, and the key by which it is repeated."""

    account: Account = None
    request: Request = None
    idempotency_key: Key = None
    period: PeriodName = None

    def given(self) -> Given:
        """As `Budget.paying` takes it."""
        return {"period": self.period, "account": self.account, "request": self.request, "key": self.idempotency_key}


BUDGET = Paying()
"""The budget of the data set pays."""
