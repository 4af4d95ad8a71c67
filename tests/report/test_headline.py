"""The (ε, δ) of a promise and of a loss: bounds from both sides, and the ε′ of the odds beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.numbers import exact
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.report.headline import READING_DELTA, Headline, headline, rounded


def planned(make, name: str, noise: Gaussian) -> AggregatePlan:
    """The plan of a release with its first column alone, and this noise instead of its own."""
    plan: AggregatePlan = make(name).plan
    query, measured = (
        replace(plan.query, columns=plan.query.columns[:1]),
        replace(plan.measurements[0], mechanism=noise),
    )
    return replace(plan, price=noise.promise(), measurements=(measured,), query=query)


def excess(noise: Gaussian, epsilon: float) -> float:
    """δ(ε) of one number that moves by Δ: the most by which P exceeds e^ε·Q on any event, summed over all integers."""
    moved, sigma = int(noise.sensitivity), float(noise.sigma)
    reach = math.ceil(40 * sigma) + moved
    weights = {y: math.exp(-y * y / (2 * sigma * sigma)) for y in range(-reach - moved, reach + 1)}
    whole = math.fsum(weights.values())
    return math.fsum(
        max(0.0, weights[y] - math.exp(epsilon) * weights[y - moved]) / whole for y in range(-reach, reach + 1)
    )


@pytest.mark.parametrize("moved", [1, 7])
@pytest.mark.parametrize("rho", [0.005, 0.05, 0.5])
def test_one_number_has_the_epsilon_of_its_own_noise(make, rho: float, moved: int) -> None:
    noise = Gaussian.fitting(ZeroConcentratedDP(rho), sensitivity=moved, single=True)
    found = headline(planned(make, "ungrouped", noise))
    loss = noise.loss()
    assert found.exact is not None
    assert loss.epsilon(delta=READING_DELTA).lower <= found.epsilon < found.implied
    assert found.implied == noise.promise().to_approximate(delta=READING_DELTA).epsilon
    # By brute force: at this ε the promise is kept, and a little below it is not.
    assert excess(noise, found.epsilon) <= READING_DELTA * (1 + 1e-9)
    assert excess(noise, 0.995 * found.epsilon) > READING_DELTA


def test_several_numbers_add_their_losses(make) -> None:
    plan = make("ungrouped").plan
    found = headline(plan)
    loss = replace(plan.noisy[0].noise, single=True).loss() + replace(plan.noisy[1].noise, single=True).loss()
    assert found.exact is not None
    assert loss.epsilon(delta=READING_DELTA).lower <= found.epsilon < found.implied


def test_a_vector_has_the_epsilon_of_its_bound(make) -> None:
    """Four numbers that move by one may lose more than one that moves by two, but not much more than real noise."""
    noise = Gaussian.fitting(ZeroConcentratedDP(0.05), sensitivity=2)
    found = headline(planned(make, "known", noise))
    assert found.exact == noise.loss().epsilon(delta=READING_DELTA).upper < found.implied
    # A vector that moves by less than √2 moves one number, by one.
    assert headline(planned(make, "known", Gaussian.fitting(ZeroConcentratedDP(0.05), sensitivity=1))).exact is not None


def test_noise_whose_law_is_out_of_reach_has_the_epsilon_of_real_noise(make) -> None:
    noise = Gaussian.fitting(ZeroConcentratedDP(0.05), sensitivity=10**12)
    found = headline(planned(make, "ungrouped", noise))
    assert found.exact is not None
    assert found.exact < found.implied


def test_every_release_is_told_at_the_delta_of_its_promise(make) -> None:
    for name in ("known", "thresholded", "gaussian_with_threshold", "many", "replaced"):
        plan = make(name).plan
        found = headline(plan)
        assert found.epsilon <= found.implied
        match plan.promise():
            case PureDP(epsilon):
                assert (found.epsilon, found.delta, found.odds) == (epsilon, 0.0, epsilon)
            case ApproximateDP(epsilon, delta):
                assert (found.implied, found.delta, found.odds) == (epsilon, delta, None)
            case ZeroConcentratedDP():
                assert found.delta == READING_DELTA


def normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


MU = 0.7
GAUSSIANS: dict[str, Promise] = {
    "zero-concentrated": ZeroConcentratedDP(MU**2 / 2),
    "concentrated": ConcentratedDP(MU**2 / 2, MU),
    "Gaussian": GaussianDP(MU),
    "moments": ZeroConcentratedDP(MU**2 / 2).to_renyi(),
    "two moments": RenyiDP.at({2: MU**2, 8: 4 * MU**2}),
}
"""Promises that Gaussian noise with Δ/σ = 0.7 keeps: its loss is normal, with mean μ²/2 and deviation μ."""


@pytest.mark.parametrize("name", GAUSSIANS)
def test_the_odds_of_gaussian_noise_stay_within_every_promise_that_it_keeps(name: str) -> None:
    found = Headline.of(GAUSSIANS[name])
    assert found.odds is not None
    assert normal_tail((found.odds - MU**2 / 2) / MU) <= found.delta == READING_DELTA
    # No such thing is true of ε.
    least = GaussianDP(MU).to_approximate(delta=READING_DELTA).epsilon
    assert normal_tail((least - MU**2 / 2) / MU) > READING_DELTA
    assert least <= found.implied < found.odds


@pytest.mark.parametrize(
    ("promise", "epsilon", "delta", "odds"),
    [
        (PureDP(0.5), 0.5, 0.0, 0.5),
        (ApproximateDP(0.5, 0.0), 0.5, 0.0, 0.5),
        (ApproximateDP(0.5, 1e-5), 0.5, 1e-5, None),
        (PrivacyProfile(((0.1, 1e-3), (0.5, 1e-7), (0.9, 1e-9))), 0.5, 1e-7, None),
        (PrivacyProfile(((0.1, 1e-3), (0.5, 1e-4))), 0.5, 1e-4, None),
        (PrivacyProfile(((0.1, 1e-3), (0.5, 0.0))), 0.5, 0.0, 0.5),
        (ZeroConcentratedDP(0.0, xi=0.25), 0.25, 0.0, 0.25),
        (GaussianDP(1e200), math.inf, READING_DELTA, math.inf),
        (ConcentratedDP(1.0, 1e200), math.inf, READING_DELTA, None),
    ],
)
def test_promises_as_epsilon_and_delta(promise: Promise, epsilon: float, delta: float, odds: float | None) -> None:
    found = Headline.of(promise)
    assert (found.epsilon, found.delta) == (epsilon, delta)
    assert found.odds == odds or (odds is None and not math.isfinite(epsilon))
    assert Headline.of(RandomDP(promise, 0.05)).to_dict() == found.to_dict() | {"gamma": 0.05}


def test_what_has_no_float_is_null_for_machines() -> None:
    told = Headline.of(GaussianDP(1e200)).to_dict()
    assert (told["epsilon"], told["implied"], told["odds"]) == (None, None, None)
    assert rounded(math.inf) == "∞"


def test_a_loss_is_not_asked_where_the_promise_is_pure() -> None:
    loss = Gaussian(sigma=4, single=True).loss
    assert Headline.of(PureDP(0.5), loss=lambda: pytest.fail("it was asked")).exact is None
    assert Headline.of(ApproximateDP(1e-9, 1e-6), loss=loss).exact is None  # the promise is better: it leads


@given(st.floats(1e-9, 100), st.floats(0, 10), st.floats(1e-300, 0.9))
def test_the_quantile_of_a_loss_is_the_formula_rounded_up(rho: float, xi: float, delta: float) -> None:
    found = ZeroConcentratedDP(rho, xi=xi).loss_quantile(delta=delta)
    formula = xi + rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert formula * (1 - 1e-12) <= found <= formula * (1 + 1e-12)


@given(st.floats(1e-9, 100), st.floats(1e-300, 0.9))
def test_the_quantile_of_a_loss_is_more_than_the_arrow(rho: float, delta: float) -> None:
    promise = ZeroConcentratedDP(rho)
    assert promise.loss_quantile(delta=delta) > promise.to_approximate(delta=delta).epsilon


def test_without_a_slope_the_loss_never_exceeds_its_offset() -> None:
    assert ZeroConcentratedDP(0.0, xi=0.25).loss_quantile(delta=1e-6) == 0.25


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_the_mean_is_bounded_by_both_parameters(mu: float, tau: float) -> None:
    mean = exact(ConcentratedDP(mu, tau).mean_loss())
    least = min(exact(mu), exact(tau) ** 2 / 2)
    assert least <= mean <= least * (1 + Fraction(1, 10**15)) + Fraction(1, 10**300)


def test_an_epsilon_from_a_simpler_law_is_not_called_exact() -> None:
    """One Gaussian bounds the sum of two laws: its ε is a bound, though the law of the sum is known."""
    loss = Loss.of(GaussianLaw(0.3)) + Loss.of(DiscreteGaussianLaw(25.0, 1))
    assert not loss.bound
    found = Headline.of(ZeroConcentratedDP(0.05), loss=lambda: loss)
    assert found.exact is not None
    assert not found.tight
    assert found.to_dict()["exact"] is False
