"""Noise of several parties: what they promise, against everybody but the honest ones, and noise that is too little."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sitr.errors import IncompatiblePromises, InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.distributed import DistributedNoise, Shares
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import TestCoins

FIVE = DistributedNoise(Shares.LAPLACE, size=10, parties=5, dropouts=1, colluders=1)
BELLS = [
    DistributedNoise(shares, size=3, parties=5, dropouts=1, colluders=1, delta=1e-6)
    for shares in (Shares.SKELLAM, Shares.GAUSSIAN)
]


def test_honest_parties_alone_make_laplace_noise():
    assert FIVE.honest == 3
    assert FIVE.loss() == Laplace(scale=10).loss()
    assert FIVE.promise() == Laplace(scale=10).promise()


def test_noise_calibrated_for_all_parties_breaks_the_promise():
    """The broken twin: shares of 1/N instead of 1/h. With one drop-out and one colluder, ε is over 40% larger."""
    broken = replace(FIVE, dropouts=0, colluders=0)
    left = broken.loss(honest=3)
    assert not FIVE.promise().kept_by(left)
    assert left.max() > 1.4 * FIVE.promise().epsilon


@pytest.mark.parametrize("mechanism", BELLS)
def test_skellam_and_gaussian_noise_for_all_parties_breaks_the_promise_too(mechanism):
    broken = replace(mechanism, dropouts=0, colluders=0)
    assert broken.loss(honest=3).epsilon(delta=1e-6).lower > 1.2 * mechanism.promise().epsilon
    assert broken.loss(honest=5).epsilon(delta=1e-6).upper == pytest.approx(broken.promise().epsilon, rel=1e-9)


@pytest.mark.parametrize("shares", [Shares.SKELLAM, Shares.GAUSSIAN])
def test_what_is_fitted_keeps_the_price_and_hardly_less_noise_would(shares):
    price = ApproximateDP(1.0, 1e-6)
    found = DistributedNoise.fitting(price, parties=4, dropouts=1, sensitivity=2, shares=shares)
    assert found.promise().covers(price)
    assert not replace(found, size=found.size * Fraction(99, 100)).promise().covers(price)


def test_fewer_honest_parties_lose_more():
    losses = [FIVE.loss(honest=honest).max() for honest in (3, 2, 1)]
    assert losses == sorted(losses)
    assert losses[0] < losses[1] < losses[2]
    with pytest.raises(InvalidParameter, match="honest"):
        FIVE.loss(honest=4)


@pytest.mark.parametrize("mechanism", [replace(FIVE, size=Fraction(1, 2)), *BELLS])
def test_a_total_of_too_few_parties_is_refused(mechanism):
    assert isinstance(mechanism.release([1, 2, 3, 4], coins=TestCoins(1)), int)
    for values in ([1, 2, 3], [1] * 6):
        with pytest.raises(InvalidParameter, match="Open no total"):
            mechanism.release(values)


@pytest.mark.parametrize("mechanism", [replace(FIVE, size=2), *BELLS])
def test_the_error_is_that_of_the_noise_that_is_delivered(mechanism):
    few, all_of_them = mechanism.error(delivered=4), mechanism.error()
    assert few <= all_of_them
    coins = TestCoins(3)
    inside = sum(abs(mechanism.release([0] * 5, coins=coins)) <= all_of_them for _ in range(300))
    assert inside > 260  # of 285 expected; fewer once in 1e6 runs
    assert mechanism.reach(0.05) >= all_of_them
    assert mechanism.reach(0.05) <= 3 * all_of_them + 3


def test_a_modulus_has_room_for_the_total_and_its_noise():
    for mechanism in (FIVE, *BELLS):
        bits, reach = mechanism.bits(1000), mechanism.reach(Fraction(1, 2**40))
        assert 2 ** (bits - 1) > 1000 + reach
        assert 2 ** (bits - 2) <= 1000 + reach


def test_large_noise_still_has_a_loss_and_an_error():
    wide = DistributedNoise(Shares.GAUSSIAN, size=10**6, parties=40, delta=1e-9, sensitivity=1000)
    assert wide.promise().epsilon < 0.02
    assert wide.error() > 10**6
    assert replace(FIVE, size=10**6).loss().max() < 1.1e-6


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: replace(FIVE, dropouts=3, colluders=2),
        lambda: replace(FIVE, delta=1e-6),
        lambda: replace(BELLS[0], delta=None),
        lambda: replace(BELLS[0], delta=2),
        lambda: replace(FIVE, shares="laplace"),  # type: ignore[arg-type]
        lambda: replace(FIVE, size=0),
        lambda: FIVE.share(0.5),  # type: ignore[arg-type]
    ],
)
def test_parameters_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        wrong()


@pytest.mark.parametrize("price", [ApproximateDP(1, 1e-6), ZeroConcentratedDP(1)])
def test_a_price_of_another_flavor_is_refused(price):
    with pytest.raises(IncompatiblePromises):
        DistributedNoise.fitting(price, parties=3)
    with pytest.raises(IncompatiblePromises):
        DistributedNoise.fitting(PureDP(1), parties=3, shares=Shares.SKELLAM)
