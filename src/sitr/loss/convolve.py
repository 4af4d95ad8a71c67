"""The sum of many independent losses: laws tilted towards the tail that is asked for, multiplied as transforms.

With K(λ) = ln E[e^{λL}], the tail of a sum at ε is e^{K}·E[e^{−λS}(1 − e^{ε−S})₊] under the law tilted by λ. If
λ is chosen so that the tilted mean is near ε, the tail has become the centre: its relative accuracy is that of
floats, however small δ is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from sitr.loss.lattice import Nodes
from sitr.loss.law import FUNCTIONS, ROUNDING, Indices, Vector

Part = tuple[Nodes, int]
"""A law and how often it is added."""


class Parts(list[Part]):
    """All laws of a sum, and their nodes in a row."""

    @cached_property
    def row(self) -> tuple[Vector, Vector, Indices, Vector]:
        """ln of the masses, the losses, where each law starts, and how often it is added."""
        lengths = [len(nodes.places) for nodes, _ in self]
        return (
            np.concatenate([nodes.log_masses for nodes, _ in self]),
            np.concatenate([nodes.losses for nodes, _ in self]),
            np.cumsum([0, *lengths[:-1]]),
            np.array([float(times) for _, times in self]),
        )

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(λ) = ln Σ p·e^{λl} of the whole sum, its tilted mean K' and its tilted variance K''. A guide, no bounds."""
        log_masses, losses, starts, times = self.row
        exponents = log_masses + tilt * losses
        tops = np.maximum.reduceat(exponents, starts)
        spread = np.diff(np.append(starts, len(losses)))
        weights = np.exp(exponents - np.repeat(tops, spread))
        wholes = np.add.reduceat(weights, starts)
        means = np.add.reduceat(weights * losses, starts) / wholes
        variances = np.add.reduceat(weights * (losses - np.repeat(means, spread)) ** 2, starts) / wholes
        whole, mean, variance = (float((times * each).sum()) for each in (tops + np.log(wholes), means, variances))
        return whole, mean, variance


TRANSFORM = 10 * ROUNDING
"""A transform of length N is right to within this times log₂ N, relative to the Euclidean norm.      [Hig02, Thm 24.2]

That theorem is for factors of 2. A factor p done directly costs at most (p + 3)√p roundings, and 3 for the
turn: for the 2, 3, 4 and 5 that `next_fast_len` leaves, less than 10 log₂ p.
"""

SLIGHTEST = 2.0**-20
"""A tilt that is none."""

SMALLEST = math.ulp(0.0)

VANISHING = 34.0
"""Powers of a transform below e^{−34}, which is about rounding, are counted as 0, and as error."""


def tilt_for(parts: Parts, log_delta: float, *, start: float = 1.0) -> float:
    """The λ whose tilted mean is near the ε of this δ: λK' − K = ln(g/δ), with the saddle-point's prefactor g.

    δ(ε) ≈ e^{K − λε}·g with g = 1/(λ(λ + 1)√(2πK'')), at most 1.      [LR80, in outline]
    """

    def missing(tilt: float) -> float:
        whole, mean, variance = parts.cumulants(tilt)
        factor = 1 / (tilt * (tilt + 1) * math.sqrt(2 * math.pi * variance)) if variance > 0.0 else 1.0
        return tilt * mean - whole + log_delta - min(0.0, math.log(factor))

    return _rising(missing, start, at_most=1 / parts[0][0].step)


def tilt_to(parts: Parts, epsilon: float, *, start: float = 1.0) -> float:
    """The λ whose tilted mean is ε: K' = ε."""
    return _rising(lambda tilt: parts.cumulants(tilt)[1] - epsilon, start, at_most=1 / parts[0][0].step)


def _rising(function: Callable[[float], float], start: float, *, at_most: float) -> float:
    """Where a function that rises becomes positive, within five percent.

    No λ beyond 1/step: a tail that falls by more than e from place to place says nothing of the places before.
    """
    low = high = min(at_most, max(SLIGHTEST, start))
    factor = 1.1
    if function(high) < 0.0:
        while high < at_most:
            low, high, factor = high, min(at_most, factor * high), factor**2
            if function(high) >= 0.0:
                break
    else:
        while low > SLIGHTEST:
            low, high, factor = max(SLIGHTEST, low / factor), low, factor**2
            if function(low) <= 0.0:
                break
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
    return high


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The hockey-stick of a sum on a lattice, near the loss to which it was tilted; two-sided in its numerical error.

    At place i, of loss l, e^{`scale` − λl}·`stick` is the hockey-stick: Σ_{j≥i} c_j e^{−λ(l_j − l)}(1 − e^{l −
    l_j}) for tilted masses c, and `sum` is Σ_{j≥i} c_j e^{−(λ+1)(l_j − l)}. Both are right to within a factor 1
    ± `slip`, and ± `error`. The losses may be off by `shift`.
    """

    origin: float
    first: int
    centre: int
    step: float
    tilt: float
    scale: float
    stick: Vector
    sum: Vector
    slip: float
    error: float
    infinite: float
    shift: float

    def delta(self, epsilon: float, *, side: int) -> float:
        """δ(ε) from above (side 1), from below (side −1), or without numerical errors (side 0)."""
        loss = epsilon - side * self.shift  # losses are off by no more than this
        place = math.ceil((loss - self.origin) / self.step) - self.first
        place += self.loss(place) < loss
        if place < 0:
            return 1.0 if side > 0 else self._whole(0, self.loss(-1), side)
        return self._whole(place, loss, side)

    def epsilon(self, delta: float, *, side: int) -> float:
        """The least ε ≥ 0 with δ(ε) ≤ δ, from above, from below, or without numerical errors."""
        end = len(self.stick)
        low, high = (-1, end) if side > 0 else (self._known_above(delta, side), end)
        if low < -1:
            return 0.0
        while high - low > 1:  # from below, above δ at `low`; from above, at most δ at `high`
            middle = (low + high) // 2
            low, high = (low, middle) if self._at(middle, side) <= delta else (middle, high)
        if high == end:
            return math.inf if side > 0 else max(0.0, self.loss(low) + side * self.shift)
        # Between two places δ is linear in e^ε: halve to the last digits.
        left, right = self.loss(high - 1), self.loss(high)
        while right - left > 1e-13 * (1 + abs(right)) and left < (between := (left + right) / 2) < right:
            left, right = (left, between) if self._whole(high, between, side) <= delta else (between, right)
        return max(0.0, (right if side > 0 else left) + side * self.shift)

    def loss(self, place: int) -> float:
        return self.origin + (self.first + place) * self.step

    def _known_above(self, delta: float, side: int) -> int:
        """A place near the centre at which δ is certainly exceeded: far from it, errors hide the truth from below.

        −1 is the place before the first, −2 that there is none.
        """
        back = 0
        while (place := self.centre - back) >= 0:
            if self._at(place, side) > delta:
                return place
            back += 1 + back // 8
        return -1 if self._whole(0, self.loss(-1), side) > delta else -2

    def _at(self, place: int, side: int) -> float:
        return self._whole(place, self.loss(place), side)

    def _whole(self, place: int, loss: float, side: int) -> float:
        """The hockey-stick at a loss no more than one step below this place, the infinite losses, and all errors."""
        infinite, at, value = (self.infinite * (1 + side * 16 * FUNCTIONS), self.loss(place), 0.0)
        if place < len(self.stick):
            value = float(self.stick[place]) - math.expm1(min(0.0, loss - at)) * float(self.sum[place])
        bounded = value * (1 + side * self.slip) + side * self.error
        if bounded > 0.0:
            log = math.log(bounded)
            rounding = FUNCTIONS * (4 + abs(log) + abs(self.scale) + abs(self.tilt * at))
            infinite += math.exp(min(0.0, log + self.scale - self.tilt * at + side * rounding))
        return min(1.0, max(0.0, infinite * (1 + side * 4 * FUNCTIONS) + side * 4 * SMALLEST))


def tail(parts: Parts, *, tilt: float, log_outside: float) -> Tail:
    """All parts added, in a window outside of which the tilted sum has a mass of at most 2.1·e^{log_outside}.

    What is outside is missing, or has come in on the other side, with a weight of at most 1. An error of
    Euclidean norm e in the masses is one of at most e·√(Σ e^{−2λ(l_j − l)}) in their sums; sums of positive
    numbers are off by a factor.
    """
    step, infinite = parts[0][0].step, _infinite(parts)
    if any(len(nodes.places) == 0 for nodes, _ in parts):
        nothing = np.zeros(1)
        return Tail(0.0, 0, 0, step, tilt, 0.0, nothing, nothing, 0.0, 0.0, infinite, 0.0)
    origin = math.fsum(times * nodes.origin for nodes, times in parts)
    _, mean, _ = parts.cumulants(tilt)
    lowest = sum(times * int(nodes.places.min()) for nodes, times in parts)
    highest = sum(times * int(nodes.places.max()) for nodes, times in parts)
    first, last = (round((loss - origin) / step) for loss in window(parts, tilt, log_outside))
    first, last = max(lowest, first - 1), min(highest, last + 1)
    outside = 0.0 if (first, last) == (lowest, highest) else 2.1 * math.exp(log_outside)
    size = fft.next_fast_len(last - first + 1, real=True)
    masses, scale, slip, in_norm, in_sum = _convolved(parts, tilt, size)
    masses = np.maximum(np.roll(masses, -(first % size)), 0.0)  # no mass is negative: what is, is rounding
    decay = math.exp(-tilt * step)
    sums = _running(masses, decay * math.exp(-step))
    sticks = np.append(_running(sums[1:] * (decay * -math.expm1(-step)), decay), 0.0)
    reach = min(float(size), -1 / math.expm1(-2 * tilt * step))
    extent = (
        abs(origin) + max(abs(first), abs(first + size)) * step + math.fsum(abs(t * nodes.origin) for nodes, t in parts)
    )
    return Tail(
        origin,
        first,
        min(size - 1, max(0, round((mean - origin) / step) - first)),
        step,
        tilt,
        scale,
        sticks,
        sums,
        slip=slip + (3 * size + 8) * FUNCTIONS + 8 * ROUNDING * tilt * extent,
        error=(in_norm * math.sqrt(reach) + in_sum) * (1 + 1e-9) + outside,
        infinite=infinite,
        shift=sum(times * nodes.off for nodes, times in parts) * (1 + 1e-9) + 8 * ROUNDING * extent,
    )


def window(parts: Parts, tilt: float, log_outside: float) -> tuple[float, float]:
    """Losses below and above which the tilted sum has a mass of at most e^{log_outside} each.

    By Chernoff, P(S ≥ x) ≤ e^{K(λ+s) − K(λ) − sx} for each s > 0: that is small enough from x = (K(λ+s) − K(λ)
    − log)/s on.
    """
    here, _, variance = parts.cumulants(tilt)
    # The best s of a Gaussian; beyond 100/step a place more costs a factor e^{100}.
    best = min(math.sqrt(-2 * log_outside / variance) if variance > 0.0 else math.inf, 100 / parts[0][0].step)
    tries = [best * 2.0 ** (power / 2) for power in range(-3, 5)]
    # Downward no farther than to λ = −1, where E_P[e^{−L}] ≤ 1: beyond, a moment may be huge.
    ends: tuple[list[float], list[float]] = ([], [])
    for side, further in [(0, -min(one, tilt + 1)) for one in tries] + [(1, one) for one in tries]:
        there, _, _ = parts.cumulants(tilt + further)
        ends[side].append((there - here - log_outside * (1 + 1e-9)) / further)
    return max(ends[0]), min(ends[1])


def _norm(values: Vector) -> float:
    return math.sqrt(float(np.square(values).sum()))


def _running(values: Vector, decay: float) -> Vector:
    """Σ_{j≥i} v_j·decay^{j−i} at each i, as e^{ri}·Σ_{j≥i} v_j·e^{−rj} in blocks along which e^{ri} ≤ e^{60}."""
    rate = -math.log(decay) if decay > 0.0 else 60.0
    length = max(1, min(len(values), int(60.0 / rate) if rate > 0.0 else len(values)))
    growth = np.exp(rate * np.arange(length + 1))
    found, carried = np.empty_like(values), 0.0
    for stop in range(len(values), 0, -length):
        start = max(0, stop - length)
        grown = growth[: stop - start + 1]
        sums = np.cumsum((values[start:stop] / grown[:-1])[::-1])[::-1]
        found[start:stop] = grown[:-1] * (sums + carried / grown[-1])
        carried = float(found[start])
    return found


def _convolved(parts: Parts, tilt: float, size: int) -> tuple[Vector, float, float, float, float]:
    """The tilted masses of the sum modulo `size`, ln of their divisor, and the errors: of that, in ℓ2 and in ℓ1.

    A transform T of masses that add up to 1 has |T| ≤ 1; an error e in it becomes at most k·e in its k-th power. Errors
    of a few roundings in each exponent are counted in ℓ1, where they add up k times as well; those of products are
    relative. Where the product is negligible after some of the laws, it stays so: the others are not looked at there.
    """
    scale, slip, in_norm, in_sum, growth = 0.0, 0.0, 0.0, 0.0, 0.0
    telling, product = np.arange(size // 2 + 1), np.ones(size // 2 + 1, dtype=np.complex128)
    relative = TRANSFORM * max(1.0, math.log2(size))
    found = [(part, _tilted(part, tilt)) for part in parts]
    # What spreads most comes first, and leaves the fewest frequencies to the others.
    for (nodes, times), (weights, whole, _) in sorted(found, key=lambda one: -one[1][2]):
        extent = abs(nodes.origin) + np.abs(nodes.places) * nodes.step
        terms = np.abs(nodes.log_masses) + abs(tilt) * extent + abs(whole)
        folds = 2 + (int(nodes.places.max()) - int(nodes.places.min())) // size
        scale += times * whole
        slip += 4 * ROUNDING * abs(times * whole)
        transform, wrong = _transform(nodes.places % size, weights, size, telling, relative)
        in_norm += times * wrong
        in_sum += times * (4 * ROUNDING * float((weights * terms).sum()) + 2 * FUNCTIONS + 2 * ROUNDING * folds)
        growth += times * (abs(float(weights.sum()) - 1) + 2 * FUNCTIONS + math.sqrt(size) * wrong)
        product = product * _power(transform, times)
        kept = np.abs(product) > math.exp(-VANISHING)
        telling, product = telling[kept], product[kept]
    spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
    spectrum[telling] = product
    masses: Vector = fft.irfft(spectrum, size)
    releases, factor = sum(times for _, times in parts), math.exp(min(700.0, growth))
    after = (relative + 4 * ROUNDING * (releases + len(parts))) * (_norm(masses) + relative)
    return masses, scale, slip, (in_norm + 4 * math.exp(-VANISHING) * len(parts)) * factor + after, in_sum * factor


def _tilted(part: Part, tilt: float) -> tuple[Vector, float, float]:
    """The tilted masses, which add up to 1; ln of what they were divided by; and how much the sum spreads by them."""
    nodes, times = part
    losses = nodes.losses
    exponents = nodes.log_masses + tilt * losses
    top = float(exponents.max())
    whole = top + math.log(float(np.exp(exponents - top).sum()))
    weights = np.exp(exponents - whole)
    mean = float((weights * losses).sum())
    return weights, whole, times * float((weights * (losses - mean) ** 2).sum())


def _transform(
    places: Indices, weights: Vector, size: int, telling: Indices, relative: float
) -> tuple[NDArray[np.complex128], float]:
    """The transform at the telling frequencies, and its error, as one of masses in ℓ2: fast, or term by term."""
    if len(telling) * len(places) > size // 4:
        masses = np.bincount(places, weights=weights, minlength=size).astype(np.float64, copy=False)
        return fft.rfft(masses)[telling], relative * _norm(masses)
    turns = np.outer(telling, places) % size * (-2j * np.pi / size)  # whole numbers below 2⁶³: exact
    # An angle is off by 3R of at most 2π, cosine and sine by 2F; sums of n terms by log₂ n + 8 roundings of a block.
    return (np.exp(turns) * weights).sum(axis=1), (40 + 4 * FUNCTIONS / ROUNDING + math.log2(len(places))) * ROUNDING


def _power(transform: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """The k-th power where it is not negligible, by squaring."""
    if times == 1 or len(transform) == 0:
        return transform
    with np.errstate(divide="ignore"):
        telling = np.log(np.abs(transform)) * times > -VANISHING
    base, power = transform[telling], np.ones(int(telling.sum()), dtype=np.complex128)
    while times:
        if times & 1:
            power = power * base
        times >>= 1
        if times:
            base = base * base
    whole = np.zeros_like(transform)
    whole[telling] = power
    return whole


def _infinite(parts: Parts) -> float:
    """1 − Π(1 − mass at +∞)."""
    if any(nodes.infinite >= 1.0 for nodes, _ in parts):
        return 1.0
    return 0.0 - math.expm1(sum(times * math.log1p(-nodes.infinite) for nodes, times in parts))
