from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive, express
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import NAMES
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

PURE = PureDP(0.3)
APPROXIMATE = ApproximateDP(0.3, 1e-6)
PROFILE = PrivacyProfile(((0.3, 1e-3), (1.0, 1e-6)))
GAUSSIAN = GaussianDP(0.3)
CONCENTRATED = ConcentratedDP(0.045, 0.3)
ZERO = ZeroConcentratedDP(0.3, xi=0.1)
LEAKY = ApproximateZeroConcentratedDP(0.3, 1e-6)
RENYI = RenyiDP.at({2: 0.3})
RANDOM = RandomDP(PURE, 0.01)
SECRET = Pufferfish(0.3, Framework("whether one person is ill", "illness is contagious"))
PROMISES = [PURE, APPROXIMATE, PROFILE, GAUSSIAN, CONCENTRATED, ZERO, LEAKY, RENYI, RANDOM, SECRET]

LEADS = {
    (PURE, ApproximateDP): ApproximateDP(0.3, 0.0),
    (PURE, PrivacyProfile): PrivacyProfile(((0.3, 0.0),)),
    (PURE, GaussianDP): PURE.to_gaussian(),
    (PURE, ConcentratedDP): PURE.to_concentrated(),
    (PURE, ZeroConcentratedDP): ZeroConcentratedDP(0.045),
    (PURE, RenyiDP): PURE.to_renyi(),
    (APPROXIMATE, PrivacyProfile): PrivacyProfile(((0.3, 1e-6),)),
    (GAUSSIAN, ZeroConcentratedDP): ZeroConcentratedDP(0.045),
    (GAUSSIAN, RenyiDP): ZeroConcentratedDP(0.045).to_renyi(),
    (CONCENTRATED, ZeroConcentratedDP): ZeroConcentratedDP(0.045),
    (CONCENTRATED, RenyiDP): ZeroConcentratedDP(0.045).to_renyi(),
    (ZERO, RenyiDP): ZERO.to_renyi(),
    (PURE, ApproximateZeroConcentratedDP): ApproximateZeroConcentratedDP(0.045, 0.0),
    (APPROXIMATE, ApproximateZeroConcentratedDP): ApproximateZeroConcentratedDP(0.045, 1e-6),
    (GAUSSIAN, ApproximateZeroConcentratedDP): ApproximateZeroConcentratedDP(0.045, 0.0),
    (CONCENTRATED, ApproximateZeroConcentratedDP): ApproximateZeroConcentratedDP(0.045, 0.0),
    (ZERO, ApproximateZeroConcentratedDP): ApproximateZeroConcentratedDP(0.4, 0.0),
} | {(promise, type(promise)): promise for promise in PROMISES}
LEADS |= {(promise, ComputationalDP): ComputationalDP(promise) for promise in PROMISES}


@pytest.mark.parametrize("flavor", NAMES.values())
@pytest.mark.parametrize("promise", PROMISES)
def test_an_arrow_leads_there_or_the_error_says_why_not(promise, flavor):
    if (promise, flavor) in LEADS:
        assert express(promise, flavor) == LEADS[promise, flavor]
    else:
        with pytest.raises(IncompatiblePromises) as refusal:
            express(promise, flavor)
        assert flavor.__name__ in refusal.value.wanted
        assert repr(promise) in refusal.value.given


@pytest.mark.parametrize("promise", [PURE, PROFILE, GAUSSIAN, CONCENTRATED, ZERO, LEAKY, RENYI])
def test_with_a_delta_all_lead_to_approximate_privacy(promise):
    assert express(promise, ApproximateDP, delta=1e-4) == promise.to_approximate(delta=1e-4)


@pytest.mark.parametrize(("promise", "flavor"), LEADS)
def test_what_an_arrow_leads_to_is_covered(promise, flavor):
    assert promise.covers(LEADS[promise, flavor])


def test_the_flavors_that_simply_add_can_be_written():
    assert set(get_args(Additive)) < set(NAMES.values())


MOMENTS = [RenyiDP, ConcentratedDP, ZeroConcentratedDP]
REASONS = [
    *product(
        [APPROXIMATE, PROFILE],
        [PureDP, GaussianDP, *MOMENTS],
        ["neither the largest loss nor any moment"],
    ),
    *product([GAUSSIAN, CONCENTRATED, ZERO, RENYI], [PureDP], ["sets no largest loss"]),
    *product([GAUSSIAN, ZERO, RENYI], [ConcentratedDP], ["not closed under post-processing"]),
    *product([CONCENTRATED, ZERO, RENYI], [GaussianDP], ["every test between two neighbours"]),
    *product([RENYI], [ZeroConcentratedDP], ["nothing about the others"]),
    *product([GAUSSIAN, CONCENTRATED, ZERO, RENYI], [ApproximateDP], [r"to_approximate\(delta=…\)"]),
    *product([GAUSSIAN, CONCENTRATED, ZERO, RENYI], [PrivacyProfile], ["at each δ"]),
    *product([LEAKY], [PureDP, GaussianDP, *MOMENTS], ["infinite with probability δ"]),
    *product([LEAKY], [ApproximateDP], [r"to_approximate\(delta=…\)"]),
    *product([RANDOM], [PureDP, ApproximateDP, PrivacyProfile, GaussianDP, *MOMENTS], ["γ cannot be moved"]),
    *product([PURE, GAUSSIAN], [RandomDP], ["state it as RandomDP"]),
    *product([SECRET], [PureDP, ApproximateDP, PrivacyProfile, GaussianDP, *MOMENTS], ["only against the priors"]),
    *product([PURE, GAUSSIAN], [Pufferfish], ["neither implies the other if records depend on each other"]),
]


@pytest.mark.parametrize(("promise", "flavor", "reason"), REASONS)
def test_the_reason_names_the_obstacle_or_the_way_out(promise, flavor, reason):
    with pytest.raises(IncompatiblePromises, match=reason):
        express(promise, flavor)


LARGEST = [
    (ApproximateDP(0.3, 0.0), 0.3),
    (PrivacyProfile(((0.3, 1e-3), (1.0, 0.0))), 1.0),
    (ZeroConcentratedDP(0.0, xi=0.1), 0.1),
    (ZeroConcentratedDP(0.0, xi=0.1).to_renyi(), 0.1),
    (PURE.to_renyi(), 0.3),
    (RenyiDP.at({2: 0.0, 8: 0.5}), 0.0),
    (GaussianDP(0.0), 0.0),
    (ConcentratedDP(5.0, 0.0), 0.0),
]


@pytest.mark.parametrize(("promise", "loss"), LARGEST)
def test_a_promise_with_a_largest_loss_is_pure(promise, loss):
    assert promise.largest_loss() == loss
    if isinstance(promise, ApproximateDP | PrivacyProfile):
        with pytest.raises(IncompatiblePromises, match="PureDP if δ = 0"):  # to be stated, not to be guessed
            express(promise, PureDP)
        return
    assert express(promise, PureDP) == PureDP(loss)
    assert express(promise, ApproximateDP, delta=None) == ApproximateDP(loss, 0.0)
    for flavor in (GaussianDP, ConcentratedDP, ZeroConcentratedDP):
        if type(promise) is not flavor:
            assert PureDP(loss).covers(express(promise, flavor)) or promise.covers(express(promise, flavor))


@pytest.mark.parametrize(
    "promise",
    [
        *PROMISES[1:-1],
        ApproximateDP(0.3, 5e-324),
        PrivacyProfile(((0.3, 1e-3), (1.0, 5e-324))),
        ZeroConcentratedDP(5e-324, xi=0.1),
        RenyiDP.at({2: 5e-324}),
        GaussianDP(5e-324),
        ConcentratedDP(0.0, 5e-324),
        RandomDP(GaussianDP(0.0), 0.0),
    ],
)
def test_the_least_tail_leaves_no_largest_loss(promise):
    assert promise.largest_loss() is None
    with pytest.raises(IncompatiblePromises):
        express(promise, PureDP)


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_exceptions_stay_exceptions(delta):
    with pytest.raises(IncompatiblePromises, match="γ cannot be moved"):
        express(RANDOM, ApproximateDP, delta=delta)
