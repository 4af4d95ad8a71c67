"""The numbers of a promise that add, even when every release is chosen after earlier answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import cast

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise, count
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP, Table
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import downward, exact, square_root_upward, upward

Filterable = PureDP | ApproximateDP | ZeroConcentratedDP | GaussianDP | RenyiDP | RandomDP
"""The flavors in which a budget can be kept; RenyiDP as a table of orders, RandomDP around one of the others."""


def coordinates(promise: Promise) -> tuple[Fraction, ...]:
    """Pure: ε. Approximate: ε and δ. Zero-concentrated: ρ and ξ. Gaussian: μ². Rényi: ε at each order of a table.

    Sums of these are valid stopping rules.      [RRUV16, Thm 3.6; WRRW23, Thm 1; FZ21, Thm 4.3; ST22]

    Random: those of the inner promise, then γ, whose sum is one only for what is fixed before the first answer:
    `Filter` sees to that.

    >>> coordinates(GaussianDP(0.5)), coordinates(RenyiDP.at({2: 0.1, 8: 0.5}))
    ((Fraction(1, 4),), (Fraction(1, 10), Fraction(1, 2)))
    """
    match promise:
        case PureDP(epsilon):
            return (exact(epsilon),)
        case ApproximateDP(epsilon, delta):
            return exact(epsilon), exact(delta)
        case ZeroConcentratedDP(rho, xi=xi):
            return exact(rho), exact(xi)
        case GaussianDP(mu):
            return (exact(mu) ** 2,)
        case RenyiDP(Table(points)):
            return tuple(exact(epsilon) for _, epsilon in points)
        case RandomDP(inner, gamma):
            return *coordinates(inner), exact(gamma)
        case RenyiDP():
            reason = "Fix the orders first, as in RenyiDP.at({2: 0.1, 8: 0.5}): a sum is kept for each."
        case ConcentratedDP():
            reason = "Sums of means and spreads are not known to be a stopping rule: use to_zero_concentrated()."
        case _:
            reason = "It composes only in plans fixed in advance: compare plans with it, and budget in another flavor."
    raise IncompatiblePromises(
        wanted="a promise that adds up even when releases are chosen after earlier answers",
        given=repr(promise),
        do=reason,
    )


def check(charges: Iterable[object], *, like: Filterable) -> None:
    """Every charge is a promise whose coordinates are those of a budget, with the number of times it was paid."""
    for charge in charges:
        match charge:
            case (promise, times) if _adds(promise, like):
                count(times, what="The number of times a charge was paid")
            case _:
                raise IncompatiblePromises(
                    wanted=f"Charges like (promise, times) were wanted, with promises that add to {like!r}.",
                    given=f"{charge!r} was given.",
                    do="Write each in the flavor of the budget, at the same orders: Filter.charge(price) does that.",
                )


def total(parts: Iterable[tuple[Filterable, int]], *, start: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Exact sums: no rounding, so that ten tenths are one."""
    sums = start
    for part, times in parts:
        values = zip_longest(sums, coordinates(part), fillvalue=Fraction(0))  # a charge that is not random has no γ
        sums = tuple(paid + times * value for paid, value in values)
    return sums


def at_least(values: Sequence[Fraction], *, like: Filterable) -> Filterable:
    """The promise with these coordinates, rounded up."""
    return _promise(values, like, upward, lambda square: upward(square_root_upward(square)))


def at_most(values: Sequence[Fraction], *, like: Filterable) -> Filterable:
    """The promise with these coordinates, rounded down; below 0 it is 0."""
    return _promise([max(Fraction(0), value) for value in values], like, downward, _root_downward)


def charged(price: Promise, *, like: Filterable) -> Filterable:
    """What a price means in the flavor of a budget, where an arrow leads there without a further choice.

    >>> charged(GaussianDP(0.5), like=RenyiDP.at({2: 1.0, 8: 1.0}))
    RenyiDP.at({2.0: 0.25, 8.0: 1.0})
    >>> charged(RandomDP(PureDP(0.5), 0.01), like=RandomDP(ZeroConcentratedDP(1.0), 0.05))
    RandomDP(inner=ZeroConcentratedDP(rho=0.125), gamma=0.01)
    """
    if isinstance(price, RandomDP):
        return _random(price, like)
    if isinstance(like, RandomDP):
        return charged(price, like=_inner(like))
    if isinstance(price, ApproximateDP) and not isinstance(like, ApproximateDP):
        # The price itself is not quoted: a plan that needs no δ has already set it to 0.
        raise IncompatiblePromises(
            wanted=f"The budget is {like!r}, and every price must be expressed in its flavor.",
            given="The price is approximate: an (ε, δ) bounds neither the largest loss nor any moment.",
            do="Choose a price in the flavor of the budget, or a pure one.",
        )
    if not (isinstance(like, RenyiDP) and isinstance(like.curve, Table)):
        return express(price, type(like))
    stated = price.to_zero_concentrated() if isinstance(price, ConcentratedDP) else price
    curve = express(stated, RenyiDP).curve
    moments = {order: curve(order) for order, _ in like.curve.points}
    if not all(map(math.isfinite, moments.values())):
        raise IncompatiblePromises(
            wanted=f"a promise at the orders {', '.join(f'{order:g}' for order in moments)}",
            given=repr(price),
            do="It bounds nothing at some of these orders: state it at all of them.",
        )
    return RenyiDP.at(moments)


def _random(price: RandomDP, like: Filterable) -> RandomDP:
    """A random price in a budget that has a γ, and of a basis that the budget allows."""
    if not isinstance(like, RandomDP):
        raise IncompatiblePromises(
            wanted=f"A promise to every person was wanted: the budget, {like!r}, has no γ.",
            given=f"{price!r} promises nothing for a fraction γ of data, which would be lost from sight here.",
            do="Open a budget with a γ, such as RandomDP(…, gamma=0.05), before the first answer; or use a mechanism "
            "that protects everybody.",
        )
    if Basis.weakest((price.basis, like.basis)) is not like.basis:
        raise IncompatiblePromises(
            wanted=f"A finite-sample promise was wanted, as the budget is: {like!r}.",
            given=f"{price!r} holds only in the limit of many people, as published.",
            do="Use a finite-sample rule, or open a budget that says basis=Basis.ASYMPTOTIC.",
        )
    return RandomDP(charged(price.inner, like=_inner(like)), price.gamma, price.basis, price.parts)


def _inner(promise: RandomDP) -> Filterable:
    """The inner promise of a budget, which has coordinates."""
    return cast("Filterable", promise.inner)


def _adds(promise: object, like: Filterable) -> bool:
    """Are the coordinates of this charge those of the budget, or of the promise inside it?"""
    if not isinstance(like, RandomDP):
        return type(promise) is type(like) and _orders(promise) == _orders(like)
    if not isinstance(promise, RandomDP):
        return _adds(promise, _inner(like))
    return _adds(promise.inner, _inner(like)) and Basis.weakest((promise.basis, like.basis)) is like.basis


def _orders(promise: object) -> list[float]:
    """Those of a table; other promises have none, and a curve without fixed orders has no coordinates either."""
    match promise:
        case RenyiDP(Table(points)):
            return [order for order, _ in points]
    return []


def _promise(
    values: Sequence[Fraction],
    like: Filterable,
    rounded: Callable[[Fraction], float],
    root: Callable[[Fraction], float],
) -> Filterable:
    match like:
        case PureDP():
            return PureDP(rounded(values[0]))
        case ApproximateDP():
            return ApproximateDP(rounded(values[0]), min(1.0, rounded(values[1])))
        case ZeroConcentratedDP():
            return ZeroConcentratedDP(rounded(values[0]), xi=rounded(values[1]))
        case GaussianDP():
            return GaussianDP(root(values[0]))
        case RenyiDP(Table(points)):
            return RenyiDP.at({order: rounded(value) for (order, _), value in zip(points, values, strict=True)})
        case RandomDP(basis=basis):
            inner = _promise(values[:-1], _inner(like), rounded, root)
            return RandomDP(inner, min(1.0, rounded(values[-1])), basis)
    raise AssertionError(f"{like!r} has no coordinates")  # `coordinates` refused it long before


def _root_downward(square: Fraction) -> float:
    """The greatest float whose exact square is at most this."""
    candidate = upward(square_root_upward(square))
    while exact(candidate) ** 2 > square:
        candidate = math.nextafter(candidate, 0.0)
    return candidate
