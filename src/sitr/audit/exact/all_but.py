"""(ε, δ)-privacy as "ε, except with probability δ": true of any two inputs, and of no more.

If P and Q are (ε, δ)-close, then P = (1 − δ)P′ + δE and Q = (1 − δ)Q′ + δF with P′ and Q′ ε-close: with probability 1
− δ the answer comes from an ε-private pair.      [KOV15, Sec. 3; MV16, Lemma 1.6]

For more inputs there need not be one ε-private mechanism behind all of them. Let the k-th of K inputs give any of the
K outcomes but the k-th, with equal probability. Any two laws are (0, 1/(K − 1))-close. An ε-private mechanism M′ with
(1 − δ)M′(x) ≤ M(x) never gives the outcome k for the input k, so for no input at all, whatever ε is: it has no
outcomes left, and δ must be 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from sitr.errors import InvalidParameter
from sitr.numbers import Number, exact
from sitr.precision import precision

Law = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Decomposition:
    """P = (1 − δ)P′ + δE and Q = (1 − δ)Q′ + δF, exactly. The ratios of P′ and Q′ are at most `odds` ≤ e^ε."""

    delta: Fraction
    odds: Fraction
    private: tuple[Law, Law]
    """P′ and Q′."""
    exposed: tuple[Law, Law]
    """E and F; what is left of P and Q. Both are P and Q themselves if δ is 0."""


def all_but(p: Iterable[Number], q: Iterable[Number], /, *, epsilon: Number, delta: Number) -> Decomposition:
    """Split two laws into ε-close parts and rests of probability δ.

    With t = e^ε, min(P, tQ) and min(Q, tP) are t-close and miss δ(ε) of P and of Q, in either direction. Whichever has
    more mass than 1 − δ is moved towards 1/t of the other, which keeps both within t, until it has just that.

    >>> found = all_but((0.8, 0.2), (0.2, 0.8), epsilon=0, delta=0.6)
    >>> found.private, found.exposed[0]
    (((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2))), (Fraction(1, 1), Fraction(0, 1)))
    """
    first, second = (tuple(map(exact, law)) for law in (p, q))
    share, t = exact(delta), _odds(exact(epsilon))
    if len(first) != len(second) or any(sum(law) != 1 or min(law) < 0 for law in (first, second)):
        raise InvalidParameter(
            wanted="two laws on the same outcomes, each with probabilities that add up to exactly 1",
            given=f"sums of {float(sum(first)):.15g} and {float(sum(second)):.15g}",
            do="Correct them; fractions such as Fraction(1, 3) are exact.",
        )
    one = tuple(min(a, t * b) for a, b in zip(first, second, strict=True))
    other = tuple(min(b, t * a) for a, b in zip(first, second, strict=True))
    least = 1 - min(sum(one), sum(other))
    if not least <= share < 1:
        raise InvalidParameter(
            wanted=f"a δ of at least {float(least):.6g}, the δ of these laws at this ε, and below 1",
            given=str(delta),
            do="Choose a larger δ or a larger ε.",
        )
    one, other = _thinned(one, other, t)
    scale = (1 - share) / sum(one)
    kept = tuple(tuple(scale * mass for mass in law) for law in (one, other))
    private = tuple(tuple(mass / (1 - share) for mass in law) for law in kept)
    rests = tuple(
        tuple((whole - mass) / share for whole, mass in zip(law, part, strict=True)) if share else law
        for law, part in zip((first, second), kept, strict=True)
    )
    return Decomposition(share, t, (private[0], private[1]), (rests[0], rests[1]))


def _thinned(one: Law, other: Law, t: Fraction) -> tuple[Law, Law]:
    """The heavier of two t-close measures moved towards 1/t of the lighter, until both weigh the same."""
    if sum(one) < sum(other):
        lighter, heavier = _thinned(other, one, t)
        return heavier, lighter
    more, floor = sum(one) - sum(other), sum(one) - sum(other) / t
    step = more / floor if floor else Fraction(0)
    return tuple(a - step * (a - b / t) for a, b in zip(one, other, strict=True)), other


def _odds(epsilon: Fraction) -> Fraction:
    """A fraction just below e^ε: closeness within it is closeness within e^ε."""
    if epsilon < 0:
        raise InvalidParameter(wanted="an ε of at least 0", given=str(float(epsilon)), do="Choose a larger one.")
    if epsilon == 0:
        return Fraction(1)
    with precision(96):
        mantissa, exponent = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp().lower().man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
