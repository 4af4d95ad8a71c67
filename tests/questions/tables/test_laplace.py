"""Tables for a pure price: least squares from noisy tables, against dense linear algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.term import Term
from sitr.questions.tables import laplace
from sitr.questions.tables.laplace import LaplaceTables
from sitr.questions.tables.workload import Workload
from tests.questions.tables.conftest import column, margin, workload

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

LEVELS = Workload(
    (column("a", 4, {"half": {"x": ["0", "2", "3"], "y": ["1"]}}), column("b", 3), column("c", 2)),
    (((0, 2), (1, 1)), ((0, 1), (2, 1)), ((1, 1), (2, 1))),
)
FLAT = workload((2, 3, 4), [(0, 1), (0, 2), (1, 2), (2,)])


def made(wanted: Workload) -> LaplaceTables:
    tables = laplace.measured(wanted)
    return LaplaceTables(wanted, tables, tuple(Laplace(Fraction(5 + place)) for place in range(len(tables))))


def dense(wanted: Workload, tables: LaplaceTables) -> tuple[np.ndarray, np.ndarray]:
    """All measured cells as one matrix, and the variance of each."""
    fine = laplace.flat(wanted)
    a = np.vstack([margin(fine, node) for node in tables.tables])
    v = np.concatenate(
        [np.full(fine.cells(node), n.deviation**2) for node, n in zip(tables.tables, tables.noises, strict=True)]
    )
    return a, v


@pytest.mark.parametrize("wanted", [FLAT, LEVELS])
def test_estimates_and_variances_are_those_of_least_squares(wanted: Workload) -> None:
    tables, fine = made(wanted), laplace.flat(wanted)
    a, v = dense(wanted, tables)
    noisy = np.random.default_rng(3).integers(0, 99, len(a))
    inverse = np.linalg.pinv(a.T @ np.diag(1 / v) @ a, rcond=1e-10)
    best = inverse @ a.T @ np.diag(1 / v) @ noisy
    sizes = [fine.cells(node) for node in tables.tables]
    parts = [
        part.reshape(fine.shape(node))
        for part, node in zip(np.split(noisy, np.cumsum(sizes)[:-1]), tables.tables, strict=True)
    ]
    known = tables.residuals(parts)
    for node in wanted.tables:
        m = margin(wanted, node)
        np.testing.assert_allclose(tables.estimate(node, known).ravel(), m @ best, atol=1e-8)
        found = np.broadcast_to(tables.variance(node), wanted.shape(node)).ravel()
        np.testing.assert_allclose(found, np.diag(m @ inverse @ m.T), rtol=1e-8)


@pytest.mark.parametrize("wanted", [FLAT, LEVELS])
def test_the_noise_of_a_cell_has_the_weights_of_least_squares(wanted: Workload) -> None:
    tables = made(wanted)
    a, v = dense(wanted, tables)
    inverse = np.linalg.pinv(a.T @ np.diag(1 / v) @ a, rcond=1e-10)
    for node in wanted.tables:
        weights = margin(wanted, node) @ inverse @ a.T @ np.diag(1 / v)
        rows = {tuple(np.sort(np.round(np.abs(row[np.abs(row) > 1e-9]), 7))) for row in weights}
        found = set()
        for held in tables.sizes(node):
            listed = [
                float(each.weight) for each in tables.summands(node, held, times=Fraction(1)) for _ in range(each.count)
            ]
            found.add(tuple(np.sort(np.round([weight for weight in listed if weight > 1e-9], 7))))
        assert found == rows


def test_widths_hold_as_often_as_they_say() -> None:
    tables = made(FLAT)
    node = FLAT.tables[0]
    wide = laplace.width([(tables, Fraction(1))], node, confidence=0.9)
    coins, missed = TestCoins(5), 0
    fine = laplace.flat(FLAT)
    for _ in range(600):
        noisy = [
            noise.release(np.zeros(fine.shape(at), np.int64).ravel(), coins=coins).reshape(fine.shape(at))
            for at, noise in zip(tables.tables, tables.noises, strict=True)
        ]
        missed += abs(tables.estimate(node, tables.residuals(noisy))[0, 0]) > wide
    assert 30 <= missed <= 95  # 60 are expected


def test_one_unit_moves_a_table_by_its_rows() -> None:
    assert laplace.distance(Term(), rows=3, relation=Relation.ADD_REMOVE).l1 == 3
    assert laplace.distance(Term(), rows=3, relation=Relation.REPLACE_ONE).l1 == 6
    far = laplace.distance(Term(), rows=3, relation=Relation.REPLACE_ONE)
    assert laplace.noise(PureDP(1.0), Fraction(1, 2), far).promise() == PureDP(0.5)


def test_shares_add_up_and_follow_the_weights() -> None:
    tables = laplace.measured(FLAT)
    assert len(tables) == 3
    even = laplace.shares(FLAT, tables, [1, 1, 1, 1], largest=True)
    assert even == [Fraction(1, 3)] * 3
    heavy = laplace.shares(FLAT, tables, [4, 1, 1, 1], largest=True)
    assert sum(heavy) == 1
    assert float(heavy[tables.index(FLAT.tables[0])]) == pytest.approx(0.5, abs=0.01)


def test_one_table_of_all_columns_is_tried_if_it_is_small() -> None:
    assert laplace.choices(FLAT) == [False, True]
    assert laplace.choices(workload([100] * 4, [(0, 1), (2, 3)])) == [False]
