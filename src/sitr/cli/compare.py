"""`sitr compare`: what each composition theorem proves of a schedule, or of a ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Ledger
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage, FileError

if TYPE_CHECKING:
    from sitr.accounting.schedule import Schedule

ERROR = 0.05
"""As `sitr.accounting.compare` has it, which is slow to import."""


def compare(
    delta: Annotated[float, typer.Option(help="How rarely the total may fail, such as 1e-6.")],
    schedule: Annotated[
        Path | None, typer.Argument(metavar="SCHEDULE", help="A YAML file: what is released, and how often.")
    ] = None,
    error: Annotated[float, typer.Option(help="How wide the interval of optimal_mixed may be.")] = ERROR,
    ledger: Ledger = None,
    dataset: Annotated[str | None, typer.Option(help="Which data set of the ledger.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the theories to an .svg file; takes a while.")] = None,
    as_json: Json = False,
) -> None:
    """Compare what all theories prove of a schedule, or of what a ledger has recorded so far.

    A schedule is taken as fixed in advance; the table says which totals stay valid when parameters are chosen after
    earlier answers, as they are in a ledger.

    Example: sitr compare schedule.yaml --delta 1e-6 --plot schedule.svg
    """
    from sitr.accounting.compare import compare as compared
    from sitr.report import comparison as told
    from sitr.report.text import show

    if plot is not None:
        check_plot(plot)
    recorded = ledger is not None
    found = compared(_releases(schedule, ledger, dataset), delta=delta, error=error)
    if as_json:
        say_json(told.to_dict(found, recorded=recorded))
    else:
        show(told.render(found, recorded=recorded), out=console())
    if plot is not None:
        from sitr.report.comparison_chart import chart
        from sitr.report.plots import standalone

        with console(stderr=True).status("Drawing"):
            picture = standalone(chart(found))
        plot.write_text(picture, encoding="utf-8")
        if not as_json:
            console().print(f"Written: {plot}", soft_wrap=True)


def _releases(schedule: Path | None, ledger: Path | None, dataset: str | None) -> Schedule:
    """What is compared: a file's schedule, or the charges to one data set."""
    if (schedule is None) == (ledger is None):
        raise BadUsage(
            wanted="either a schedule file or --ledger",
            given="both" if schedule else "neither",
            do="Write sitr compare schedule.yaml --delta 1e-6, or sitr compare --ledger sitr.db --delta 1e-6.",
        )
    if ledger is None:
        from sitr.accounting.schedule_file import read_schedule

        if dataset is not None:
            raise BadUsage(
                wanted="--dataset belongs to --ledger.",
                given="A schedule's file was given.",
                do="Leave one of them out.",
            )
        return read_schedule(str(schedule))
    from sitr.ledger.schedule import recorded
    from sitr.ledger.sql import SqlLedger

    kept = SqlLedger(ledger, create=False)
    accounts = [account.dataset for account in kept.accounts()]
    if dataset is None and len(accounts) > 1:
        raise BadUsage(
            wanted="One data set is compared.",
            given=f"{ledger} keeps {len(accounts)}: {', '.join(accounts)}.",
            do=f"Choose one, such as --dataset {accounts[0]}.",
        )
    return recorded(kept.entries(dataset))


def check_plot(plot: Path) -> None:
    """All that can be known of the picture's file, before a minute is spent on the picture."""
    if plot.suffix != ".svg":
        raise BadUsage(
            wanted="--plot wants a file ending in .svg.", given=f"{plot} was given.", do="Change the ending."
        )
    if not os.access(plot.parent, os.W_OK | os.X_OK):
        raise FileError(
            wanted=f"{plot} was to be written.",
            given=f"The folder {plot.parent} is not there, or may not be written to.",
            do="Create the folder or choose another.",
        )
