"""The worst pair of a profile is made here from its definition; sums of profiles are judged by products of pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.numbers import Number, ball, exact

BITS = 300
Pair = list[tuple[arb, arb]]
# The worst pair made here has 300 bits: it cannot tell e^(1e-300) from 1, which the library can.
epsilons = st.just(0.0) | st.floats(1e-3, 8)
one_point = st.tuples(epsilons, st.just(0.0) | st.floats(1e-9, 1))
points = st.lists(one_point, min_size=1, max_size=4)


def hockey_stick(pair: Pair, epsilon: Number) -> arb:
    odds = ball(epsilon).exp()
    return sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0))


def worst_pair(promise: PrivacyProfile) -> Pair:
    """P and Q whose δ is the lower convex envelope of the points in t = e^ε, with their mirror images and (0, 1)."""
    given_points = [(ball(epsilon).exp(), ball(delta)) for epsilon, delta in promise.points]
    corners = [*((1 / t, 1 - (1 - delta) / t) for t, delta in given_points), *given_points]
    hull = [(arb(0), arb(1))]
    while further := [corner for corner in corners if corner[0] > hull[-1][0]]:
        t, delta = hull[-1]
        hull.append(min(further, key=lambda corner: (corner[1] - delta) / (corner[0] - t)))
    slopes = [*((b - a) / (u - t) for (t, a), (u, b) in pairwise(hull)), arb(0)]
    bends = [after - before for before, after in pairwise(slopes)]
    told = [(t * bend, bend) for (t, _), bend in zip(hull[1:], bends, strict=True)]
    return [(hull[-1][1], arb(0)), *told, (arb(0), hull[-1][1])]


def all_at_once(promises: list[PrivacyProfile]) -> Pair:
    whole: Pair = [(arb(1), arb(1))]
    for promise in promises:
        whole = [(p * s, q * t) for (p, q), (s, t) in product(whole, worst_pair(promise))]
    return whole


def optimal(epsilon: Number, delta: Number, times: int, at: Number) -> arb:
    """δ of k times (ε, δ), term by term.      [KOV15, Thm 3.3]"""
    told, lied = 1 / (1 + (-ball(epsilon)).exp()), 1 / (1 + ball(epsilon).exp())
    tail = arb(0)
    for lies in range(times + 1):
        p, q = told ** (times - lies) * lied**lies, lied ** (times - lies) * told**lies
        tail += math.comb(times, lies) * (p - ball(at).exp() * q).nonnegative_part()
    return 1 - (1 - ball(delta)) ** times * (1 - tail)


# One profile


@given(one_point, epsilons)
def test_one_point_has_the_profile_of_approximate_privacy(point, at):
    """δ + (1 − δ)(e^ε − e^at)/(1 + e^ε), and δ from ε on.      [KOV15, Thm 3.3 with k = 1]"""
    epsilon, delta = point
    found = PrivacyProfile((point,)).delta(epsilon=at)
    with ctx.workprec(BITS):
        odds = ball(epsilon).exp()
        true = ball(delta) + (1 - ball(delta)) * ((odds - ball(at).exp()) / (1 + odds)).nonnegative_part()
        assert not true > ball(found)
        assert ball(found) < true * (1 + ball(1e-15)) + ball(1e-80)


@given(points, epsilons)
def test_the_worst_pair_attains_the_profile(chosen, at):
    promise = PrivacyProfile(tuple(chosen))
    found = promise.delta(epsilon=at)
    with ctx.workprec(BITS):
        true = hockey_stick(worst_pair(promise), at)
        assert not true > ball(found)
        assert ball(found) < true * (1 + ball(1e-14)) + ball(1e-60)


@given(points)
def test_the_worst_pair_is_a_pair_of_laws_that_keeps_every_point(chosen):
    promise = PrivacyProfile(tuple(chosen))
    with ctx.workprec(BITS):
        pair = worst_pair(promise)
        assert all(abs(sum(masses, arb(0)) - 1) < ball(1e-60) for masses in zip(*pair, strict=True))
        assert all(p > -ball(1e-60) and q > -ball(1e-60) for p, q in pair)
        for way in (pair, [(q, p) for p, q in pair]):
            for epsilon, delta in promise.points:
                assert not hockey_stick(way, epsilon) > ball(delta) + ball(1e-60)


@given(points, st.floats(1e-9, 1))
def test_the_arrow_is_the_least_epsilon(chosen, delta):
    promise = PrivacyProfile(tuple(chosen))
    if delta < promise.infinite_mass():
        with pytest.raises(InvalidPromise, match="says nothing"):
            promise.to_approximate(delta=delta)
        return
    epsilon = promise.to_approximate(delta=delta).epsilon
    assert promise.delta(epsilon=epsilon) <= delta
    assert epsilon < 1e-300 or promise.delta(epsilon=epsilon * (1 - 1e-9)) >= delta * (1 - 1e-12)


def test_points_that_say_nothing_new_are_left_out():
    assert PrivacyProfile(((2.0, 0.1), (1.0, 0.1), (3.0, 0.2), (1, 0.3))).points == ((1.0, 0.1),)


def test_several_points_say_more_than_each():
    both = PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6)))
    alone = [PrivacyProfile((point,)).delta(epsilon=1.5) for point in both.points]
    assert both.delta(epsilon=1.5) < 0.7 * min(alone)


@pytest.mark.parametrize("given_points", [(), ((1.0,),), ((1.0, 0.1, 2.0),), (1.0, 0.1), 3, None])
def test_what_is_no_list_of_points(given_points):
    with pytest.raises(InvalidPromise, match="pair"):
        PrivacyProfile(given_points)


@pytest.mark.parametrize("point", [(-1, 0.1), (1, 1.1), (1, -0.1), (math.nan, 0.1), (math.inf, 0.1), ("1", 0.1)])
def test_points_that_cannot_be(point):
    with pytest.raises(InvalidPromise, match="to be a number of at least 0"):
        PrivacyProfile(((1.0, 0.5), point))


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_an_epsilon_that_cannot_be(epsilon):
    with pytest.raises(InvalidPromise):
        PrivacyProfile(((1.0, 0.1),)).delta(epsilon=epsilon)


# What it covers


@given(points)
@example([(0.0, 0.5), (math.log(2), 0.25), (math.log(3), 0.0)])  # nearly on one chord in t
@example([(1e-300, 3e-301), (2e-300, 1e-301)])
@example([(5e-324, 5e-324)])
def test_covers_every_point_it_was_made_of(chosen):
    promise = PrivacyProfile(tuple(chosen))
    assert promise.covers(promise)
    assert all(promise.covers(ApproximateDP(*point)) for point in chosen)


@given(one_point, one_point)
def test_one_point_covers_what_approximate_privacy_does(first, second):
    with ctx.workprec(BITS):
        apart = hockey_stick(worst_pair(PrivacyProfile((first,))), second[0]) - ball(second[1])
        near = bool(abs(apart) < ball(1e-12))
    stated = ApproximateDP(*first).covers(ApproximateDP(*second))
    assert near or PrivacyProfile((first,)).covers(ApproximateDP(*second)) == stated
    assert near or ApproximateDP(*first).covers(PrivacyProfile((second,))) == stated


def test_is_covered_by_whatever_covers_each_point():
    profile = PrivacyProfile(((1.0, 0.13), (3.0, 0.02)))
    for promise in (PureDP(1.0), GaussianDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 0.01)):
        assert promise.covers(profile)
        assert promise.covers(RandomDP(profile, 0.1))
    assert not GaussianDP(1.0).covers(PrivacyProfile(((1.0, 0.13), (3.0, 1e-4))))
    assert not profile.covers(PureDP(100.0))


# Sums


@settings(max_examples=15)
@given(st.lists(points, min_size=2, max_size=3))
def test_a_sum_is_above_the_product_of_the_worst_pairs_and_hardly(chosen):
    """A mass that is split over a step h raises δ by at most h/4 of it; ε ≤ 8 is cut into steps of at most 32/8192.

    Three laws are split, and their sums become coarser at most twice: 3 · 0.001 + 0.002 + 0.004.
    """
    promises = [PrivacyProfile(tuple(each)) for each in chosen]
    whole = PrivacyProfile.compose(promises)
    with ctx.workprec(BITS):
        pair = all_at_once(promises)
    for at in (0.0, 0.2, 1.0, 3.0, 8.0):
        found = whole.delta(epsilon=at)
        with ctx.workprec(BITS):
            true = hockey_stick(pair, at)
            assert not true > ball(found)
            assert ball(found) < true + ball(0.009)


@pytest.mark.parametrize(("epsilon", "delta", "times"), [(0.1, 1e-8, 100), (1.0, 0.0, 30), (0.5, 1e-3, 7)])
def test_equal_points_compose_as_in_the_optimal_theorem(epsilon, delta, times):
    whole = PrivacyProfile(((epsilon, delta),)) * times
    for at in (0.0, 0.37 * epsilon * times, 0.5 * epsilon * times, 0.9 * epsilon * times):
        found = whole.delta(epsilon=at)
        with ctx.workprec(BITS):
            true = optimal(epsilon, delta, times, at)
            assert true <= ball(found)
            assert ball(found) < true * (1 + ball(1e-4))


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-6])
def test_the_whole_profile_is_as_tight_as_the_loss_at_one_delta(delta):
    parts = [(PrivacyProfile(((0.1, 1e-8), (0.3, 1e-10))), 20), (PrivacyProfile(((0.5, 0.0),)), 7)]
    whole = PrivacyProfile.compose(part for part, times in parts for _ in range(times))
    losses = [(part.worst_loss(), times) for part, times in parts]
    known = Loss.compose(loss * times for loss, times in losses if loss is not None).epsilon(delta=delta)
    assert known.lower <= whole.to_approximate(delta=delta).epsilon <= known.upper * (1 + 1e-3) + 1e-4


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-6, 1e-8])
def test_what_is_written_down_near_one_delta_is_what_the_whole_says_there(delta):
    parts = [(PrivacyProfile(((0.1, 1e-3), (0.3, 1e-10))), 20), (PrivacyProfile(((0.5, 0.0),)), 7)]
    near = PrivacyProfile.compose_near(parts, delta=delta)
    whole = PrivacyProfile.compose(part for part, times in parts for _ in range(times))
    assert len(near.points) < 6 < len(whole.points)
    assert near.infinite_mass() == whole.infinite_mass()
    found, known = (profile.to_approximate(delta=delta).epsilon for profile in (near, whole))
    assert found == pytest.approx(known, rel=1e-3, abs=1e-4)
    equal = PrivacyProfile.compose_near([*parts[:1], *parts[1:]] * 2, delta=delta)
    assert equal == PrivacyProfile.compose_near([(part, 2 * times) for part, times in parts], delta=delta)


@settings(max_examples=15)
@given(st.lists(points, min_size=2, max_size=3), st.floats(1e-6, 0.5))
def test_what_is_written_down_near_one_delta_is_above_the_product_of_the_worst_pairs(chosen, delta):
    promises = [PrivacyProfile(tuple(each)) for each in chosen]
    near = PrivacyProfile.compose_near([(promise, 1) for promise in promises], delta=delta)
    with ctx.workprec(BITS):
        pair = all_at_once(promises)
        for epsilon, bound in near.points:
            assert not hockey_stick(pair, epsilon) > ball(bound)


def test_many_different_profiles_on_fewer_points_lose_less_than_a_thousandth():
    parts = [(PrivacyProfile(((0.1 + i / 1000, 0.0),)), 1) for i in range(100)]
    few = PrivacyProfile.compose_near(parts, delta=1e-6).to_approximate(delta=1e-6).epsilon
    many = PrivacyProfile.compose(part for part, _ in parts).to_approximate(delta=1e-6).epsilon
    assert many * (1 - 1e-4) < few < many * (1 + 1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "times", "at", "known"),
    [(0.1, 1e-8, 100, 1e-5, 4.329637), (0.1, 0.0, 1000, 1e-6, 19.344671), (1.0, 0.0, 100, 1e-5, 79.841322)],
)
def test_published_values(epsilon, delta, times, at, known):
    total = (PrivacyProfile(((epsilon, delta),)) * times).to_approximate(delta=at).epsilon
    assert known - 5e-7 <= total <= known + 1e-4


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("times", [2, 10, 100])
def test_points_of_a_gaussian_compose_to_nearly_a_gaussian_from_above(mu, times):
    """400 points up to 8μ: the sum is above the exact one, by less than 1e-3."""
    at = [8 * mu * i / 400 for i in range(400)]
    whole = PrivacyProfile(tuple((epsilon, GaussianDP(mu).delta(epsilon=epsilon)) for epsilon in at)) * times
    exactly = GaussianDP(mu) * times
    for delta in (1e-2, 1e-5):
        epsilon = exactly.to_approximate(delta=delta).epsilon
        assert epsilon <= whole.to_approximate(delta=delta).epsilon <= epsilon * (1 + 1e-3)


@pytest.mark.parametrize(("epsilon", "times"), [(1e-3, 10**6), (1e-4, 10**9)])
def test_a_great_many_small_losses_are_nearly_gaussian(epsilon, times):
    """The central limit: randomized response, so often, has the loss of a Gaussian with μ = ε√k."""
    limit = GaussianDP(epsilon * math.sqrt(times)).to_approximate(delta=1e-5).epsilon
    total = (PrivacyProfile(((epsilon, 0.0),)) * times).to_approximate(delta=1e-5).epsilon
    assert limit * (1 - 1e-5) <= total <= limit * (1 + 1e-3)


def test_small_losses_are_not_lost_among_large_ones():
    """A million tiny ones next to a large one: each is added on a lattice of its own size."""
    many = PrivacyProfile(((1e-6, 0.0),)) * 10**6
    whole = PrivacyProfile.compose([PrivacyProfile(((8.0, 0.0),)), *[PrivacyProfile(((1e-6, 0.0),))] * 10**5])
    assert many.to_approximate(delta=1e-5).epsilon < 0.0052
    assert whole.to_approximate(delta=1e-5).epsilon < 8.01


def test_the_mass_at_infinity_is_kept_apart_and_exact():
    whole = PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))) + PrivacyProfile(((0.5, 1e-9),)) * 3
    infinite = 1 - (1 - exact(1e-6)) * (1 - exact(1e-9)) ** 3
    assert infinite <= exact(whole.infinite_mass()) <= infinite * (1 + exact(1e-15))
    assert whole.points[-1] == (3.5, whole.infinite_mass())
    assert (PrivacyProfile(((1.0, 0.0),)) * 1000).infinite_mass() == 0.0


def test_exposure_alone_adds_up():
    promise = PrivacyProfile(((0.0, 0.1),)) * 3
    assert promise == PrivacyProfile(((0.0, promise.infinite_mass()),))
    assert 0.271 <= promise.infinite_mass() < 0.271 + 1e-15


def test_a_thousand_points_compose():
    chosen = tuple((i / 250, GaussianDP(0.5).delta(epsilon=i / 250)) for i in range(1000))
    whole = PrivacyProfile(chosen) * 2
    exactly = (GaussianDP(0.5) * 2).to_approximate(delta=1e-4).epsilon
    assert exactly <= whole.to_approximate(delta=1e-4).epsilon <= exactly * (1 + 1e-3)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("times", [3, 10**9])
@pytest.mark.parametrize("delta", [0.0, 5e-324, 1e-6, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-300, 1e-12, 50.0, 1e4, 1e19, 1e290])
def test_extreme_sums_are_handled(epsilon, delta, times):
    promise = PrivacyProfile(((epsilon, delta),))
    whole = promise * times
    assert promise.covers(whole)
    assert exact(whole.points[-1][0]) <= exact(epsilon) * times
    assert whole.infinite_mass() >= min(1.0, delta)


def test_a_sum_beyond_all_floats_is_refused():
    with pytest.raises(ValueError, match=r"below 1\.8e308"):
        PrivacyProfile(((1e300, 1e-6),)) * 10**9


# Groups


@given(points, st.integers(1, 5))
def test_a_group_gets_the_formula_at_each_point(chosen, size):
    group = PrivacyProfile(tuple(chosen)).for_group(size)
    assert all(group.covers(ApproximateDP(*point).for_group(size)) for point in chosen)
    best = [ApproximateDP(*point).for_group(size) for point in chosen]
    assert all(ApproximateDP(*point) in best for point in group.points)


def test_flavors_do_not_mix():
    with pytest.raises(IncompatiblePromises, match="of the flavor PrivacyProfile"):
        PrivacyProfile(((1.0, 1e-6),)) + ApproximateDP(1.0, 1e-6)  # type: ignore[operator]


def test_an_epsilon_between_two_floats():
    """A sum's ε is rounded up from the lattice, never down: thirds have no float."""
    whole = PrivacyProfile(((Fraction(1, 3), 0.0),)) * 3  # type: ignore[arg-type]
    assert exact(whole.points[-1][0]) >= 1
