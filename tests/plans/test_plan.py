"""A plan is charged what its measurements keep: one percent less noise is refused before the charge."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sitr.errors import InvalidPromise, UnknownName
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.shared import SharedNoise
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.numbers import exact
from sitr.plans.plan import Measurement, Plan
from sitr.questions.ways import largest_mu

HALF = Fraction(1, 2)
MOVED = Distance(l1=2, l2_squared=2, largest=1)


def rounded(mu: GaussianDP | None) -> RoundedGaussian:
    assert mu is not None
    return RoundedGaussian.fitting(mu, sensitivity=3)


def plans() -> dict[str, Plan]:
    pure, moments, both = PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)
    chosen = Exponential(epsilon=HALF)
    fitted = GaussianDP.fitting(both)
    found: dict[str, tuple[Kept, list[Any]]] = {
        "pure": (pure, [Laplace.fitting(pure.share(HALF), sensitivity=3)] * 2),
        "zero-concentrated": (moments, [Gaussian.fitting(moments.share(HALF), sensitivity=3)] * 2),
        "approximate": (both, [rounded(fitted.share(HALF))] * 2),
        "approximate, by Laplace noise": (ApproximateDP(1.0, 0.0), [Laplace.fitting(pure, sensitivity=3)]),
        "approximate, with a choice": (both, [rounded(largest_mu(both, beside=[chosen])), chosen]),
        "shared ε": (pure, [SharedNoise(pure, MOVED)]),
        "shared ρ": (
            moments,
            [SharedNoise(moments.share(HALF), MOVED), Gaussian.fitting(moments.share(HALF), sensitivity=1)],
        ),
        "shared μ": (both, [SharedNoise(fitted, MOVED)]),
    }
    return {
        name: Plan(tuple(Measurement(str(place), each) for place, each in enumerate(parts)), price, name)
        for name, (price, parts) in found.items()
    }


PLANS = plans()
every_plan = pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)


def less(mechanism: Any) -> Any:
    """One percent less noise."""
    match mechanism:
        case SharedNoise(GaussianDP(mu)):
            return replace(mechanism, price=GaussianDP(mu / 0.99))
        case SharedNoise(PureDP(epsilon)):
            return replace(mechanism, price=PureDP(epsilon / 0.99))
        case SharedNoise(ZeroConcentratedDP(rho)):
            return replace(mechanism, price=ZeroConcentratedDP(rho / 0.99**2))
        case Exponential(epsilon):
            return replace(mechanism, epsilon=exact(epsilon) / Fraction(99, 100))
        case Laplace():
            return replace(mechanism, scale=mechanism.size * Fraction(99, 100))
        case Gaussian() | RoundedGaussian():
            return replace(mechanism, sigma=mechanism.size * Fraction(99, 100))
    raise NotImplementedError


@every_plan
def test_noise_that_was_fitted_keeps_the_price(plan: Plan) -> None:
    plan.check()
    assert plan.promise().covers(plan.price)


@every_plan
def test_one_percent_less_noise_anywhere_is_refused(plan: Plan) -> None:
    for place, measurement in enumerate(plan.measurements):
        weaker = replace(measurement, mechanism=less(measurement.mechanism))
        broken = replace(plan, measurements=(*plan.measurements[:place], weaker, *plan.measurements[place + 1 :]))
        with pytest.raises(InvalidPromise, match="a bug in Sitr"):
            broken.check()


@every_plan
def test_one_percent_less_than_the_price_is_refused(plan: Plan) -> None:
    match plan.price:
        case ZeroConcentratedDP(rho):
            cheaper: Kept = ZeroConcentratedDP(0.99 * rho)
        case ApproximateDP(epsilon, delta):
            cheaper = ApproximateDP(0.99 * epsilon, delta)
        case _:
            cheaper = PureDP(0.99)
    with pytest.raises(InvalidPromise, match="a bug in Sitr"):
        replace(plan, price=cheaper).check()


def test_mass_that_is_infinite_is_part_of_delta() -> None:
    plan = PLANS["approximate"]
    assert plan.infinite_mass() == 0.0
    assert plan.finite_tail() == 1e-6
    assert PLANS["pure"].finite_tail() == 0.0


def test_a_threshold_has_no_finite_tail() -> None:
    threshold = Threshold.fitting(ApproximateDP(1.0, 1e-3), sensitivity=1, groups=1)
    plan = Plan((Measurement("keys", threshold),), ApproximateDP(1.0, 1e-3), "keys")
    assert 0.0 < plan.infinite_mass() <= 1e-3
    assert (plan.finite_tail(), plan.shared_delta) == (0.0, False)


def test_the_optimal_selection_may_have_finite_losses_above_epsilon_instead() -> None:
    """The loss is ln(π₂/π₁) > ε if two people share a key, and infinite where 13 people do and 14 would be certain."""
    selection = PartitionSelection(epsilon=1, delta=1e-3)
    one, two, nearly, certain = (float(selection.chance(people)) for people in (1, 2, 13, 14))
    assert two / one == pytest.approx(1 + math.e)
    assert nearly < 1 == certain
    plan = Plan((Measurement("keys", selection),), ApproximateDP(1.0, 1e-3), "keys")
    assert max(one, 1 - nearly) <= plan.infinite_mass() == pytest.approx(1e-3)
    assert two - math.e * one <= plan.finite_tail() * (1 + 1e-9)
    assert plan.shared_delta


def test_measurements_are_found_by_name() -> None:
    assert PLANS["pure"]["1"] is PLANS["pure"].measurements[1]
    with pytest.raises(UnknownName, match="The plan has no measurement '2'"):
        PLANS["pure"]["2"]


def test_errors_are_in_the_unit_of_the_column() -> None:
    fine = Measurement("cost", Laplace(scale=10), granularity=Fraction(1, 100))
    assert fine.error() == pytest.approx(0.3)
    assert fine.error(confidence=0.5) < fine.error()
