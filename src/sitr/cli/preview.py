"""`sitr preview`: the price and the errors of an answer, before anything is spent or read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.cli.far import far
from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, File, Json, Ledger, OneSql, Spark, use_spark
from sitr.cli.papers import Exact
from sitr.cli.paying import Account, Paying, PeriodName
from sitr.cli.question import Beside, Limits, question
from sitr.cli.terminal import Command, console, say_json
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

    A publication file, with the tables of `sitr publish`, takes the place of the description and the question.

    Example: sitr preview visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    """
    use_spark(spark)
    if not sql and file is None and _is_publication(description):
        _published(description, wanted, as_json=as_json, exact=exact)
        return
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


def _is_publication(path: Path) -> bool:
    """Whether a file is, or was meant as, one of tables to publish; other YAML files are descriptions of data sets."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return False
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return bool(re.search(r"^(description|tables|outputs)\s*:", text, re.MULTILINE))


def _published(path: Path, wanted: Wanted, *, as_json: bool, exact: bool) -> None:
    """Show the preview of a publication: at its price, at another one, or at the price for the errors wanted."""
    from sitr.cli.publish import priced
    from sitr.session import publication_file

    found = publication_file.read(path)
    asked = found.request(far(Path(found.described)))
    paid = wanted.paid(asked, None if wanted.error else priced(found, wanted.price))
    show(asked.preview(paid), as_json=as_json, exact=exact)


class PreviewCommand(Command):
    """A publication needs neither SQL nor a price on the command line."""

    def missing(self, ctx: Any, given: Mapping[str, Any]) -> list[str]:
        path = given.get("description")
        alone = isinstance(path, str | Path) and not given.get("sql") and not given.get("file")
        return [] if alone and _is_publication(Path(str(path))) else super().missing(ctx, given)


KIND = PreviewCommand


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
