"""`sitr preview`: the price of a question and the error of its answer, before anything is spent or read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.cli.options import Budget, Description, Json, Ledger, Price, Sql, promise
from sitr.cli.question import question
from sitr.cli.terminal import console, say_json

if TYPE_CHECKING:
    from sitr.session.request import Preview


def preview(
    description: Description,
    sql: Sql,
    price: Price,
    budget: Budget = None,
    ledger: Ledger = None,
    as_json: Json = False,
) -> None:
    """Show price and error, spending nothing.

    No rows are read. A price that does not fit the budget is shown all the same.

    Example: sitr preview visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    """
    asked = promise(price)
    found = question(description, sql, budget=budget, ledger=ledger).preview(asked)
    show(found, as_json=as_json)


def show(found: Preview, *, as_json: bool = False) -> None:
    """As JSON, or on the terminal; a price that does not fit is no error, but the largest one that does is shown."""
    from sitr.flavors.notation import write
    from sitr.flavors.random import RandomDP
    from sitr.report import text
    from sitr.report.envelope import after_paying
    from sitr.report.papers import preview_papers

    if as_json:
        say_json(found.to_dict())
        return
    out = console()
    text.show(preview_papers(found.plan).on_terminal(found.plan, found.standing), out=out)
    if after_paying(found.plan, found.standing) is None:
        left = found.standing.remaining()
        most = write(left.inner if isinstance(left, RandomDP) else left)  # no price of a question is random
        out.print(f"The budget cannot pay this: at most {most} is left.", style="yellow", soft_wrap=True)
