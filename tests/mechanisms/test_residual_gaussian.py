"""Noise on residuals: its cost against dense linear algebra, and its error."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import chain, combinations

import numpy as np
import pytest

from sitr.errors import InvalidParameter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.mechanisms.residual_gaussian import Base, ResidualGaussian, normal_width
from sitr.noise.coins import TestCoins

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

SIZES = (2, 3, 4)


def subsets():
    return list(chain.from_iterable(combinations(range(3), k) for k in range(4)))


def sub(m: int) -> np.ndarray:
    return np.hstack([np.ones((m - 1, 1)), -np.eye(m - 1)])


def kron(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(reduce(np.kron, parts, np.eye(1)))  # type: ignore[arg-type]


def information(bases: dict[tuple[int, ...], float]) -> np.ndarray:
    """RᵀΣ⁻¹R, written out."""
    total = np.zeros((24, 24))
    for axes, sigma in bases.items():
        small = [sub(m) if i in axes else np.ones((1, m)) for i, m in enumerate(SIZES)]
        r, noise = kron(small), kron([sub(SIZES[i]) for i in axes])
        total += r.T @ np.linalg.inv(sigma**2 * noise @ noise.T) @ r
    return total


def mechanism(bases: dict[tuple[int, ...], float]) -> ResidualGaussian:
    return ResidualGaussian(tuple(Base(tuple((SIZES[i],) for i in axes), sigma) for axes, sigma in bases.items()))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_row_costs_the_diagonal_of_the_information(seed: int) -> None:
    random = np.random.default_rng(seed)
    bases = {axes: float(random.uniform(0.5, 5)) for axes in subsets()}
    diagonal = np.diag(information(bases))
    mu = mechanism(bases).promise().mu
    assert mu**2 == pytest.approx(diagonal.max(), rel=1e-12)
    assert mu**2 == pytest.approx(diagonal.min(), rel=1e-12)
    independent = sum(sigma**-2.0 for sigma in bases.values())  # noise on the cells of each table costs more
    assert mu**2 < independent * 0.9


def test_unequal_families_cost_at_most_what_the_largest_one_does() -> None:
    base = Base(((2, 4),), 1)
    r = np.zeros((4, 6))
    r[:1, :2], r[1:, 2:] = sub(2), sub(4)
    diagonal = np.diag(r.T @ np.linalg.inv(r @ r.T) @ r)
    assert ResidualGaussian((base,)).promise().mu ** 2 == pytest.approx(diagonal.max())
    assert base.weight == Fraction(3, 4) > diagonal.min()


def test_fitted_noise_keeps_an_approximate_price_and_uses_it() -> None:
    price = ApproximateDP(1.0, 1e-6)
    found = ResidualGaussian.fitting(price, bases=[Base((), 1), Base(((3,),), 2)], sensitivity=3)
    assert 0.999999 < found.promise().to_approximate(delta=1e-6).epsilon <= 1.0
    assert float(found.bases[1].sigma / found.bases[0].sigma) == pytest.approx(2)


def test_the_promise_grows_with_the_rows_of_a_unit() -> None:
    one = ResidualGaussian((Base((), 4), Base(((5,),), 3)))
    assert ResidualGaussian(one.bases, 7).promise().mu == pytest.approx(7 * one.promise().mu, rel=1e-12)
    assert ResidualGaussian(one.bases, 7).alone() == one


def test_releases_lie_on_the_grid_and_within_the_error() -> None:
    found = ResidualGaussian((Base(((2,), (3,)), Fraction(3)), Base((), Fraction(10**7))))
    assert [base.places for base in found.bases] == [15, 0]
    exactly = [np.array([[5, -7]]), np.array(10**15)]
    coins, miss = TestCoins(2), 0
    for _ in range(400):
        small, total = found.release(exactly, coins=coins)
        assert small.shape == (1, 2)
        miss += abs(Fraction(int(small[0, 0]), 2**15) - 5) > ResidualGaussian(found.bases[:1]).error()
        assert abs(int(total) - 10**15) < 10**9
    assert 5 <= miss <= 40  # 20 are expected


def test_large_numbers_do_not_overflow() -> None:
    (noisy,) = ResidualGaussian((Base(((2,),), 1),)).release([np.array([2**62])], coins=TestCoins(1))
    assert noisy.dtype == object
    assert abs(noisy[0] - 2 ** (62 + 16)) < 2**22


@pytest.mark.parametrize("bases", [(), (Base(((0, 2),), 1),), (Base((), 0),)])
def test_noise_without_size_is_refused(bases: tuple[Base, ...]) -> None:
    with pytest.raises(InvalidParameter):
        ResidualGaussian(bases)


def test_the_normal_width_is_the_least() -> None:
    assert normal_width(0.95) == pytest.approx(1.959963984540054, rel=1e-14)
    assert normal_width(0.95) >= 1.959963984540054
    assert GaussianDP(normal_width(1 - 2.0**-53)).mu == pytest.approx(8.3, rel=0.01)
