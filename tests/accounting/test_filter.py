from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.coordinates import total
from sitr.accounting.filter import Filter, replay
from sitr.errors import BudgetExceeded, IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import exact, upward

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


def sums(prices: Sequence[Promise], like: Promise) -> list[Fraction]:
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
    assert (budget.charges, list(budget.paid)) == (len(paid), sums(paid, promise))


@given(budgets_with_prices)
def test_spent_and_remaining_make_the_whole(case):
    promise, prices = case
    budget = Filter(promise)
    consented: list[Additive] = []
    for price in prices:
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            continue
        consented.append(price)
    paid = sums(consented, promise)
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
    assert replay(PureDP(1.0), ((PureDP(0.1), 9),)).remaining() == PureDP(0.1)
    with pytest.raises(BudgetExceeded):
        replay(PureDP(1.0), ((PureDP(0.1), 10),)).consent(PureDP(0.01))


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
    assert (budget.charges, budget.paid) == (0, (Fraction(0),) * len(budget.paid))


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
    assert Filter(promise).consent(price).paid == charged.coordinates()


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
    with pytest.raises(IncompatiblePromises, match="a price in the flavor of the budget") as refusal:
        Filter(promise).consent(price)
    example = parse(re.search("Write for example (.*?);", str(refusal.value))[1])  # type: ignore[index]
    assert Filter(promise).consent(example).charges == 1


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


# The other flavors that add


ORDERS = (2.0, 8.0, 32.0)
lines = st.tuples(sizes, sizes).map(  # above a line, the table is convex as it stands
    lambda pair: RenyiDP.at({order: exact(pair[0]) * exact(order) + exact(pair[1]) for order in ORDERS})
)
FURTHER = {GaussianDP: st.builds(GaussianDP, sizes), RenyiDP: lines}
further = st.sampled_from(sorted(FURTHER, key=str)).flatmap(
    lambda flavor: st.tuples(FURTHER[flavor], st.lists(FURTHER[flavor], max_size=8))
)


@given(further)
def test_squares_and_moments_consent_exactly_while_their_sum_fits(case):
    promise, prices = case
    budget: Filter[GaussianDP | RenyiDP] = Filter(promise)
    paid = [Fraction(0)] * len(promise.coordinates())
    for price in prices:
        after = [a + b for a, b in zip(paid, price.coordinates(), strict=True)]
        fits = all(a <= b for a, b in zip(after, promise.coordinates(), strict=True))
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            paid = after
    spent, left = budget.spent().coordinates(), budget.remaining().coordinates()
    for true, up, down, whole in zip(paid, spent, left, promise.coordinates(), strict=True):
        assert true <= up <= true + Fraction(1, 10**14)
        assert whole - true - Fraction(1, 10**14) <= down <= whole - true
    budget.consent(budget.remaining())


def test_three_four_five():
    budget = Filter(GaussianDP(5.0)).consent(GaussianDP(3.0))
    assert budget.remaining() == GaussianDP(4.0)
    assert budget.consent(GaussianDP(4.0)).spent() == GaussianDP(5.0)
    with pytest.raises(BudgetExceeded, match=r"gaussian\(mu=4.0\) of gaussian\(mu=5.0\)"):
        budget.consent(GaussianDP(math.nextafter(4.0, 5.0)))


def test_ten_tenths_of_every_moment_are_one():
    budget = Filter(RenyiDP.at({2.0: 1.0, 8.0: 4.0}))
    for _ in range(10):
        budget = budget.consent(RenyiDP.at({2.0: 0.1, 8.0: 0.4}))
    assert budget.remaining() == RenyiDP.at({2.0: 0.0, 8.0: 0.0})
    with pytest.raises(BudgetExceeded):
        budget.consent(RenyiDP.at({2.0: 0.0, 8.0: 1e-300}))


def test_each_order_has_its_own_border():
    budget = Filter(RenyiDP.at({2.0: 1.0, 8.0: 4.0}))
    with pytest.raises(BudgetExceeded):
        budget.consent(RenyiDP.at({2.0: 0.1, 8.0: 4.1}))
    with pytest.raises(BudgetExceeded):
        budget.consent(RenyiDP.at({2.0: 1.1, 8.0: 1.2}))


@pytest.mark.parametrize(
    ("promise", "price", "charge"),
    [
        (GaussianDP(9.0), PureDP(0.3), PureDP(0.3).to_gaussian()),
        (ZeroConcentratedDP(9.0), GaussianDP(0.5), ZeroConcentratedDP(0.125)),
        (ZeroConcentratedDP(9.0), ConcentratedDP(0.125, 0.5), ZeroConcentratedDP(0.125)),
        (RenyiDP.at({2.0: 9.0, 4.0: 9.0}), GaussianDP(0.5), RenyiDP.at({2.0: 0.25, 4.0: 0.5})),
        (RenyiDP.at({2.0: 9.0, 4.0: 9.0}), ZeroConcentratedDP(0.125), RenyiDP.at({2.0: 0.25, 4.0: 0.5})),
        (RenyiDP.at({2.0: 9.0, 4.0: 9.0}), ConcentratedDP(0.125, 0.5), RenyiDP.at({2.0: 0.25, 4.0: 0.5})),
        (RenyiDP.at({2.0: 9.0}), RenyiDP.at({2.0: 0.1, 4.0: 0.5}), RenyiDP.at({2.0: 0.1})),
    ],
)
def test_further_prices_are_charged_by_their_arrows(promise, price, charge):
    assert Filter(promise).charge(price) == charge


def test_a_pure_price_costs_the_moments_of_randomized_response():
    budget = Filter(RenyiDP.at({2.0: 9.0, 64.0: 9.0}))
    curve = PureDP(0.3).to_renyi().curve
    assert budget.charge(PureDP(0.3)) == RenyiDP.at({2.0: curve(2.0), 64.0: curve(64.0)})


@pytest.mark.parametrize(
    ("promise", "price"),
    [
        (GaussianDP(9.0), ZeroConcentratedDP(0.1)),
        (GaussianDP(9.0), RenyiDP.at({2.0: 0.1})),
        (GaussianDP(9.0), ApproximateDP(0.1, 1e-9)),
        (RenyiDP.at({2.0: 9.0}), ApproximateDP(0.1, 1e-9)),
        (RenyiDP.at({2.0: 9.0, 8.0: 9.0}), RenyiDP.at({4.0: 0.1})),
        (ZeroConcentratedDP(9.0), RenyiDP.at({2.0: 0.1})),
        (PureDP(9.0), GaussianDP(0.1)),
        (ApproximateDP(9.0, 0.5), PrivacyProfile(((0.1, 1e-9),))),
        (PureDP(9.0), RandomDP(PureDP(0.1), 0.0)),
    ],
)
def test_further_prices_without_an_arrow_are_refused(promise, price):
    with pytest.raises(IncompatiblePromises):
        Filter(promise).consent(price)


@pytest.mark.parametrize(
    ("promise", "reason"),
    [
        (ConcentratedDP(0.5, 1.0), "means and spreads"),
        (PrivacyProfile(((1.0, 1e-6),)), "fixed in advance"),
        (RandomDP(ConcentratedDP(0.5, 1.0), 0.1), "means and spreads"),
        (RandomDP(PrivacyProfile(((1.0, 1e-6),)), 0.1), "fixed in advance"),
        (ZeroConcentratedDP(0.5).to_renyi(), "Fix the orders"),
    ],
)
def test_flavors_whose_sums_are_no_stopping_rule_are_refused_at_once(promise, reason):
    with pytest.raises(IncompatiblePromises, match=reason):
        Filter(promise)


# Charges that are given, not consented to


@pytest.mark.parametrize(
    ("promise", "charge"),
    [
        (PureDP(1.0), (ApproximateDP(0.1, 0.0), 1)),
        (ApproximateDP(1.0, 0.1), (PureDP(0.1), 1)),
        (RenyiDP.at({2.0: 1.0, 8.0: 4.0}), (RenyiDP.at({2.0: 0.1, 9.0: 0.4}), 1)),  # as many orders, but others
        (RenyiDP.at({2.0: 1.0, 8.0: 4.0}), (RenyiDP.at({2.0: 0.1}), 1)),
        (RenyiDP.at({2.0: 1.0, 8.0: 4.0}), (PureDP(0.1).to_renyi(), 1)),
        (PureDP(1.0), PureDP(0.1)),
        (PureDP(1.0), (PureDP(0.1), 1, 1)),
    ],
)
def test_charges_of_another_kind_are_refused(promise, charge):
    with pytest.raises(IncompatiblePromises, match="promises that add to"):
        replay(promise, (charge,))


@pytest.mark.parametrize("times", [0, -1, 1.0, True, "1", None])
def test_charges_are_counted_in_whole_numbers(times):
    with pytest.raises(InvalidPromise, match="times a charge was paid"):
        replay(PureDP(1.0), ((PureDP(0.1), times),))


@pytest.mark.parametrize(
    ("promise", "charge", "most"),
    [
        (PureDP(1.0), PureDP(0.1), 10),
        (ApproximateDP(1.0, 3e-7), ApproximateDP(0.1, 1e-7), 3),
        (ZeroConcentratedDP(1.0, xi=0.2), ZeroConcentratedDP(0.1, xi=0.1), 2),
        (GaussianDP(1.0), GaussianDP(0.5), 4),
        (RenyiDP.at({2.0: 1.0, 8.0: 4.0}), RenyiDP.at({2.0: 0.1, 8.0: 1.0}), 4),
    ],
)
def test_charges_up_to_the_promise_are_a_filter_and_one_more_is_none(promise, charge, most):
    one_by_one = Filter(promise)
    for _ in range(most):
        one_by_one = one_by_one.consent(charge)
    assert replay(promise, ((charge, most),)).spent() == one_by_one.spent()
    with pytest.raises(BudgetExceeded, match="add up to more"):
        replay(promise, ((charge, most + 1),))
    with pytest.raises(BudgetExceeded, match="add up to more"):
        replay(promise, ((charge, 1), (charge, most)))


def test_charges_beyond_all_floats_are_refused_as_well():
    with pytest.raises(BudgetExceeded):
        replay(PureDP(1.0), ((PureDP(1e308), 100),))


@given(budgets_with_prices)
def test_a_replayed_filter_is_the_one_that_consented(case):
    promise, prices = case
    budget, recorded = Filter(promise), []
    for price in prices:
        try:
            budget = budget.consent(price)
        except BudgetExceeded:
            continue
        recorded.append((price, 1))
    assert replay(promise, recorded) == budget


@pytest.mark.parametrize(
    "fields",
    [
        {"charges": 1},
        {"charges": -1, "paid": (Fraction(0),)},
        {"charges": 1, "paid": (Fraction(-1, 10),)},
        {"charges": 1, "paid": (Fraction(1, 10), Fraction(0))},
        {"charges": 1, "paid": (Fraction(1, 10),), "first": RandomDP(PureDP(0.1), 0.0)},
    ],
)
def test_a_sum_that_no_filter_can_have_is_refused(fields):
    with pytest.raises(IncompatiblePromises, match="their exact sum"):
        Filter(PureDP(1.0), **fields)


def test_a_charge_adds_to_the_sum_and_looks_at_nothing_else(monkeypatch):
    """The cost of a charge does not grow: each price is read once, when it is charged."""
    read = []

    def counted(parts, *, start):
        recorded = list(parts)
        read.extend(recorded)
        return total(recorded, start=start)

    monkeypatch.setattr("sitr.accounting.filter.total", counted)
    budget = Filter(PureDP(100.0))
    for n in range(200):
        budget = budget.consent(PureDP(0.1 + n / 1000))
        budget.spent()
        budget.remaining()
    assert len(read) == 200


# Budgets with a γ


RANDOM = RandomDP(ApproximateDP(1.0, 1e-6), 0.1)
FIRST = RandomDP(ApproximateDP(0.5, 1e-7), 0.04, parts=(("newcomer", 0.03), ("gate", 0.01)))
Law = dict[object, Fraction]


def breaking(mechanism: Callable[[int], Law], *, values: int, factor: int) -> Fraction:
    """The exact probability over two uniform draws x, x', one person each, that some odds exceed this factor."""
    broken = 0
    for x, other in product(range(values), repeat=2):
        first, second = mechanism(x), mechanism(other)
        broken += any(
            mass > factor * by.get(answer, Fraction(0))
            for law, by in ((first, second), (second, first))
            for answer, mass in law.items()
        )
    return Fraction(broken, values**2)


def told(x: int, values: int, *, noise: Fraction) -> Law:
    """First "is x = 0?", without noise. Then z, chosen after it, and "is x = z?", a lie with this probability."""
    law: Law = {}
    for z in range(values):
        for answer, mass in ((x == z, 1 - noise), (x != z, noise)):
            if mass:
                law[x == 0, z, answer] = mass / values
    return law


@pytest.mark.parametrize("values", [3, 10, 40])
def test_what_follows_a_random_release_may_be_chosen_freely_if_it_is_not_random(values):
    """The whole fails exactly where the first release does, and nowhere else."""
    gamma = breaking(lambda x: {x == 0: Fraction(1)}, values=values, factor=1)
    assert gamma == Fraction(2 * (values - 1), values**2)
    assert breaking(lambda x: told(x, values, noise=Fraction(1, 4)), values=values, factor=3) == gamma
    price, later = RandomDP(PureDP(0.0), upward(gamma)), PureDP(math.log(3))
    budget = Filter(RandomDP(PureDP(1.2), price.gamma)).consent(price).consent(later)
    assert budget.spent() == RandomDP(later, price.gamma)


@pytest.mark.parametrize("values", [10, 40])
def test_a_random_release_that_is_chosen_after_an_answer_may_fail_nearly_always(values):
    """The counterexample: each release fails rarely, and a filter that merely added γ would have consented."""
    each = breaking(lambda x: {x == 0: Fraction(1)}, values=values, factor=1)
    claimed = 2 * each
    true = breaking(lambda x: told(x, values, noise=Fraction(0)), values=values, factor=10**6)
    assert claimed < Fraction(1, 2) < 1 - Fraction(1, values) <= true
    price = RandomDP(PureDP(0.0), upward(each))
    added = [a + b for a, b in zip(price.coordinates(), price.coordinates(), strict=True)]
    budget = Filter(RandomDP(PureDP(1.0), 0.5)).consent(price)
    assert all(a <= b for a, b in zip(added, budget.promise.coordinates(), strict=True))  # the sums would have fitted
    with pytest.raises(IncompatiblePromises, match="chosen after an answer"):
        budget.consent(price)


@pytest.mark.parametrize("before", [FIRST, PureDP(0.1), ApproximateDP(0.0, 0.0)])
@pytest.mark.parametrize("late", [FIRST, RandomDP(PureDP(0.0), 0.0), RandomDP(PureDP(0.0), 1e-300)])
def test_a_random_price_is_the_first_charge_or_none(before, late):
    assert Filter(RANDOM).consent(late).first == Filter(RANDOM).charge(late)
    with pytest.raises(IncompatiblePromises, match="as the first charge") as refusal:
        Filter(RANDOM).consent(before).consent(late)
    assert write(Filter(RANDOM).charge(late)) in refusal.value.given
    assert "Composed" in refusal.value.do


def test_gamma_is_kept_beside_epsilon_and_delta():
    budget = Filter(RANDOM).consent(FIRST)
    assert budget.spent() == FIRST
    assert budget.spent().parts == FIRST.parts
    assert budget.remaining() == RandomDP(ApproximateDP(0.5, 9e-7), 0.0)  # the rest of γ is closed
    for _ in range(5):
        budget = budget.consent(PureDP(0.1))
    assert (budget.charges, budget.first) == (6, FIRST)
    assert budget.paid == (Fraction(1), Fraction(1, 10**7), Fraction(1, 25))
    assert budget.spent() == RandomDP(ApproximateDP(1.0, 1e-7), 0.04)
    with pytest.raises(BudgetExceeded, match=r"gamma=0\.0"):
        budget.consent(PureDP(1e-9))


def test_a_budget_with_gamma_needs_no_random_price():
    budget = Filter(RANDOM)
    assert budget.remaining() == RANDOM
    budget = budget.consent(ApproximateDP(1.0, 1e-6))
    assert budget.spent() == RandomDP(ApproximateDP(1.0, 1e-6), 0.0)


@pytest.mark.parametrize(
    "price",
    [
        RandomDP(ApproximateDP(0.5, 1e-7), math.nextafter(0.1, 1.0)),
        RandomDP(ApproximateDP(1.1, 1e-7), 0.01),
        RandomDP(ApproximateDP(0.1, 2e-6), 0.01),
    ],
)
def test_each_number_of_a_random_price_has_its_own_border(price):
    with pytest.raises(BudgetExceeded):
        Filter(RANDOM).consent(price)
    assert Filter(RANDOM).consent(RANDOM).spent() == RANDOM


def test_an_inner_promise_is_charged_by_its_arrow():
    budget = Filter(RandomDP(ZeroConcentratedDP(1.0), 0.1))
    price = RandomDP(PureDP(0.5), 0.05, parts=(("gate", 0.05),))
    charge = budget.charge(price)
    assert charge == RandomDP(ZeroConcentratedDP(0.125), 0.05)
    assert isinstance(charge, RandomDP)
    assert charge.parts == price.parts
    assert budget.charge(PureDP(0.5)) == ZeroConcentratedDP(0.125)
    with pytest.raises(IncompatiblePromises):
        budget.charge(RandomDP(ApproximateDP(0.1, 1e-9), 0.01))


@pytest.mark.parametrize("promise", [PureDP(9.0), ApproximateDP(9.0, 1.0), ZeroConcentratedDP(9.0), GaussianDP(9.0)])
def test_a_budget_without_gamma_refuses_random_prices(promise):
    with pytest.raises(IncompatiblePromises, match="has no γ") as refusal:
        Filter(promise).consent(RandomDP(PureDP(0.0), 0.0))
    assert "fraction γ of data" in refusal.value.given
    assert "gamma=" in refusal.value.do


def test_what_is_asymptotic_is_charged_only_where_the_budget_says_so():
    price = RandomDP(PureDP(0.1), 0.01, Basis.ASYMPTOTIC)
    with pytest.raises(IncompatiblePromises, match="finite-sample"):
        Filter(RANDOM).consent(price)
    budget = Filter(RandomDP(PureDP(1.0), 0.1, Basis.ASYMPTOTIC))
    assert budget.consent(price).spent() == price
    finite = RandomDP(PureDP(0.1), 0.01)
    assert budget.consent(finite).spent() == finite  # no weaker than what was charged
    assert budget.remaining().basis is Basis.ASYMPTOTIC


@pytest.mark.parametrize(
    "charges",
    [
        ((PureDP(0.1), 1), (RandomDP(PureDP(0.1), 0.01), 1)),
        ((RandomDP(PureDP(0.1), 0.01), 2),),
        ((RandomDP(PureDP(0.1), 0.01), 1), (RandomDP(PureDP(0.1), 0.02), 1)),
    ],
)
def test_charges_that_no_filter_consented_to(charges):
    with pytest.raises(IncompatiblePromises, match="as the first charge"):
        replay(RandomDP(PureDP(1.0), 0.5), charges)


@pytest.mark.parametrize(
    "charge",
    [
        RandomDP(ApproximateDP(0.1, 0.0), 0.01),
        ApproximateDP(0.1, 0.0),
        RandomDP(PureDP(0.1), 0.01, Basis.ASYMPTOTIC),
    ],
)
def test_charges_of_another_kind_than_the_inner_promise_are_refused(charge):
    with pytest.raises(IncompatiblePromises, match="promises that add to"):
        replay(RandomDP(PureDP(1.0), 0.5), ((charge, 1),))
