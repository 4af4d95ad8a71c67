"""The sum of many independent losses: laws tilted towards the tail that is asked for, and Fourier's inversion.

With K(λ) = ln E[e^{λL}], the tail of a sum S at ε is δ(ε) = e^{K − λε}·E[g(S − ε)] under the law tilted by λ,
where g(x) = e^{−λx}(1 − e^{−x})₊. If λ is chosen so that the tilted mean is near ε, the tail has become the
centre: its relative accuracy is that of floats, however small δ is.

Where S lies in a window of length W, g may be repeated with that period, and E[g] is Σ_j c_j·E[e^{it_j(S − ε)}]
with t_j = 2πj/W and Fourier's coefficients c_j: of a sum of many losses, a few dozen frequencies tell, however
many there are. So that all others vanish for certain, a Gaussian loss X of a small variance v is added, as if one
more release had been made: U = δ of S + X is above δ. By how much? U grows with v at half the density of S + X
at ε (the heat equation: ½(h″ + h′) of h(x) = (1 − e^{ε−x})₊ is half a point mass at ε). At a variance w < v that
density is at most √(v/w)·e^{(v−w)/8} times the one at v, because the bell of w is so much higher at most. So

    U − v·e^{v/8}·(density of S + X at ε)  ≤  δ(ε)  ≤  U,

and both are sums of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sitr.loss.law import FUNCTIONS, ROUNDING, Indices, Vector
from sitr.loss.mesh import Nodes

Part = tuple[Nodes, int]
"""A law and how often it is added."""


class Comb(NamedTuple):
    """Losses that are an origin and whole numbers of pitches."""

    origin: float
    pitch: float

    @property
    def reach(self) -> float:
        """How far before a place a line is found. Farther, what it falls by would be lost in what it is."""
        return min(self.pitch, 8.0)


@dataclass(frozen=True, eq=False)
class Sum:
    """Laws that are added, and Gaussian losses of a total variance V, which have the mean V/2."""

    parts: list[Part]
    variance: float

    @cached_property
    def row(self) -> tuple[Vector, Vector, Indices, Vector]:
        """ln of the masses, the losses, where each law starts, and how often it is added."""
        lengths = [len(nodes.losses) for nodes, _ in self.parts]
        return (
            np.concatenate([nodes.log_masses for nodes, _ in self.parts]),
            np.concatenate([nodes.losses for nodes, _ in self.parts]),
            np.cumsum([0, *lengths[:-1]]),
            np.array([float(times) for _, times in self.parts]),
        )

    @property
    def empty(self) -> bool:
        """Whether some law has no finite loss at all, and so the sum has none."""
        return any(len(nodes.losses) == 0 for nodes, _ in self.parts)

    @property
    def off(self) -> float:
        """How far the sum of all losses may be off, if they are."""
        return sum(times * nodes.off for nodes, times in self.parts)

    @cached_property
    def comb(self) -> Comb | None:
        """Where all sums are, if none are Gaussian and all are evenly spaced, or multiples of that."""
        if self.variance > 0.0 or self.empty or all(len(nodes.losses) == 1 for nodes, _ in self.parts):
            return None
        gaps = [float(np.diff(nodes.losses).min(initial=math.inf)) for nodes, _ in self.parts]
        nodes, pitch = self.parts[int(np.argmin(gaps))][0], min(gaps)
        if pitch < 64 * self.off:
            return None
        extent = float(nodes.losses[-1] - nodes.losses[0])
        pitch = extent / round(extent / pitch)
        for one, _ in self.parts:
            places = (one.losses - one.losses[0]) / pitch
            if np.any(np.abs(places - np.round(places)) * pitch > one.off):
                return None
        return Comb(sum(times * float(nodes.losses[0]) for nodes, times in self.parts), pitch)

    @property
    def longest(self) -> int:
        """How many frequencies there is time for."""
        return min(LONGEST, WORK // max((len(nodes.losses) for nodes, _ in self.parts), default=1))

    @property
    def infinite(self) -> float:
        """1 − Π(1 − mass at +∞)."""
        if any(nodes.infinite >= 1.0 for nodes, _ in self.parts):
            return 1.0
        return 0.0 - math.expm1(sum(times * math.log1p(-nodes.infinite) for nodes, times in self.parts))

    def log_moments(self, tilts: Vector) -> Vector:
        """K at each of these λ."""
        found = tilts * (tilts + 1) * self.variance / 2
        if self.parts:
            log_masses, losses, starts, times = self.row
            exponents = log_masses + tilts[:, None] * losses
            tops = np.maximum.reduceat(exponents, starts, axis=1)
            lengths = np.diff(np.append(starts, len(losses)))
            wholes = np.add.reduceat(np.exp(exponents - np.repeat(tops, lengths, axis=1)), starts, axis=1)
            found = found + (tops + np.log(wholes)) @ times
        return found

    def rounding(self, tilt: float) -> float:
        """What all K up to this λ are off by, and differences of two: exponents, sums of their powers, and sums."""
        found = tilt * (tilt + 1) * self.variance
        for nodes, times in self.parts:
            largest = float(np.abs(nodes.log_masses).max()) + tilt * float(np.abs(nodes.losses).max())
            found += times * (largest + len(nodes.losses) + 64)
        return 8 * ROUNDING * found

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(λ), the tilted mean K' and the tilted variance K'' of the whole. A guide, no bounds."""
        v = self.variance
        whole, mean, spread = tilt * (tilt + 1) * v / 2, (tilt + 0.5) * v, v
        if self.parts:
            log_masses, losses, starts, times = self.row
            exponents = log_masses + tilt * losses
            tops = np.maximum.reduceat(exponents, starts)
            lengths = np.diff(np.append(starts, len(losses)))
            weights = np.exp(exponents - np.repeat(tops, lengths))
            wholes = np.add.reduceat(weights, starts)
            means = np.add.reduceat(weights * losses, starts) / wholes
            spreads = np.add.reduceat(weights * (losses - np.repeat(means, lengths)) ** 2, starts) / wholes
            whole += float(times @ (tops + np.log(wholes)))
            mean += float(times @ means)
            spread += float(times @ spreads)
        return whole, mean, spread


VANISHING = 40.0
"""Products of transforms below e^{−40} are counted as 0, and as error."""

LONGEST, WORK = 1 << 18, 1 << 27
"""So many frequencies are looked at, and so many values found at them, at most, unless most of them surely vanish.

If that is not enough, there is more smoothing than asked for.
"""

USELESS = 1e12
"""With more smoothing than that, nothing is told any more."""

SLIGHTEST = 2.0**-40
"""A tilt that is none."""

SMALLEST = math.ulp(0.0)


def tilt_for(total: Sum, log_delta: float, *, start: float, at_most: float) -> float:
    """The λ whose tilted mean is near the ε of this δ: λK' − K = ln(g/δ), with the saddle-point's prefactor g.

    δ(ε) ≈ e^{K − λε}·g with g = 1/(λ(λ + 1)√(2πK'')), at most 1.      [LR80, in outline]
    """

    def missing(tilt: float) -> float:
        whole, mean, variance = total.cumulants(tilt)
        factor = 1 / (tilt * (tilt + 1) * math.sqrt(2 * math.pi * variance)) if variance > 0.0 else 1.0
        return tilt * mean - whole + log_delta - min(0.0, math.log(factor))

    return _rising(missing, start, at_most=at_most)


def tilt_to(total: Sum, epsilon: float, *, start: float, at_most: float) -> float:
    """The λ whose tilted mean is ε: K' = ε."""
    return _rising(lambda tilt: total.cumulants(tilt)[1] - epsilon, start, at_most=at_most)


def _rising(function: Callable[[float], float], start: float, *, at_most: float) -> float:
    """Where a function that rises becomes positive, within three percent, by halving and by false position in ln λ."""
    low = high = min(at_most, max(SLIGHTEST, start))
    at_low = at_high = function(high)
    factor = 1.3
    while at_high < 0.0 and high < at_most:
        low, at_low, high, factor = high, at_high, min(at_most, factor * high), factor**2
        at_high = function(high)
    while at_low > 0.0 and low > SLIGHTEST:
        high, at_high, low, factor = low, at_low, max(SLIGHTEST, low / factor), factor**2
        at_low = function(low)
    halve = False
    while high > 1.03 * low and at_low < 0.0 < at_high:
        part = 0.5 if halve else min(0.95, max(0.05, at_low / (at_low - at_high)))
        middle, halve = low * (high / low) ** part, not halve
        value = function(middle)
        low, at_low, high, at_high = (middle, value, high, at_high) if value < 0.0 else (low, at_low, middle, value)
    # Where the function jumps, because the tilted law leaps from one hump to another, the nearer hump is the better.
    return high if at_high < 0.0 else low


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The hockey-stick of a sum near the loss to which it was tilted, for `low` ≤ ε ≤ `high`, with all its errors.

    e^{`scale` − λε} times Σ Re(c_j·Π_j·e^{it_j(mean − ε)}) is U, and with 1/W for c_j it is the density there; both
    sums are right to within `error` and `density_error`, the scale to within `slip`, the mean to within `shift`.
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

        If all losses are places of a comb, δ is a line in e^ε from one to the next: it is found where smoothing does
        not reach, and drawn through; nearer to the next place, which the tilt favours. A place may be off by twice
        `shift`: from above, it is looked at from the left, from below, from the right.
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

        ln δ is nearly a line, of slope −λ: along chords, until the last ε with more and the first with less are as
        close as `within`.
        """
        goal, slope = math.log(delta), self.tilt + 0.5
        more, less = (-math.inf, 1.0), (math.inf, -1.0)
        if self.low > self.high:
            return math.inf if side > 0 else 0.0
        at = min(self.high, max(self.low, self.mean))
        for number in range(64):
            found = self.delta(at, side=side)
            # What is proved is told by δ itself: of numbers as small as it may be, logarithms are rounded by more.
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


def tail(total: Sum, *, tilt: float, low: float, high: float, smoothing: float, log_outside: float) -> Tail:
    """For ε between two losses; outside of the window, the tilted sum has a mass of at most 2.1·e^{log_outside}.

    There, g and what stands for it are at most 1/(λ + 1), the largest that g becomes.
    """
    if total.empty:
        return _unknown(total, tilt, low=0.0, high=math.inf)
    # Between the places of a comb, smoothing does no harm if it is much narrower than a pitch.
    wider = total.comb.pitch if total.comb else 0.0
    smoothing = (total.comb.reach / 64) ** 2 if total.comb else smoothing
    while True:
        smoothed = Sum(total.parts, total.variance + smoothing)
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
    if not found.relative[0] < 0.5:  # so many losses that nothing is left of the digits of one
        return _unknown(total, tilt, low=math.inf, high=-math.inf)
    z = tilt + 1j * found.frequencies
    # Fourier's coefficients of g on [0, b), and of 0 on the rest of the window.
    base, rest = 1 / (z * (z + 1) * width), z * math.expm1(-after) * np.exp(-z * after)
    first = -np.expm1(-z * after)
    # Of `first`, what is lost is not of itself, but of an angle: it may be small where a turn is complete.
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


def _unknown(total: Sum, tilt: float, *, low: float, high: float) -> Tail:
    """There are no finite losses, or, if there is no ε between `low` and `high`, they cannot be told."""
    none, terms = np.zeros(0), np.zeros(0, dtype=np.complex128)
    return Tail(low, high, tilt, 0.0, 0.0, none, terms, terms, 0.0, 0.0, 0.0, total.infinite, 0.0, 0.0)


def _off(total: Sum, tilt: float, reach: float) -> float:
    """How far the sum may be off: what its losses are, and what is rounded in its mean and in a difference from it."""
    means = sum(times * float(np.abs(nodes.losses).max()) for nodes, times in total.parts)
    return total.off * (1 + 1e-9) + 8 * ROUNDING * (reach + means + (tilt + 1) * total.variance)


def window(total: Sum, tilt: float, log_outside: float) -> tuple[float, float]:
    """Losses below and above which the tilted sum has a mass of at most e^{log_outside} each.

    By Chernoff, P(S ≥ x) ≤ e^{K(λ+s) − K(λ) − sx} for each s > 0: that is small enough from x = (K(λ+s) − K(λ)
    − log)/s on. What is rounded in K is made up for by a smaller mass.
    """
    _, _, variance = total.cumulants(tilt)
    best = math.sqrt(-2 * log_outside / variance)  # the best s of a Gaussian
    log_outside -= total.rounding(tilt + 1.5 * best)
    # Downward no farther than to λ = −1, where E_P[e^{−L}] ≤ 1: beyond, a moment may be huge.
    up = best * np.array((1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 0.5, 0.75, 1.0, 1.5))  # smaller for heavier tails
    down = -np.minimum(up, tilt + 1)
    here, *there = total.log_moments(tilt + np.concatenate(((0.0,), up, down)))
    above, below = np.split(np.array(there) - here - log_outside, 2)
    return float((below / down).max()), float((above / up).min())


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """Π E[e^{it(L − mean)}] over all laws, tilted and divided by e^{scale}, at the frequencies t that tell.

    The product is right to within a factor 1 ± `relative`, the scale to within `slip`; the products at all other
    frequencies, negative ones too, add up to at most `dropped`.
    """

    frequencies: Vector
    product: NDArray[np.complex128]
    relative: Vector
    dropped: float
    scale: float
    slip: float
    mean: float


@dataclass(frozen=True, slots=True, eq=False)
class _Tilted:
    """A law tilted by λ: weights that add up to 1, and the distances of its losses from their mean."""

    weights: Vector
    distances: Vector
    mean: float
    whole: float
    times: int
    wrong: float
    """What the weights are off by, added up."""

    @property
    def spread(self) -> float:
        return self.times * float(self.weights @ self.distances**2)

    @property
    def slope(self) -> float:
        """E|L − mean|."""
        return float(self.weights @ np.abs(self.distances)) * (1 + 1e-9)

    def off(self, frequencies: Vector) -> Vector:
        """What `_characteristic` is off by: its weights, a sum of n products of two rounded turns, and their angles."""
        return self.wrong + 3 * (len(self.weights) + 16) * ROUNDING + 8 * ROUNDING * frequencies * self.slope


def transformed(total: Sum, tilt: float, spacing: float) -> Transformed | None:
    """At all multiples of a frequency; None if that is too much work.

    Errors are kept beside the product, which is built of what each factor is at most: if |z − me^{iθ}| ≤ 2e and |z|
    ≤ m for each of k factors, their products differ by at most 2ke/m of it.
    """
    laws = sorted((_tilted(part, tilt) for part in total.parts), key=lambda law: -law.spread)
    variance = total.variance
    beyond = math.ceil(math.sqrt(2 * (VANISHING + 8.0) / variance) / spacing)
    # Beyond, e^{−Vt²/2} falls at least by the same factor with every frequency.
    dropped = 2 * math.exp(-variance * (beyond * spacing) ** 2 / 2) / -math.expm1(-variance * beyond * spacing**2)
    if beyond * max((len(law.weights) for law in laws), default=0) > WORTH_CULLING:
        beyond, more = _culled(laws, variance, spacing, beyond)
        dropped += more
    if beyond > total.longest:
        return None
    times = np.arange(beyond, dtype=np.float64) * spacing
    logs = (-variance / 2 * times * times).astype(np.complex128)
    relative = 8 * ROUNDING * (1 - logs.real)
    for law in laws:
        values = _characteristic(law, spacing, beyond)
        off = law.off(times)
        sizes = np.abs(values) + off
        one = np.log(sizes) + 1j * np.angle(values)
        logs = logs + law.times * one
        rounding = 2 * FUNCTIONS * (1 + np.abs(one))
        relative = relative + law.times * (2 * off / sizes + rounding) + ROUNDING * np.abs(logs)
        telling = np.flatnonzero(logs.real > -VANISHING)
        if len(telling) and telling[-1] + 1 < beyond:
            beyond = int(telling[-1]) + 1
            dropped += 2 * float(np.exp(logs.real[beyond:]).sum())
            times, logs, relative = times[:beyond], logs[:beyond], relative[:beyond]
    whole = math.fsum(law.times * law.whole for law in laws)
    return Transformed(
        times,
        np.exp(np.minimum(logs.real, 1.0) + 1j * logs.imag),  # more is of no use
        relative * (1 + 1e-9) + FUNCTIONS * (1 + np.abs(logs)),
        dropped * math.exp(min(700.0, sum(law.times * (law.wrong + 1e-13) for law in laws))),
        whole + tilt * (tilt + 1) * variance / 2,
        8 * ROUNDING * (math.fsum(abs(law.times * law.whole) for law in laws) + tilt * (tilt + 1) * variance),
        math.fsum(law.times * law.mean for law in laws) + (tilt + 0.5) * variance,
    )


WORTH_CULLING, LOOKS = 100_000, 1 << 22
"""So many values of a transform are found as fast as it is seen which need not be; that takes so many, at most."""


def _tilted(part: Part, tilt: float) -> _Tilted:
    nodes, times = part
    exponents = nodes.log_masses + tilt * nodes.losses
    top = float(exponents.max())
    whole = top + math.log(float(np.exp(exponents - top).sum()))
    weights = np.exp(exponents - whole)
    mean = float(weights @ nodes.losses)
    terms = np.abs(nodes.log_masses) + abs(tilt) * np.abs(nodes.losses) + abs(whole)
    wrong = 4 * ROUNDING * float(weights @ np.where(weights > 0.0, terms, 0.0)) + 2 * FUNCTIONS
    return _Tilted(weights, nodes.losses - mean, mean, whole, times, wrong)


def _characteristic(law: _Tilted, spacing: float, count: int) -> NDArray[np.complex128]:
    """Σ w·e^{ijsd} for j = 0, …, count − 1, as a product of two matrices: e^{i(aB + b)x} = e^{iaBx}·e^{ibx}."""
    block = math.isqrt(max(0, count - 1)) + 1
    far = np.exp(1j * spacing * block * np.outer(np.arange(-(-count // block)), law.distances)) * law.weights
    near = np.exp(1j * spacing * np.outer(law.distances, np.arange(block)))
    found: NDArray[np.complex128] = (far @ near).ravel()[:count]
    return found


def _culled(laws: list[_Tilted], variance: float, spacing: float, beyond: int) -> tuple[int, float]:
    """From which frequency on all products surely vanish, and what they add up to.

    |E[e^{itL}]| changes by no more than E|L − mean| times a step in t: so a look now and then tells of all
    frequencies between. Looks are far apart first, and closer the nearer to 0.
    """
    looks = max(64, LOOKS // sum(len(law.weights) for law in laws))
    stride, dropped = max(int(0.2 / (max(law.slope for law in laws) * spacing + 1e-300)), beyond // looks), 0.0
    while 1 < stride < beyond <= looks * stride:
        step, count = stride * spacing, -(-beyond // stride)
        times = np.arange(count, dtype=np.float64) * step
        logs: Vector = -variance / 2 * times * times
        for law in laws:
            sizes = np.abs(_characteristic(law, step, count)) + law.slope * step + law.off(times)
            logs += law.times * np.minimum(np.log(sizes), law.wrong + 1e-13)
        telling = int(np.flatnonzero(logs > -VANISHING).max(initial=-1)) + 1
        dropped += 2 * stride * float(np.exp(logs[telling:]).sum())
        beyond, stride = min(beyond, telling * stride), stride // 8
    return beyond, dropped
