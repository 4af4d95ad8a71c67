"""`sitr preview`: the price of a question and the error of its answer, before anything is spent or read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.cli.options import Budget, Description, Json, Ledger, Price, Sql, promise
from sitr.cli.question import question
from sitr.cli.terminal import console, say_json

if TYPE_CHECKING:
    from sitr.session.question import Preview


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
    if as_json:
        say_json(found.to_dict())
    else:
        show(found)


def show(found: Preview) -> None:
    """On the terminal; a price that does not fit is no error, but what would fit is said."""
    from sitr.flavors.notation import write
    from sitr.flavors.random import RandomDP
    from sitr.report import text
    from sitr.report.certificate import after_paying

    out = console()
    text.show(text.preview(found.plan, found.budget), out=out)
    if after_paying(found.plan, found.budget) is None:
        left = found.budget.remaining()
        most = write(left.inner if isinstance(left, RandomDP) else left)  # no price of a question is random
        out.print(f"This does not fit the budget: a price of at most {most} would.", style="yellow", soft_wrap=True)
