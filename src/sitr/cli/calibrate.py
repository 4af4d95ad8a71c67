"""`sitr calibrate`: the parameter with which a mechanism just keeps a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.account import Plot, draw, tell
from sitr.cli.compare import check_plot
from sitr.cli.options import Json
from sitr.cli.progress import working
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.loss.loss import Loss
    from sitr.numbers import Number

SYMBOLS = {"sigma": "σ", "scale": "scale", "rate": "rate", "steps": "steps"}
"""What can be found."""


def calibrate(
    find: Annotated[str, typer.Argument(metavar="PARAMETER", help="What to find: sigma, scale, rate or steps.")],
    epsilon: Annotated[float, typer.Option(help="The ε to keep.")],
    delta: Annotated[float, typer.Option(help="The δ at which to keep it.")],
    sigma: Annotated[float | None, typer.Option(help="The standard deviation of Gaussian noise.")] = None,
    scale: Annotated[float | None, typer.Option(help="The scale of Laplace noise.")] = None,
    sensitivity: Annotated[float, typer.Option(help="How far one person moves the exact answer.")] = 1.0,
    rate: Annotated[float | None, typer.Option(help="With which probability a person is in a sample; else 1.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many releases there are; else 1.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Find the least noise, the largest sampling rate or the most steps that keep an (ε, δ); the others are given.

    What is found is proved to keep it, and within a thousandth of the best. Noise has real values.

    Example: sitr calibrate sigma --rate 0.01 --steps 10000 --epsilon 1 --delta 1e-5
    """
    from sitr.accounting.calibrate import calibrate as calibrated
    from sitr.flavors.approximate import ApproximateDP
    from sitr.loss.law import check
    from sitr.report.account import Account
    from sitr.report.figures import about

    given = {"sigma": sigma, "scale": scale, "rate": rate, "steps": steps}
    _check(find, given)
    if plot is not None:
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
        found = Account.at_delta(loss(best), delta, proved=epsilon)
    values[find] = best
    setting = ", ".join(f"{SYMBOLS[name]} = {about(number)}" for name, number in values.items() if name != find)
    headline = f"{SYMBOLS[find]} = {about(best)} keeps ε = {about(epsilon)} at δ = {about(delta)}"
    rows = (("given", f"{setting}, sensitivity = {about(sensitivity)}."), ("proved", f"{found.headline()}."))
    told = {"found": find, **values, "sensitivity": sensitivity, "target": {"epsilon": epsilon, "delta": delta}}
    tell(headline, (*rows, *found.attack.words()), told | found.to_dict(), as_json=as_json)
    draw(found, plot, as_json=as_json)


def _check(find: str, given: dict[str, float | None]) -> None:
    """One parameter is sought, the others are given, and one kind of noise is meant."""
    if find not in SYMBOLS:
        raise BadUsage(
            wanted=f"What can be found is one of {', '.join(SYMBOLS)}.", given=f"{find!r} was given.", do="Choose one."
        )
    if given[find] is not None:
        raise BadUsage(wanted=f"{find} was to be found.", given=f"--{find} was given too.", do=f"Leave out --{find}.")
    noises = [name for name in ("sigma", "scale") if find == name or given[name] is not None]
    if len(noises) != 1:
        raise BadUsage(
            wanted="One kind of noise was wanted: Gaussian by --sigma, or Laplace by --scale.",
            given="Both were given." if noises else "Neither was given.",
            do="Write for example --sigma 1.1.",
        )


def _loss(values: dict[str, Number], sensitivity: float) -> Loss:
    from sitr.flavors.promise import count
    from sitr.loss.real import gaussian, laplace
    from sitr.loss.sampling import sampled

    name = "sigma" if "sigma" in values else "scale"
    noise = {name: values[name], "sensitivity": sensitivity}
    if wrong := [key for key, number in noise.items() if not 0 < number < float("inf")]:
        raise BadUsage(
            wanted=f"{wrong[0]} is a number above 0.", given=f"{noise[wrong[0]]} was given.", do="Choose a larger one."
        )
    size = values[name]
    one = (
        gaussian(sigma=size, sensitivity=sensitivity)
        if name == "sigma"
        else laplace(scale=size, sensitivity=sensitivity)
    )
    return sampled(one, rate=values["rate"]) * count(values["steps"], what="The number of steps")
