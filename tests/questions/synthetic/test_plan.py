"""The parts of a price add up to it, and nothing that is refused costs anything."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sitr.dataset.cells import Granular
from sitr.dataset.schema import Kind
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import exact
from sitr.questions.synthetic.plan import SIZES, Division, Method
from sitr.questions.synthetic.plan import plan as synthesis_plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.ways import Way, ways
from tests.oracles.axes import granular

PRICE = ZeroConcentratedDP(0.1)
PRICES = [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-9), ApproximateDP(0.5, 0.0)]


def plan(sheet: Sheet, price: Promise, *, method: Method | None = None) -> Division:
    return synthesis_plan(sheet, price, method=method).division


def column(name: str, cells: int) -> Granular:
    return granular(name, Kind.INTEGER, 0, cells - 1, Fraction(1), cells)


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("relation", Relation)
def test_noise_is_fitted_to_the_parts(sheet: Sheet, price: Promise, relation: Relation) -> None:
    made = plan(replace(sheet, relation=relation, most_rows=3), price, method=Method.MARGINALS)
    moved = made.sheet.distance()
    for noise in made.alone():
        if isinstance(noise, Laplace):
            assert noise.sensitivity == moved.l1 == (3 if relation is Relation.ADD_REMOVE else 6)
        else:
            assert exact(noise.sensitivity) ** 2 >= moved.l2_squared == (9 if relation is Relation.ADD_REMOVE else 18)
    spent = Composed((*made.alone(), *made.paired().noises([12, 7, 100, 1, 3, 900]))).promise()
    whole = made.whole.price
    assert type(spent) is type(whole)
    assert spent.covers(whole)
    (name, *_) = (field.name for field in fields(whole))
    assert getattr(spent, name) == pytest.approx(getattr(whole, name), rel=1e-9)


@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.1), PureDP(1.0)], ids=repr)
def test_the_division_is_the_best_one(sheet: Sheet, price: Promise) -> None:
    """No other division of the same price has a smaller sum of sizes over all cells."""
    cells = np.array([4, 100, 3000])
    power = 2 if isinstance(price, ZeroConcentratedDP) else 1
    noises = plan(sheet, price).whole.noises(cells.tolist())
    sizes = np.array([float(noise.size) for noise in noises])
    parts = sizes**-power
    generator = np.random.default_rng(1)
    for _ in range(100):
        other = parts * np.exp(generator.normal(0, 0.2, 3))
        other *= parts.sum() / other.sum()
        assert cells @ sizes <= cells @ other ** (-1 / power) * (1 + 1e-6)


def columns(*cells: int) -> tuple[Granular, ...]:
    return tuple(column(f"c{place}", count) for place, count in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "price", "method"),
    [
        ([2] * 12, ApproximateDP(1.0, 1e-9), Method.MARGINALS),  # few cells, but most of one table would be noise
        ([2] * 12, ZeroConcentratedDP(0.015), Method.MARGINALS),
        ([4] * 6, ZeroConcentratedDP(0.015), Method.MARGINALS),
        ([6, 3, 2], ZeroConcentratedDP(0.015), Method.JOINT),
        ([6, 3, 2], PureDP(1.0), Method.JOINT),
        ([30, 3, 2], ZeroConcentratedDP(0.05), Method.JOINT),
        ([100] * 3, ZeroConcentratedDP(0.015), Method.MARGINALS),
        ([1001, 1000], ZeroConcentratedDP(0.015), Method.MARGINALS),  # more cells than one table may have
        ([10**6], ZeroConcentratedDP(0.015), Method.JOINT),
    ],
    ids=repr,
)
def test_the_method_with_the_least_expected_error_is_chosen(
    sheet: Sheet, cells: list[int], price: Promise, method: Method
) -> None:
    wide = replace(sheet, axes=columns(*cells))
    assert plan(wide, price).method is method
    if 1 < len(cells) < 12:
        assert plan(wide, price, method=Method.MARGINALS).method is Method.MARGINALS


@pytest.mark.sampled(5)
@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("cells", [[2] * 12, [4] * 6, [16, 8, 4, 4], [64, 64], [6, 3, 2]], ids=repr)
def test_no_other_plan_for_the_price_has_a_smaller_expected_error(
    sheet: Sheet, cells: list[int], price: Promise
) -> None:
    wide = replace(sheet, axes=columns(*cells))
    found = plan(wide, price).expected_error()
    assert isinstance(price, PureDP | ApproximateDP | ZeroConcentratedDP)
    others = [Division(wide, way, method).expected_error() for method in Method for way in ways(price)]
    assert found <= min(others)
    assert found == pytest.approx(min(plan(wide, price, method=method).expected_error() for method in Method))


def exact_error(made: Division, shape: tuple[int, ...]) -> float:
    """√(2/π) times the standard deviation of each cell of each pair, after the best linear fit to all that is
    measured: the pseudo-inverse of its normal equations over the table of all columns."""
    size = math.prod(shape)
    cells = np.array(np.unravel_index(np.arange(size), shape))

    def sums(places: tuple[int, ...]) -> np.ndarray:
        number = np.ravel_multi_index(tuple(cells[list(places)]), [shape[place] for place in places])
        return np.asarray(number == np.arange(number.max() + 1)[:, None], dtype=np.float64)

    pairs = list(combinations(range(len(shape)), 2))
    if made.method is Method.JOINT:
        measured = [(sums(tuple(range(len(shape)))), made.alone()[0])]
    else:
        measured = [(sums((place,)), noise) for place, noise in enumerate(made.alone())]
        measured += [(sums(pair), made.paired().noises([1] * len(pairs))[0]) for pair in pairs]
    covariance = np.linalg.pinv(sum(table.T @ table / noise.deviation**2 for table, noise in measured))
    each = [np.sqrt(np.einsum("ij,jk,ik->i", sums(pair), covariance, sums(pair))).sum() for pair in pairs]
    return float(np.mean(each)) * math.sqrt(2 / math.pi)


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1)], ids=repr)
@pytest.mark.parametrize("shape", [(3, 3), (5, 4, 3), (2, 2, 2, 2, 2), (7, 2, 3)], ids=repr)
def test_the_expected_error_is_that_of_the_best_fit(
    sheet: Sheet, shape: tuple[int, ...], method: Method, price: Promise
) -> None:
    made = plan(replace(sheet, axes=columns(*shape)), price, method=method)
    assert made.error_at(1e6) * 1e6 == pytest.approx(exact_error(made, shape), rel=1e-6)


@pytest.mark.parametrize("price", [PureDP(1.0), ZeroConcentratedDP(0.1)], ids=repr)
def test_the_expected_error_of_one_table_is_drawn(sheet: Sheet, price: Promise) -> None:
    """Sums of few Laplace draws are not yet normal: E|Y| is between √½ and √(2/π) standard deviations."""
    shape, coins = (5, 4, 3), TestCoins(5)
    made = plan(replace(sheet, axes=columns(*shape)), price, method=Method.JOINT)
    (noise,) = made.alone()
    drawn = noise.release(np.zeros(300 * 60, dtype=np.int64), coins=coins).astype(np.float64).reshape(300, *shape)
    found = np.mean([np.abs(drawn.sum(axis=axis)).sum() / 300 for axis in (1, 2, 3)])
    lowest = 1.0 if isinstance(price, ZeroConcentratedDP) else (math.pi / 4) ** 0.5
    assert lowest - 0.03 < found / (made.error_at(1e6) * 1e6) < 1.03


def test_where_cells_are_counted_by_themselves_the_number_of_rows_cancels(sheet: Sheet) -> None:
    """So the choice can be made before any row is counted."""
    joint, pairs = (Division(replace(sheet, axes=columns(4, 3, 2)), Way(PRICE, PRICE), each) for each in Method)
    ratios = [joint.error_at(rows) / pairs.error_at(rows) for rows in SIZES[1:]]
    assert ratios == pytest.approx([ratios[0]] * 3)
    grouped = replace(sheet, axes=columns(64, 64))
    joint, pairs = (Division(grouped, Way(PRICE, PRICE), each) for each in Method)
    assert joint.error_at(1e3) > pairs.error_at(1e3)
    assert joint.error_at(1e6) < pairs.error_at(1e6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("cells", "price", "noise"),
    [
        ([6, 3, 2], ApproximateDP(1.0, 1e-9), Laplace),
        ([6, 3, 2], ApproximateDP(0.1, 1e-9), Laplace),
        ([2] * 12, ApproximateDP(1.0, 1e-9), RoundedGaussian),
        ([2] * 40, ApproximateDP(1.0, 1e-9), RoundedGaussian),
    ],
)
def test_an_approximate_price_buys_the_noise_with_the_smaller_error(
    sheet: Sheet, cells: list[int], price: ApproximateDP, noise: type
) -> None:
    """Laplace noise needs no δ, and is charged none. Gaussian noise costs the δ of the price."""
    made = plan(replace(sheet, axes=columns(*cells)), price)
    assert {type(each) for each in made.alone()} == {noise}
    assert made.price == (ApproximateDP(price.epsilon, 0.0) if noise is Laplace else price)
    rows = replace(sheet, axes=columns(*cells), most_rows=50)  # ℓ1 and ℓ2 grow alike: the choice is the same
    assert type(plan(rows, price).alone()[0]) is noise


def test_a_joint_table_at_an_approximate_price_is_as_exact_as_at_a_pure_one(sheet: Sheet) -> None:
    few = replace(sheet, axes=columns(6, 3, 2))
    ((_, _, error),) = plan(few, ApproximateDP(1.0, 1e-9)).errors()
    ((_, _, pure),) = plan(few, PureDP(1.0)).errors()
    assert error == pure == 3
    assert float(Gaussian.fitting(ApproximateDP(1.0, 1e-9), sensitivity=1).error()) == 11


@pytest.mark.parametrize(
    ("axes", "method", "what"),
    [
        ((column("a", 1001), column("b", 1000)), Method.JOINT, "1,001,000"),
        ((column("a", 10),), Method.MARGINALS, "only one column"),
        ((column("a", 10**6 + 1), column("b", 2)), None, "a has more"),
    ],
)
def test_what_cannot_be_tabulated_is_refused(
    sheet: Sheet, axes: tuple[Granular, ...], method: Method, what: str
) -> None:
    with pytest.raises(QuestionError, match=what):
        plan(replace(sheet, axes=axes), ZeroConcentratedDP(0.1), method=method)


@pytest.mark.parametrize(
    "price", [PureDP(0.0), ZeroConcentratedDP(0.0), ZeroConcentratedDP(0.1, xi=0.1), ApproximateDP(1.0, 1.0)]
)
def test_a_price_that_buys_nothing(sheet: Sheet, price: Promise) -> None:
    with pytest.raises(QuestionError, match="Expected a price of pure"):
        plan(sheet, price)


def test_errors_are_those_of_the_noise(sheet: Sheet) -> None:
    made = plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS)
    assert [(name, cells) for name, cells, _ in made.errors()] == [("age", 21), ("ward", 4), ("cost", 40), ("ok", 2)]
    assert [error for *_, error in made.errors()] == [float(noise.error()) for noise in made.alone()]
    assert made.pair_error() is not None
    joint = plan(sheet, ZeroConcentratedDP(0.1), method=Method.JOINT)
    assert [cells for _, cells, _ in joint.errors()] == [21 * 4 * 40 * 2]
    assert joint.pair_error() is None
