"""Differences of normal numbers, rounded exactly: noise for the residuals of tables, whose coordinates are correlated.

On each axis, cells are grouped into families of siblings, and a contrast is the first sibling minus another one. Over k
axes, a contrast of independent standard normal numbers Z is a sum of 2^k of them with signs, and neighbouring contrasts
share some. The noise is w = σ·(contrasts of Z), and what is added to whole numbers is ⌊w + ½⌋, coordinate by
coordinate: for whole r, r + ⌊w + ½⌋ = ⌊r + w + ½⌋, a function of the real number r + w.

Rounding is exact. First Y = ⌊2^b·Z + ½⌋ is drawn for every Z, so that Z is known to within half of 2^{−b}. This decides
nearly every coordinate. For the others, more digits of the numbers that they share are drawn from the law of Z given Y:
a uniform point of the cell is kept with probability e^{−(z² − m²)/2}, where m is the least |z| in the cell. Digits that
were drawn stay: a sampler that gave up an undecided draw would prefer outcomes that are easy to decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from flint import arb

from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Draws
from sitr.noise.rounded import rounded_law
from sitr.numbers import ball, positive
from sitr.precision import undisturbed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

Siblings = tuple[int, ...]
"""The sizes of the families of one axis, in the order of its cells: (m,) for m cells without a hierarchy."""

DIGITS = 45
"""Binary digits of every normal number that are drawn first, if σ is at most 2^20. Tests draw fewer; the law stays."""

_SURE = 64
"""P(|Z| > 64) < 2^{−1000}: such an event does not happen."""

_FEW = 8
"""Digits are saved only if at most about 2^{−8} of all coordinates need more of them."""

_MORE = 64
"""Digits that are drawn at a time for numbers that share an undecided coordinate."""


def contrasts(numbers: NDArray[np.int64] | NDArray[np.object_], siblings: Sequence[Siblings]) -> Draws:
    """On each axis, the first of every family minus each of the others.

    >>> contrasts(np.array([[5, 1, 2], [0, 0, 4]]), [(2,), (3,)]).tolist()
    [[4, 7]]
    >>> contrasts(np.array([7, 5, 1, 4]), [(2, 2)]).tolist()
    [2, -3]
    """
    for axis, families in enumerate(siblings):
        first, rest = _places(families)
        numbers = numbers.take(first, axis) - numbers.take(rest, axis)
    return numbers


def rounded_contrasts(
    wanted: Sequence[tuple[Sequence[Siblings], Fraction]], *, coins: Coins | None = None, digits: int = DIGITS
) -> list[Draws]:
    """⌊σ·(contrasts of Z) + ½⌋ for each pair of axes and σ, with independent Z for different pairs.

    Without axes it is the rounded normal number ⌊σ·Z + ½⌋.

    >>> [each.shape for each in rounded_contrasts([((), Fraction(3)), (((2,), (3, 2)), Fraction(1, 2))])]
    [(), (1, 3)]
    """
    tossed = system_coins() if coins is None else coins
    sigmas = [positive(sigma, name="sigma", of="noise") for _, sigma in wanted]
    deepest = max((len(axes) for axes, _ in wanted), default=0)
    bits = _first_digits(digits, max(sigmas, default=Fraction(1)), deepest)
    shapes = [tuple(map(sum, axes)) for axes, _ in wanted]
    drawn = rounded_law(Fraction(2**bits)).many(sum(map(math.prod, shapes)), tossed)
    if bits + _SURE.bit_length() + deepest > 62:  # sums could overflow
        drawn = drawn.astype(np.object_)
    found, start = [], 0
    for (axes, _), sigma, shape in zip(wanted, sigmas, shapes, strict=True):
        end = start + math.prod(shape)
        known = drawn[start:end].reshape(shape)
        found.append(_rounded(known, tuple(axes), sigma, bits, tossed))
        start = end
    return found


def _first_digits(digits: int, sigma: Fraction, deepest: int) -> int:
    """How many digits are drawn first: 25 more than σ needs, or as many as 64 bits can add up, if they suffice.

    Fewer digits leave more coordinates undecided, a part of about 2^{deepest − b}·σ of them, and change no law.
    """
    wanted = max(digits, digits - 20 + math.ceil(sigma).bit_length())
    most = 62 - _SURE.bit_length() - deepest
    return most if digits <= most < wanted and sigma * 2**deepest <= 2 ** (most - _FEW) else wanted


def _rounded(known: Draws, axes: tuple[Siblings, ...], sigma: Fraction, bits: int, coins: Coins) -> Draws:
    """⌊σ·(contrasts of Z) + ½⌋ where 2^b·Z is within ½ of a known integer."""
    sums = contrasts(known, axes)
    fits = sigma * _SURE * 2 ** len(axes) < 2**61
    if sums.dtype == np.object_ or not fits:
        rounded: Draws = np.zeros(sums.shape, np.int64) if fits else np.zeros(sums.shape, np.object_)
        decided = np.zeros(sums.shape, np.bool_)
    else:
        # Three roundings to 53 bits move x by less than |x|·2^{−51}; what is unknown of Z moves it by up to `blur`.
        scale = float(sigma) * 2.0**-bits
        x = sums.astype(np.float64) * scale + 0.5
        whole = np.asarray(np.floor(x))
        blur = np.abs(x) * 2.0**-49 + 2.0**-49 + 2.0 ** (len(axes) - 1) * scale * (1 + 2.0**-40)
        decided, rounded = (x - whole > blur) & (x - whole < 1 - blur), whole.astype(np.int64)
    numbers: dict[tuple[int, ...], Normal] = {}
    for place in map(tuple, np.argwhere(~decided).tolist()):
        rounded[place] = _decide(place, int(sums[place]), known, axes, sigma, bits, numbers, coins)
    return rounded


def _decide(
    place: tuple[int, ...],
    total: int,
    known: Draws,
    axes: tuple[Siblings, ...],
    sigma: Fraction,
    bits: int,
    numbers: dict[tuple[int, ...], Normal],
    coins: Coins,
) -> int:
    """One coordinate, exactly; `numbers` are those of which more digits were drawn already."""
    half, terms = Fraction(2 ** len(axes), 2), _terms(place, axes)
    low, high = (_nearest(sigma * (total + side) / 2**bits) for side in (-half, half))
    if low == high and not any(at in numbers for at, _ in terms):
        return low
    for at, _ in terms:
        if at not in numbers:
            numbers[at] = Normal(int(known[at]), bits, coins)
    while True:
        ends = [(sign * numbers[at].low, sign * numbers[at].high) for at, sign in terms]
        low, high = (_nearest(sigma * sum(map(side, ends), Fraction(0))) for side in (min, max))
        if low == high:
            return low
        for at, _ in terms:
            numbers[at].narrow(coins)


class Normal:
    """A standard normal number that lies within ½ of y·2^{−b}, as a dyadic interval that can be narrowed."""

    __slots__ = ("_begun", "_bits")

    def __init__(self, y: int, bits: int, coins: Coins) -> None:
        while True:
            # Z lies in [begun, begun + 1]/2^bits, and a uniform V in [kept, kept + 1]/2^count.
            count, digits, kept = _MORE, coins.bits(_MORE), coins.bits(_MORE)
            while (taken := _accepted(y, bits, digits, kept, count)) is None:
                digits, kept = digits << _MORE | coins.bits(_MORE), kept << _MORE | coins.bits(_MORE)
                count += _MORE
            if taken:
                self._begun, self._bits = (2 * y - 1 << count - 1) + digits, bits + count
                return

    @property
    def low(self) -> Fraction:
        return Fraction(self._begun, 2**self._bits)

    @property
    def high(self) -> Fraction:
        return Fraction(self._begun + 1, 2**self._bits)

    def narrow(self, coins: Coins) -> None:
        """More digits. Whether the point is kept is decided for its whole interval, so they are uniform."""
        self._begun = self._begun << _MORE | coins.bits(_MORE)
        self._bits += _MORE


def _accepted(y: int, bits: int, digits: int, kept: int, count: int) -> bool | None:
    """Whether V ≤ e^{−(z² − m²)/2} for all z and V with these digits; None if the digits do not decide it."""
    nearest = Fraction(max(0, 2 * abs(y) - 1), 2 ** (bits + 1))
    begun = (2 * y - 1 << count - 1) + digits

    def compare() -> bool | None:
        z = arb((2 * begun + 1, -bits - count - 1), (1, -bits - count - 1))
        v = arb((2 * kept + 1, -count - 1), (1, -count - 1))
        likely = ((ball(nearest**2) - z * z) / 2).exp()
        return True if v < likely else False if v > likely else None

    return undisturbed(2 * (bits + count) + 64, compare)


@lru_cache(256)
def _places(families: Siblings) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each cell that is not the first of its family, the place of the first one, and its own."""
    sizes = np.array(families, np.intp)
    starts = np.cumsum(sizes) - sizes
    first = np.repeat(starts, sizes)
    rest = np.flatnonzero(first != np.arange(sizes.sum()))
    return first[rest], rest


def _terms(place: tuple[int, ...], axes: tuple[Siblings, ...]) -> list[tuple[tuple[int, ...], int]]:
    """The numbers of which a contrast is the sum, with their signs."""
    found = []
    for chosen in product((0, 1), repeat=len(axes)):
        at = tuple(int(_places(families)[which][i]) for families, which, i in zip(axes, chosen, place, strict=True))
        found.append((at, -1 if sum(chosen) % 2 else 1))
    return found


def _nearest(number: Fraction) -> int:
    """⌊x + ½⌋."""
    return math.floor(number + Fraction(1, 2))
