"""Continuous noise, rounded to the integers: for any scale, even one that depends on the data.

If b·Z is a continuous law, k + ⌊b·Z + ½⌋ = ⌊k + b·Z + ½⌋ for every integer k. The answer is a function of k + b·Z
alone (post-processing), so every guarantee of the continuous law holds for it. Discrete laws of different scales have
no such property.

Z is a function of a few uniform numbers, each an endless row of binary digits. If the first n digits of U are known,
⌊2^n·U⌋ = d, then d/2^n ≤ U ≤ (d + 1)/2^n, and Arb computes with this ball. If the ball of b·Z + ½ holds an integer, the
rounding is undecided, and more digits are read. The known digits stay: a sampler that gave up such a draw and made a
new one would prefer outcomes that are easy to decide.

Many draws of the Gaussian law come from tables, like those of `discrete_gaussian`, and are just as exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import overload

from flint import arb

from sitr.dataclass import dataclass
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, Size, collect_integers
from sitr.noise.gaussian import MOST, LargeGaussian, SmallGaussian, least_width
from sitr.noise.geometric import TABLES
from sitr.noise.inversion import FULL, Bits, Inversion, Survival
from sitr.numbers import Number, ball, inside, natural, positive
from sitr.precision import undisturbed, working_bits

_DIGITS = 128
"""Digits of each number that are read first. Tests read fewer, so that more are often needed; the law stays."""

Formula = Callable[[list[arb]], list[arb]]
"""From uniform numbers to the numbers to be rounded, at the working precision.

A wide ball costs digits and time, never the law.
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


@overload
def rounded_gaussian(*, sigma: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def rounded_gaussian(*, sigma: Number, size: Size, coins: Coins | None = None) -> Draws: ...
def rounded_gaussian(*, sigma: Number, size: Size | None = None, coins: Coins | None = None) -> int | Draws:
    """⌊σ·Z + ½⌋ with Z of density ∝ e^{−z²/2}, Z = √(−2 ln U)·cos 2πV.      [BM58]

    Many draws come from tables that are made once for each σ, so σ must be public there. They are 64-bit integers if
    P(|Y| > 2^62) ≤ 2e^{−(2^62 − ½)²/2σ²} < 2^{−1000}, otherwise Python integers.

    >>> rounded_gaussian(sigma=0.001), rounded_gaussian(sigma=2.5, size=(2, 3)).dtype
    (0, dtype('int64'))
    """
    if size is not None:
        law, tossed = rounded_law(sigma), system_coins() if coins is None else coins
        return collect_integers(lambda count: law.many(count, tossed), size=size, fits=law.fits)
    s = positive(sigma, name="sigma", of="noise")
    (drawn,) = _draw(lambda u: [ball(s) * _bell(*u)], numbers=2, coins=coins)
    return drawn


@lru_cache(TABLES, typed=True)
def rounded_law(sigma: Number, digits: Bits = FULL) -> SmallGaussian | RoundedHalves:
    """The tables of the rounded Gaussian law for a public σ."""
    s = positive(sigma, name="sigma", of="noise")
    if s <= MOST:
        return SmallGaussian(Inversion(_ordered(s), digits))
    return RoundedHalves(LargeGaussian.of(2 * s, digits, fits=2 * NEVER * s**2 <= 2**124, real=True))


@dataclass(frozen=True, slots=True)
class RoundedHalves:
    """⌊X + ½⌋ = ⌊(T + 1)/2⌋ with T = ⌊2X⌋, where 2X is normal with standard deviation 2σ.

    |T| ≤ 2|Y| + 1 has 64 bits where |Y| ≤ 2^62 − 1.
    """

    halves: LargeGaussian

    @property
    def fits(self) -> bool:
        return self.halves.fits

    def one(self, coins: Coins) -> int:
        return self.halves.one(coins) + 1 >> 1

    def many(self, size: int, coins: Coins) -> Draws:
        drawn = self.halves.many(size, coins)
        drawn += 1
        drawn >>= 1
        return drawn


def _ordered(sigma: Fraction) -> Survival:
    """The survival function of 0, 1, −1, 2, −2, … in this order, with P(|Y| > w) = erfc((w + ½)/(σ√2)).

    S(2w + 1) = P(|Y| > w), and S(2w) = P(|Y| > w or Y = −w) = (P(|Y| > w − 1) + P(|Y| > w))/2.
    """

    @lru_cache(4)  # neighbours share their tails
    def tail(w: int, bits: int) -> arb:
        return undisturbed(bits, rounded_gaussian_tail, w, sigma=sigma)

    def survival(i: int) -> arb:
        w, bits = i // 2, working_bits()
        return tail(w, bits) if i % 2 else (tail(w - 1, bits) + tail(w, bits)) / 2

    return survival


def rounded_gaussian_tail(width: int, *, sigma: Fraction) -> arb:
    """P(|Y| > w) = erfc((w + ½)/(σ√2)) for w ≥ 0, at the working precision."""
    return (ball((width + Fraction(1, 2)) / sigma) / arb(2).sqrt()).erfc()


def rounded_gaussian_width(*, sigma: Number, confidence: Number) -> int:
    """The least w with P(|Y| ≤ w) ≥ c, decided with Arb as in `discrete_gaussian_width`.

    >>> rounded_gaussian_width(sigma=10, confidence=0.95)
    20
    """
    s, rest = positive(sigma, name="sigma", of="noise"), 1 - inside(confidence)
    return least_width(s, rest, lambda _: (lambda w: rounded_gaussian_tail(w, sigma=s), ball(rest)))


def rounded_student(*, scale: Number, freedom: int, coins: Coins | None = None) -> int:
    """⌊b·Z + ½⌋ with Z of density ∝ (1 + z²/ν)^{−(ν+1)/2}, Z = √(ν(U^{−2/ν} − 1))·cos 2πV.      [Bai94]

    As for the Gaussian law, Z is one coordinate of a point in the plane with a uniform direction, at a distance R with
    P(R > r) = (1 + r²/ν)^{−ν/2}.

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

    The norm has a Gamma law, like the sum of d exponential numbers, and the direction is a Gaussian vector's.
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


def _draw(noise: Formula, *, numbers: int, coins: Coins | None) -> list[int]:
    """Rounded noise from this many uniform `numbers`; more digits of each are read until the result is certain."""
    tossed, known = system_coins() if coins is None else coins, _DIGITS
    begun = [tossed.bits(known) for _ in range(numbers)]
    while (drawn := _round(noise, begun, known)) is None:
        begun = [digits << known | tossed.bits(known) for digits in begun]
        known *= 2
    return drawn


def _round(noise: Formula, begun: list[int], known: int) -> list[int] | None:
    """⌊x + ½⌋ of every x, if the digits that are known decide all of them."""
    # The middle of [d, d + 1]/2^n is exact, (2d + 1)/2^{n+1}, and so is its radius.
    uniform = [arb((2 * digits + 1, -known - 1), (1, -known - 1)) for digits in begun]
    whole = undisturbed(known + 64, lambda: [(x + 0.5).floor().unique_fmpz() for x in noise(uniform)])
    drawn = [int(number) for number in whole if number is not None]
    return drawn if len(drawn) == len(whole) else None
