"""`sitr preview`: the price and the errors of an answer, before anything is spent or read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, File, Json, Ledger, OneSql, Spark, use_spark
from sitr.cli.papers import Exact
from sitr.cli.paying import Account, Paying, PeriodName
from sitr.cli.question import Beside, Limits, question
from sitr.cli.terminal import console, say_json
from sitr.cli.wanted import Wanted
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.session.request import Preview


@grouped
def preview(
    description: Description,
    sql: OneSql = "",
    *,
    wanted: Wanted,
    limits: Limits,
    beside: Beside = None,
    account: Account = None,
    period: PeriodName = None,
    file: File = None,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    spark: Spark = None,
    as_json: Json = False,
) -> None:
    """Show the price and the errors; spend nothing.

    Reads no rows. A price above the budget is shown too. With --error, the price is the least one for these errors.

    Example: sitr preview visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    """
    use_spark(spark)
    asked, paid = question(
        description,
        sql,
        wanted,
        file=file,
        budget=budget,
        ledger=ledger,
        limits=limits,
        beside=beside,
        paying=Paying(account, period=period),
    )
    show(asked.preview(paid), as_json=as_json, exact=exact)


def show(found: Preview, *, as_json: bool = False, exact: bool = False) -> None:
    """Print a preview. A price above the budget is not an error; the largest possible price is printed too."""
    from sitr.flavors.notation import write
    from sitr.flavors.random import RandomDP
    from sitr.report.envelope import after_paying
    from sitr.report.text import terminal as text

    if as_json:
        say_json(found.to_dict())
        return
    out = console()
    text.show(text.render(found.paper, exact=exact), out=out)
    if after_paying(found.plan, found.payable) is None:
        left = found.payable.remaining()
        most = write(left.inner if isinstance(left, RandomDP) else left)  # the price of a question is never random
        out.print(said(f"The budget cannot pay this: at most {most} is left."), style="yellow", soft_wrap=True)
