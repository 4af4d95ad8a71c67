"""From residuals to tables that add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sitr.noise.contrasts import contrasts
from sitr.questions.tables import estimate
from sitr.questions.tables.workload import Workload, parent
from tests.questions.tables.conftest import column, margin, residual, workload

UNEVEN = Workload(
    (
        column("district", 5, {"region": {"x": ["0", "3"], "y": ["1", "2", "4"]}}),
        column("b", 3),
        column("c", 2),
    ),
    (((0, 2), (1, 1)), ((0, 1), (2, 1)), ((0, 2), (1, 1), (2, 1))),
)
FLAT = workload((2, 3, 4), [(0, 1), (0, 2), (1, 2)])


def exact(wanted: Workload, cells: np.ndarray, node) -> np.ndarray:
    return np.asarray(np.rint(margin(wanted, node) @ cells).astype(np.int64).reshape(wanted.shape(node)))


@pytest.mark.parametrize("wanted", [FLAT, UNEVEN])
def test_tables_follow_from_exact_residuals(wanted: Workload) -> None:
    size = int(np.prod([len(each.levels[-1].labels) for each in wanted.ladders]))
    cells = np.random.default_rng(1).integers(0, 50, size)
    known: Any = {base: contrasts(exact(wanted, cells, base), wanted.axes(base)) for base in wanted.bases()}
    for base in wanted.bases():
        np.testing.assert_allclose(np.ravel(known[base]), residual(wanted, base)[0] @ cells)
    for node in estimate.lineage(wanted.tables):
        np.testing.assert_allclose(estimate.table(wanted, node, known), exact(wanted, cells, node))


@pytest.mark.parametrize("wanted", [FLAT, UNEVEN])
def test_variances_are_those_of_the_estimate_column_by_column(wanted: Workload) -> None:
    """The estimate is linear in Z: its matrix, found by trying every unit vector, gives the variance of each cell."""
    variances = {base: 1.0 + place for place, base in enumerate(wanted.bases())}
    for node in wanted.tables:
        total = np.zeros(wanted.shape(node))
        for base, variance in variances.items():
            shape = wanted.shape(base)
            for place in range(int(np.prod(shape, dtype=int))):
                unit: Any = np.zeros(int(np.prod(shape, dtype=int)))
                unit[place] = 1
                moved: Any = np.asarray(contrasts(unit.reshape(shape), wanted.axes(base)))
                total += variance * estimate.table(wanted, node, {base: moved}) ** 2
        found = np.broadcast_to(estimate.variance(wanted, node, variances), wanted.shape(node))
        np.testing.assert_allclose(found, total, rtol=1e-9)


@pytest.mark.parametrize("wanted", [FLAT, UNEVEN])
@pytest.mark.parametrize("scale", [1.0, 1e15])
def test_whole_tables_add_up_and_are_near(wanted: Workload, scale: float) -> None:
    random = np.random.default_rng(4)
    known = {base: random.normal(0, 9 * scale, _residual_shape(wanted, base)) for base in wanted.bases()}
    nodes = estimate.lineage(wanted.tables)
    cells = {node: estimate.table(wanted, node, known) for node in nodes}
    found, far = estimate.whole(wanted, cells, step=0.01), estimate.blur(wanted, nodes)
    for node in nodes:
        near = np.abs(found[node].astype(np.float64) * 0.01 - cells[node]).max(initial=0.0)
        assert near <= far[node] * 0.01 + 1e-9 * scale
        for place, (each, level) in enumerate(node):
            sizes = wanted.ladders[each].families(level)
            starts = np.cumsum(sizes) - np.array(sizes)
            summed = np.add.reduceat(found[node], starts, axis=place)
            above = found[parent(node, place)]
            assert (np.squeeze(summed, place) if level == 1 else summed).tolist() == above.tolist()


def _residual_shape(wanted: Workload, base) -> list[int]:
    return [sum(families) - len(families) for families in wanted.axes(base)]


def test_rounding_each_cell_alone_would_not_add_up() -> None:
    """The broken twin of `whole`."""
    random = np.random.default_rng(4)
    known = {base: random.normal(0, 9, _residual_shape(FLAT, base)) for base in FLAT.bases()}
    cells = {node: estimate.table(FLAT, node, known) for node in estimate.lineage(FLAT.tables)}
    rounded = {node: np.rint(each / 0.1) for node, each in cells.items()}
    assert any((rounded[node].sum(axis=0) != rounded[parent(node, 0)]).any() for node in cells if len(node) == 2)


def test_steps_are_a_thousandth_of_a_deviation() -> None:
    assert estimate.steps({(): 10.0}, {(): 0.5}) == 2
    assert estimate.steps({(): 1e9}, {(): 0.5}) == -6
