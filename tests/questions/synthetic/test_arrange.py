"""Rows are arranged so that all of them follow the rules, and the margins stay what they were."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.arrange import drawn_columns, made_possible, ordered_granules, possible_joint
from sitr.questions.synthetic.draw import from_joint
from sitr.questions.synthetic.structure import Ordered, Possible, Structure
from tests.questions.synthetic.test_structure import CHAINS, axis, values


@pytest.mark.parametrize("pairs", CHAINS, ids=repr)
def test_values_are_in_order_in_every_possible_row(pairs: list[tuple[int, int]]) -> None:
    axes = (axis("a", 0, 7, 3), axis("b", 2, 6, 4), axis("c", 1, 9, 3))
    possible = Possible(axes, tuple(pairs), ())
    every = np.array(list(product(range(4), range(5), range(4))))
    codes = np.repeat(every[possible.holds(every)], 50, axis=0)
    drawn = drawn_columns(axes, codes, [pa.int64()] * 3, possible, coins=TestCoins(1))
    for place, (column, of) in enumerate(zip(drawn, axes, strict=True)):
        for code, value in zip(codes[:, place].tolist(), column.to_pylist(), strict=True):
            assert value in values(of, code)
    rows = list(zip(*(column.to_pylist() for column in drawn), strict=True))
    assert all(row[i] is None or row[j] is None or row[i] <= row[j] for row in rows for i, j in pairs)
    plain = drawn_columns(axes, codes, [pa.int64()] * 3, None, coins=TestCoins(1))
    loose = zip(*(column.to_pylist() for column in plain), strict=True)
    assert any(row[i] is not None and row[j] is not None and row[i] > row[j] for row in loose for i, j in pairs)


def test_pairs_within_a_cell_are_equally_likely() -> None:
    """All 10 ordered pairs of a cell of 4 values, each with probability 1/10: a χ² statistic of 9 degrees."""
    axes = (axis("a", 0, 3, 1), axis("b", 0, 3, 1))
    codes = np.zeros((40_000, 2), dtype=np.int64)
    found = ordered_granules(Possible(axes, ((0, 1),), ()), codes, coins=TestCoins(3))
    counts = np.bincount(found[0] * 4 + found[1], minlength=16).reshape(4, 4)
    assert counts[np.tril_indices(4, -1)].tolist() == [0] * 6
    upper = counts[np.triu_indices(4)]
    assert ((upper - 4000) ** 2 / 4000).sum() < 33.7  # exceeded once in 10^4
    swapped = np.sort(np.random.default_rng(1).integers(0, 4, (40_000, 2)), axis=1)  # the twin: sorted, not conditioned
    twin = np.bincount(swapped[:, 0] * 4 + swapped[:, 1], minlength=16).reshape(4, 4)[np.triu_indices(4)]
    assert ((twin - 4000) ** 2 / 4000).sum() > 33.7


def test_a_long_chain_ends() -> None:
    """Seven columns in one cell are in order once in 5,040 times: rows are not drawn again for ever."""
    axes = tuple(axis(name, 0, 10**6, 1) for name in "abcdefg")
    possible = Possible(axes, tuple((i, i + 1) for i in range(6)), ())
    codes = np.zeros((500, 7), dtype=np.int64)
    found = ordered_granules(possible, codes, coins=TestCoins(1))
    assert possible.kept(found, codes).all()


def independent(rows: int = 20_000) -> tuple[np.ndarray, Possible]:
    """Three columns whose cells are drawn without regard to the rules, so that many rows are impossible."""
    axes = (axis("a", 0, 59, 10), axis("b", 0, 59, 10), axis("c", 0, 59, 10))
    generator = np.random.default_rng(3)
    a = generator.integers(0, 10, rows)
    b = np.clip(a + generator.integers(-2, 6, rows), 0, 9)
    c = generator.integers(0, 11, rows)
    null = np.arange(rows) % 10 == 0
    other = np.roll(null, 1) if rows else null
    both = np.where(np.arange(rows) < rows // 5, other, null)  # as many NULLs as the first column, not in the same rows
    codes = np.column_stack([np.where(null, 10, a), np.where(both, 10, b), c])
    return codes, Possible(axes, ((0, 1),), ((0, 1),))


def test_exchanges_keep_the_margins() -> None:
    codes, possible = independent()
    impossible = (~possible.holds(codes)).mean()
    assert 0.1 < impossible < 0.4
    made = made_possible(codes, possible, coins=TestCoins(1))
    assert possible.holds(made).all()
    assert (made[:, 2] == codes[:, 2]).all()  # a column without a rule
    assert not np.may_share_memory(made, codes)

    def share(found: np.ndarray, place: int) -> np.ndarray:
        return np.bincount(found[:, place], minlength=11) / len(found)

    def moved(found: np.ndarray) -> float:
        """The largest Σ|p − q| of a column."""
        return max(float(np.abs(share(found, place) - share(codes, place)).sum()) for place in range(2))

    assert moved(made) < 0.02
    assert moved(codes[possible.holds(codes)]) > 0.1  # the twin: impossible rows are left out


def test_possible_rows_stay_as_they_are() -> None:
    codes, possible = independent()
    codes = codes[possible.holds(codes)]
    assert (made_possible(codes, possible, coins=TestCoins(1)) == codes).all()


def test_nulls_meet() -> None:
    """As many rows lack a as lack b: all of them find each other, and no share changes."""
    axes = (axis("a"), axis("b"))
    codes = np.array([[3, 0]] * 50 + [[0, 3]] * 50 + [[1, 2]] * 300)
    made = made_possible(codes, Possible(axes, (), ((0, 1),)), coins=TestCoins(1))
    assert np.unique(made, axis=0, return_counts=True)[1].sum() == 400
    assert [(np.sort(made[:, i]) == np.sort(codes[:, i])).all() for i in range(2)] == [True, True]
    assert ((made[:, 0] == 3) == (made[:, 1] == 3)).all()
    assert (made[:, 0] == 3).sum() == 50


def test_rows_whom_no_exchange_helps_take_the_cells_of_others() -> None:
    possible = Possible((axis("a"), axis("b")), ((0, 1),), ())
    mixed = np.array([[2, 0]] * 30 + [[0, 0]] * 3)
    assert possible.holds(made_possible(mixed, possible, coins=TestCoins(1))).all()
    hopeless = np.array([[2, 0]] * 5)
    made = made_possible(hopeless, possible, coins=TestCoins(1))
    assert (made == possible.example()).all()
    assert possible.holds(made).all()
    assert made_possible(hopeless[:0], possible, coins=TestCoins(1)).shape == (0, 2)


def test_one_table_loses_its_impossible_cells() -> None:
    axes = (axis("a", null=False), axis("b", null=False))
    possible = Possible(axes, ((0, 1),), ())
    share = np.arange(1.0, 10.0) / 45
    kept = possible_joint(share, (3, 3), possible)
    assert kept.reshape(3, 3)[np.tril_indices(3, -1)].tolist() == [0.0] * 3
    assert kept.reshape(3, 3)[np.triu_indices(3)].tolist() == share.reshape(3, 3)[np.triu_indices(3)].tolist()
    codes = from_joint(kept, 1000, coins=TestCoins(1))
    assert set(codes.tolist()) == {0, 1, 2, 4, 5, 8}
    assert possible_joint(share, (3, 3), None) is share
    impossible = np.zeros(9)
    impossible[3] = 1.0
    assert possible_joint(impossible, (3, 3), possible).sum() == 1.0


def test_margins_stay_what_the_data_have() -> None:
    """A model that knows the margins and the order only roughly: within-cell pairs keep their weight.

    Rejecting rows by their values, as a condition in `never` does, loses about half of the pairs within one cell.
    """
    generator = np.random.default_rng(2)
    start = generator.integers(0, 60, 60_000)
    end = np.minimum(start + generator.geometric(0.15, 60_000) - 1, 71)
    axes = (axis("a", 0, 71, 12, null=False), axis("b", 0, 71, 12, null=False))
    joint = np.bincount(start // 6 * 12 + end // 6, minlength=144) / 60_000
    possible = Structure(ordered=(Ordered("a", "b"),)).possible(axes)
    assert possible is not None

    def drawn(with_rule: bool) -> tuple[np.ndarray, np.ndarray]:
        rule = possible if with_rule else None
        cells = np.column_stack(np.unravel_index(from_joint(joint, 60_000, coins=TestCoins(1)), (12, 12)))
        a, b = drawn_columns(axes, cells, [pa.int64()] * 2, rule, coins=TestCoins(2))
        return a.to_numpy(), b.to_numpy()

    def far(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(np.bincount(a // 6 * 12 + b // 6, minlength=144) / len(a) - joint).sum())

    a, b = drawn(True)
    assert (a <= b).all()
    assert far(a, b) < 0.003  # each cell comes ⌊Np⌋ or ⌈Np⌉ times
    a, b = drawn(False)
    assert far(a[a <= b], b[a <= b]) > 0.1
