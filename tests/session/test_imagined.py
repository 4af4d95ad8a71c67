"""Imagined answers: the plan's own noise and errors, on rows that nobody has."""

from __future__ import annotations

import pytest

from sitr.session import imagined as module
from sitr.session.budget import Budget
from sitr.session.dataset import open as open_description
from sitr.session.imagined import imagined
from sitr.session.sample import sample

SQL = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean, MEDIAN(days) AS middle FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Budget:
    return open_description(sample(tmp_path_factory.mktemp("rows"), rows=500).description).budget()


def test_keys_and_errors_are_those_of_the_answer(budget: Budget) -> None:
    request = budget.sql(SQL)
    preview = request.preview("zcdp(0.02)")
    found = imagined(request, preview, rows=100_000)
    assert found is not None
    assert found.plan is preview.plan
    wards = budget.table.column("ward").keys
    assert wards is not None
    assert {key for (key,) in found.rows} == set(wards)
    assert found.errors()["n"] == pytest.approx(preview.errors()["n"])


def test_more_rows_mean_larger_counts_and_the_same_errors(budget: Budget) -> None:
    request = budget.sql("SELECT COUNT(*) AS n FROM visits")
    preview = request.preview("zcdp(0.2)")
    few, many = (imagined(request, preview, rows=rows) for rows in (1_000, 1_000_000))
    assert few is not None
    assert many is not None
    small, large = (each.table().to_pylist()[0]["n"] for each in (few, many))
    assert large == pytest.approx(1_000 * small, rel=0.2)
    assert few.errors() == many.errors()


def test_nothing_is_charged_and_no_row_is_read(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    request = budget.sql(SQL)
    preview = request.preview("zcdp(0.02)")
    monkeypatch.setattr(type(request.at), "backend", property(lambda _: pytest.fail("rows were opened")))
    assert imagined(request, preview, rows=1_000) is not None
    assert budget.entries() == []


def test_other_questions_are_not_imagined(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    histogram = budget.histogram("ward")
    assert imagined(histogram, histogram.preview("zcdp(0.02)"), rows=1_000) is None
    request = budget.sql(SQL)
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    assert imagined(request, request.preview("zcdp(0.02)"), rows=1_000) is None
