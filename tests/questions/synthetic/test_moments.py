"""A regression from noisy sums of products: without noise the one beside a public table, and intervals cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.shared import SharedNoise
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.moments import private_regression
from sitr.questions.synthetic.products import products
from sitr.questions.synthetic.regression import regression
from tests.oracles.axes import granular, keyed

AXES = (
    granular("age", Kind.INTEGER, 0, 4, Fraction(1), 5, nulls=True),
    keyed("ward", Kind.TEXT, keys=("a", "b", "c")),
    granular("cost", Kind.INTEGER, 0, 9, Fraction(1), 10),
)
CELLS = (6, 3, 10)


def synthetic(rows: int = 3_000, seed: int = 1) -> Codes:
    """Costs that follow age and ward, as a linear regression has them."""
    generator = np.random.default_rng(seed)
    age, ward = generator.integers(0, 5, rows), generator.integers(0, 3, rows)
    cost = np.clip(np.rint(age + (ward == 1) * 2 + generator.normal(1, 1, rows)), 0, 9).astype(np.int64)
    return np.column_stack([age, ward, cost])


def test_without_noise_it_is_the_regression_beside_a_public_table() -> None:
    """But for the rounding of numbers, and of standard deviations that are those of the synthetic rows."""
    ours, theirs = synthetic(20_000), synthetic(20_000, 2)
    noise = SharedNoise(ZeroConcentratedDP(1e6), products(3, 1)).noises([1])[0]
    found = private_regression(AXES, ours, theirs, 2, noise, coins=TestCoins(1))
    free = regression(AXES, ours, theirs, 2)
    terms = {each.term: each for each in free}
    for each in found:
        assert each.term.startswith(("age", "ward"))
        if each.term == "age":
            assert each.synthetic == pytest.approx(terms["age"].synthetic, abs=0.02)
            assert each.real == pytest.approx(terms["age"].real, abs=0.02)
            assert each.error == pytest.approx(terms["age"].error, rel=0.2)
    assert len(found) == len(free) == 3
    keys = private_regression(AXES, ours, theirs, 1, noise, coins=TestCoins(1))
    assert [each.term for each in keys] == ["age", "cost"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rho", [0.002, 0.05])
def test_intervals_cover_the_difference(rho: float) -> None:
    """200 pairs of samples of one population: 95% of the differences are within the error; without the noise in it, at
    the small price, far fewer are."""
    noise = SharedNoise(ZeroConcentratedDP(rho), products(3, 1)).noises([1])[0]
    inside = narrow = count = 0
    for seed in range(200):
        ours, theirs = synthetic(2_000, 1000 + seed), synthetic(2_000, 5000 + seed)
        free = {each.term: each.error for each in regression(AXES, ours, theirs, 2)}
        for each in private_regression(AXES, ours, theirs, 2, noise, coins=TestCoins(seed)):
            inside += each.agrees
            narrow += abs(each.synthetic - each.real) <= free.get(each.term, 0.0)
            count += 1
    assert count >= 300  # terms that noise hides are left out
    assert 0.92 <= inside / count <= 0.985
    if rho < 0.01:
        assert narrow / count < 0.85


def test_a_regression_of_noise_alone_has_no_terms() -> None:
    noise = SharedNoise(ZeroConcentratedDP(1e-9), products(3, 1)).noises([1])[0]
    assert private_regression(AXES, synthetic(), synthetic()[:0], 2, noise, coins=TestCoins(1)) == ()
    assert private_regression(AXES, synthetic()[:0], synthetic(), 2, noise, coins=TestCoins(1)) == ()
