from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.accounting.filter import Filter
from sitr.accounting.residue import GaussianResidue, proved, residue
from sitr.errors import BudgetExceeded, IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.rounded_gaussian import RoundedGaussian

Leaves = list[tuple[float, float, float]]
"""The probability, the loss and the Gaussian noise at each end of an interaction."""
Choice = Callable[[tuple[int, ...]], float | None]
"""What an analyst asks after these answers: randomized response of some ε, or None, Gaussian noise with the rest."""


def leaves(mu: Fraction, analyst: Choice, left: Callable[[Fraction, float], Fraction | None]) -> Leaves:
    """All ends of an interaction with a filter that begins at μ and has `left` this much after each answer."""

    def after(
        answers: tuple[int, ...], rest: Fraction, chance: float, loss: float
    ) -> Iterator[tuple[float, float, float]]:
        epsilon = analyst(answers)
        next_rest = None if epsilon is None else left(rest, epsilon)
        if epsilon is None or next_rest is None:
            yield chance, loss, float(rest)
            return
        for answer in (1, -1):
            share = 1 / (1 + math.exp(-answer * epsilon))
            yield from after((*answers, answer), next_rest, chance * share, loss + answer * epsilon)

    return list(after((), mu, 1.0, 0.0))


def gaussian(mu: float, e: float) -> float:
    """The hockey-stick of Gaussian noise at any real e, from its definition."""
    if mu == 0.0:
        return max(0.0, -math.expm1(e))
    upper = lambda x: math.erfc(x / math.sqrt(2)) / 2  # noqa: E731
    return upper(e / mu - mu / 2) - math.exp(e) * upper(e / mu + mu / 2)


def excess(mu: float, ends: Leaves, *, reverse: bool = False) -> float:
    """By how much the hockey-stick of an interaction exceeds that of μ, relatively, at the worst of many places."""
    if reverse:
        ends = [(chance * math.exp(-loss), -loss, noise) for chance, loss, noise in ends]
    places = [0.05 * mu * place for place in range(int(20 + 80 / mu) if mu < 2 else 60)]
    found = (
        sum(chance * gaussian(noise, e - loss) for chance, loss, noise in ends) / gaussian(mu, e) - 1
        for e in places
        if gaussian(mu, e) > 1e-9
    )
    return max(found)


@cache
def by_residue(rest: Fraction, epsilon: float) -> Fraction | None:
    return residue(rest, PureDP(epsilon))


@cache
def by_squares(rest: Fraction, epsilon: float) -> Fraction | None:
    """The filter of ledgers, which adds up squares."""
    try:
        return Fraction(Filter(GaussianDP(float(rest))).consent(PureDP(epsilon)).remaining().mu)
    except BudgetExceeded:
        return None


def by_mean(rest: Fraction, epsilon: float) -> Fraction | None:
    """A filter that is broken: it charges twice the mean loss, below which no filter can go."""
    square = float(rest) ** 2 - 2 * epsilon * math.tanh(epsilon / 2)
    return Fraction(math.sqrt(square)) if square >= 0 else None


PRICES = (0.15, 0.3, 0.5, 0.8)


@pytest.mark.parametrize("left", [by_residue, by_squares])
@settings(max_examples=20)
@given(mu=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2)]), data=st.data())
def test_no_analyst_who_chooses_after_answers_exceeds_the_budget(left, mu, data):
    drawn: dict[tuple[int, ...], float | None] = {}

    def analyst(answers: tuple[int, ...]) -> float | None:
        if answers not in drawn:
            choices = st.sampled_from(PRICES[1:]) if len(answers) < 3 else st.none()
            drawn[answers] = data.draw(st.one_of(st.none(), choices) if answers else choices)
        return drawn[answers]

    ends = leaves(mu, analyst, left)
    assert math.isclose(sum(chance for chance, _, _ in ends), 1.0, abs_tol=1e-12)
    assert excess(float(mu), ends) <= 1e-9
    assert excess(float(mu), ends, reverse=True) <= 1e-9


@pytest.mark.parametrize("epsilon", PRICES)
def test_the_analyst_who_spends_the_rest_exceeds_a_budget_that_charges_less(epsilon):
    def once(answers: tuple[int, ...]) -> float | None:
        return None if answers else epsilon

    assert excess(1.0, leaves(Fraction(1), once, by_mean)) > 1e-5
    assert excess(1.0, leaves(Fraction(1), once, by_residue)) <= 1e-9
    assert excess(1.0, leaves(Fraction(1), once, by_squares)) <= 1e-9


def test_what_is_proved_is_nearly_all_that_is_true():
    for mu, epsilon in ((1.0, 0.5), (0.5, 0.3), (2.0, 0.8), (4.0, 2.0)):
        square = float(mu**2 - (residue(Fraction(mu), PureDP(epsilon)) or 0) ** 2)
        cheaper = Fraction(math.sqrt(mu**2 - square * 0.99))
        plus, minus = (1 / (1 + math.exp(-side * epsilon)) for side in (1, -1))
        ends = [(plus, epsilon, float(cheaper)), (minus, -epsilon, float(cheaper))]
        assert excess(mu, ends) > 0
        assert not proved(Fraction(mu), cheaper, Fraction(epsilon))
        assert 2 * epsilon * math.tanh(epsilon / 2) < square < PureDP(epsilon).to_gaussian().mu ** 2


def test_a_corner_is_washed_out_so_that_half_as_many_answers_more_are_paid():
    counts = []
    starts: list[Filter[Promise] | GaussianResidue] = [Filter(GaussianDP(1.0)), GaussianResidue(GaussianDP(1.0))]
    for start in starts:
        budget = start
        try:
            while True:
                budget = budget.consent(PureDP(0.2))
        except BudgetExceeded:
            counts.append(budget.charges)
    most = math.floor(1 / (2 * 0.2 * math.tanh(0.1)))
    assert counts[0] == 15
    assert 22 <= counts[1] <= most == 25


@given(st.floats(0.01, 3), st.floats(0.01, 3))
def test_gaussian_prices_subtract_squares(mu, price):
    found = residue(Fraction(mu), GaussianDP(price))
    if found is None:
        assert GaussianDP(price).coordinates()[0] > Fraction(mu) ** 2
    else:
        assert found**2 <= Fraction(mu) ** 2 - GaussianDP(price).coordinates()[0]
        assert float(found) == pytest.approx(math.sqrt(max(0.0, mu**2 - price**2)), rel=1e-6, abs=1e-7)


@given(st.floats(0.05, 2), st.floats(1e-3, 2))
@settings(max_examples=20, deadline=None)
def test_it_never_leaves_less_than_squares_and_never_more_than_means(mu, epsilon):
    found = residue(Fraction(mu), PureDP(epsilon))
    alone = PureDP(epsilon).to_gaussian().mu
    if found is None:
        assert alone > mu * (1 - 1e-12)
        return
    assert float(found) >= math.sqrt(max(0.0, mu**2 - alone**2)) * (1 - 1e-9) - 1e-9
    assert float(found) ** 2 <= mu**2 - 2 * epsilon * math.tanh(epsilon / 2) + 1e-12


def test_what_is_free_costs_nothing_and_small_prices_cost_their_square():
    assert residue(Fraction(1), PureDP(0.0)) == 1
    assert residue(Fraction(1), GaussianDP(0.0)) == 1
    tiny = residue(Fraction(1), PureDP(0.001))
    assert tiny is not None
    assert float(1 - tiny**2) == pytest.approx(PureDP(0.001).to_gaussian().mu ** 2, rel=1e-6)


def test_the_rest_only_shrinks():
    budgets = [GaussianResidue(GaussianDP(1.0))]
    for price in (PureDP(0.3), GaussianDP(0.4), PureDP(0.3), GaussianDP(0.2)):
        budgets.append(budgets[-1].consent(price))
    assert [budget.charges for budget in budgets] == [0, 1, 2, 3, 4]
    assert all(later.remaining().mu < earlier.remaining().mu for earlier, later in pairwise(budgets))
    last = budgets[-1].remaining()
    assert budgets[-1].consent(last).remaining().mu < 1e-7
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        budgets[-1].consent(GaussianDP(last.mu * 1.001))


@pytest.mark.parametrize(
    "price",
    [ZeroConcentratedDP(0.1), ApproximateDP(0.1, 1e-6), ApproximateDP(0.1, 0.0), ZeroConcentratedDP(0.0, xi=0.1)],
)
@pytest.mark.parametrize(
    "budget", [Filter(GaussianDP(1.0)), GaussianResidue(GaussianDP(1.0))], ids=["squares", "residue"]
)
def test_only_prices_that_bound_every_test_are_paid(budget: Filter[Promise] | GaussianResidue, price: Promise):
    if isinstance(budget, Filter) and isinstance(price, ZeroConcentratedDP) and price.rho == 0.0:
        return  # it bounds the largest loss, so it is pure
    with pytest.raises(IncompatiblePromises):
        budget.consent(price)


def test_real_gaussian_noise_is_paid_by_its_mu_even_if_it_is_rounded():
    price = RoundedGaussian(sigma=4, sensitivity=2).promise()
    assert GaussianResidue(GaussianDP(1.0)).consent(price).remaining() == GaussianDP(math.sqrt(0.75))


def test_gaussian_noise_on_the_integers_does_not_keep_the_mu_of_real_noise():
    """Its promise bounds moments, so no Gaussian budget takes it for Δ/σ; its least μ is more than that."""
    discrete = Gaussian(sigma=2, sensitivity=1)
    assert isinstance(discrete.promise(), ZeroConcentratedDP)
    for budget in (Filter(GaussianDP(1.0)), GaussianResidue(GaussianDP(1.0))):
        with pytest.raises(IncompatiblePromises):
            budget.consent(discrete.promise())
    loss = discrete.loss()
    assert loss is not None
    assert loss.mu().lower > 0.5 * (1 + 1e-6)
    assert not GaussianDP(0.5).kept_by(loss)
