"""`sitr calibrate`: the parameter with which a mechanism just meets a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.progress import working
from sitr.cli.terminal import say
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.loss.loss import Loss
    from sitr.numbers import Number

SYMBOLS = {"sigma": "σ", "scale": "scale", "rate": "rate", "steps": "steps"}
"""The parameters that can be found, with their symbols."""


def calibrate(
    find: Annotated[
        str, typer.Argument(metavar="PARAMETER", help="The parameter to find: sigma, scale, rate or steps.")
    ],
    epsilon: Annotated[float, typer.Option(help="The ε to meet.")],
    delta: Annotated[float, typer.Option(help="The δ to meet.")],
    sigma: Annotated[float | None, typer.Option(help="The standard deviation of Gaussian noise.")] = None,
    scale: Annotated[float | None, typer.Option(help="The scale of Laplace noise.")] = None,
    sensitivity: Annotated[float, typer.Option(help="The most that one person can change the exact answer.")] = 1.0,
    rate: Annotated[float | None, typer.Option(help="The probability that a person is sampled; default 1.")] = None,
    steps: Annotated[int | None, typer.Option(help="The number of releases; default 1.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Find the noise, sampling rate or steps that meet an (ε, δ).

    Finds the least noise, the largest rate or the most steps; give the other parameters. The result is proved to meet
    (ε, δ) and is within 0.1% of the best. Noise is continuous.

    Example: sitr calibrate sigma --rate 0.01 --steps 10000 --epsilon 1 --delta 1e-5
    """
    from sitr.accounting.calibrate import calibrate as calibrated
    from sitr.flavors.approximate import ApproximateDP
    from sitr.loss.law import check
    from sitr.report.account import AccountedLoss, render
    from sitr.report.chart.account import chart
    from sitr.report.figures import about
    from sitr.report.words.words import in_words

    given = {"sigma": sigma, "scale": scale, "rate": rate, "steps": steps}
    _check(find, given)
    check_plot(plot)
    values: dict[str, Number] = {
        "rate": 1,
        "steps": 1,
        **{name: number for name, number in given.items() if number is not None},
    }

    def loss(number: float) -> Loss:
        return _loss({**values, find: number}, sensitivity)

    check(delta, "delta", above=0.0, below=1.0)
    with working("Calibrating", quiet=as_json):
        target = ApproximateDP(epsilon, delta)
        whole = find == "steps"
        best = calibrated(loss, target, whole=True) if whole else calibrated(loss, target)
        found = AccountedLoss.at_delta(loss(best), delta, proved=epsilon)
    values[find] = best
    setting = ", ".join(f"{SYMBOLS[name]} = {about(number)}" for name, number in values.items() if name != find)
    say_it = in_words().accounting
    headline = say_it.keeps(f"{SYMBOLS[find]} = {about(best)}", about(epsilon), about(delta))
    given_facts = say_it.setting(f"{setting}, sensitivity = {about(sensitivity)}")
    rows = (("given", given_facts), ("proved", f"{found.headline()}."))
    content = {"found": find, **values, "sensitivity": sensitivity, "target": {"epsilon": epsilon, "delta": delta}}
    say(render(headline, (*rows, *found.attack.words())), content | found.to_dict(), as_json=as_json)
    draw(plot, lambda: chart(found.loss, delta=found.largest_delta), as_json=as_json)


def _check(find: str, given: dict[str, float | None]) -> None:
    """Check that the parameter to find is not given, and that there is one kind of noise."""
    if find not in SYMBOLS:
        raise BadUsage(wanted=f"a parameter among {', '.join(SYMBOLS)}", given=f"{find!r}", do="Choose one of those.")
    if given[find] is not None:
        raise BadUsage(given=f"--{find} is given, but {find} is the parameter to find.", do=f"Leave out --{find}.")
    noises = [name for name in ("sigma", "scale") if find == name or given[name] is not None]
    if len(noises) != 1:
        raise BadUsage(
            wanted="either --sigma, for Gaussian noise, or --scale, for Laplace noise",
            given="both" if noises else "neither",
            do="Write for example --sigma 1.1.",
        )


def _loss(values: dict[str, Number], sensitivity: float) -> Loss:
    from sitr.flavors.promise import count
    from sitr.loss.real import gaussian, laplace
    from sitr.loss.sampling import sampled

    name = "sigma" if "sigma" in values else "scale"
    noise = {name: values[name], "sensitivity": sensitivity}
    if wrong := [key for key, number in noise.items() if not 0 < number < float("inf")]:
        raise BadUsage(wanted=f"a positive, finite {wrong[0]}", given=f"{noise[wrong[0]]}", do="Choose another value.")
    size = values[name]
    one = (
        gaussian(sigma=size, sensitivity=sensitivity)
        if name == "sigma"
        else laplace(scale=size, sensitivity=sensitivity)
    )
    return sampled(one, rate=values["rate"]) * count(values["steps"], what="The number of steps")
