"""Each loss against its formula in high precision, and its largest slope against many problems."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from sitr.learn.losses import Huber, Logistic, RowLoss, Squared

CASES: list[tuple[RowLoss, float]] = [
    (Logistic(), 1.0),
    (Logistic(), -1.0),
    (Squared(2.0, 3.0), 0.7),
    (Huber(0.5), -0.35),
]
POINTS = [-800.0, -40.0, -3.7, -0.8, -1e-9, 0.0, 0.2, 1.3, 36.0, 800.0]

each_case = pytest.mark.parametrize(("loss", "target"), CASES, ids=str)


@each_case
def test_slopes_are_within_sixteen_units_of_the_last_place(loss: RowLoss, target: float) -> None:
    with np.errstate(over="ignore"):
        found = loss.slopes(np.array(POINTS), np.full(len(POINTS), target))
    with ctx.workprec(400):
        for point, slope in zip(POINTS, found.tolist(), strict=True):
            true = loss.balls(arb(point), arb(target))[1]
            assert abs(arb(slope) - true) <= 16 * 2.0**-53 * abs(true) + arb(1e-300)


@each_case
def test_balls_are_derivatives_of_one_another(loss: RowLoss, target: float) -> None:
    with ctx.workprec(400):
        tiny = arb(2) ** -60
        for point in (-3.7, -0.8, 0.1, 1.3, 5.0):
            below, here, above = (loss.balls(arb(point) + k * tiny, arb(target)) for k in (-1, 0, 1))
            assert abs((above[0] - below[0]) / (2 * tiny) - here[1]) < arb(2) ** -50
            assert abs((above[1] - below[1]) / (2 * tiny) - here[2]) < arb(2) ** -50
            assert abs(here[2]) <= loss.lipschitz


@each_case
def test_bends_belong_to_the_slopes(loss: RowLoss, target: float) -> None:
    points = np.array([-3.7, -0.8, 0.1, 1.3, 5.0])
    bends = loss.bends(loss.slopes(points, np.full(5, target)))
    assert (bends is None) == loss.constant
    for point, bend in zip(points, np.ones(5) if bends is None else bends, strict=True):
        assert float(loss.balls(arb(point), arb(target))[2]) == pytest.approx(bend, abs=1e-12)


@pytest.mark.parametrize("regularization", [0.003, 0.3, 30.0])
@pytest.mark.parametrize("norm", [None, 2.0])
def test_weights_of_least_squares_are_never_longer_than_thought_and_nearly_so_long(
    regularization: float, norm: float | None
) -> None:
    loss = Squared.within(1.5, regularization=regularization, norm=norm)
    generator, longest = np.random.default_rng(5), 0.0
    for _ in range(300):
        x = generator.normal(size=(4, 2)) * 10 ** generator.uniform(-1, 1)
        if norm is not None:
            x *= np.minimum(1.0, norm / np.linalg.norm(x, axis=1))[:, None]
        y = generator.choice([-1.5, 1.5], size=4)
        weights = np.linalg.solve(x.T @ x / 4 + regularization * np.eye(2), x.T @ y / 4)
        longest = max(longest, float(np.linalg.norm(weights)))
    # All rows alike, as long as is best for it: this attains the bound.
    length = np.sqrt(regularization) if norm is None else min(norm, np.sqrt(regularization))
    attained = 1.5 * length / (length**2 + regularization)
    assert longest <= loss.weights
    assert attained == pytest.approx(loss.weights, rel=1e-8)
    assert loss.steepest(np.array([2.0]))[0] >= 1.5 + 2.0 * attained
