"""Randomized response, P = (e^ε, 1)/(1 + e^ε) against Q = (1, e^ε)/(1 + e^ε), is the worst ε-DP mechanism there is."""

from __future__ import annotations

import math

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Number, ball, exact

BITS = 2600  # enough to tell e^ε from 1 where ε is the smallest float


def response_profile(epsilon: Number, at: Number) -> arb:
    """H_{e^at} = (e^ε − e^at)/(1 + e^ε), 0 beyond ε."""
    odds = ball(epsilon).exp()
    return ((odds - ball(at).exp()) / (1 + odds)).nonnegative_part()


def response_divergence(epsilon: Number, order: Number) -> arb:
    """D_α = ln(p^α q^{1−α} + q^α p^{1−α})/(α − 1) with p = e^ε/(1 + e^ε), q = 1 − p."""
    p, q = 1 / (1 + (-ball(epsilon)).exp()), 1 / (1 + ball(epsilon).exp())
    alpha = ball(order)
    return (p**alpha * q ** (1 - alpha) + q**alpha * p ** (1 - alpha)).log() / (alpha - 1)


# The arrow to approximate privacy: the profile of randomized response


def assert_sound(epsilon: float, delta: float) -> None:
    converted = PureDP(epsilon).to_approximate(delta=delta)
    assert converted.delta == delta
    with ctx.workprec(BITS):
        assert exact(converted.epsilon) == exact(epsilon) or response_profile(epsilon, converted.epsilon) <= ball(delta)


@given(st.floats(0, 700), st.floats(0, 1))
def test_randomized_response_keeps_the_arrow(epsilon, delta):
    assert_sound(epsilon, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1e-20, 1e-30), (1e-300, 1e-310), (5e-324, 1e-323), (1e-9, 1e-10), (50.0, 1e-30), (1e6, 1e-6), (1e19, 1e-6)],
)
def test_the_arrow_is_sound_at_extremes(epsilon, delta):
    assert_sound(epsilon, delta)


def test_a_loss_too_large_for_arithmetic_stays_large():
    assert PureDP(1e300).to_approximate(delta=1e-6).epsilon > 9.9e299


@given(st.floats(1e-6, 20), st.integers(-40, 40))
@example(0.1, 0)
def test_the_arrow_is_sound_where_it_reaches_zero(epsilon, steps):
    """δ = tanh(ε/2) is the least with ε(δ) = 0: a float below that, ε(δ) must still be positive."""
    assert_sound(epsilon, math.tanh(epsilon / 2) * (1 - steps * 2.0**-53))


@given(st.floats(0.01, 30), st.floats(1e-12, 0.9))
def test_the_arrow_is_tight(epsilon, delta):
    """Two-sided: an ε smaller by 1e-9 is no longer true of randomized response."""
    converted = PureDP(epsilon).to_approximate(delta=delta)
    with ctx.workprec(BITS):
        if converted.epsilon > 1e-9:
            assert response_profile(epsilon, exact(converted.epsilon) - exact(1e-9)) > ball(delta)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 3.0])
def test_without_delta_nothing_changes(epsilon):
    assert PureDP(epsilon).to_approximate() == ApproximateDP(epsilon, 0.0)


def test_everything_is_zero_private_with_delta_one():
    assert PureDP(3.0).to_approximate(delta=1.0) == ApproximateDP(0.0, 1.0)


@pytest.mark.parametrize("delta", [-1e-9, 1.1, math.nan, None])
def test_a_delta_that_cannot_be(delta):
    with pytest.raises(InvalidPromise):
        PureDP(1.0).to_approximate(delta=delta)


# The arrow to zero-concentrated privacy


@given(st.floats(1e-3, 30), st.floats(1.001, 200))
def test_moments_of_randomized_response_are_below_the_line(epsilon, order):
    with ctx.workprec(400):
        assert response_divergence(epsilon, order) < ball(PureDP(epsilon).to_zero_concentrated().rho) * ball(order)


@pytest.mark.parametrize("order", [1.01, 2, 10])
def test_half_the_square_is_the_best_constant(order):
    """D_α/α tends to ε²/2 for small ε: a factor less and randomized response breaks the promise."""
    epsilon = 1e-5
    with ctx.workprec(400):
        rho = ball(PureDP(epsilon).to_zero_concentrated().rho)
        assert response_divergence(epsilon, order) > rho * ball(order) * ball(0.999999)


def test_the_square_is_exact_where_it_can_be():
    assert PureDP(0.1).to_zero_concentrated() == ZeroConcentratedDP(0.005)


@given(st.floats(1e-3, 30), st.floats(1.0001, 200))
def test_the_best_line_touches_the_mean(epsilon, order):
    """ρ = ε·tanh(ε/2) is enough at every order, and no smaller ρ is at orders next to 1."""
    with ctx.workprec(400):
        rho = ball(epsilon) * (ball(epsilon) / 2).tanh()
        assert response_divergence(epsilon, order) <= rho * ball(order)
        assert response_divergence(epsilon, 1 + exact(1e-12)) > rho * ball(1 - 1e-6)


# The arrow to Rényi privacy: the curve of randomized response


@given(st.floats(1e-6, 300), st.floats(1.001, 1e6))
@example(0.1, 640.0)
@example(64.0, 1.001)
def test_the_curve_is_that_of_randomized_response(epsilon, order):
    curve = PureDP(epsilon).to_renyi().curve(order)
    with ctx.workprec(800):
        true = response_divergence(epsilon, order)
        assert true <= ball(curve)
        assert ball(curve) <= true * (1 + ball(1e-15))


@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-300, 1e-12, 1e4, 1e300])
def test_the_curve_at_extremes(epsilon):
    curve = PureDP(epsilon).to_renyi().curve
    bounds = [curve(order) for order in (1.0000000000000002, 2.0, 1e9, 1e300)]
    assert bounds == sorted(bounds)
    assert all(0.0 <= bound <= epsilon for bound in bounds)
    assert bounds[-1] >= 0.4 * epsilon


# The arrow to concentrated privacy


@given(st.floats(1e-6, 30))
def test_the_mean_loss_is_that_of_randomized_response(epsilon):
    tight, published = PureDP(epsilon).to_concentrated(), PureDP(epsilon).to_concentrated_as_published()
    with ctx.workprec(400):
        p, q = 1 / (1 + (-ball(epsilon)).exp()), 1 / (1 + ball(epsilon).exp())
        mean = (p - q) * ball(epsilon)
        assert mean <= ball(tight.mu)
        assert ball(tight.mu) <= mean * (1 + ball(1e-14))
        formula = ball(epsilon) * (ball(epsilon).exp() - 1) / 2
        assert formula <= ball(published.mu)
        assert ball(published.mu) <= formula * (1 + ball(1e-14))
    assert tight.tau == published.tau == epsilon
    assert tight.mu <= published.mu
    assert tight.covers(published)
    assert tight.scales_to_groups
    assert published.scales_to_groups


def test_the_mean_loss_is_half_of_what_was_known_before():
    """ε(e^ε − 1) was the bound of 2010; the exact mean is about half of it for small ε."""
    assert PureDP(0.01).to_concentrated().mu / (0.01 * math.expm1(0.01)) == pytest.approx(0.5, rel=0.01)
    assert PureDP(1.0).to_concentrated().mu == pytest.approx(0.46211715726000975, rel=1e-14)


# The arrow to Gaussian privacy


@given(st.floats(1e-3, 50))
def test_the_gaussian_touches_the_curve_of_randomized_response(epsilon):
    """Both kinds of error are 1/(1 + e^ε) at once: there the two curves meet, and a smaller μ would pass above."""
    mu = PureDP(epsilon).to_gaussian().mu
    with ctx.workprec(400):
        corner = 1 / (1 + ball(epsilon).exp())
        assert normal(-ball(mu) / 2) <= corner
        assert normal(-ball(mu) * (1 - ball(1e-14)) / 2) > corner


@given(st.floats(0.01, 20), st.floats(-12, 12))
def test_the_gaussian_is_nowhere_above_randomized_response(epsilon, threshold):
    """At level Φ(−t) the second error is Φ(t − μ); ε-DP forces max(1 − e^ε·level, e^{−ε}(1 − level), 0)."""
    mu = PureDP(epsilon).to_gaussian().mu
    with ctx.workprec(400):
        level, missed = normal(-ball(threshold)), normal(ball(threshold) - ball(mu))
        assert not missed > 1 - ball(epsilon).exp() * level or not missed > (-ball(epsilon)).exp() * (1 - level)


@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-300, 1e-12, 1e4, 1e12, 1e15, 1e16, 1e155, 1e300])
def test_the_gaussian_at_extremes(epsilon):
    """√(π/2)·ε for small ε, 2√(2ε) for large ones."""
    mu = PureDP(epsilon).to_gaussian().mu
    assert mu <= min(1.2534 * epsilon, 2.8285 * math.sqrt(epsilon)) + 1e-322
    assert mu >= min(1.2533 * epsilon, 2.82 * math.sqrt(epsilon)) * (0.0 if epsilon < 1e-320 else 0.999)


# Groups


@given(st.integers(1, 8), st.fractions(min_value="1/10", max_value=20))
def test_a_group_of_shifts_loses_what_is_promised(size, scale):
    """Discrete Laplace noise moved by s people: the largest loss is attained and equals s·ε."""
    promise = PureDP(1 / scale).for_group(size)
    largest = max(abs(y) - abs(y - size) for y in range(-3 * size, 3 * size + 1)) / scale
    assert exact(promise.epsilon) >= largest
    assert exact(promise.epsilon) <= largest * (1 + exact(1e-14))


# What it covers


@given(st.floats(0, 10), st.floats(0, 10))
def test_a_smaller_loss_covers_a_larger_one(first, second):
    assert PureDP(first).covers(PureDP(second)) == (first <= second)


@given(st.floats(0.01, 5), st.floats(0, 5), st.floats(0, 1))
def test_covers_what_randomized_response_keeps(epsilon, at, delta):
    with ctx.workprec(BITS):
        true = response_profile(epsilon, at)
        kept, broken = bool(true < ball(delta) - ball(1e-12)), bool(true > ball(delta))
    covered = PureDP(epsilon).covers(ApproximateDP(at, delta))
    assert covered or not kept
    assert not (covered and broken)


@given(st.floats(0.01, 30), st.floats(1e-12, 1))
def test_covers_its_own_arrows(epsilon, delta):
    promise = PureDP(epsilon)
    assert promise.covers(promise.to_approximate(delta=delta))
    assert promise.covers(promise.to_zero_concentrated())


def test_covers_moments_with_the_best_line():
    """Its arrow leads to ρ = ½, a round number; true is already ρ = tanh ½ = 0.46211…"""
    assert PureDP(1.0).covers(ZeroConcentratedDP(0.46212))
    assert not PureDP(1.0).covers(ZeroConcentratedDP(0.46211))
    assert PureDP(1.0).covers(ZeroConcentratedDP(0.46212).to_renyi())
    assert PureDP(1.0).covers(PureDP(1.1).to_renyi())
    assert not PureDP(1.0).covers(PureDP(0.9).to_renyi())
    assert PureDP(1.0).covers(RenyiDP.at({2: 0.7354}))
    assert not PureDP(1.0).covers(RenyiDP.at({2: 0.7353}))


def test_covers_tests_and_spreads_through_its_arrows():
    assert PureDP(1.0).covers(GaussianDP(1.2321))
    assert not PureDP(1.0).covers(GaussianDP(1.232))
    assert PureDP(1.0).covers(ConcentratedDP(0.4622, 1.0, scales_to_groups=True))
    assert not PureDP(1.0).covers(ConcentratedDP(0.4621, 1.0))


def test_flavors_do_not_mix():
    with pytest.raises(IncompatiblePromises, match="of the flavor PureDP"):
        PureDP(1.0) + ApproximateDP(1.0, 1e-6)  # type: ignore[operator]
