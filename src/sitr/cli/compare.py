"""`sitr compare`: the total that each composition theorem proves for a schedule or a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Ledger, Place, check_schedule
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.terminal import say
from sitr.errors import BadUsage

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
    noise: Annotated[
        float | None, typer.Option(metavar="ε", help="Compare Laplace and Gaussian noise at this ε and δ instead.")
    ] = None,
    questions: Annotated[
        str, typer.Option(metavar="K,K,…", help="With --noise: how many counting questions are answered.")
    ] = "1,10,100,1000",
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Compare composition theorems on a schedule or a ledger.

    A schedule must be fixed in advance. The table says which totals stay valid if parameters are chosen after earlier
    answers, as in a ledger. The chart takes a while.

    With --noise, compares Laplace and Gaussian noise instead: how much each of several counts needs.

    Example: sitr compare schedule.yaml --delta 1e-6 --plot schedule.svg
    """
    if noise is not None:
        from sitr.cli.noises import show_noises

        _refuse_beside_noise(schedule, ledger, dataset, plot)
        show_noises(noise, delta, questions, as_json=as_json)
        return
    check_schedule(schedule)
    from sitr.accounting.compare import compare as compared  # only now: much slower than to look for a file
    from sitr.report import comparison
    from sitr.report.chart.comparison import chart

    check_plot(plot)
    found = compared(_releases(schedule, ledger, dataset), delta=delta, error=error)
    recorded = ledger is not None
    say(comparison.render(found, recorded=recorded), comparison.to_dict(found, recorded=recorded), as_json=as_json)
    draw(plot, lambda: chart(found), as_json=as_json)


def _releases(schedule: Path | None, ledger: Place | None, dataset: str | None) -> Schedule:
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


def _refuse_beside_noise(*given: object) -> None:
    if any(each is not None for each in given):
        raise BadUsage(
            given="--noise compares kinds of noise, not theorems, and takes no schedule, ledger or plot.",
            do="Write for example sitr compare --noise 1 --delta 1e-6.",
        )
