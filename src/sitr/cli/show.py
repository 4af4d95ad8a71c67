"""`sitr show`: a kept answer again, for free."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.grouped import grouped
from sitr.cli.options import Json, LedgerHere
from sitr.cli.papers import Exact, Output, Pages, Plot, publish, writers


@grouped
def show(
    ledger: LedgerHere,
    entry: Annotated[int, typer.Argument(metavar="ENTRY", help="The number of an entry.")],
    output: Output = None,
    *,
    pages: Pages,
    plot: Plot = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Show a kept answer again and write its files, at no charge.

    Needs only the ledger and the folder of answers beside it, neither the data nor the description. For synthetic
    rows, repeat sitr synthesize instead: that is free, too.

    Example: sitr show sitr.db 7 --certificate wards.html
    """
    from sitr.ledger.sql import SqlLedger
    from sitr.session.reopened import reopened

    files = writers(output, plot, pages)
    answer = reopened(SqlLedger(ledger, create=False), entry)
    publish(answer, files, as_json=as_json, whole=output is None, exact=exact)
