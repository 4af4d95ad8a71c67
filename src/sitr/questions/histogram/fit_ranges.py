"""The method with the least error of ranges for a price, chosen before any row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import compress, product
from math import prod

from sitr.dataset.cells import Categories, Grid, size
from sitr.errors import QuestionError
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.prefix_gaussian import PrefixGaussian
from sitr.noise.prefixes import Line
from sitr.plans.plan import Measurement
from sitr.questions.histogram.checks import check_ranges
from sitr.questions.histogram.fit import COUNTS, RANDOM, HistogramPlan, plan_of, planned, spell
from sitr.questions.histogram.methods import Flat, Prefixes, Ranges, Tree
from sitr.questions.histogram.ranges import tree_variance, trees
from sitr.questions.histogram.tally import Tally
from sitr.questions.ways import Way, gaussian_share, ways
from sitr.sensitivity.prefixes import reach

MOST_CELLS = 2**16
"""The most cells of which prefix sums are measured: with more, exact noise takes too long."""


def fit_ranges(tally: Tally, price: Promise, *, method: Prefixes | Ranges) -> HistogramPlan:
    """The plan with the least root mean square error of ranges that the price can pay."""
    check_ranges(tally, method)
    bought = ways(affordable(price, random=RANDOM, gaussian=True))
    plans = [plan for way in bought for plan in _plans(tally, method, way)]
    if not plans:
        raise QuestionError(
            wanted=f"for Prefixes(), a price that buys Gaussian noise, and at most {MOST_CELLS:,} cells",
            given=f"{price!r} for {grid_of(tally).size:,} cells",
            do="Pay with zcdp(ρ), gaussian(μ) or approximate(ε, δ), or measure with Ranges(), which finds a method.",
        )
    found = min(plans, key=lambda plan: plan.range_deviation())
    return replace(found, text=spell(tally, method))


def _plans(tally: Tally, method: Prefixes | Ranges, way: Way) -> Iterator[HistogramPlan]:
    """The plans of all methods for one way to spend a price."""
    if isinstance(method, Prefixes):
        yield from _prefixes(tally, method, way, ())
        return
    wanted, grid, pure = method.wanted, grid_of(tally), isinstance(way.bought, PureDP)
    yield replace(plan_of(tally, Flat(), way), for_ranges=wanted)
    if grid.line is not None:
        # All trees with the same number of levels have the same noise, so that the best of them is known beforehand.
        best = {}
        for tree in sorted(trees(grid.line, pure=pure), key=lambda each: tree_variance(each, wanted), reverse=True):
            best[tree.levels] = tree
        for tree in best.values():
            yield replace(plan_of(tally, Tree(tree.branching), way), for_ranges=wanted)
    names = [axis.column.name for axis in grid.axes if not isinstance(axis, Categories)]
    for chosen in product((True, False), repeat=len(names)):
        if any(chosen):
            yield from _prefixes(tally, Prefixes(tuple(compress(names, chosen))), way, wanted)


def _prefixes(tally: Tally, method: Prefixes, way: Way, wanted: tuple[tuple[int, int], ...]) -> Iterator[HistogramPlan]:
    grid, query = grid_of(tally), tally.query
    if isinstance(way.bought, PureDP) or grid.size > MOST_CELLS:
        return
    axes = lines(grid, method)
    far = reach(
        axes,
        each=query.max_rows_per_group,
        total=tally.most_rows,
        groups=query.max_groups,
        relation=query.changes,
    )
    noise = PrefixGaussian.fitting(gaussian_share(way.bought), axes=axes, sensitivity=far)
    counts = Measurement(COUNTS, noise, tally.distance())
    yield replace(planned(tally, method, way.charged, counts), for_ranges=wanted)


def lines(grid: Grid, method: Prefixes) -> tuple[Line, ...]:
    """Of each column, the cells of which prefix sums are measured, and those beside them."""
    found = []
    for axis in grid.axes:
        along = not isinstance(axis, Categories) and (not method.columns or axis.column.name in method.columns)
        line = axis.ordinary if along else 0
        found.append((line, size(axis) - line))
    assert prod(map(sum, found)) == grid.size
    return tuple(found)


def grid_of(tally: Tally) -> Grid:
    assert tally.grid is not None  # see `check_ranges`
    return tally.grid
