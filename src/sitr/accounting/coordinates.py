"""Sums of the coordinates of promises, which are valid stopping rules: what filters and odometers add.

Pure: ε. Approximate: ε and δ. Zero-concentrated: ρ and ξ. Approximate zero-concentrated: ρ and δ. Gaussian: μ². Rényi:
ε at each order of a table. Pufferfish: ε, for Markov quilts of one series only [SWC17, Thm 4.4].
[RRUV16, Thm 3.6; WRRW23, Thm 1; FZ21, Thm 4.3; ST22]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import zip_longest

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import express
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise, count
from sitr.flavors.pufferfish import Pufferfish, not_composable
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import downward, exact


def check(charges: Iterable[object], *, like: Promise) -> None:
    """Check that every charge is a promise that adds to a budget, with the number of times it was paid."""
    for charge in charges:
        match charge:
            case (Promise() as promise, times) if _adds(promise, like):
                count(times, what="The number of times a charge was paid")
            case _:
                raise IncompatiblePromises(
                    wanted=f"charges like (promise, times), with promises that add to {like!r}",
                    given=repr(charge),
                    do="Write each in the flavor of the budget, at the same orders: Filter.charge(price) does that.",
                )


def total(parts: Iterable[tuple[Promise, int]], *, start: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Exact sums: no rounding, so that ten tenths are one."""
    sums = start
    for part, times in parts:
        values = zip_longest(sums, part.coordinates(), fillvalue=Fraction(0))  # a charge that is not random has no γ
        sums = tuple(paid + times * value for paid, value in values)
    return sums


def at_most(values: Sequence[Fraction], *, like: Promise) -> Promise:
    """The promise with these coordinates, rounded down; below 0 it is 0."""
    return like.with_coordinates([max(Fraction(0), value) for value in values], up=False)


def charged(price: Promise, *, like: Promise) -> Promise:
    """A price in the flavor of a budget, if a conversion exists that needs no further choice.

    >>> from sitr.flavors import GaussianDP, PureDP, ZeroConcentratedDP
    >>> charged(GaussianDP(0.5), like=RenyiDP.at({2: 1.0, 8: 1.0}))
    RenyiDP.at({2.0: 0.25, 8.0: 1.0})
    >>> charged(RandomDP(PureDP(0.5), 0.01), like=RandomDP(ZeroConcentratedDP(1.0), 0.05))
    RandomDP(inner=ZeroConcentratedDP(rho=0.125), gamma=0.01)
    >>> charged(ZeroConcentratedDP(0.1), like=ApproximateZeroConcentratedDP(1.0, 1e-6))
    ApproximateZeroConcentratedDP(rho=0.1, delta=0.0)
    """
    if isinstance(price, Pufferfish) and isinstance(like, Pufferfish):
        return _quilted(price, like)
    if isinstance(price, RandomDP):
        return _random(price, like)
    if isinstance(like, RandomDP):
        return charged(price, like=like.inner)
    if isinstance(price, ApproximateDP) and not isinstance(like, ApproximateDP | ApproximateZeroConcentratedDP):
        # The price itself is not quoted: a plan that needs no δ has already set it to 0.
        raise IncompatiblePromises(
            wanted=f"a price in the flavor of the budget, {like!r}",
            given="an approximate one, which bounds neither the largest loss nor any moment",
            do="Choose a price in the flavor of the budget, or a pure one.",
        )
    if isinstance(like, ApproximateDP) and 0.0 < like.delta < 1.0:
        _refuse_without_delta(price, like)
    if not isinstance(like, RenyiDP):
        return express(price, type(like))
    curve = express(price, RenyiDP).curve
    moments = {order: curve(order) for order in like.orders}
    if not all(map(math.isfinite, moments.values())):
        raise IncompatiblePromises(
            wanted=f"a promise at the orders {', '.join(f'{order:g}' for order in moments)}",
            given=repr(price),
            do="It bounds nothing at some of these orders: state it at all of them.",
        )
    return RenyiDP.at(moments)


def _refuse_without_delta(price: Promise, like: ApproximateDP) -> None:
    """Refuse a price that has an ε at every δ, and say which one it has at a δ that fits into the budget.

    Which δ to spend is a choice, and the budget adds up both numbers, so whoever asks makes it.
    """
    if not isinstance(price, ZeroConcentratedDP | GaussianDP | ConcentratedDP) or price.largest_loss() is not None:
        return
    found = price.to_approximate(delta=downward(exact(like.delta) / 10))
    raise IncompatiblePromises(
        wanted=f"a price in the flavor of the budget, {like!r}",
        given=f"{write(price)}, which has another ε at every δ",
        do=f"Choose the δ: {write(found)} follows from this price, and noise that is fitted to it is smaller still.",
    )


def _quilted(price: Pufferfish, like: Pufferfish) -> Pufferfish:
    """A Pufferfish price in a budget for Markov quilts of the same series."""
    if not price.adds_to(like):
        raise not_composable(None, series=bool(price.framework.series))
    return price


def _random(price: RandomDP, like: Promise) -> RandomDP:
    """A random price in a budget that has a γ, and of a basis that the budget allows."""
    if not isinstance(like, RandomDP):
        raise IncompatiblePromises(
            wanted=f"a promise to every person, because the budget, {like!r}, has no γ",
            given=f"{price!r}, which promises nothing for a fraction γ of data",
            do="Open a budget with a γ, such as RandomDP(…, gamma=0.05), before the first answer; or use a mechanism "
            "that protects everybody.",
        )
    if not like.allows(price.basis):
        raise IncompatiblePromises(
            wanted=f"a finite-sample promise, as the budget is: {like!r}",
            given=f"{price!r}, which holds only in the limit of many people",
            do="Use a finite-sample rule, or open a budget that says basis=Basis.ASYMPTOTIC.",
        )
    return RandomDP(charged(price.inner, like=like.inner), price.gamma, price.basis, price.parts)


def _adds(promise: Promise, like: Promise) -> bool:
    """Whether this charge can be added to the budget, or to the promise inside it."""
    return promise.adds_to(like) or (isinstance(like, RandomDP) and promise.adds_to(like.inner))
