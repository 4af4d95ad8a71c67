"""The law of one privacy loss: the masses under P and Q between any two losses, which is all that composition needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

from sitr.errors import InvalidPromise, quoted
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Indices = NDArray[np.int64]
else:
    np = Later("numpy")
    Vector = Indices = object


ROUNDING = 2.0**-53
"""The relative error of every sum, product and quotient of floats."""

TOO_MANY = 4096
"""Atoms beyond this number are not treated one by one."""

FUNCTIONS = 8 * ROUNDING
"""The relative error of exp, log, expm1 and log1p; log_ndtr(x) has an error of this times 1 + x² (tested)."""


def distinct(values: Vector) -> Vector:
    """The different values, smallest first: `np.unique` without its masked arrays, which take 20 ms to load.

    >>> distinct(np.array((2.0, -np.inf, 0.5, 2.0, -np.inf)))
    array([-inf,  0.5,  2. ])
    """
    ordered: Vector = np.sort(values, axis=None)
    kept: Vector = ordered[np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]]
    return kept


class Masses(NamedTuple):
    """ln of masses, accurate to within ± `slack`; where that is infinite, they are upper bounds only."""

    logs: Vector
    slack: Vector


class LossCells(NamedTuple):
    """ln of the P- and Q-mass of losses between neighbouring edges; one `slack` for both, as for `Masses`."""

    log_p: Vector
    log_q: Vector
    slack: Vector

    @property
    def log_p_most(self) -> Vector:
        """Upper bounds on ln of the P-masses."""
        return self.log_p + np.where(np.isinf(self.slack), 0.0, self.slack)

    @property
    def log_q_most(self) -> Vector:
        """Upper bounds on ln of the Q-masses."""
        return self.log_q + np.where(np.isinf(self.slack), 0.0, self.slack)


@runtime_checkable
class Law(Protocol):
    """The law of L = ln P/Q for one pair (P, Q) of neighbours, under P and under Q.

    Losses lie in [least, greatest], apart from a P-mass of `infinite` at +∞. An atom at an edge is counted on
    one side of it, or partly on both. All masses are probabilities: the P-masses and `infinite` add up to 1, and so
    do the Q-masses and the mass that `reversed` has at +∞.
    """

    __slots__ = ()

    @property
    def least(self) -> float: ...

    @property
    def greatest(self) -> float: ...

    @property
    def infinite(self) -> float: ...

    @property
    def blur(self) -> float:
        """The error of an edge at l, and of the losses beside it, is at most this times 1 + |l|."""

    def atoms(self, low: float, high: float, /) -> Vector | None:
        """All losses between two, in increasing order, if the law is discrete and they are not too many."""

    def __hash__(self) -> int:
        """Equal laws are counted together, and results for a law are cached."""
        return object.__hash__(self)

    def cells(self, edges: Vector) -> LossCells:
        """The masses between neighbouring edges, which increase; the first and the last may be infinite."""

    def log_moment_above(self, tilt: float, edge: float) -> float:
        """ln of a bound on E_P[e^{λL}; edge < L < ∞], for λ ≥ 0 and an edge ≥ 0."""

    def reversed(self) -> Law:
        """The law of ln Q/P under Q: the law of the other direction."""


Laws = Sequence[tuple[Law, int]]
"""The laws of a sum, each with the number of times it is added."""


class SymmetricLaw(Law):
    """A law without mass at +∞ that stays the same when P and Q are exchanged.

    By default its losses are not listed one by one, its edges are exact, and its largest loss is finite.
    """

    __slots__ = ()

    @property
    def least(self) -> float:
        return -self.greatest

    @property
    def infinite(self) -> float:
        return 0.0

    @property
    def blur(self) -> float:
        return 0.0

    def atoms(self, _low: float, _high: float, /) -> Vector | None:
        return None

    def log_moment_above(self, tilt: float, edge: float) -> float:
        return bounded_moment(self, tilt, edge)

    def reversed(self) -> Self:
        return self


def bounded_moment(law: Law, tilt: float, edge: float) -> float:
    """`log_moment_above` for a law with a greatest loss: e^{λ·greatest}·P(L > edge)."""
    if edge >= law.greatest:
        return -math.inf
    found = law.cells(np.array((edge, math.inf)))
    return float(found.log_p_most[0]) * (1 - FUNCTIONS) + tilt * law.greatest * (1 + 4 * FUNCTIONS) + FUNCTIONS


def between(log_above: Vector, log_below: Vector, error: Vector, *, steps: Vector | None = None) -> Masses:
    """ln of the masses between edges, from ln P(L > edge) and ln P(L ≤ edge), accurate to ± (error + F·|ln|).

    The smaller of the two tails is used at each cell, so that nothing cancels. The mass is A − B with B = rA. If the
    errors of ln A and ln B are a and b, the error of 1 − r is at most x(1 − r) with x = 2(a + rb)/(1 − r), as long as
    both are small; and since −ln(1 − x) ≤ 3x/2 for x ≤ ½, the error of the logarithm of the mass is at most 2x. For a
    law on the integers, `steps` are the integers of the edges: between equal ones there is no mass.
    """
    right = log_above[:-1] <= log_below[1:]
    big = np.where(right, log_above[:-1], log_below[1:])
    small = np.where(right, log_above[1:], log_below[:-1])
    nothing = np.isneginf(big) if steps is None else np.isneginf(big) | (steps[:-1] == steps[1:])
    big = np.where(nothing, 0.0, big)
    ratio = np.exp(np.minimum(small - big, 0.0))
    off_big = np.where(right, error[:-1], error[1:]) + FUNCTIONS * (2 - big)
    off_small = np.where(right, error[1:], error[:-1]) + FUNCTIONS * (
        2 - np.maximum(small, big - 1e3)
    )  # below that, r is 0
    wrong = 2 * (off_big + ratio * off_small)
    slack = 2 * wrong / np.maximum(1 - ratio, wrong)
    unsure = slack >= 0.5
    most = np.minimum(0.0, big + off_big + np.log1p(wrong - ratio))
    logs = np.where(unsure, most, big + np.log1p(-np.where(unsure, 0.0, ratio)))
    return Masses(np.where(nothing, -np.inf, logs), np.where(nothing, 0.0, np.where(unsure, np.inf, slack)))


def joined(p: Masses, q: Masses) -> LossCells:
    """The cells of P and Q. Where one mass is only an upper bound, so is the other."""
    slack = np.maximum(p.slack, q.slack)
    unsure = np.isinf(slack)
    log_p, log_q = (logs + np.where(unsure & np.isfinite(own), own, 0.0) for logs, own in (p, q))
    return LossCells(log_p, log_q, slack)


def log_one_minus_exp(log_mass: Vector) -> Vector:
    """ln(1 − e^x) for x ≤ 0, without cancellation.      [Mae12]"""
    with np.errstate(divide="ignore", invalid="ignore"):
        small = log_mass > -math.log(2)
        return np.where(small, np.log(-np.expm1(log_mass)), np.log1p(-np.exp(log_mass)))


def check(number: object, name: str, *, above: float, below: float = math.inf, ends: str = "") -> None:
    """Check that this is a number strictly between two others, or equal to those that `ends` names.

    >>> check(1.0, "rate", above=0.0, below=1.0, ends="below")
    """
    if not isinstance(number, bool) and isinstance(number, Real):
        try:
            value = float(number)  # what is computed with
        except OverflowError:
            value = math.inf
        at_end = (number == above and "above" in ends) or (number == below and "below" in ends)
        if above < value < below or at_end:
            return
    low = f"{'of at least' if 'above' in ends else 'above'} {above:g}"
    high = f"{'at most' if 'below' in ends else 'below'} {below:g}" if below < math.inf else "finite"
    raise InvalidPromise(
        wanted=f"a number {low} and {high} for {name}",
        given=quoted(number),
        do=f"Choose {name} in that range.",
    )
