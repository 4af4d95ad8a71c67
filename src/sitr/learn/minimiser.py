"""Minima of strongly convex objectives, each with a proved distance.

    J(w) = (1/n)·Σ φ(x_i·w, t_i) + (Λ/2)‖w‖² + b·w/n      gives      ‖w − w*‖ ≤ ‖∇J(w)‖/Λ

for every w, however it was found. So floats may search, if the rounding of the last gradient is bounded as well; where
that bound is too large, Arb searches again with as many digits as needed. The result is always as near as requested: a
search that failed for some data sets would reveal them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat

from sitr.learn.losses import Numbers, RowLoss
from sitr.learn.rows import TrainingRows
from sitr.numbers import ball, float_below, power_of_two
from sitr.precision import precision

UNIT = 2.0**-53
"""The relative rounding error of one operation."""

_ROUNDS = 60
"""Passes over the data in floats. Newton's method needs about six."""

_NEAR = 1e-4
"""Once the gradient has shrunk by this factor, the second derivatives are not computed again."""

_STRIDE = 8
"""One block of rows in this many gives second derivatives."""

_BITS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """J(w) = (1/n)·Σ φ(x_i·w, t_i) + (Λ/2)‖w‖² + b·w/n."""

    rows: TrainingRows
    targets: Numbers
    loss: RowLoss
    curvature: Fraction
    tilt: tuple[Fraction, ...] = field(default=())
    """b of objective perturbation; empty means 0."""

    def minimum(self, *, within: Fraction) -> list[Fraction]:
        """A point that is proved to be at most this far from the minimum.

        >>> from sitr.learn.losses import Squared
        >>> rows = TrainingRows.clipped(np.array([[1.0], [2.0]]), norm=2.0, constant=False)
        >>> problem = Objective(rows, np.array([1.0, 2.0]), Squared(2.0, 1.0), Fraction(5, 2))
        >>> [round(float(weight), 9) for weight in problem.minimum(within=Fraction(1, 10**9))]
        [0.5]
        """
        found = _by_floats(self, within)
        return _by_balls(self, within) if found is None else [Fraction(weight) for weight in found.tolist()]

    def granularity(self, *, moved: Fraction, parts: int, longest: Fraction, pull: Fraction = Fraction(0)) -> Fraction:
        """A power of two: one record moves the minimum by `parts` granules, or by fewer if floats cannot resolve these.

        Only public numbers are used. Rows longer than expected cost time and nothing else.
        """
        length, count = float(longest), len(self.rows)
        slope, weights = self.loss.usual(length, float(self.curvature))
        weights += float(pull / self.curvature)
        least = rounding(
            rows=count,
            size=self.rows.size,
            block=self.rows.block,
            squares=count * length**2,
            slopes=count * length * slope,
            weights=weights,
            lipschitz=self.loss.lipschitz,
            rest=float(self.curvature) * weights + float(pull),
        )
        return max(power_of_two(moved / parts), 2 * power_of_two(8 * Fraction(least) / self.curvature))


def rounding(
    *, rows: int, size: int, block: int, squares: float, slopes: float, weights: float, lipschitz: float, rest: float
) -> float:
    """How far the computed gradient may be from the true one, in Euclidean length.

    A sum of k products in any order is wrong by at most 1.01·k·u times the sum of their sizes [Hig02, Sec. 3.1]. So

        a prediction   by  d·u·‖x‖‖w‖, and its slope φ' by φ''-max times that, and by 32u|φ'| of its own;
        Σ φ'·x         by  k·u·Σ|φ'|‖x‖ over blocks of k − m rows, m of which are added in turn;

    with squares = Σ‖x_i‖², slopes = Σ|φ'_i|‖x_i‖, weights = ‖w‖ and rest = Λ‖w‖ + ‖b‖/n, all of which are sums of
    numbers of at least 0 and hardly rounded. The last term covers numbers that are too small for a float.
    """
    terms = min(rows, block) + math.ceil(rows / block)
    predictions = lipschitz * (size + 4) * weights * squares / rows
    sums = (terms + 40) * slopes / rows
    return 1.02 * UNIT * (predictions + sums + 8 * rest) + 1e-200 * (1.0 + weights)


def _by_floats(problem: Objective, within: Fraction) -> Numbers | None:
    """Newton's method with steps that are halved while they go too far; None where floats cannot prove enough.

    Second derivatives come from some of the rows: steps are then a little off, and much cheaper. Where they do not help
    enough, all rows are used.
    """
    rows = problem.rows
    near = float_below(problem.curvature) * float_below(within) * (1.0 - 1e-9)
    search = _Search(problem)
    weights = np.zeros(rows.size)
    with np.errstate(all="ignore"):
        stride = _STRIDE
        here = search.gradient(weights, stride)
        first = here.length
        for _ in range(_ROUNDS):
            if (here.length + here.error) * (1.0 + 1e-9) <= near:
                return weights
            step = search.step(here)
            if step is None or not here.error < near:
                return None
            slope, size = float(step @ here.vector), 1.0
            far = here.length > _NEAR * first
            there = search.gradient(weights + step, stride if far else 0)
            # J is convex: where it still falls, or rises less steeply than it fell, the step was not much too long.
            while far and float(there.vector @ step) > -slope / 2.0 and size > 2.0**-20:
                size /= 2.0
                there = search.gradient(weights + size * step, stride)
            if not there.length < here.length / 2.0:
                stride = 1
            weights, here = weights + size * step, there
    return None


@dataclass(slots=True)
class _Gradient:
    vector: Numbers
    length: float
    error: float


class _Search:
    """The gradient of an objective in floats with a bound on its rounding errors, and the last second derivatives."""

    __slots__ = ("bends", "problem", "squares", "start", "tilt")

    def __init__(self, problem: Objective) -> None:
        rows = problem.rows
        self.problem = problem
        self.squares = float(rows.lengths @ rows.lengths)
        self.tilt = np.array([float(part) for part in problem.tilt]) if problem.tilt else np.zeros(rows.size)
        self.bends = np.zeros((rows.size, rows.size))
        self.start: tuple[Numbers, float] | None = None

    def gradient(self, weights: Numbers, stride: int) -> _Gradient:
        """The gradient at these weights; second derivatives come from every stride-th block, or from none if it is 0.

        If they are constant the rows are read only once: Σφ'x = Σφ'(0)·x + (Σxxᵀ)·w, and Σ|φ'|‖x‖ is at most
        Σ|φ'(0)|‖x‖ + ‖w‖·Σ‖x‖², whose rounding errors the same bound covers.
        """
        rows, loss = self.problem.rows, self.problem.loss
        size = float(np.linalg.norm(weights))
        if self.start is not None:
            total, slopes = self.start
            return self._bounded(weights, total + len(rows) * (self.bends @ weights), slopes + size * self.squares)
        total, bends, slopes, seen = np.zeros(rows.size), np.zeros_like(self.bends), 0.0, 0
        for place, block in enumerate(rows.blocks()):
            predicted = block.predicted(weights) if size else np.zeros(len(block.features))
            slope = loss.slopes(predicted, self.problem.targets[block.part])
            total += block.summed(slope)
            slopes += float(np.abs(slope) @ rows.lengths[block.part])
            if stride and (loss.constant or place % stride == 0):
                block.add_bowed(loss.bends(slope), bends)
                seen += len(slope)
        if seen:
            self.bends = bends / seen
        if seen and loss.constant and not size:
            self.start = total, slopes
        return self._bounded(weights, total, slopes)

    def _bounded(self, weights: Numbers, total: Numbers, slopes: float) -> _Gradient:
        rows, curvature = self.problem.rows, float(self.problem.curvature)
        count, size = len(rows), float(np.linalg.norm(weights))
        vector = total / count + curvature * weights + self.tilt / count
        error = rounding(
            rows=count,
            size=rows.size,
            block=rows.block,
            squares=self.squares,
            slopes=slopes,
            weights=size,
            lipschitz=self.problem.loss.lipschitz,
            rest=curvature * size + float(np.linalg.norm(self.tilt)) / count,
        )
        return _Gradient(vector, float(np.linalg.norm(vector)), error)

    def step(self, here: _Gradient) -> Numbers | None:
        """The step of Newton's method, if it can be computed."""
        try:
            step = np.linalg.solve(self.bends + float(self.problem.curvature) * np.eye(len(self.bends)), -here.vector)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(step, dtype=np.float64) if np.all(np.isfinite(step)) else None


def _by_balls(problem: Objective, within: Fraction) -> list[Fraction]:
    """Newton's method in Arb; each step is halved until J falls by a quarter of what its slope predicts.

    All second derivatives lie between Λ and some largest one: then J − J* shrinks at least by a constant factor with
    every step [Nes18, Sec. 1.2.3], so the search ends, given enough digits.
    """
    weights, bits, rounds = [Fraction(0)] * problem.rows.size, _BITS, 0
    while True:
        rounds += 1
        if rounds % 64 == 0:
            bits *= 2
        with precision(bits):
            value, vector, bend = _evaluated(problem, weights)
            near = ball(problem.curvature) * ball(within)
            if _length(vector) <= near:
                return weights
            step = _newton(vector, bend)
            slope = (vector.transpose() * _column(step))[0, 0]
            if not slope < 0:
                bits *= 2
                continue
            size = Fraction(1)
            while size > Fraction(1, 2**bits):
                there = [weight + size * move for weight, move in zip(weights, step, strict=True)]
                if _evaluated(problem, there, only_value=True)[0] <= value + slope * ball(size) / 4:
                    weights = [_dyadic(ball(weight).mid()) for weight in there]  # no more digits than these
                    break
                size /= 2
            else:
                bits *= 2


def _newton(vector: arb_mat, bend: arb_mat) -> list[Fraction]:
    """The step of Newton's method; 0 if there are too few digits to compute it."""
    try:
        step = bend.solve(-vector)
    except ZeroDivisionError:  # with these digits, the matrix may be singular
        return [Fraction(0)] * vector.nrows()
    return [_dyadic(number.mid()) if number.is_finite() else Fraction(0) for number in step.entries()]


def _evaluated(
    problem: Objective, weights: list[Fraction], *, only_value: bool = False
) -> tuple[arb, arb_mat, arb_mat]:
    """J, ∇J and (roughly) its second derivatives, all as balls."""
    rows, size, count = problem.rows, problem.rows.size, len(problem.rows)
    at, value = _column(weights), arb(0)
    vector, bend = arb_mat(size, 1), arb_mat(size, size)
    for block in rows.blocks():
        given = arb_mat(block.rows())
        predicted = (given * at).entries()
        found = [
            problem.loss.balls(guess, arb(target))
            for guess, target in zip(predicted, problem.targets[block.part].tolist(), strict=True)
        ]
        value += sum((here for here, _, _ in found), arb(0))
        if not only_value:
            turned = given.transpose()
            vector += turned * arb_mat([[slope] for _, slope, _ in found])
            heavy = [[bowed * x for x in row] for row, (_, _, bowed) in zip(given.tolist(), found, strict=True)]
            bend += turned * arb_mat(heavy)
    curvature = ball(problem.curvature)
    tilt = _column(list(problem.tilt)) if problem.tilt else arb_mat(size, 1)
    value = (value + (tilt.transpose() * at)[0, 0]) / count + curvature * (at.transpose() * at)[0, 0] / 2
    whole = arb_mat(size, size, [curvature if i == j else 0 for i in range(size) for j in range(size)])
    return value, (vector + tilt) * (arb(1) / count) + at * curvature, bend * (arb(1) / count) + whole


def _column(numbers: list[Fraction]) -> arb_mat:
    return arb_mat(len(numbers), 1, [ball(number) for number in numbers])


def _length(vector: arb_mat) -> arb:
    """An upper bound on the length; the square of a ball around zero would contain negative numbers."""
    return sum((number.abs_upper() ** 2 for number in vector.entries()), arb(0)).sqrt()


def _dyadic(point: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
