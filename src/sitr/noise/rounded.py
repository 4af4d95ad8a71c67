"""Continuous noise, rounded to the integers: for a scale that is any number at all, even one that the data decide.

If b·Z is a continuous law, k + ⌊b·Z + ½⌋ = ⌊k + b·Z + ½⌋ for every integer k: what is released is made from k + b·Z
alone, so two of them are told apart no more easily than the continuous laws, whatever is proved about those. Discrete
laws of different scales have no such property.

Z is a function of a few uniform numbers, each an endless row of binary digits. Of a number U of which some are known,
⌊2^n·U⌋ = d, nothing is certain but d/2^n ≤ U ≤ (d + 1)/2^n: it is such a ball that Arb computes with. Where the ball of
b·Z + ½ holds an integer, the rounding is undecided, and more digits are read. Those that are known stay: a draw
that was given up and made anew would prefer whatever is easily decided.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from sitr.noise.coins import Coins, system_coins
from sitr.numbers import Number, ball, natural, positive

_DIGITS = 128
"""How many digits of each number are read at first. Tests read fewer, so that more are often needed: the law stays."""

Noise = Callable[[list[arb]], list[arb]]
"""From uniform numbers to what is to be rounded, at the working precision.

All threads share one working precision, and one may change it for another: a ball is then wider than was wanted, but
still holds its number. That costs digits and time, never the law.
"""


def rounded_laplace(*, scale: Number, coins: Coins | None = None) -> int:
    """⌊b·Z + ½⌋ with Z of density e^{−|z|}/2: the difference of two exponential numbers, Z = ln U/V.

    P(0) = 1 − e^{−1/(2b)}, and P(±k) = e^{−k/b}·sinh(1/(2b)) for k ≥ 1, so P(k) ∝ e^{−|k|/b} except at zero.

    >>> rounded_laplace(scale=0.001), type(rounded_laplace(scale=10**30))
    (0, <class 'int'>)
    """
    b = positive(scale, name="scale", of="noise")
    (drawn,) = _draw(lambda u: [ball(b) * (u[0] / u[1]).log()], numbers=2, coins=coins)
    return drawn


def rounded_gaussian(*, sigma: Number, coins: Coins | None = None) -> int:
    """⌊σ·Z + ½⌋ with Z of density ∝ e^{−z²/2}, Z = √(−2 ln U)·cos 2πV.      [BM58]

    >>> rounded_gaussian(sigma=0.001)
    0
    """
    s = positive(sigma, name="sigma", of="noise")
    (drawn,) = _draw(lambda u: [ball(s) * _bell(*u)], numbers=2, coins=coins)
    return drawn


def rounded_student(*, scale: Number, freedom: int, coins: Coins | None = None) -> int:
    """⌊b·Z + ½⌋ with Z of density ∝ (1 + z²/ν)^{−(ν+1)/2}, Z = √(ν(U^{−2/ν} − 1))·cos 2πV.      [Bai94]

    As for the bell: Z is one coordinate of a point in the plane, of which all directions are alike and P(R > r) =
    (1 + r²/ν)^{−ν/2}.

    >>> rounded_student(scale=0.001, freedom=30)
    0
    """
    b, degrees = positive(scale, name="scale", of="noise"), natural(freedom, name="freedom", of="noise")

    def noise(u: list[arb]) -> list[arb]:
        radius = (degrees * (-2 * u[0].log() / degrees).expm1()).sqrt()
        return [ball(b) * radius * (2 * u[1]).cos_pi()]

    (drawn,) = _draw(noise, numbers=2, coins=coins)
    return drawn


def rounded_spherical(*, scale: Number, size: int, coins: Coins | None = None) -> list[int]:
    """Each coordinate of a vector Z of density ∝ e^{−‖z‖₂/b}, rounded: Z = b·(−ln U₁ − … − ln U_d)·G/‖G‖.

    The norm has a Gamma law, like the sum of d exponential numbers, and the direction is that of a Gaussian vector.
    Rounding a vector of integers and noise is rounding the noise, coordinate by coordinate.      [CMS11, Alg. 1]

    >>> rounded_spherical(scale=0.001, size=3)
    [0, 0, 0]
    """
    b, many = positive(scale, name="scale", of="noise"), natural(size, name="size", of="a vector")

    def noise(u: list[arb]) -> list[arb]:
        radius = -sum((number.log() for number in u[:many]), arb(0))
        bells = [_bell(*pair) for pair in zip(u[many::2], u[many + 1 :: 2], strict=True)]
        stretch = ball(b) * radius / sum((z * z for z in bells), arb(0)).sqrt()
        return [stretch * z for z in bells]

    return _draw(noise, numbers=3 * many, coins=coins)


def _bell(u: arb, v: arb) -> arb:
    return (-2 * u.log()).sqrt() * (2 * v).cos_pi()


def _draw(noise: Noise, *, numbers: int, coins: Coins | None) -> list[int]:
    """Rounded noise from so many uniform numbers; all of them are read further until it is certain."""
    tossed, known = system_coins() if coins is None else coins, _DIGITS
    begun = [tossed.bits(known) for _ in range(numbers)]
    while (drawn := _round(noise, begun, known)) is None:
        begun = [digits << known | tossed.bits(known) for digits in begun]
        known *= 2
    return drawn


def _round(noise: Noise, begun: list[int], known: int) -> list[int] | None:
    """⌊x + ½⌋ of every x, if the digits that are known decide all of them."""
    with ctx.workprec(known + 64):
        # The middle of [d, d + 1]/2^n is exact, (2d + 1)/2^{n+1}, and so is its radius.
        uniform = [arb((2 * digits + 1, -known - 1), (1, -known - 1)) for digits in begun]
        whole = [(x + 0.5).floor().unique_fmpz() for x in noise(uniform)]
    drawn = [int(number) for number in whole if number is not None]
    return drawn if len(drawn) == len(whole) else None
