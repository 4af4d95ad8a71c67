"""What stands against a price is shown together with the mistakes of the question, and the question that can be asked
has none of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import BudgetExceeded, DescriptionError, IncompatiblePromises, QuestionError, SitrError, UnknownName
from sitr.session.budget import Budget

Open = Callable[..., Budget]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    rows = pa.table({"id": list(range(60)), "ward": ["A", "B"] * 30, "cost": [1.0] * 60})

    def open_budget(promise: Any, **said: Any) -> Budget:
        data = sitr.protect(rows, name="t", unit="id", max_groups=1, max_rows_per_group=1, **said)
        return data.budget(promise, ledger=tmp_path / "t.db")

    return open_budget


def refused(budget: Budget, sql: str, **said: Any) -> SitrError:
    with pytest.raises(SitrError) as failure:
        budget.sql(sql, **said)
    return failure.value


def kinds(error: SitrError) -> set[type[SitrError]]:
    return {type(error), *map(type, error.others)}


SQL = "SELECT wrad, AVG(cost) AS mean FROM t GROUP BY wrad"


def test_sql_description_price_and_budget_at_once(opened: Open) -> None:
    budget = opened(sitr.ZeroConcentratedDP(1.0))
    error = refused(budget, SQL, price="zcdp(3)")
    assert kinds(error) == {UnknownName, DescriptionError, BudgetExceeded, QuestionError}
    assert "The keys of ward are not public" in str(error)
    assert error.instead == (
        "SELECT ward, AVG(CLAMP(cost, 0, 100)) AS mean FROM t WHERE ward IN ('A', 'B') GROUP BY ward "
        "/* replace the values after IN by public ones */ /* replace 0 and 100 by public bounds */"
    )
    budget.sql(error.instead).release("zcdp(0.5)")  # it can be asked, as it stands


def test_the_budget_itself_says_whether_there_is_a_delta(opened: Open) -> None:
    assert "so the price needs δ > 0" in str(refused(opened(sitr.PureDP(1.0)), SQL))


def test_nothing_is_said_about_a_price_that_can_be_paid(opened: Open) -> None:
    budget = opened(sitr.ApproximateDP(1.0, 1e-6))
    for price in (None, "approximate(0.5, 1e-7)"):
        error = refused(budget, SQL, price=price)
        assert kinds(error) == {UnknownName, DescriptionError}
        assert error.instead is not None
        assert "IN (" not in error.instead


def test_another_flavor_is_an_obstacle_too(opened: Open) -> None:
    error = refused(opened(sitr.PureDP(1.0), keys={"ward": ["A"]}), SQL, price="zcdp(0.1)")
    assert IncompatiblePromises in kinds(error)


def test_bounds_that_follow_from_the_rest_of_where_are_no_obstacle(opened: Open) -> None:
    budget = opened(sitr.ApproximateDP(1.0, 1e-6))
    error = refused(budget, "SELECT AVG(cost) AS mean FROM t WHERE cost BETWEEN 0 AND 9 AND wrad = 'A'")
    assert kinds(error) == {UnknownName}


def test_a_price_given_with_the_question_is_paid(opened: Open) -> None:
    budget = opened(sitr.PureDP(1.0))
    asked = budget.sql("SELECT COUNT(*) AS n FROM t", price="pure(0.25)")
    assert asked.preview().price == sitr.PureDP(0.25)
    asked.release()
    assert budget.remaining() == sitr.PureDP(0.75)
