from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import special

from sitr.errors import InvalidPromise
from sitr.loss.law import FUNCTIONS, ROUNDING, between, check, joined, log_one_minus_exp

GRIDS = {
    np.exp: (np.linspace(-700.0, 700.0, 4001), lambda x: x.exp()),
    np.expm1: (np.concatenate((np.linspace(-40.0, 2.0, 3001), np.geomspace(1e-300, 1.0, 500))), lambda x: x.expm1()),
    np.log: (np.geomspace(1e-300, 1e300, 4001), lambda x: x.log()),
    np.log1p: (
        np.concatenate((-np.geomspace(1e-300, 1 - 1e-15, 2000), np.geomspace(1e-300, 1e300, 2000))),
        lambda x: x.log1p(),
    ),
}


@pytest.mark.parametrize("function", GRIDS, ids=lambda function: function.__name__)
def test_elementary_functions_are_as_accurate_as_is_counted_on(function, truth):
    grid, exact = GRIDS[function]
    found = function(grid)
    for x, y in zip(grid.tolist(), found.tolist(), strict=True):
        true = exact(truth.real(x))
        assert abs(truth.real(y) - true) <= abs(true) * truth.real(FUNCTIONS), x


def test_normal_tails_are_as_accurate_as_is_counted_on(truth):
    grid = np.concatenate((np.linspace(-60.0, 60.0, 2401), -np.geomspace(60.0, 1e5, 200)))
    for x, y in zip(grid.tolist(), special.log_ndtr(grid).tolist(), strict=True):
        true = truth.normal(truth.real(x)).log()
        assert abs(truth.real(y) - true) <= truth.real(FUNCTIONS * (1 + x * x)), x


def test_what_is_left_of_one(truth):
    for x in (-1e-60, -1e-17, -1e-3, -0.6931, -0.6932, -5.0, -60.0):
        true = (-truth.real(x).expm1()).log()
        found = float(log_one_minus_exp(np.array((x,)))[0])
        assert abs(truth.real(found) - true) <= (abs(true) + truth.real(1e-300)) * truth.real(4 * FUNCTIONS)


def test_masses_between_edges_are_right_to_within_their_slack(truth):
    edges = np.array((-math.inf, -9.0, -9.0 + 1e-9, -1.0, 0.0, 1e-13, 0.3, 8.0, 12.0, math.inf))
    size = np.where(np.isinf(edges), 0.0, edges)
    found = between(special.log_ndtr(-edges), special.log_ndtr(edges), FUNCTIONS * (1 + size * size))
    for place in range(len(edges) - 1):
        low, high = (
            arb(0) if e == -math.inf else arb(1) if e == math.inf else truth.normal(truth.real(e))
            for e in edges[place : place + 2]
        )
        if math.isinf(found.slack[place]):
            assert truth.real(found.logs[place]).exp() >= high - low
        else:
            assert abs(truth.real(found.logs[place]) - (high - low).log()) <= truth.real(found.slack[place])


def test_a_cell_that_rounding_hides_is_only_bounded_from_above():
    log_above, log_below = np.log(np.array((0.5, 0.5))), np.log(np.array((0.5, 0.5)))
    logs, slack = between(log_above, log_below, np.full(2, 1e-16))
    assert slack[0] == math.inf
    assert -math.inf < logs[0] < math.log(1e-14)


def test_between_equal_steps_there_is_nothing():
    halves = np.log(np.array((0.5, 0.5)))
    logs, slack = between(halves, halves, np.full(2, 1e-16), steps=np.array((3.0, 3.0)))
    assert (logs[0], slack[0]) == (-math.inf, 0.0)


def test_an_unsure_side_makes_the_other_a_bound_from_above():
    sure, unsure = (np.array((-1.0,)), np.array((0.25,))), (np.array((-2.0,)), np.array((math.inf,)))
    cells = joined(*(type(between(np.zeros(2), np.zeros(2), np.zeros(2)))(*side) for side in (sure, unsure)))
    assert (cells.log_p[0], cells.log_q[0], cells.slack[0]) == (-0.75, -2.0, math.inf)
    assert cells.log_p_most[0] == -0.75


@pytest.mark.parametrize(
    "number", [0.0, -1.0, 1.5, math.nan, math.inf, True, "0.5", None, Fraction(1, 10**400), 10**400]
)
def test_numbers_out_of_range_are_refused(number):
    with pytest.raises(InvalidPromise, match=r"Expected a number above 0 and at most 1 for rate, got .*Choose rate"):
        check(number, "rate", above=0.0, below=1.0, ends="below")


def test_rounding_is_that_of_floats():
    assert 1.0 + 2 * ROUNDING > 1.0 == 1.0 + ROUNDING
