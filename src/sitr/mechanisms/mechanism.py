"""What every mechanism can tell, and the check on its parameters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from sitr.errors import InvalidPromise
from sitr.flavors.promise import Promise
from sitr.loss.bounds import Number, exact
from sitr.loss.loss import Loss
from sitr.neighbors.relation import Relation


class Mechanism(Protocol):
    """A way to answer that keeps a promise."""

    def promise(self) -> Promise:
        """What it promises to one unit."""

    def loss(self) -> Loss:
        """The loss itself, which tells more than any promise; an error says why, where it is not known exactly."""


def common_relation(*mechanisms: Mechanism) -> Relation | None:
    """The neighbours that all of these protect: a mechanism that is about neighbours of one kind says so by `relation`.

    None where none of them does: its sensitivity is then that for whichever neighbours are meant.
    """
    found = {getattr(mechanism, "relation", None) for mechanism in mechanisms} - {None}
    if len(found) > 1:
        raise InvalidPromise(
            wanted="Parts that protect the same neighbours were wanted.",
            given="One is for tables that add or remove a person, another for tables that replace one.",
            do="Use one kind of sampling in all parts.",
        )
    return next(iter(found), None)


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


def whole_shift(sensitivity: Number, *, mechanism: str) -> int:
    """How far an integer moves. A smaller move of log-concave noise is never told apart more easily."""
    moved = exact(sensitivity)
    if moved.denominator != 1:
        raise InvalidPromise(
            wanted=f"The loss of {mechanism} noise on an integer was wanted, which moves by a whole number.",
            given=f"sensitivity={float(moved):g} was given.",
            do="Use promise(): it holds for vectors too, whose length need not be whole.",
        )
    return moved.numerator


def float_below(number: Number) -> float:
    """The largest float that is itself at most this number; `downward` speaks of the decimal that it prints as.

    >>> Fraction(float_below(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    nearest = float(exact(number))
    return nearest if Fraction(nearest) <= exact(number) else math.nextafter(nearest, -math.inf)


def float_above(number: Number) -> float:
    """The least float that is itself at least this number."""
    return -float_below(-exact(number))
