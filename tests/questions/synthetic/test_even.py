"""Exchanges bring pairs of columns nearer to the model and prefer nothing; twins with a mistake are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import draw, even
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.draw import from_sample
from sitr.questions.synthetic.even import evened
from sitr.questions.synthetic.weighted_rows import WeightedRows

RARE = 1e-6


def sample(*cells: int, rows: int = 1) -> WeightedRows:
    """Rows of columns with two atoms each, or with one atom if there is one row."""
    generator = np.random.default_rng(1)
    atoms = tuple(np.arange(count) * min(2, rows) // count for count in cells)
    codes = np.column_stack([generator.integers(0, int(each.max()) + 1, rows) for each in atoms]).astype(np.int32)
    shares = tuple(generator.dirichlet(np.full(count, 3.0)) for count in cells)
    return WeightedRows(codes, generator.dirichlet(np.full(rows, 3.0)), atoms, shares)


def pair(rows: Codes, i: int, j: int, cells: tuple[int, ...]) -> Codes:
    return np.bincount(rows[:, i] * cells[j] + rows[:, j], minlength=cells[i] * cells[j])


def far(model: WeightedRows, rows: Codes, cells: tuple[int, ...]) -> float:
    """The mean Σ |count − expected| of all pairs, for each row."""
    pairs = [(i, j) for i in range(len(cells)) for j in range(i)]
    gaps = [np.abs(pair(rows, i, j, cells) - len(rows) * model.marginal(i, j).ravel()).sum() for i, j in pairs]
    return float(np.mean(gaps)) / len(rows)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are drawn without exchanges."""
    monkeypatch.setattr(draw, "evened", lambda _, rows, **__: rows)


@pytest.mark.usefixtures("plain")
def test_columns_keep_their_cells_and_rows_their_atoms() -> None:
    model = sample(12, 9, 16, rows=40)
    rows = from_sample(model, 3_000, coins=TestCoins(2))
    found = evened(model, rows, coins=TestCoins(3))
    assert (found != rows).mean() > 0.1
    for place, atoms in enumerate(model.atoms):
        assert np.array_equal(np.bincount(found[:, place]), np.bincount(rows[:, place]))
        assert np.array_equal(atoms[found[:, place]], atoms[rows[:, place]])


@pytest.mark.usefixtures("plain")
def test_pairs_come_nearer_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Independent draws of a multinomial law stray by √(2e(1 − p)/π) on average; exchanges halve that."""
    cells = (12, 9, 16, 10)
    model = sample(*cells)
    rows = from_sample(model, 5_000, coins=TestCoins(2))
    before = far(model, rows, cells)
    independent = [np.sqrt(2 * model.marginal(i, j) / (np.pi * 5_000)).sum() for i in range(4) for j in range(i)]
    assert before == pytest.approx(float(np.mean(independent)), rel=0.1)
    assert far(model, evened(model, rows, coins=TestCoins(3)), cells) < before / 2
    monkeypatch.setattr(even, "_exchange", _exchange_anything)
    assert far(model, evened(model, rows, coins=TestCoins(3)), cells) > 0.9 * before


def _exchange_anything(_: object, rows: Codes, column: int, __: object, first: Codes, second: Codes) -> None:
    rows[first, column], rows[second, column] = rows[second, column], rows[first, column]


def biased(model: WeightedRows, cells: tuple[int, ...], *, rows: int, draws: int) -> bool:
    """Whether the mean counts of a pair in many draws are farther from the expected ones than chance explains."""
    coins = TestCoins(4)
    counts = np.array([pair(from_sample(model, rows, coins=coins), 0, 1, cells) for _ in range(draws)])
    apart = counts.mean(axis=0) - rows * model.marginal(0, 1).ravel()
    statistic = draws * (apart**2 / counts.var(axis=0)).sum()
    return bool(statistic > chi2.ppf(1 - RARE, counts.shape[1]))


def test_on_average_a_pair_comes_as_often_as_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows, so that nearly every expected count lies between two whole numbers. If the counts of another model were
    wanted, in which the two columns depend on each other, the mean would move."""
    cells = (5, 4, 3)
    model = sample(*cells)
    assert not biased(model, cells, rows=60, draws=300)
    atoms = (np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1]), model.atoms[2])
    tilted = replace(
        model, rows=np.array([[0, 0, 0], [1, 1, 0]], dtype=np.int32), weights=np.array([0.5, 0.5]), atoms=atoms
    )
    of = even._Excess.of
    monkeypatch.setattr(even._Excess, "of", lambda _, rows, coins: of(tilted, rows, coins))
    assert biased(model, cells, rows=60, draws=300)


def test_wanted_counts_are_the_expected_ones_on_average() -> None:
    expected, coins = np.array([0.0, 0.2, 1.5, 3.0, 7.9]), TestCoins(9)
    wanted = np.array([even._rounded(expected, coins) for _ in range(4_000)])
    assert ((wanted == np.floor(expected)) | (wanted == np.ceil(expected))).all()
    assert np.abs(wanted.mean(axis=0) - expected).max() < 5 * 0.5 / 4_000**0.5
    assert np.abs(np.rint(expected) - expected).max() > 5 * 0.5 / 4_000**0.5  # the nearest ones would not be


@pytest.mark.parametrize("rows", [0, 1, 2, 30])
def test_few_rows_stay_rows(rows: int) -> None:
    model = sample(5, 4, 3, rows=7)
    found = from_sample(model, rows, coins=TestCoins(5))
    assert found.shape == (rows, 3)
    assert np.array_equal(evened(model, found, coins=TestCoins(6)).shape, found.shape)


@pytest.mark.usefixtures("plain")
def test_more_rows_than_can_be_looked_at_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample(5, 4, 3)
    rows = from_sample(model, 1_000, coins=TestCoins(5))
    assert not np.array_equal(evened(model, rows, coins=TestCoins(6)), rows)
    monkeypatch.setattr(even, "MOST_WORK", 2_999)
    assert np.array_equal(evened(model, rows, coins=TestCoins(6)), rows)
