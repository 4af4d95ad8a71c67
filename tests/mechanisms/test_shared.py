"""Tables that share a price cost this price together, however many there are and however large."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.shared import SharedNoise
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins
from sitr.numbers import exact

PRICES = [PureDP(0.7), ZeroConcentratedDP(0.05), GaussianDP(0.4)]
MOVED = Distance(l1=6, l2_squared=18, largest=3)
NOISES = {PureDP: Laplace, ZeroConcentratedDP: Gaussian, GaussianDP: RoundedGaussian}

Price = PureDP | ZeroConcentratedDP | GaussianDP
every_price = pytest.mark.parametrize("price", PRICES, ids=repr)


def less(noise: Noise, factor: Fraction = Fraction(99, 100)) -> Noise:
    """The same noise, one percent smaller."""
    return replace(noise, **{noise.parameter: noise.size * factor})  # type: ignore[type-var]


@every_price
@settings(max_examples=30)
@given(cells=st.lists(st.integers(1, 10**6), min_size=1, max_size=8))
def test_the_noises_of_all_tables_cost_the_price(price: Price, cells: list[int]) -> None:
    noises = SharedNoise(price, MOVED).noises(cells)
    spent = Composed(tuple(noises)).promise()
    assert {type(noise) for noise in noises} == {NOISES[type(price)]}
    assert spent.covers(price)
    name = fields(price)[0].name
    assert getattr(spent, name) == pytest.approx(getattr(price, name), rel=1e-9)
    assert not Composed(tuple(map(less, noises))).promise().covers(price)


@every_price
def test_sizes_fit_how_far_one_person_moves_the_counts(price: Price) -> None:
    (noise,) = SharedNoise(price, MOVED).noises([50])
    if isinstance(noise, Laplace):
        assert noise.sensitivity == 6
    else:
        assert 18 <= exact(noise.sensitivity) ** 2 < 18 * (1 + Fraction(1, 10**9))


@every_price
@given(first=st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_parts_cost_the_whole(price: Price, first: Fraction) -> None:
    """A first stage of some tables, and a second stage of others that are chosen after it."""
    whole = SharedNoise(price, MOVED)
    stages = [whole.part(first).noises([10, 1000]), whole.part(1 - first).noises([7])]
    assert Composed(tuple(noise for stage in stages for noise in stage)).promise().covers(price)
    assert whole.promise() == price


@pytest.mark.parametrize("price", [PureDP(0.7), GaussianDP(0.4)], ids=repr)
@pytest.mark.parametrize("cells", [[1], [1, 1], [5, 100, 2000]], ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.65])
def test_the_loss_bounds_every_way_to_share(price: Price, cells: list[int], epsilon: float) -> None:
    shared = SharedNoise(price, MOVED)
    bound, found = shared.loss(), Composed(tuple(shared.noises(cells))).loss()
    assert bound is not None
    assert found is not None
    assert bound.bound
    assert found.delta(epsilon=epsilon).lower <= bound.delta(epsilon=epsilon).upper
    broken = SharedNoise(price.share(Fraction(99, 100)), MOVED).loss()
    assert broken is not None
    assert broken.delta(epsilon=epsilon).upper < bound.delta(epsilon=epsilon).lower


def test_no_pair_of_laws_bounds_moments() -> None:
    assert SharedNoise(ZeroConcentratedDP(0.1), MOVED).loss() is None


def test_errors_grow_with_the_number_of_tables() -> None:
    shared = SharedNoise(PureDP(1.0), Distance(l1=1, l2_squared=1, largest=1))
    assert shared.error() == Laplace(scale=1).error()
    assert shared.error(tables=10) == Laplace(scale=10).error()
    assert shared.error(confidence=0.5) < shared.error()


def test_every_table_gets_its_noise() -> None:
    quiet = SharedNoise(PureDP(1e6), Distance(l1=1, l2_squared=1, largest=1))
    tables = [np.array([3, 0]), np.array([1, 2, 4])]
    assert [list(found) for found in quiet.release(tables, coins=TestCoins(1))] == [[3, 0], [1, 2, 4]]
    loud = SharedNoise(PureDP(0.01), Distance(l1=1, l2_squared=1, largest=1))
    counts = np.zeros(4000, dtype=np.int64)
    ((drawn,), (noise,)) = loud.release([counts], coins=TestCoins(1)), loud.noises([4000])
    inside = np.mean(np.abs(np.asarray(drawn)) <= float(noise.error()))
    assert inside == pytest.approx(0.95, abs=0.02)  # 5.8 standard deviations of a mean of 4,000
