"""Other prices than the one that was asked about: a few around it, and the least one that is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.price import in_range
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4))
"""How many times the price other prices are that are shown beside it."""

FLOOR, CEILING = 1e-9, 1e4
"""The ε or ρ between which a price is searched: one below buys nothing useful, and one above protects nobody."""

PRECISION = 1.002
"""How far the least price that is known to be enough may lie above one that is known not to be."""

DIGITS = 3
"""The number of digits to which such a price is rounded up."""

PART = Fraction(1, 10)
"""The part of a budget's δ that a price has unless another δ is named."""


def amount(price: Additive) -> float:
    """ε, ρ or μ of a price.

    >>> amount(ZeroConcentratedDP(0.05)), amount(ApproximateDP(1.0, 1e-6)), amount(GaussianDP(0.3))
    (0.05, 1.0, 0.3)
    """
    if isinstance(price, GaussianDP):
        return price.mu
    return price.epsilon if isinstance(price, PureDP | ApproximateDP) else price.rho


def with_amount(price: Additive, number: float) -> Additive:
    """The price with another ε, ρ or μ, and the same δ.

    >>> with_amount(ApproximateDP(1.0, 1e-6), 0.5)
    ApproximateDP(epsilon=0.5, delta=1e-06)
    """
    if isinstance(price, PureDP | ApproximateDP):
        return replace(price, epsilon=number)
    return GaussianDP(number) if isinstance(price, GaussianDP) else replace(price, rho=number)


def nearby(price: Additive, standing: Filter) -> tuple[Additive, ...]:
    """The price, and a quarter, half, twice and four times it, as far as the budget can pay; smallest first.

    Where it cannot, all that is left takes the place of the prices above it. The price itself is always listed.

    >>> from sitr.accounting import Filter
    >>> [amount(each) for each in nearby(ZeroConcentratedDP(0.2), Filter(ZeroConcentratedDP(0.5)))]
    [0.05, 0.1, 0.2, 0.4, 0.5]
    """
    numbers = [float(exact(amount(price)) * factor) for factor in FACTORS]
    others = [with_amount(price, number) for number in numbers if in_range(number)]
    found = [each for each in others if can_pay(each, standing)]
    rest = _all_left(price, standing)
    if rest is not None and len(found) < len(others):
        found.append(rest)
    return tuple(sorted({amount(each): each for each in (*found, price)}.values(), key=amount))


def can_pay(price: Additive, standing: Filter) -> bool:
    """Whether a budget can pay this price."""
    try:
        standing.consent(price)
    except BudgetExceeded:
        return False
    return True


def all_left(price: Additive, standing: Filter) -> bool:
    """Whether a price is all that is left of a budget.

    >>> from sitr.accounting import Filter
    >>> all_left(PureDP(1.0), Filter(PureDP(1.0)))
    True
    """
    rest = _all_left(price, standing)
    return rest is not None and amount(rest) == amount(price)


def _all_left(price: Additive, standing: Filter) -> Additive | None:
    """What is left, as a price of this flavor; None if it has another one, or nothing useful is left."""
    left = _inner(standing.remaining())
    kinds = (PureDP | ApproximateDP, ZeroConcentratedDP | ApproximateZeroConcentratedDP, GaussianDP)
    same = any(isinstance(left, kind) and isinstance(price, kind) for kind in kinds)
    if not same or not in_range(amount(left)):
        return None
    whole = with_amount(price, amount(left))
    return whole if can_pay(whole, standing) else None


def flavored(promise: Kept, *, delta: float | None = None) -> Additive:
    """A price in the flavor of a budget, whose amount is still to be found; its δ is this, or a tenth of the budget's.

    >>> flavored(ApproximateDP(2.0, 1e-6)), flavored(ZeroConcentratedDP(0.5))
    (ApproximateDP(epsilon=1.0, delta=1e-07), ZeroConcentratedDP(rho=1.0))
    """
    inner = _inner(promise)
    if isinstance(inner, PureDP | ZeroConcentratedDP | GaussianDP):
        if delta is not None:
            raise QuestionError(
                given=f"delta={delta!r} is given, but the budget {inner!r} has no δ.", do="Leave delta out."
            )
        return type(inner)(1.0)
    chosen = float(exact(inner.delta) * PART) if delta is None else delta
    if isinstance(inner, ApproximateDP):
        return ApproximateDP(1.0, chosen)
    return ApproximateZeroConcentratedDP(1.0, chosen)


def _inner(promise: Kept) -> Additive:
    return promise.inner if isinstance(promise, RandomDP) else promise  # type: ignore[return-value]


Ratio = Callable[[Additive], float]
"""The largest quotient of an error at a price and the error that is wanted: a price is enough if it is at most 1."""


def least_price(like: Additive, ratio: Ratio) -> Additive | None:
    """The least price that is enough, to within `PRECISION`, with the flavor and the δ of `like`; None if none is.

    Errors fall as prices grow, so the price is bracketed and then bisected; every step is a whole fit. The errors of
    most noise fall like 1/ε or 1/√ρ, and this says where to look first.

    >>> found = least_price(ZeroConcentratedDP(1.0), lambda price: (0.02 / amount(price)) ** 0.5)
    >>> 0.02 <= amount(found) <= 0.02 * PRECISION
    True
    """
    power = 2 if isinstance(like, ZeroConcentratedDP | ApproximateZeroConcentratedDP) else 1

    def off(number: float) -> float:
        return ratio(with_amount(like, number))

    low, high, number = 0.0, math.inf, 1.0
    while math.isinf(high) or low == 0.0:
        found = off(number)
        if found <= 1:
            high = number
            if number <= FLOOR:
                return with_amount(like, FLOOR)
            number = max(FLOOR, number * min(0.98, max(found, 1e-3) ** power * 0.98))
        else:
            low = number
            if number >= CEILING:
                return None
            number = min(CEILING, number * max(1.02, min(found, 1e3) ** power * 1.02))
    while high > low * PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if off(middle) <= 1 else (middle, high)
    return with_amount(like, high)


def readable(price: Additive, ratio: Ratio) -> Additive:
    """The price rounded up to a few digits, and to the next such price if the rounded one is not enough.

    >>> readable(ZeroConcentratedDP(0.0123456), lambda price: 1.0)
    ZeroConcentratedDP(rho=0.0124)
    """
    up = Context(prec=DIGITS, rounding=ROUND_CEILING)
    number = up.create_decimal(Decimal(amount(price)))
    while ratio(with_amount(price, float(number))) > 1:
        number = number.next_plus(up)
    return with_amount(price, float(number))
