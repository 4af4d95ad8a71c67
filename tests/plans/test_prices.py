"""Prices around a price fit the budget, and the least price is enough while a little less is not."""

from __future__ import annotations

import math

import pytest

from sitr.accounting.filter import Filter
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.plans.prices import (
    CEILING,
    FLOOR,
    all_left,
    amount,
    can_pay,
    flavored,
    least_price,
    nearby,
    readable,
    with_amount,
)

LIKE = [
    PureDP(1.0),
    ZeroConcentratedDP(1.0),
    ApproximateDP(1.0, 1e-6),
    ApproximateZeroConcentratedDP(1.0, 1e-6),
]


def test_other_prices_are_cut_at_what_is_left() -> None:
    standing = Filter(PureDP(1.0)).consent(PureDP(0.5))
    assert [amount(each) for each in nearby(PureDP(0.1), standing)] == [0.025, 0.05, 0.1, 0.2, 0.4]
    assert [amount(each) for each in nearby(PureDP(0.2), standing)] == [0.05, 0.1, 0.2, 0.4, 0.5]
    assert [amount(each) for each in nearby(PureDP(0.5), standing)] == [0.125, 0.25, 0.5]
    assert all(can_pay(each, standing) for each in nearby(PureDP(0.2), standing))


def test_a_price_that_the_budget_cannot_pay_is_still_listed() -> None:
    standing = Filter(PureDP(1.0)).consent(PureDP(0.9))
    found = nearby(PureDP(0.4), standing)
    assert [amount(each) for each in found] == pytest.approx([0.1, 0.4])
    assert [can_pay(each, standing) for each in found] == [True, False]
    assert [all_left(each, standing) for each in found] == [True, False]


def test_a_price_of_another_flavor_is_not_replaced_by_what_is_left() -> None:
    standing = Filter(ZeroConcentratedDP(0.5))
    found = nearby(PureDP(0.6), standing)
    assert [amount(each) for each in found] == [0.15, 0.3, 0.6]  # 1.2 costs ρ = 0.72
    assert all(isinstance(each, PureDP) for each in found)


def test_the_delta_of_a_price_stays() -> None:
    found = nearby(ApproximateDP(1.0, 1e-7), Filter(ApproximateDP(3.0, 1e-6)))
    assert list(found) == [ApproximateDP(number, 1e-7) for number in (0.25, 0.5, 1.0, 2.0, 3.0)]


@pytest.mark.parametrize("like", LIKE, ids=repr)
@pytest.mark.parametrize("enough", [3e-7, 0.0123, 0.98, 1.0, 1.02, 77.7, 9_000.0])
@pytest.mark.parametrize("power", [0.3, 0.5, 1.0, 2.0])
def test_the_least_price_is_enough_and_one_percent_less_is_not(like, enough: float, power: float) -> None:
    def ratio(price) -> float:
        return float((enough / amount(price)) ** power)

    found = least_price(like, ratio)
    assert found is not None
    assert ratio(found) <= 1 < ratio(with_amount(found, 0.99 * amount(found)))
    rounded = readable(found, ratio)
    assert ratio(rounded) <= 1
    assert amount(found) <= amount(rounded) <= 1.011 * amount(found)
    assert float(f"{amount(rounded):.3g}") == amount(rounded)
    assert getattr(rounded, "delta", None) == getattr(like, "delta", None)


def test_errors_that_fall_in_steps_have_a_least_price_too() -> None:
    """Noise on whole numbers has whole errors."""

    def ratio(price) -> float:
        return math.ceil(10 / amount(price)) / 25

    found = least_price(PureDP(1.0), ratio)
    assert found is not None
    assert ratio(found) <= 1 < ratio(with_amount(found, 0.99 * amount(found)))


def test_where_no_price_is_enough_there_is_none_and_where_all_are_it_is_the_smallest() -> None:
    assert least_price(PureDP(1.0), lambda _: 1.5) is None
    assert least_price(PureDP(1.0), lambda _: math.inf) is None
    assert least_price(PureDP(1.0), lambda price: 0.0 if amount(price) >= CEILING else 2.0) is not None
    assert least_price(PureDP(1.0), lambda _: 0.0) == PureDP(FLOOR)


def test_a_price_has_the_flavor_of_the_budget() -> None:
    assert flavored(PureDP(3.0)) == PureDP(1.0)
    assert flavored(ApproximateDP(3.0, 1e-5)) == ApproximateDP(1.0, 1e-6)
    assert flavored(ApproximateDP(3.0, 1e-5), delta=1e-8) == ApproximateDP(1.0, 1e-8)
    assert flavored(ApproximateZeroConcentratedDP(3.0, 1e-5)) == ApproximateZeroConcentratedDP(1.0, 1e-6)
    assert flavored(RandomDP(ZeroConcentratedDP(0.3), 0.05)) == ZeroConcentratedDP(1.0)
    with pytest.raises(QuestionError, match="has no δ"):
        flavored(ZeroConcentratedDP(0.3), delta=1e-6)
