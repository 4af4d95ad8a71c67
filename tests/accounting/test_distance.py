"""The distance from a promise: the same by the loss and by closed forms, on the right side, in every flavor."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sitr.accounting.distance import distance, standing_out
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.meaning import BROKEN, KEPT
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.threshold import Threshold
from sitr.numbers import Interval, exact
from tests.oracles.losses import loss_of

NOISE = Loss.of(GaussianLaw(1.0))
EPSILON = GaussianDP(1.0).to_approximate(delta=1e-6).epsilon


@pytest.mark.parametrize("factor", [0.5, 0.999, 1.001, 2.0])
def test_epsilon_in_units_of_the_target(factor):
    found = distance(NOISE, ApproximateDP(EPSILON * factor, 1e-6))
    assert found.lower <= -math.log(factor) <= found.upper
    assert (found.upper < 0.0) == (factor > 1)


def test_delta_decides_where_epsilon_is_0():
    delta = GaussianDP(1.0).delta(epsilon=0.0)
    assert distance(NOISE, ApproximateDP(0.0, delta * 1.01)).upper < 0.0
    assert distance(NOISE, ApproximateDP(0.0, delta * 0.99)).lower > 0.0
    assert distance(NOISE, ApproximateDP(1.0, 1.0)) == KEPT


def test_all_points_of_a_profile_count():
    points = [GaussianDP(1.0).to_approximate(delta=delta).epsilon for delta in (1e-3, 1e-6)]
    kept = PrivacyProfile(((points[0] * 1.01, 1e-3), (points[1] * 1.01, 1e-6)))
    assert distance(NOISE, kept).upper < 0.0
    for broken in (
        ((points[0] * 0.99, 1e-3), (points[1] * 1.01, 1e-6)),
        ((points[0] * 1.01, 1e-3), (points[1] * 0.99, 1e-6)),
    ):
        assert distance(NOISE, PrivacyProfile(broken)).lower > 0.0


def test_the_largest_loss():
    assert distance(Loss.of(LaplaceLaw(1.0)), PureDP(2.0)).upper == pytest.approx(-math.log(2))
    assert distance(Loss.of(LaplaceLaw(1.0)), ApproximateDP(0.5, 0.0)).lower == pytest.approx(math.log(2))
    assert distance(NOISE, PureDP(100.0)).lower == math.inf
    assert distance(Loss(()), PureDP(0.0)).upper == -math.inf


def test_exact_sums_are_kept_to_the_last_digit():
    """0.1 ten times is 1, though the loss is only known to be at most 1 + 10⁻¹⁵."""
    assert distance(Repeated(Laplace(scale=10), 10), PureDP(1.0)).upper < 0.0
    assert distance(Repeated(Laplace(scale=10), 11), PureDP(1.0)).lower > 0.0
    assert distance(loss_of(Repeated(Laplace(scale=10), 10)), PureDP(1.0)).upper >= 0.0


def test_orders_of_a_table():
    assert distance(NOISE, RenyiDP.at({2: 1.01, 8: 4.04})).upper < 0.0  # α/2 at order α
    assert distance(NOISE, RenyiDP.at({2: 1.01, 8: 3.96})).lower > 0.0


def test_a_mechanism_is_compared_by_its_loss():
    mechanism = Gaussian(sigma=4, sensitivity=2)
    assert distance(mechanism, ZeroConcentratedDP(0.126)).upper < 0.0
    assert distance(mechanism, ZeroConcentratedDP(0.124)).lower > 0.0
    assert distance(mechanism, ZeroConcentratedDP(0.125)).upper < 0.0  # to the last digit, by its own promise


@pytest.mark.parametrize("size", [2.0, 0.5])
def test_a_loss_is_compared_with_every_flavor(size):
    half: list[Promise] = [ZeroConcentratedDP(0.5 * size), GaussianDP(size), ConcentratedDP(0.5 * size, size)]
    for target in half:
        found = distance(NOISE, target)
        assert found.lower <= -math.log(size) <= found.upper
        assert found.width < 1e-2


def test_a_loss_that_is_a_bound_decides_with_the_promise():
    threshold = Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=30)
    assert distance(threshold, ApproximateDP(1.0, 1e-6)).upper < 0.0
    assert distance(threshold, threshold.promise()).upper < 0.0  # equal: the promise covers it, floats do not
    assert distance(threshold, ApproximateDP(1.0, 1e-7)) == BROKEN
    assert "infinite with probability 6.28e-07" in standing_out(threshold, ApproximateDP(1.0, 1e-7))


def test_without_a_loss_the_promise_decides():
    noise = SparseHistogram(3, 50, Laplace(scale=4, sensitivity=2))
    assert distance(noise, PureDP(1.0)) == BROKEN


def test_the_part_that_forbids_a_target_is_named():
    target = ApproximateDP(1.0, 1e-6)
    mixed = Loss.of(LaplaceLaw(2.0)) + Loss.of(GaussianLaw(0.01))
    assert "LaplaceLaw(epsilon=2.0) alone" in standing_out(mixed, target)
    assert "GaussianLaw" not in standing_out(mixed, target)
    assert "infinite with probability 0.001" in standing_out(Loss.of(response(0.1, infinite=1e-3)), target)
    assert standing_out(Loss.of(LaplaceLaw(0.9)) + Loss.of(GaussianLaw(0.01)), target) == ""


def test_several_parts_and_single_ones():
    target = PureDP(0.3)
    both = standing_out(Loss.of(LaplaceLaw(2.0), 3) + Loss.of(LaplaceLaw(1.0)), target)
    assert "LaplaceLaw(epsilon=2.0), 3 times, and LaplaceLaw(epsilon=1.0) each exceed the target" in both
    assert "LaplaceLaw(epsilon=2.0) alone exceeds" in standing_out(Loss.of(LaplaceLaw(2.0)), target)


@pytest.mark.parametrize(
    "target", [PureDP(1.0), ApproximateDP(1.0, 0.0), PrivacyProfile(((0.5, 1e-3), (1.0, 0.0)))], ids=str
)
def test_a_loss_without_an_end_is_named(target):
    text = standing_out(Loss.of(LaplaceLaw(0.5)) + NOISE, target)
    assert text == "GaussianLaw(mu=1.0) alone has no largest loss, which only a δ above 0 allows for."


def test_the_promise_that_is_too_weak_is_named():
    mixed = Composed((Laplace(scale=1), Gaussian(sigma=100)))
    named = standing_out(mixed, ZeroConcentratedDP(0.1))
    assert named == "Of its parts DiscreteLaplaceLaw(scale=1.0, shift=1) alone exceeds the target."
    assert standing_out(Gaussian(sigma=1), GaussianDP(9.0)) == ""


def test_a_promise_decides_where_a_loss_has_no_bound(monkeypatch):
    monkeypatch.setattr(Loss, "epsilon", lambda *_, **__: Interval(0.0, math.inf))
    mechanism = Gaussian(sigma=10)
    kept = mechanism.promise().to_approximate(delta=1e-6).epsilon * 1.01
    assert distance(mechanism, ApproximateDP(kept, 1e-6)) == KEPT
    assert distance(mechanism, ApproximateDP(kept * 0.9, 1e-6)).upper == math.inf
    assert distance(mechanism.loss(), ApproximateDP(kept, 1e-6)).upper == math.inf


def test_an_order_is_not_below_the_decimal_that_is_meant(monkeypatch):
    """1.2 as a float is below 6/5, and the divergence of the float below that of the decimal."""
    asked = []
    measure = Loss.renyi

    def counted(loss, *, order, relative):
        asked.append(order)
        return measure(loss, order=order, relative=relative)

    monkeypatch.setattr(Loss, "renyi", counted)
    distance(NOISE, RenyiDP.at({1.2: 1.0}))
    assert [Fraction(order) >= exact(1.2) for order in asked] == [True]


def test_a_target_is_a_promise():
    with pytest.raises(InvalidPromise, match=r"Expected a promise as the target, got 1.0"):
        distance(Laplace(scale=10), 1.0)  # type: ignore[arg-type]


def test_a_random_target_is_about_other_neighbours() -> None:
    with pytest.raises(IncompatiblePromises, match="for every pair of neighbours"):
        distance(Laplace(scale=10), RandomDP(PureDP(0.2), 0.1))
