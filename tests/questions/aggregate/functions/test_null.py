"""Intervals of COALESCE, CASE and LEAST hold what comes instead of the NULL of an empty group."""

from __future__ import annotations

import pytest

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.sql import parse
from tests.oracles.visits import visits_table

TIMES = 60


def asked(expression: str) -> AggregateQuestion:
    table = visits_table(max_groups=1, max_rows_per_group=1, bounds={"cost": (20, 30), "days": (1, 5)})
    return AggregateQuestion(bound(parse(f"SELECT {expression} AS v FROM visits"), table))


@pytest.mark.parametrize(
    ("expression", "exact"),
    [
        ("COALESCE(AVG(cost), 0)", 0),
        ("COALESCE(ROUND(SUM(cost) / COUNT(*)), 0)", 0),
        ("CASE WHEN AVG(cost) IS NULL THEN 0 ELSE 1 END", 0),
        ("LEAST(AVG(cost), 100)", 100),
        ("GREATEST(AVG(cost), 5)", 5),
        ("COALESCE(MEDIAN(days), 0)", 0),
        ("COALESCE(STDDEV_SAMP(cost), -1)", -1),
        ("COALESCE(COVAR_POP(cost, days), -99)", -99),
        ("COALESCE(CORR(cost, days), 7)", 7),
    ],
)
def test_intervals_hold_what_comes_instead_of_null(expression: str, exact: int) -> None:
    """The chance of 52 or fewer of 60 intervals that hold with 95% is below 10⁻²; coins are fixed."""
    question, coins = asked(expression), TestCoins(5)
    plan = question.plan(ZeroConcentratedDP(0.5))
    releases = (question.answer(plan, {}, coins=coins) for _ in range(TIMES))
    shown = [release.estimates(plan.columns[0])[0] for release in releases]
    assert sum(one.low <= exact <= one.high for one in shown) > 52
    assert all(one.error <= plan.columns[0].width(0.95) for one in shown)


@pytest.mark.parametrize("expression", ["COALESCE(AVG(cost), 0)", "COALESCE(VAR_SAMP(cost), -1)"])
def test_a_large_count_excludes_null(expression: str) -> None:
    plan = asked(expression).plan(ZeroConcentratedDP(0.5))
    measured = tuple(100_000 if term.quantised is None else 0 for term in plan.query.terms)
    (shown,) = Release(plan, ((),), (measured,)).estimates(plan.columns[0])
    assert shown.low >= 0
    assert shown.high - shown.low < 15


def test_arithmetic_that_is_null_itself_keeps_its_narrow_intervals() -> None:
    plain, rounded = (fit(asked(each).query, ZeroConcentratedDP(0.5)) for each in ("AVG(cost)", "ROUND(AVG(cost), 2)"))
    widths = [plan.columns[0].width(0.95, rows=1_000) for plan in (plain, rounded)]
    assert widths[1] - widths[0] <= 0.01
