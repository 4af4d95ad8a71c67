"""What the time of an answer tells about a person: with a deadline nothing, and without one whether they are there."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu

import sitr
from sitr.session import deadline
from sitr.session.budget import Budget

SQL = "SELECT SUM(cost) AS s FROM visits WHERE cost > 1"
PEOPLE, MANY, TIMES = 2_000, 500_000, 10


class Skipping:
    """A clock that goes on as usual, and jumps over every wait."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped

    def sleep(self, rest: float) -> None:
        self.skipped += rest


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Budget, Budget]:
    """The same people with and without one who has most of the rows."""
    folder, found = tmp_path_factory.mktemp("times"), []
    for name, more in (("with", MANY), ("without", 0)):
        ids = np.concatenate([np.arange(PEOPLE), np.full(more, -1)])
        rows = pa.table({"id": ids, "cost": np.arange(len(ids)) % 97})
        made = sitr.protect(rows, name="visits", unit="id", max_groups=1, max_rows_per_group=3, bounds={"cost": (0, 9)})
        found.append(made.budget(rho=1e6, ledger=folder / f"{name}.db", keep=False))
    return found[0], found[1]


def told(budgets: Sequence[Budget], clock: Skipping) -> tuple[float, list[list[float]]]:
    """The p-value of a rank test of the times of both, taken in turns, and the times."""
    times: list[list[float]] = [[] for _ in budgets]
    for budget in budgets:
        budget.sql(SQL).release(rho=1)  # the first question starts a DuckDB
    for _ in range(TIMES):
        for own, budget in zip(times, budgets, strict=True):
            request, start = budget.sql(SQL), clock.monotonic()
            request.release(rho=1)
            own.append(clock.monotonic() - start)
    return float(mannwhitneyu(*times).pvalue), times


def test_with_a_deadline_the_time_does_not_tell_whether_somebody_is_there(
    both: tuple[Budget, Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer leaves after the time that public numbers fix, and its part after the deadline sees no rows."""
    clock = Skipping()
    monkeypatch.setattr(deadline, "time", clock)
    monkeypatch.setenv(deadline.VARIABLE, "20000000")
    chance, times = told(both, clock)
    assert chance > 1e-4
    (left,) = {each.seconds for budget in both for each in budget.sql(SQL).release(rho=1).receipt.departures}
    assert min(map(min, times)) >= left


def test_without_a_deadline_the_time_tells_it(both: tuple[Budget, Budget], monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin, which says that the test above would notice."""
    monkeypatch.delenv(deadline.VARIABLE, raising=False)
    chance, _ = told(both, Skipping())
    assert chance < 1e-3
