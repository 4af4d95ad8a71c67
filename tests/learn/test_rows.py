"""Rows: shortened one by one, and never longer than said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.learn.rows import RowBlock, TrainingRows


def squares(block: RowBlock) -> list[Fraction]:
    """The exact square of each row's length."""
    factors = np.ones(len(block.features)) if block.factors is None else block.factors
    return [
        sum(((Fraction(x) * Fraction(f)) ** 2 for x in row), Fraction(block.constant))
        for row, f in zip(block.features.tolist(), factors.tolist(), strict=True)
    ]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("norm", [None, 1.0, 1e-8, 1e12])
def test_lengths_are_at_least_what_they_are_and_not_much_more(norm: float | None, constant: bool) -> None:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(500, 7)) * 10 ** generator.uniform(-200, 98, size=(500, 1))
    rows = TrainingRows.clipped(features, norm=norm, constant=constant)
    exact = [square for block in rows.blocks() for square in squares(block)]
    for length, square in zip(rows.lengths.tolist(), exact, strict=True):
        assert square <= Fraction(length) ** 2
        assert max(Fraction(0), Fraction(length) - Fraction(2e-150)) ** 2 <= square * (1 + Fraction(1, 10**8))
    assert rows.longest is None if norm is None else max(rows.lengths) <= (rows.longest or 0.0)


def test_a_row_depends_on_no_other() -> None:
    features = np.random.default_rng(2).normal(size=(50, 3))
    whole, some = (TrainingRows.clipped(part, norm=1.0, constant=True) for part in (features, features[20:30]))
    assert whole.factors is not None
    assert some.factors is not None
    assert np.array_equal(whole.factors[20:30], some.factors)
    assert np.array_equal(whole.lengths[20:30], some.lengths)


@pytest.mark.parametrize("norm", [None, 1.0])
def test_a_row_that_is_too_long_becomes_zero(norm: float | None) -> None:
    rows = TrainingRows.clipped(np.array([[1e308, 1.0], [0.5, 0.0]]), norm=norm, constant=False)
    (block,) = rows.blocks()
    assert block.predicted(np.array([10.0, 1.0])).tolist() == [0.0, 5.0]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("norm", [None, 1.0])
def test_blocks_compute_what_the_whole_matrix_does(norm: float | None, constant: bool) -> None:
    generator = np.random.default_rng(3)
    features, slopes, bends = generator.normal(size=(9000, 30)), generator.normal(size=9000), generator.random(9000)
    rows = TrainingRows.clipped(features, norm=norm, constant=constant)
    matrix = features if norm is None else features * np.minimum(1, 1 / np.linalg.norm(features, axis=1))[:, None]
    matrix = np.column_stack([matrix, np.ones(9000)]) if constant else matrix
    weights = generator.normal(size=rows.size)
    predicted, total, bowed, plain = [], np.zeros(rows.size), np.zeros((rows.size,) * 2), np.zeros((rows.size,) * 2)
    for block in rows.blocks():
        predicted.append(block.predicted(weights))
        total += block.summed(slopes[block.part])
        block.add_bowed(bends[block.part], bowed)
        block.add_bowed(None, plain)
    assert len(predicted) > 1
    assert np.concatenate(predicted) == pytest.approx(matrix @ weights)
    assert total == pytest.approx(matrix.T @ slopes)
    assert bowed == pytest.approx((matrix.T * bends) @ matrix)
    assert plain == pytest.approx(matrix.T @ matrix)
    first = next(rows.blocks()).rows()[0]
    assert [float(number) for number in first] == pytest.approx(matrix[0].tolist())
