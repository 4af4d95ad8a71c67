from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.filter import Filter
from sitr.errors import BudgetExceeded, IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import exact

cents = st.integers(0, 60).map(lambda n: n / 100)  # decimals that meet the border often
odd = st.floats(0, 0.6)
sizes = st.one_of(cents, odd)
FLAVORS = {
    PureDP: st.builds(PureDP, sizes),
    ApproximateDP: st.builds(ApproximateDP, sizes, sizes),
    ZeroConcentratedDP: st.builds(ZeroConcentratedDP, sizes, xi=sizes),
}
budgets_with_prices = st.sampled_from(sorted(FLAVORS, key=str)).flatmap(
    lambda flavor: st.tuples(FLAVORS[flavor], st.lists(FLAVORS[flavor], max_size=8))
)


def parameters(promise: Promise) -> list[Fraction]:
    return [exact(getattr(promise, name)) for name in promise.__dataclass_fields__]  # type: ignore[attr-defined]


def sums(prices: list[Additive], like: Additive) -> list[Fraction]:
    zero = [Fraction(0)] * len(parameters(like))
    return [sum(column, Fraction(0)) for column in zip(zero, *map(parameters, prices), strict=True)]


# Histories


@given(budgets_with_prices)
def test_consents_exactly_while_the_sum_fits(case):
    promise, prices = case
    budget = Filter(promise)
    paid: list[Additive] = []
    for price in prices:
        whole = zip(sums([*paid, price], promise), parameters(promise), strict=True)
        fits = all(spent <= most for spent, most in whole)
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            paid.append(price)
    assert [charge for charge, _ in budget.charges] == paid


@given(budgets_with_prices)
def test_spent_and_remaining_make_the_whole(case):
    promise, prices = case
    budget = Filter(promise)
    for price in prices:
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            continue
    paid = sums([charge for charge, _ in budget.charges], promise)
    columns = zip(parameters(budget.spent()), parameters(budget.remaining()), parameters(promise), paid, strict=True)
    for spent, left, whole, true in columns:
        assert spent >= true
        assert left <= whole - true
        # Outward, each by less than one step of a float below 1.
        assert abs(spent + left - whole) <= 2 * Fraction(math.ulp(1.0))
    assert budget.spent().covers(promise)


@given(budgets_with_prices)
def test_what_remains_can_be_paid_and_not_a_digit_more(case):
    promise, prices = case
    budget = Filter(promise)
    for price in prices:
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            continue
    left = budget.remaining()
    budget.consent(left)
    for name in left.__dataclass_fields__:
        values = {field: getattr(left, field) for field in left.__dataclass_fields__}
        more = type(left)(**{**values, name: math.nextafter(values[name], math.inf)})
        with pytest.raises(BudgetExceeded):
            budget.consent(more)


def test_ten_tenths_are_one():
    budget = Filter(PureDP(1.0))
    for _ in range(10):
        budget = budget.consent(PureDP(0.1))
    assert budget.spent() == PureDP(1.0)
    assert budget.remaining() == PureDP(0.0)
    with pytest.raises(BudgetExceeded):
        budget.consent(PureDP(5e-324))


def test_a_charge_counts_as_often_as_it_was_paid():
    assert Filter(PureDP(1.0), ((PureDP(0.1), 9),)).remaining() == PureDP(0.1)
    with pytest.raises(BudgetExceeded):
        Filter(PureDP(1.0), ((PureDP(0.1), 10),)).consent(PureDP(0.01))


def test_each_parameter_has_its_own_border():
    budget = Filter(ApproximateDP(1.0, 1e-6))
    assert budget.consent(ApproximateDP(1.0, 1e-6)).remaining() == ApproximateDP(0.0, 0.0)
    with pytest.raises(BudgetExceeded):
        budget.consent(ApproximateDP(0.1, 1.1e-6))
    with pytest.raises(BudgetExceeded):
        budget.consent(ApproximateDP(1.1, 0.0))
    with pytest.raises(BudgetExceeded):
        Filter(ZeroConcentratedDP(1.0)).consent(ZeroConcentratedDP(0.1, xi=0.1))


def test_a_refusal_changes_nothing():
    budget = Filter(PureDP(1.0)).consent(PureDP(0.75))
    before = (budget.promise, budget.charges, budget.spent(), budget.remaining())
    with pytest.raises(BudgetExceeded):
        budget.consent(PureDP(0.26))
    assert (budget.promise, budget.charges, budget.spent(), budget.remaining()) == before
    assert budget.consent(PureDP(0.25)).remaining() == PureDP(0.0)


def test_consent_leaves_the_filter_before_it_as_it_was():
    budget = Filter(PureDP(1.0))
    budget.consent(PureDP(0.5))
    assert budget.charges == ()


# Prices in other flavors


@pytest.mark.parametrize(
    ("promise", "price", "charged"),
    [
        (ApproximateDP(1.0, 1e-6), PureDP(0.3), ApproximateDP(0.3, 0.0)),
        (ZeroConcentratedDP(0.5), PureDP(0.3), ZeroConcentratedDP(0.045)),
        (PureDP(1.0), PureDP(0.3), PureDP(0.3)),
    ],
)
def test_a_price_is_charged_in_the_flavor_of_the_budget(promise, price, charged):
    assert Filter(promise).charge(price) == charged
    assert Filter(promise).consent(price).charges == ((charged, 1),)


@pytest.mark.parametrize(
    ("promise", "price"),
    [
        (PureDP(9.0), ApproximateDP(0.1, 1e-9)),
        (PureDP(9.0), ZeroConcentratedDP(0.1)),
        (ZeroConcentratedDP(9.0), ApproximateDP(0.1, 1e-9)),
        (ApproximateDP(9.0, 0.5), ZeroConcentratedDP(0.1)),
    ],
)
def test_a_price_without_an_arrow_is_refused(promise, price):
    with pytest.raises(IncompatiblePromises, match=type(promise).__name__):
        Filter(promise).consent(price)


def test_the_pure_price_meets_the_border_of_a_concentrated_budget_exactly():
    assert Filter(ZeroConcentratedDP(0.5)).consent(PureDP(1.0)).remaining() == ZeroConcentratedDP(0.0)
    with pytest.raises(BudgetExceeded):
        Filter(ZeroConcentratedDP(0.5)).consent(PureDP(1.0000000000000002))


# What a refusal says


@pytest.mark.parametrize(
    ("promise", "first", "second"),
    [
        (PureDP(1.0), PureDP(0.75), PureDP(0.5)),
        (ApproximateDP(1.0, 1e-6), ApproximateDP(0.5, 5e-7), ApproximateDP(0.25, 1e-6)),
        (ZeroConcentratedDP(0.5), ZeroConcentratedDP(0.2), ZeroConcentratedDP(0.31)),
    ],
)
def test_a_refusal_says_what_is_left_and_what_was_asked(promise, first, second):
    budget = Filter(promise).consent(first)
    with pytest.raises(BudgetExceeded) as refusal:
        budget.consent(second)
    assert write(budget.remaining()) in refusal.value.wanted
    assert write(promise) in refusal.value.wanted
    assert write(second) in refusal.value.given
    assert "nothing was spent and no data were read" in refusal.value.do


def test_a_refusal_names_the_price_as_it_would_have_been_charged():
    with pytest.raises(BudgetExceeded) as refusal:
        Filter(ZeroConcentratedDP(0.1)).consent(PureDP(1.0))
    assert "zcdp(rho=0.5)" in refusal.value.given
