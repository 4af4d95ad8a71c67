"""Rows and their quality are one plan: both prices are in it, and one percent less noise anywhere is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import arb, ctx

from sitr.dataset.schema import Kind
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.shared import SharedNoise
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.numbers import ball, exact
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import keyed

PRICES = [
    (PureDP(1.0), None),
    (ZeroConcentratedDP(0.1), None),
    (ApproximateDP(1.0, 1e-3), None),
    (PureDP(1.0), PureDP(0.1)),
    (ZeroConcentratedDP(0.1), ZeroConcentratedDP(0.02)),
    (ApproximateDP(1.0, 1e-3), ApproximateDP(0.2, 1e-3)),  # Gaussian noise in both stages
    (ApproximateDP(1.0, 1e-9), ApproximateDP(1.0, 0.1)),  # Laplace noise, then Gaussian
    (ApproximateDP(1.0, 0.1), ApproximateDP(0.3, 0.0)),  # Gaussian noise, then Laplace
]


@pytest.fixture(params=PRICES, ids=repr)
def prices(request: pytest.FixtureRequest) -> Any:
    return request.param


def less(mechanism: Any, part: float = 0.99) -> Any:
    """Less noise, by default one percent less."""
    match mechanism:
        case SharedNoise(GaussianDP(mu)):
            return replace(mechanism, price=GaussianDP(mu / part))
        case SharedNoise(PureDP(epsilon)):
            return replace(mechanism, price=PureDP(epsilon / part))
        case SharedNoise(ZeroConcentratedDP(rho)):
            return replace(mechanism, price=ZeroConcentratedDP(rho / part**2))
        case Laplace():
            return replace(mechanism, scale=mechanism.size * exact(part))
    return replace(mechanism, sigma=mechanism.size * exact(part))


def weakened(plan: Any, part: float = 0.99) -> Any:
    measurements = (replace(each, mechanism=less(each.mechanism, part)) for each in plan.measurements)
    return replace(plan, measurements=tuple(measurements))


@pytest.mark.parametrize("method", Method)
def test_noise_keeps_the_price_and_one_percent_less_does_not(
    sheet: Sheet, prices: tuple[Kept, Kept | None], method: Method
) -> None:
    """Of both stages together as well: what they lose together is what is charged."""
    price, quality = prices
    plan = SyntheticQuestion(sheet, "town", method, quality=quality).plan(price)
    alone = SyntheticQuestion(sheet, "town", method).plan(price)
    plan.check()
    for broken in (weakened(alone), weakened(plan.quality or alone), weakened(plan)):
        with pytest.raises(InvalidPromise, match="a bug in Sitr"):
            broken.check()


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1)], ids=repr)
@pytest.mark.parametrize("method", Method)
def test_no_stage_may_have_one_percent_less_noise(sheet: Sheet, price: Kept, method: Method) -> None:
    """Where promises add up exactly, there is nothing to spare anywhere."""
    plan = SyntheticQuestion(sheet, "town", method, quality=price).plan(price)
    names = [measurement.name for measurement in plan.measurements]
    assert names[-2:] == ["distances", "correlations"]
    for place, measurement in enumerate(plan.measurements):
        weaker = replace(measurement, mechanism=less(measurement.mechanism))
        with pytest.raises(InvalidPromise, match="a bug in Sitr"):
            replace(plan, measurements=(*plan.measurements[:place], weaker, *plan.measurements[place + 1 :])).check()


def test_both_prices_are_in_the_plan(sheet: Sheet, prices: tuple[Kept, Kept | None]) -> None:
    price, quality = prices
    plan = SyntheticQuestion(sheet, "town", quality=quality).plan(price)
    alone = SyntheticQuestion(sheet, "town").plan(price)
    assert plan.division == alone.division
    assert isinstance(plan, SynthesisPlan)
    if plan.quality is None:
        assert plan == alone
    else:
        whole = alone.price + plan.quality.price  # type: ignore[operator]
        if isinstance(price, ApproximateDP):
            assert isinstance(plan.price, ApproximateDP)
            assert isinstance(whole, ApproximateDP)
            assert plan.price.delta == whole.delta
            assert plan.price.epsilon < whole.epsilon
        else:
            assert plan.price == whole
        assert plan.measurements == (*alone.measurements, *plan.quality.measurements)
        assert plan.text == alone.text + " AND MEASURE THE QUALITY"


def test_two_flavors_are_refused(sheet: Sheet) -> None:
    with pytest.raises(IncompatiblePromises):
        SyntheticQuestion(sheet, "town", quality=PureDP(1.0)).plan(ZeroConcentratedDP(0.1))


def normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def hockey_stick(mu: arb, epsilon: arb) -> arb:
    """δ(ε) of Gaussian noise, whatever the sign of ε.      [BW18, Thm 8]"""
    return normal(mu / 2 - epsilon / mu) - epsilon.exp() * normal(-mu / 2 - epsilon / mu)


def pure_losses(mechanism: Any) -> list[tuple[arb, arb]]:
    """Losses with their probabilities: of discrete Laplace noise y, and of the worst noise that a shared ε allows."""
    if isinstance(mechanism, SharedNoise):
        step = ball(mechanism.promise().epsilon)  # type: ignore[union-attr]
        return [(step, 1 / (1 + (-step).exp())), (-step, 1 / (1 + step.exp()))]
    assert isinstance(mechanism, Laplace)
    moved, rate = int(mechanism.sensitivity), 1 / ball(mechanism.scale)
    here, rest = (rate / 2).tanh(), 1 / (1 + (-rate).exp())  # P(y = 0), P(y ≤ 0)
    between = [((moved - 2 * y) * rate, here * (-y * rate).exp()) for y in range(1, moved)]
    return [(moved * rate, rest), *between, (-moved * rate, rest * (-moved * rate).exp())]


def lost(plan: SynthesisPlan, epsilon: float) -> arb:
    """δ(ε) of all measurements, from their parameters alone: each pure loss shifts the ε of the Gaussian ones."""
    promises = [measurement.mechanism.promise() for measurement in plan.measurements]
    mu = sum((ball(promise.mu) ** 2 for promise in promises if isinstance(promise, GaussianDP)), arb(0)).sqrt()
    shifts = [(arb(0), arb(1))]
    for measurement in plan.measurements:
        if isinstance(measurement.mechanism.promise(), PureDP):
            losses = pure_losses(measurement.mechanism)
            shifts = [(at + step, mass * part) for at, mass in shifts for step, part in losses]
    return sum((mass * hockey_stick(mu, ball(epsilon) - at) for at, mass in shifts), arb(0))


@pytest.mark.parametrize(
    ("first", "second", "method"),
    [
        (ApproximateDP(1.0, 1e-6), ApproximateDP(1.0, 1e-6), None),
        (ApproximateDP(1.0, 1e-9), ApproximateDP(1.0, 0.1), Method.JOINT),
        (ApproximateDP(1.0, 1e-3), ApproximateDP(0.2, 1e-3), Method.JOINT),
        (ApproximateDP(3.0, 1e-2), ApproximateDP(0.5, 1e-9), Method.MARGINALS),
        (ApproximateDP(1.0, 0.1), ApproximateDP(0.3, 0.0), Method.MARGINALS),
    ],
    ids=repr,
)
def test_two_stages_are_charged_what_they_lose_together(
    sheet: Sheet, first: ApproximateDP, second: ApproximateDP, method: Method | None
) -> None:
    """Two-sided: the charge is enough, and two thousandths less would not be."""
    plan = SyntheticQuestion(sheet, "town", method, quality=second).plan(first)
    charged = plan.price
    assert isinstance(charged, ApproximateDP)
    with ctx.workprec(400):
        assert lost(plan, charged.epsilon) <= ball(charged.delta)
        assert lost(plan, 0.998 * charged.epsilon) > ball(charged.delta)


def test_of_many_columns_the_same_price_twice_costs_1_40_times_as_much() -> None:
    """√2 times the μ that (1, 10⁻⁶) buys, at twice the δ, has an ε just above 1.402."""
    columns = tuple(keyed(f"c{place}", Kind.TEXT, keys=tuple("abcdefgh")) for place in range(30))
    price = ApproximateDP(1.0, 1e-6)
    plan = SyntheticQuestion(Sheet(columns, Row(), Relation.ADD_REMOVE, 1), "town", quality=price).plan(price)
    assert plan.price == ApproximateDP(1.404, 2e-6)
    with ctx.workprec(400):
        assert lost(plan, 1.404) <= ball(2e-6) < lost(plan, 1.402)
    plan.check()
