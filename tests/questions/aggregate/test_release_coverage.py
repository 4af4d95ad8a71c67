"""Intervals of whole answers hold the exact number as often as they say, in ten thousand releases of each kind.

Every cell of a table has the same rows, so that an answer with a thousand cells is a thousand releases. The exact
numbers come from the rows by themselves, not from the formulas that are tested. The exact binomial tail leaves a sound
interval a chance of 10⁻⁷ to fail here; each kind has a broken twin, whose intervals are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Kind as Data
from sitr.dataset.schema import Table, describe
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.other import Rest, with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.batch.question import BatchQuestion

pytestmark = pytest.mark.usefixtures("same_cells")

Integers = NDArray[Any]
RELEASES, CELLS = 10_000, 500
ROWS = {"many": 400, "few": 12}
PRICES: dict[str, Promise] = {"laplace": PureDP(2.0), "gaussian": ZeroConcentratedDP(0.5)}


class Values(NamedTuple):
    """The rows of one cell: x from -50 to 50, y from 0 to 9, and few different values t."""

    x: Integers
    y: Integers
    t: Integers


@cache
def values(size: int) -> Values:
    draw = np.random.default_rng(11)
    x = np.rint(draw.normal(8, 15, size)).clip(-50, 50).astype(int)
    y = np.abs(np.rint(x / 12 + draw.normal(3, 2, size))).clip(0, 9).astype(int)
    return Values(x, y, draw.integers(0, 30, size))


def table(cells: int, *, known: bool = True) -> Table:
    kinds = ArrowRows(rows(1, 1)).kinds()
    return describe(
        "t", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1, max_rows_per_group=2,
        bounds={"x": (-50, 50), "y": (0, 9)}, granularity={}, keys={"g": list(range(cells))} if known else {},
    )  # fmt: skip


@cache
def rows(cells: int, size: int) -> pa.Table:
    x, y, t = values(size)
    columns = {"id": np.arange(cells * size), "g": np.repeat(np.arange(cells), size)}
    return pa.table(columns | {"x": np.tile(x, cells), "y": np.tile(y, cells), "t": np.tile(t, cells).astype(str)})


@dataclass(frozen=True)
class Kind:
    """What is asked of each cell, and the exact number. The twin takes a `narrow` part of each interval."""

    sql: str
    true: Callable[[Values], float]
    narrow: float | None = 0.4
    """None where an interval is as wide as the bounds allow, so that a part of it may hold as often."""


KINDS = {
    "count": Kind("COUNT(*)", lambda of: len(of.x)),
    "sum": Kind("SUM(x)", lambda of: of.x.sum()),
    "mean": Kind("AVG(x)", lambda of: of.x.mean()),
    "ratio": Kind("SUM(x) / SUM(y)", lambda of: of.x.sum() / of.y.sum()),
    "share": Kind("COUNT_IF(y > 4) / COUNT(*)", lambda of: (of.y > 4).mean()),
    "filtered": Kind("AVG(x) FILTER (WHERE y > 4)", lambda of: of.x[of.y > 4].mean()),
    "variance": Kind("VAR_POP(x)", lambda of: of.x.var()),
    "sample variance": Kind("VAR_SAMP(x)", lambda of: of.x.var(ddof=1)),
    "deviation": Kind("STDDEV_SAMP(x)", lambda of: of.x.std(ddof=1)),
    "covariance": Kind("COVAR_POP(x, y)", lambda of: np.cov(of.x, of.y, ddof=0)[0, 1]),
    "correlation": Kind("CORR(x, y)", lambda of: np.corrcoef(of.x, of.y)[0, 1], 0.2),
    "choice": Kind("CASE WHEN COUNT(*) > 5 THEN SUM(x) ELSE -1 END", lambda of: of.x.sum()),
    "choice at the border": Kind(
        "CASE WHEN COUNT(*) >= 12 AND COUNT(*) <= 400 THEN AVG(x) ELSE -40 END", lambda of: of.x.mean(), None
    ),
    "nested choice": Kind(
        "COALESCE(NULLIF(CASE WHEN SUM(x) > 0 THEN COUNT(*) END, 0), -1) + LEAST(SUM(y), 10000)",
        lambda of: len(of.x) + of.y.sum(),
        None,
    ),
    "arithmetic": Kind("ABS(SUM(x) - 2 * SUM(y)) + 3", lambda of: abs(of.x.sum() - 2 * of.y.sum()) + 3),
    "rounded": Kind("ROUND(SUM(x) / 10)", lambda of: math.floor(of.x.sum() / 10 + 0.5)),
    "per person": Kind("SUM_PER_PERSON(x, -20, 20)", lambda of: of.x.clip(-20, 20).sum()),
    "different": Kind("COUNT(DISTINCT t)", lambda of: len(set(of.t))),
    "histogram": Kind("HISTOGRAM(y, [0, 3, 6, 9])", lambda of: ((of.y >= 0) & (of.y < 3)).sum()),
    "spread": Kind("MAX(x) - MIN(x)", lambda of: of.x.max() - of.x.min(), None),
    "median beside a mean": Kind("MEDIAN(x) - AVG(x)", lambda of: np.median(of.x) - of.x.mean(), None),
    # Many equal values: the choice itself is nearly always right, and no narrower interval fails.
    "median": Kind("WITH_INTERVAL(MEDIAN(x))", lambda of: np.median(of.x), None),
    "quantile": Kind("WITH_INTERVAL(QUANTILE(x, 0.9))", lambda of: np.quantile(of.x, 0.9), None),
    "quartile in arithmetic": Kind("2 * QUANTILE(x, 0.25) + 1", lambda of: 2 * np.quantile(of.x, 0.25) + 1, None),
    "minimum": Kind("MIN(x)", lambda of: of.x.min(), None),
    "maximum": Kind("MAX(x)", lambda of: of.x.max(), None),
}


def read(query: BoundedQuery, cells: int, size: int) -> Cells:
    found: Cells = DuckDB(ArrowRows(rows(cells, size))).read(query, salt=1)
    return found


def estimates(kind: Kind, size: int, price: Promise, releases: int) -> list[Estimate]:
    """The intervals of the first column, in as many cells."""
    query = asked(f"SELECT g, {kind.sql} AS v FROM t GROUP BY g", table(CELLS))
    plan, exact = AggregateQuestion(query).plan(price), read(query, CELLS, size)
    found: list[Estimate] = []
    for seed in range(-(-releases // CELLS)):
        release = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed))
        found += release.estimates(plan.columns[0])
    return found[:releases]


def held(found: Sequence[Estimate], true: float, narrow: float = 1.0) -> int:
    """How many intervals hold; a double may be off by its last digits."""
    wide = abs(true) * 1e-12 + 1e-12
    many = 0
    for one in found:
        value = true if one.value is None else float(one.value)
        low, high = (
            value + narrow * (float(end) - value) if math.isfinite(end) else end for end in (one.low, one.high)
        )
        many += low - wide <= true <= high + wide
    return many


@pytest.mark.slow
@pytest.mark.parametrize("law", PRICES)
@pytest.mark.parametrize("size", ROWS)
@pytest.mark.parametrize("name", KINDS)
def test_intervals_of_answers_hold_as_often_as_they_say(name: str, size: str, law: str, record_property: Any) -> None:
    """pytest -m slow -o junit_family=legacy --junitxml=held.xml tests/questions/aggregate/test_release_coverage.py"""
    kind, many = KINDS[name], ROWS[size]
    found = estimates(kind, many, PRICES[law], RELEASES)
    holding = held(found, float(kind.true(values(many))))
    record_property("held", holding)
    assert binom.cdf(holding, RELEASES, 0.95) > 1e-7


@pytest.mark.parametrize("name", KINDS)
def test_a_few_hundred_do_and_broken_twins_do_not(name: str) -> None:
    kind = KINDS[name]
    found, true = estimates(kind, ROWS["many"], PRICES["gaussian"], CELLS), float(kind.true(values(ROWS["many"])))
    assert binom.cdf(held(found, true), CELLS, 0.95) > 1e-5
    if kind.narrow is not None:
        assert binom.cdf(held(found, true, kind.narrow), CELLS, 0.95) < 1e-5


# Answers whose rows belong together

Together = Callable[[int], bool]
"""Whether all intervals of one release hold, by its seed."""


def uneven(cells: int) -> tuple[pa.Table, dict[int, tuple[int, int]]]:
    """A few cells of different sizes, so that some are selected by chance; their numbers of rows and sums of y."""
    x, y, t = values(ROWS["many"])
    sizes = [40 + 9 * place for place in range(cells)]
    parts = {
        "id": np.arange(sum(sizes)),
        "g": np.repeat(np.arange(cells), sizes),
        **{name: np.concatenate([of[:size] for size in sizes]) for name, of in (("x", x), ("y", y), ("t", t))},
    }
    return pa.table(parts | {"t": parts["t"].astype(str)}), {
        place: (size, int(y[:size].sum())) for place, size in enumerate(sizes)
    }


def selected_rows(after: str, price: Promise, *, simultaneous: bool = True) -> Together:
    """HAVING, ORDER BY and LIMIT: all intervals of the rows that are shown hold together."""
    held_rows, true = uneven(8)
    query = asked(f"SELECT g, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY g {after}", table(8))
    if not simultaneous:
        alone = asked("SELECT g, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY g", table(8))
    plan, exact = AggregateQuestion(query).plan(price), DuckDB(ArrowRows(held_rows)).read(query, salt=1)

    def holds(seed: int) -> bool:
        release = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed))
        keys = [key[0] for key in release.rows if isinstance(key[0], int)]
        if not simultaneous:
            release = Release(AggregateQuestion(alone).plan(price), release.keys, release.measured)
        for place, column in enumerate(plan.columns):
            found = release.estimates(column) if simultaneous else release.estimates(column, rows=keys)
            pairs = zip(found, keys, strict=True)
            if any(not one.low <= true[key][place] <= one.high for one, key in pairs):
                return False
        return True

    return holds


def chosen_ranks(*, together: bool = True) -> Together:
    """The error in ranks of the largest of many medians, where the next larger values are far away."""
    groups, size, farthest = 40, 60, 10**6
    ids = np.arange(groups * size)
    described = describe(
        "t", kinds=dict.fromkeys("igx", Data.INTEGER), unit=Person("i"), relation=Relation.ADD_REMOVE, max_groups=1,
        max_rows_per_group=1, bounds={"x": (0, farthest)}, granularity={}, keys={"g": list(range(groups))},
    )  # fmt: skip
    query = asked("SELECT g, MEDIAN(x) AS m FROM t GROUP BY g ORDER BY m DESC LIMIT 1", described)
    plan = AggregateQuestion(query).plan(BELL)
    alone = plan.columns[0].error()
    place = ids % size
    x = np.where(place < size // 2 + int(alone) + 1, place, farthest - size + place)
    exact = DuckDB(ArrowRows(pa.table({"i": ids, "g": ids // size, "x": x}))).read(query, salt=1)

    def holds(seed: int) -> bool:
        release = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed))
        (shown,) = release.values(plan.columns[0])
        assert shown is not None
        below, above = np.sum(x[:size] < float(shown)), np.sum(x[:size] > float(shown))
        return bool(max(below, above) - size // 2 <= (release.errors()["m"] if together else alone))

    return holds


def chosen_values(after: str, *, known: bool = True) -> Together:
    """Intervals of medians that noise chose: they hold, and are narrower than the bounds."""
    cells, size = 8, ROWS["many"]
    described = table(cells)
    if not known:
        described = describe(
            "t", kinds=ArrowRows(rows(1, 1)).kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=1,
            max_rows_per_group=2, bounds={"x": (-50, 50), "y": (0, 9)}, granularity={}, keys={},
        )  # fmt: skip
    query = asked(f"SELECT g, WITH_INTERVAL(MEDIAN(x)) AS m FROM t GROUP BY g {after}", described)
    plan = AggregateQuestion(query).plan(ApproximateZeroConcentratedDP(4.0, 1e-6))
    exact, true = read(query, cells, size), Fraction(float(np.median(values(size)[0])))

    def holds(seed: int) -> bool:
        found = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed)).estimates(plan.columns[0])
        assert all(isinstance(one.error, Fraction) and one.error < 25 for one in found)
        return all(one.low <= true <= one.high for one in found)

    return holds


def both_ends(price: Promise) -> Together:
    """DP_INTERVAL_LOW and DP_INTERVAL_HIGH of a mean, as columns."""
    query = asked("SELECT AVG(x) AS v, DP_INTERVAL_LOW(v) AS v_low, DP_INTERVAL_HIGH(v) AS v_high FROM t", table(1))
    x, _, _ = values(ROWS["many"])
    plan, exact = AggregateQuestion(query).plan(price), read(query, 1, ROWS["many"])

    def holds(seed: int) -> bool:
        found = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed)).table().to_pylist()[0]
        return bool(found["v_low"] <= x.mean() <= found["v_high"])

    return holds


def other_row(price: Promise, *, draws: int | None = None) -> Together:
    """The sum over all keys that are not shown; which keys these are is known after the release."""
    held_rows, true = uneven(8)
    described = describe(
        "t", kinds=ArrowRows(held_rows).kinds(), unit=Person("id"), relation=Relation.ADD_REMOVE, max_groups=3,
        max_rows_per_group=1, bounds={"x": (-50, 50), "y": (0, 9)}, granularity={}, keys={},
    )  # fmt: skip
    query = with_other(asked("SELECT g, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY g", described))
    plan, exact = AggregateQuestion(query).plan(price), DuckDB(ArrowRows(held_rows)).read(query, salt=1)

    def holds(seed: int) -> bool:
        release = AggregateQuestion(query).answer(plan, exact, coins=TestCoins(seed))
        shown = {key[0] for key in release.keys if key[0] is not Rest.OTHER}
        place = seed % 2
        numbers = [numbers[place] for key, numbers in true.items() if key not in shown]
        column = plan.columns[place]
        last = release.estimates(column)[-1]
        if draws is not None:  # as if it had the noise of a single row
            granules = [[release.measured[-1][query.terms.index(each.term)] for each in column.measured]]
            last = column.estimates(granules, draws=draws)[0]
        return last.low <= sum(numbers) <= last.high

    return holds


def batch(price: Promise) -> Together:
    """The columns of one of several questions that share a measurement."""
    x, y, _ = values(ROWS["many"])
    described = table(1)
    queries = tuple(
        asked(sql, described)
        for sql in ("SELECT AVG(x) AS v FROM t", "SELECT COUNT(*) AS v FROM t", "SELECT SUM(y) / COUNT(*) AS v FROM t")
    )
    question = BatchQuestion(("a", "b", "c"), queries, (Fraction(1),) * 3)
    plan = question.plan(price)
    exact = tuple(read(each, 1, ROWS["many"]) for each in question.reading())
    true = (float(x.mean()), float(len(x)), float(y.mean()))

    def holds(seed: int) -> bool:
        part = question.answer(plan, exact, coins=TestCoins(seed)).parts[seed % 3]
        one = part.estimates(part.plan.columns[0])[0]
        return bool(one.low <= true[seed % 3] + 1e-12 and true[seed % 3] - 1e-12 <= one.high)

    return holds


PURE, BELL = PRICES["laplace"], PRICES["gaussian"]
LOOSE, WIDE = ApproximateDP(2.0, 1e-6), ApproximateZeroConcentratedDP(0.5, 1e-6)
TOGETHER: dict[str, Callable[[], Together]] = {
    "HAVING": lambda: selected_rows("HAVING n > 60", BELL),
    "HAVING, Laplace": lambda: selected_rows("HAVING n > 60", PURE),
    "ORDER BY and LIMIT": lambda: selected_rows("ORDER BY s DESC LIMIT 2", BELL),
    "ORDER BY and LIMIT, Laplace": lambda: selected_rows("ORDER BY s DESC LIMIT 2", PURE),
    "an aggregate in HAVING alone": lambda: selected_rows("HAVING AVG(x) > 8 LIMIT 3", BELL),
    "ranks": chosen_ranks,
    "values of quantiles": lambda: chosen_values("ORDER BY m DESC LIMIT 2"),
    "values of quantiles, unknown keys": lambda: chosen_values("HAVING m > -100 ORDER BY m", known=False),
    "both ends": lambda: both_ends(BELL),
    "both ends, Laplace": lambda: both_ends(PURE),
    "other row": lambda: other_row(LOOSE),
    "other row, Gaussian": lambda: other_row(WIDE),
    "batch": lambda: batch(BELL),
    "batch, approximate": lambda: batch(ApproximateDP(1.0, 1e-6)),
}
TWINS: dict[str, Callable[[], Together]] = {
    "ranks of each row by itself": lambda: chosen_ranks(together=False),
    "each row by itself": lambda: selected_rows("ORDER BY s DESC LIMIT 2", BELL, simultaneous=False),
    "other row with the noise of one": lambda: other_row(WIDE, draws=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOGETHER)
def test_intervals_that_belong_together_hold_together(name: str, record_property: Any) -> None:
    holding = sum(map(TOGETHER[name](), range(RELEASES)))
    record_property("held", holding)
    assert binom.cdf(holding, RELEASES, 0.95) > 1e-7


@pytest.mark.parametrize("name", TOGETHER)
def test_some_of_them_hold_together(name: str) -> None:
    holds = TOGETHER[name]()
    assert binom.cdf(sum(map(holds, range(150))), 150, 0.95) > 1e-5


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("name", TWINS)
def test_broken_twins_do_not_hold_together(name: str) -> None:
    holds = TWINS[name]()
    assert binom.cdf(sum(map(holds, range(600))), 600, 0.95) < 1e-5
