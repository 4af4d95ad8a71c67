"""What every mechanism can tell, and the check on its parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from sitr.flavors.promise import Promise
from sitr.loss.bounds import Number, exact


class Mechanism(Protocol):
    """A way to answer that keeps a promise."""

    def promise(self) -> Promise:
        """What it promises to one unit."""


def positive(number: Number, *, name: str, mechanism: str) -> Fraction:
    """A parameter of a mechanism as an exact number above 0."""
    try:
        value = exact(number)
    except (TypeError, ValueError, AttributeError):
        value = Fraction(0)
    if value <= 0 or isinstance(number, bool):
        raise ValueError(
            f"{mechanism} wants {name} to be a finite number above 0. {number!r} was given. Choose a larger one."
        )
    return value
