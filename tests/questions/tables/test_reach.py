"""How far one unit moves many tables: against all vectors that it can add, for small sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from sitr.neighbors.relation import Relation
from sitr.questions.tables.optimum import least_largest, least_of_all
from sitr.questions.tables.reach import moves, replaced, rows_worth
from sitr.questions.tables.workload import Node, Workload
from tests.questions.tables.conftest import column, information, planned, workload

PAIRS = [(0, 1), (0, 2), (1, 2)]


def precisions(variances):
    return {node: 1 / variance for node, variance in variances.items()}


def agreeing(workload: Workload, precisions: Mapping[Node, float], agree: Mapping[int, bool]) -> float:
    """M_ab for two cells that agree in some columns, where all cells of a column are one family."""
    return sum(
        precision
        * math.prod(
            agree[column] - 1 / families[0] for (column, _), families in zip(node, workload.axes(node), strict=True)
        )
        for node, precision in precisions.items()
    )


@pytest.mark.parametrize("tables", [PAIRS, [(0,), (1,), (2,)], [(0, 1, 2)], [(0, 1), (2,)], [(0, 1), ()]])
@pytest.mark.parametrize("largest", [False, True])
def test_moving_a_row_costs_what_the_worst_of_all_pairs_of_cells_does(tables: list[Any], largest: bool) -> None:
    wanted = workload((2, 3, 4), tables)
    variances = planned(wanted, largest=largest)
    m = information(wanted, variances)
    far = max(m[a, a] + m[b, b] - 2 * m[a, b] for a in range(24) for b in range(24))
    found = replaced(wanted, precisions(variances))
    assert found == pytest.approx(max(1.0, far / m[0, 0]), rel=1e-6)
    assert found >= far / m[0, 0]


def test_the_worst_replacement_of_sizes_2_3_4_costs_more_than_twice_a_row() -> None:
    """√2 for replacing one row, as for a single table, would be too little: with other noise it is above 2.6."""
    wanted = workload((2, 3, 4), PAIRS)
    variances = planned(wanted, weights=[1.0, 1.0, 1.0])
    assert replaced(wanted, precisions(variances)) > 2.1
    worst = dict(variances)
    worst[((0, 1), (1, 1))] /= 10
    m = information(wanted, worst)
    far = max(m[a, a] + m[b, b] - 2 * m[a, b] for a in range(24) for b in range(24)) / m[0, 0]
    assert far > 2.6
    assert replaced(wanted, precisions(worst)) == pytest.approx(far, rel=1e-6)


def test_eight_rows_in_different_cells_cost_more_than_eight_times_one() -> None:
    """All pairs of 10 × 10 × 10: rows that share two columns share margins, 25.6 μ² and not 8 μ²."""
    wanted = workload((10, 10, 10), PAIRS)
    known = precisions(planned(wanted))
    one = agreeing(wanted, known, {0: True, 1: True, 2: True})
    two = agreeing(wanted, known, {0: True, 1: True, 2: False})
    line = (8 * one + 8 * 7 * two) / one
    assert line == pytest.approx(25.6, abs=0.05)
    cube = [*product((0, 1), repeat=3)]
    corners = sum(agreeing(wanted, known, {i: a[i] == b[i] for i in range(3)}) for a in cube for b in cube) / one
    assert 8 < corners < line < 64


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_vector_of_few_rows_costs_more_than_all_rows_in_one_cell(rows: int) -> None:
    wanted = workload((2, 3), [(0,), (1,), (0, 1)])
    variances = planned(wanted)
    m = information(wanted, variances)
    units = [np.bincount(cells, minlength=6) for cells in combinations_with_replacement(range(6), rows)]
    most = max(v @ m @ v for v in units)
    worth = rows_worth(wanted, precisions(variances), rows=rows, low=0, high=1, relation=Relation.ADD_REMOVE)
    assert float(worth) ** 2 == pytest.approx(most / m[0, 0])
    fewer = [
        np.bincount(cells, minlength=6) for n in range(rows + 1) for cells in combinations_with_replacement(range(6), n)
    ]
    moved = max((v - w) @ m @ (v - w) for v in fewer for w in fewer)
    worth = rows_worth(wanted, precisions(variances), rows=rows, low=0, high=1, relation=Relation.REPLACE_ONE)
    assert worth**2 >= moved / m[0, 0]
    assert worth**2 <= moved / m[0, 0] * (1 + 1e-6)  # all rows move together
    assert worth < 2 * rows


DISTRICTS: dict[str, Any] = {
    "even": {"region": {"north": ["0", "1"], "south": ["2", "3"], "west": ["4", "5"]}},
    "deep": {
        "region": {"a": ["0", "1"], "b": ["2", "3"], "c": ["4"], "d": ["5"]},
        "country": {"x": ["a", "b"], "y": ["c", "d"]},
    },
    "uneven": {"region": {"north": ["0", "1", "2", "3"], "south": ["4", "5"]}},
    "alone": {"region": {"north": ["0"], "south": ["1", "2", "3", "4", "5"]}},
}


@pytest.mark.parametrize("name", DISTRICTS)
@pytest.mark.parametrize("largest", [False, True])
def test_hierarchies_are_bounded_for_all_pairs_of_cells(name: str, largest: bool) -> None:
    """The bound is reached, unless no two cells of different groups are both in the largest ones."""
    groups = DISTRICTS[name]
    district, last = column("district", 6, groups), len(groups) + 1
    tables = tuple(((0, level), (1, 1)) for level in range(1, last + 1))
    wanted = Workload((district, column("sex", 3)), (*tables, ((0, last),)))
    variances = planned(wanted, largest=largest)
    m = information(wanted, variances)
    whole = sum(wanted.weight(node) / variance for node, variance in variances.items())
    far = max(m[a, a] + m[b, b] - 2 * m[a, b] for a in range(18) for b in range(18)) / whole
    found = replaced(wanted, precisions(variances))
    assert far <= found * (1 + 1e-12)
    assert found <= max(1, far) * (1 + (0.1 if name in ("alone", "uneven") else 1e-6))


@pytest.mark.parametrize("groups", DISTRICTS.values(), ids=DISTRICTS)
def test_no_other_noise_beats_the_proved_bound_for_replaced_rows(groups: Any) -> None:
    """The dual is below what any noise reaches, and the plan within 0.2% of it."""
    wanted = Workload((column("district", 6, groups), column("sex", 2)), (((0, 2), (1, 1)), ((0, 1),), ((1, 1),)))
    bases = wanted.bases()
    costs = np.array([wanted.weight(base) for base in bases])
    matrix, prices = wanted.matrix(bases), np.vstack([costs[None, :], moves(wanted, bases)])
    random = np.random.default_rng(3)
    for largest in (True, False):
        found = least_of_all(matrix, prices, np.ones(3), largest=largest)
        assert (prices @ (1 / found.variances)).max() == pytest.approx(1.0)
        assert found.gap <= 1e-3
        for _ in range(200):
            other = found.variances * random.uniform(0.8, 1.25, len(costs))
            known = dict(zip(bases, (1 / other).tolist(), strict=True))
            charged = replaced(wanted, known) * float(costs @ (1 / other))
            reached = matrix @ other
            assert (reached.max() if largest else reached.sum()) * charged >= found.bound


def test_the_division_for_added_rows_is_worse_for_replaced_ones() -> None:
    """Ten columns of two values: replacing a row moves no total, so the total may be precise at no cost."""
    wanted = workload([2] * 10, [(place,) for place in range(10)])
    bases = wanted.bases()
    costs = np.array([wanted.weight(base) for base in bases])
    matrix, prices = wanted.matrix(bases), np.vstack([costs[None, :], moves(wanted, bases)])
    found = least_of_all(matrix, prices, np.ones(10), largest=True)
    assert found.bound <= 10 + 1 / 3 <= found.value * (1 + 1e-9)  # u_∅ = 4/3 and u = 20 are the best, by hand
    added = least_largest(matrix, costs, np.ones(10))
    assert added.value * replaced(wanted, dict(zip(bases, 1 / added.variances, strict=True))) > 1.27 * found.value


def test_many_columns_are_bounded_without_looking_at_all_sets() -> None:
    wanted = workload([4] * 14, [(i, j) for i in range(14) for j in range(i)])
    known = precisions(planned(wanted))
    one = sum(wanted.weight(node) * precision for node, precision in known.items())
    found = replaced(wanted, known)
    for agree in range(15):
        common = agreeing(wanted, known, {place: place < agree for place in range(14)})
        assert 2 * (one - common) / one <= found


@pytest.mark.parametrize(("low", "high"), [(-3, 5), (-1, 5), (0, 5), (-4, 0), (-2, 2)])
def test_values_of_rows_count(low: int, high: int) -> None:
    wanted = workload((2, 3), [(0,), (1,)])
    variances = planned(wanted)
    m = information(wanted, variances)
    ends = [(a, y) for a in range(6) for y in (low, high, 0)]
    moved = max(y * y * m[a, a] + z * z * m[b, b] - 2 * y * z * m[a, b] for a, y in ends for b, z in ends)
    known = precisions(variances)
    replacing = rows_worth(wanted, known, rows=1, low=low, high=high, relation=Relation.REPLACE_ONE)
    assert replacing**2 * (1 + 1e-12) >= moved / m[0, 0]
    assert float(replacing) ** 2 == pytest.approx(moved / m[0, 0])  # and no more than that
    adding = rows_worth(wanted, known, rows=2, low=low, high=high, relation=Relation.ADD_REMOVE)
    assert adding == 2 * max(-low, high)


def test_many_rows_with_large_values_are_counted_exactly() -> None:
    """A float would round 3·(2^53 + 1) to an even number below it."""
    wanted = workload((2, 3), [(0,), (1,)])
    known = precisions(planned(wanted))
    found = rows_worth(wanted, known, rows=3, low=0, high=2**53 + 1, relation=Relation.ADD_REMOVE)
    assert found == 3 * (2**53 + 1)
    replacing = rows_worth(wanted, known, rows=3, low=0, high=2**53 + 1, relation=Relation.REPLACE_ONE)
    assert replacing**2 >= 9 * (2**53 + 1) ** 2
