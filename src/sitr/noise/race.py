"""Which of many candidates is best when each loses its cost and wins exponential noise, exactly.

Candidates come in runs: the s candidates of a run have the same cost c, and the best of them has −rate·c + M, where M
is the largest of s independent exponential numbers, P(M ≤ y) = (1 − e^{−y})^s. With U uniform on [0, 1),

    M = −ln(1 − U^{1/s})

has this law. U is an endless row of binary digits, of which 64 are read first. They enclose M, and floats with a margin
far above their rounding errors leave almost always a single run that can be the best. Otherwise more digits are read
until Arb separates the best from the rest. The digits that are known stay, so the law is exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.numbers import ball
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[Any]
else:
    np = Later("numpy")
    Integers = object

_ABSOLUTE, _RELATIVE = 1e-9, 1e-12
"""The margins of floats: absolute, and relative to rate·cost. A few roundings of 2⁻⁵³ are far below both."""

_BEYOND = 10**300
"""Costs from here on are compared by Arb alone."""

_WIDE = 2**900
"""Floats would lose digits of U^{1/s} for larger runs."""


def best_run(sizes: Integers, costs: Integers, rate: Fraction, coins: Coins, *, digits: int = 64) -> int:
    """The place of the run that holds the best candidate.

    Tests read fewer `digits` first, so that events of one draw in 2^64 happen often; the law stays the same.

    >>> from sitr.noise.coins import system_coins
    >>> best_run(np.array([5, 1, 1000]), np.array([70, 0, 90]), Fraction(10), system_coins())
    1
    """
    words = coins.words(len(sizes)) >> np.uint64(64 - digits)
    left = np.arange(len(sizes)) if sizes.max() > _WIDE else _possible(words, sizes, costs, rate, digits)
    if len(left) == 1:
        return int(left[0])
    return _settled({int(at): int(words[at]) for at in left}, digits, sizes, costs, rate, coins)


def _possible(words: Integers, sizes: Integers, costs: Integers, rate: Fraction, digits: int) -> Integers:
    """The places of the runs that can be the best, as far as floats can tell."""
    with np.errstate(divide="ignore"):
        low, high = _ends(words, sizes.astype(float), digits)
        behind = _floats(costs, rate)
        margin = _ABSOLUTE + _RELATIVE * behind
        lowest, highest = low - behind - margin, high - behind + margin
    return np.flatnonzero(highest >= lowest.max())


def _floats(costs: Integers, rate: Fraction) -> Integers:
    """rate·cost, or a number beyond all others where that is too large for a float."""
    if costs.dtype != object and rate * int(costs.max()) < _BEYOND:
        return costs.astype(float) * float(rate)
    return np.array([float(min(rate * cost, _BEYOND)) for cost in costs.tolist()])


def _ends(words: Integers, sizes: Integers, digits: int) -> tuple[Integers, Integers]:
    """M at the two ends of what U can be, w/2^b and (w + 1)/2^b.

    Floats know a small U well, and of a U near 1 what it lacks: so ln U is computed from one or the other.
    """
    lacks = np.uint64(2**digits - 1) - words
    small = words < np.uint64(2 ** (digits - 1))
    found = []
    for more in (0.0, 1.0):
        direct = np.log((words.astype(float) + more) / 2.0**digits)
        from_one = np.log1p(-(lacks.astype(float) + 1.0 - more) / 2.0**digits)
        found.append(-np.log(-np.expm1(np.where(small, direct, from_one) / sizes)))
    return found[0], found[1]


def _settled(known: dict[int, int], digits: int, sizes: Integers, costs: Integers, rate: Fraction, coins: Coins) -> int:
    """The best of these runs, with 64 more digits of each U until one of them is certainly the best."""
    while True:
        with precision(2 * digits + 64):
            found = {
                place: _enclosed(word, digits, int(sizes[place])) - ball(rate * int(costs[place]))
                for place, word in known.items()
            }
            for place, number in found.items():
                if all(number > other for at, other in found.items() if at != place):
                    return place
        known = {place: word << 64 | coins.bits(64) for place, word in known.items()}
        digits += 64


def _enclosed(word: int, digits: int, size: int) -> arb:
    """M for all U from w/2^b to (w + 1)/2^b: 0 where U is 0, and without a limit where U may be 1."""
    ends = []
    for part in (word, word + 1):
        if part == 0:
            ends.append(arb(0))
        elif part == 2**digits:
            return arb("0 +/- inf")
        else:
            ends.append(-(-(ball(Fraction(part, 2**digits)).log() / size).expm1()).log())
    return ends[0].union(ends[1])
