"""Prices and budgets as users write them: a promise, its notation, or the numbers of a flavor by name.

    zcdp(0.05)              rho=0.05                  ZeroConcentratedDP(rho=0.05)
    pure(0.5)               epsilon=0.5               PureDP(epsilon=0.5)
    approximate(1, 1e-6)    epsilon=1, delta=1e-6     ApproximateDP(epsilon=1, delta=1e-6)
    zcdp(0.05, 1e-6)        rho=0.05, delta=1e-6      ApproximateZeroConcentratedDP(rho=0.05, delta=1e-6)

All spellings of a line are the same price.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from sitr.errors import IncompatiblePromises, InvalidUse, quoted, suggestion
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept, kept
from sitr.flavors.notation import parse
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish, not_composable
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

Price = Promise | str
"""A promise, or its notation such as "zcdp(0.05)"."""


class Amounts(TypedDict, total=False):
    """The numbers of a price by name: `epsilon=0.5`, `epsilon=1, delta=1e-6`, `rho=0.05` or `rho=0.05, delta=1e-6`."""

    epsilon: float
    delta: float
    rho: float


def price_of(price: Price | None = None, /, **amounts: Unpack[Amounts]) -> Kept:
    """The promise that a price stands for, in one of the flavors that budgets are kept in, and no subclass of them.

    >>> price_of("zcdp(0.05)"), price_of(rho=0.05)
    (ZeroConcentratedDP(rho=0.05), ZeroConcentratedDP(rho=0.05))
    >>> price_of("pure(0.5)"), price_of(epsilon=0.5), price_of(epsilon=1, delta=1e-6)
    (PureDP(epsilon=0.5), PureDP(epsilon=0.5), ApproximateDP(epsilon=1.0, delta=1e-06))
    >>> price_of(0.05)
    Traceback (most recent call last):
    sitr.errors.IncompatiblePromises: Expected a price with its flavor, got 0.05. Write rho=0.05 or 'zcdp(0.05)' ...
    """
    if amounts:
        return _named(price, amounts)
    promise: object = parse(price) if isinstance(price, str) else price
    if kept(promise):
        return promise
    if isinstance(promise, Pufferfish):
        raise not_composable(None)
    if isinstance(promise, int | float) and not isinstance(promise, bool):
        number = quoted(promise)
        raise IncompatiblePromises(
            wanted="a price with its flavor",
            given=number,
            do=f"Write rho={number} or 'zcdp({number})' for ρ, or epsilon={number} or 'pure({number})' for ε.",
        )
    raise IncompatiblePromises(
        wanted="a promise such as zcdp(0.05): pure(ε), approximate(ε, δ), zcdp(ρ), zcdp(ρ, δ), or RandomDP around one",
        given=repr(price),
        do="Write for example 'zcdp(0.05)' or rho=0.05.",
    )


def _named(price: object, amounts: Amounts) -> Kept:
    """The promise of these numbers; there is none of a flavor that nobody named."""
    for name in amounts:
        if name not in Amounts.__annotations__:
            raise InvalidUse(given=f"There is no parameter {name!r}.", do=suggestion(name, Amounts.__annotations__))
    if price is None:
        match amounts:
            case {"rho": rho, **rest} if not rest:
                return ZeroConcentratedDP(rho)
            case {"rho": rho, "delta": delta, **rest} if not rest:
                return ApproximateZeroConcentratedDP(rho, delta)
            case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
                return ApproximateDP(epsilon, delta)
            case {"epsilon": epsilon, **rest} if not rest:
                return PureDP(epsilon)
    written = ", ".join(f"{name}={quoted(number)}" for name, number in amounts.items())
    raise IncompatiblePromises(
        wanted="one price: rho or epsilon, with or without delta, or a promise",
        given=written if price is None else f"{price!r} and {written}",
        do="Write for example rho=0.05, or epsilon=1, delta=1e-6.",
    )
