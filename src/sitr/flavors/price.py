"""Prices and budgets as users write them: a promise, its notation, or the numbers of a flavor by name.

    zcdp(0.05)              rho=0.05                  ZeroConcentratedDP(rho=0.05)
    pure(0.5)               epsilon=0.5               PureDP(epsilon=0.5)
    approximate(1, 1e-6)    epsilon=1, delta=1e-6     ApproximateDP(epsilon=1, delta=1e-6)
    zcdp(0.05, 1e-6)        rho=0.05, delta=1e-6      ApproximateZeroConcentratedDP(rho=0.05, delta=1e-6)
    gaussian(0.3)                                     GaussianDP(mu=0.3)

All spellings of a line are the same price.
"""

from __future__ import annotations

from typing import TypedDict, TypeGuard, Unpack

from sitr.errors import IncompatiblePromises, InvalidUse, QuestionError, quoted, suggestion
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept, kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish, not_composable
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

Price = Promise | str
"""A promise, or its notation such as "zcdp(0.05)"."""


LEAST = 1e-100
"""The smallest price: a smaller one could become 0 when it is shared, and its answer would be useless."""

MOST = 1e100
"""The largest price: it protects nobody, and with a still larger one, numbers computed from the noise have no float."""


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
        wanted="a promise such as zcdp(0.05): pure(ε), approximate(ε, δ), zcdp(ρ), zcdp(ρ, δ), gaussian(μ), or "
        "RandomDP around one",
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


def buys_noise(price: Promise) -> TypeGuard[Additive]:
    """Whether this price can be spent on additive noise.

    A random price cannot, because such noise protects everybody and would not use its γ; nor can a zCDP with ξ > 0.
    """
    if not kept(price):
        return False  # also a class that only inherits from one of these
    match price:
        case PureDP():
            return in_range(price.epsilon)
        case ApproximateDP():
            return in_range(price.epsilon) and (price.delta == 0 or LEAST <= price.delta < 1)
        case ZeroConcentratedDP():
            return in_range(price.rho) and price.xi == 0
        case ApproximateZeroConcentratedDP():
            return in_range(price.rho) and (price.delta == 0 or LEAST <= price.delta < 1)
        case GaussianDP():
            return in_range(price.mu)
    return False


def not_gaussian(price: GaussianDP) -> QuestionError:
    """The error for a question whose noise does not keep a Gaussian promise."""
    return QuestionError(
        wanted="a price that this question can use, because not all of its noise is Gaussian noise on real numbers",
        given=write(price),
        do="Pay with pure(ε), which a Gaussian budget can pay too; gaussian(μ) pays for tables, and for aggregates "
        "with public keys and without quantiles.",
    )


def in_range(number: float) -> bool:
    """Whether noise of this ε or ρ has a size that can be computed with."""
    return LEAST <= number <= MOST


def affordable(
    price: Promise,
    *,
    random: str = "Pay with the promise inside it: this noise protects everybody.",
    gaussian: bool = False,
) -> Additive:
    """The price, if it can be spent on additive noise. `random` is the advice about a random price.

    Only questions that use nothing but Gaussian noise on real numbers can be paid with a `gaussian` price.
    """
    if isinstance(price, GaussianDP) and not gaussian:
        raise not_gaussian(price)
    if buys_noise(price):
        return price
    do = "Choose a price in that range: below it there is no answer, and above it no privacy."
    if isinstance(price, RandomDP):
        do = random
    elif isinstance(price, ZeroConcentratedDP) and price.xi > 0 and in_range(price.rho):
        do = "Leave ξ out: Gaussian noise does not need it."
    raise QuestionError(
        wanted="a price of pure(ε), zcdp(ρ) without ξ, gaussian(μ), or zcdp(ρ, δ) or approximate(ε, δ) with δ < 1, "
        f"each number from {LEAST} to {MOST}",
        given=repr(price),
        do=do,
    )
