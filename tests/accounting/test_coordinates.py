from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.coordinates import at_most, charged, total
from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact

PROMISES = [
    PureDP(0.3),
    ApproximateDP(0.3, 1e-6),
    ZeroConcentratedDP(0.3, xi=0.1),
    GaussianDP(0.3),
    RenyiDP.at({2.0: 0.3, 8.0: 1.7}),
    RandomDP(ApproximateDP(0.3, 1e-6), 0.05),
    RandomDP(GaussianDP(0.3), 0.05, Basis.ASYMPTOTIC),
]


@pytest.mark.parametrize("promise", PROMISES)
def test_coordinates_determine_the_promise(promise):
    assert promise.with_coordinates(promise.coordinates(), up=True) == promise
    assert at_most(promise.coordinates(), like=promise) == promise


@pytest.mark.parametrize("promise", PROMISES)
def test_sums_of_coordinates_are_the_composition(promise):
    """Two ways to the same total: exact sums here, `compose` and `*` in the flavor."""
    start = tuple(Fraction(0) for _ in promise.coordinates())
    whole = promise.with_coordinates(total([(promise, 2), (promise, 1)], start=start), up=True)
    assert whole == type(promise).compose([promise] * 3)
    assert whole == promise * 3


@given(st.floats(0, 1e10))
def test_a_root_is_rounded_to_the_nearest_floats_around_it(square):
    (value,) = PureDP(square).coordinates()
    low, high = at_most((value,), like=GaussianDP(0.0)), GaussianDP(0.0).with_coordinates((value,), up=True)
    assert isinstance(low, GaussianDP)
    assert isinstance(high, GaussianDP)
    assert exact(low.mu) ** 2 <= value <= exact(high.mu) ** 2
    assert exact(math.nextafter(low.mu, math.inf)) ** 2 > value


def test_a_total_delta_is_at_most_one():
    assert ApproximateDP(0.0, 0.0).with_coordinates((Fraction(3), Fraction(2)), up=True) == ApproximateDP(3.0, 1.0)


def test_nothing_is_left_below_nothing():
    assert at_most((Fraction(-1),), like=PureDP(0.0)) == PureDP(0.0)
    assert at_most((Fraction(-1),), like=GaussianDP(0.0)) == GaussianDP(0.0)


def test_what_is_not_random_has_no_gamma_to_add():
    start = tuple(Fraction(0) for _ in range(3))
    parts: list[tuple[Promise, int]] = [
        (RandomDP(ApproximateDP(0.3, 1e-6), 0.05), 1),
        (ApproximateDP(0.1, 0.0), 2),
    ]
    assert total(parts, start=start) == (Fraction(1, 2), Fraction(1, 10**6), Fraction(1, 20))


@pytest.mark.parametrize("budget", [PureDP(1.0), ZeroConcentratedDP(0.5), RandomDP(ZeroConcentratedDP(0.5), 0.05)])
def test_an_approximate_price_in_another_budget_is_refused_by_flavor(budget: Promise) -> None:
    """A plan may have dropped the δ that was asked for, so the message must not quote the price of the plan."""
    with pytest.raises(IncompatiblePromises, match="an approximate one") as refused:
        charged(ApproximateDP(0.1, 0.0), like=budget)
    assert "delta" not in str(refused.value)


# Which prices a budget pays, flavor by flavor

BUDGETS = {
    "pure": PureDP(5.0),
    "approximate": ApproximateDP(5.0, 1e-5),
    "zcdp": ZeroConcentratedDP(5.0),
    "zcdp with δ": ApproximateZeroConcentratedDP(5.0, 1e-5),
    "gaussian": GaussianDP(5.0),
    "renyi": RenyiDP.at({2: 5.0, 8: 20.0}),
    "random": RandomDP(ZeroConcentratedDP(5.0), 0.05),
}
PRICES: dict[str, Promise] = {
    "pure": PureDP(0.5),
    "approximate": ApproximateDP(0.5, 1e-6),
    "zcdp": ZeroConcentratedDP(0.1),
    "zcdp with δ": ApproximateZeroConcentratedDP(0.1, 1e-6),
    "gaussian": GaussianDP(0.3),
    "concentrated": ConcentratedDP(0.1, 0.4),
    "renyi": RenyiDP.at({2: 0.1}),
    "profile": PrivacyProfile(((0.5, 1e-6), (1.0, 1e-9))),
}
PAID = {
    "pure": {"pure"},
    "approximate": {"pure", "approximate"},
    "zcdp": {"pure", "zcdp", "gaussian", "concentrated"},
    "zcdp with δ": {"pure", "approximate", "zcdp", "zcdp with δ", "gaussian", "concentrated"},
    "gaussian": {"pure", "gaussian"},
    "renyi": {"pure", "zcdp", "gaussian", "concentrated"},
    "random": {"pure", "zcdp", "gaussian", "concentrated"},
}


def smaller(promise: Promise) -> Promise:
    """A charge with nine tenths of every coordinate."""
    return promise.with_coordinates([value * Fraction(9, 10) for value in promise.coordinates()], up=False)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("price", PRICES)
def test_every_price_is_charged_by_a_proved_arrow_or_refused_in_words(budget, price):
    promise, paid = BUDGETS[budget], PRICES[price]
    if price not in PAID[budget]:
        with pytest.raises(IncompatiblePromises) as refused:
            charged(paid, like=promise)
        assert refused.value.do
        return
    found = charged(paid, like=promise)
    assert paid.covers(found)  # so whoever keeps the price keeps the charge
    if (budget, price) not in {("approximate", "pure"), ("renyi", "pure"), ("renyi", "concentrated")}:
        assert not paid.covers(smaller(found))  # and nothing less would do


def test_a_price_with_an_epsilon_at_every_delta_says_which_one_it_has_in_the_budget():
    for paid in (ZeroConcentratedDP(0.1), GaussianDP(0.3), ConcentratedDP(0.1, 0.4)):
        with pytest.raises(IncompatiblePromises) as refused:
            charged(paid, like=ApproximateDP(5.0, 1e-5))
        offered = parse(refused.value.do.split(": ")[1].split(" follows")[0])
        assert isinstance(offered, ApproximateDP)
        assert offered.delta == 1e-6
        assert paid.covers(offered)
        assert not paid.covers(ApproximateDP(offered.epsilon * 0.999, offered.delta))
