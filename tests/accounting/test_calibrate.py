"""Calibration: what is found keeps the target, a thousandth further does not, and what cannot be is explained."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.accounting import calibrate as module
from sitr.accounting.calibrate import calibrate
from sitr.accounting.distance import distance
from sitr.accounting.training import Training
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.loss import Loss
from sitr.loss.sampling import sampled
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.subsampled import Subsampled
from sitr.mechanisms.threshold import Threshold
from sitr.numbers import Interval

TARGET = ApproximateDP(1.0, 1e-5)


def noise(sigma: float) -> Loss:
    return Loss.of(GaussianLaw(1 / sigma))


def run(sigma: float, rate: float = 0.01, steps: int = 10_000) -> Loss:
    return sampled(noise(sigma), rate=rate) * steps


# What is found is safe, and a thousandth from it is not


def checked(build, found, *, worse):
    assert build(found).epsilon(delta=1e-5, relative=1e-4).upper <= 1.0
    assert build(found * worse).epsilon(delta=1e-5, relative=1e-4).lower > 1.0


def test_sigma_of_a_training_run():
    checked(run, calibrate(run, TARGET), worse=1 - 1.1e-3)


def test_the_rate_of_a_sample():
    def build(rate):
        return run(1.1, rate, 1000)

    checked(build, calibrate(build, TARGET), worse=1 + 1.1e-3)


def test_the_scale_of_laplace_noise():
    def build(scale):
        return Loss.of(LaplaceLaw(1 / scale)) * 100

    checked(build, calibrate(build, TARGET), worse=1 - 1.1e-3)


def test_steps_are_the_most_that_fit():
    def build(steps):
        return run(1.1, 0.01, steps)

    found = calibrate(build, TARGET, whole=True)
    assert isinstance(found, int)
    assert build(found).epsilon(delta=1e-5, relative=1e-5).upper <= 1.0
    assert build(found + 1).epsilon(delta=1e-5, relative=1e-5).lower > 1.0


def test_many_steps_within_a_thousandth():
    def build(steps):
        return run(2.0, 0.001, steps)

    found = calibrate(build, TARGET, whole=True)
    assert found > 10_000
    assert build(found).epsilon(delta=1e-5, relative=1e-4).upper <= 1.0
    assert build(round(found * 1.0011)).epsilon(delta=1e-5, relative=1e-4).lower > 1.0


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 20.0), st.sampled_from([1e-12, 1e-6, 1e-3]), st.floats(1e-3, 1e3))
def test_gaussian_noise_against_its_closed_form(epsilon, delta, start):
    """From wherever it starts, whatever is asked for."""
    sigma = calibrate(noise, ApproximateDP(epsilon, delta), start=start)
    assert GaussianDP(1 / sigma).to_approximate(delta=delta).epsilon <= epsilon * (1 + 1e-12)
    assert GaussianDP(1.0011 / sigma).to_approximate(delta=delta).epsilon > epsilon


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3000), st.floats(1.0001, 1.9))
def test_whole_numbers_against_a_closed_form(most, room):
    """Up to 1000 the best whole number, beyond it a thousandth less at most."""
    epsilon = 0.01 * (most + min(0.9, room - 1.0))
    found = calibrate(lambda times: Repeated(Laplace(scale=100), times), PureDP(epsilon), whole=True)
    assert found == most if most < 1000 else most * 0.999 <= found <= most


def test_a_whole_number_that_makes_the_loss_smaller():
    found = calibrate(lambda sigma: Gaussian(sigma=sigma), TARGET, whole=True)
    assert found == 4
    assert (
        Gaussian(sigma=4).loss().epsilon(delta=1e-5).upper <= 1.0 < Gaussian(sigma=3).loss().epsilon(delta=1e-5).lower
    )
    assert calibrate(lambda sigma: Gaussian(sigma=sigma), ApproximateDP(50.0, 1e-5), whole=True) == 1


# Targets in every flavor


def test_exact_promises_are_met_exactly():
    assert calibrate(lambda scale: Repeated(Laplace(scale=scale), 10), PureDP(0.5)) == pytest.approx(20.0, rel=1e-5)
    assert calibrate(lambda times: Repeated(Laplace(scale=10), times), PureDP(1.0), whole=True) == 10


def test_zero_concentrated_targets_by_the_mechanisms_promise():
    sigma = calibrate(lambda sigma: Repeated(Gaussian(sigma=sigma), 10), ZeroConcentratedDP(0.5))
    assert math.sqrt(10) <= sigma <= math.sqrt(10) * 1.001
    assert calibrate(lambda times: Repeated(Gaussian(sigma=10), times), ZeroConcentratedDP(0.5), whole=True) == 100


def test_orders_and_profiles():
    sigma = calibrate(noise, RenyiDP.at({2: 0.5, 8: 1.0}))  # α/(2σ²)
    assert 2.0 <= sigma <= 2.002
    points = PrivacyProfile(((1.0, 1e-5), (3.0, 1e-20)))
    each = [calibrate(noise, ApproximateDP(*point)) for point in points.points]
    assert calibrate(noise, points) == pytest.approx(max(each), rel=2e-3)


def test_a_threshold_by_its_promise():
    found = calibrate(
        lambda least: Threshold(noise=Laplace(scale=2, sensitivity=2), groups=2, least=least),
        ApproximateDP(1.0, 1e-6),
        whole=True,
        start=20,
    )
    assert found == Threshold.fitting(ApproximateDP(1.0, 1e-6), sensitivity=2, groups=2).least


def test_integer_noise_on_a_sample():
    def build(sigma):
        return Repeated(Subsampled(Gaussian(sigma=sigma), rate=0.1), 20)

    sigma = calibrate(build, TARGET)
    assert build(sigma).loss().epsilon(delta=1e-5).upper <= 1.0
    assert build(sigma * 0.995).loss().epsilon(delta=1e-5).lower > 1.0


@pytest.mark.parametrize("start", [0.123456789, 0.1234564, Fraction(1, 7)])
def test_what_is_returned_is_what_was_proved(start):
    """A start that just keeps the target has more digits than others: its neighbour with six may not keep it."""

    def build(rate):
        return Subsampled(Laplace(scale=1), rate=rate)

    target = PureDP(build(start).promise().epsilon * (1 + 1e-9))
    assert build(calibrate(build, target, start=start)).promise().covers(target)


def test_whole_numbers_beyond_the_digits_of_a_logarithm():
    def build(times):
        return Repeated(Laplace(scale=10**20), times)

    most = 10**16 + 1
    assert round(math.exp(math.log(most))) > most + 1
    target = build(most).promise()
    assert build(calibrate(build, target, start=most, whole=True)).promise().covers(target)


# Ends of the range


def test_what_is_refused_is_beyond_the_range():
    assert calibrate(lambda rate: Subsampled(Gaussian(sigma=10), rate), TARGET) == 1.0

    def capped(sigma):
        if sigma > 4.2:
            raise InvalidPromise(wanted="At most 4.2 was wanted.", given=f"{sigma} was given.", do="Choose less.")
        return noise(sigma)

    best = calibrate(noise, TARGET)
    assert 3.7 < best < 4.2
    assert calibrate(capped, TARGET) == pytest.approx(best, rel=1e-3)


def test_a_start_that_is_refused_is_told():
    with pytest.raises(InvalidPromise, match="from 0 to 1"):
        calibrate(lambda rate: Subsampled(Gaussian(sigma=10), rate), TARGET, start=2.0)


@pytest.mark.parametrize("start", [0, -1.0, math.nan, math.inf, "one", True])
def test_starts_that_are_none(start):
    with pytest.raises(InvalidPromise, match="number above 0 as the start"):
        calibrate(noise, TARGET, start=start)
    with pytest.raises(InvalidPromise, match="whole number above 0"):
        calibrate(noise, TARGET, start=1.5, whole=True)  # type: ignore[call-overload]


def test_a_part_that_does_not_depend_on_the_parameter_is_named():
    with pytest.raises(InvalidPromise, match=r"DiscreteLaplaceLaw\(scale=1.0, shift=2\) alone exceeds"):
        calibrate(lambda sigma: Composed((Laplace(scale=1, sensitivity=2), Gaussian(sigma=sigma))), TARGET)


def test_the_part_is_named_that_no_parameter_changes():
    with pytest.raises(InvalidPromise, match=r"Of its parts DiscreteLaplaceLaw\(scale=1.0, shift=1\) alone exceeds"):
        calibrate(lambda sigma: Composed((Laplace(scale=1), Gaussian(sigma=sigma))), ZeroConcentratedDP(0.1))
    threshold = Threshold(noise=Laplace(scale=2), groups=1, least=10)
    with pytest.raises(InvalidPromise, match=r"infinite with probability 0.00691"):
        calibrate(lambda scale: Composed((Laplace(scale=scale), threshold)), ApproximateDP(10.0, 1e-5))


@pytest.mark.parametrize("target", [PureDP(1.0), ApproximateDP(1.0, 0.0)])
def test_gaussian_noise_keeps_no_pure_promise(target):
    with pytest.raises(InvalidPromise, match="has no largest loss, which only a δ above 0 allows for"):
        calibrate(lambda sigma: Repeated(Subsampled(Gaussian(sigma=sigma), rate=0.1), 10), target)


def test_an_infinite_loss_is_named():
    with pytest.raises(InvalidPromise, match=r"infinite with probability 0\.0001"):
        calibrate(lambda sigma: Loss.of(response(0.1, infinite=1e-4)) + noise(sigma), TARGET)


def test_not_even_one_step():
    with pytest.raises(InvalidPromise, match="not even 1"):
        calibrate(lambda steps: noise(1.0) * steps, TARGET, whole=True)


def test_where_everything_keeps_it():
    with pytest.raises(InvalidPromise, match=r"none up to 4\.29497e\+09\. Any parameter will do"):
        calibrate(lambda scale: Subsampled(Laplace(scale=scale), rate=0), TARGET)


# Few and honest evaluations


def test_few_evaluations_and_one_or_two_fine_ones(monkeypatch):
    asked = []
    measure = distance

    def counted(made, target, *, relative):
        asked.append(relative)
        return measure(made, target, relative=relative)

    monkeypatch.setattr(module, "distance", counted)
    training = Training(60_000, 256, 60, 1.0)
    for build, epsilon in ((run, 1.0), (run, 8.0), (lambda s: Training(60_000, 256, 60, s).loss(), 3.0)):
        asked.clear()
        calibrate(build, ApproximateDP(epsilon, 1e-5))
        assert len(asked) <= 9
        assert len([relative for relative in asked if relative < module.COARSE]) <= 3
    assert training.steps == 14_063


def test_an_estimate_is_not_taken_for_a_proof(monkeypatch):
    """If intervals reach above the target wherever they are wide, only what is proved is returned."""
    measure = distance

    def wide(made, target, *, relative):
        found = measure(made, target, relative=relative)
        return Interval(found.lower - relative, found.upper + relative)

    monkeypatch.setattr(module, "distance", wide)
    sigma = calibrate(noise, TARGET)
    assert measure(noise(sigma), TARGET).upper < 0.0
    assert measure(noise(sigma * (1 - 1.1e-3)), TARGET).lower > 0.0


def test_where_intervals_stay_wide_no_time_is_lost(monkeypatch):
    """Asking for finer ones again and again would not end them; what is proved is still returned."""
    asked = []
    measure = distance

    def wide(made, target, *, relative):
        asked.append(relative)
        found = measure(made, target, relative=relative)
        return Interval(found.lower - 0.02, found.upper + 0.02)

    monkeypatch.setattr(module, "distance", wide)
    sigma = calibrate(noise, TARGET)
    assert len(asked) <= 20
    assert -0.05 < measure(noise(sigma), TARGET).upper < 0.0
