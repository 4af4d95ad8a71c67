"""A choice with probability proportional to e^score: the draw of the exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, overload

from flint import arb

from sitr.errors import InvalidParameter
from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import Size, collect
from sitr.noise.exponential import LARGE, exponential
from sitr.noise.inversion import FULL, Bits, settle
from sitr.noise.sums import exponential_sums
from sitr.numbers import Number, exact, finite
from sitr.precision import working_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = Sequence[Number] | NDArray[np.integer] | NDArray[np.floating]
    Indices = NDArray[np.int64]
else:
    np = Later("numpy")
    Scores = Indices = object


_UNIT = 2.0**-53
"""The relative error of one operation on floats."""


@overload
def select(*, log_weights: Scores, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def select(*, log_weights: Scores, size: Size, coins: Coins | None = None) -> Indices: ...
def select(*, log_weights: Scores, size: Size | None = None, coins: Coins | None = None) -> int | Indices:
    """i with probability e^{s_i}/Σ_j e^{s_j}, exactly, for rational scores s.      [DR14, Def. 3.4]

    No noise is added to the scores: a uniform number is compared with sums of weights. The scores are not cached,
    because they are computed from secrets.

    >>> select(log_weights=[0, -1000]), select(log_weights=[0.5, 0.25], size=3).shape
    (0, (3,))
    """
    law, tossed = SelectionLaw(log_weights), system_coins() if coins is None else coins
    if size is None:
        return int(law.many(1, tossed)[0])
    return collect(lambda count: law.many(count, tossed), size=size, dtype=np.int64)


@dataclass(frozen=True)
class SelectionLaw:
    """S(i) = P(I ≥ i) = R_i/R_0 with R_i = Σ_{j≥i} e^{−g_j}, g_j = s − s_j, where s is the largest score.

    Floats decide where they can. If gaps g are off by at most η, weights are off by a relative 1.01η + 2^{−49}, and
    sums of n weights by nu more. With m the sum of these, R_i and U·R_0 are off by at most m·R_0 each, plus u for a
    product: a margin of 4m·R_0 suffices. (A gap beyond 700 counts as 700, off by n·2^{−1009} in all.)
    """

    scores: Scores
    digits: Bits = FULL

    def __post_init__(self) -> None:
        given = np.asarray(self.scores)
        if given.ndim != 1 or given.size == 0:
            raise InvalidParameter(
                wanted="a row of at least one score",
                given=f"an array of shape {given.shape}",
                do="Pass one score for each candidate.",
            )
        # The message does not repeat a score, because scores are secret.
        if given.dtype.kind not in "iu" and not all(finite(score) is not None for score in given.tolist()):
            raise InvalidParameter(
                wanted="scores to be finite numbers",
                given="something else",
                do="Leave out candidates that must never be chosen.",
            )

    def many(self, size: int, coins: Coins) -> Indices:
        word = self.digits.word
        known = min(word, 53)
        drawn = coins.words(size) >> np.uint64(64 - word)
        sums, margin = self._sums
        v, unit = (drawn >> np.uint64(word - known)).astype(np.float64), 2.0**-known * sums[-1]
        # How many of the sums R_{n−1}, R_{n−2}, … are surely at most U·R_0, and how many may be.
        first = np.searchsorted(sums, v * unit - margin, side="right")
        last = np.searchsorted(sums, (v + 1) * unit + margin, side="right")
        found: Indices = len(sums) - 1 - first
        for at in np.flatnonzero(first != last).tolist():
            found[at] = settle(self._survival, int(drawn[at]), word, coins=coins, more=word)
        return found

    @cached_property
    def _sums(self) -> tuple[NDArray[np.float64], float]:
        """R_{n−1}, …, R_0 in floats, and the margin."""
        gaps, error = self._gaps
        sums = np.cumsum(exponential(gaps[::-1]))
        return sums, 4 * float(sums[-1]) * (1.01 * error + 2.0**-49 + len(sums) * _UNIT)

    @cached_property
    def _gaps(self) -> tuple[NDArray[np.float64], float]:
        """g in floats, and a bound on their errors for g ≤ 700.

        Differences of integers are exact, and rounded once. Floats stand for decimals that are off by at most u|s|,
        and a difference adds ug. Where that is too much, and for all other types, exact differences are rounded once.
        """
        given = np.asarray(self.scores)
        if given.dtype.kind == "f":
            error = 2 * _UNIT * (float(np.abs(given).max()) + LARGE)
            if error < 2.0**-32:
                return given.max() - given.astype(np.float64), error
        elif given.dtype.kind == "i":
            # The difference of two signed integers is right as an unsigned one of the same width.
            wide = given.astype(np.int64)
            return (wide.max() - wide).view(np.uint64).astype(np.float64), _UNIT * LARGE
        # Beyond 700 all gaps are alike, and a fraction may be beyond all floats.
        return np.array([float(min(gap, Fraction(1000))) for gap in self._exact_gaps]), _UNIT * LARGE

    @cached_property
    def _exact_gaps(self) -> list[Fraction]:
        scores = [exact(score) for score in self.scores]
        top = max(scores)
        return [top - score for score in scores]

    @cached_property
    def _suffixes(self) -> Callable[[int], list[arb]]:
        """R_0, …, R_n, once for each precision."""

        @lru_cache(2)
        def at(bits: int) -> list[arb]:
            return exponential_sums(((1, gap) for gap in reversed(self._exact_gaps)), bits=bits)[::-1]

        return at

    def _survival(self, i: int) -> arb:
        sums = self._suffixes(working_bits())
        return sums[min(i, len(sums) - 1)] / sums[0]
