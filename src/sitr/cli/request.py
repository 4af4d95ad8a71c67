"""`sitr request`: ask somebody else to approve a question and its price."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, Json, Ledger, Sql
from sitr.cli.paying import Account, Paying, PeriodName
from sitr.cli.question import Limits, question
from sitr.cli.queue import show
from sitr.cli.wanted import Wanted


@grouped
def request(
    description: Description,
    sql: Sql,
    *,
    wanted: Wanted,
    limits: Limits,
    reason: Annotated[str, typer.Option(help="What the answer is for.")],
    days: Annotated[int, typer.Option(min=1, max=366, help="How long the request is valid.")] = 14,
    account: Account = None,
    period: PeriodName = None,
    budget: Budget = None,
    ledger: Ledger = None,
    as_json: Json = False,
) -> None:
    """Ask somebody else to approve a question at a price.

    Spends nothing and reads no rows. The request holds the question, the price, the expected errors, your reason and
    what would be left. When it is approved, ask the same question at the same price with --request NUMBER.

    Example: sitr request visits.sitr.yaml "SELECT COUNT(*) AS n FROM visits" --price 'zcdp(0.05)'
    --reason "Annual report"
    """
    asked, paid = question(
        description, sql, wanted, budget=budget, ledger=ledger, limits=limits, paying=Paying(account, period=period)
    )
    show([asked.propose(paid, reason=reason, days=days)], as_json=as_json)
