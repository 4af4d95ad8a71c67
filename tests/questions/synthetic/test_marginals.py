"""What is measured costs what was charged; groups and pairs are chosen from noisy counts alone."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from sitr.dataset.schema import Kind
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import marginals
from sitr.questions.synthetic import plan as planning
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.looks import choose
from sitr.questions.synthetic.marginals import Measured, first_looks, group, measure, shares
from sitr.questions.synthetic.plan import Method, SynthesisPlan, plan
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import granular, keyed


def measured(sheet: Sheet, codes: Codes, price: Promise, method: Method | None = None, seed: int = 3) -> Measured:
    return measure(plan(sheet, price, method=method), codes, coins=TestCoins(seed))


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1)], ids=repr)
@pytest.mark.parametrize("method", Method)
def test_all_noise_together_costs_the_price(sheet: Sheet, town: Codes, price: Promise, method: Method) -> None:
    spent = Composed(tuple(measured(sheet, town, price, method).noises())).promise()
    assert spent.covers(price)
    parameter = "epsilon" if isinstance(price, PureDP) else "rho"
    assert getattr(spent, parameter) == pytest.approx(getattr(price, parameter), rel=1e-9)


@pytest.mark.parametrize("price", [ApproximateDP(1.0, 1e-9), ApproximateDP(0.05, 1e-3)], ids=repr)
@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("relation", Relation)
def test_what_is_charged_of_an_approximate_price_covers_all_noise(
    sheet: Sheet, town: Codes, price: ApproximateDP, method: Method, relation: Relation
) -> None:
    """Laplace noise spends all of ε and no δ; Gaussian noise spends the largest μ that implies (ε, δ), all of it."""
    made = plan(replace(sheet, relation=relation), price, method=method)
    spent = Composed(tuple(measure(made, town, coins=TestCoins(3)).noises())).promise()
    if isinstance(spent, PureDP):
        assert made.price == ApproximateDP(price.epsilon, 0.0)
        assert price.epsilon * (1 - 1e-9) < spent.epsilon <= price.epsilon
    else:
        assert isinstance(spent, GaussianDP)
        assert made.price == price
        most = GaussianDP.fitting(price).mu
        assert most * (1 - 1e-9) < spent.mu <= most
        assert spent.delta(epsilon=price.epsilon) <= price.delta
        assert not GaussianDP(1.01 * most).covers(price)


def test_the_plan_is_the_same_for_neighbours_and_for_no_rows_at_all(sheet: Sheet, town: Codes) -> None:
    """Method, noise and shares are fixed before rows are read. Only groups may differ: they come from noisy marginals
    and never decide how much of the price a stage spends."""
    made = plan(sheet, ApproximateDP(1.0, 1e-9), method=Method.MARGINALS)
    for codes in (town, town[1:], np.vstack([town, town[:1]]), town[:0]):
        found = measure(made, codes, coins=TestCoins(3))
        assert [table.noise for table in found.alone] == made.division.alone()
        assert [table.columns for table in found.pairs] == [(i, j) for i in range(4) for j in range(i + 1, 4)]
        for tables, look in zip((found.pairs, (*found.alone_again, *found.again)), made.division.looks(), strict=True):
            spent, share = Composed(tuple(table.noise for table in tables)).promise(), look.price
            assert isinstance(spent, PureDP)
            assert isinstance(share, PureDP)
            assert share.epsilon * (1 - 1e-9) < spent.epsilon <= share.epsilon


@pytest.mark.parametrize("price", [ApproximateDP(1.0, 1e-9), ZeroConcentratedDP(0.001), PureDP(1.0)], ids=repr)
def test_the_second_look_is_decided_by_released_numbers_alone(sheet: Sheet, town: Codes, price: Promise) -> None:
    """What is measured again, and by which groups, follows from the first look, without the rows: so the noise of the
    second look hides its tables as if they had been fixed in advance."""
    chosen = set()
    for seed in range(4):
        for codes in (town, town[:500], town[:0]):
            found = measured(sheet, codes, price, Method.MARGINALS, seed)
            total = marginals._at_most(marginals._total(found.alone))  # by the first look
            first = tuple(shares(each.counts, total) for each in found.alone)
            groups = tuple(
                group(axis, share, found.plan.division.groups(total))
                for axis, share in zip(sheet.axes, first, strict=True)
            )
            levels = [
                marginals._groupings_of(axis, *each) for axis, *each in _columns(sheet, first, groups, found, total)
            ]
            columns, choice = choose(
                first_looks(replace(found, total=total, shares=first, groups=groups)),
                total=max(total, 1.0),
                division=found.plan.division,
                shares=first,
                groupings=levels,
            )
            assert [each.tolist() for each in found.groups] == [each.tolist() for each in groups]
            assert [each.columns for each in found.again] == [each.columns for each in choice]
            assert found.again_cells == (*columns, *(each.cells for each in choice))
            for again, by in zip(choice, found.again_groups, strict=True):
                for place, level, each in zip(again.columns, again.levels, by, strict=True):
                    assert each.tolist() == levels[place][level].tolist()
            chosen.add(tuple(choice))
    assert len(chosen) > 1  # and it does depend on them


def _columns(sheet: Sheet, first: Any, groups: Any, found: Measured, total: float) -> Any:
    most = found.plan.division.groups(total)
    return zip(sheet.axes, first, groups, [most] * len(first), strict=True)


def test_the_number_of_rows_is_the_mean_of_all_tables(sheet: Sheet, town: Codes) -> None:
    """By all tables, it is nearer to the truth than by those of the first look at single columns, which are a fifth."""
    found = [measured(sheet, town, ZeroConcentratedDP(0.001), Method.MARGINALS, seed) for seed in range(30)]
    every, first = (
        [number - len(town) for number in numbers]
        for numbers in ((each.total for each in found), (marginals._total(each.alone) for each in found))
    )
    assert np.std(every) < 0.8 * np.std(first)
    assert abs(np.mean(every)) < 3.5 * np.std(every) / math.sqrt(30)


def test_finer_groups_divide_groups() -> None:
    """So few sets of cells have to be told apart in the fit. A heavy cell does not stop it."""
    share = np.array([0.9, *np.full(63, 0.1 / 63)])
    axis = granular("cost", Kind.INTEGER, 0, 63, Fraction(1), 64)
    first = group(axis, share, 14)
    levels = marginals._groupings_of(axis, share, first, 14)
    sizes = [int(each.max()) + 1 for each in levels]
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (int(first.max()) + 1, 64)
    for coarse, fine in pairwise(levels):
        assert len({*zip(coarse.tolist(), fine.tolist(), strict=True)}) == fine.max() + 1


def test_a_choice_of_pairs_is_paid_for_too(sheet: Sheet, town: Codes, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (planning, marginals):
        monkeypatch.setattr(module, "MOST_PAIRS", 3)
    price = ZeroConcentratedDP(0.1)
    found = measured(sheet, town, price, Method.MARGINALS)
    assert (len(found.chosen_by), len(found.pairs)) == (6, 3)
    assert Composed(tuple(found.noises())).promise().rho == pytest.approx(0.1, rel=1e-9)  # type: ignore[union-attr]
    # Age goes with everything, and most with costs.
    assert (0, 2) in [table.columns for table in found.pairs]
    assert (1, 3) not in [table.columns for table in found.pairs]


def exact_marginals(sheet: Sheet, codes: Codes) -> list[np.ndarray]:
    """The same without noise: what the noise of `measure` hides."""

    found = []
    shape = sheet.grid.shape
    for i, cells in enumerate(shape):
        found.append(np.bincount(codes[:, i], minlength=cells))
        for j in range(i):
            flat = codes[:, i] * shape[j] + codes[:, j]
            found.append(np.bincount(flat, minlength=cells * shape[j]))
    found.append(np.bincount(np.ravel_multi_index(tuple(codes.T), shape)))
    return found


def test_counts_carry_exactly_their_noise(sheet: Sheet, town: Codes) -> None:
    """Noisy less exact counts are as large as the noise says: Σ z²/σ² over all cells follows χ²."""
    found = measured(sheet, town, ZeroConcentratedDP(0.1), Method.MARGINALS)
    total, cells, halved = 0.0, 0, 0.0
    singles = [(table, (np.arange(table.counts.size),)) for table in (*found.alone, *found.alone_again)]
    first = [(table, tuple(found.groups[place] for place in table.columns)) for table in found.pairs]
    second = [*zip(found.again, found.again_groups, strict=True)]
    assert second
    for table, groups in (*singles, *first, *second):
        parts = tuple(each[town[:, place]] for place, each in zip(table.columns, groups, strict=True))
        exact = np.bincount(np.ravel_multi_index(parts, table.counts.shape), minlength=table.counts.size)
        noise = table.counts.ravel() - exact
        total += float((noise**2).sum()) / table.deviation**2
        halved += float((noise**2).sum()) / (table.deviation / 2**0.5) ** 2
        cells += noise.size
    low, high = chi2.ppf([1e-7, 1 - 1e-7], cells)
    assert low < total < high
    assert not low < halved < high  # noise of half the variance would be noticed


def test_one_unit_moves_each_table_by_no_more_than_its_noise_is_fitted_to(sheet: Sheet, town: Codes) -> None:
    """Replayed on neighbours: rows of one unit added, removed or replaced, at random and all in one cell."""
    generator = np.random.default_rng(2)
    worst = {"add-remove": 0.0, "replace-one": 0.0}
    for _ in range(60):
        m = 3
        base = town[generator.integers(0, len(town), 50)]
        first, second = (town[generator.integers(0, len(town), 1 if generator.random() < 0.5 else m)] for _ in "ab")
        first, second = (np.repeat(rows, m, axis=0)[:m] if len(rows) == 1 else rows for rows in (first, second))
        for relation, left, right in (
            ("add-remove", base, np.vstack([base, first])),
            ("replace-one", np.vstack([base, first]), np.vstack([base, second])),
        ):
            for one, other in zip(exact_marginals(sheet, left), exact_marginals(sheet, right), strict=True):
                size = max(len(one), len(other))
                moved = np.pad(one, (0, size - len(one))) - np.pad(other, (0, size - len(other)))
                distance = replace(sheet, relation=type(sheet.relation)(relation), most_rows=m).distance()
                assert np.abs(moved).sum() <= distance.l1
                assert (moved**2).sum() <= distance.l2_squared
                worst[relation] = max(worst[relation], float((moved**2).sum()) / distance.l2_squared)
    assert worst == {"add-remove": 1.0, "replace-one": 1.0}  # and no smaller bound would do


def test_groups_of_an_ordered_column_weigh_the_same() -> None:
    axis = granular("n", Kind.INTEGER, 0, 99, Fraction(1), 100, nulls=True)
    share = np.append(np.linspace(1, 3, 100), 5.0)
    groups = group(axis, share / share.sum(), 8)
    weights = np.bincount(groups, weights=share)
    assert (len(weights), groups[-1]) == (9, 8)
    assert (np.diff(groups) >= 0).all()
    assert weights[:-1].max() < 1.2 * weights[:-1].min()


def test_a_heavy_cell_is_a_group_by_itself() -> None:
    axis = granular("gain", Kind.INTEGER, 0, 99, Fraction(1), 100)
    share = np.full(100, 0.1 / 99)
    share[0] = 0.9
    groups = group(axis, share, 10)
    assert (groups == groups[0]).sum() < 10
    assert groups.max() + 1 <= 10


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("method", Method)
def test_hardly_any_rows(sheet: Sheet, town: Codes, rows: int, method: Method) -> None:
    found = measured(sheet, town[:rows], ZeroConcentratedDP(0.5), method)
    for share in found.shares:
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1.0)


def test_a_column_of_one_cell(sheet: Sheet) -> None:
    axes = (keyed("one", Kind.TEXT, keys=("x",)), *sheet.axes)
    codes = np.zeros((100, 5), dtype=np.int64)
    found = measured(replace(sheet, axes=axes), codes, ZeroConcentratedDP(0.5), Method.MARGINALS)
    assert found.shares[0].tolist() == [1.0]


def test_more_rows_make_finer_groups(sheet: Sheet) -> None:
    made: SynthesisPlan = plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS)
    numbers = [made.division.groups(total) for total in (-5.0, 1e3, 1e5, 1e9)]
    assert numbers[0] == 2
    assert numbers == sorted(numbers)
    assert numbers[-1] == planning.MOST_GROUPS


@pytest.mark.sampled(3)
@pytest.mark.parametrize("price", [PureDP(1e-30), ZeroConcentratedDP(1e-60), ApproximateDP(1e-30, 1e-60)], ids=repr)
@pytest.mark.parametrize("method", Method)
def test_noise_larger_than_any_data_set_fails_nothing(
    sheet: Sheet, town: Codes, price: Promise, method: Method
) -> None:
    """The price is spent when this runs, so no noise may stop it. Half of the totals are far above 2^53."""
    totals = [measured(sheet, town, price, method, seed).total for seed in range(8)]
    assert max(totals) == 2.0**53
    assert min(totals) < 0


@pytest.mark.parametrize("method", [*Method, None])
@pytest.mark.parametrize("price", [PureDP(1.0), ApproximateDP(0.5, 1e-9), PureDP(1e-30)], ids=repr)
def test_what_was_measured_is_as_planned(sheet: Sheet, town: Codes, price: Promise, method: Method | None) -> None:
    made = plan(sheet, price, method=method)
    for codes in (town, town[:0]):
        found = measure(made, codes, coins=TestCoins(1))
        assert found.possible()
        assert not replace(found, plan=plan(sheet, PureDP(2.0), method=method)).possible()


def test_chosen_pairs_are_as_planned(monkeypatch: pytest.MonkeyPatch, sheet: Sheet, town: Codes) -> None:
    for module in (planning, marginals):
        monkeypatch.setattr(module, "MOST_PAIRS", 2)
    made = plan(sheet, PureDP(1.0), method=Method.MARGINALS)
    found = measure(made, town, coins=TestCoins(1))
    assert len(found.pairs) == 2 < len(found.chosen_by)
    assert found.possible()
    assert not replace(found, again=found.again[::-1] + found.again[:1]).possible()
    assert not replace(found, alone_again=found.alone_again[1:]).possible()
    assert not replace(found, again_cells=tuple(each + 1000 for each in found.again_cells)).possible()
    assert not replace(found, again_cells=(0,) * len(found.again_cells)).possible()
    assert not replace(found, again_groups=found.again_groups[1:]).possible()
    for other in ((), found.pairs[:1], (found.pairs[0], found.pairs[0]), found.pairs[::-1] + found.chosen_by[-1:]):
        assert not replace(found, pairs=other).possible()
    assert not replace(found, chosen_by=found.chosen_by[1:]).possible()
