"""The discrete Gaussian law: an integer weighed by the bell curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from flint import arb

from sitr.dataclass import dataclass
from sitr.namespace import Later
from sitr.noise.bell import bell_sums, direct_sums
from sitr.noise.coins import Coins, system_coins
from sitr.noise.draws import NEVER, Draws, Size, collect_integers, random_bits
from sitr.noise.exponential import SMALL, Real, small_exponential
from sitr.noise.geometric import TABLES
from sitr.noise.inversion import FULL, Bits, Inversion, Survival
from sitr.numbers import Number, ball, inside, natural, positive
from sitr.precision import precision, undisturbed, working_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

MOST = 64
"""The largest σ, in cells, of a table."""

_MARGIN = 2.0**-46
"""Closer than this, floats do not decide."""

_MOST_BITS = 2**14
"""Bits after which the search for the least width stops, with a width that is proved to suffice."""


@overload
def discrete_gaussian(*, sigma: Number, size: None = None, coins: Coins | None = None) -> int: ...
@overload
def discrete_gaussian(*, sigma: Number, size: Size, coins: Coins | None = None) -> Draws: ...
def discrete_gaussian(*, sigma: Number, size: Size | None = None, coins: Coins | None = None) -> int | Draws:
    """P(y) ∝ e^{−y²/2σ²} on the integers, exactly, for any rational σ > 0.      [CKS20, Def. 1]

    Many draws are 64-bit integers if P(|Y| > 2^62) ≤ 2e^{−2^124/2σ²} < 2^{−1000}, otherwise Python integers.
    (Chernoff's bound: E[e^{λY}] ≤ e^{λ²σ²/2}, as a bell summed over the integers is largest when centred on one.)

    >>> discrete_gaussian(sigma=0.5, size=3).dtype, discrete_gaussian(sigma=2**60, size=(2, 3)).dtype
    (dtype('int64'), dtype('O'))
    """
    law, tossed = gaussian_law(sigma), system_coins() if coins is None else coins
    if size is None:
        return law.one(tossed)
    return collect_integers(lambda count: law.many(count, tossed), size=size, fits=law.fits)


@lru_cache(TABLES, typed=True)
def gaussian_law(sigma: Number, digits: Bits = FULL) -> SmallGaussian | LargeGaussian:
    """The sampler, built once for each σ."""
    s = positive(sigma, name="sigma", of="noise")
    if s <= MOST:
        return SmallGaussian(Inversion(_ordered(s), digits))
    return LargeGaussian.of(s, digits, fits=2 * NEVER * s**2 <= 2**124)


@dataclass(frozen=True, slots=True)
class SmallGaussian:
    """0, 1, −1, 2, −2, … in this order, from one table."""

    order: Inversion
    fits = True

    def one(self, coins: Coins) -> int:
        drawn = self.order.one(coins)
        beyond = drawn + 3 >> 1  # |Y| + 1: Python takes another way with zeros
        return (1 - beyond, beyond - 1)[drawn & 1]

    def many(self, size: int, coins: Coins) -> Draws:
        drawn = self.order.many(size, coins)
        return (drawn + 1 >> 1) * (2 * (drawn & 1) - 1)


def _ordered(sigma: Fraction) -> Survival:
    """S(2w) = P(|Y| > w or Y = −w) = (T(w − 1) + T(w))/θ and S(2w + 1) = P(|Y| > w) = 2T(w)/θ."""
    sums = _sums(sigma)

    def survival(i: int) -> arb:
        whole, tail = sums(working_bits())
        w = i // 2
        return (2 * tail(w) if i % 2 else tail(w - 1) + tail(w)) / whole

    return survival


def _halves(cells: Fraction) -> Survival:
    """2c for the rectangle of cell c, 2c + 1 for the part above it; f_c = e^{−c²/2σ'²} with σ' the width in cells.

    A cell weighs f_c, all of them (θ' + 1)/2, so S(2c) = 2T'(c − 1)/(θ' + 1) and S(2c + 1) = S(2c) − 2f_{c+1}/(θ' + 1).
    """
    sums = _sums(cells)

    def survival(i: int) -> arb:
        whole, tail = sums(working_bits())
        c = i // 2
        rest = tail(c - 1) if c else (whole + 1) / 2
        return 2 * (rest - (tail(c) - tail(c + 1) if i % 2 else 0)) / (whole + 1)

    return survival


def _sums(sigma: Fraction) -> Callable[[int], tuple[arb, Callable[[int], arb]]]:
    """θ and T, once for each precision."""

    @lru_cache(4)
    def at(bits: int) -> tuple[arb, Callable[[int], arb]]:
        return direct_sums(sigma, bits=bits)

    return at


@dataclass(frozen=True, slots=True)
class LargeGaussian:
    """The bell on the integers or on the reals, from cells of length 2^m and a uniform remainder in a cell.

    σ is between 32 and 64 cells long. On the integers a cell c = 0, 1, …, a remainder r and a sign s make N = c·2^m + r
    and Y = N or, for s = 1, −1 − N, of size |Y| = N + s: every integer in one way. The bell over a cell lies between
    f(c·2^m) and f((c + 1)·2^m). A draw from the rectangle below the lower value is always kept. A draw from above it,
    one in forty to eighty, is kept if V < p(r), where V is uniform and, in units of a cell, ρ = (r + s)/2^m ∈ [0, 1],

        p = (e^{−γ} − e^{−Γ})/(1 − e^{−Γ}),   γ = κ·ρ·(2c + ρ),   Γ = κ·(2c + 1),   κ = 1/2σ'² = 2^{2m}/2σ².

    Floats decide V·(1 − e^{−Γ}) < e^{−γ} − e^{−Γ} up to a margin of 2^{−46}. With u = 2^{−53} and Γ ≤ 0.3466: ρ is off
    by at most u, so γ by at most κ(2c + 2)·u + 5uγ < 3u, and Γ by 3uΓ < 2u; the two exponentials by 5u more each, so by
    8u and 7u; the difference e^{−γ} − e^{−Γ} by 16u, the product by 7u + 2u, together 25u < 2^{−48}. Between the
    margins, and for Γ > 0.3466 (beyond 11σ), more digits of V are read until Arb decides.

    With `real` the law is the normal one: ±(N + U) has it, if U is uniform on [0, 1) and ρ = (r + U)/2^m. The draw is
    ⌊N + U⌋ = N, or ⌊−(N + U)⌋ = −1 − N. A cell has the same weight as on the integers, because cell c is 2^m times
    f(c·2^m) in both. U matters only for p: w digits of it determine ρ up to 2^{−m−w}, and p·(1 − e^{−Γ}) more closely,
    because its slope κ(2c + 2ρ)·e^{−γ} is below 0.35. The margin is wider by as much, and Arb gets more digits of U
    together with more digits of V.
    """

    halves: Inversion
    cells: Fraction
    shift: int
    kappa: float
    fits: bool
    real: bool = False

    @classmethod
    def of(cls, sigma: Fraction, digits: Bits, *, fits: bool, real: bool = False) -> LargeGaussian:
        shift = 0
        while sigma > MOST << shift:
            shift += 1
        cells = sigma / 2**shift
        return cls(Inversion(_halves(cells), digits), cells, shift, float(1 / (2 * cells**2)), fits, real)

    def one(self, coins: Coins) -> int:
        """The rejection step always runs, so that the time does not reveal how far out a draw is."""
        word, parts = self.halves.digits.word, self.shift // 64 + 1
        known = min(word, 53)
        while True:
            words = coins.words(2 + parts + self.real)
            drawn, v = self.halves.at(words[0], coins), int(words[1]) >> 64 - word
            bits = int.from_bytes(words[2 : 2 + parts].tobytes()) >> 64 * parts - self.shift - 1
            c, r, s = drawn >> 1, bits >> 1, bits & 1
            steps = r << word | int(words[-1]) >> 64 - word if self.real else r + s
            rho = steps / (1 << self.shift + (word if self.real else 0))
            kept, refused = self._decide(float(c), rho, float(v >> word - known), known)
            sure = kept or refused
            if not drawn & 1 or (kept if sure else self._settle(c, steps, v, coins)):
                return (c << self.shift | r) ^ -s

    def many(self, size: int, coins: Coins) -> Draws:
        """Spare draws replace the rejected ones, about one in a hundred."""
        drawn, refused = self._propose(size, coins)
        while refused.size:
            spare, bad = self._propose(refused.size + refused.size // 32 + 4, coins)
            good = np.delete(spare, bad)[: refused.size]
            drawn[refused[: good.size]] = good
            refused = refused[good.size :]
        return drawn

    def _propose(self, size: int, coins: Coins) -> tuple[Draws, NDArray[np.intp]]:
        """Draws, and the places of the rejected ones."""
        halves = self.halves.many(size, coins)
        bits = random_bits(self.shift + 1, size=size, coins=coins)
        cells = halves >> 1
        above = np.flatnonzero(halves & 1)
        refused = above[self._refused(cells[above], bits[above], coins)]
        drawn = cells if self.fits else cells.astype(np.object_)
        drawn <<= self.shift
        drawn |= bits >> 1
        drawn ^= -(bits & 1)
        return drawn, refused

    def _refused(self, cells: NDArray[np.int64], bits: Draws, coins: Coins) -> NDArray[np.bool_]:
        """Which draws above a rectangle are rejected."""
        word = self.halves.digits.word
        known = min(word, 53)
        v = coins.words(len(cells)) >> np.uint64(64 - word)
        r = bits >> 1
        # U has `word` digits; on the integers the sign stands for it, without digits of its own.
        places, u = (word, coins.words(len(cells)) >> np.uint64(64 - word)) if self.real else (0, bits & 1)
        # Of a remainder longer than 60 bits the first 60 are enough here: ρ is off by less than 2^{−60} + u/2.
        far = max(0, self.shift - 60)
        rho = ((r >> far).astype(np.float64) + u.astype(np.float64) / 2.0**places) / 2.0 ** (self.shift - far)
        first = (v >> np.uint64(word - known)).astype(np.float64)
        kept: NDArray[np.bool_]
        refused: NDArray[np.bool_]
        kept, refused = self._decide(cells.astype(np.float64), rho, first, known)
        for at in np.flatnonzero(~(kept | refused)).tolist():
            steps = (int(r[at]) << places) + int(u[at])
            refused[at] = not self._settle(int(cells[at]), steps, int(v[at]), coins)
        return refused

    def _decide(self, c: Real, rho: Real, v: Real, known: int) -> tuple[Any, Any]:
        """Whether a V between v/2^known and (v + 1)/2^known is surely below p, and whether it surely is not."""
        top = self.kappa * (2 * c + 1)
        low = small_exponential(top)
        wanted = small_exponential(self.kappa * rho * (2 * c + rho)) - low
        unit = 2.0**-known * (1 - low)
        near = top <= SMALL
        margin = _MARGIN + (2.0 ** -(self.shift + self.halves.digits.word) if self.real else 0.0)
        return near & ((v + 1) * unit < wanted - margin), near & (v * unit > wanted + margin)

    def _settle(self, c: int, steps: int, v: int, coins: Coins) -> bool:
        """Whether V < p, with as many more digits of V, and of U with `real`, as Arb needs."""
        more = known = self.halves.digits.word
        while (below := undisturbed(known + 64, self._below, c, steps, v, known)) is None:
            v, known = v << more | coins.bits(more), known + more
            steps = steps << more | coins.bits(more) if self.real else steps
        return below

    def _below(self, c: int, steps: int, v: int, known: int) -> bool | None:
        """Whether V < p; None where the known digits of V do not decide."""
        kappa = ball(1 / (2 * self.cells**2))
        # A real remainder lies between `steps` and `steps` + 1 units of 2^{−m−known}.
        place = -self.shift - known - 1
        rho = arb((2 * steps + 1, place), (1, place)) if self.real else arb((steps, -self.shift))
        low = (-kappa * (2 * c + 1)).exp()
        border = ((-kappa * rho * (2 * c + rho)).exp() - low) / (1 - low) * (1 << known)
        return True if border >= v + 1 else False if border <= v else None


def discrete_gaussian_tail(k: int, *, sigma: Number) -> arb:
    """P(Y ≥ k) = T(k − 1)/θ for k ≥ 1, with the sums of `discrete_gaussian_width`.

    The tail is about e^{−k²/2σ²}; ¾ > 1/(2 ln 2), so this many bits reach it; beyond 4096 only a bound is given.

    >>> abs(discrete_gaussian_tail(3, sigma=1) - 0.0045672) < 1e-6
    True
    """
    natural(k, name="start", of="a tail")
    s = positive(sigma, name="sigma", of="noise")
    bits = 128 + min(4096, math.ceil(Fraction(3 * k * k, 4) / s**2))
    with precision(bits + 64):
        whole, tail = bell_sums(s, bits=bits)
        return tail(k - 1) / whole


def discrete_gaussian_width(*, sigma: Number, confidence: Number) -> int:
    """The least w with P(|Y| ≤ w) ≥ c, decided with Arb.

    2·T(w) ≤ (1 − c)·θ, where T(w) = Σ_{y>w} e^{−y²/2σ²} and θ = Σ_y e^{−y²/2σ²} are summed directly for small σ, and
    by the formulas of Euler–Maclaurin and Poisson with proved remainders for large σ. The precision grows until w
    is decided, or up to a limit that only a confidence with thousands of digits reaches: then w is proved to be
    enough, but perhaps not the least.

    >>> discrete_gaussian_width(sigma=10, confidence=0.95)
    20
    """
    return _width(positive(sigma, name="sigma", of="noise"), 1 - inside(confidence))


@lru_cache(4096)  # the parts of a preview, and those who move a price, ask for the same widths again
def _width(s: Fraction, rest: Fraction) -> int:
    def tails(bits: int) -> tuple[Callable[[int], arb], arb]:
        whole, tail = bell_sums(s, bits=bits)
        return tail, ball(rest) * whole / 2

    return least_width(s, rest, tails)


def least_width(sigma: Fraction, rest: Fraction, tails: Callable[[int], tuple[Callable[[int], arb], arb]]) -> int:
    """The least w whose tail is at most the allowed one; `tails(bits)` gives both for a law close to the normal one.

    The search begins where the normal law with this σ leaves the probability `rest` outside.
    """
    # One step of w changes the tail by about (1 − c)/σ of it: this many bits and 64 more separate two steps.
    bits = 64 + _log2(1 / rest) + max(0, _log2(sigma))
    while True:
        with precision(bits + 64):
            tail, allowed = tails(bits)
            width = _first(tail, allowed, near=_guess(sigma, rest))
            if width == 0 or tail(width - 1) > allowed or bits > _MOST_BITS:
                return width
        bits *= 2


def _log2(number: Fraction) -> int:
    """⌈log₂⌉ to within one, for numbers beyond any float."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _guess(sigma: Fraction, rest: Fraction) -> int:
    """The width of the continuous law: a starting point, which affects only speed."""
    end = (ball(sigma) * arb(2).sqrt() * ball(rest).erfcinv()).mid().floor().unique_fmpz()
    return 0 if end is None else max(0, int(end))


def _first(tail: Callable[[int], arb], allowed: arb, *, near: int) -> int:
    """The first w ≥ 0 whose tail is proved to be at most the one allowed."""
    width = near
    while not tail(width) <= allowed:
        width += 1
    while width > 0 and tail(width - 1) <= allowed:
        width -= 1
    return width
