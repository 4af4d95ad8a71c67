"""The characteristic function of a tilted sum of losses, at the frequencies that tell, and a proof about all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.loss.total import Part, Sum

VANISHING = 40.0
"""Products of transforms below e^{−40} are counted as 0, and as error."""

WORTH_CULLING, LOOKS = 100_000, 1 << 22
"""So many values of a transform are found as fast as it is seen which need not be; that takes so many, at most."""

SINGLE = 1 << 15
"""OpenBLAS multiplies complex matrices in one thread if rows · columns · terms are at most twice this."""


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


@dataclass(frozen=True, eq=False)
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
        return self.times * float((self.weights * self.distances**2).sum())

    @cached_property
    def slope(self) -> float:
        """E|L − mean|."""
        return float((self.weights * np.abs(self.distances)).sum()) * (1 + 1e-9)

    def off(self, frequencies: Vector) -> Vector:
        """What `_characteristic` is off by: its weights, a sum of n products of two powers of turns, and their angles.

        A power of a turn is off by no more than its exponent times what the turn is off, F, and a product is, 3R; the
        two exponents are less than the length of a block.
        """
        rounding = 3 * (len(self.weights) + 16) + 24 * _block(len(frequencies))
        return self.wrong + rounding * ROUNDING + 8 * ROUNDING * frequencies * self.slope


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


def _tilted(part: Part, tilt: float) -> _Tilted:
    nodes, times = part
    exponents = nodes.log_masses + tilt * nodes.losses
    top = float(exponents.max())
    whole = top + math.log(float(np.exp(exponents - top).sum()))
    weights = np.exp(exponents - whole)
    mean = float((weights * nodes.losses).sum())
    terms = np.abs(nodes.log_masses) + abs(tilt) * np.abs(nodes.losses) + abs(whole)
    wrong = 4 * ROUNDING * float((weights * np.where(weights > 0.0, terms, 0.0)).sum()) + 2 * FUNCTIONS
    return _Tilted(weights, nodes.losses - mean, mean, whole, times, wrong)


def _characteristic(law: _Tilted, spacing: float, count: int) -> NDArray[np.complex128]:
    """Σ w·e^{ijsd} for j = 0, …, count − 1, as a product of two matrices: e^{i(aB + b)x} = e^{iaBx}·e^{ibx}."""
    block = _block(count)
    far = _powers(np.exp(1j * spacing * block * law.distances), -(-count // block))
    near = _powers(np.exp(1j * spacing * law.distances), block)
    return _product(far * law.weights, near.T).ravel()[:count]


def _block(count: int) -> int:
    return math.isqrt(max(0, count - 1)) + 1


def _powers(turns: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """The powers 0, …, count − 1 of each number, by doubling: a product takes much less time than an exponential."""
    found = np.empty((count, len(turns)), dtype=np.complex128)
    found[0] = 1.0
    known = 1
    while known < count:
        more = min(known, count - known)
        np.multiply(found[:more], turns, out=found[known : known + more])
        turns, known = turns * turns, known + more
    return found


def _product(left: NDArray[np.complex128], right: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """The product of two matrices, put together of parts so small that OpenBLAS starts no threads for them.

    Threads that wait for each other take several times as much CPU time as the product itself.
    """
    rows, columns = left.shape[0], right.shape[1]
    height = min(rows, max(1, SINGLE // (64 * columns)))
    length = max(1, SINGLE // (height * columns))
    found = np.zeros((rows, columns), dtype=np.complex128)
    for top, start in product(range(0, rows, height), range(0, left.shape[1], length)):
        found[top : top + height] += left[top : top + height, start : start + length] @ right[start : start + length]
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
