"""Numbers that passed a threshold: their intervals hold as often as they say, given that they passed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx

from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.threshold import Threshold
from sitr.numbers import ball

THRESHOLDS = [
    Threshold(Laplace(scale=2, sensitivity=2), groups=2, least=30),
    Threshold(Laplace(scale=Fraction(1, 3)), groups=1, least=6),
    GaussianThreshold(Gaussian(sigma=4, sensitivity=2), groups=4, least=25),
    GaussianThreshold(RoundedGaussian(sigma=3, sensitivity=1), groups=1, least=18),
]
CONFIDENCES = [Fraction(1, 2), Fraction(95, 100)]


def survival(threshold, y):
    return threshold._tail(y) if y >= 1 else 1 - threshold._tail(1 - y)


def coverage(threshold, n, ends, *, far):
    """P(the interval of N holds n | N ≥ T), summed over all N up to `far`; the rest counts as a miss."""
    with ctx.workprec(256):
        held = arb(0)
        for number in range(threshold.least, far):
            low, high = ends[number]
            if low <= n <= high:
                held += survival(threshold, number - n) - survival(threshold, number + 1 - n)
        return held / survival(threshold, threshold.least - n)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_intervals_hold_given_that_a_number_passed(threshold, confidence):
    """Exactly, for exact numbers on both sides of the threshold."""
    far = threshold.least + 120
    numbers = range(threshold.least, far)
    ends = {number: threshold.ends(number, confidence=confidence) for number in numbers}
    width = threshold.noise.width(confidence=confidence)
    usual = {number: (number - width, number + width) for number in numbers}
    worst = arb(1)
    for n in range(1, threshold.least + 30):
        assert coverage(threshold, n, ends, far=far) >= ball(confidence) - ball(1e-9)
        worst = min(worst, coverage(threshold, n, usual, far=far))
    assert worst < ball(confidence) / 2  # the usual interval is a broken twin


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_far_above_the_threshold_nothing_changes(threshold):
    low, high = threshold.ends(threshold.least + 10_000)
    width = threshold.noise.width(confidence=0.95)
    assert (threshold.least + 10_000 - low, high - threshold.least - 10_000) == (width, width)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_ends_grow_with_the_number(threshold):
    found = [threshold.ends(number) for number in range(threshold.least, threshold.least + 60)]
    assert found == sorted(found)
    assert found[0][0] == 1  # whoever just passed may have had luck
    assert all(low <= high for low, high in found)


@pytest.mark.parametrize("scale", [50, 1000])
def test_intervals_of_wide_noise_hold_what_is_shown(scale):
    """Whatever n ≤ T is, N − T has the same law, so that a number near T says nothing about n."""
    threshold = Threshold(Laplace(scale=scale), groups=1, least=14 * scale)
    for number in (threshold.least, threshold.least + 1, threshold.least + scale):
        low, high = threshold.ends(number)
        assert low == 1
        assert number <= high < number + 4 * scale


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_confidence_near_one_has_an_interval_too(threshold):
    number, rest = threshold.least + 500, Fraction(1, 10**30)
    low, high = threshold.ends(number, confidence=1 - rest)
    width = threshold.noise.width(confidence=1 - rest)
    assert (number - low, high - number) == (width, width)
