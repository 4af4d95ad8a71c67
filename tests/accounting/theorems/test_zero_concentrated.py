from __future__ import annotations

import math
import re

import pytest

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import YES, Adaptive
from sitr.accounting.theorems.zero_concentrated import ZERO_CONCENTRATED, zero_concentrated
from sitr.accounting.views import Inapplicable
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP


def test_lines_add_whatever_they_came_from():
    schedule = Schedule(
        (Part((ZeroConcentratedDP(0.1, xi=0.05),), times=3), Part((GaussianDP(0.5),)), Part((PureDP(0.2),), times=2))
    )
    whole = ZeroConcentratedDP(0.3 + 0.125 + 0.04, xi=0.15)
    assert zero_concentrated(schedule, 1e-6).upper == whole.to_approximate(delta=1e-6).epsilon


def test_it_needs_moments_and_delta():
    with pytest.raises(Inapplicable, match="nor any moment"):
        zero_concentrated(Schedule((Part((ApproximateDP(0.1, 1e-9),)),)), 1e-6)
    with pytest.raises(Inapplicable, match="δ above 0"):
        zero_concentrated(Schedule((Part((PureDP(0.1),)),)), 0.0)


def test_without_xi_it_may_be_used_to_decide_when_to_stop():
    schedule = Schedule((Part((ZeroConcentratedDP(0.1),), times=3), Part((GaussianDP(0.5),)), Part((PureDP(0.2),))))
    assert ZERO_CONCENTRATED.adaptive(schedule, 1e-6) == YES


def test_with_xi_only_at_the_order_of_its_total():
    """One step with ξ is enough: the order is then the best for a budget that nobody knows yet."""
    schedule = Schedule((Part((ZeroConcentratedDP(0.1, xi=0.05),), times=3), Part((GaussianDP(0.5),))))
    adaptive = ZERO_CONCENTRATED.adaptive(schedule, 1e-6)
    assert not adaptive.valid
    named = re.fullmatch(r"if order (\S+) is fixed in advance", adaptive.condition)
    assert named
    order = float(named[1])
    epsilon = 0.15 + 0.425 * order + math.log(1 - 1 / order) - (math.log(1e-6) + math.log(order)) / (order - 1)
    assert epsilon == pytest.approx(zero_concentrated(schedule, 1e-6).upper, rel=1e-9)


def test_with_xi_alone_only_if_there_is_never_any_rho():
    adaptive = ZERO_CONCENTRATED.adaptive(Schedule((Part((ZeroConcentratedDP(0.0, xi=0.5),)),)), 1e-6)
    assert adaptive == Adaptive(False, "if ρ = 0 is fixed in advance")
