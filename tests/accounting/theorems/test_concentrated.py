from __future__ import annotations

import math

import pytest

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.concentrated import CONCENTRATED, concentrated
from sitr.accounting.theorems.theorem import NO
from sitr.accounting.views import Inapplicable
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


def test_means_and_squared_spreads_add():
    schedule = Schedule((Part((ConcentratedDP(0.02, 0.3),), times=2), Part((ConcentratedDP(0.01, 0.4),))))
    whole = ConcentratedDP(0.05, math.sqrt(2 * 0.09 + 0.16))
    assert concentrated(schedule, 1e-6).upper == pytest.approx(whole.to_approximate(delta=1e-6).epsilon, rel=1e-12)


def test_never_above_the_tail_of_a_subgaussian():
    schedule = Schedule((Part((PureDP(0.1),), times=100),))
    mean, spread = 100 * 0.1 * math.tanh(0.05), math.sqrt(100 * 0.01)
    assert concentrated(schedule, 1e-6).upper <= mean + spread * math.sqrt(2 * math.log(1e6))


def test_it_needs_mean_spread_and_delta():
    with pytest.raises(Inapplicable, match="not closed under post-processing"):
        concentrated(Schedule((Part((ZeroConcentratedDP(0.1),)),)), 1e-6)
    with pytest.raises(Inapplicable, match="δ above 0"):
        concentrated(Schedule((Part((PureDP(0.1),)),)), 0.0)


def test_it_is_no_stopping_rule():
    assert CONCENTRATED.adaptive(Schedule((Part((PureDP(0.1),)),)), 1e-6) == NO
