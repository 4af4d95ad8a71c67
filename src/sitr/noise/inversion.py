"""Any law on 0, 1, 2, …, exactly, by inversion of a uniform number whose digits are read only as far as needed.

With S(i) = P(Y ≥ i) and U uniform on [0, 1), Y = #{i ≥ 1 : U < S(i)} has the law of Y. U is an endless row of binary
digits. Almost always its first 16 decide: a guide table has Y wherever no S(i) lies between two neighbours of the
grid 2^{−16}ℤ. Otherwise 48 more digits are read and compared with every S(i), each known to lie in a band of integers,

    ⌊2^64·S⁻⌋ ≤ 2^64·S(i) < ⌊2^64·S⁺⌋ + 1,   S⁻ ≤ S(i) ≤ S⁺ proved with Arb.

Only where U falls into a band are digits added until Arb separates U from S(i). The digits that are known stay: a draw
that was discarded and repeated would favour outcomes that are easily decided. No last outcome absorbs a tail: the
outcomes that share less than 2^{−64} are separated by the digits that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import accumulate, count
from typing import TYPE_CHECKING

from flint import arb

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.noise.sums import floor
from sitr.precision import undisturbed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

Survival = Callable[[int], arb]
"""i ↦ S(i) for i ≥ 1, enclosed at the working precision; 0 beyond the last outcome, if there is one.

A wide enclosure costs digits and time, never the law.
"""


@dataclass(frozen=True, slots=True)
class Bits:
    """How many digits of U are read first, and how many are known when Arb decides.

    Tests shorten them, so that events of one draw in 2^64 happen in every second draw; the law stays the same.
    """

    guide: int = 16
    word: int = 64


FULL = Bits()


@dataclass(frozen=True)
class Inversion:
    """A sampler of a law on the natural numbers.

    >>> from sitr.noise.coins import system_coins
    >>> fair = Inversion(lambda i: arb(0.5 if i == 1 else 0))
    >>> fair.one(system_coins()) in (0, 1), fair.many(5, system_coins()).shape
    (True, (5,))
    """

    survival: Survival
    digits: Bits = FULL

    def one(self, coins: Coins) -> int:
        return self.at(coins.words(1)[0], coins)

    def at(self, word: np.uint64, coins: Coins) -> int:
        """The outcome for a U that begins with this word.

        Every band is compared and counted, so that the time does not reveal the outcome. The few nanoseconds that
        caches and branch prediction may still reveal are hidden by a pause of about a microsecond, whose length comes
        from the last digits of the word, which carry next to no information about the outcome.
        """
        for _ in range(int(word) & 127):
            pass
        if self.digits.word < 64:
            word >>= np.uint64(64 - self.digits.word)
        ends, lows = self._ends
        reached = ends >= word
        sure, possible = np.count_nonzero(reached[:lows]), np.count_nonzero(reached[lows:])
        return int(sure) if sure == possible else self._settle(word, coins)

    def many(self, size: int, coins: Coins) -> NDArray[np.int64]:
        pieces = coins.words(-(-size // 4)).view(np.uint16)[:size]
        if self.digits.guide < 16:
            pieces = pieces >> np.uint16(16 - self.digits.guide)
        found = self._guide.take(pieces, mode="clip").astype(np.int64)
        undecided = np.flatnonzero(found < 0)
        if undecided.size:
            found[undecided] = self._further(pieces[undecided], coins)
        return found

    def _further(self, pieces: NDArray[np.uint16], coins: Coins) -> NDArray[np.int64]:
        """The draws whose first digits do not decide."""
        missing = self.digits.word - self.digits.guide
        drawn = coins.words(len(pieces)) >> np.uint64(64 - missing)
        drawn |= pieces.astype(np.uint64) << np.uint64(missing)
        lows, highs = self._bands
        sure = len(lows) - np.searchsorted(lows, drawn, side="right")
        possible = len(highs) - np.searchsorted(highs, drawn, side="left")
        for at in np.flatnonzero(sure != possible).tolist():
            sure[at] = self._settle(drawn[at], coins)
        return sure

    @cached_property
    def _bands(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The lower and the upper ends of the bands of 2^64·S(i), in increasing order: from the first S(i) that may be
        below 2^{−64} to S(1).

        U < S(i) is sure if ⌊2^64·U⌋ < low, and U ≥ S(i) is sure if ⌊2^64·U⌋ > high.
        """
        word, most = self.digits.word, (1 << self.digits.word) - 1
        lows, highs = [], [most]
        for i in count(1):
            low, high = undisturbed(word + 64, _band, self.survival, i, word)
            # S(i) = 1 has no word above it; Arb then decides for the last word.
            lows.append(max(0, min(low, most)))
            # An upper bound on S(i) also bounds all later ones.
            highs.append(min(high, highs[-1]))
            if highs[-1] <= 0:
                break
        # A lower bound on S(i) also bounds all earlier ones.
        rows = list(accumulate(reversed(lows), max)), highs[:0:-1]
        return np.array(rows[0], dtype=np.uint64), np.array(rows[1], dtype=np.uint64)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.uint64], int]:
        """The largest words for which U < S(i) is sure, all of them, then those for which it is possible."""
        lows, highs = self._bands
        sure = lows[lows > 0] - np.uint64(1)
        return np.concatenate([sure, highs]), len(sure)

    @cached_property
    def _guide(self) -> NDArray[np.integer]:
        """The outcome for the first digits of U, or −1 where they do not decide. A smaller table is faster."""
        cells, missing = 1 << self.digits.guide, np.uint64(self.digits.word - self.digits.guide)
        begun, ended = (np.bincount((row >> missing).astype(np.int64), minlength=cells) for row in self._bands)
        guide = len(self._bands[0]) - np.cumsum(begun)
        guide[np.cumsum(begun) - np.cumsum(ended) + ended > 0] = -1
        return guide.astype(np.int16 if len(self._bands[0]) <= np.iinfo(np.int16).max else np.int64)

    def _settle(self, drawn: np.uint64, coins: Coins) -> int:
        return settle(self.survival, int(drawn), self.digits.word, coins=coins, more=self.digits.word)


@dataclass(frozen=True)
class Inversions:
    """Several laws, drawn together, one draw of each."""

    laws: tuple[Inversion, ...]

    def at(self, words: NDArray[np.uint64], coins: Coins) -> list[int]:
        """The outcomes for numbers U that begin with these words; every band of every law is compared."""
        if not self.laws:
            return []
        digits = self.laws[0].digits
        if digits.word < 64:
            words = words >> np.uint64(64 - digits.word)
        sure: list[int]
        sure, possible = (self._ends >= words[:, None]).sum(axis=2).tolist()
        if sure != possible or not words.all():
            rows = zip(self.laws, words, sure, possible, strict=True)
            sure = [low if low == high and word else law._settle(word, coins) for law, word, low, high in rows]
        return sure

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        """As for one law, padded with zeros. Only a word of zeros reaches these, and more digits settle it."""
        ends = [(ends[:lows], ends[lows:]) for ends, lows in (law._ends for law in self.laws)]
        longest = max(len(highs) for _, highs in ends)
        filled = [[np.pad(row, (longest - len(row), 0)) for row in rows] for rows in zip(*ends, strict=True)]
        return np.array(filled)


def settle(survival: Survival, drawn: int, known: int, *, coins: Coins, more: int) -> int:
    """The outcome for a U of which some digits are known, ⌊2^known·U⌋ = drawn; more are read as needed."""
    while True:
        found = _search(survival, drawn, known)
        if found is not None:
            return found
        drawn, known = drawn << more | coins.bits(more), known + more


def _search(survival: Survival, drawn: int, known: int) -> int | None:
    """The i with S(i) > U ≥ S(i + 1), first by doubling, then by halving; None where U is too near to an S."""
    low, high, found = 0, 0, 1
    while high != low + 1:
        above = undisturbed(known + 64, _above, survival, found, drawn, known)
        if above is None:
            return None
        low, high = (found, high) if above else (low, found)
        found = (low + high) // 2 if high else 2 * low
    return low


def _above(survival: Survival, i: int, drawn: int, known: int) -> bool | None:
    """Whether S(i) is above every U that begins with these digits, or above none; None where more must be known."""
    scaled = survival(i) * (1 << known)
    return True if scaled >= drawn + 1 else False if scaled <= drawn else None


def _band(survival: Survival, i: int, word: int) -> tuple[int, int]:
    """⌊2^word·S⌋ for the lower and for the upper end of the enclosure of S(i)."""
    scaled = survival(i) * (1 << word)
    return floor(scaled.lower()), floor(scaled.upper())
