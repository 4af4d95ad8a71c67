"""With targets, all errors are equally far from them, and the plan says whether they are met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.split import targets_of
from sitr.questions.aggregate.targeted import met

KNOWN = {"keys": {"ward": ["A", "B", "C", "D", "E", "F"]}}
SUMS = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total, SUM(days) AS d FROM visits GROUP BY ward"
PRICES = [PureDP(1.0), ZeroConcentratedDP(0.1), ApproximateDP(1.0, 1e-6)]


def planned(query, price, targets: Mapping[str, float], rows: int | None = None):
    names = [name for name, _ in query.shown]
    return fit(replace(query, split=targets_of(targets, names, rows=rows)), price)


@pytest.mark.parametrize("price", PRICES, ids=repr)
@pytest.mark.parametrize("targets", [{"n": 100, "total": 50_000, "d": 40}, {"n": 7_000, "total": 30_000, "d": 900}])
def test_all_errors_are_equally_far_from_their_targets(ask, price, targets) -> None:
    query = ask(SUMS, **KNOWN).watching(None)
    plan = planned(query, price, targets)
    plan.check()
    quotients = [float(each.error / each.target) for each in met(plan)]
    assert max(quotients) <= 1.03 * min(quotients)
    default = fit(query, price)
    worst = max(column.error() / targets[column.name] for column in default.columns)
    assert max(quotients) < 0.9 * worst  # with equal shares, one of them is further away


def test_the_plan_says_whether_targets_are_met(ask) -> None:
    query, targets = ask(SUMS, **KNOWN), {"n": 100, "total": 50_000, "d": 40}
    poor, rich = (planned(query, ZeroConcentratedDP(rho), targets) for rho in (1e-4, 100.0))
    assert not any(each.holds for each in met(poor))
    assert all(each.holds for each in met(rich))
    assert met(fit(query, ZeroConcentratedDP(0.1))) == []


def test_a_shared_measurement_has_what_the_most_demanding_column_needs(ask) -> None:
    query = ask("SELECT ward, COUNT(cost) AS n, AVG(cost) AS mean FROM visits GROUP BY ward", **KNOWN)
    plan = planned(query, ZeroConcentratedDP(0.1), {"n": 1, "mean": 1_000}, rows=1_000)
    n, mean = met(plan)
    assert n.error / n.target > mean.error / mean.target
    default = {each.name: each.error() for each in fit(query, ZeroConcentratedDP(0.1)).columns}
    assert float(n.error) < default["n"]


def test_the_target_of_a_mean_needs_rows(ask) -> None:
    query = ask("SELECT AVG(cost) AS mean FROM visits")
    with pytest.raises(QuestionError, match="depends on the number of rows"):
        planned(query, PureDP(1.0), {"mean": 10})
    assert planned(query, PureDP(1.0), {"mean": 10}, rows=10_000).columns
