"""The discrete Gaussian is the mechanism behind ρ: moved by d, D_α = αd²/(2σ²) at every whole α. [CKS20]"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Number, ball, exact, upward

BITS = 300


def gaussian_pair(rho: Fraction, shift: int) -> list[tuple[arb, arb]]:
    """P(y) ∝ e^{−ρy²} and the same moved by `shift`: ρ = 1/(2σ²), so that one step costs ρ.

    The window leaves out less than e^{−ρ·reach²} < e^{−300}, far below what `BITS` can show of a sum near 1.
    """
    reach = math.isqrt(int(300 / rho)) + 4 * shift + 4
    weights = {y: (-ball(rho * y * y)).exp() for y in range(-reach - shift, reach + shift + 1)}
    whole = sum(weights.values(), arb(0))
    return [(weights[y] / whole, weights[y - shift] / whole) for y in range(-reach, reach + shift + 1)]


def hockey_stick(pair: list[tuple[arb, arb]], epsilon: Number) -> arb:
    odds = ball(epsilon).exp()
    return sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0))


def divergence(pair: list[tuple[arb, arb]], order: Number) -> arb:
    alpha = ball(order)
    return sum(((alpha * p.log() + (1 - alpha) * q.log()).exp() for p, q in pair), arb(0)).log() / (alpha - 1)


def epsilon_at(order: arb, *, rho: Number, xi: Number, delta: Number) -> arb:
    """The ε that makes δ = e^{(α−1)(ξ + ρα − ε)}·(1 − 1/α)^α/(α − 1), as the paper states it."""
    log_factor = order * (1 - 1 / order).log() - (order - 1).log()
    return ball(xi) + ball(rho) * order + (log_factor - ball(delta).log()) / (order - 1)


def best_epsilon(*, rho: float, delta: float, xi: float = 0.0) -> arb:
    """Independent of the product's search: a dense scan over ln(α − 1), refined around its best point in 300 bits."""
    excess = np.exp(np.linspace(-40, 60, 4001))
    with np.errstate(over="ignore"):
        scanned = rho * (1 + excess) - np.log1p(1 / excess) - (math.log(delta) + np.log1p(excess)) / excess
    centre = -40 + 0.025 * int(np.argmin(scanned))
    with ctx.workprec(BITS):
        low, high = ball(centre - 0.1), ball(centre + 0.1)
        for _ in range(150):
            third = (high - low) / 3
            at = [epsilon_at(1 + x.exp(), rho=rho, xi=xi, delta=delta) for x in (low + third, high - third)]
            low, high = (low.mid(), (high - third).mid()) if at[0] < at[1] else ((low + third).mid(), high.mid())
        return epsilon_at(1 + low.exp(), rho=rho, xi=xi, delta=delta)


# Known values


def test_published_values():
    fitted = ZeroConcentratedDP.fitting(ApproximateDP(1.0, 1e-9)).rho
    assert fitted == pytest.approx(0.014973057673588523, rel=1e-13)
    assert ZeroConcentratedDP(0.5).to_approximate(delta=1e-6).epsilon == pytest.approx(5.2215344445302, rel=1e-13)


# The arrow to approximate privacy


@given(st.floats(1e-6, 50), st.floats(1e-30, 0.5), st.floats(0, 2))
def test_the_arrow_is_the_best_over_all_orders(rho, delta, xi):
    converted = ZeroConcentratedDP(rho, xi=xi).to_approximate(delta=delta)
    best = best_epsilon(rho=rho, delta=delta, xi=xi)
    with ctx.workprec(BITS):
        assert ball(converted.epsilon) >= best
        assert ball(converted.epsilon) <= best.nonnegative_part() * (1 + ball(1e-9)) + ball(1e-15)


@pytest.mark.parametrize(
    ("delta", "rho"),
    [
        (1e-6, 1.3591409142301384e-12),
        (1e-3, 1.3591415299845882e-06),
        (0.1, 0.013653378024976195),
        (0.3, 0.12761506429476493),
    ],
)
def test_the_arrow_is_sound_where_it_reaches_zero(delta, rho):
    """These ρ are the least floats whose best ε is above zero: at them and beyond, zero is no bound any more."""
    assert best_epsilon(rho=math.nextafter(rho, 0.0), delta=delta) < 0
    for _ in range(30):
        # Converted before the bits are raised: the library chooses its own precision.
        converted = ZeroConcentratedDP(rho).to_approximate(delta=delta)
        with ctx.workprec(BITS):
            assert ball(converted.epsilon) >= best_epsilon(rho=rho, delta=delta)
        rho = math.nextafter(rho, 1.0)


@given(st.floats(1e-6, 10), st.floats(1e-15, 0.1), st.integers(1, 60))
def test_less_noise_never_converts_to_less_loss(rho, delta, steps):
    """Monotone to the last digit: otherwise what fits a price would not fit it with a little more noise."""
    below = rho
    for _ in range(steps):
        below = math.nextafter(below, 0.0)
    promise, stronger = ZeroConcentratedDP(rho), ZeroConcentratedDP(below)
    assert stronger.to_approximate(delta=delta).epsilon <= promise.to_approximate(delta=delta).epsilon


@given(st.floats(1e-6, 50), st.floats(1e-30, 0.5))
def test_the_classical_formula_is_never_better(rho, delta):
    classical = rho + 2 * math.sqrt(rho * math.log(1 / delta))  # [BS16, Prop. 1.3]
    assert ZeroConcentratedDP(rho).to_approximate(delta=delta).epsilon <= classical * (1 + 1e-14)


@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 18), Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-12])
def test_the_discrete_gaussian_keeps_the_arrow(rho, shift, delta):
    promise = ZeroConcentratedDP(upward(rho * shift**2)).to_approximate(delta=delta)
    with ctx.workprec(BITS):
        pair = gaussian_pair(rho, shift)
        assert hockey_stick(pair, promise.epsilon) <= ball(delta)
        assert hockey_stick([(q, p) for p, q in pair], promise.epsilon) <= ball(delta)


def test_a_lost_half_would_be_noticed():
    """The twin that reads ρ = Δ²/(4σ²) claims too little, and the discrete Gaussian shows it."""
    claimed = ZeroConcentratedDP(0.25).to_approximate(delta=1e-6)
    with ctx.workprec(BITS):
        assert hockey_stick(gaussian_pair(Fraction(1, 2), 1), claimed.epsilon) > ball(1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, 2.0, math.nan])
def test_the_arrow_wants_a_delta(delta):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        ZeroConcentratedDP(0.5).to_approximate(delta=delta)


def test_without_slope_the_loss_is_bounded():
    assert ZeroConcentratedDP(0.0, xi=0.25).to_approximate(delta=1e-6) == ApproximateDP(0.25, 1e-6)


@pytest.mark.parametrize("rho", [1e26, 1e33, 1e40, 1e300])
@pytest.mark.parametrize("delta", [1e-6, 1 - 2.0**-53])
def test_a_huge_rho_converts_to_a_huge_epsilon(rho, delta):
    assert rho <= ZeroConcentratedDP(rho).to_approximate(delta=delta).epsilon <= 1.01 * rho


@pytest.mark.parametrize("rho", [5e-324, 1e-310, 1e-200])
@pytest.mark.parametrize("delta", [1e-300, 1e-6])
def test_a_tiny_rho_converts_to_a_tiny_epsilon(rho, delta):
    assert ZeroConcentratedDP(rho).to_approximate(delta=delta).epsilon <= 1e-80


# Fitting


@given(st.floats(1e-3, 100), st.floats(1e-30, 0.5))
def test_the_fitted_rho_fits_and_no_larger_one(epsilon, delta):
    fitted = ZeroConcentratedDP.fitting(ApproximateDP(epsilon, delta))
    assert fitted.to_approximate(delta=delta).epsilon <= epsilon
    assert ZeroConcentratedDP(fitted.rho * (1 + 1e-11)).to_approximate(delta=delta).epsilon > epsilon


@given(st.floats(1e-3, 10), st.floats(1e-15, 1e-3), st.integers(2, 12))
def test_shares_of_the_fitted_rho_stay_within_the_price(epsilon, delta, parts):
    fitted = ZeroConcentratedDP.fitting(ApproximateDP(epsilon, delta))
    whole = ZeroConcentratedDP.compose([fitted.share(Fraction(1, parts))] * parts)
    assert whole.to_approximate(delta=delta).epsilon <= epsilon


@pytest.mark.parametrize("price", [ApproximateDP(0.0, 1e-6), ApproximateDP(1.0, 0.0)])
def test_what_buys_no_gaussian_noise(price):
    assert ZeroConcentratedDP.fitting(price) == ZeroConcentratedDP(0.0)


# Groups


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("order", [2, 3, 7])
def test_a_group_of_shifts_loses_what_is_promised(size, order):
    rho = Fraction(1, 20)
    promise = ZeroConcentratedDP(upward(rho)).for_group(size)
    with ctx.workprec(BITS):
        moment = divergence(gaussian_pair(rho, size), order)
        assert abs(moment - ball(promise.rho) * order) < ball(1e-60)


@given(st.floats(1.01, 30), st.integers(1, 3))
def test_broken_orders_lose_no_more(order, size):
    """At an order with αs not whole the bound of the discrete Gaussian is not attained, but it holds."""
    with ctx.workprec(BITS):
        moment = divergence(gaussian_pair(Fraction(1, 4), size), order)
        assert not moment > ball(ZeroConcentratedDP(0.25).for_group(size).rho) * ball(order)


@pytest.mark.parametrize(("size", "factor"), [(1, 1), (2, 3), (3, Fraction(11, 2)), (4, Fraction(25, 3))])
def test_the_offset_of_a_group_grows_with_the_harmonic_numbers(size, factor):
    assert ZeroConcentratedDP(0.0, xi=0.12).for_group(size).xi == upward(exact(0.12) * factor)


@given(st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=4, max_size=4), st.floats(1.01, 40))
def test_the_offset_of_a_group_bounds_every_chain(masses, order):
    """Any four laws in a row: with ξ the largest loss of a step (D_∞), the ends keep the group's bound at any order."""
    laws = [[Fraction(m, sum(law)) for m in law] for law in masses]
    steps = [max(max(p / q, q / p) for p, q in zip(a, b, strict=True)) for a, b in pairwise(laws)]
    with ctx.workprec(BITS):
        xi = ball(max(steps)).log()
        ends = [(ball(p), ball(q)) for p, q in zip(laws[0], laws[-1], strict=True)]
        assert not divergence(ends, order) > xi * ball(Fraction(11, 2))
    assert ZeroConcentratedDP(0.0, xi=1.0).for_group(3).xi == 5.5


@pytest.mark.parametrize("size", [100, 101, 1000, 10**9])
def test_the_offset_of_a_crowd_needs_no_crowd_of_fractions(size):
    """s·H_s lies between s(ln s + γ) and s(ln s + γ + 1/2s)."""
    euler = 0.5772156649015329
    xi = ZeroConcentratedDP(0.0, xi=1.0).for_group(size).xi
    assert size * (math.log(size) + euler) <= xi * (1 + 1e-15)
    assert xi <= (size * (math.log(size) + euler) + 0.5) * (1 + 1e-14)


def test_the_offset_of_a_crowd_is_rounded_up():
    harmonic = sum((Fraction(1, i) for i in range(1, 151)), Fraction(0))
    assert 0 <= exact(ZeroConcentratedDP(0.0, xi=1.0).for_group(150).xi) - 150 * harmonic < exact(1e-11)


# The arrow to Rényi privacy: the same promise


@given(st.floats(0, 10), st.floats(0, 10), st.floats(1.001, 1e6))
def test_the_curve_is_the_line(rho, xi, order):
    curve = ZeroConcentratedDP(rho, xi=xi).to_renyi().curve
    true = exact(xi) + exact(rho) * exact(order)
    assert true <= exact(curve(order)) <= true * (1 + exact(1e-15)) + exact(1e-320)


@pytest.mark.parametrize("order", [2, 5])
def test_the_discrete_gaussian_attains_the_curve(order):
    with ctx.workprec(BITS):
        moment = divergence(gaussian_pair(Fraction(1, 20), 1), order)
        assert abs(moment - ball(ZeroConcentratedDP(0.05).to_renyi().curve(float(order)))) < ball(1e-60)


def test_a_line_beyond_all_floats_is_infinite():
    assert math.isinf(ZeroConcentratedDP(1e300).to_renyi().curve(1e10))


# What it covers


@given(*[st.floats(0, 3)] * 4)
def test_covers_curves_as_it_covers_lines(rho, xi, other_rho, other_xi):
    first, second = ZeroConcentratedDP(rho, xi=xi), ZeroConcentratedDP(other_rho, xi=other_xi)
    assert first.covers(second.to_renyi()) == first.covers(second)


def test_covers_moments_exactly():
    assert ZeroConcentratedDP(0.1, xi=0.05).covers(RenyiDP.at({2: 0.25, 10: 1.05}))
    assert not ZeroConcentratedDP(0.1, xi=0.05).covers(RenyiDP.at({2: 0.25, 10: 1.04}))


@given(*[st.floats(0, 3)] * 4)
def test_covers_a_line_that_is_nowhere_lower(rho, xi, other_rho, other_xi):
    covered = ZeroConcentratedDP(rho, xi=xi).covers(ZeroConcentratedDP(other_rho, xi=other_xi))
    orders = [Fraction(1), Fraction(3, 2), Fraction(10), Fraction(10**400)]
    lines = [(exact(xi) + exact(rho) * a, exact(other_xi) + exact(other_rho) * a) for a in orders]
    assert covered == all(mine <= other for mine, other in lines)


def test_covers_its_own_arrow_and_nothing_better():
    promise = ZeroConcentratedDP(0.5)
    converted = promise.to_approximate(delta=1e-6)
    assert promise.covers(converted)
    assert not promise.covers(ApproximateDP(converted.epsilon - 1e-9, 1e-6))


def test_covers_no_bound_on_the_loss_unless_it_has_no_slope():
    assert not ZeroConcentratedDP(1e-9).covers(ApproximateDP(100.0, 0.0))
    assert ZeroConcentratedDP(0.0, xi=1.0).covers(ApproximateDP(1.0, 0.0))
    assert not ZeroConcentratedDP(0.0, xi=1.0).covers(ApproximateDP(0.999, 0.0))
    assert not ZeroConcentratedDP(1e-9).covers(PureDP(100.0))


def test_covers_a_promise_of_nothing():
    assert ZeroConcentratedDP(0.5).covers(ApproximateDP(0.0, 1.0))


# Form


def test_an_offset_is_shown_only_where_there_is_one():
    assert repr(ZeroConcentratedDP(0.5)) == "ZeroConcentratedDP(rho=0.5)"
    assert repr(ZeroConcentratedDP(0.5, xi=0.25)) == "ZeroConcentratedDP(rho=0.5, xi=0.25)"


def test_flavors_do_not_mix():
    with pytest.raises(IncompatiblePromises, match="of the flavor ZeroConcentratedDP"):
        ZeroConcentratedDP(0.5) + PureDP(1.0)  # type: ignore[operator]
