"""Real processes: the total, a drop-out that is left out, and nothing opened where too many drop out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.audit.parties import add_up
from sitr.errors import InvalidParameter
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.pure import PureDP
from sitr.mechanisms.distributed import DistributedNoise, Shares
from sitr.mechanisms.secret_shares import SecretSharing

QUIET = DistributedNoise(Shares.LAPLACE, size=Fraction(1, 1000), parties=3, dropouts=1)
"""Noise that is 0 but once in e^1000."""
SHARING = SecretSharing(aggregators=2, bits=40)


def test_the_total_of_those_who_deliver():
    opened = add_up([20, 7, 1000], QUIET, SHARING, dropped=[2])
    assert (opened.total, opened.delivered) == (27, (0, 1))
    assert [set(seen) for seen in opened.seen] == [{0, 1, 2}, {0, 1}]
    assert opened.promise == ComputationalDP(PureDP(1000.0))
    for seen, published in zip(opened.seen, opened.sums, strict=True):
        assert published == SHARING.added(seen[party] for party in opened.delivered)
    # Shares of 40 bits are small once in a billion.
    assert all(share > 1000 for seen in opened.seen for share in seen.values())


def test_nothing_is_opened_if_too_many_drop_out():
    with pytest.raises(InvalidParameter, match="nothing was opened"):
        add_up([20, 7, 1000], QUIET, SHARING, dropped=[1, 2])


def test_each_party_has_one_number():
    with pytest.raises(InvalidParameter, match="one for each party"):
        add_up([20, 7], QUIET, SHARING)
