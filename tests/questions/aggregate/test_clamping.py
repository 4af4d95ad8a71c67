"""Sums bounded by row and by person: both errors, from public facts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.dataset.schema import adjusted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.clamping import clampings
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.sql import parse
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from tests.oracles.visits import visits_table

PRICE = ZeroConcentratedDP(0.1)
WARDS = {"keys": {"ward": ["A", "B"]}}


def query(text: str, **changed: object) -> BoundedQuery:
    return bound(parse(text), visits_table(**(WARDS | changed)))


def test_a_total_has_the_noise_of_one_row() -> None:
    """With three rows of each person, a sum has three times the noise of a total between the bounds of a row."""
    (found,) = clampings(fit(query("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"), PRICE))
    assert (found.column, found.rows.sql, found.person.sql) == ("s", "SUM(cost)", "SUM_PER_PERSON(cost, 0, 10)")
    assert found.rows.error == pytest.approx(3 * found.person.error, rel=0.02)
    assert "The total is better" in ENGLISH.aggregate.clamping(found)
    assert "قصر المجموع أفضل" in ARABIC.aggregate.clamping(found)


def test_the_errors_are_those_of_the_questions_themselves() -> None:
    asked = query("SELECT COUNT(*) AS n, SUM(days) AS s FROM visits").watching(Fraction(1, 20))
    (found,) = clampings(fit(asked, PRICE))
    other = query(f"SELECT COUNT(*) AS n, {found.person.sql} AS s FROM visits").watching(Fraction(1, 20))
    for one, way in ((asked, found.rows), (other, found.person)):
        column = next(each for each in fit(one, PRICE).columns if each.name == "s")
        assert column.error(confidence=Fraction(95, 100)) == way.error
    assert clampings(fit(other, PRICE)) == (found,)  # the same, whichever of the two is asked


def test_bounds_of_a_total_that_exceed_all_rows_are_worse() -> None:
    (found,) = clampings(fit(query("SELECT SUM_PER_PERSON(cost, 0, 900) AS s FROM visits"), PRICE))
    assert found.person.error > found.rows.error
    assert "The rows are better" in ENGLISH.aggregate.clamping(found)


def test_one_row_of_each_person_makes_no_difference_to_the_noise() -> None:
    table = adjusted(visits_table(), max_groups=1, max_rows_per_group=1)
    (found,) = clampings(fit(bound(parse("SELECT SUM(cost) AS s FROM visits"), table), PRICE))
    assert found.person.error == found.rows.error
    assert "more rows than the cap" in ENGLISH.aggregate.clamping(found)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n, AVG(cost) AS m FROM visits",
        "SELECT SUM_PER_PERSON(id, 0, 5) AS s FROM visits",  # the column has no bounds
    ],
)
def test_other_columns_have_no_two_ways(text: str) -> None:
    assert clampings(fit(query(text), PRICE)) == ()


def test_rows_that_are_units_have_no_totals() -> None:
    made = query("SELECT SUM(cost) AS s FROM visits", unit=Row(), max_groups=None, max_rows_per_group=None)
    assert clampings(fit(made, PRICE)) == ()


def test_unknown_keys_and_a_cap_on_all_rows() -> None:
    table = adjusted(visits_table(), max_groups=6, max_rows_per_group=6, max_rows=6)
    plan = fit(bound(parse("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"), table), ApproximateDP(1.0, 1e-6))
    (found,) = clampings(plan)
    assert found.person.error < found.rows.error
