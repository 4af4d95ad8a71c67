"""The characteristic function of a tilted sum of losses at the significant frequencies, and a bound on all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from sitr.loss.law import FUNCTIONS, ROUNDING, Vector
from sitr.loss.total import Part, SumOfLaws
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

VANISHING = 40.0
"""Products of transforms below e^{−40} are replaced by 0, and counted as error."""

WORTH_CULLING, LOOKS = 100_000, 1 << 22
"""From WORTH_CULLING transform values on, it is worth using up to LOOKS values to see which ones vanish."""

SINGLE = 1 << 15
"""OpenBLAS uses one thread for complex matrices with rows · columns · terms up to twice this number."""


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """Π E[e^{it(L − mean)}] over all laws, tilted and divided by e^{scale}, at the significant frequencies t.

    The product is accurate to within a factor 1 ± `relative`, the scale to within `slip`. The products at all other
    frequencies, including negative ones, add up to at most `dropped`.
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
    """A bound on the sum of the errors of the weights."""

    @property
    def spread(self) -> float:
        return self.times * float((self.weights * self.distances**2).sum())

    @cached_property
    def slope(self) -> float:
        """E|L − mean|."""
        return float((self.weights * np.abs(self.distances)).sum()) * (1 + 1e-9)

    def off(self, frequencies: Vector) -> Vector:
        """A bound on the error of `_characteristic`: of its weights, of n products of two powers, and of their angles.

        The error of a power of e^{ix} is at most its exponent times F (the error of e^{ix}) plus 3R (of a product);
        the two exponents are less than the length of a block.
        """
        rounding = 3 * (len(self.weights) + 16) + 24 * _block(len(frequencies))
        return self.wrong + rounding * ROUNDING + 8 * ROUNDING * frequencies * self.slope


def transformed(total: SumOfLaws, tilt: float, spacing: float) -> Transformed | None:
    """The transform at all multiples of a frequency; None if that is too much work.

    Errors are tracked relative to the product of upper bounds on the factors: if |z − me^{iθ}| ≤ 2e and |z| ≤ m for
    each of k factors, their products differ by at most a fraction 2ke/m.
    """
    laws = sorted((_tilted(part, tilt) for part in total.parts), key=lambda law: -law.spread)
    variance = total.variance
    beyond = math.ceil(math.sqrt(2 * (VANISHING + 8.0) / variance) / spacing)
    # Beyond, e^{−Vt²/2} decreases at least geometrically.
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
        significant = np.flatnonzero(logs.real > -VANISHING)
        if len(significant) and significant[-1] + 1 < beyond:
            beyond = int(significant[-1]) + 1
            dropped += 2 * float(np.exp(logs.real[beyond:]).sum())
            times, logs, relative = times[:beyond], logs[:beyond], relative[:beyond]
    whole = math.fsum(law.times * law.whole for law in laws)
    return Transformed(
        times,
        np.exp(np.minimum(logs.real, 1.0) + 1j * logs.imag),  # larger values are of no use
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
    """The powers 0, …, count − 1 of each number, by doubling: products are much faster than exponentials."""
    found = np.empty((count, len(turns)), dtype=np.complex128)
    found[0] = 1.0
    known = 1
    while known < count:
        more = min(known, count - known)
        np.multiply(found[:more], turns, out=found[known : known + more])
        turns, known = turns * turns, known + more
    return found


def _product(left: NDArray[np.complex128], right: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """The product of two matrices, computed in blocks so small that OpenBLAS starts no threads.

    Threads that wait for each other would use several times the CPU time of the product itself.
    """
    rows, columns = left.shape[0], right.shape[1]
    height = min(rows, max(1, SINGLE // (64 * columns)))
    length = max(1, SINGLE // (height * columns))
    found = np.zeros((rows, columns), dtype=np.complex128)
    for top, start in product(range(0, rows, height), range(0, left.shape[1], length)):
        found[top : top + height] += left[top : top + height, start : start + length] @ right[start : start + length]
    return found


def _culled(laws: list[_Tilted], variance: float, spacing: float, beyond: int) -> tuple[int, float]:
    """The frequency from which on all products are proved to vanish, and a bound on their sum.

    |E[e^{itL}]| changes by at most E|L − mean| times a step in t, so a value now and then bounds all frequencies in
    between. The steps are long at first, and become shorter towards 0.
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
        significant = int(np.flatnonzero(logs > -VANISHING).max(initial=-1)) + 1
        dropped += 2 * stride * float(np.exp(logs[significant:]).sum())
        beyond, stride = min(beyond, significant * stride), stride // 8
    return beyond, dropped
