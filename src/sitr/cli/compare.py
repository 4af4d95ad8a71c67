"""`sitr compare`: the total that each composition theorem proves for a schedule or a ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Ledger
from sitr.cli.papers import Plot
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage, FileError

if TYPE_CHECKING:
    from sitr.accounting.schedule import Schedule

ERROR = 0.05
"""The same as in `sitr.accounting.compare`, which is slow to import."""


def compare(
    delta: Annotated[float, typer.Option(help="The δ of the total, such as 1e-6.")],
    schedule: Annotated[
        Path | None, typer.Argument(metavar="SCHEDULE", help="A YAML file that lists the releases.")
    ] = None,
    error: Annotated[float, typer.Option(help="The largest width of the interval of optimal_mixed.")] = ERROR,
    ledger: Ledger = None,
    dataset: Annotated[str | None, typer.Option(help="The data set in the ledger.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Compare composition theorems on a schedule or a ledger.

    A schedule must be fixed in advance. The table says which totals stay valid if parameters are chosen after earlier
    answers, as in a ledger. The chart takes a while.

    Example: sitr compare schedule.yaml --delta 1e-6 --plot schedule.svg
    """
    from sitr.accounting.compare import compare as compared
    from sitr.report import comparison as told
    from sitr.report.text.terminal import show

    if plot is not None:
        check_plot(plot)
    recorded = ledger is not None
    found = compared(_releases(schedule, ledger, dataset), delta=delta, error=error)
    if as_json:
        say_json(told.to_dict(found, recorded=recorded))
    else:
        show(told.render(found, recorded=recorded), out=console())
    if plot is not None:
        from sitr.report.chart.comparison import chart
        from sitr.report.chart.svg import standalone

        with console(stderr=True).status("Drawing"):
            picture = standalone(chart(found))
        plot.write_text(picture, encoding="utf-8")
        if not as_json:
            console().print(f"Written: {plot}", soft_wrap=True)


def _releases(schedule: Path | None, ledger: Path | None, dataset: str | None) -> Schedule:
    """The schedule in a file, or the charges to one data set."""
    if (schedule is None) == (ledger is None):
        raise BadUsage(
            wanted="either the file of a schedule or --ledger",
            given="both" if schedule else "neither",
            do="Write sitr compare schedule.yaml --delta 1e-6, or sitr compare --ledger sitr.db --delta 1e-6.",
        )
    if ledger is None:
        from sitr.accounting.schedule_file import read_schedule

        if dataset is not None:
            raise BadUsage(
                wanted="--dataset only together with --ledger",
                given="a schedule",
                do="Leave out one of them.",
            )
        return read_schedule(str(schedule))
    from sitr.ledger.schedule import recorded
    from sitr.ledger.sql import SqlLedger

    kept = SqlLedger(ledger, create=False)
    accounts = [account.dataset for account in kept.accounts()]
    if dataset is None and len(accounts) > 1:
        raise BadUsage(
            given=f"{ledger} has {len(accounts)} data sets: {', '.join(accounts)}.",
            do=f"Choose one, for example with --dataset {accounts[0]}.",
        )
    return recorded(kept.entries(dataset))


def check_plot(plot: Path) -> None:
    """Refuse a chart that cannot be written, before a minute is spent on drawing it."""
    if plot.suffix != ".svg":
        raise BadUsage(wanted="--plot with a file ending in .svg", given=f"{plot}", do="Change the ending.")
    if not os.access(plot.parent, os.W_OK | os.X_OK):
        raise FileError(
            given=f"Cannot write {plot}, because the folder {plot.parent} does not exist or is not writable.",
            do="Create the folder or choose another.",
        )
