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
from sitr.questions.synthetic.looks import Again, FirstLook, _Column, _Prices, choose
from sitr.questions.synthetic.plan import LEFT, NORMAL, Division, Method
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way
from tests.oracles.axes import granular

GROUPS, CELLS, ROWS = 16, 64, 200_000
PRICE = ZeroConcentratedDP(0.015)
AXES = tuple(granular(name, Kind.INTEGER, 0, CELLS - 1, Fraction(1), CELLS) for name in "abcd")
DIVISION = Division(Sheet(AXES, Row(), Relation.ADD_REMOVE, 1), Way(PRICE, PRICE), Method.MARGINALS)
LEVELS = [[np.arange(CELLS) // 4, np.arange(CELLS) // 2, np.arange(CELLS)]] * 4
COLUMNS = [np.full(CELLS, 1 / CELLS)] * 4
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


def chosen(truths: dict[tuple[int, ...], np.ndarray]) -> list[Again]:
    looks = [look(pair, truths.get(pair, EVEN)) for pair in combinations(range(4), 2)]
    return choose(looks, total=ROWS, division=DIVISION, shares=COLUMNS, groupings=LEVELS)[1]


def test_pairs_that_look_independent_are_not_measured_again() -> None:
    assert [each.columns for each in chosen({(0, 1): BLOCKS, (2, 3): RIDGE})] == [(0, 1), (2, 3)]
    assert chosen({}) == []


@pytest.mark.parametrize(("rho", "measured"), [(5e-6, []), (0.005, [(0, 1)])])
def test_a_weak_dependence_is_measured_again_only_if_it_is_worth_its_price(
    rho: float, measured: list[tuple[int, ...]]
) -> None:
    """Rows of the table differ from independence by 10%, which the first look sees well in both cases."""
    slope = np.outer(np.linspace(-1, 1, GROUPS), np.linspace(-1, 1, GROUPS))
    weak = look((0, 1), EVEN * (1 + 0.4 * slope), deviation=20.0)
    assert weak.trust(ROWS) > 0.8
    assert 0.08 < np.abs(weak.shares(ROWS) - EVEN).sum() < 0.15
    price = ZeroConcentratedDP(rho)
    division = replace(DIVISION, way=Way(price, price))
    _, found = choose([weak], total=ROWS, division=division, shares=COLUMNS, groupings=LEVELS)
    assert [each.columns for each in found] == measured


@pytest.mark.parametrize("paired", [0.0, 3e4], ids=["alone", "beside pairs"])
@pytest.mark.parametrize("root", [0.5, 1.0], ids=["Gaussian", "Laplace"])
def test_weights_of_single_columns_make_the_error_of_all_pairs_least(root: float, paired: float) -> None:
    """The noise of a column is in all of its pairs, less what is known of its cells already. Where the weights have
    settled, no other division between two columns and a table of a pair is better; that by cells alone is worse."""
    one, pair, groups = 2e-4, 400.0, 16
    columns = [
        _Column(place, np.full(cells, 1 / cells), alone, groups, paired, 3 / LEFT)
        for place, (cells, alone) in enumerate([(64, 1e5), (32, 3e4)])
    ]

    def error(weights: np.ndarray) -> float:
        """Σ κes/n over all pairs: groups of a column are known from three sources, differences within from two."""
        deviations = one * ((weights ** (power)).sum() / weights**power) ** root
        found = LEFT * pair * deviations[2]
        for column, own in zip(columns, deviations[:2] ** -2, strict=True):
            cells, part = column.shares.size, groups / column.shares.size
            known = own + column.alone
            found += 3 * cells * ((1 - part) * known**-0.5 + part * (known + paired / part) ** -0.5)
        return float(found)

    power = 1 / (1 + root)
    weights = np.array([64.0, 32.0, pair])
    for _ in range(60):
        prices = _Prices(one, float((weights**power).sum()), root)
        weights = np.array(
            [*(each.weight(w, prices, [], []) for each, w in zip(columns, weights[:2], strict=True)), pair]
        )
    least = error(weights)
    for place in range(3):
        for factor in (0.7, 1.4):
            assert error(np.where(np.arange(3) == place, factor * weights, weights)) > least
    assert error(np.array([64.0, 32.0, pair])) > 1.01 * least


def test_a_ridge_gets_finer_groups_and_blocks_do_not() -> None:
    """What groups of 8 hide of a ridge, groups of 16 hide half of; two blocks are the same by 8 groups and by 16."""
    blocks, ridge = chosen({(0, 1): BLOCKS, (2, 3): RIDGE})
    assert blocks.levels == (0, 0)
    assert min(ridge.levels) > 0


def test_a_price_is_divided_by_the_cells_that_hold_something() -> None:
    """Half of the cells of two blocks are empty, and all but few of a ridge, however fine its groups are."""
    blocks, ridge = chosen({(0, 1): BLOCKS, (2, 3): RIDGE})
    assert GROUPS**2 / 2 <= blocks.cells < 0.8 * GROUPS**2
    finer = 2 ** sum(ridge.levels)
    assert GROUPS * finer / 2 <= ridge.cells < GROUPS**2 * finer / 2


def test_a_column_of_few_cells_leaves_room_for_groups_of_the_other() -> None:
    """The same dependence on a column of 2 cells and on one of 16: its table may have more groups of the other column.

    With 16 cells, noise in 1,024 cells would cost more than the groups hide.
    """
    rising = np.linspace(0.2, 1.8, GROUPS) / GROUPS
    slope = np.column_stack([rising, 2 / GROUPS - rising]) / 2
    few = FirstLook((0, 1), 40_000 * slope, 20.0, np.full((GROUPS, 2), 0.5 / GROUPS))
    wide = np.repeat(slope, 8, axis=1) / 8
    many = FirstLook((2, 3), 40_000 * wide, 20.0, EVEN)
    two, sixteen = np.arange(2), np.arange(GROUPS)
    levels = [LEVELS[0], [two], LEVELS[0], [sixteen]]
    shares = [np.full(len(each[0]), 1 / len(each[0])) for each in levels]
    found = {
        each.columns: each.levels
        for each in choose([few, many], total=40_000, division=DIVISION, shares=shares, groupings=levels)[1]
    }
    assert found[0, 1][0] > found[2, 3][0]


def test_columns_without_groups_need_no_finer_ones() -> None:
    looks = [look((0, 1), RIDGE)]
    sheet = replace(DIVISION.sheet, axes=AXES[:2])
    alone = [[np.arange(GROUPS)]] * 2
    shares = [np.full(GROUPS, 1 / GROUPS)] * 2
    _, (found,) = choose(looks, total=ROWS, division=replace(DIVISION, sheet=sheet), shares=shares, groupings=alone)
    assert (found.columns, found.levels) == ((0, 1), (0, 0))


CARRIED = np.array([3.0, 40.0, 500.0, 2_000.0])


def noise_of_all(weights: np.ndarray, root: float) -> float:
    """Σ κes/n of tables of e cells, in units of κs₁/n, where a table with the weight w of W has s = s₁(W/w)^root."""
    return float((CARRIED * (weights.sum() / weights) ** root).sum())


@pytest.mark.parametrize("root", [0.5, 1.0])
def test_weights_in_proportion_to_a_power_of_the_cells_are_the_best(root: float) -> None:
    """e^⅔ for Gaussian noise and √e for Laplace noise; weights of another power, or a little beside, are worse."""
    power = _Prices(1.0, 1.0, root).power
    least = noise_of_all(CARRIED**power, root)
    assert least == pytest.approx(float((CARRIED**power).sum()) ** (1 + root))
    generator = np.random.default_rng(1)
    for _ in range(100):
        assert noise_of_all(CARRIED**power * np.exp(0.1 * generator.standard_normal(4)), root) >= least
    assert all(noise_of_all(CARRIED**other, root) > 1.005 * least for other in (power - 0.15, power + 0.15))


@pytest.mark.parametrize("root", [0.5, 1.0])
def test_a_table_takes_more_from_the_others_than_its_own_noise(root: float) -> None:
    """One more small table adds 3/2 or 2 times its own noise to all noise, and not once."""
    power, cells = _Prices(1.0, 1.0, root).power, 2.0
    before, weight = float((CARRIED**power).sum()), cells**power
    own = cells * (before / weight) ** root
    added = (before + weight) ** (1 + root) - before ** (1 + root)
    assert added == pytest.approx((1 + root) * own, rel=0.02)
    assert added > 1.3 * own


@pytest.mark.parametrize("root", [0.5, 1.0])
def test_effective_cells_hold_more_than_their_noise(root: float) -> None:
    """A cell of the share p counts as min(1, p/s) for its noise s at the weight of the table, which is found together
    with it: with the returned number, both sides agree. Half as many or twice as many cells do not."""
    shares = np.append(np.full(10, 0.09), np.full(990, 0.1 / 990))
    prices = _Prices(1e-3, 30.0, root)
    cells, noise = prices.effective(shares, 1.0)

    def held(count: float) -> float:
        return float(np.minimum(1.0, shares / (1e-3 * (30.0 / count**prices.power) ** root)).sum())

    assert 10 < cells < 990
    assert held(cells) == pytest.approx(cells, rel=0.02)
    assert all(abs(held(other) / other - 1) > 0.2 for other in (cells / 2, 2 * cells))
    assert noise == pytest.approx(cells * 1e-3 * (30.0 / cells**prices.power) ** root)


def test_noise_of_the_second_look_is_the_mean_of_its_size() -> None:
    assert pytest.approx(np.abs(np.random.default_rng(2).normal(0, 1, 400_000)).mean(), rel=0.005) == NORMAL
