"""`sitr account`: the total privacy loss of a schedule, as a proved interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Schedule, check_schedule
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.progress import working
from sitr.cli.terminal import say
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.accounting.schedule import Schedule as Releases
    from sitr.loss.loss import Loss


def account(
    schedule: Schedule,
    delta: Annotated[float | None, typer.Option(help="Report ε at this δ, such as 1e-5.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Report δ at this ε, such as 1.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Report the total privacy loss of a schedule.

    Also says what an attacker can do with it. Both ends of every interval are proved, including numerical errors. The
    schedule must be fixed in advance.

    Example: sitr account schedule.yaml --delta 1e-5 --plot loss.svg
    """
    check_schedule(schedule)
    from sitr.accounting.schedule_file import read_schedule  # only now: much slower than to look for a file
    from sitr.report.account import AccountedLoss, render, schedule_rows
    from sitr.report.chart.account import chart
    from sitr.report.comparison import random_dict

    check_plot(plot)
    read = read_schedule(str(schedule))
    loss = _loss(read)
    with working("Adding losses", quiet=as_json):
        if delta is not None and epsilon is None:
            found = AccountedLoss.at_delta(loss, delta)
        elif epsilon is not None and delta is None:
            found = AccountedLoss.at_epsilon(loss, epsilon)
        else:
            raise BadUsage(
                wanted="either --delta, to report ε, or --epsilon, to report δ",
                given="neither" if delta is None else "both",
                do="Write for example --delta 1e-5.",
            )
    gamma = read.gamma if read.random else None
    content = {"releases": read.releases, "gamma": gamma, **(random_dict(read) if read.random else {})}
    text = render(found.headline(), schedule_rows(read, found))
    say(text, content | found.to_dict(gamma=gamma), as_json=as_json)
    draw(plot, lambda: chart(found.loss, delta=found.largest_delta), as_json=as_json)


def _loss(schedule: Releases) -> Loss:
    from sitr.accounting.theorems.loss import total_loss
    from sitr.accounting.views import Inapplicable

    try:
        return total_loss(schedule)
    except Inapplicable as none:
        raise BadUsage(
            given=f"The exact loss of this schedule is unknown: {none.reason}.",
            do="State the mechanism instead of a bound on its moments, or use sitr compare.",
        ) from None
