"""Private minima: with noise on the weights, or noise in the objective.

The size of the noise depends only on public numbers (n, the norm, the promise, the granularity). Only under random
differential privacy does it depend on the rows too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from sitr.errors import DescriptionError, IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.learn.losses import Logistic, Numbers
from sitr.learn.minimiser import Objective
from sitr.mechanisms.dilation import spherical_dilation
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.granularity import rounded, rounded_sensitivity
from sitr.mechanisms.spherical import Spherical
from sitr.noise.coins import Coins
from sitr.noise.rounded import rounded_spherical
from sitr.numbers import ball, downward, exact, positive, power_of_two, square_root_upward, upper
from sitr.precision import precision
from sitr.sensitivity.pairs import disjoint, ordered

_FINE = 2**10
"""The least number of granules in the movement by one record and in the noise, so that rounding hardly matters."""

_FINER = 2**16
"""The same for noise in the objective, where a hundredth of ε has to hide the rounding."""

_MASK = Fraction(1, 100)
"""The share of ε that hides how far a computed minimum is from the true one."""


class Method(Enum):
    """Where noise is added: to the output, or to the objective."""

    OUTPUT = "output"
    OBJECTIVE = "objective"


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """How far one record of n moves a vector: by at most most/n, and h(x, x')/n if x' takes the place of x."""

    count: int
    most: Fraction | None
    """A public bound for any two records; None if there is none."""

    pairs: Callable[[], Numbers]
    """h(x_i, x_{i+m}) for m = ⌊n/2⌋ disjoint pairs, in the order in which the records are given."""


@dataclass(frozen=True, slots=True)
class Released:
    """A vector with noise, its promise, and its error: the length that the noise exceeds in at most 5% of cases.

    The error is None where it depends on the data, because it is then secret.
    """

    vector: tuple[Fraction, ...]
    promise: Promise
    error: float | None
    granularity: Fraction


Centre = Callable[[Fraction], list[Fraction]]
"""The vector to release, within a given distance, which is proved."""


def output_perturbed(
    centre: Centre,
    *,
    size: int,
    movement: Movement,
    promise: Promise,
    granularity: Fraction,
    coins: Coins | None = None,
) -> Released:
    """The vector plus noise for its sensitivity: M/n, twice the distance from the true vector, and the rounding.

    The noise is spherical for pure privacy, and Gaussian for zero-concentrated and approximate privacy: its length
    grows with √d instead of d.      [CMS11, Alg. 1 and Thm 6; CKS20, Thm 4]
    """
    if isinstance(promise, RandomDP):
        return _randomly(centre, size=size, movement=movement, promise=promise, granularity=granularity, coins=coins)
    if not isinstance(promise, PureDP | ZeroConcentratedDP | ApproximateDP):
        raise refused(promise)
    if movement.most is None:
        raise DescriptionError(
            wanted="norm=…, the largest length of a row, which bounds what one record can do",
            given="none",
            do="Choose it without looking at the data, or ask for RandomDP, which learns from them.",
        )
    within = granularity / 4
    moved = rounded_sensitivity(
        movement.most / movement.count + 2 * within, granularity=granularity, numbers=size, euclidean=True
    )
    noise: Spherical | Gaussian
    if isinstance(promise, PureDP):
        noise = Spherical.fitting(promise, sensitivity=moved, granularity=granularity)
        error = float(noise.error(size=size))
    else:
        noise = Gaussian.fitting(promise, sensitivity=moved, granularity=granularity, single=size == 1)
        error = _bell_length(exact(noise.sigma), size, granularity)
    vector = noise.release(_on_grid(centre(within), granularity), coins=coins)
    return Released(tuple(vector), promise, error, granularity)


@precision()
def _bell_length(sigma: Fraction, size: int, granularity: Fraction) -> float:
    """A length that d Gaussian numbers do not exceed in 95% of cases: ‖z‖²/(2σ²) has the Gamma law of d/2.

    On a grid each may be a granule larger: P(|y| ≥ k) ≤ P(|z| ≥ k − 1) for k = 1, 2, … granules, because the sum of
    e^{−j²/2σ²} over j ≥ k is less than the integral from k − 1 on, and over all j it is more than √(2π)·σ.
    """
    low, high = Fraction(0), Fraction(size + 8)
    rest = ball(Fraction(1, 20))
    while high - low > Fraction(1, 1024):
        middle = (low + high) / 2
        kept = ball(middle).gamma_upper(ball(Fraction(size, 2)), regularized=True) <= rest
        low, high = (low, middle) if kept else (middle, high)
    return float(sigma) * math.sqrt(2.0 * float(high)) + float(granularity * square_root_upward(Fraction(size)))


def _randomly(
    centre: Centre,
    *,
    size: int,
    movement: Movement,
    promise: RandomDP,
    granularity: Fraction,
    coins: Coins | None,
) -> Released:
    """Spherical noise with a scale that is computed from disjoint pairs of records.

    With s = S/n plus the effect of rounding, the vectors of two neighbours are at most min(s, s') apart and
    |ln s/s'| ≤ β, except for a fraction γ of data. Noise of scale s/α, α = ε/2, is (ε, η)-private.  [HRW11, Sec. 6]
    """
    inner = promise.inner
    if not isinstance(inner, ApproximateDP) or not 0.0 < inner.delta < 1.0 or inner.epsilon <= 0.0:
        raise refused(promise)
    ladder = disjoint(movement.count, gamma=promise.gamma, bounded=movement.most is not None)
    shift = downward(exact(inner.epsilon) / 2)
    beta = spherical_dilation(inner.epsilon, delta=inner.delta, shift=shift, size=size)
    within = granularity / 4
    bound = None if movement.most is None else float(movement.most) * (1.0 + 2.0**-40)
    learned = Fraction(ladder.height(ordered(movement.pairs()), dilation=beta, bound=bound))
    moved = (learned / movement.count + 2 * within) / granularity + square_root_upward(Fraction(size))
    noise = rounded_spherical(scale=moved / exact(shift), size=size, coins=coins)
    granules = (point / granularity for point in _on_grid(centre(within), granularity))
    vector = tuple((point + drawn) * granularity for point, drawn in zip(granules, noise, strict=True))
    return Released(vector, ladder.around(inner), None, granularity)


def objective_perturbed(
    problem: Objective, *, promise: Promise, granularity: Fraction | None, coins: Coins | None = None
) -> Released:
    """The minimum of J(w) + b·w/n, where b is spherical noise.

    b = −n∇J(w) is a one-to-one function of the minimum w. If one row is replaced, b moves by at most 2R for the same
    w, so that with a scale of 2R/ε' its density changes by e^{±ε'}. The volume changes too: with M = Σφ''xxᵀ + nΛ over
    the rows that both have, by (1 + φ''x·M⁻¹x)/(1 + φ''x'·M⁻¹x') ≤ 1 + R²/(4nΛ). Hence      [CMS11, Alg. 2 and Thm 9]

        ε' = ε − ln(1 + R²/(4nΛ)),   with Λ raised, if need be, until the logarithm is no more than ε/2.

    (As published the logarithm counts twice. That R is squared matters: for large R the loss is otherwise above ε.)
    A computed minimum is not the true one: a hundredth of ε goes to noise that hides the difference.
    """
    if not isinstance(promise, PureDP) or not isinstance(problem.loss, Logistic):
        raise IncompatiblePromises(
            wanted="a PureDP promise and logistic regression for noise in the objective",
            given=f"{promise!r} for {type(problem.loss).__name__}",
            do="Use Method.OUTPUT, or ask for PureDP.",
        )
    if problem.rows.longest is None:
        raise DescriptionError(
            wanted="norm=…, the largest length of a row", given="none", do="Choose it without looking at the data."
        )
    count, size = len(problem.rows), problem.rows.size
    longest = Fraction(problem.rows.longest)
    epsilon = positive(promise.epsilon, name="epsilon", of="Noise in the objective")
    most, mask = epsilon * (1 - _MASK), epsilon * _MASK
    bend = longest**2 / 4
    with precision():
        least = exact(upper(ball(bend / count) / (ball(most) / 2).expm1()))
        tilted = replace(problem, curvature=max(problem.curvature, least))
        rest = most - exact(upper(ball(bend / (count * tilted.curvature)).log1p()))
    scale = 2 * longest / rest
    grain = granularity or tilted.granularity(
        moved=2 * longest / (count * (tilted.curvature + bend)),
        parts=_FINER * math.ceil(1 + epsilon),
        longest=longest,
        pull=(size + 20) * scale / count,  # ‖b‖ is seldom larger
    )
    # Rounding b moves the minimum by at most √d·(its granule)/(2nΛ).
    fine = power_of_two(grain * count * tilted.curvature / (2 * square_root_upward(Fraction(size))))
    noise = rounded_spherical(scale=scale / fine, size=size, coins=coins)
    tilted = replace(tilted, tilt=tuple(fine * drawn for drawn in noise))
    # A quarter of a granule from the search and one from b, twice: for each of two neighbours.
    moved = grain * (1 + square_root_upward(Fraction(size)))
    hiding = Spherical.fitting(PureDP(downward(mask)), sensitivity=moved, granularity=grain)
    vector = hiding.release(_on_grid(tilted.minimum(within=grain / 4), grain), coins=coins)
    # Each part is within its bound in 97.5% of cases; the bound for b is for a φ without curvature.
    pulled = Spherical(scale, granularity=fine).error(size=size, confidence=0.975) / (count * tilted.curvature)
    length = pulled + hiding.error(size=size, confidence=0.975)
    return Released(tuple(vector), promise, float(length), grain)


def granules(promise: object) -> int:
    """How many granules one record moves: more where the noise is smaller.

    >>> granules(PureDP(0.1)), granules(PureDP(7)), granules(ZeroConcentratedDP(8))
    (2048, 8192, 5120)
    """
    match promise:
        case PureDP() | ApproximateDP():
            return _FINE * math.ceil(1 + promise.epsilon)
        case ZeroConcentratedDP():
            return _FINE * math.ceil(1 + math.sqrt(2 * promise.rho))
        case RandomDP():
            return granules(promise.inner)
    raise refused(promise)


def refused(promise: object) -> InvalidPromise:
    """The error for a missing promise, or one that this kind of noise cannot keep."""
    return InvalidPromise(
        wanted="a promise: PureDP, ZeroConcentratedDP, ApproximateDP, or RandomDP around an ApproximateDP",
        given=repr(promise),
        do="Write for example promise=PureDP(0.5), or promise=RandomDP(ApproximateDP(0.5, 1e-6), gamma=0.05).",
    )


def _on_grid(point: list[Fraction], granularity: Fraction) -> list[Fraction]:
    return [rounded(number, granularity=granularity) for number in point]
