"""Approximate zero-concentrated privacy: its arithmetic, and its meaning on exact pairs of laws."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import ctx

from sitr.accounting.filter import Filter, replay
from sitr.accounting.odometer import Odometer
from sitr.errors import BudgetExceeded, IncompatiblePromises, InvalidPromise, Undecided
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import express, kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.price import price_of
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import gaussian
from sitr.loss.forms.finite import pair, response
from sitr.loss.loss import Loss
from sitr.numbers import ball, exact
from tests.oracles.outside_an_event import outside_an_event

PROMISE = ApproximateZeroConcentratedDP(0.5, 1e-6)


def test_it_is_written_like_zero_concentrated_privacy_with_a_second_number():
    assert write(PROMISE) == "zcdp(rho=0.5, delta=1e-06)"
    for text in (
        "zcdp(0.5, 1e-6)",
        "zcdp(0.5, delta=1e-6)",
        "zcdp(delta=1e-6, rho=0.5)",
        "approximate_zcdp(0.5, 1e-6)",
    ):
        assert parse(text) == PROMISE
    assert parse("random(zcdp(0.5, 1e-6), 0.05)") == RandomDP(PROMISE, 0.05)
    assert parse("zcdp(0.5)") == ZeroConcentratedDP(0.5)
    assert parse("zcdp(0.5, xi=0.1)") == ZeroConcentratedDP(0.5, xi=0.1)
    for text in ("zcdp(0.5, 1e-6, xi=0.1)", "zcdp()", "zcdp(0.5, 1e-6, 0.1)", "approximate_zcdp(0.5)"):
        with pytest.raises(InvalidPromise, match="Expected a promise"):
            parse(text)
    with pytest.raises(InvalidPromise, match="delta of ApproximateZeroConcentratedDP"):
        parse("zcdp(0.5, 2)")


def test_a_price_by_name():
    assert price_of(rho=0.5, delta=1e-6) == price_of("zcdp(0.5, 1e-6)") == price_of(PROMISE) == PROMISE
    assert kept(PROMISE)
    with pytest.raises(IncompatiblePromises, match="one price"):
        price_of(rho=0.5, delta=1e-6, epsilon=1.0)


def test_both_numbers_add():
    assert PROMISE + ApproximateZeroConcentratedDP(0.1, 2e-6) == ApproximateZeroConcentratedDP(0.6, 3e-6)
    assert PROMISE * 3 == ApproximateZeroConcentratedDP(1.5, 3e-6)
    assert ApproximateZeroConcentratedDP(0.1, 0.7) * 2 == ApproximateZeroConcentratedDP(0.2, 1.0)
    assert PROMISE.share(Fraction(1, 2)) == ApproximateZeroConcentratedDP(0.25, 5e-7)


# Budgets


def test_a_budget_takes_stronger_prices():
    """ρ and δ of its own flavor, ρ of zero-concentrated, ε²/2 of pure, μ²/2 of Gaussian, (ε²/2, δ) of approximate."""
    budget = Filter(PROMISE)
    prices: list[Promise] = [
        ApproximateZeroConcentratedDP(0.1, 4e-7),
        ZeroConcentratedDP(0.1),
        PureDP(0.2),
        GaussianDP(0.2),
        ApproximateDP(0.2, 1e-7),
    ]
    for price in prices:
        budget = budget.consent(price)
    assert budget.spent() == ApproximateZeroConcentratedDP(0.26, 5e-7)
    assert budget.remaining() == ApproximateZeroConcentratedDP(0.24, 5e-7)
    with pytest.raises(BudgetExceeded, match=r"zcdp\(rho=0\.24, delta=5e-07\)"):
        budget.consent(ApproximateZeroConcentratedDP(0.1, 6e-7))
    with pytest.raises(BudgetExceeded):
        budget.consent(ZeroConcentratedDP(0.25))
    assert replay(PROMISE, [(ApproximateZeroConcentratedDP(0.05, 1e-7), 10)]).remaining().delta == 0.0
    assert Odometer(ApproximateZeroConcentratedDP(0, 0)).record(PROMISE).record(PureDP(1)).total() == (
        ApproximateZeroConcentratedDP(1.0, 1e-6)
    )


@pytest.mark.parametrize("budget", [PureDP(9.0), ZeroConcentratedDP(9.0), ApproximateDP(9.0, 0.1)], ids=str)
@pytest.mark.parametrize("price", [PROMISE, ApproximateZeroConcentratedDP(0.5, 0.0)], ids=str)
def test_other_budgets_do_not_take_it(budget, price):
    """Without a δ of choice it implies none of them; a price without a δ is written without one."""
    with pytest.raises(IncompatiblePromises):
        Filter(budget).consent(price)


# Conversions


def test_the_conversion_splits_delta():
    """δ′ = δ + (1 − δ)·δ″: at δ′ = 0.19 and δ = 0.1, δ″ is 0.1."""
    found = ApproximateZeroConcentratedDP(0.5, 0.1).to_approximate(delta=0.19)
    assert found.epsilon == ZeroConcentratedDP(0.5).to_approximate(delta=0.1).epsilon
    twin = ZeroConcentratedDP(0.5).to_approximate(delta=0.19)
    assert twin.epsilon < found.epsilon  # forgetting the event would promise too much


def test_no_epsilon_at_a_smaller_delta():
    for delta in (1e-6, 5e-7, 0.0):
        with pytest.raises(InvalidPromise, match="a δ above 1e-06"):
            PROMISE.to_approximate(delta=delta)
    assert ApproximateZeroConcentratedDP(0.0, 1e-6).to_approximate(delta=1e-6) == ApproximateDP(0.0, 1e-6)
    assert PROMISE.to_approximate(delta=1.0) == ApproximateDP(0.0, 1.0)


def test_what_implies_it_and_what_does_not():
    assert express(PureDP(1.0), ApproximateZeroConcentratedDP) == ApproximateZeroConcentratedDP(0.5, 0.0)
    assert express(GaussianDP(1.0), ApproximateZeroConcentratedDP) == ApproximateZeroConcentratedDP(0.5, 0.0)
    assert express(RenyiDP.at({2: 0.0}), ApproximateZeroConcentratedDP) == ApproximateZeroConcentratedDP(0.0, 0.0)
    profile = PrivacyProfile(((0.5, 1e-3), (1.0, 1e-6)))
    assert express(profile, ApproximateZeroConcentratedDP, delta=1e-6) == PROMISE
    for promise in (profile, RenyiDP.at({2: 0.1}), RandomDP(PureDP(1.0), 0.1)):
        with pytest.raises(IncompatiblePromises):
            express(promise, ApproximateZeroConcentratedDP)
    with pytest.raises(IncompatiblePromises):
        express(RandomDP(PureDP(1.0), 0.1), ApproximateZeroConcentratedDP, delta=1e-6)
    for flavor in (PureDP, ZeroConcentratedDP, RenyiDP, GaussianDP):
        with pytest.raises(IncompatiblePromises, match="infinite with probability δ"):
            express(PROMISE, flavor)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1 / 3, 0.7071067811865476, 2.5, 1e-9, 1e6])
def test_epsilon_and_its_half_square_cover_each_other_exactly(epsilon):
    price = ApproximateDP(epsilon, 1e-6)
    found = express(price, ApproximateZeroConcentratedDP)
    assert price.covers(found)
    assert exact(found.rho) >= exact(epsilon) ** 2 / 2
    assert not price.covers(ApproximateZeroConcentratedDP(found.rho * (1 - 1e-9), 1e-6))
    assert not price.covers(ApproximateZeroConcentratedDP(found.rho, 0.999e-6))


def test_groups():
    assert ApproximateZeroConcentratedDP(0.5, 0.0).for_group(3) == ApproximateZeroConcentratedDP(4.5, 0.0)
    assert ApproximateZeroConcentratedDP(0.0, 0.4).for_group(2) == ApproximateZeroConcentratedDP(0.0, 0.8)
    assert ApproximateZeroConcentratedDP(0.0, 0.4).for_group(3) == ApproximateZeroConcentratedDP(0.0, 1.0)
    assert PROMISE.for_group(1) == PROMISE
    with pytest.raises(IncompatiblePromises, match="each pair of neighbours"):
        PROMISE.for_group(2)


# Losses


def exposed(mass: float, rest: Loss) -> Loss:
    return rest + Loss.of(response(0.0, infinite=mass))


def test_the_mass_at_infinity_and_the_moments_of_the_rest():
    found = ApproximateZeroConcentratedDP.of(exposed(1e-6, gaussian(sigma=1)))
    assert found.delta == 1e-6
    assert found.rho == pytest.approx(0.5, rel=1e-2)
    assert found.rho >= 0.5
    twice = ApproximateZeroConcentratedDP.of(exposed(0.1, gaussian(sigma=1)) * 2)
    assert exact(twice.delta) >= Fraction(19, 100)  # 1 − 0.9²
    assert twice.delta == pytest.approx(0.19, rel=1e-12)
    assert twice.rho == pytest.approx(1.0, rel=1e-2)
    assert ApproximateZeroConcentratedDP.of(gaussian(sigma=1)).delta == 0.0
    assert ApproximateZeroConcentratedDP.of(Loss(())) == ApproximateZeroConcentratedDP(0.0, 0.0)
    assert ApproximateZeroConcentratedDP.of(Loss.of(response(0.0, infinite=1.0))).delta == 1.0


def keeps(p: list[Fraction], q: list[Fraction], promise: ApproximateZeroConcentratedDP) -> bool:
    with ctx.workprec(300):
        masses = [(ball(a), ball(b)) for a, b in zip(p, q, strict=True)]
        ways = masses, [(b, a) for a, b in masses]
        found = [over for way in ways for over in outside_an_event(way, ball(promise.rho), ball(promise.delta))]
        return not any(over > ball(2) ** -200 for over in found)


def test_a_pair_with_different_masses_at_both_ends():
    """P = (½, ¼, ¼, 0) and Q = (¼, 5/8, 0, ⅛): δ = ¼, and the rest has its own losses."""
    p = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)]
    q = [Fraction(1, 4), Fraction(5, 8), Fraction(0), Fraction(1, 8)]
    found = ApproximateZeroConcentratedDP.of(Loss.of(pair(p, q)))
    assert found.delta == 0.25
    assert keeps(p, q, found)
    rest = Loss.of(pair([Fraction(2, 3), Fraction(1, 3)], [Fraction(2, 7), Fraction(5, 7)]))
    assert found.rho == pytest.approx(ZeroConcentratedDP.of(rest).rho, rel=1e-3)
    assert not keeps(p, q, ApproximateZeroConcentratedDP(found.rho * 0.5, 0.25))
    assert not keeps(p, q, ApproximateZeroConcentratedDP(found.rho, 0.24))


def test_kept_and_broken():
    loss = exposed(1e-6, gaussian(sigma=1))
    assert ApproximateZeroConcentratedDP(0.51, 1e-6).kept_by(loss)
    assert ApproximateZeroConcentratedDP(0.51, 1e-3).kept_by(loss)
    assert not ApproximateZeroConcentratedDP(9.0, 0.9e-6).kept_by(loss)  # infinite too often
    assert not ApproximateZeroConcentratedDP(0.1, 1e-6).kept_by(loss)  # breaks an (ε, δ) that this would imply
    assert ApproximateZeroConcentratedDP(0.0, 1.0).kept_by(loss)
    with pytest.raises(Undecided):
        ApproximateZeroConcentratedDP(0.49, 1e-6).kept_by(loss)  # broken, but by no (ε, δ) that is tried


def test_without_an_event_it_is_zero_concentrated():
    assert ApproximateZeroConcentratedDP(0.51, 0.0).kept_by(gaussian(sigma=1))
    assert not ApproximateZeroConcentratedDP(0.49, 0.0).kept_by(gaussian(sigma=1))
    assert not ApproximateZeroConcentratedDP(0.51, 0.0).kept_by(exposed(1e-9, gaussian(sigma=1)))
    assert ApproximateZeroConcentratedDP(0.5, 0.0).loss_quantile(delta=1e-6) == ZeroConcentratedDP(0.5).loss_quantile(
        delta=1e-6
    )
    assert PROMISE.loss_quantile(delta=2e-6) is None


def test_without_moments_it_is_total_variation():
    assert ApproximateZeroConcentratedDP(0.0, 0.39).kept_by(gaussian(sigma=1))  # 2Φ(½) − 1 = 0.3829
    assert not ApproximateZeroConcentratedDP(0.0, 0.38).kept_by(gaussian(sigma=1))
