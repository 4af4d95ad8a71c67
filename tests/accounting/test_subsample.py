from __future__ import annotations

import math

import pytest

from sitr.accounting.curves import SampledGaussian
from sitr.accounting.subsample import subsampled
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


def test_a_sampled_response_attains_the_pure_arrow():
    """With the person: yes with odds e^ε; without: no with the same odds. The largest loss of the mixture is exact."""
    epsilon, rate = 1.0, 0.2
    p = 1 / (1 + math.exp(-epsilon))
    with_one = (1 - rate) * (1 - p) + rate * p
    (promise,) = subsampled((PureDP(epsilon),), rate=rate)
    assert isinstance(promise, PureDP)
    assert promise.epsilon == pytest.approx(math.log(with_one / (1 - p)), rel=1e-12)


def test_points_get_smaller_one_by_one():
    points = ((1.0, 1e-3), (2.0, 1e-6))
    (profile,) = subsampled((PrivacyProfile(points),), rate=0.1)
    assert isinstance(profile, PrivacyProfile)
    assert [delta for _, delta in profile.points] == [1e-4, 1e-7]
    singles = [subsampled((ApproximateDP(*point),), rate=0.1) for point in points]
    assert singles == [(ApproximateDP(*point),) for point in profile.points]


def test_gaussian_noise_becomes_the_sampled_gaussian():
    assert subsampled((GaussianDP(0.5),), rate=0.1) == (RenyiDP(SampledGaussian(0.1, 0.5)),)


def test_promises_without_an_arrow_are_left_out():
    moments = (ConcentratedDP(0.1, 0.1), ZeroConcentratedDP(0.1), RenyiDP.at({2.0: 0.1}))
    assert subsampled(moments, rate=0.1) == ()
    assert len(subsampled((*moments, PureDP(1.0)), rate=0.1)) == 1


@pytest.mark.parametrize("promise", [PureDP(1.0), ApproximateDP(1.0, 1e-6)])
def test_at_the_ends_of_the_rate(promise):
    assert subsampled((promise,), rate=1.0) == (promise,)
    (nothing,) = subsampled((promise,), rate=0.0)
    assert nothing == type(promise)(*(0.0 for _ in promise.__dataclass_fields__))
