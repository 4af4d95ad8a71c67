"""A mixture follows all pairs at once: near the noisy tables, and nearer to the truth than single columns are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.mixture import MOST, Mixture, _Goal, fit
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.sheet import Sheet


@pytest.fixture
def measured(sheet: Sheet, town: Codes) -> Measured:
    return measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town, coins=TestCoins(3))


def test_pairs_are_followed(sheet: Sheet, town: Codes, measured: Measured) -> None:
    parts: list[float] = []
    model = fit(measured, first=40, most=40, steps=200, progress=parts.append)
    assert parts == [0.25, 0.5, 0.75, 1.0, 1.0]
    fitted, independent = [], []
    for i, j in combinations(range(4), 2):
        shape = (sheet.grid.shape[i], sheet.grid.shape[j])
        true = np.bincount(np.ravel_multi_index((town[:, i], town[:, j]), shape), minlength=shape[0] * shape[1])
        share = true.reshape(shape) / len(town)
        fitted.append(np.abs(model.marginal(i, j) - share).sum())
        independent.append(np.abs(np.outer(measured.shares[i], measured.shares[j]) - share).sum())
    assert np.mean(fitted) < 0.2 < 0.5 < np.mean(independent)
    for product, share in zip(model.products, measured.shares, strict=True):
        assert product.min() >= 0
        np.testing.assert_allclose(product.sum(axis=1), 1.0, rtol=1e-9)
        assert not product[:, share == 0].any()  # what single columns do not have, no row has


def test_an_empty_table_can_be_fitted(sheet: Sheet, town: Codes) -> None:
    """And the same tables give the same model: nothing is drawn in a fit."""
    nothing = measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town[:0], coins=TestCoins(3))
    model, again = (fit(nothing, first=5, most=10, steps=50) for _ in "ab")
    assert all(np.isfinite(product).all() for product in model.products)
    np.testing.assert_array_equal(model.products[0], again.products[0])


def test_marginals() -> None:
    model = Mixture((np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])))
    assert model.marginal(0).tolist() == [0.5, 0.5]
    assert model.marginal(0, 1).tolist() == [[0.25, 0.25], [0.0, 0.5]]


def test_the_slope_is_the_derivative(measured: Measured) -> None:
    """Against differences of ½·Σ (fitted − noisy)²/s², summed table by table."""
    goal = _Goal.of(measured)
    logits = goal.start(3)

    def loss(at: np.ndarray) -> float:
        columns = goal.columns(at)
        found = 0.0
        for table in measured.pairs:
            i, j = table.columns
            expected = columns[i].T @ columns[j] / 3 * goal.total
            found += float(((expected - table.counts) ** 2).sum()) / table.deviation**2 / 2
        single = goal.probabilities(at).mean(axis=0) - goal.alone
        return found + float((single**2 * goal.alone_weights).sum()) / 2

    slope = goal.slope(logits) / 3
    generator = np.random.default_rng(2)
    for _ in range(10):
        way = generator.normal(size=logits.shape)
        step = 1e-4
        difference = (loss(logits + step * way) - loss(logits - step * way)) / (2 * step)
        assert float((slope * way).sum()) == pytest.approx(difference, rel=1e-4)
        assert float((2 * slope * way).sum()) != pytest.approx(difference, rel=1e-4)


def test_a_model_grows_until_it_follows_its_tables(measured: Measured) -> None:
    small = fit(measured, first=2, most=2, steps=200)
    assert (0, 1) in small.missed  # two components cannot tell four wards from age
    grown = fit(measured, first=2, steps=200)
    assert grown.missed == ()
    assert 2 < grown.components < MOST


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.1), PureDP(1.0)], ids=repr)
def test_the_truth_is_not_missed_and_a_wrong_model_is(sheet: Sheet, town: Codes, price: Promise) -> None:
    """Noisy tables of the same rows: 40 times the true shares pass, and independent columns do not."""
    made = plan(sheet, price, method=Method.MARGINALS)
    for seed in range(40):
        found = measure(made, town, coins=TestCoins(seed))
        goal = _Goal.of(found)
        # A mixture of which each component is one row follows the rows exactly.
        shares = [np.eye(goal.sizes[place])[found.groups[place][town[:, place]]] for place in range(4)]
        logits = np.log(np.maximum(np.hstack(shares), 1e-30))
        assert goal.missed(logits) == ()
    assert len(goal.missed(np.log(np.maximum(goal.alone, 1e-30))[None, :])) >= 4
