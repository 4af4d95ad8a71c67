"""Which whole numbers an expression can be, by the way it is computed: first + k · step for whole k.

FLOOR(age / 10) * 10 + 5 is one of …, 5, 15, 25, …, whatever the rows are. What a description says about a column, such
as its granularity, does not count here: rows may hold anything.

All numbers are doubles while they are computed with, and whole numbers up to 2^53 are exact. So only results that are
bounded by that pass on more than the step 1 of all whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from sitr.dataset.schema import Kind

EXACT = 2**53
"""Whole numbers up to this are doubles."""


class Ranged(Protocol):
    """What is needed of a `Typed` expression."""

    @property
    def what(self) -> object: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def parts(self) -> tuple[Ranged, ...]: ...
    @property
    def low(self) -> Fraction | None: ...
    @property
    def high(self) -> Fraction | None: ...
    @property
    def is_literal(self) -> bool: ...
    @property
    def is_null(self) -> bool: ...
    @property
    def value(self) -> object: ...


class Progression(NamedTuple):
    """The numbers first + k · step for whole k; with step 0, the first one alone."""

    first: int
    step: int

    def __add__(self, other: object) -> Progression:
        assert isinstance(other, Progression)
        return Progression(self.first + other.first, math.gcd(self.step, other.step))

    def __neg__(self) -> Progression:
        return Progression(-self.first, self.step)

    def __mul__(self, other: object) -> Progression:
        """(a + ks)(b + lt) = ab + k·sb + l·ta + kl·st."""
        assert isinstance(other, Progression)
        mixed = (self.step * other.first, other.step * self.first, self.step * other.step)
        return Progression(self.first * other.first, math.gcd(*mixed))

    def between(self, low: int, high: int) -> tuple[int, int]:
        """The least of them from `low` on and the greatest up to `high`; out of order if there are none.

        >>> Progression(5, 10).between(0, 99), Progression(7, 0).between(0, 99), Progression(7, 0).between(8, 9)
        ((5, 95), (7, 7), (10, 7))
        """
        step = self.step or max(abs(self.first - low), abs(self.first - high), 0) + 1
        return low + (self.first - low) % step, high - (high - self.first) % step


WHOLE = Progression(0, 1)


def progression(typed: Ranged) -> Progression:
    """The whole numbers that the values of a whole expression are among."""
    if typed.kind is not Kind.INTEGER or typed.low is None or typed.high is None:
        return WHOLE
    if max(-typed.low, typed.high) > EXACT:
        return WHOLE
    if typed.is_literal:
        return Progression(int(typed.low), 0)
    rule = _RULES.get(typed.what) if isinstance(typed.what, str) else None
    return WHOLE if rule is None else rule(typed.parts)


def without_remainder(parts: tuple[Ranged, ...]) -> int | None:
    """The number k in x - x % k, where x and k are whole and k is written out; None for other differences.

    The remainder has the sign of x, so x - x % k is x rounded towards 0 to a multiple of k.
    """
    left, right = parts
    if right.what != "%" or left.kind is not Kind.INTEGER or left != right.parts[0]:
        return None
    by = right.parts[1]
    return abs(int(by.low)) or None if by.is_literal and by.kind is Kind.INTEGER and by.low is not None else None


def _either(parts: Sequence[Ranged]) -> Progression:
    """One of these values."""
    first, *others = (progression(part) for part in parts if not part.is_null)
    apart = (other.first - first.first for other in others)
    return Progression(first.first, math.gcd(first.step, *(other.step for other in others), *apart))


def _difference(parts: tuple[Ranged, ...]) -> Progression:
    by = without_remainder(parts)
    return progression(parts[0]) + -progression(parts[1]) if by is None else Progression(0, by)


def _remainder(parts: tuple[Ranged, ...]) -> Progression:
    """x - k·y for some whole k."""
    one, other = map(progression, parts)
    return Progression(one.first, math.gcd(one.step, other.first, other.step))


def _absolute(parts: tuple[Ranged, ...]) -> Progression:
    found = progression(parts[0])
    return Progression(found.first, math.gcd(found.step, 2 * found.first))


def _rounded(parts: tuple[Ranged, ...]) -> Progression:
    """ROUND(x, -2) has multiples of 100; whole numbers, and FLOOR and CEIL of them, stay what they are."""
    places = parts[1].value if len(parts) == 2 else 0
    assert isinstance(places, int)
    unit, found = 10 ** -min(places, 0), progression(parts[0])
    return Progression(0, unit) if found.first % unit or found.step % unit else found


_RULES: dict[str, Callable[[tuple[Ranged, ...]], Progression]] = {
    "+": lambda parts: progression(parts[0]) + progression(parts[1]),
    "-": _difference,
    "*": lambda parts: progression(parts[0]) * progression(parts[1]),
    "%": _remainder,
    "NEGATE": lambda parts: -progression(parts[0]),
    "ABS": _absolute,
    "FLOOR": _rounded,
    "CEIL": _rounded,
    "ROUND": _rounded,
    "CAST": lambda parts: progression(parts[0]),
    "NULLIF": lambda parts: progression(parts[0]),
    "COALESCE": _either,
    "CLAMP": _either,
    "LEAST": _either,
    "GREATEST": _either,
    "CASE": lambda parts: _either([*parts[1::2], *(parts[-1:] if len(parts) % 2 else ())]),
}
