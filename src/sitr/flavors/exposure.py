"""What a δ allows among many people: to expose some of them outright."""

from __future__ import annotations

import warnings
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from sitr.errors import LargeDelta
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.numbers import exact, natural, upward

FEW = Fraction(1, 10)
"""A δ that lets a mechanism expose this many people on average, or more, is not well below 1/N."""


def exposed(promise: Promise, *, people: int) -> float:
    """How many of N people a mechanism that keeps the promise may expose outright, on average: N·δ, rounded up.

    Publish each person's data with probability δ, and nothing else: this keeps (0, δ).      [DR14, Sec. 2.3]

    >>> from sitr.flavors.approximate import ApproximateDP
    >>> exposed(ApproximateDP(1.0, 1e-4), people=40_000)
    4.0
    """
    inner = promise.inner if isinstance(promise, RandomDP) else promise
    delta = getattr(inner, "delta", 0.0)  # of a Gaussian promise, a function: there is none outright
    return upward((0 if callable(delta) else exact(delta)) * natural(people, name="people", of="A promise"))


def warn_of_delta(promise: Promise, *, people: int, released: bool = False, stacklevel: int = 2) -> None:
    """Warn if δ is not well below 1/N. The number of people must be public or released; then it is a lower bound."""
    many = exposed(promise, people=people)
    if many < FEW:
        return
    text = (
        f"The answer shows that at least {people:,} people are in these data, and the δ of their budget is not "
        f"well below 1 in {people:,}: a mechanism that exposes {many:.2g} of them outright, on average, would keep its "
        f"promise. For other data of this size, choose a δ below {_fewer(people)}."
        if released
        else f"Its δ is not well below 1 in {people:,}, the number of people: a mechanism that exposes {many:.2g} of "
        f"them outright, on average, would keep it. Choose a δ below {_fewer(people)}."
    )
    warnings.warn(text, LargeDelta, stacklevel=stacklevel + 1)


def _fewer(people: int) -> str:
    """The δ at which the warning begins, rounded down to one digit: every δ below it is free of the warning.

    >>> _fewer(1_500), _fewer(40_000)
    ('6e-05', '2e-06')
    """
    return f"{float(Context(prec=1, rounding=ROUND_DOWN).divide(Decimal(FEW.numerator), FEW.denominator * people)):.1g}"
