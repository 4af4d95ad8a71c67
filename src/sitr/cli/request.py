"""`sitr request`: ask somebody else to approve a question and its price."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from sitr.cli.far import asked_server
from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, Json, Ledger, Sql
from sitr.cli.paying import Account, Paying, PeriodName
from sitr.cli.question import Limits, question
from sitr.cli.queue import show
from sitr.cli.terminal import console
from sitr.cli.wanted import Wanted
from sitr.report.words.messages import said


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
    made = asked.propose(paid, reason=reason, days=days)
    show([made], as_json=as_json)
    if not as_json:
        place = shlex.quote(str(description if asked_server() else getattr(asked.at.ledger, "place", ledger)))
        at = f" --server {shlex.quote(asked_server())}" if asked_server() else ""
        out = console()
        out.print(said("Nothing was spent. Now somebody else decides, with one of these commands:"), soft_wrap=True)
        for command in ("approve", "refuse"):
            out.print(f"  sitr{at} {command} {place} {made.number}", soft_wrap=True)
        out.print(
            said(
                f"When it is approved, repeat your command as sitr ask, with --request {made.number} instead of "
                "--reason."
            ),
            soft_wrap=True,
        )
