"""The stated error of a suggestion is the error that a preview shows at the suggested caps and bounds."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sitr

WARDS = [f"w{number}" for number in range(6)]
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
BOTH = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
TOTAL = "SELECT ward, SUM_PER_PERSON(cost, 0, 1000) AS s FROM visits GROUP BY ward"
OUTSIDE, APPROXIMATE = sitr.ApproximateZeroConcentratedDP(0.5, 1e-6), sitr.ApproximateDP(1.0, 1e-6)
PRICES: list[Any] = [sitr.ZeroConcentratedDP(0.5), sitr.PureDP(1.0), OUTSIDE, APPROXIMATE]
BUDGETS: dict[type, Any] = {
    sitr.ZeroConcentratedDP: sitr.ZeroConcentratedDP(50.0),
    sitr.PureDP: sitr.PureDP(50.0),
    sitr.ApproximateZeroConcentratedDP: sitr.ApproximateZeroConcentratedDP(50.0, 1e-3),
    sitr.ApproximateDP: sitr.ApproximateDP(50.0, 1e-3),
}
BOUNDS = {"cost": (0, 128)}
CASES = [
    *product((COUNT, BOTH, TOTAL), PRICES, (WARDS,), (BOUNDS,)),
    *product((COUNT, BOTH, TOTAL), (OUTSIDE,), (None,), (BOUNDS,)),
    (COUNT, APPROXIMATE, None, BOUNDS),
    (BOTH, OUTSIDE, None, None),
    (BOTH, PRICES[0], WARDS, None),
]


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    random = np.random.default_rng(1)
    ids = np.repeat(np.arange(1_000), random.choice([1, 1, 2, 3], 1_000))
    wards = random.choice(WARDS, len(ids))
    return pa.table({"id": ids, "ward": wards, "cost": random.integers(0, 100, len(ids)).astype(float)})


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("sql", "price", "keys", "declared"), CASES)
def test_the_stated_error_is_that_of_the_preview(
    visits: pa.Table, tmp_path: Path, sql: str, price: Any, keys: Any, declared: Any
) -> None:
    options: dict[str, Any] = {} if keys is None else {"keys": {"ward": keys}}
    options |= {} if declared is None else {"bounds": declared}
    data = sitr.protect(visits, name="visits", unit="id", max_groups=2, max_rows_per_group=2, **options)
    budget = data.budget(BUDGETS[type(price)], ledger=tmp_path / "ledger.db")
    suggestion = budget.suggest(sql, price=price).release(price)
    expected = suggestion.suggested.expected
    preview = budget.sql(sql, **suggestion.options).preview(price)
    assert [each.noise for each in expected] == pytest.approx(list(preview.errors().values()), rel=1e-12)
    people = 1_000 * 1_000  # a total is at most 1000 for each person
    assert all(
        each.largest == (sql == TOTAL) and (not each.largest or 10_000 < each.size < people) for each in expected
    )
