"""The parts of a price add up to it, and nothing that is refused costs anything."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import exact
from sitr.mechanisms.composed import Composed
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.query.schema import Kind
from sitr.releases.synthetic.axes import Axis, Steps
from sitr.releases.synthetic.plan import FEW_CELLS, Method, plan
from sitr.releases.synthetic.sheet import Sheet

PRICES = [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-9), ApproximateDP(0.5, 0.0)]


def column(name: str, cells: int) -> Axis:
    return Axis(name, Kind.INTEGER, steps=Steps(0, cells - 1, Fraction(1), cells))


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("relation", Relation)
def test_noise_is_fitted_to_the_parts(sheet: Sheet, price: Promise, relation: Relation) -> None:
    made = plan(replace(sheet, relation=relation, most_rows=3), price)
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
    name = "epsilon" if isinstance(whole, PureDP) else "rho"
    assert getattr(spent, name) == pytest.approx(getattr(whole, name), rel=1e-9)


@pytest.mark.parametrize("price", [ZeroConcentratedDP(0.1), PureDP(1.0)], ids=repr)
def test_the_division_is_the_best_one(sheet: Sheet, price: Promise) -> None:
    """No other division of the same price has a smaller sum of sizes over all cells."""
    cells = np.array([4, 100, 3000])
    power = 2 if isinstance(price, ZeroConcentratedDP) else 1
    noises = plan(sheet, price).whole.noises(cells.tolist())
    sizes = np.array([float(noise.sigma if isinstance(noise, Gaussian) else noise.scale) for noise in noises])
    parts = sizes**-power
    generator = np.random.default_rng(1)
    for _ in range(100):
        other = parts * np.exp(generator.normal(0, 0.2, 3))
        other *= parts.sum() / other.sum()
        assert cells @ sizes <= cells @ other ** (-1 / power) * (1 + 1e-6)


def test_few_cells_are_one_table(sheet: Sheet) -> None:
    few = replace(sheet, axes=(column("a", FEW_CELLS // 2), column("b", 2)))
    more = replace(sheet, axes=(column("a", FEW_CELLS // 2 + 1), column("b", 2)))
    price = ZeroConcentratedDP(0.1)
    assert plan(few, price).method is Method.JOINT
    assert plan(more, price).method is Method.MARGINALS
    assert plan(few, price, method=Method.MARGINALS).method is Method.MARGINALS
    assert plan(replace(sheet, axes=(column("a", 10**6),)), price).method is Method.JOINT


@pytest.mark.parametrize(
    ("axes", "method", "what"),
    [
        ((column("a", 1001), column("b", 1000)), Method.JOINT, "1,001,000"),
        ((column("a", 10),), Method.MARGINALS, "one column only"),
        ((column("a", 10**6 + 1), column("b", 2)), None, "a has more"),
    ],
)
def test_what_cannot_be_tabulated_is_refused(sheet: Sheet, axes: tuple[Axis, ...], method: Method, what: str) -> None:
    with pytest.raises(QuestionError, match=what):
        plan(replace(sheet, axes=axes), ZeroConcentratedDP(0.1), method=method)


@pytest.mark.parametrize(
    "price", [PureDP(0.0), ZeroConcentratedDP(0.0), ZeroConcentratedDP(0.1, xi=0.1), ApproximateDP(1.0, 1.0)]
)
def test_a_price_that_buys_nothing(sheet: Sheet, price: Promise) -> None:
    with pytest.raises(QuestionError, match="A price that buys"):
        plan(sheet, price)


def test_errors_are_those_of_the_noise(sheet: Sheet) -> None:
    made = plan(sheet, ZeroConcentratedDP(0.1), method=Method.MARGINALS)
    assert [(name, cells) for name, cells, _ in made.errors()] == [("age", 21), ("ward", 4), ("cost", 40), ("ok", 2)]
    assert [error for *_, error in made.errors()] == [float(noise.error()) for noise in made.alone()]
    assert made.pair_error() is not None
    joint = plan(sheet, ZeroConcentratedDP(0.1), method=Method.JOINT)
    assert [cells for _, cells, _ in joint.errors()] == [21 * 4 * 40 * 2]
    assert joint.pair_error() is None
