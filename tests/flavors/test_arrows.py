from __future__ import annotations

from typing import get_args

import pytest

from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive, express
from sitr.flavors.notation import NAMES
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

PURE, APPROXIMATE, ZERO = PureDP(0.3), ApproximateDP(0.3, 1e-6), ZeroConcentratedDP(0.3, xi=0.1)

LEADS = {
    (PURE, PureDP): PURE,
    (PURE, ApproximateDP): ApproximateDP(0.3, 0.0),
    (PURE, ZeroConcentratedDP): ZeroConcentratedDP(0.045),
    (APPROXIMATE, ApproximateDP): APPROXIMATE,
    (ZERO, ZeroConcentratedDP): ZERO,
}


@pytest.mark.parametrize("flavor", get_args(Additive))
@pytest.mark.parametrize("promise", [PURE, APPROXIMATE, ZERO])
def test_an_arrow_leads_there_or_the_error_says_why_not(promise, flavor):
    if (promise, flavor) in LEADS:
        assert express(promise, flavor) == LEADS[promise, flavor]
    else:
        with pytest.raises(IncompatiblePromises) as refusal:
            express(promise, flavor)
        assert flavor.__name__ in refusal.value.wanted
        assert repr(promise) in refusal.value.given


def test_every_flavor_that_can_be_written_adds():
    assert set(get_args(Additive)) == set(NAMES.values())


def test_the_reason_names_the_way_out():
    with pytest.raises(IncompatiblePromises, match=r"to_approximate\(delta=…\)"):
        express(ZERO, ApproximateDP)
    with pytest.raises(IncompatiblePromises, match="neither the largest loss nor any moment"):
        express(APPROXIMATE, ZeroConcentratedDP)
    with pytest.raises(IncompatiblePromises, match="State it as PureDP"):
        express(ZERO, PureDP)
