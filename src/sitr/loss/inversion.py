"""The sum of many independent losses: laws tilted towards the tail in question, and Fourier inversion.

With K(λ) = ln E[e^{λL}], the tail of a sum S at ε is δ(ε) = e^{K − λε}·E[g(S − ε)] under the law tilted by λ,
where g(x) = e^{−λx}(1 − e^{−x})₊. If λ is chosen so that the tilted mean is near ε, the tail has become the
centre, and its relative accuracy is the accuracy of floats, however small δ is.

Where S lies in a window of length W, g may be repeated with that period, and E[g] is Σ_j c_j·E[e^{it_j(S − ε)}]
with t_j = 2πj/W and Fourier coefficients c_j. For a sum of many losses, a few dozen frequencies suffice. To prove
that all others vanish, a Gaussian loss X of a small variance v is added, as if one more release had been made: then
U = δ of S + X exceeds δ. As v grows, U grows at half the density of S + X at ε (the heat equation: ½(h″ + h′) of
h(x) = (1 − e^{ε−x})₊ is half a point mass at ε). At a variance w < v that density is at most √(v/w)·e^{(v−w)/8} times
the density at v, because this is the largest ratio of the two bell curves. So

    U − v·e^{v/8}·(density of S + X at ε)  ≤  δ(ε)  ≤  U,

and both are sums of the same kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.loss.total import Comb, SumOfLaws, window
from sitr.loss.transform import transformed
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

USELESS = 1e12
"""With more smoothing than this, the answer would be useless."""

SMALLEST = math.ulp(0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The hockey-stick of a sum near the loss to which it was tilted, for `low` ≤ ε ≤ `high`, with error bounds.

    e^{`scale` − λε} times Σ Re(c_j·Π_j·e^{it_j(mean − ε)}) is U, and with 1/W for c_j it is the density there; both
    sums are accurate to within `error` and `density_error`, the scale to within `slip`, the mean to within `shift`.
    """

    low: float
    high: float
    tilt: float
    scale: float
    mean: float
    frequencies: Vector
    terms: NDArray[np.complex128]
    density_terms: NDArray[np.complex128]
    smoothing: float
    error: float
    density_error: float
    infinite: float
    shift: float
    slip: float
    comb: Comb | None = None

    def delta(self, epsilon: float, *, side: int) -> float:
        """δ(ε) from above (side 1) or from below (side −1).

        If all losses are on a comb, δ is linear in e^ε from one place to the next. The line is computed from two ε that
        the smoothing does not reach, close to the next place, which the tilt favours. A place may be off by twice
        `shift`, so it is approached from the left for an upper bound, and from the right for a lower bound.
        """
        if not self.low <= epsilon <= self.high:
            return 1.0 if side > 0 else 0.0
        guard = 2 * self.shift
        if self.comb is None or self.smoothing > (self.comb.reach / 48) ** 2 or self.comb.reach < 16 * guard:
            return self._near(epsilon, side=side)
        origin, pitch = self.comb
        tooth = math.floor((epsilon - origin) / pitch)
        if side > 0 and epsilon - (origin + tooth * pitch) < guard:
            tooth, epsilon = tooth - 1, origin + tooth * pitch - guard
        elif side < 0 and origin + (tooth + 1) * pitch - epsilon < guard:
            tooth, epsilon = tooth + 1, origin + (tooth + 1) * pitch + guard
        following = origin + (tooth + 1) * pitch
        left, right = following - self.comb.reach / 4, following - self.comb.reach / 8
        share = math.expm1(epsilon - left) / math.expm1(right - left)
        ends = [(1 - share) * self._near(left, side=side if share < 1.0 else -side)]
        ends.append(share * self._near(right, side=side if share > 0.0 else -side))
        rounding = side * 16 * FUNCTIONS * (abs(ends[0]) + abs(ends[1]))
        return min(1.0, max(0.0, ends[0] + ends[1] + rounding))

    def _near(self, epsilon: float, *, side: int) -> float:
        at = epsilon - side * self.shift
        turns = self.frequencies * (self.mean - at)
        wave = np.exp(1j * turns)
        value = float((self.terms * wave).real.sum()) + side * self.error
        if side < 0:
            density = float((self.density_terms * wave).real.sum()) + self.density_error
            value -= self.smoothing * math.exp(min(700.0, self.smoothing / 8)) * (1 + FUNCTIONS) * max(0.0, density)
        found = self.infinite * (1 + side * 16 * FUNCTIONS)
        if value > 0.0:
            log = math.log(value)
            rounding = self.slip + FUNCTIONS * (4 + abs(log) + abs(self.scale) + abs(self.tilt * at))
            found += math.exp(min(0.0, log + self.scale - self.tilt * at + side * rounding))
        return min(1.0, max(0.0, found * (1 + side * 4 * FUNCTIONS) + side * 4 * SMALLEST))

    def epsilon(self, delta: float, *, side: int, within: float) -> float:
        """An ε that is proved to have δ(ε) ≤ δ (side 1: ∞ if there is none) or δ(ε) > δ (side −1: 0 if there is none).

        ln δ is nearly linear with slope −λ. The search follows chords until the last ε with a larger δ and the first
        with a smaller one are within `within`.
        """
        goal, slope = math.log(delta), self.tilt + 0.5
        more, less = (-math.inf, 1.0), (math.inf, -1.0)
        if self.low > self.high:
            return math.inf if side > 0 else 0.0
        at = min(self.high, max(self.low, self.mean))
        for number in range(64):
            found = self.delta(at, side=side)
            # The proof compares δ itself: logarithms of very small numbers have larger rounding errors.
            beyond, excess = found > delta, (math.log(found) if found > 0.0 else -1e4) - goal
            more, less = ((at, excess), less) if beyond else (more, (at, excess))
            width = less[0] - more[0]
            if width <= within or at == (self.high if beyond else self.low):
                break
            if width == math.inf:
                step = max(abs(excess) / slope, within / 4) * 2.0 ** max(0, number - 2)
                at = min(self.high, max(self.low, at + (step if beyond else -step)))
            else:
                part = more[1] / (more[1] - less[1]) if number < 16 else 0.5
                at = more[0] + min(width - within / 2, max(within / 2, part * width))
        return less[0] if side > 0 else max(0.0, more[0])


def tail(total: SumOfLaws, *, tilt: float, low: float, high: float, smoothing: float, log_outside: float) -> Tail:
    """The tail for `low` ≤ ε ≤ `high`. Outside the window, the tilted sum has a mass of at most 2.1·e^{log_outside}.

    There, g and its periodic extension are at most 1/(λ + 1), the maximum of g.
    """
    if total.empty:
        return _unknown(total, tilt, low=0.0, high=math.inf)
    # On a comb, smoothing that is much narrower than a pitch does no harm between the places.
    wider = total.comb.pitch if total.comb else 0.0
    smoothing = (total.comb.reach / 64) ** 2 if total.comb else smoothing
    while True:
        smoothed = SumOfLaws(total.parts, total.variance + smoothing)
        left, right = window(smoothed, tilt, log_outside)
        shift = _off(smoothed, tilt, max(abs(low), abs(high)) + right - left)
        before, after = max(high - left, 0.0) + shift + wider, max(right - low, 0.0) + shift + wider
        width = before + after
        found = transformed(smoothed, tilt, 2 * math.pi / width)
        if found is not None:
            break
        smoothing = max(2 * smoothing, (width / total.longest) ** 2)
        if not smoothing < USELESS:
            return _unknown(total, tilt, low=math.inf, high=-math.inf)
    if not found.relative[0] < 0.5:  # with very many losses, rounding leaves no correct digit
        return _unknown(total, tilt, low=math.inf, high=-math.inf)
    z = tilt + 1j * found.frequencies
    # Fourier coefficients of g on [0, b), and of 0 on the rest of the window.
    base, rest = 1 / (z * (z + 1) * width), z * math.expm1(-after) * np.exp(-z * after)
    first = -np.expm1(-z * after)
    # The error of `first` is relative to an angle, not to `first`, which may be small after a full turn.
    turned = math.exp(-tilt * after) * np.minimum(1.0, np.abs(z) * after)
    largest = np.abs(base) * (np.abs(first) + np.abs(rest) + turned)
    twice = np.where(found.frequencies > 0.0, 2.0, 1.0)
    sizes = twice * np.abs(found.product)
    relative = found.relative + (64 + len(sizes) + 16 * found.frequencies * width) * ROUNDING
    return Tail(
        low,
        high,
        tilt,
        found.scale,
        found.mean,
        found.frequencies,
        twice * found.product * base * (first + rest),
        twice * found.product / width,
        smoothing,
        # No coefficient is larger than 1/W times the integral of g, which is below 1/λ, and below W/(λ + 1).
        error=(float((sizes * largest * relative).sum()) + found.dropped * min(1 / (tilt * width), 1.0)) * (1 + 1e-9)
        + 2.1 * math.exp(log_outside + float(found.relative[0])) / (tilt + 1),
        density_error=(float((sizes * relative).sum()) + found.dropped) / width * (1 + 1e-9),
        infinite=total.infinite,
        shift=shift,
        slip=found.slip,
        comb=total.comb,
    )


def _unknown(total: SumOfLaws, tilt: float, *, low: float, high: float) -> Tail:
    """The tail of a sum without finite losses; or, if `low` > `high`, of a sum about which nothing is known."""
    none, terms = np.zeros(0), np.zeros(0, dtype=np.complex128)
    return Tail(low, high, tilt, 0.0, 0.0, none, terms, terms, 0.0, 0.0, 0.0, total.infinite, 0.0, 0.0)


def _off(total: SumOfLaws, tilt: float, reach: float) -> float:
    """The error of the sum: the errors of its losses, and the rounding of its mean and of differences from it."""
    means = sum(times * float(np.abs(nodes.losses).max()) for nodes, times in total.parts)
    return total.off * (1 + 1e-9) + 8 * ROUNDING * (reach + means + (tilt + 1) * total.variance)
