"""What a price buys keeps it, beside other mechanisms too, and slightly more does not."""

from __future__ import annotations

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Additive
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.price import LEAST, buys_noise
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.shared import SharedNoise
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.plans.plan import FAINT
from sitr.questions.ways import Way, gaussian_ways, largest_mu, pure_ways, ways

ONE = Distance(l1=1, l2_squared=1, largest=1)
KEYS = Threshold(Laplace(scale=4, sensitivity=1), groups=1, least=60)


def delta(mu: float, beside: list[Mechanism], epsilon: float) -> float:
    """An upper bound on δ, of everything together."""
    if not beside:
        return GaussianDP(mu).delta(epsilon=epsilon)
    losses = [mechanism.loss() for mechanism in beside]
    return Loss.compose([*filter(None, losses), gaussian(sigma=1, sensitivity=mu)]).delta(epsilon=epsilon).upper


@pytest.mark.parametrize("price", [ApproximateDP(1.0, 1e-6), ApproximateDP(0.1, 1e-3), ApproximateDP(5.0, 1e-12)])
@pytest.mark.parametrize(
    "beside",
    [[], [Exponential(epsilon=0.05)], [Laplace(scale=50), Laplace(scale=40)], [SharedNoise(PureDP(0.03), ONE)]],
    ids=str,
)
def test_one_percent_more_does_not_fit(price: ApproximateDP, beside: list[Mechanism]) -> None:
    found = largest_mu(price, beside=beside)
    assert found is not None
    assert delta(found.mu, beside, price.epsilon) <= price.delta
    assert delta(1.01 * found.mu, beside, price.epsilon) > price.delta


def test_keys_that_are_shown_use_up_some_of_the_delta() -> None:
    price = ApproximateDP(1.0, 1e-6)
    found, alone = largest_mu(price, beside=[KEYS]), largest_mu(price)
    assert found is not None
    assert alone is not None
    assert found.mu < alone.mu
    assert delta(found.mu, [KEYS], 1.0) <= 1e-6 < delta(1.01 * found.mu, [KEYS], 1.0)


def test_alone_it_is_the_exact_calibration() -> None:
    price = ApproximateDP(1.0, 1e-6)
    assert largest_mu(price) == GaussianDP.fitting(price)


def test_there_is_none_where_nothing_is_left() -> None:
    price = ApproximateDP(1.0, 1e-6)
    assert largest_mu(price, beside=[Laplace(scale=1)]) is None  # ε = 1 with a probability far above δ
    assert largest_mu(price, beside=[SharedNoise(ZeroConcentratedDP(1e-9), ONE)]) is None  # no loss is known
    assert largest_mu(ApproximateDP(1.0, 0.0)) is None


CHOSEN = Exponential(epsilon=0.25)


@pytest.mark.parametrize("beside", [[], [CHOSEN], [CHOSEN, CHOSEN]], ids=len)
@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)], ids=repr)
def test_every_way_keeps_the_price_and_one_percent_more_does_not(price: Additive, beside: list[Mechanism]) -> None:
    found = ways(price, beside=beside)
    assert len(found) == (2 if isinstance(price, ApproximateDP) else 1)
    for way in found:
        assert way.charged.covers(price)
        if isinstance(way.bought, PureDP):
            assert way.bought.epsilon == 1.0 - 0.25 * len(beside)
        elif isinstance(way.bought, ZeroConcentratedDP):
            assert way.bought.rho == pytest.approx(0.1 - 0.25**2 / 8 * len(beside), rel=1e-12)
        else:
            assert isinstance(price, ApproximateDP)
            assert delta(way.bought.mu, beside, price.epsilon) <= price.delta
            assert delta(1.01 * way.bought.mu, beside, price.epsilon) > price.delta


def test_no_way_is_left_where_others_use_up_the_price() -> None:
    assert ways(PureDP(0.25), beside=[CHOSEN]) == []
    assert ways(ZeroConcentratedDP(0.25**2 / 8), beside=[CHOSEN]) == []
    assert ways(ApproximateDP(0.25, 0.0), beside=[CHOSEN]) == []


def test_outside_an_event_noise_costs_rho_and_keys_cost_delta() -> None:
    price = ApproximateZeroConcentratedDP(0.5, 1e-6)
    keys = GaussianThreshold.fitting(ApproximateZeroConcentratedDP(0.1, 1e-6), sensitivity=2, groups=4)
    free, shown = ways(price, beside=[CHOSEN]), ways(price, beside=[keys, CHOSEN])
    assert [way.charged for way in (*free, *shown)] == [ApproximateZeroConcentratedDP(0.5, 0.0), price]
    assert [way.bought for way in free] == [ZeroConcentratedDP(0.4921875)]  # 0.5 − 0.25²/8
    for way in shown:
        assert way.bought == ZeroConcentratedDP(0.3921875)
        noise = Gaussian.fitting(way.bought, sensitivity=1)
        whole = Composed((keys, noise)).promise()
        assert whole == ApproximateZeroConcentratedDP(0.4921875, keys.promise().delta)
    both = [keys, keys]
    assert ways(price, beside=both) == []  # δ pays for one set of keys
    assert ways(ApproximateZeroConcentratedDP(0.1, 1e-6), beside=[keys]) == []  # nothing of ρ is left
    # A threshold with Laplace noise is (ε²/2, δ).
    (laplace,) = ways(price, beside=[KEYS])
    assert laplace.bought == ZeroConcentratedDP(0.46875)  # 0.5 − 0.25²/2


def test_delta_is_charged_only_if_something_uses_it() -> None:
    price = ApproximateDP(1.0, 1e-6)
    assert [way.charged for way in ways(price)] == [ApproximateDP(1.0, 0.0), price]
    assert [way.charged for way in pure_ways(price, beside=[KEYS])] == [price]


@pytest.mark.parametrize(
    "price",
    [
        PureDP(1e-101),
        PureDP(1.1e100),
        ZeroConcentratedDP(1e308),
        ApproximateDP(1e308, 1e-6),
        ZeroConcentratedDP(0.0),
        ZeroConcentratedDP(0.1, xi=0.1),
        ApproximateDP(1.0, 1.0),
        ApproximateDP(1.0, 1e-101),
        ApproximateZeroConcentratedDP(0.0, 1e-6),
        ApproximateZeroConcentratedDP(0.1, 1.0),
        ApproximateZeroConcentratedDP(0.1, 1e-101),
        ApproximateZeroConcentratedDP(1.1e100, 0.0),
        GaussianDP(0.0),
        GaussianDP(1.1e100),
        RandomDP(PureDP(1.0), 0.1),
    ],
    ids=repr,
)
def test_some_prices_buy_no_noise(price: Promise) -> None:
    assert not buys_noise(price)


@pytest.mark.parametrize(
    "price",
    [
        PureDP(LEAST),
        ZeroConcentratedDP(LEAST),
        ApproximateDP(LEAST, LEAST),
        ApproximateZeroConcentratedDP(LEAST, LEAST),
        ApproximateZeroConcentratedDP(0.1, 0.0),
        GaussianDP(LEAST),
    ],
    ids=repr,
)
def test_the_smallest_prices_buy_noise(price: Promise) -> None:
    assert buys_noise(price)


def test_nothing_is_searched_beside_others_at_a_faint_price() -> None:
    assert gaussian_ways(ApproximateDP(FAINT / 2, 1e-6), beside=[KEYS]) == []
    assert len(gaussian_ways(ApproximateDP(FAINT / 2, 1e-6))) == 1


def test_a_gaussian_price_buys_gaussian_noise_alone() -> None:
    """Beside a mechanism that is not Gaussian nothing is bought: its promise says nothing of both together."""
    price = GaussianDP(0.5)
    assert ways(price) == [Way(price, price)]
    assert ways(price, beside=[Exponential(epsilon=0.1)]) == []
