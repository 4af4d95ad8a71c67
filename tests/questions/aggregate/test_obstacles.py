"""All obstacles of a question are shown at once, each at its place, and a similar question that can be asked."""

from __future__ import annotations

import pickle

import pytest

from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import SitrError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.equivalent import BOUNDS, equivalent

KINDS = {"id": Kind.INTEGER, "ward": Kind.TEXT, "cost": Kind.REAL, "days": Kind.INTEGER, "day": Kind.DATE}


@pytest.fixture
def table() -> Table:
    return describe(
        "visits",
        kinds=KINDS,
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=3,
        bounds={"cost": (0, 10)},
        granularity={},
        keys={},
    )


def refused(sql: str, table: Table) -> SitrError:
    with pytest.raises(SitrError) as error:
        asked(sql, table)
    return error.value


def pointed(error: SitrError) -> str:
    assert error.excerpt is not None, error
    first = error.excerpt.column - 1
    return error.excerpt.text[first : first + error.excerpt.length]


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT wrad, SUM(cst) FROM visits GROUP BY wrad", {"wrad", "cst"}),
        ("SELECT SUM(days), SUM(ward), COUNT(*) FROM visits", {"SUM(days)", "SUM(ward)"}),
        (
            "SELECT COUNT(*) FROM visits WHERE dais > 1 AND f(cost) = 2 AND ward = Surgery",
            {"dais", "f(cost)", "Surgery"},
        ),
        (
            "SELECT ward, RANK() OVER (ORDER BY cst) AS r, MODE(ward) AS m FROM visits GROUP BY ward",
            {"RANK() OVER (ORDER BY cst)", "cst", "MODE(ward)"},
        ),
        ("SELECT age, days, COUNT(*) FROM visits", {"age", "days"}),
        ("SELECT SUM(a) FROM (SELECT csot AS a, dys AS b FROM visits WHERE wad = 'x')", {"csot", "dys", "wad"}),
        ("SELECT COUNT(*) FROM visits GROUP BY cost, cst HAVING SUM(RANDOM()) > 1", {"cost", "cst", "RANDOM()"}),
        ("SELECT COUNT(*) FROM visit WHERE f(x) = 1", {"visit", "f(x)"}),
        ("SELECT CASE WHEN AVG(csot) > 5 THEN 'a' END FROM visits", {"csot"}),
    ],
)
def test_every_obstacle_is_shown_at_its_place(sql: str, parts: set[str], table: Table) -> None:
    error = refused(sql, table)
    found = {pointed(each) for each in (error, *error.others)}
    assert parts <= found
    assert len({each.message for each in (error, *error.others)}) == 1 + len(error.others)


def test_a_condition_in_a_choice_is_no_obstacle(table: Table) -> None:
    error = refused(
        "SELECT CASE WHEN AVG(cost) > 5 AND NOT COUNT(*) < 3 THEN 'dear' ELSE 'cheap' END FROM visits", table
    )
    assert error.given.startswith("CASE WHEN")
    assert error.others == ()


def test_obstacles_are_in_the_order_of_the_text(table: Table) -> None:
    error = refused("SELECT SUM(a), SUM(b), SUM(c)\nFROM visits\nWHERE e = 1 AND d = 2", table)
    places = [(each.excerpt.line, each.excerpt.column) for each in error.others if each.excerpt is not None]
    assert len(places) == len(error.others) == 4
    assert places == sorted(places)


def test_a_single_obstacle_has_no_others(table: Table) -> None:
    assert refused("SELECT SUM(cst) FROM visits", table).others == ()
    assert refused("SELECT", table).others == ()
    assert refused("DROP TABLE visits", table).others == ()


def test_everything_is_in_the_text_and_survives_a_pickle(table: Table) -> None:
    error = refused("SELECT SUM(cst), SUM(dais) FROM visits", table)
    (other,) = error.others
    assert error.instead is not None
    for said in (error.message, other.message, str(other.excerpt), error.instead):
        assert said in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("sql", "instead"),
    [
        ("SELECT * FROM visits WHERE days > 3", "SELECT COUNT(*) AS n FROM visits WHERE days > 3"),
        ("SELECT ward, cost FROM visits", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
        ("SELECT ward, COUNT(*) AS n FROM visits", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
        ("SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY ward",
         "SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY ward, days"),
        ("SELECT ward, SUM(cost) OVER (PARTITION BY ward) AS s FROM visits",
         "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"),
        ("SELECT SUM(days) AS s FROM visits", f"SELECT SUM(CLAMP(days, 0, 100) /* {BOUNDS} */) AS s FROM visits"),
        ("SELECT SUM(cst) AS s FROM visit WHERE ward = Surgery",
         "SELECT SUM(cost) AS s FROM visits WHERE ward = 'Surgery'"),
        ("SELECT COUNT(DISTINCT ward, days) AS n FROM visits",
         "SELECT COUNT(DISTINCT CAST(ward AS TEXT) || '|' || CAST(days AS TEXT)) AS n FROM visits"),
        ("SELECT MODE(ward) FROM visits",
         "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1"),
        ("SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost",
         "SELECT FLOOR(cost) AS cost, COUNT(*) AS n FROM visits GROUP BY FLOOR(cost)"),
        ("SELECT AVG(t) AS m FROM (SELECT ward, SUM(cost) AS t FROM visits GROUP BY ward) AS s",
         "SELECT AVG(SUM(cost)) OVER () AS m FROM visits GROUP BY ward LIMIT 1"),
        ("WITH s AS (SELECT ward, COUNT(*) AS n FROM visits WHERE days > 3 GROUP BY ward) SELECT MAX(n) FROM s",
         "SELECT ward, COUNT(*) AS n FROM visits WHERE days > 3 GROUP BY ward ORDER BY n DESC LIMIT 1"),
        ("SELECT MAKE_DATE(2024, days, 1) AS d, ward, COUNT(*) AS n FROM visits GROUP BY d, ward",
         "SELECT days, ward, COUNT(*) AS n FROM visits GROUP BY ward, days"),
        ("SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY ward, days "
         "QUALIFY RANK() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) <= 3",
         "SELECT ward, days, COUNT(*) AS n, RANK() OVER (PARTITION BY ward ORDER BY COUNT(*) DESC) AS place "
         "FROM visits GROUP BY ward, days"),
        ("SELECT ward, AVG(cost) > 5 AS dear FROM visits GROUP BY ward",
         "SELECT ward, CASE WHEN AVG(cost) > 5 THEN 1 ELSE 0 END AS dear FROM visits GROUP BY ward"),
        ("SELECT CASE WHEN COUNT(*) > 9 THEN 'many' WHEN COUNT(*) > 3 THEN 'some' ELSE 'few' END AS k FROM visits",
         "SELECT CASE WHEN COUNT(*) > 9 THEN 1 /* many */ WHEN COUNT(*) > 3 THEN 2 /* some */ ELSE 3 /* few */ END "
         "AS k FROM visits"),
        ("SELECT AVG(m) FROM (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward) AS s",
         "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward"),
        ("WITH a AS (SELECT ward, cost FROM visits WHERE days > 3), b AS (SELECT ward, AVG(cost) AS m FROM a GROUP BY "
         "ward) SELECT * FROM b WHERE m > 40 ORDER BY m LIMIT 2",
         "WITH a AS (SELECT ward, cost FROM visits WHERE days > 3) SELECT ward, AVG(cost) AS m FROM a GROUP BY ward "
         "HAVING AVG(cost) > 40 ORDER BY AVG(cost) LIMIT 2"),
        ("SELECT m FROM (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward HAVING COUNT(*) > 1) AS s WHERE m > 4",
         "SELECT AVG(cost) AS m FROM visits GROUP BY ward HAVING COUNT(*) > 1 AND AVG(cost) > 4"),
        ("SELECT (SELECT COUNT(*) FROM visits WHERE days > 3) * 1.0 / (SELECT SUM(cost) FROM visits) AS share",
         "SELECT COUNT(*) FILTER(WHERE days > 3) * 1.0 / (SUM(cost)) AS share FROM visits"),
        ("WITH a AS (SELECT ward, cost FROM visits) SELECT COUNT(*) AS n, f(cost) AS f FROM a",
         "WITH a AS (SELECT ward, cost FROM visits) SELECT COUNT(*) AS n FROM a"),
        ("SELECT SUM(cost > 3) AS n, AVG(cost > 3) AS m FROM visits",
         "SELECT COUNT_IF(cost > 3) AS n, AVG(CASE WHEN cost > 3 THEN 1 WHEN NOT cost > 3 THEN 0 END) AS m "
         "FROM visits"),
        ("SELECT AVG(LOG(2, days)) AS m FROM visits",
         f"SELECT AVG(CLAMP(LOG(2, days), 0, 100) /* {BOUNDS} */) AS m FROM visits"),
        ("SELECT AVG(each) AS m FROM (SELECT id, COUNT(*) / COUNT(DISTINCT day) AS each FROM visits GROUP BY id) AS s",
         f"SELECT AVG(CLAMP(each, 0, 100) /* {BOUNDS} */) AS m FROM "
         "(SELECT id, COUNT(*) / COUNT(DISTINCT day) AS each FROM visits GROUP BY id) AS s"),
        ("SELECT COUNT(DISTINCT (ward, days)) AS n FROM visits",
         "SELECT COUNT(DISTINCT CAST(ward AS TEXT) || '|' || CAST(days AS TEXT)) AS n FROM visits"),
        ("SELECT SUM(DISTINCT cost) AS s FROM visits", "SELECT SUM(cost) AS s FROM visits"),
        ("SELECT ARG_MAX(ward, cost) FROM visits WHERE days > 3",
         "SELECT ward, MAX(cost) AS extreme FROM visits WHERE days > 3 GROUP BY ward ORDER BY extreme DESC LIMIT 1"),
        ("SELECT ARG_MIN(ward, cost) FROM visits",
         "SELECT ward, MIN(cost) AS extreme FROM visits GROUP BY ward ORDER BY extreme LIMIT 1"),
        ("SELECT MAD(cost) AS spread FROM visits",
         "SELECT (QUANTILE(cost, 0.75) - QUANTILE(cost, 0.25)) / 2 AS spread FROM visits"),
        ("SELECT 1.48 * MAD(cost) AS spread FROM visits",
         "SELECT 1.48 * ((QUANTILE(cost, 0.75) - QUANTILE(cost, 0.25)) / 2) AS spread FROM visits"),
        ("SELECT ROUND(cost, 2) AS c, COUNT(*) AS n FROM visits GROUP BY c",
         "SELECT ROUND(cost * 100) AS c, COUNT(*) AS n FROM visits GROUP BY c"),
        ("SELECT a.ward, b.ward, COUNT(*) AS n FROM visits a JOIN visits b ON a.id = b.id GROUP BY a.ward, b.ward",
         "SELECT a.ward, b.ward AS ward_2, COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.id = b.id "
         "GROUP BY a.ward, b.ward"),
        ("SELECT MIN(n) AS least FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
         "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 1"),
        ("SELECT AVG(t) AS m FROM (SELECT ward, SUM(cost) AS t FROM visits GROUP BY ward) AS s WHERE t > 3",
         "SELECT AVG(t) AS m FROM (SELECT id, ward, SUM(cost) AS t FROM visits GROUP BY id, ward) AS s WHERE t > 3"),
        ("SELECT COUNT(*) AS n FROM (SELECT ward FROM visits UNION SELECT ward FROM visits) AS u",
         "SELECT COUNT(*) AS n FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM visits) AS u"),
        ("SELECT COUNT(*) AS n FROM visits QUALIFY n > 1 USING SAMPLE 5", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)",
         "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
        ("SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.ward = b.ward",
         "SELECT COUNT(*) AS people FROM (SELECT id, COUNT(*) AS rows_each FROM visits GROUP BY id) AS each_person "
         "WHERE rows_each > 1"),
    ],
)  # fmt: skip
def test_a_similar_question_that_can_be_asked_is_proposed(sql: str, instead: str, table: Table) -> None:
    assert refused(sql, table).instead == instead
    asked(instead, table)


@pytest.mark.parametrize("sql", ["", "UPDATE visits SET cost = 0", "SELECT", "SELECT f(x) FROM visits WHERE g(x)"])
def test_without_a_similar_question_none_is_proposed(sql: str, table: Table) -> None:
    assert equivalent(sql, Catalog(table)) is None


@pytest.mark.parametrize(
    ("sql", "instead"),
    [
        ("SELECT SUM(cost), AVG(ward) FROM visits", "SELECT SUM(cost), COUNT(ward) FROM visits"),
        ("SELECT SUM(urgent) FROM visits", "SELECT COUNT_IF(urgent) FROM visits"),
        ("SELECT wrd, COUNT(*) AS n FROM visits GROUP BY ward", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
        ("SELECT zzz, COUNT(*) AS n FROM visits GROUP BY ward", "SELECT COUNT(*) AS n FROM visits GROUP BY ward"),
        (
            "SELECT AVG(urgent) AS share FROM visits",
            "SELECT AVG(CASE WHEN urgent THEN 1 WHEN NOT urgent THEN 0 END) AS share FROM visits",
        ),
        ("SELECT BOOL_OR(cost > 5) FROM visits", "SELECT COUNT_IF((cost > 5)) FROM visits"),
        ("SELECT EVERY(urgent) FROM visits", "SELECT COUNT_IF(NOT urgent) FROM visits"),
        ("SELECT REGR_SLOPE(cost, cost) FROM visits", "SELECT COVAR_POP(cost, cost) / VAR_POP(cost) FROM visits"),
        ("SELECT GEOMEAN(cost + 1) AS g FROM visits", "SELECT EXP(AVG(LN((cost + 1)))) AS g FROM visits"),
        (
            "SELECT FLOOR(cost / 0.5) * 0.5 AS k, COUNT(*) FROM visits GROUP BY 1",
            "SELECT FLOOR(cost / 0.5) AS k, COUNT(*) FROM visits GROUP BY 1",
        ),
        (
            "SELECT cost * 0.5 AS k, COUNT(*) FROM visits GROUP BY k",
            "SELECT FLOOR(cost * 0.5) AS k, COUNT(*) FROM visits GROUP BY k",
        ),
    ],
)
def test_what_cannot_be_asked_has_a_question_in_its_place(sql: str, instead: str) -> None:
    table = describe(
        "visits",
        kinds={**KINDS, "urgent": Kind.BOOLEAN},
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=2,
        max_rows_per_group=3,
        bounds={"cost": (0, 10)},
        granularity={},
        keys={},
    )
    assert equivalent(sql, Catalog(table)) == instead


def test_a_column_that_a_sub_query_computes_has_the_name_it_has_there(table: Table) -> None:
    each = "SELECT id, COUNT(*) / COUNT(DISTINCT day) AS each FROM visits GROUP BY id"
    error = refused(f"SELECT AVG(each) AS m FROM ({each}) AS s", table)
    assert error.given == "AVG(each) needs bounds, but none follow from those of its columns."


def test_a_sub_query_knows_those_before_it(table: Table) -> None:
    before = "WITH a AS (SELECT id, cost FROM visits), b AS (SELECT id, SUM(cost) AS m FROM a GROUP BY id)"
    error = refused(f"{before} SELECT f(m) FROM b", table)
    assert "f(m)" in str(error)
    assert "knows no table" not in str(error)
    assert "knows no table 'c'" in str(refused(f"{before.replace('FROM a ', 'FROM c ')} SELECT AVG(m) FROM b", table))
