"""Tables and the residuals from which they follow."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.questions.tables.workload import Workload, below, parent
from tests.questions.tables.conftest import column, information, margin, planned, residual, workload


def test_all_coarser_tables_are_below() -> None:
    assert set(below(((0, 2), (3, 1)))) == {
        (),
        ((0, 1),),
        ((0, 2),),
        ((3, 1),),
        ((0, 1), (3, 1)),
        ((0, 2), (3, 1)),
    }
    assert parent(((0, 2), (3, 1)), 0) == ((0, 1), (3, 1))
    assert parent(((0, 2), (3, 1)), 1) == ((0, 2),)


def test_bases_are_needed_once_and_have_numbers() -> None:
    found = workload((2, 1, 3), [(0, 1), (0, 2), (2,)])
    assert found.bases() == ((), ((0, 1),), ((2, 1),), ((0, 1), (2, 1)))


@pytest.mark.parametrize("largest", [False, True])
def test_variances_are_those_of_the_best_linear_unbiased_estimate(largest: bool) -> None:
    """Against A·(RᵀΣ⁻¹R)⁻¹·Aᵀ for sizes 2, 3 and 4, with the pseudo-inverse on what is measured."""
    wanted = workload((2, 3, 4), [(0, 1), (0, 2), (1, 2), (2,)])
    variances = planned(wanted, largest=largest, weights=[1.0, 2.0, 3.0, 0.5])
    inverse = np.linalg.pinv(information(wanted, variances), rcond=1e-10)
    bases = wanted.bases()
    found = wanted.matrix(bases) @ np.array([variances[base] for base in bases])
    for node, mine in zip(wanted.tables, found, strict=True):
        a = margin(wanted, node)
        np.testing.assert_allclose(np.diag(a @ inverse @ a.T), mine, rtol=1e-9)


def test_the_price_is_the_diagonal() -> None:
    wanted = workload((2, 3, 4), [(0, 1), (1, 2)])
    variances = planned(wanted)
    np.testing.assert_allclose(np.diag(information(wanted, variances)), 1.0, rtol=1e-12)
    assert sum(wanted.weight(base) / each for base, each in variances.items()) == pytest.approx(1.0)


def test_the_price_of_uneven_groups_is_at_most_what_is_charged() -> None:
    region = column("district", 5, {"region": {"north": ["0", "1", "2"], "south": ["3", "4"]}})
    wanted = Workload((region, column("sex", 2)), (((0, 2), (1, 1)), ((0, 1),)))
    variances = planned(wanted)
    diagonal = np.diag(information(wanted, variances))
    assert diagonal.max() == pytest.approx(1.0)
    assert diagonal.min() < 0.99
    assert residual(wanted, ((0, 2),))[0].shape == (3, 10)


def test_names() -> None:
    wanted = workload((2, 3), [(), (0, 1)])
    assert [wanted.name(node) for node in wanted.tables] == ["total", "c0 × c1"]
    assert wanted.cells(wanted.tables[1]) == 6
