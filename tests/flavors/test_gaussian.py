"""N(μ, 1) against N(0, 1) is the mechanism behind GaussianDP(μ): everything about it can be integrated."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest.mock import Mock

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors import gaussian as module
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import ball, exact


def density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def integrated(mu: float, epsilon: float) -> float:
    """∫(p − e^ε·q)₊: the integrand is positive beyond μ/2 + ε/μ."""
    start = mu / 2 + epsilon / mu

    def excess(x: float) -> float:
        return density(x - mu) - math.exp(epsilon) * density(x)

    return float(quad(excess, start, max(start, mu) + 40, points=[mu] if mu > start else None, limit=400)[0])


# The profile


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0, 3.0])
def test_the_profile_is_the_integral(mu, epsilon):
    assert GaussianDP(mu).delta(epsilon=epsilon) == pytest.approx(integrated(mu, epsilon), rel=1e-9, abs=1e-12)


@given(st.floats(1e-6, 100), st.floats(0, 100))
@example(1.0, 36.0)  # 1e-279: far out, but a float
@example(80.0, 2000.0)
def test_the_profile_is_rounded_up_and_hardly(mu, epsilon):
    delta = GaussianDP(mu).delta(epsilon=epsilon)
    with ctx.workprec(4000):
        a, b = ((ball(epsilon) / ball(mu) + sign * ball(mu) / 2) / arb(2).sqrt() for sign in (-1, 1))
        true = (a.erfc() - ball(epsilon).exp() * b.erfc()) / 2  # [BW18, Thm 8] as it stands
        assert true <= ball(delta)
        assert ball(delta) < true * (1 + ball(1e-13)) + ball(1e-320)


def test_known_values():
    assert GaussianDP(1.0).delta(epsilon=1.0) == pytest.approx(0.12693673750664397, rel=1e-14)
    assert GaussianDP(1.0).to_approximate(delta=1e-6).epsilon == pytest.approx(4.886554117462, rel=1e-12)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_an_epsilon_that_cannot_be(epsilon):
    with pytest.raises(InvalidPromise):
        GaussianDP(1.0).delta(epsilon=epsilon)


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"),
    [
        (0.0, 0.0, 0.0),
        (1e-300, 1.0, 5e-324),
        (1e-3, 1e10, 5e-324),  # e^(−5e25): as a fraction it would not fit into memory
        (1.0, 1e300, 5e-324),
        (50.0, 1.0, 1.0),
        (1e19, 1e19, 1.0),
        (1e300, 1e300, 1.0),
    ],
)
def test_the_profile_at_extremes(mu, epsilon, delta):
    assert GaussianDP(mu).delta(epsilon=epsilon) == delta


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"), [(1e-12, 5e-25, 1e-12 / math.sqrt(2 * math.pi)), (1e10, 5e19, 0.5), (1e150, 5e299, 0.5)]
)
def test_the_profile_where_terms_cancel_or_are_huge(mu, epsilon, delta):
    """Where ε = μ²/2, δ = ½ − e^ε·Φ(−μ): about μ/√(2π) for small μ, nearly ½ for large ones."""
    assert GaussianDP(mu).delta(epsilon=epsilon) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("x", [-1e8, -1e6, -1e3, -11.0, -9.0, 0.0, 3.0, 40.0])
def test_the_normal_law_in_its_tails(x):
    """Between x/(x² + 1) and 1/x times the density, and well known to Arb where x is moderate."""
    with ctx.workprec(200):
        value = normal(ball(x))
        assert value.rel_accuracy_bits() > 100
        if x > -100:
            assert value.overlaps((-ball(x) / arb(2).sqrt()).erfc() / 2)
        else:
            density = (-(ball(x) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
            assert density * -x / (ball(x) ** 2 + 1) < value < density / -x


# Arrows


@given(st.floats(1e-3, 20), st.floats(1e-15, 0.5))
def test_the_arrow_is_the_least_epsilon(mu, delta):
    epsilon = GaussianDP(mu).to_approximate(delta=delta).epsilon
    assert GaussianDP(mu).delta(epsilon=epsilon) <= delta
    assert epsilon == 0.0 or GaussianDP(mu).delta(epsilon=epsilon * (1 - 1e-11)) > delta


@given(st.floats(-9, 3).map(lambda power: 10**power), st.floats(-300, -0.01).map(lambda power: 10**power))
@example(1.0, 0.38292492254802624)  # δ(0), or next to it
@example(1.0, 0.3829249225480262)
@example(1.0, math.nextafter(0.3829249225480262, 0))
@example(30.0, 1e-300)
def test_the_arrow_is_proved_to_the_last_digits(mu, delta):
    epsilon = GaussianDP(mu).to_approximate(delta=delta).epsilon
    with ctx.workprec(4000):

        def true(at):
            a, b = ((at / ball(mu) + sign * ball(mu) / 2) / arb(2).sqrt() for sign in (-1, 1))
            return (a.erfc() - at.exp() * b.erfc()) / 2

        assert true(ball(epsilon)) <= ball(delta)
        assert epsilon == 0.0 or true(ball(epsilon) * (1 - ball(1e-15)) - ball(1e-18)) > ball(delta)


@pytest.mark.parametrize("mu", [1e-6, 0.01, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_the_arrow_looks_at_the_profile_a_few_times_only(monkeypatch, mu, delta):
    profile = Mock(wraps=module._profile)
    monkeypatch.setattr(module, "_profile", profile)
    GaussianDP(mu).to_approximate(delta=delta)
    assert 1 <= profile.call_count <= 4


@given(st.floats(0.01, 20), st.floats(1e-12, 0.5))
def test_moments_lose_something_on_the_way(mu, delta):
    promise = GaussianDP(mu)
    exactly = promise.to_approximate(delta=delta).epsilon
    assert exactly <= promise.to_zero_concentrated().to_approximate(delta=delta).epsilon
    assert exactly <= promise.to_renyi().to_approximate(delta=delta).epsilon


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
def test_the_moments_are_integrals(mu, order):
    """E_Q[(p/q)^α] is the integral of q^{1−α}p^α = e^{αμx − αμ²/2}·q."""
    centre = order * mu

    def moment(x: float) -> float:
        return math.exp(order * mu * x - order * mu * mu / 2 - x * x / 2) / math.sqrt(2 * math.pi)

    total = quad(moment, centre - 30, centre + 30, points=[centre], limit=200)[0]
    assert GaussianDP(mu).to_renyi().curve(order) == pytest.approx(math.log(total) / (order - 1), rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan, -1])
def test_the_arrow_wants_a_delta(delta):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        GaussianDP(1.0).to_approximate(delta=delta)


@pytest.mark.parametrize(("mu", "least", "most"), [(1e-300, 0.0, 0.0), (1e4, 5.004e7, 5.005e7), (1e19, 4.9e37, 5.1e37)])
def test_the_arrow_at_extremes(mu, least, most):
    assert least <= GaussianDP(mu).to_approximate(delta=1e-6).epsilon <= most


def test_beyond_all_floats_there_is_no_arrow():
    with pytest.raises(ValueError, match=r"below 1\.8e308"):
        GaussianDP(1e300).to_approximate(delta=1e-6)
    assert not GaussianDP(1e300).covers(ZeroConcentratedDP(1e300))


def test_no_arrow_leads_to_concentrated_privacy():
    with pytest.raises(IncompatiblePromises, match="not closed under post-processing"):
        express(GaussianDP(1.0), ConcentratedDP)


def test_because_a_told_bin_is_spread_wider_than_the_gaussian_itself():
    """Of N(1, 1) and N(0, 1) only "above 3?" is told: a post-processing, so it keeps GaussianDP(1).

    Its loss has two values, and is not subgaussian around its mean with τ = 1, as the loss of the Gaussian is.
    """
    with ctx.workprec(200):
        p, q = normal(arb(-2)), normal(arb(-3))
        losses = [(p, (p / q).log()), (1 - p, ((1 - p) / (1 - q)).log())]
        mean = sum((mass * loss for mass, loss in losses), arb(0))
        spread = [
            sum((mass * (ball(size) * (loss - mean)).exp() for mass, loss in losses), arb(0)).log()
            / (ball(size) ** 2 / 2)
            for size in (0.5, 1, 2, 2.5, 3, 4)
        ]
        assert any(square > ball(1.02) for square in spread)


# Composition and groups


@given(st.lists(st.floats(1e-100, 100), min_size=1, max_size=10))
def test_composed_gaussians_are_one_gaussian(parts):
    whole = GaussianDP.compose([GaussianDP(mu) for mu in parts])
    squares = sum(exact(mu) ** 2 for mu in parts)
    assert squares <= exact(whole.mu) ** 2 <= squares * (1 + exact(1e-15))


def test_composed_gaussians_to_twelve_digits():
    """Δ/σ of any mix: τ² = Σ(Δ/σ)², and the profile of the sum is that of one Gaussian."""
    parts = [(1.0, 2.0), (3.0, 7.0), (0.5, 0.3), (2.0, 11.0)]
    whole = GaussianDP.compose([GaussianDP(sensitivity / sigma) for sensitivity, sigma in parts])
    one = math.sqrt(sum((sensitivity / sigma) ** 2 for sensitivity, sigma in parts))
    assert whole.mu == pytest.approx(one, rel=1e-12)
    assert whole.delta(epsilon=2.0) == pytest.approx(GaussianDP(one).delta(epsilon=2.0), rel=1e-12)
    assert whole.delta(epsilon=2.0) == pytest.approx(integrated(one, 2.0), rel=1e-9)


@given(st.floats(1e-3, 10), st.integers(1, 20))
def test_a_group_moves_the_centre_so_many_times(mu, size):
    assert GaussianDP(mu).for_group(size).mu == pytest.approx(mu * size, rel=1e-15)


# What it covers


@given(st.floats(0.1, 5), st.floats(0, 5), st.floats(0, 1))
def test_covers_what_the_profile_keeps(mu, epsilon, delta):
    assert GaussianDP(mu).covers(ApproximateDP(epsilon, delta)) == (GaussianDP(mu).delta(epsilon=epsilon) <= delta)


def test_covers_moments_exactly():
    assert GaussianDP(1.0).covers(ZeroConcentratedDP(0.5))
    assert not GaussianDP(1.0).covers(ZeroConcentratedDP(0.4999, xi=0.00001))
    assert GaussianDP(1.0).covers(RenyiDP.at({2: 1.0, 10: 5.0}))
    assert not GaussianDP(1.0).covers(RenyiDP.at({2: 1.0, 10: 4.999}))


def test_covers_neither_a_largest_loss_nor_concentrated_privacy():
    assert not GaussianDP(0.1).covers(PureDP(100.0))
    assert not GaussianDP(0.1).covers(ApproximateDP(100.0, 0.0))
    assert not GaussianDP(0.1).covers(ConcentratedDP(100.0, 100.0))


# Fitting and sharing


@given(st.floats(0, 100), st.floats(1e-30, 0.9))
@example(0.0, 1e-300)
@example(1e4, 1e-9)
def test_the_fitted_mu_fits_and_no_larger_one(epsilon, delta):
    """Two-sided: proved by the profile in Arb, and the next floats do not fit."""
    mu = GaussianDP.fitting(ApproximateDP(epsilon, delta)).mu
    with ctx.workprec(2000):
        sizes = [module._profile(ball(size), ball(epsilon))[0] for size in (mu, mu * (1 + 1e-15))]
        assert sizes[0] <= ball(delta)
        assert sizes[1] > ball(delta)


def test_the_fitted_mu_buys_more_than_the_way_through_moments():
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9), (4.0, 1e-5)):
        price = ApproximateDP(epsilon, delta)
        assert GaussianDP.fitting(price).mu > 1.04 * math.sqrt(2 * ZeroConcentratedDP.fitting(price).rho)


def test_without_a_delta_nothing_is_bought():
    assert GaussianDP.fitting(ApproximateDP(1.0, 0.0)) == GaussianDP(0.0)
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        GaussianDP.fitting(ApproximateDP(1.0, 1.0))


@given(st.floats(0, 1e100), st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_squares_of_shares_sum_to_at_most_the_square_and_hardly_less(mu, weights):
    promise, fractions = GaussianDP(mu), [Fraction(weight, sum(weights)) for weight in weights]
    shares = [promise.share(fraction) for fraction in fractions]
    assert sum(exact(share.mu) ** 2 for share in shares) <= exact(mu) ** 2
    assert GaussianDP.compose(shares).mu <= mu
    for share, fraction in zip(shares, fractions, strict=True):
        assert exact(math.nextafter(share.mu, math.inf)) ** 2 > exact(mu) ** 2 * fraction
    assert promise.share(Fraction(1)) == promise
    assert promise.share(Fraction(0)) == GaussianDP(0.0)


@given(st.floats(0, 1e100), st.integers(1, 10**6))
def test_repetition_is_rounded_up_to_the_least_float(mu, times):
    whole = (GaussianDP(mu) * times).mu
    assert exact(whole) ** 2 >= exact(mu) ** 2 * times
    assert whole == 0.0 or exact(math.nextafter(whole, 0.0)) ** 2 < exact(mu) ** 2 * times
