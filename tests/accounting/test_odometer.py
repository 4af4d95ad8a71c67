from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.filter import Filter
from sitr.accounting.odometer import Odometer
from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

ZEROS = [
    PureDP(0.0),
    ApproximateDP(0.0, 0.0),
    ZeroConcentratedDP(0.0),
    GaussianDP(0.0),
    RenyiDP.at({2.0: 0.0, 8.0: 0.0}),
]
LARGE = [
    PureDP(1e6),
    ApproximateDP(1e6, 1.0),
    ZeroConcentratedDP(1e6),
    GaussianDP(1e6),
    RenyiDP.at({2.0: 1e6, 8.0: 1e6}),
]


@given(st.integers(0, 4), st.lists(st.floats(0, 3), max_size=6))
def test_it_tells_what_a_filter_without_an_end_would_have_charged(flavor, sizes):
    odometer, budget = Odometer(ZEROS[flavor]), Filter(LARGE[flavor])
    for size in sizes:
        odometer, budget = odometer.record(PureDP(size)), budget.consent(PureDP(size))
    assert odometer.total() == budget.spent()


def test_it_never_refuses():
    odometer = Odometer(ApproximateDP(0.0, 0.0))
    for _ in range(5):
        odometer = odometer.record(ApproximateDP(1e9, 0.5))
    assert odometer.total() == ApproximateDP(5e9, 1.0)


def test_it_may_start_anywhere_and_keeps_the_past():
    before = Odometer(PureDP(1.0))
    assert before.record(PureDP(0.1)).total() == PureDP(1.1)
    assert before.total() == PureDP(1.0)


@pytest.mark.parametrize("start", [ConcentratedDP(0.0, 0.0), RandomDP(PureDP(0.0), 0.0), PureDP(1.0).to_renyi()])
def test_flavors_without_valid_sums_are_refused(start):
    with pytest.raises(IncompatiblePromises):
        Odometer(start)


def test_a_price_without_an_arrow_is_refused():
    with pytest.raises(IncompatiblePromises):
        Odometer(GaussianDP(0.0)).record(ApproximateDP(0.1, 1e-9))


@pytest.mark.parametrize(
    ("start", "paid"),
    [
        (PureDP(1.0), (Fraction(1, 2),)),
        (PureDP(0.0), (Fraction(1), Fraction(1))),
        (ApproximateDP(0.0, 0.1), (Fraction(1), Fraction(0))),
    ],
)
def test_a_sum_below_the_start_is_refused(start, paid):
    with pytest.raises(IncompatiblePromises, match="use record"):
        Odometer(start, paid)


def test_the_sum_is_exact_and_never_limited():
    odometer = Odometer(PureDP(0.0))
    for _ in range(1000):
        odometer = odometer.record(PureDP(0.1))
    assert odometer.paid == (Fraction(100),)
    assert odometer == Odometer(PureDP(0.0), (Fraction(100),))
