"""Bounds between two λ, against many λ between them."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.audit.exact import suprema
from sitr.audit.exact.mechanism import finite
from sitr.audit.exact.moments import Moments, Steps
from sitr.audit.exact.suprema import _least_curve, largest_rho, largest_tau


def random_moments() -> Moments:
    return Moments.of(finite(np.random.default_rng(3).dirichlet(np.full(6, 1.0), 12), neighbors="adjacent").pairs())


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.4), (1.0, 2.0), (3.0, 9.0), (0.01, 20.0)])
def test_the_least_curvature_between_two_tilts(low: float, high: float) -> None:
    moments = random_moments()
    left, right = (moments.log_moments(Steps(tilt))[0] for tilt in (low, high))
    bound = _least_curve(left, right, high - low)
    between = np.min([moments.log_moments(Steps(tilt))[0].curve_upper for tilt in np.linspace(low, high, 50)], axis=0)
    assert np.all(bound <= between * (1 + 1e-9))
    twin = np.maximum(left.curve_lower, right.curve_lower)  # the curvature at the better end bounds nothing
    assert not np.all(twin <= between * (1 + 1e-9))
    one, next_to_it = moments.log_moments(Steps(low, 1e-3, 2))
    close = _least_curve(one, next_to_it, 1e-3)
    assert np.all(close >= left.curve_lower * 0.98)


def test_knowing_the_curvature_once_bounds_it_better() -> None:
    """Losses of Gaussian noise have the same curvature everywhere: the bound misses it by half as much as one line."""
    places = np.arange(-60.0, 61.0)
    weights = np.exp(-((places[None, :] - np.array([[0.0], [1.0]])) ** 2) / 50)
    moments = Moments.of(finite(weights / weights.sum(axis=1, keepdims=True)).pairs())
    left, right = (moments.log_moments(Steps(tilt))[0] for tilt in (1.0, 4.0))
    bound, curve = _least_curve(left, right, 3.0), 1 / 25
    assert np.all(bound <= curve)
    missed = np.log(curve / bound) / (curve * 3.0**2 / 4)
    assert np.all((missed > 1) & (missed < 1.3))  # with one line on each side, it would be 2


def test_suprema_of_gaussian_noise_are_narrow_though_all_orders_attain_them() -> None:
    """ρ = 1/2σ² and τ = 1/σ at every λ, up to where the table ends: no piece can be left out."""
    places = np.arange(120.0)
    weights = np.exp(-((places[:, None] - places[None, :]) ** 2) / 98)
    mechanism = finite(weights / weights.sum(axis=1, keepdims=True), neighbors="adjacent")
    rho = mechanism.rho()
    tau = mechanism.subgaussian(rho=rho)
    assert rho.lower <= 1 / 98 * (1 + 1e-9)
    assert rho.upper >= 1 / 98 * (1 - 1e-9)
    assert rho.value.width <= 1.1e-5 * rho.upper
    assert tau.lower <= 1 / 7 * (1 + 1e-9)
    assert tau.upper >= 1 / 7 * (1 - 1e-9)
    assert tau.value.width <= 1.1e-5 * tau.upper


def test_suprema_are_above_all_moments() -> None:
    moments = random_moments()
    rho, tau = largest_rho(moments, xi=0.0, relative=1e-6), largest_tau(moments, relative=1e-6)
    for tilt in np.geomspace(1e-3, 1e3, 200):
        (value,) = moments.log_moments(Steps(float(tilt)))
        assert np.all(value.lower / tilt / (tilt + 1) <= rho.value.upper)
        for sign in (1, -1):
            (centred,) = moments.centered(sign, Steps(float(tilt)))
            assert np.all(2 * centred.lower / tilt**2 <= tau.value.upper**2 * (1 + 1e-12))
    assert rho.value.width <= 2e-6 * rho.value.upper
    assert tau.value.width <= 2e-6 * tau.value.upper


def test_a_known_rho_changes_no_bound_on_tau() -> None:
    moments = random_moments()
    rho = largest_rho(moments, xi=0.0, relative=1e-4).value
    plain = largest_tau(moments, relative=1e-5).value
    helped = largest_tau(moments, relative=1e-5, rho=rho.upper).value
    assert plain.lower <= helped.upper
    assert helped.lower <= plain.upper
    wrong = largest_tau(moments, relative=1e-5, rho=rho.lower / 4).value  # a ρ that is too small proves a false bound
    assert wrong.upper < plain.lower or plain.lower**2 < rho.lower / 2


def test_little_work_gives_a_wider_interval_that_is_still_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = random_moments()
    best = largest_rho(moments, xi=0.0, relative=1e-6).value
    usual = suprema.supremum.__kwdefaults__
    assert usual is not None
    monkeypatch.setattr(suprema.supremum, "__kwdefaults__", {**usual, "work": 1})
    rough = largest_rho(moments, xi=0.0, relative=1e-6).value
    assert rough.lower <= best.upper
    assert best.lower <= rough.upper
    assert rough.width > best.width
