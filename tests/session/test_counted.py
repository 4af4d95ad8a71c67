"""A released number of people for which the δ of the budget is too large is followed by a warning."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.errors import LargeDelta
from sitr.language import Language
from sitr.noise import TestCoins
from sitr.report.words.messages import catalogue
from sitr.session.counted import _largest, _least

ROWS = pa.table({"patient": [row % 2_000 for row in range(4_000)], "ward": ["a", "b"] * 2_000})
TEXT = "SELECT COUNT(DISTINCT patient) AS n FROM visits"


def budget(folder: Path, promise: str, **said: Any) -> Any:
    caps: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2} | said
    return sitr.protect(ROWS, name="visits", keys={"ward": ["a", "b"]}, **caps).budget(promise, ledger=folder / "l.db")


def warned(asked: Any, price: str = "pure(1)") -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        asked.release(price, coins=TestCoins(7))
    return [str(one.message) for one in found if issubclass(one.category, LargeDelta)]


def test_a_number_of_people_is_compared_with_the_delta_of_the_budget(tmp_path: Path) -> None:
    (text,) = warned(budget(tmp_path, "approximate(9, 1e-3)").sql(TEXT))
    assert text.startswith("The answer shows that at least 1,99")
    assert "exposes 2 of them outright" in text
    assert text.endswith("choose a δ below 5e-05.")


def test_the_warning_points_to_the_line_that_asks(tmp_path: Path) -> None:
    with pytest.warns(LargeDelta) as found:
        budget(tmp_path, "approximate(9, 1e-3)").sql(TEXT).release("pure(1)")
    assert [one.filename for one in found] == [__file__]


@pytest.mark.parametrize("promise", ["approximate(9, 1e-5)", "pure(9)", "zcdp(9)"])
def test_a_small_delta_is_no_reason_to_warn(promise: str, tmp_path: Path) -> None:
    assert not warned(budget(tmp_path, promise).sql(TEXT))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM visits",  # rows: how many people they belong to is not known
        "SELECT COUNT(DISTINCT ward) AS n FROM visits",
        "SELECT SUM(COUNT(DISTINCT patient)) OVER () AS n, ward FROM visits GROUP BY ward",
    ],
)
def test_other_numbers_are_no_numbers_of_people(text: str, tmp_path: Path) -> None:
    assert not warned(budget(tmp_path, "approximate(9, 1e-3)").sql(text))


def test_rows_are_counted_where_rows_are_protected(tmp_path: Path) -> None:
    asked = budget(tmp_path, "approximate(9, 1e-3)", unit=sitr.Row(), max_groups=1, max_rows_per_group=1)
    (text,) = warned(asked.sql("SELECT COUNT(*) AS n FROM visits"))
    assert "at least 3,99" in text


def test_the_largest_group_and_each_answer_of_a_batch_are_looked_at(tmp_path: Path) -> None:
    found = budget(tmp_path, "approximate(9, 1e-3)")
    grouped = found.sql("SELECT ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward")
    assert "at least 9" in warned(grouped)[0]
    (text,) = warned(found.batch({"rows": found.sql("SELECT COUNT(*) AS n FROM visits"), "wards": grouped}))
    assert "people are in these data" in text


@pytest.mark.parametrize("after", ["", " ORDER BY n LIMIT 5", " HAVING COUNT(DISTINCT patient) > 28"])
def test_the_largest_number_has_the_largest_lower_end(after: str, tmp_path: Path) -> None:
    """So few intervals are computed, however many groups there are."""
    rows = pa.table({"patient": range(2_000), "day": [min(row % 70, 39) for row in range(2_000)]})
    data = sitr.protect(rows, name="visits", unit="patient", max_groups=1, max_rows_per_group=1)
    asked = data.budget("approximate(9, 1e-3)", ledger=tmp_path / "l.db").sql(
        f"SELECT day, COUNT(DISTINCT patient) AS n FROM visits GROUP BY day{after}",
        keys={"day": range(40)},
    )
    released = asked.release("pure(1)", coins=TestCoins(7)).released
    (column,) = released.plan.columns
    every = [math.floor(one.low) for one in released.estimates(column, simultaneous=True)]
    assert len(every) > 1
    assert _least(released) == max(0, *every)
    assert len(_largest(released, column)) <= 2


def test_noise_that_hides_how_many_there_are_says_nothing(tmp_path: Path) -> None:
    assert not warned(budget(tmp_path, "approximate(9, 1e-3)").sql(TEXT), "pure(0.001)")


def test_an_answer_that_is_paid_for_is_not_lost_to_a_filter(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = budget(tmp_path, "approximate(9, 1e-3)").sql(TEXT).release("pure(1)")
    assert answer.released.rows == ((),)


def test_in_arabic(tmp_path: Path) -> None:
    (text,) = warned(budget(tmp_path, "approximate(9, 1e-3)").sql(TEXT))
    found = catalogue(Language.ARABIC)
    assert found is not None
    assert "من الأشخاص على الأقل" in found.say(text)
