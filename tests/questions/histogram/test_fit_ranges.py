"""The choice of a method for ranges: from public numbers, the best of all, and with exact intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sitr.dataset.cells import Categories, Even, Grid, Rule
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row, Unit
from sitr.noise.coins import TestCoins
from sitr.numbers import exact
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.histogram.fit_ranges import fit_ranges
from sitr.questions.histogram.methods import Flat, Method, Prefixes, Ranges, Tree
from sitr.questions.histogram.question import HistogramQuestion
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally
from sitr.sensitivity.prefixes import reach

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

X, Y, WARD = Column("x", Kind.REAL), Column("y", Kind.REAL), Column("ward", Kind.TEXT)
U = Column("u", Kind.INTEGER)
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


def even(column: Column, bins: int, missing: Rule = Rule.CELL) -> Even:
    return Even(column, Fraction(0), Fraction(1), bins, missing=missing)


def tally(*axes: Any, unit: Unit | None = None, relation: Relation = ADD, groups: int = 1, rows: int = 1) -> Tally:
    table = Table("t", (U, X, Y, WARD), unit or Row(), relation, groups, rows)
    return Tally.of(table, Grid(axes))


def plan(counts: Tally, price: Promise, method: Method) -> HistogramPlan:
    return HistogramQuestion(counts, method).plan(price)


LINE = tally(even(X, 200))
PRICES = [
    PureDP(0.7),
    ZeroConcentratedDP(0.03),
    ApproximateDP(0.7, 1e-6),
    ApproximateDP(0.7, 0.0),
    ApproximateZeroConcentratedDP(0.1, 1e-6),
    GaussianDP(0.2),
]


@pytest.mark.parametrize("price", PRICES)
def test_the_chosen_method_has_the_least_error_and_keeps_the_price(price: Promise) -> None:
    found = plan(LINE, price, Ranges())
    found.check()
    assert not isinstance(found.method, Ranges)
    assert found.for_ranges == ()
    for method in (Flat(), Tree(), Tree(2), Tree(16), Prefixes()):
        try:
            other = plan(LINE, price, method)
        except SitrError:  # prefix sums need Gaussian noise, and a Gaussian price buys nothing else
            continue
        assert found.range_deviation() <= other.range_deviation() * (1 + 1e-12)


@pytest.mark.parametrize(
    ("price", "cells", "kind"),
    [
        (PureDP(1), 1024, Tree),
        (ZeroConcentratedDP(0.5), 2, Flat),
        (ZeroConcentratedDP(0.5), 8, Tree),
        (ZeroConcentratedDP(0.5), 1024, Prefixes),
        (ApproximateDP(1.0, 1e-6), 1024, Tree),
        (ApproximateDP(0.1, 1e-2), 1024, Prefixes),
        (ZeroConcentratedDP(0.5), 2**16, Tree),
    ],
)
def test_public_numbers_decide(price: Promise, cells: int, kind: type) -> None:
    """65,536 cells and one for missing values are too many for prefix sums."""
    assert isinstance(plan(tally(even(X, cells)), price, Ranges()).method, kind)


def test_a_thousand_cells_at_the_same_price() -> None:
    """√(2ρ) = 1, so that these are the known figures."""
    counts, price = tally(even(X, 1024)), ZeroConcentratedDP(0.5)
    found = [plan(counts, price, method).range_deviation() for method in (Flat(), Tree(), Prefixes(), Ranges())]
    assert found == pytest.approx([18.4932, 4.5851, 3.8958, 3.8958], abs=1e-4)


def test_wanted_ranges_decide() -> None:
    single = tuple((cell, cell) for cell in range(0, 200, 7))
    odd = ((3, 180), (17, 121), (38, 150), (61, 197))
    short, long = (plan(LINE, ZeroConcentratedDP(0.5), Ranges(wanted)) for wanted in (single, odd))
    assert isinstance(short.method, Flat)
    assert short.range_deviation() == pytest.approx(1.0, rel=1e-6)
    assert isinstance(long.method, Prefixes)
    widths = [long.range_error(*each) / 1.959964 for each in odd]
    assert long.range_deviation() == pytest.approx(np.sqrt(np.mean(np.square(widths))), rel=1e-4)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("unit", [Row(), Person("u")])
def test_noise_is_fitted_to_the_reach_of_a_unit(unit: Unit, relation: Relation) -> None:
    groups, rows = (1, 1) if isinstance(unit, Row) else (3, 2)
    counts = tally(even(X, 30), unit=unit, relation=relation, groups=groups, rows=rows)
    noise = plan(counts, GaussianDP(0.5), Prefixes()).prefixes
    assert noise is not None
    far = reach([(30, 1)], each=rows, total=groups * rows, groups=groups, relation=relation)
    assert exact(noise.sensitivity) == far
    assert noise.promise() == GaussianDP(0.5)


def test_two_columns_multiply_where_that_is_better() -> None:
    price = ZeroConcentratedDP(0.5)
    square = tally(even(X, 40), even(Y, 30))
    found = plan(square, price, Ranges())
    assert found.method == Prefixes(("x", "y"))
    assert found.range_deviation() < 0.6 * plan(square, price, Flat()).range_deviation()
    narrow = plan(tally(even(X, 40), even(Y, 2)), price, Ranges())
    assert narrow.method == Prefixes(("x",))
    wards = plan(tally(Categories(WARD, ("a", "b")), even(X, 40)), price, Ranges())
    assert wards.method == Prefixes(("x",))
    assert wards.prefixes is not None
    assert wards.prefixes.axes == ((0, 3), (40, 1))
    assert isinstance(plan(tally(even(X, 2), even(Y, 2)), price, Ranges()).method, Flat)


def test_the_root_mean_square_of_rectangles_is_that_of_all_of_them() -> None:
    found = plan(tally(even(X, 4), even(Y, 3)), ZeroConcentratedDP(0.5), Prefixes())
    assert found.prefixes is not None
    squares = []
    for a in range(4):
        for b in range(a, 4):
            for c in range(3):
                for d in range(c, 3):
                    wanted = np.zeros((5, 4))
                    wanted[a : b + 1, c : d + 1] = 1
                    squares.append((found.prefixes.width(wanted.ravel()) / 1.959964) ** 2)
    assert found.range_deviation() == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-3)


@pytest.mark.parametrize("axes", [(even(X, 15),), (even(X, 4), even(Y, 3, Rule.DROP))])
def test_intervals_contain_the_exact_sums(axes: tuple[Any, ...]) -> None:
    """Two-sided: of many releases, about 90% of intervals of a range contain its sum, and so do those of cells."""
    counts = tally(*axes)
    made = plan(counts, ZeroConcentratedDP(0.01), Prefixes())
    exactly = dict.fromkeys(range(counts.cells or 0), 1000)
    some, held, cells, runs = np.arange(2, 10), 0, 0, 150
    coins = TestCoins(4)
    for _ in range(runs):
        found = release(made, exactly, coins=coins)
        one = found.over(some, confidence=0.9)
        held += one.low <= 1000 * len(some) <= one.high
        low, high = found.ends(confidence=0.9)
        cells += int(((low <= 1000) & (high >= 1000)).sum())
        assert found.possible()
    assert abs(held / runs - 0.9) < 5 * np.sqrt(0.09 / runs)
    assert abs(cells / runs / len(exactly) - 0.9) < 5 * np.sqrt(0.09 / runs)


def test_ranges_add_up_exactly() -> None:
    found = release(plan(LINE, ZeroConcentratedDP(0.01), Prefixes()), {5: 100, 150: 7}, coins=TestCoins(1))
    left, right, both = (found.over(np.arange(a, b)).value for a, b in ((0, 70), (70, 200), (0, 200)))
    assert left + right == pytest.approx(both, abs=1e-9)
    assert found.counts.sum() == pytest.approx(both + found.counts[-1], abs=1e-9)


def test_public_totals_bound_intervals() -> None:
    counts = tally(even(X, 10), relation=REPLACE)
    found = release(plan(counts, ZeroConcentratedDP(0.001), Prefixes()), {0: 5}, coins=TestCoins(1))
    assert found.total == 5
    assert found.ends()[1].max() <= 5
    assert found.over(np.arange(10)).high <= 5


@pytest.mark.parametrize(
    ("counts", "price", "method"),
    [
        (tally(Categories(WARD, ("a", "b"))), ZeroConcentratedDP(0.1), Ranges()),
        (tally(Categories(WARD, ("a", "b"))), ZeroConcentratedDP(0.1), Prefixes()),
        (LINE, PureDP(1), Prefixes()),
        (LINE, ApproximateDP(1.0, 0.0), Prefixes()),
        (tally(even(X, 2**16)), ZeroConcentratedDP(0.1), Prefixes()),
        (LINE, ZeroConcentratedDP(0.1), Prefixes(("z",))),
        (LINE, ZeroConcentratedDP(0.1), Ranges(((5, 200),))),
        (LINE, ZeroConcentratedDP(0.1), Ranges(((6, 5),))),
        (LINE, ZeroConcentratedDP(0.1), Ranges(((0, True),))),
        (tally(even(X, 4), even(Y, 4)), ZeroConcentratedDP(0.1), Ranges(((0, 1),))),
    ],
)
def test_what_cannot_be_measured_is_refused(counts: Tally, price: Promise, method: Any) -> None:
    with pytest.raises(SitrError) as refused:
        fit_ranges(counts, price, method=method)
    assert isinstance(refused.value, QuestionError) or "column" in str(refused.value)


def test_the_ledger_says_what_was_asked() -> None:
    question = HistogramQuestion(LINE, Ranges())
    assert question.plan(ZeroConcentratedDP(0.1)).text == question.text()
    assert " BY RANGES: " in question.text()
