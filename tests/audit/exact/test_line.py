"""The best pair (ξ, ρ), against a search over many of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitr.audit.exact.line import Line as Demand
from sitr.audit.exact.line import _corners, _least, best_line, rho_curve
from sitr.audit.exact.mechanism import finite
from sitr.errors import InvalidParameter
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from tests.audit.exact.tables import Rows, directed, losses, tables

ORDERS = np.concatenate((1 + np.geomspace(1e-3, 1e3, 800), [1e5]))


def demanded(rows: Rows, orders: np.ndarray) -> np.ndarray:
    """D_α of the worst pair at many orders."""
    found = []
    for p, q in directed(rows):
        mass, loss = (np.array(column) for column in zip(*losses(p, q), strict=True))
        powers = (orders - 1)[:, None] * loss
        top = powers.max(axis=1)
        found.append((top + np.log((mass * np.exp(powers - top[:, None])).sum(axis=1))) / (orders - 1))
    worst: np.ndarray = np.maximum.reduce(found)
    return worst


def rho_at(rows: Rows, xi: float) -> float:
    """The largest (D_α − ξ)/α: on a grid of orders, then twice on a finer one around the largest."""
    orders = ORDERS
    for _ in range(3):
        slopes = (demanded(rows, orders) - xi) / orders
        top = int(slopes.argmax())
        orders = np.linspace(orders[max(top - 1, 0)], orders[min(top + 1, len(orders) - 1)], 400)
    return max(0.0, float(slopes[top]))


def searched(rows: Rows, delta: float, times: int) -> float:
    """The least ε of 60 values of ξ, each with the ρ that all orders demand; at the largest loss, ρ is 0."""
    best = math.inf
    for xi in np.linspace(0.0, max(loss for pair in directed(rows) for _, loss in losses(*pair)), 60):
        rho = rho_at(rows, xi)
        best = min(best, ZeroConcentratedDP(rho * times, xi=float(xi) * times).to_approximate(delta=delta).epsilon)
    return best


@settings(max_examples=6, deadline=None)
@given(tables(inputs=2), st.sampled_from([1, 5, 40]))
@example([[Fraction(1, 4)] * 4, [Fraction(1, 7), *[Fraction(2, 7)] * 3]], 40)
def test_no_other_pair_implies_less(rows: Rows, times: int) -> None:
    found = best_line(finite(rows), delta=1e-5, times=times)
    other = searched(rows, 1e-5, times)
    assert found.epsilon.lower <= other * (1 + 1e-9) + 1e-12
    assert found.epsilon.upper <= other * (1 + 2e-4) + 1e-9
    assert found.epsilon.width <= 2e-4 * found.epsilon.upper + 1e-5 * times
    assert found.promise.rho == 0.0 or finite(rows).rho(xi=found.promise.xi).lower <= found.promise.rho


def test_the_pair_is_kept_and_a_smaller_one_is_not() -> None:
    mechanism = finite([["1/2", "1/4", "1/4"], ["1/8", "3/8", "1/2"]])
    found = best_line(mechanism, delta=1e-6, times=100)
    assert mechanism.verify(found.promise).verdict.value == "kept"
    twin = ZeroConcentratedDP(found.promise.rho * 0.999, xi=found.promise.xi)
    assert found.promise.rho > 0.0
    assert mechanism.verify(twin).verdict.value == "broken"


def test_the_curve_falls_and_is_convex() -> None:
    mechanism = finite([["1/2", "1/4", "1/4"], ["1/8", "3/8", "1/2"]])
    (_, first), (_, middle), (_, last) = rho_curve(mechanism, (0, Fraction(1, 4), Fraction(1, 2)))
    assert first.lower > middle.upper > last.upper
    assert 2 * middle.lower <= first.upper + last.upper
    assert rho_curve(mechanism, (2,))[0][1].upper == 0.0


@pytest.mark.parametrize("rho", [0.0, 1e-4, 0.3, 7.0])
def test_the_implied_epsilon_from_below(rho: float) -> None:
    above = ZeroConcentratedDP(rho * 3, xi=0.3).to_approximate(delta=1e-6).epsilon
    below = _least(0.1, rho, 3, Fraction(1, 10**6))
    assert below <= above
    assert above - below <= 2e-6  # at ρ = 0 the formula gives ξ + ln(1 − δ)


def test_corners_of_two_lines() -> None:
    found = {xi: rho for xi, rho, _ in _corners([Demand(1.0, 2.0), Demand(0.8, 1.0)], 0.9)}
    assert found[0.9] == 0.0
    assert found[0.0] == pytest.approx(0.8)
    assert sorted(found) == pytest.approx([0.0, 0.6, 0.8, 0.9])
    assert found[sorted(found)[1]] == pytest.approx(0.2)


def test_corners_of_nearly_parallel_lines_are_known_to_within_a_margin() -> None:
    """The exact corner, by fractions, is neither left of nor below the one that stands for it."""
    dice = np.random.default_rng(7)
    for _ in range(200):
        order, height = 1 + float(dice.exponential(5)), float(dice.uniform(0.1, 0.9))
        near = order * (1 + float(10 ** dice.uniform(-13, -2)))
        lines = [Demand(height, order), Demand(height + (near - order) * float(dice.uniform(0.01, 0.1)), near)]
        (one, other) = [(Fraction(line.height), Fraction(line.order)) for line in lines]
        xi = (one[0] * other[1] - other[0] * one[1]) / (other[1] - one[1])
        if not 0 < xi < 1:
            continue
        rho = (one[0] - xi) / one[1]
        corners = [(low, least, at) for low, least, at in _corners(lines, 1.0) if abs(at - float(xi)) <= 1e-2]
        assert any(low <= xi and least <= rho for low, least, _ in corners)
        assert any(
            at == pytest.approx(float(xi), abs=1e-2) and rho - Fraction(least) < 1e-2 for _, least, at in corners
        )


def test_a_twin_that_tries_the_ends_only_is_worse() -> None:
    """One large loss and many small ones: the best ξ pays for the large one, and ρ for the others."""
    heads, large = Fraction(4, 7), Fraction(150, 151)
    small = [math.comb(30, k) * heads**k * (1 - heads) ** (30 - k) for k in range(31)]
    row = [share * mass for share in (large, 1 - large) for mass in small]
    mechanism = finite([row, row[::-1]])
    found, ends = (best_line(mechanism, delta=1e-3, rounds=rounds) for rounds in (40, 1))
    assert 3.0 < found.promise.xi < 0.8 * mechanism.epsilon().lower
    assert found.epsilon.upper < 0.95 * ends.epsilon.upper
    assert ends.epsilon.lower <= found.epsilon.lower


def test_an_infinite_loss_has_no_line() -> None:
    with pytest.raises(InvalidParameter, match="infinite"):
        best_line(finite([[1, 0], [0, 1]]), delta=1e-6)
