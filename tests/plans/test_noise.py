"""The largest μ fits the price, and a slightly larger one does not."""

from __future__ import annotations

import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.shared import SharedNoise
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.distance import Distance
from sitr.plans.noise import largest_mu

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
