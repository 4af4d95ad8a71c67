"""`sitr sensitivity compare`: the error of a statistic with each notion of sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sitr.cli.options import Json, interval, number
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.progress import working
from sitr.cli.terminal import Command, Group, help_alone, say
from sitr.errors import BadUsage, suggestion
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.numbers import Number
    from sitr.sensitivity.statistic import Statistic

Value = TypeVar("Value")

app = typer.Typer(cls=Group, help="Study how much one person can change a statistic.")
app.callback(invoke_without_command=True)(help_alone)

STATISTICS = "median, mean, variance, iqr, quantile:0.9 or trimmed-mean:0.1"


@app.command("compare", cls=Command)
def compare(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A Parquet or CSV file of PUBLIC or made-up data.")],
    column: Annotated[str, typer.Option(help="A column of numbers, one for each person.")],
    bounds: Annotated[str, typer.Option(help="LOW:HIGH to clamp values to, chosen without the data.")],
    epsilon: Annotated[float, typer.Option(help="The ε of every method.")],
    delta: Annotated[float, typer.Option(help="The δ of methods that have one.")],
    gamma: Annotated[float, typer.Option(help="The γ of methods that have one.")],
    public: Annotated[bool, typer.Option("--public", help="Confirm that the data are public or made up.")] = False,
    statistic: Annotated[str, typer.Option(help=f"One of {STATISTICS}.")] = "median",
    proposal: Annotated[
        str | None, typer.Option(help="The proposed sensitivity; default 1% of the global one.")
    ] = None,
    granularity: Annotated[str | None, typer.Option(help="The smallest difference that matters, such as 0.01.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Compare the errors of several kinds of sensitivity.

    They are global sensitivity, smooth sensitivity, propose-test-release and random promises. The errors are computed
    from the data without noise, so use public or made-up data only, and say so with --public.

    Example: sitr sensitivity compare survey.csv --public --column age --bounds 0:120 --epsilon 1 --delta 1e-6
    --gamma 0.05
    """
    if not public:
        raise BadUsage(
            given="This command shows figures without noise, so it needs --public.",
            do="Use data that are public or made up, and add --public.",
        )
    check_plot(plot)
    ends = _read(interval, bounds, "--bounds", "0:120")
    from sitr.backends.duckdb import open_source
    from sitr.dataset.schema import NUMERIC
    from sitr.flavors.approximate import ApproximateDP
    from sitr.questions.statistic.numbers import Numbers
    from sitr.questions.statistic.ways import Setting, outcomes
    from sitr.report import sensitivities
    from sitr.report.chart.sensitivities import chart

    setting = Setting(
        _statistic(statistic),
        ends,
        None if granularity is None else _read(number, granularity, "--granularity", "0.01"),
        ApproximateDP(epsilon, delta),
        gamma,
        None if proposal is None else _read(number, proposal, "--proposal", "0.5"),
    )
    with working("Comparing", quiet=as_json):
        backend = open_source(data, types={})
        known = backend.kinds()
        if column not in known:
            raise BadUsage(
                given=f"{data.name} has no column {column!r}.",
                do=suggestion(column, known),
            )
        if known[column] not in NUMERIC:
            raise BadUsage(
                wanted="a column of numbers",
                given=f"{column!r} of type {known[column].value}",
                do="Choose a column of type integer or real.",
            )
        found = list(outcomes(setting, backend.read(Numbers(column, float(ends[0])), salt=0)))
    content = {"statistic": statistic, "column": column, **sensitivities.to_dict(found)}
    say(sensitivities.render(found), content, as_json=as_json)
    title = said(f"The {statistic} of {column}: what each promise costs in accuracy")
    draw(plot, lambda: chart(found, title=title), as_json=as_json)


def _statistic(name: str) -> Statistic:
    from sitr import sensitivity

    plain: dict[str, Statistic] = {
        "median": sensitivity.median,
        "mean": sensitivity.mean,
        "variance": sensitivity.variance,
        "iqr": sensitivity.interquartile_range,
    }
    if name in plain:
        return plain[name]
    kind, _, share = name.partition(":")
    of: dict[str, Callable[[Number], Statistic]] = {
        "quantile": sensitivity.quantile,
        "trimmed-mean": sensitivity.trimmed_mean,
    }
    if kind not in of or not share:
        raise BadUsage(wanted=f"the statistic {STATISTICS}", given=f"{name!r}", do="Choose one of those.")
    return of[kind](_read(number, share, "--statistic", f"{kind}:0.1"))


def _read(read: Callable[[str], Value], text: str, option: str, example: str) -> Value:
    try:
        return read(text)
    except ValueError:
        raise BadUsage(wanted=f"{option} in the form {example}", given=f"{text!r}", do="Correct the value.") from None
