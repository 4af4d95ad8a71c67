"""`sitr convert`: a promise in another flavor, if it implies one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.explain import Written
from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage, IncompatiblePromises

if TYPE_CHECKING:
    from sitr.flavors.promise import Promise

ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
"""The orders at which a curve is written."""


def convert(
    promise: Written,
    to: Annotated[str, typer.Option(metavar="FLAVOR", help="The flavor: approximate, zcdp, …")],
    delta: Annotated[float | None, typer.Option(help="The δ of an approximate promise.")] = None,
    group: Annotated[
        int, typer.Option(metavar="SIZE", help="The size of a group to protect instead of one person.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Convert a promise to another flavor.

    The result is rounded so that it still holds.

    Example: sitr convert 'zcdp(0.5)' --to approximate --delta 1e-6
    """
    from rich.text import Text

    from sitr.flavors.notation import parse, write
    from sitr.language import Digits, speaking, spoken
    from sitr.report.explain import explain
    from sitr.report.headline import Headline
    from sitr.report.text.terminal import show
    from sitr.report.words.words import in_words

    stated = parse(promise)
    source = stated.for_group(group)
    result = converted(source, to, delta=delta)
    headline = Headline.of(result)
    with speaking(spoken(), Digits.LATIN if as_json else None):
        told = explain(result, language=spoken()).meaning
        meaning = told if group == 1 else in_words().accounting.for_group(group, told)
        failure = _failure(source, result)
    if as_json:
        words = {"meaning": meaning, "failure": failure, "headline": headline.to_dict()}
        say_json({"promise": write(stated), "group": group, "result": write(result), **words})
        return
    out = console()
    out.print(write(result), style="bold", soft_wrap=True)
    show(Text(in_words().numerals(headline.symbols())), out=out)
    show(Text(meaning), out=out)
    show(Text(failure), out=out)


def _failure(source: Promise, result: Promise) -> str:
    """How the result can fail. Only the source of an (ε, δ) knows how much of δ is outright failure."""
    from sitr.flavors.approximate import ApproximateDP
    from sitr.language import spoken
    from sitr.report.explain import explain
    from sitr.report.words.words import in_words

    if not isinstance(result, ApproximateDP) or result.delta == 0.0:
        return explain(result, language=spoken()).failure
    return in_words().accounting.outright(source.infinite_mass(), delta=result.delta)


def converted(promise: Promise, to: str, *, delta: float | None) -> Promise:
    """The implied promise of this flavor, in a form that has a notation."""
    from sitr.flavors.approximate import ApproximateDP
    from sitr.flavors.arrows import express
    from sitr.flavors.notation import NAMES
    from sitr.flavors.profile import PrivacyProfile
    from sitr.flavors.random import RandomDP

    if to not in NAMES:
        raise BadUsage(wanted=f"--to with one of {', '.join(NAMES)}", given=f"{to!r}", do="Choose one of those.")
    flavor = NAMES[to]
    if flavor is not ApproximateDP:
        if delta is not None:
            raise BadUsage(
                wanted="--delta only with --to approximate",
                given=f"--to {to}",
                do="Leave out one of them.",
            )
        return _written(express(promise, flavor))
    if delta is None and not isinstance(promise, ApproximateDP | RandomDP) and promise.largest_loss() is None:
        raise BadUsage(
            given=f"A conversion from {type(promise).__name__} to (ε, δ) needs a δ.",
            do="Choose a δ well below 1/(number of people), such as --delta 1e-6.",
        )
    if delta is not None and isinstance(promise, ApproximateDP):
        promise = express(promise, PrivacyProfile)  # an (ε, δ) at another δ
    return express(promise, ApproximateDP, delta=delta)


def _written(promise: Promise) -> Promise:
    """The promise; a curve, which has no notation, becomes its values at a few orders, which it implies."""
    from sitr.flavors.curve import Grouped, PointCurve
    from sitr.flavors.renyi import RenyiDP

    if not isinstance(promise, RenyiDP) or isinstance(promise.curve, PointCurve):
        return promise
    orders = set(ORDERS)
    match promise.curve:
        case Grouped(PointCurve(points), doublings):  # the orders of a table need not be round numbers
            orders |= {order / 2**doublings for order, _ in points if order > 2**doublings}
    bounds = {order: promise.curve(order) for order in sorted(orders)}
    finite = {order: bound for order, bound in bounds.items() if math.isfinite(bound)}
    if not finite:
        raise IncompatiblePromises(
            given="No order of this promise is high enough for the group: a group of s people needs order 2s or more.",
            do="State a bound at a higher order, 2s with s rounded up to 2, 4, 8, …, or choose a smaller group.",
        )
    return RenyiDP.at(finite)
