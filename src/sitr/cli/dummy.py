"""`sitr dummy`: invented rows for developing code, from the public description alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sitr.cli.options import Description, Json, new_file
from sitr.cli.terminal import console, say_json
from sitr.report.words.messages import said

MOST = 10_000_000
TABLES = (".parquet", ".csv", ".arrow")


def dummy(
    description: Description,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The .parquet, .csv or .arrow file to write.")],
    rows: Annotated[int, typer.Option(min=0, max=MOST, help="The number of rows.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other rows.")] = 0,
    as_json: Json = False,
) -> None:
    """Write invented rows with the same columns and types.

    Reads the description only, never the data, and costs nothing. Beside a Parquet file, a description of it is
    written, so that the same questions can be asked about the invented rows; it has the same budget as the data set,
    in a ledger of its own.

    Example: sitr dummy visits.sitr.yaml dummy.parquet --rows 500
    """
    from sitr.cli.papers import write_rows
    from sitr.dataset.description import Description as Described
    from sitr.dataset.description import load, save
    from sitr.ledger.terms import opened
    from sitr.questions.invented import invented
    from sitr.session.dummy import invention

    stem = output.name.split(".")[0]
    beside, ledger = (output.with_name(stem + ending) for ending in (".sitr.yaml", ".sitr.db"))
    new_file(output, "OUTPUT", TABLES)
    described = output.suffix == ".parquet"
    if described:
        new_file(beside, "OUTPUT", (".yaml",))
    found = load(description)
    paid = described and found.promise is not None
    if paid:
        new_file(ledger, "OUTPUT", (".db",))
    write_rows(invented(found.table, rows=rows, seed=seed), output)
    if described:
        made = Described(found.table, output, public=found.public, publication=invention())
        if paid and found.promise is not None:
            # Invented rows are about nobody, so no budget of theirs is a second one.
            opened(found.table, found.promise, ledger, source="", second=False)
            made = replace(made, promise=found.promise, ledger=ledger)
        save(made, beside, say=said)
    if as_json:
        content = {"description": str(beside) if described else None, "ledger": str(ledger) if paid else None}
        say_json({"rows": rows, "output": str(output), **content})
        return
    out = console()
    out.print(said(f"Written: {output}"), soft_wrap=True)
    if described:
        out.print(said(f"Written: {beside}"), soft_wrap=True)
    if paid:
        out.print(said(f"Written: {ledger}"), soft_wrap=True)
