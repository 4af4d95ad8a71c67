"""Which questions with several groupings can be asked, and that all obstacles of the others are shown."""

from __future__ import annotations

import pytest

from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked

KINDS = {"id": Kind.INTEGER, "ward": Kind.TEXT, "city": Kind.TEXT, "cost": Kind.REAL, "days": Kind.INTEGER}


def table(*, rows: int = 1) -> Table:
    return describe(
        "visits",
        kinds=KINDS,
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=1,
        max_rows_per_group=rows,
        bounds={"cost": (0, 10), "days": (0, 9)},
        granularity={},
        keys={"ward": ["a", "b"]},
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, days, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY CUBE (ward, days)",
        "SELECT w, AVG(c) AS m FROM (SELECT ward AS w, cost AS c FROM visits) AS v WHERE w <> 'a' GROUP BY CUBE (w)",
        "SELECT ward, COUNT(DISTINCT id) AS people FROM visits WHERE days > 3 GROUP BY ROLLUP (ward)",
        "SELECT city, COUNT(*) AS n FROM visits WHERE city IN ('x', 'y') GROUP BY ROLLUP (city)",
    ],
)
def test_counts_sums_and_means_of_public_keys_can_be_asked(sql: str) -> None:
    assert asked(sql, table()).query.sets


@pytest.mark.parametrize(
    ("sql", "rows", "reasons"),
    [
        (
            "SELECT ward, city, MEDIAN(cost) AS m, COUNT(DISTINCT id) AS p FROM visits GROUP BY CUBE (ward, city)",
            3,
            ["'city' are not public", "not MEDIAN(cost)", "up to 3 rows"],
        ),
        ("SELECT days // 5 AS d, COUNT(cost) AS n FROM visits GROUP BY ROLLUP (d)", 1, ["expression", "COUNT(cost)"]),
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY CUBE (ward) ORDER BY SUM(cost)",
            1,
            ["selected columns"],
        ),
        (
            "SELECT ward, COUNT(*) AS n FROM (SELECT id, ward, COUNT(*) AS m FROM visits GROUP BY id, ward) AS v "
            "GROUP BY CUBE (ward)",
            1,
            ["sub-queries"],
        ),
    ],
)
def test_all_obstacles_are_shown_with_a_question_that_works(sql: str, rows: int, reasons: list[str]) -> None:
    described = table(rows=rows)
    with pytest.raises(SitrError) as refused:
        asked(sql, described)
    error = refused.value
    said = [error.given, *(each.given for each in error.others)]
    for reason in reasons:
        assert any(reason in each for each in said), said
    assert error.instead is not None
    assert not asked(error.instead, described).query.sets
