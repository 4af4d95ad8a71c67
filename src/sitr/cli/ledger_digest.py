"""`sitr ledger digest`: whether the rows were replaced by others, for the steward."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from sitr.cli.options import Description, Json, Spark, use_spark
from sitr.cli.progress import working
from sitr.cli.terminal import Command, console, say_json
from sitr.errors import no_description
from sitr.report.words.messages import said

SAME = "The rows are those of which the digest was recorded."
OTHER = "The rows are not those of which the digest was recorded. What was spent stays spent."
UNKNOWN = "No digest of these rows was recorded. Record one with --record."
RECORDED = "A digest of the rows was recorded in your state folder, and nowhere else."


def digest(
    description: Description,
    record: Annotated[bool, typer.Option("--record", help="Record the digest of the rows as they are now.")] = False,
    spark: Spark = None,
    as_json: Json = False,
) -> None:
    """Compare the rows with a digest of them that was recorded earlier.

    Reads all rows, so it is for the steward: whether they have changed is exact, and no noise protects it. The digest
    is in your state folder only, and no question looks at it. Ends with 1 if the rows are others.

    Example: sitr ledger digest visits.sitr.yaml --record
    """
    use_spark(spark)
    if not description.exists():
        raise no_description(description)
    from sitr.session import digest as digests
    from sitr.session.dataset import open as open_description

    dataset = open_description(description)
    at: datetime | None
    with working("Reading all rows", quiet=as_json):
        if record:
            at, found = digests.record(dataset), "recorded"
        else:
            compared = digests.compare(dataset)
            at, found = compared.since, compared.found.value
    if as_json:
        say_json({"description": str(description), "rows": found, "recorded": None if at is None else at.isoformat()})
    else:
        told = {"same": said(SAME), "other": said(OTHER), "unknown": said(UNKNOWN), "recorded": said(RECORDED)}
        console().print(told[found], soft_wrap=True)
    if found in ("other", "unknown"):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Add the command to `sitr ledger`."""
    app.command("digest", cls=Command)(digest)
