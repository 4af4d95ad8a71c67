"""The difference of two answers has an interval that both noises allow, at a confidence that both share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.errors import InvalidUse
from sitr.language import Language, speaking
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.difference import EACH, comparable, difference_table, minus
from sitr.session.dataset import open as open_description
from sitr.session.sample import sample

SQL = "SELECT ward, COUNT(*) AS n, MEDIAN(days) AS middle FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Release]:
    budget = open_description(sample(tmp_path_factory.mktemp("rows"), rows=500).description).budget()
    asked = {
        "one": (SQL, "zcdp(0.02)"),
        "other": (SQL, "zcdp(0.05)"),
        "whole": ("SELECT COUNT(*) AS n FROM visits", "zcdp(0.02)"),
        "else": (SQL.replace("AS n", "AS m"), "zcdp(0.02)"),
    }
    return {
        name: budget.sql(sql).release(price, coins=TestCoins(place)).released
        for place, (name, (sql, price)) in enumerate(asked.items())
    }


def test_both_intervals_share_the_confidence() -> None:
    """By the union bound: each fails with 2.5%, so one of both fails with at most 5%."""
    assert 2 * (1 - EACH) == Fraction(5, 100)


def test_the_error_of_a_difference_is_the_sum_of_both_errors(releases: dict[str, Release]) -> None:
    one, other = releases["one"], releases["other"]
    [(here, there)] = comparable(one, other)  # errors of a median are ranks, which have no difference
    assert here.name == "n"
    first, second = one.estimates(here, confidence=EACH)[0], other.estimates(there, confidence=EACH)[0]
    found = minus(first, second)
    assert isinstance(first.error, Fraction)
    assert isinstance(second.error, Fraction)
    assert found.error == first.error + second.error
    careless = minus(one.estimates(here)[0], other.estimates(there)[0])  # the broken twin: 95% for each
    assert careless.error < found.error


def test_an_end_without_a_limit_stays_without_one() -> None:
    wide = Estimate(Fraction(1), float("-inf"), float("inf"))
    found = minus(wide, wide)
    assert found.value == Fraction(0)
    assert (found.low, found.high) == (float("-inf"), float("inf"))
    assert minus(Estimate(None, Fraction(0), Fraction(1)), wide).value is None


@pytest.mark.parametrize("language", list(Language))
def test_the_table_has_a_row_for_each_common_key(releases: dict[str, Release], language: Language) -> None:
    with speaking(language):
        found = difference_table(releases["one"], releases["other"])
        rows = [*found.rows()]
    assert len(rows) == found.size == 9
    assert all(len(row) == len(found.columns) == 4 for row in rows)
    assert all("±" in cell for row in rows for cell in row[1:])


@pytest.mark.parametrize("other", ["whole", "else"])
def test_answers_with_nothing_in_common_are_refused(releases: dict[str, Release], other: str) -> None:
    with pytest.raises(InvalidUse, match="no column"):
        difference_table(releases["one"], releases[other])
