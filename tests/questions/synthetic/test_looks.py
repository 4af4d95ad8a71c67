"""The second look: pairs that look independent are left out, and ridges get finer groups."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.synthetic.looks import FirstLook, choose
from sitr.questions.synthetic.plan import Division, Method
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way
from tests.oracles.axes import granular

GROUPS, CELLS, ROWS = 16, 64, 200_000
PRICE = ZeroConcentratedDP(0.015)
AXES = tuple(granular(name, Kind.INTEGER, 0, CELLS - 1, Fraction(1), CELLS) for name in "abcd")
DIVISION = Division(Sheet(AXES, Row(), Relation.ADD_REMOVE, 1), Way(PRICE, PRICE), Method.MARGINALS)
BY_FOURS = [np.arange(CELLS) // 4] * 4
EVEN = np.full((GROUPS, GROUPS), 1 / GROUPS**2)
RIDGE = np.eye(GROUPS) / GROUPS
BLOCKS = np.kron(np.eye(2), np.ones((GROUPS // 2, GROUPS // 2))) * 2 / GROUPS**2


def look(columns: tuple[int, ...], shares: np.ndarray, *, deviation: float = 40.0) -> FirstLook:
    noise = np.random.default_rng(hash(columns) % 97).normal(0, deviation, shares.shape)
    return FirstLook(columns, ROWS * shares + noise, deviation, EVEN)


def test_noise_is_not_trusted_and_a_ridge_is() -> None:
    assert look((0, 1), EVEN).trust(ROWS) < 0.2
    assert look((0, 1), RIDGE).trust(ROWS) > 0.95
    assert look((0, 1), RIDGE, deviation=1e9).trust(ROWS) < 0.2


@pytest.mark.parametrize(("truth", "part"), [(EVEN, 0.3), (RIDGE, 0.5), (BLOCKS, 0.9)], ids=["even", "ridge", "blocks"])
def test_shares_are_nearer_to_the_truth_than_noisy_counts(truth: np.ndarray, part: float) -> None:
    noisy = look((0, 1), truth, deviation=150.0)
    found = noisy.shares(ROWS)
    assert np.abs(found - truth).sum() < part * np.abs(noisy.counts / ROWS - truth).sum()
    np.testing.assert_allclose(found.sum(axis=0), 1 / GROUPS, rtol=1e-6)
    assert found.min() >= 0


def chosen(truths: dict[tuple[int, ...], np.ndarray]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], int]:
    looks = [look(pair, truths.get(pair, EVEN)) for pair in combinations(range(4), 2)]
    found = choose(looks, total=ROWS, division=DIVISION, groups=BY_FOURS, cells=(CELLS,) * 4)
    return [*found.pairs], [*found.finer], found.most


def test_pairs_that_look_independent_are_not_measured_again() -> None:
    assert chosen({(0, 1): BLOCKS, (2, 3): RIDGE})[0] == [(0, 1), (2, 3)]
    assert chosen({}) == ([], [], GROUPS)


def test_a_ridge_gets_finer_groups_and_blocks_do_not() -> None:
    """What groups of 8 hide of a ridge, groups of 16 hide half of; two blocks are the same by 8 groups and by 16."""
    _, finer, most = chosen({(0, 1): BLOCKS, (2, 3): RIDGE})
    assert finer == [(2, 3)]
    assert GROUPS < most


def test_columns_without_groups_need_no_finer_ones() -> None:
    looks = [look((0, 1), RIDGE)]
    sheet = replace(DIVISION.sheet, axes=AXES[:2])
    alone = [np.arange(GROUPS)] * 2
    found = choose(looks, total=ROWS, division=replace(DIVISION, sheet=sheet), groups=alone, cells=(GROUPS, GROUPS))
    assert (found.pairs, found.finer) == (((0, 1),), ())
