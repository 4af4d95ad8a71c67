"""`sitr show`: a kept answer again, for free."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.papers import Certificate, Output, Plot, publish, writers


def show(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger file.")],
    entry: Annotated[int, typer.Argument(metavar="ENTRY", help="The number of an entry.")],
    output: Output = None,
    certificate: Certificate = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Show a kept answer again and write its files, at no charge.

    Needs only the ledger and the folder of answers beside it, neither the data nor the description. For synthetic
    rows, repeat sitr synthesize instead: that is free, too.

    Example: sitr show sitr.db 7 --certificate wards.html
    """
    from sitr.ledger.sql import SqlLedger
    from sitr.session.shelf import reopened

    files = writers(output, certificate, plot)
    publish(reopened(SqlLedger(ledger, create=False), entry), files, as_json=as_json, whole=output is None)
