"""Rows and their quality are one plan: both prices are in it, and one percent less noise anywhere is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.shared import SharedNoise
from sitr.numbers import exact
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.sheet import Sheet

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
    """Two stages with a δ each lose less together than the sum of their prices, by less than half of the noise."""
    price, quality = prices
    plan = SyntheticQuestion(sheet, "town", method, quality=quality).plan(price)
    alone = SyntheticQuestion(sheet, "town", method).plan(price)
    plan.check()
    spare = quality is not None and isinstance(price, ApproximateDP)
    for broken in (weakened(alone), weakened(plan.quality or alone), weakened(plan, 0.5 if spare else 0.99)):
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
        assert plan.price == alone.price + plan.quality.price  # type: ignore[operator]
        assert plan.measurements == (*alone.measurements, *plan.quality.measurements)
        assert plan.text == alone.text + " AND MEASURE THE QUALITY"


def test_two_flavors_are_refused(sheet: Sheet) -> None:
    with pytest.raises(IncompatiblePromises):
        SyntheticQuestion(sheet, "town", quality=PureDP(1.0)).plan(ZeroConcentratedDP(0.1))
