"""`sitr ask`: charge the price, answer the question, write the papers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Budget, Description, Json, Ledger, Price, Sql, new_file, promise
from sitr.cli.papers import write_answer
from sitr.cli.progress import working
from sitr.cli.question import question
from sitr.cli.terminal import console, json_text, say_json

if TYPE_CHECKING:
    from sitr.session.answer import Answer


def ask(
    description: Description,
    sql: Sql,
    price: Price,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the answer to a .csv, .parquet or .json file.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the certificate to an .html file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the chart to an .svg file.")] = None,
    budget: Budget = None,
    ledger: Ledger = None,
    as_json: Json = False,
) -> None:
    """Pay, and show the answer.

    The price is charged to the budget, durably; then the rows are read, noise is added, and the files are written.

    Example: sitr ask visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    -o wards.csv --certificate wards.html
    """
    writers = {
        path: _writer(path, option, allowed)
        for path, option, allowed in (
            (output, "--output", TABLES),
            (certificate, "--certificate", PAGES),
            (plot, "--plot", CHARTS),
        )
        if path is not None
    }
    paid = promise(price)
    with working("Reading and adding noise", quiet=as_json):
        asked = question(description, sql, budget=budget, ledger=ledger)
        answer = asked.release(paid)
    try:
        say_json(answer.to_dict()) if as_json else show(answer, whole=output is None)
    finally:  # the answer is paid for: it reaches the files even if the terminal is gone, and the other way round
        files = {path: partial(write, answer) for path, write in writers.items()}
        write_answer(answer, files, ledger=asked.ledger)
    if writers and not as_json:
        console().print(f"Written: {', '.join(map(str, writers))}", soft_wrap=True)


def show(answer: Answer, *, whole: bool) -> None:
    """On the terminal; the `whole` of it where no file holds what was paid for."""
    from sitr.report import text

    text.show(text.answer(answer.record, most=None if whole else text.MOST_ROWS), out=console())


def _csv(answer: Answer, path: Path) -> None:
    from pyarrow.csv import write_csv

    write_csv(answer.intervals(), path)


def _parquet(answer: Answer, path: Path) -> None:
    from pyarrow.parquet import write_table

    write_table(answer.intervals(), path)


def _json(answer: Answer, path: Path) -> None:
    path.write_text(json_text(answer.to_dict()) + "\n", encoding="ascii")


def _html(answer: Answer, path: Path) -> None:
    answer.certificate(path)


def _svg(answer: Answer, path: Path) -> None:
    answer.plot(path)


Writer = Callable[["Answer", Path], None]
TABLES: dict[str, Writer] = {".csv": _csv, ".parquet": _parquet, ".json": _json}
PAGES: dict[str, Writer] = {".html": _html}
CHARTS: dict[str, Writer] = {".svg": _svg}


def _writer(path: Path, option: str, allowed: dict[str, Writer]) -> Writer:
    """What writes this file. All that can be known is checked now, before the charge."""
    new_file(path, option, tuple(allowed))
    return allowed[path.suffix]
