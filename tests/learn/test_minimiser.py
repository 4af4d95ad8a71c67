"""Minima against minima in high precision, and the bound on rounding errors against the errors themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import ctx

from sitr.learn import minimiser
from sitr.learn.losses import Huber, Logistic, RowLoss, Squared
from sitr.learn.minimiser import Objective
from sitr.learn.rows import TrainingRows

LOSSES: list[RowLoss] = [Logistic(), Squared(1.0, 50.0), Huber(0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def problem(
    loss: RowLoss, *, n: int = 400, d: int = 3, curvature: Fraction = Fraction(1, 100), seed: int = 0
) -> Objective:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n, d))
    targets = np.sign(features[:, 0] + generator.normal(size=n))
    return Objective(TrainingRows.clipped(features, norm=1.5, constant=True), targets, loss, curvature)


def distance(first: list[Fraction], second: list[Fraction]) -> float:
    return math.dist([float(a - b) for a, b in zip(first, second, strict=True)], [0.0] * len(first))


@each_loss
@pytest.mark.parametrize("tilt", [(), (Fraction(3), Fraction(-70), Fraction(1, 3), Fraction(5))])
def test_floats_find_what_many_digits_find(loss: RowLoss, tilt: tuple[Fraction, ...]) -> None:
    asked = replace(problem(loss), tilt=tilt)
    found = minimiser._by_floats(asked, Fraction(1, 10**9))
    assert found is not None
    true = minimiser._by_balls(asked, Fraction(1, 10**30))
    # Newton's method goes on until the bound is met, and its last step goes far beyond.
    assert distance([Fraction(weight) for weight in found.tolist()], true) < 1e-10


@each_loss
def test_many_digits_find_where_the_gradient_is_zero(loss: RowLoss) -> None:
    asked = problem(loss, n=40)
    weights = minimiser._by_balls(asked, Fraction(1, 10**40))
    with ctx.workprec(400):
        value, vector, _ = minimiser._evaluated(asked, weights)
        assert all(abs(part) < 1e-41 for part in vector.entries())
        for j in range(4):  # a different formula: J itself is larger all around
            for sign in (-1, 1):
                there = [weight + Fraction(sign, 10**6) * (i == j) for i, weight in enumerate(weights)]
                assert minimiser._evaluated(asked, there, only_value=True)[0] > value


@each_loss
@pytest.mark.parametrize(("n", "d"), [(50, 1), (3000, 8), (6000, 20)])
def test_the_gradient_is_wrong_by_less_than_its_bound(
    loss: RowLoss, n: int, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once as it is, and once in single precision, where errors are large and double precision tells them."""
    asked = problem(loss, n=n, d=d)
    weights = np.random.default_rng(1).normal(size=d + 1) * 3
    here = minimiser._Search(asked).gradient(weights, 0)
    with ctx.workprec(200):
        _, true, _ = minimiser._evaluated(asked, [Fraction(weight) for weight in weights.tolist()])
        wrong = math.hypot(*(float(a - b) for a, b in zip(true.entries(), here.vector.tolist(), strict=True)))
    assert wrong <= here.error
    assert here.error < 1e-11 * (1 + here.length)  # and the bound is of use
    monkeypatch.setattr(minimiser, "UNIT", 2.0**-24)
    rows = asked.rows
    single = replace(rows, features=rows.features.astype(np.float32), factors=_single(rows.factors))
    small = replace(asked, rows=single, targets=asked.targets.astype(np.float32))
    rounded: Any = weights.astype(np.float32)
    total = np.zeros(d + 1, dtype=np.float32)
    for block in single.blocks():
        total += block.summed(loss.slopes(block.predicted(rounded), small.targets[block.part]))
    assert total.dtype == np.float32
    exact = replace(rows, features=single.features.astype(np.float64), factors=_double(single.factors))
    bound = minimiser._Search(replace(asked, rows=exact)).gradient(rounded.astype(np.float64), 0)
    true64 = bound.vector - float(asked.curvature) * rounded.astype(np.float64)
    wrong = float(np.linalg.norm(total.astype(np.float64) / n - true64))
    assert 0 < wrong <= bound.error


def _single(numbers: np.ndarray | None) -> np.ndarray | None:
    return None if numbers is None else numbers.astype(np.float32)


def _double(numbers: np.ndarray | None) -> np.ndarray | None:
    return None if numbers is None else numbers.astype(np.float64)


def test_the_gradient_of_squares_that_is_computed_from_sums_is_within_its_bound() -> None:
    asked = problem(Squared(1.0, 50.0), n=5000, d=8)
    weights = np.random.default_rng(1).normal(size=9) * 3
    search = minimiser._Search(asked)
    direct = search.gradient(weights, 0)
    search.gradient(np.zeros(9), 1)
    summed = search.gradient(weights, 0)
    assert not np.array_equal(summed.vector, direct.vector)
    with ctx.workprec(200):
        _, true, _ = minimiser._evaluated(asked, [Fraction(weight) for weight in weights.tolist()])
        wrong = math.hypot(*(float(a - b) for a, b in zip(true.entries(), summed.vector.tolist(), strict=True)))
    assert 0 < wrong <= summed.error < 1e-11 * (1 + summed.length)


@each_loss
def test_what_floats_cannot_prove_is_found_with_more_digits(loss: RowLoss) -> None:
    asked, near = problem(loss, n=60), Fraction(1, 10**20)
    assert minimiser._by_floats(asked, near) is None
    assert distance(asked.minimum(within=near), minimiser._by_balls(asked, Fraction(1, 10**40))) < 1e-19


def test_rows_of_any_length_have_a_minimum() -> None:
    generator = np.random.default_rng(4)
    features = generator.normal(size=(30, 2)) * 10 ** generator.uniform(-100, 100, size=(30, 1))
    rows = TrainingRows.clipped(features, norm=None, constant=True)
    asked = Objective(rows, np.sign(generator.normal(size=30)), Logistic(), Fraction(1, 10))
    weights = asked.minimum(within=Fraction(1, 10**6))
    with ctx.workprec(1000):
        _, vector, _ = minimiser._evaluated(asked, weights)
        assert all(abs(part) < 1.01e-7 for part in vector.entries())


@pytest.mark.sampled(3)
@each_loss
@pytest.mark.parametrize("length", [1e30, 1e40, 1e99])
def test_long_rows_with_columns_alike_are_no_error_that_tells_of_them(loss: RowLoss, length: float) -> None:
    """With as many digits as are tried at first the second derivatives seem to be singular."""
    features = np.array([[length, length, 1.0], [-length, -length, 2.0], [1.0, 1.0, -1.0], [0.5, 0.5, 0.5]])
    rows = TrainingRows.clipped(features, norm=None, constant=True)
    asked = Objective(rows, np.array([1.0, 1.0, -1.0, 1.0]), loss, Fraction(1, 10**30))
    weights = asked.minimum(within=Fraction(1, 10**6))
    with ctx.workprec(2000):
        _, vector, _ = minimiser._evaluated(asked, weights)
        assert all(abs(part) < 1.01e-36 for part in vector.entries())


def test_steps_that_go_too_far_are_halved() -> None:
    """From 0, Newton's method for Huber's loss jumps beyond where it has any curvature."""
    targets = np.array([100.0, 100.0, 0.1, -5.0])
    asked = Objective(
        TrainingRows.clipped(np.empty((4, 0)), norm=1.0, constant=True), targets, Huber(1.0), Fraction(1, 10**4)
    )
    (found,) = asked.minimum(within=Fraction(1, 10**8))
    # −1 −1 + (w − 0.1) + 1 + 4·10⁻⁴·w = 0
    assert float(found) == pytest.approx(1.1 / 1.0004, abs=1e-8)


def test_the_granularity_leaves_room_for_floats() -> None:
    """The bound that is reached is half of what is asked for, so that the slow way is not needed."""
    for loss in LOSSES:
        asked = problem(loss, n=5000, d=10, curvature=Fraction(1, 10**6))
        assert asked.rows.longest is not None
        grain = asked.granularity(moved=Fraction(1, 10**30), parts=1, longest=Fraction(asked.rows.longest))
        assert minimiser._by_floats(asked, grain / 4) is not None
