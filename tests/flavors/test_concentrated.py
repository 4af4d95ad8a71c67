"""A Gaussian loss, N(τ²/2, τ²), is what concentrated privacy was made for; its δ(ε) is known exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import AsymptoticGroup, ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import Number, ball, exact

laws = st.lists(st.integers(1, 1000), min_size=3, max_size=3)


def mean_loss(p: Sequence[Number], q: Sequence[Number]) -> arb:
    return sum((ball(a) * (ball(a) / ball(b)).log() for a, b in zip(p, q, strict=True)), arb(0))


# Composition


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(1e-100, 10)), max_size=8))
def test_means_add_and_spreads_add_in_squares(parts):
    whole = ConcentratedDP.compose([ConcentratedDP(*part) for part in parts])
    assert exact(whole.mu) >= sum((exact(mu) for mu, _ in parts), Fraction(0))
    squares = sum((exact(tau) ** 2 for _, tau in parts), Fraction(0))
    assert squares <= exact(whole.tau) ** 2 <= squares * (1 + exact(1e-15))


def test_one_spread_that_does_not_scale_spoils_the_sum():
    scaling, other = ConcentratedDP(1.0, 1.0, scales_to_groups=True), ConcentratedDP(1.0, 1.0)
    assert (scaling + scaling).scales_to_groups
    assert not (scaling + other).scales_to_groups
    assert (scaling * 7).scales_to_groups


# The mean is bounded by the spread


@given(laws, laws)
def test_at_minus_one_the_moment_around_the_mean_is_the_mean(first, second):
    """E[e^{−(L − E[L])}] = e^{E[L]}, for any two laws: whoever bounds it by e^{τ²/2} bounds the mean by τ²/2."""
    p, q = ([Fraction(n, sum(law)) for n in law] for law in (first, second))
    with ctx.workprec(200):
        mean = mean_loss(p, q)
        moment = sum((ball(a) * (mean - (ball(a) / ball(b)).log()).exp() for a, b in zip(p, q, strict=True)), arb(0))
        assert abs(moment.log() - mean) < ball(1e-50)


def test_a_mean_beyond_half_the_square_is_no_news():
    assert ConcentratedDP(7.0, 1.0).covers(ConcentratedDP(0.5, 1.0))
    assert not ConcentratedDP(7.0, 1.0).covers(ConcentratedDP(0.4999, 1.0))
    assert not ConcentratedDP(0.5, 1.0).covers(ConcentratedDP(0.4999, 1.0))


# Arrows


@given(st.floats(0, 10), st.floats(1e-100, 10))
def test_the_line_through_the_spread(mu, tau):
    """BS16 adds ξ = μ − τ²/2 where μ is larger; the mean never is."""
    line = ConcentratedDP(mu, tau).to_zero_concentrated()
    assert line.xi == 0.0
    assert exact(tau) ** 2 / 2 <= exact(line.rho) <= exact(tau) ** 2 / 2 * (1 + exact(1e-15))
    assert ConcentratedDP(mu, tau).to_renyi() == line.to_renyi()


@given(st.floats(0.01, 5), st.floats(1e-12, 0.5))
def test_a_gaussian_loss_keeps_the_arrow(tau, delta):
    converted = ConcentratedDP(tau * tau, tau).to_approximate(delta=delta)
    assert GaussianDP(tau).delta(epsilon=converted.epsilon) <= delta


@given(st.floats(0, 5), st.floats(0.01, 5), st.floats(1e-12, 0.5))
def test_the_arrow_is_the_better_of_two(mu, tau, delta):
    tail = min(mu, tau * tau / 2) + tau * math.sqrt(2 * math.log(1 / delta))
    line = ZeroConcentratedDP(tau * tau / 2).to_approximate(delta=delta).epsilon
    assert ConcentratedDP(mu, tau).to_approximate(delta=delta).epsilon == pytest.approx(min(tail, line), rel=1e-12)


def test_either_of_the_two_can_be_better():
    small, large = ConcentratedDP(0.0, 1.0), ConcentratedDP(0.5, 1.0)
    assert small.to_approximate(delta=1e-30).epsilon < small.to_zero_concentrated().to_approximate(delta=1e-30).epsilon
    assert large.to_approximate(delta=1e-6) == large.to_zero_concentrated().to_approximate(delta=1e-6)
    assert large.to_approximate(delta=1e-6).epsilon < 0.5 + math.sqrt(2 * math.log(1e6))


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_the_arrow_wants_a_delta(delta):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        ConcentratedDP(0.5, 1.0).to_approximate(delta=delta)


# Groups


def test_groups_scale_where_it_is_known():
    assert ConcentratedDP(0.5, 1.0, scales_to_groups=True).for_group(3) == ConcentratedDP(
        4.5, 3.0, scales_to_groups=True
    )


def test_a_group_of_unknown_mechanisms_is_refused_with_the_reason():
    with pytest.raises(IncompatiblePromises, match="does not say that its mechanisms scale") as refusal:
        ConcentratedDP(0.5, 1.0).for_group(2)
    assert "pure ε" in refusal.value.do
    assert "to_zero_concentrated" in refusal.value.do
    assert ConcentratedDP(0.5, 1.0).for_group(1) == ConcentratedDP(0.5, 1.0)


@given(st.floats(1e-3, 20), st.integers(1, 50))
def test_what_follows_from_a_pure_promise_scales(epsilon, size):
    """s people lose at most sε: mean at most sε·tanh(sε/2), within s² times the mean for one, for tanh is concave."""
    for single in (PureDP(epsilon).to_concentrated(), PureDP(epsilon).to_concentrated_as_published()):
        assert PureDP(epsilon).for_group(size).covers(single.for_group(size))


def test_what_was_found_for_one_mechanism_need_not_scale():
    """Three Bernoulli laws in a row: neighbours lose at most μ on average, the ends more than 4μ.

    The mechanism is pure, but μ is its own mean loss, not the one that follows from its ε.
    """
    chain = [[share, 1 - share] for share in (Fraction(1, 100), Fraction(4, 100), Fraction(9, 100))]
    mu = max(mean_loss(p, q) for a, b in pairwise(chain) for p, q in ((a, b), (b, a)))
    assert mean_loss(chain[2], chain[0]) > ball(4.6) * mu


# What it covers


def test_scaling_is_part_of_the_promise():
    scaling, other = ConcentratedDP(0.5, 1.0, scales_to_groups=True), ConcentratedDP(0.5, 1.0)
    assert scaling.covers(other)
    assert not other.covers(scaling)


def test_covers_moments_and_tails_through_its_arrows():
    promise = ConcentratedDP(0.5, 1.0)
    converted = promise.to_approximate(delta=1e-6)
    assert promise.covers(converted)
    assert not promise.covers(ApproximateDP(converted.epsilon - 1e-9, 1e-6))
    assert promise.covers(RenyiDP.at({2: 1.0}))
    assert not promise.covers(RenyiDP.at({2: 0.999}))
    assert promise.covers(ApproximateDP(0.0, 1.0))
    assert not promise.covers(ApproximateDP(100.0, 0.0))


def test_neither_bounds_the_loss_nor_every_test():
    assert not ConcentratedDP(0.5, 1.0).covers(PureDP(100.0))
    assert not ConcentratedDP(0.5, 1.0).covers(GaussianDP(100.0))


@pytest.mark.parametrize("tau", [1e155, 1e300])
def test_a_spread_whose_square_has_no_float_covers_little(tau):
    promise = ConcentratedDP(1.0, tau)
    assert promise.covers(promise)
    assert not promise.covers(ZeroConcentratedDP(1e300))
    assert not promise.covers(ApproximateDP(1e300, 0.5))
    with pytest.raises(ValueError, match=r"below 1\.8e308"):
        promise.to_zero_concentrated()


@pytest.mark.parametrize("parameters", [(-1, 1), (1, -1), (math.nan, 1), (1, math.inf), (True, 1), ("1", 1)])
def test_impossible_parameters(parameters):
    with pytest.raises(InvalidPromise):
        ConcentratedDP(*parameters)


# Groups, as published


def test_leading_terms_for_groups_are_those_of_a_gaussian():
    """Gaussian noise attains (s²·τ²/2, s·τ), so the published terms cannot be smaller; and they are not larger."""
    published = ConcentratedDP(1.0, 0.25).for_group_asymptotically(4)
    gaussian = ConcentratedDP(0.25**2 / 2, 0.25, scales_to_groups=True).for_group(4)
    assert (published.mu, published.tau) == (gaussian.mu, gaussian.tau) == (0.5, 1.0)


def test_an_asymptotic_bound_is_no_promise():
    published = ConcentratedDP(0.005, 0.1).for_group_asymptotically(3)
    assert isinstance(published, AsymptoticGroup)
    assert not isinstance(published, Promise)
    assert published.basis == "asymptotic, as published"
    with pytest.raises(InvalidPromise):
        ConcentratedDP(0.005, 0.1).for_group_asymptotically(0)
