"""The choice of a penalty: from public numbers, sensible at both ends, and good enough on data it was not made for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.learn import Method, PrivateHuberRegressor, PrivateLogisticRegression, PrivateRidge
from sitr.learn.losses import Huber, Logistic, RowLoss, Squared
from sitr.learn.perturbation import objective_perturbed
from sitr.learn.strength import Strength, chosen, unshrunk
from sitr.noise.coins import TestCoins


def logistic(_: float, __: float | None) -> RowLoss:
    return Logistic()


def huber(_: float, __: float | None) -> RowLoss:
    return Huber(1.0)


def squared(penalty: float, longest: float | None) -> RowLoss:
    return Squared.within(1.0, regularization=penalty, norm=longest)


PROMISES: list[Promise] = [
    PureDP(1.0), ZeroConcentratedDP(0.5), ApproximateDP(1.0, 1e-6), RandomDP(ApproximateDP(1.0, 1e-6), 0.05),
]  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("loss", [logistic, huber, squared])
def test_more_rows_need_less_penalty(promise: Promise, loss: Any) -> None:
    found = [chosen(promise, count=10**k, columns=10, norm=1.0, loss=loss).regularization for k in range(1, 8)]
    assert all(more <= less for less, more in pairwise(found))
    assert found[-1] < 1e-2 < found[0]


@pytest.mark.parametrize("loss", [logistic, huber, squared])
def test_the_choice_scales_with_the_norm(loss: Any) -> None:
    one, ten = (chosen(PureDP(1.0), count=1000, columns=5, norm=norm, loss=loss) for norm in (1.0, 16.0))
    assert ten.regularization == pytest.approx(256 * one.regularization)
    assert (ten.constant, ten.method) == (16 * one.constant, one.method)


def test_a_price_that_is_too_small_leaves_a_constant() -> None:
    found = chosen(PureDP(1e-3), count=100, columns=50, norm=1.0, loss=squared)
    assert found.regularization > 100
    assert found.constant == 2.0  # a larger column makes the intercept more exact


def test_noise_goes_where_its_bound_is_smaller() -> None:
    usual: dict[str, Any] = {"columns": 30, "norm": 1.0, "loss": logistic}
    assert chosen(PureDP(1.0), count=500, **usual).method is Method.OBJECTIVE
    assert chosen(PureDP(1.0), count=3, **usual).method is Method.OUTPUT
    for promise in PROMISES[1:]:
        assert chosen(promise, count=500, **usual).method is Method.OUTPUT
    assert chosen(PureDP(1.0), count=500, columns=30, norm=1.0, loss=huber).method is Method.OUTPUT
    assert chosen(PureDP(1.0), count=500, columns=30, norm=None, loss=logistic).method is Method.OUTPUT


def test_what_the_caller_chooses_is_kept() -> None:
    usual: dict[str, Any] = {"count": 500, "columns": 3, "norm": 4.0, "loss": logistic}
    for method in Method:
        assert chosen(PureDP(1.0), regularization=0.125, method=method, **usual) == Strength(0.125, 2.0, method)
        assert chosen(PureDP(1.0), method=method, intercept=False, **usual).constant == 0.0


def test_a_penalty_is_raised_as_noise_in_the_objective_raises_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The intercept is unshrunk with the Λ that was really used."""
    seen: list[float] = []

    def watched(problem: Any, **options: Any) -> Any:
        seen.append(float(problem.curvature))
        return objective_perturbed(problem, **options)

    monkeypatch.setattr("sitr.learn.linear.objective_perturbed", watched)
    options: dict[str, Any] = {"norm": 1.0, "classes": (0, 1), "regularization": 1e-9, "method": Method.OBJECTIVE}
    model = PrivateLogisticRegression(PureDP(1.0), **options).fit(np.zeros((40, 1)), np.arange(40) % 2)
    assert seen == [model.regularization_]
    assert model.regularization_ == pytest.approx(1.25 / (4 * 40 * math.expm1(0.99 / 2)))


@pytest.mark.parametrize("loss", [Logistic(), Huber(1.0), Squared(1.0, 1.0)])
def test_an_intercept_is_what_it_would_be_without_a_penalty(loss: RowLoss) -> None:
    """For small means exactly so: E φ' = φ''(0)·(y − mean)."""
    constant, penalty, mean = 0.5, 3.0, 1e-4
    bend = loss.lipschitz
    weight = bend * mean * constant / (bend * constant**2 + penalty)
    assert weight * unshrunk(loss, Strength(penalty, constant, Method.OUTPUT)) == pytest.approx(mean)


# Not worse than the constant, on average: the benchmark has more data sets, prices and seeds

SEEDS = 12


def inside_a_ball(rows: np.ndarray) -> np.ndarray:
    """Scaled as with public means and deviations; few rows are longer than 1."""
    return np.asarray((rows - rows.mean(axis=0)) / rows.std(axis=0) / (1.5 * math.sqrt(rows.shape[1])))


def scores(model: Any, x: np.ndarray, y: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = []
    for seed in range(SEEDS):
        coins = TestCoins(seed)
        monkeypatch.setattr("sitr.noise.rounded.system_coins", lambda coins=coins: coins)
        found.append(float(model.fit(x, y).score(x, y)))
    return found


def test_breast_cancer_is_told_better_than_by_the_majority(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model = PrivateLogisticRegression(PureDP(1.0), norm=1.0, classes=(0, 1))
    assert np.mean(scores(model, inside_a_ball(x), y, monkeypatch)) > 0.85 > max(np.mean(y), 1 - np.mean(y)) + 0.2


@pytest.mark.parametrize(
    "model", [PrivateRidge(PureDP(1.0), norm=1.0, bound=1.0), PrivateHuberRegressor(PureDP(1.0), norm=1.0)]
)
def test_diabetes_is_predicted_better_than_by_the_mean(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = load_diabetes(return_X_y=True)
    for rows in (inside_a_ball(x), x / np.max(np.linalg.norm(x, axis=1))):
        assert np.mean(scores(model, rows, (y - 185.5) / 160.5, monkeypatch)) > 0.0


def test_targets_need_no_scaling_where_their_bounds_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = load_diabetes(return_X_y=True)
    rows = inside_a_ball(x)
    plain = scores(PrivateRidge(PureDP(1.0), norm=1.0, bound=(25, 346)), rows, y, monkeypatch)
    scaled = scores(PrivateRidge(PureDP(1.0), norm=1.0, bound=1.0), rows, (y - 185.5) / 160.5, monkeypatch)
    assert plain == pytest.approx(scaled, abs=0.02)
