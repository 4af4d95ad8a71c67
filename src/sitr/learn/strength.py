"""How strong a penalty to use, where to put the noise, and how large the intercept's column is: from public numbers.

A stronger penalty Λ means less noise and more bias. Let r be the norm, c the constant column, R² = r² + c², and τ the
standard deviation of the noise in each coordinate of the *gradient*: the spread of the noise times R·max|φ'|·2/n. Noise
on the weights has deviation τ/Λ; noise in the objective is damped by the curvature h of the loss too. To second order
(with a = max φ'') the excess risk of a prediction is at most

    (a/2)·τ²·(r²/Λ² + (c/Λ + 1/(ac))²)      for noise on the weights,
    (a/2)·τ²·(r²/(Λ(h + Λ)) + 1/(ac)²)      for noise in the objective,
    (a/2)·V·Λ/(h + Λ)                       for the bias, where V is the variance of the best predictions.

The terms with c belong to the intercept, whose shrinkage is undone (`unshrunk`). As Λ grows, the noise of the features
goes to 0, the model becomes a constant prediction, and a larger column c makes the intercept more exact. The rule takes
the Λ, c and method with the least sum: if the price is too small for the data, the model is nearly constant.

Two numbers in it depend on the data and have to be guessed, V and h: `guessed` of each loss. The guesses were fitted on
some data sets and checked on others (docs/how-to/learn.md). Any guess is private; a bad one costs accuracy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.learn.losses import Logistic, RowLoss
from sitr.learn.perturbation import Method, refused
from sitr.mechanisms.gaussian import Gaussian
from sitr.numbers import exact, positive

_COLUMNS = (0.5, 1.0, 2.0)
"""The sizes of the constant column, in norms. The first is used for a penalty that the caller chooses."""

_STEPS = range(-60, 17)
"""Penalties r²·2^{j/2}, from 10⁻⁹·r² to 256·r²."""

_FINE = 2**10

LossOf = Callable[[float, float | None], RowLoss]
"""The loss for a penalty and the length of the longest row; None without a norm."""


@dataclass(frozen=True, slots=True)
class Strength:
    """The penalty Λ, the constant column c (0 without an intercept), and where the noise goes."""

    regularization: float
    constant: float
    method: Method


def chosen(
    promise: Promise,
    *,
    count: int,
    columns: int,
    norm: float | None,
    loss: LossOf,
    intercept: bool = True,
    regularization: float | None = None,
    method: Method | None = None,
) -> Strength:
    """The choice with the least bound on the excess risk, given the parameters that the caller has chosen.

    Without a norm, rows are assumed to have a length of about 1.

    >>> loss = lambda regularization, longest: Logistic()
    >>> few, many = (chosen(PureDP(1.0), count=n, columns=20, norm=1.0, loss=loss) for n in (1000, 100_000))
    >>> few.method, round(few.regularization, 4), round(many.regularization, 5)
    (<Method.OBJECTIVE: 'objective'>, 0.0055, 6e-05)
    """
    radius = 1.0 if norm is None else norm
    penalties = [radius**2 * 2.0 ** (step / 2) for step in _STEPS] if regularization is None else [regularization]
    constants = [radius * size for size in _COLUMNS[: None if regularization is None else 1]] if intercept else [0.0]
    spread = _spread(promise, columns + intercept)

    def candidates() -> Iterator[tuple[float, Strength]]:
        """Each with its bound, without the common factor a/2."""
        for constant in constants:
            longest = math.hypot(radius, constant)
            for penalty in penalties:
                row = loss(penalty, None if norm is None else longest)
                tiltable = isinstance(row, Logistic) and norm is not None
                signal, curved = row.guessed(columns)
                bend = row.lipschitz * radius**2 * curved
                moved = 2.0 * longest * float(row.steepest(np.array([longest]))[0]) / count
                if method is not Method.OBJECTIVE:
                    near = (constant / penalty + 1.0 / (row.lipschitz * constant)) ** 2 if constant else 0.0
                    noise = (moved * spread) ** 2 * ((radius / penalty) ** 2 + near)
                    yield noise + signal * penalty / (bend + penalty), Strength(penalty, constant, Method.OUTPUT)
                if method is not Method.OUTPUT and tiltable and isinstance(promise, PureDP):
                    raised, rest = _tilted(promise, count=count, longest=longest, penalty=penalty)
                    near = 1.0 / (row.lipschitz * constant) ** 2 if constant else 0.0
                    noise = (moved * spread / rest) ** 2 * (radius**2 / (raised * (bend + raised)) + near)
                    yield noise + signal * raised / (bend + raised), Strength(raised, constant, Method.OBJECTIVE)

    found = list(candidates())
    if not found:  # noise in the objective is impossible here: `objective_perturbed` raises the error
        return Strength(penalties[0], constants[0], Method.OBJECTIVE)
    return min(found, key=lambda pair: pair[0])[1]


def unshrunk(loss: RowLoss, strength: Strength) -> float:
    """The factor for the intercept's weight: its column c, times 1 + Λ/(ac²), which undoes the penalty.

    At the minimum Λw + c·E φ' = 0. One step of Newton's method in the intercept c·w alone, without the penalty, is
    Λw/(c·E φ'') ≥ Λw/(ac). If φ is a square, it ends exactly where an intercept without a penalty would be. This uses
    only released numbers.

    >>> unshrunk(Logistic(), Strength(0.125, 0.5, Method.OUTPUT))
    1.5
    """
    constant = strength.constant
    return constant + strength.regularization / (loss.lipschitz * constant)


def _tilted(promise: PureDP, *, count: int, longest: float, penalty: float) -> tuple[float, float]:
    """Λ, raised if need be, and the part of ε that pays for b, as `objective_perturbed` has them, but in floats."""
    most = 0.99 * promise.epsilon
    bend = longest**2 / (4.0 * count)
    raised = max(penalty, bend / math.expm1(min(most / 2.0, 700.0)))
    return raised, 1.0 - (0.01 + math.log1p(bend / raised) / promise.epsilon)


def _spread(promise: Promise, size: int) -> float:
    """The standard deviation of the noise in one coordinate, for vectors that a record moves by 1.

    ‖z‖ has the Gamma law of d with scale 1/ε: E‖z‖²/d = (d + 1)/ε². For random privacy the scale is 2/ε.
    """
    match promise:
        case PureDP():
            return math.sqrt(size + 1) / _some(promise.epsilon, "epsilon")
        case ZeroConcentratedDP():
            return 1.0 / math.sqrt(2.0 * _some(promise.rho, "rho"))
        case ApproximateDP():
            noise = Gaussian.fitting(promise, sensitivity=_FINE, single=size == 1)
            return float(exact(noise.sigma)) / _FINE
        case RandomDP(inner=ApproximateDP() as inner):
            return 2.0 * math.sqrt(size + 1) / _some(inner.epsilon, "epsilon")
    raise refused(promise)


def _some(number: float, name: str) -> float:
    return float(positive(number, name=name, of="Noise on a model"))
