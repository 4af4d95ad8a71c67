"""A field follows all pairs at once: near the noisy tables, and nearer to the truth than single columns are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sitr.dataset.schema import Kind
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import field
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.field import Dice, Goal, fit, rake, redraw
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.plan import Method, plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.tree import planted
from sitr.questions.synthetic.weighted_rows import WeightedRows
from tests.oracles.axes import granular


@pytest.fixture
def measured(sheet: Sheet, town: Codes) -> Measured:
    return measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town, coins=TestCoins(3))


def errors(model: WeightedRows, town: Codes, shape: tuple[int, ...], size: int) -> tuple[list[float], list[float]]:
    """Σ|p − q| of the sets of this many columns, for the model and for independent columns."""
    fitted, independent = [], []
    for columns in combinations(range(len(shape)), size):
        cells = tuple(shape[column] for column in columns)
        places = np.ravel_multi_index(tuple(town[:, column] for column in columns), cells)
        share = np.bincount(places, minlength=int(np.prod(cells))).reshape(cells) / len(town)
        alone = model.shares[columns[0]]
        for column in columns[1:]:
            alone = np.multiply.outer(alone, model.shares[column])
        fitted.append(float(np.abs(model.marginal(*columns) - share).sum()))
        independent.append(float(np.abs(alone - share).sum()))
    return fitted, independent


def test_pairs_and_triples_are_followed(sheet: Sheet, town: Codes, measured: Measured) -> None:
    parts: list[float] = []
    model = fit(measured, progress=parts.append)
    assert parts == pytest.approx([*(part / 10 for part in range(1, 10)), 1.0])
    pairs, apart = errors(model, town, sheet.grid.shape, 2)
    assert np.mean(pairs) < 0.12 < 0.5 < np.mean(apart)
    triples, apart = errors(model, town, sheet.grid.shape, 3)
    assert np.mean(triples) < 0.4 < 0.8 < np.mean(apart)
    assert model.possible(sheet.grid.shape)
    assert model.missed == ()
    for place, share in enumerate(model.shares):
        assert not model.marginal(place)[share == 0].any()  # what single columns do not have, no row has


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_a_low_price_rows_are_no_worse_than_independent_columns(sheet: Sheet, town: Codes, seed: int) -> None:
    """Against columns that got the whole price: little is spent on pairs that show nothing."""
    planned = plan(sheet, ApproximateDP(0.1, 1e-9), method=Method.MARGINALS)
    model = fit(measure(planned, town[:5_000], coins=TestCoins(seed)))
    pairs, apart = errors(model, town, sheet.grid.shape, 2)
    assert np.mean(pairs) < np.mean(apart)


def test_an_empty_table_can_be_fitted(sheet: Sheet, town: Codes) -> None:
    """And the same tables give the same model: no coins are tossed in a fit."""
    nothing = measure(plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS), town[:0], coins=TestCoins(3))
    model, again = (fit(nothing, fewest=500, rounds=2) for _ in "ab")
    assert np.isfinite(model.weights).all()
    np.testing.assert_array_equal(model.rows, again.rows)
    np.testing.assert_array_equal(model.weights, again.weights)


@pytest.mark.parametrize("price", [PureDP(1e-30), ZeroConcentratedDP(1e-60), ZeroConcentratedDP(1e6)], ids=repr)
def test_any_noise_can_be_fitted(sheet: Sheet, town: Codes, price: Promise) -> None:
    for seed in range(3):
        planned = plan(sheet, price, method=Method.MARGINALS)
        model = fit(measure(planned, town[:1_000], coins=TestCoins(seed)), fewest=500, work=3_000, rounds=2)
        assert model.possible(sheet.grid.shape)


def raked(goal: Goal) -> tuple[Codes, np.ndarray, list[np.ndarray], dict[tuple[int, ...], np.ndarray]]:
    rows, base = planted(goal.edges, goal.shares, size=20_000, dice=Dice().uniform)
    weights, factors = rake(goal, rows, [np.zeros(table.counts.size) for table in goal.tables])
    return rows, weights, factors, base


def test_raking_solves_a_table_exactly(measured: Measured) -> None:
    """At the optimum  u = (v − y)/(λs²)  in every cell: the logarithm of each factor is the error that it leaves. The
    last table was raked last."""
    goal = Goal.of(measured)
    for last in (0, len(goal.tables) - 1):
        turned = replace(goal, tables=(*goal.tables[last + 1 :], *goal.tables[: last + 1]))
        rows, weights, factors, _ = raked(turned)
        table, logs = turned.tables[-1], factors[-1]
        fitted = np.bincount(table.places(rows), weights=weights, minlength=table.counts.size)
        left = (fitted - table.counts.ravel()) / (field.LOYALTY * table.deviation**2)
        np.testing.assert_allclose(logs[fitted > 0], left[fitted > 0], atol=1e-4)
        assert not np.allclose(2 * logs[fitted > 0], left[fitted > 0], atol=1e-2)


def test_the_model_that_is_drawn_from_is_judged(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is a law: three times the weights are the same one, and fit the same tables. As numbers of rows they
    would miss all of them."""
    found = fit(measured, rounds=1)

    def tripled(*given: Any) -> Any:
        weights, factors = rake(*given)
        return 3 * weights, factors

    monkeypatch.setattr(field, "rake", tripled)
    again = fit(measured, rounds=1)
    assert again.missed == found.missed
    assert np.array_equal(again.rows, found.rows)
    goal = Goal.of(measured)
    rows = found.rows.T.astype(np.int64)
    assert goal.missed(rows, found.weights * goal.total) == found.missed
    assert len(goal.missed(rows, 3 * found.weights * goal.total)) == 6


def test_gibbs_sampling_keeps_the_law_of_weighted_rows(measured: Measured) -> None:
    """Rows drawn again by the factors follow the same tables as the weighted ones; by no factors, they do not."""
    goal = Goal.of(measured)
    rows, weights, factors, base = raked(goal)
    dice = Dice()
    chosen = rows[:, np.searchsorted(np.cumsum(weights) / weights.sum(), dice.uniform(20_000))]

    def apart(found: Codes) -> float:
        return float(
            np.mean(
                [
                    np.abs(
                        np.bincount(table.places(found), minlength=table.counts.size) / 20_000
                        - np.bincount(table.places(rows), weights=weights, minlength=table.counts.size) / goal.total
                    ).sum()
                    for table in goal.tables
                ]
            )
        )

    before, again, broken = apart(chosen), chosen.copy(), chosen.copy()
    redraw(goal, again, base, factors, dice)
    redraw(goal, broken, base, [-each for each in factors], dice)
    assert apart(again) < 1.5 * before
    assert apart(broken) > 1.5 * before


def test_counts_are_asked_for_as_exactly_as_rows_can_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little noise and narrow ridges, a few rows would carry the weight, and the model would be worse than with
    more noise."""
    generator = np.random.default_rng(4)
    size = generator.normal(size=20_000)
    columns = [np.clip((size + generator.normal(size=20_000) * 0.1 + 3) * 5, 0, 29) for _ in range(8)]
    ridge = np.column_stack(columns).astype(np.int64)
    axes = tuple(granular(f"c{place}", Kind.INTEGER, 0, 29, Fraction(1), 30) for place in range(8))
    wide = Sheet(axes, Row(), Relation.ADD_REMOVE, 1)
    exact = measure(plan(wide, ZeroConcentratedDP(10.0)), ridge, coins=TestCoins(3))
    model, shape = fit(exact), (30,) * 8
    assert 1 / (model.weights**2).sum() >= field.EFFECTIVE * len(model.weights)
    pairs, _ = errors(model, ridge, shape, 2)
    monkeypatch.setattr(field, "SOFT", 1e-9)
    monkeypatch.setattr(field, "EFFECTIVE", 0.0)
    broken, _ = errors(fit(exact), ridge, shape, 2)
    assert np.mean(pairs) < 0.8 * np.mean(broken)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.1), PureDP(1.0)], ids=repr)
def test_the_truth_is_not_missed_and_a_wrong_model_is(sheet: Sheet, town: Codes, price: Promise) -> None:
    """Noisy tables of the same rows: 40 times the true rows pass, and independent columns do not."""
    made = plan(sheet, price, method=Method.MARGINALS)
    generator = np.random.default_rng(1)
    for seed in range(40):
        goal = Goal.of(measure(made, town, coins=TestCoins(seed)))
        rows = np.vstack([atoms[column] for atoms, column in zip(goal.atoms, town.T, strict=True)])
        assert goal.missed(rows, np.ones(len(town))) == ()
    torn = np.vstack([generator.permutation(column) for column in rows])
    assert len(goal.missed(torn, np.ones(len(town)))) >= 4
