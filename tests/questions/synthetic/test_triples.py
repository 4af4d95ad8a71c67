"""Tables of triples cost a fixed part of the price, and are chosen by noisy numbers alone."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from sitr.dataset.schema import Kind
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.questions.synthetic import marginals, triples
from sitr.questions.synthetic.agreement import fits
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.draw import from_sample
from sitr.questions.synthetic.field import fit
from sitr.questions.synthetic.marginals import Measured, group, measure, shares
from sitr.questions.synthetic.plan import MOST_COLUMNS, TRIPLES, Method, SynthesisPlan, plan
from sitr.questions.synthetic.sheet import Sheet
from tests.oracles.axes import granular, keyed

RICH = ZeroConcentratedDP(2.0)


def planned(sheet: Sheet, price: Promise = RICH) -> SynthesisPlan:
    return plan(sheet, price, method=Method.MARGINALS, triples=True)


@pytest.fixture
def found(sheet: Sheet, town: Codes) -> Measured:
    return measure(planned(sheet), town, coins=TestCoins(3))


@pytest.mark.parametrize("price", [PureDP(8.0), RICH, ApproximateDP(5.0, 1e-9)], ids=repr)
@pytest.mark.parametrize("rows", [20_000, 20])
def test_all_noise_together_costs_the_price(sheet: Sheet, town: Codes, price: Promise, rows: int) -> None:
    """With triples and, where the rows are too few for them, without."""
    made = planned(sheet, price)
    found = measure(made, np.resize(town, (rows, 4)), coins=TestCoins(3))
    assert bool(found.triples) is (rows > 20)
    spent, whole = Composed(tuple(found.noises())).promise(), made.division.whole.price
    name = "rho" if isinstance(whole, ZeroConcentratedDP) else "epsilon"
    assert getattr(whole, name) * (1 - 1e-9) < getattr(spent, name) <= getattr(whole, name)
    second = Composed(tuple(each.noise for each in (*found.alone_again, *found.again, *found.triples))).promise()
    assert second.covers(made.division.looks()[1].price)


def test_the_part_of_triples_is_what_is_stated(found: Measured) -> None:
    """A twelfth of the price, of which nothing depends on the rows."""
    spent = Composed(tuple(each.noise for each in found.triples)).promise()
    assert isinstance(spent, ZeroConcentratedDP)
    assert spent.rho == pytest.approx(RICH.rho / 12, rel=1e-9)
    assert TRIPLES == Fraction(1, 8)


def test_the_plan_charges_the_same_with_triples(sheet: Sheet) -> None:
    for price in (PureDP(1.0), RICH, ApproximateDP(1.0, 1e-9)):
        one, other = planned(sheet, price), plan(sheet, price, method=Method.MARGINALS)
        assert one.price == other.price
        assert [each.mechanism for each in one.measurements] == [each.mechanism for each in other.measurements]
        assert one.measurements[-1].name == "pairs again, and triples"
        assert one.promise() == other.promise()


def test_counts_carry_exactly_their_noise(found: Measured, town: Codes) -> None:
    total, halved, cells = 0.0, 0.0, 0
    assert [each.columns for each in found.triples] == list(combinations(range(4), 3))
    for each in found.triples:
        parts = tuple(found.triple_groups[place][town[:, place]] for place in each.columns)
        exact = np.bincount(np.ravel_multi_index(parts, each.counts.shape), minlength=each.counts.size)
        squared = float(((each.counts.ravel() - exact) ** 2).sum())
        total += squared / each.deviation**2
        halved += squared / (each.deviation**2 / 2)
        cells += each.counts.size
    low, high = chi2.ppf([1e-6, 1 - 1e-6], cells)
    assert low < total < high
    assert not low < halved < high  # noise of half the variance would be noticed


@pytest.mark.parametrize("rows", [20_000, 3_000, 20, 0])
def test_groups_are_decided_by_released_numbers_alone(sheet: Sheet, town: Codes, rows: int) -> None:
    made, codes = planned(sheet, ZeroConcentratedDP(0.3)), np.resize(town, (rows, 4))
    found = measure(made, codes, coins=TestCoins(5))
    total = marginals._at_most(marginals._total(found.alone))
    first = tuple(shares(each.counts, total) for each in found.alone)
    fine = tuple(group(axis, share, made.division.groups(total)) for axis, share in zip(sheet.axes, first, strict=True))
    again = triples.groups_of_triples(made.division, first, fine, total)
    assert [each.tolist() for each in found.triple_groups] == [each.tolist() for each in again]


def test_more_rows_make_finer_groups_and_too_few_make_none(sheet: Sheet) -> None:
    division = planned(sheet, ZeroConcentratedDP(0.1)).division
    even = [np.full(cells, 1 / cells) for cells in sheet.grid.shape]
    groups = [np.arange(cells) for cells in sheet.grid.shape]
    made = [triples.groups_of_triples(division, even, groups, rows) for rows in (-5.0, 1e2, 1e4, 1e5, 1e9)]
    sizes = [max((int(each.max()) + 1 for each in found), default=0) for found in made]
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert sizes[-1] in (8, 9)
    assert triples.groups_of_triples(replace(division, triples=False), even, groups, 1e9) == ()


def test_groups_are_joined_and_never_cut() -> None:
    ordered = granular("n", Kind.INTEGER, 0, 99, Fraction(1), 100, nulls=True)
    share = np.full(101, 1 / 101)
    fine = group(ordered, share, 20)
    joined = triples._joined(ordered, share, fine, 4)
    assert joined.max() + 1 == 5  # one more for NULL
    assert len({*zip(fine.tolist(), joined.tolist(), strict=True)}) == fine.max() + 1
    assert (np.diff(joined) >= 0).all()
    ward = keyed("ward", Kind.TEXT, keys=tuple("abcdef"))
    weights = np.array([0.1, 0.4, 0.05, 0.3, 0.1, 0.05])
    found = triples._joined(ward, weights, np.arange(6), 3)
    assert found.tolist() == [2, 0, 2, 1, 2, 2]
    assert triples._joined(ward, weights, np.arange(6), 6).tolist() == list(range(6))


def test_one_unit_moves_a_table_of_triples_by_the_distance_of_the_sheet(sheet: Sheet, town: Codes) -> None:
    """Each row is in one cell of each table, so rows of a unit move it as they move any other."""
    dice = np.random.default_rng(4)
    worst: dict[Relation, float] = {}
    shape = sheet.grid.shape

    def counts(codes: Codes, columns: tuple[int, ...]) -> np.ndarray:
        sizes = tuple(shape[place] for place in columns)
        return np.bincount(np.ravel_multi_index(tuple(codes[:, columns].T), sizes), minlength=math.prod(sizes))

    for _ in range(40):
        base, one, two = (town[dice.integers(0, len(town), size)] for size in (50, 1, 1))
        one, two = np.repeat(one, 3, axis=0), np.repeat(two, 3, axis=0)
        for relation, left, right in (
            (Relation.ADD_REMOVE, base, np.vstack([base, one])),
            (Relation.REPLACE_ONE, np.vstack([base, one]), np.vstack([base, two])),
        ):
            distance = replace(sheet, relation=relation, most_rows=3).distance()
            for columns in combinations(range(4), 3):
                moved = counts(left, columns) - counts(right, columns)
                assert np.abs(moved).sum() <= distance.l1
                assert (moved**2).sum() <= distance.l2_squared
                worst[relation] = max(worst.get(relation, 0.0), float((moved**2).sum()) / distance.l2_squared)
    assert worst == {Relation.ADD_REMOVE: 1.0, Relation.REPLACE_ONE: 1.0}


def test_what_was_measured_is_as_planned(found: Measured, sheet: Sheet, town: Codes) -> None:
    assert found.possible()
    without = plan(sheet, RICH, method=Method.MARGINALS)
    assert not replace(found, plan=without).possible()
    assert not replace(found, triples=()).possible()
    assert not replace(found, triples=(), triple_groups=()).possible()  # then pairs have all of the second look
    assert not replace(found, triples=found.triples[1:]).possible()
    assert not replace(found, triples=found.triples[::-1]).possible()
    assert not replace(found, triple_groups=found.triple_groups[1:]).possible()
    assert not replace(found, triple_groups=tuple(each + 1 for each in found.triple_groups)).possible()
    first, *rest = found.triples
    for counts in (first.counts[:-1], np.full_like(first.counts, np.inf)):
        assert not replace(found, triples=(replace(first, counts=counts), *rest)).possible()
    assert not replace(found, triples=(replace(first, noise=found.alone[0].noise), *rest)).possible()
    poor = measure(planned(sheet), town[:5], coins=TestCoins(1))
    assert poor.triples == ()
    assert poor.possible()


def test_one_table_of_all_columns_has_its_triples_anyway(sheet: Sheet) -> None:
    one = plan(sheet, RICH, method=Method.JOINT, triples=True)
    assert one == plan(sheet, RICH, method=Method.JOINT)


@pytest.mark.parametrize("columns", [2, MOST_COLUMNS + 1])
def test_triples_of_too_few_or_too_many_columns_are_refused(sheet: Sheet, columns: int) -> None:
    axes = tuple(granular(f"n{place}", Kind.INTEGER, 0, 3, Fraction(1), 4) for place in range(columns))
    with pytest.raises(QuestionError, match="3 to 15 columns"):
        planned(replace(sheet, axes=axes))
    enough = tuple(granular(f"n{place}", Kind.INTEGER, 0, 3, Fraction(1), 4) for place in range(MOST_COLUMNS))
    assert planned(replace(sheet, axes=enough)).division.triple_error() is not None


def test_what_only_three_columns_show_together_is_kept(sheet: Sheet) -> None:
    """The third column is the exclusive or of the others: all pairs are independent, and only the triple tells."""
    dice = np.random.default_rng(2)
    codes = dice.integers(0, 4, (20_000, 4))
    codes[:, 2] = (codes[:, 0] ^ codes[:, 1]) // 2 * 2 + codes[:, 2] % 2
    axes = tuple(granular(f"n{place}", Kind.INTEGER, 0, 3, Fraction(1), 4) for place in range(4))
    kept = {}
    for wanted in (True, False):
        made = plan(replace(sheet, axes=axes, most_rows=1), RICH, method=Method.MARGINALS, triples=wanted)
        measured = measure(made, codes, coins=TestCoins(3))
        rows = from_sample(fit(measured), 20_000, coins=TestCoins(4))
        kept[wanted] = float(np.mean((rows[:, 0] ^ rows[:, 1]) // 2 == rows[:, 2] // 2))
        compared = [each for each in fits(measured, rows) if len(each.columns) == 3]
        assert len(compared) == (4 if wanted else 0)
        assert all(each.score > 0.97 for each in compared)
    assert kept[True] > 0.98
    assert kept[False] < 0.55


def test_a_gaussian_price_is_spent_whole(sheet: Sheet, town: Codes) -> None:
    price = ApproximateDP(3.0, 1e-2)
    found = measure(planned(sheet, price), town, coins=TestCoins(2))
    spent, most = Composed(tuple(found.noises())).promise(), GaussianDP.fitting(price).mu
    assert found.triples
    assert isinstance(spent, GaussianDP)
    assert most * (1 - 1e-9) < spent.mu <= most
