"""Means: exact sums of rounded rows, and Huber's estimate."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.learn import PrivateHuberMean, PrivateMean, location
from sitr.learn.perturbation import Centre, Movement, Released

RANDOM = RandomDP(ApproximateDP(1.0, 1e-6), 0.1)


def asked(estimator: PrivateMean | PrivateHuberMean, rows: np.ndarray) -> tuple[np.ndarray, Movement]:
    """The vector and the movement that noise is fitted to."""
    seen: dict[str, object] = {}

    def watched(centre: Centre, *, movement: Movement, promise: Promise, granularity: Fraction, size: int) -> Released:
        seen["vector"] = np.array([float(number) for number in centre(granularity / 2**40)])
        seen["movement"] = movement
        return Released((Fraction(0),) * size, promise, None, granularity)

    with mock.patch.object(location, "output_perturbed", watched):
        estimator.fit(rows)
    return seen["vector"], seen["movement"]  # type: ignore[return-value]


@pytest.mark.parametrize("estimator", [PrivateMean(PureDP(1.0), norm=1.0), PrivateHuberMean(PureDP(1.0), cut=0.3)])
@pytest.mark.parametrize("size", [1, 3])
def test_no_row_moves_it_farther_than_h(estimator: PrivateMean | PrivateHuberMean, size: int) -> None:
    generator, worst = np.random.default_rng(size), 0.0
    for _ in range(60):
        n = int(generator.integers(1, 5))
        rows = generator.normal(size=(n + 1, size)) * 10 ** generator.uniform(-2, 2)
        first, movement = asked(estimator, rows[1:])
        second, _ = asked(estimator, rows[:-1])
        (h,) = asked(estimator, rows[[0, n]])[1].pairs()
        apart = float(np.linalg.norm(first - second)) * n
        assert movement.most is not None
        assert h <= float(movement.most) * (1 + 1e-8)
        assert apart <= h * (1 + 1e-9)
        worst = max(worst, apart / h if h else 0.0)
    assert worst > (0.999 if isinstance(estimator, PrivateMean) else 0.005)


def test_h_is_not_0_where_its_square_is_too_small_for_a_float() -> None:
    estimator = PrivateHuberMean(PureDP(1.0), regularization=1e-3)
    (h,) = asked(estimator, np.array([[0.0, 0.0], [1e-170, 1e-170]]))[1].pairs()
    assert h >= 1.42e-167


def test_the_movement_of_huber_is_attained() -> None:
    """All others are far out and cancel: the curvature is Λ alone."""
    estimator = PrivateHuberMean(PureDP(1.0), cut=0.5, regularization=0.01)
    rows = np.array([[1e6], [-1e6], [1e6]])
    other = np.array([[1e6], [-1e6], [-1e6]])
    (first, movement), (second, _) = asked(estimator, rows), asked(estimator, other)
    assert abs(first - second)[0] == pytest.approx(float(movement.most or 0) / 3)


def test_a_promise_may_be_written_as_text() -> None:
    assert PrivateMean("pure(1)", norm=1.0).fit([[0.5]] * 9).promise_ == PureDP(1)
    with pytest.raises(InvalidPromise, match=r"Did you mean pure\(1\)"):
        PrivateMean("prue(1)", norm=1.0).fit([[0.5]] * 9)


@pytest.mark.parametrize("promise", [PureDP(1e4), ZeroConcentratedDP(1e6), ApproximateDP(1e4, 1e-6)])
def test_little_noise_leaves_the_mean(promise: Promise) -> None:
    rows = np.random.default_rng(1).uniform(-0.5, 0.5, size=(1000, 3))
    fitted = PrivateMean(promise, norm=1.0).fit(rows)
    assert fitted.location_ == pytest.approx(rows.mean(axis=0), abs=1e-4)
    assert fitted.promise_ == promise
    assert fitted.error_ is not None
    assert fitted.error_ < 1e-3


def test_random_privacy_needs_no_norm() -> None:
    rows = np.random.default_rng(1).standard_t(2.0, size=(2000, 2)) * 1e-3 + 7.0
    fitted = PrivateMean(RandomDP(ApproximateDP(4.0, 1e-6), 0.1), granularity=2.0**-30).fit(rows)
    assert fitted.location_ == pytest.approx(
        rows.mean(axis=0), abs=1e-3
    )  # a norm of 10 would have cost a hundred times that
    assert fitted.promise_.covers(RandomDP(ApproximateDP(4.0, 1e-6), 0.1))
    assert fitted.error_ is None


def test_huge_rows_are_shortened_and_summed_exactly() -> None:
    rows = np.array([[1e300], [-1e300], [1e100], [2.0]])
    vector, _ = asked(PrivateMean(RANDOM, granularity=1.0), rows)
    assert vector[0] == (2.0**40 + 2) / 4  # 1e100 is shortened; rows beyond become 0
    vector, _ = asked(PrivateMean(PureDP(1.0), norm=1.0), np.full((3, 1), 1e9))
    assert vector[0] == pytest.approx(1.0, abs=1e-6)


def test_outliers_hardly_move_hubers_mean() -> None:
    rows = np.concatenate([np.full((900, 1), 0.5), np.full((100, 1), 1e200)])
    fitted = PrivateHuberMean(PureDP(1e5), cut=0.1, regularization=0.01).fit(rows)
    assert fitted.location_[0] == pytest.approx((0.45 + 0.01) / 0.91, abs=1e-3)


def test_what_is_missing_is_said() -> None:
    rows = np.zeros((10, 1))
    with pytest.raises(InvalidPromise, match=r"Expected a promise: .* got None"):
        PrivateMean(norm=1.0).fit(rows)
    with pytest.raises(InvalidPromise, match=r"Expected a promise: .* got None"):
        PrivateHuberMean().fit(rows)
    with pytest.raises(DescriptionError, match="granularity"):
        PrivateMean(RANDOM).fit(rows)
    with pytest.raises(ValueError, match="norm"):
        PrivateMean(PureDP(1.0), norm=-1.0).fit(rows)
    with pytest.raises(ValueError, match="cut"):
        PrivateHuberMean(PureDP(1.0), cut=0.0).fit(rows)
