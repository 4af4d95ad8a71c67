"""Windows over released rows: their numbers are those of SQL, and their intervals hold as often as they say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from scipy.stats import binom

import sitr
from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, describe
from sitr.errors import NotPrivate, QuestionError, SitrError
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.plan import AggregatePlan, Shown
from sitr.questions.aggregate.release import Release

SITES, SEXES = ("A", "B", "C", "D"), ("f", "m")
KINDS = {"id": Kind.INTEGER, "site": Kind.TEXT, "sex": Kind.TEXT, "cost": Kind.INTEGER, "town": Kind.TEXT}
TABLE = describe(
    "t",
    kinds=KINDS,
    unit=Person("id"),
    relation=Relation.ADD_REMOVE,
    max_groups=1,
    max_rows_per_group=1,
    bounds={"cost": (0, 10)},
    granularity={},
    keys={"site": SITES, "sex": SEXES},
)
EXACT = {(site, sex): 40 + 35 * place + 20 * (sex == "f") for place, site in enumerate(SITES) for sex in SEXES}
ROWS = pa.table(
    {
        "id": list(range(sum(EXACT.values()))),
        "site": [site for (site, _), many in EXACT.items() for _ in range(many)],
        "sex": [sex for (_, sex), many in EXACT.items() for _ in range(many)],
        "cost": [row % 7 for row in range(sum(EXACT.values()))],
        "town": ["x"] * sum(EXACT.values()),
    }
)
SHARE = "SELECT site, sex, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM t GROUP BY site, sex"
WITHIN = "SELECT site, sex, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY site) AS x FROM t GROUP BY site, sex"
TOTAL = "SELECT site, sex, SUM(SUM(cost)) OVER (PARTITION BY sex) AS x FROM t GROUP BY site, sex"
MEAN = "SELECT site, sex, COUNT(*) - AVG(COUNT(*)) OVER () AS x FROM t GROUP BY site, sex"
RANK = "SELECT site, sex, RANK() OVER (PARTITION BY sex ORDER BY COUNT(*) DESC) AS x FROM t GROUP BY site, sex"
DENSE = "SELECT site, sex, DENSE_RANK() OVER (ORDER BY COUNT(*)) AS x FROM t GROUP BY site, sex"
NUMBER = "SELECT site, sex, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY n DESC) AS x FROM t GROUP BY site, sex"
CHOSEN = "SELECT site, sex, SUM(COUNT(*)) OVER () AS x FROM t GROUP BY site, sex HAVING COUNT(*) > 90"
QUESTIONS = [SHARE, WITHIN, TOTAL, MEAN, RANK, DENSE, NUMBER, CHOSEN]


def planned(sql: str, rho: float = 0.5) -> AggregatePlan:
    return fit(asked(sql, TABLE).watching(None), ZeroConcentratedDP(rho))


def exact_terms(plan: AggregatePlan) -> list[list[int]]:
    """The exact integers of all cells, in the order of the terms; terms of a sum are in granules and centred."""
    found = open_source(ROWS, types={}).read(plan.query, salt=5)
    return [list(found[key][: len(plan.query.terms)]) for key in EXACT]


def released(plan: AggregatePlan, measured: Sequence[Sequence[int]]) -> Release:
    return Release(plan, tuple(EXACT), tuple(map(tuple, measured)))


def plainly(sql: str) -> dict[tuple[str, str], Any]:
    engine = duckdb.connect()
    engine.register("t", ROWS)
    return {(site, sex): rest[-1] for site, sex, *rest in engine.execute(sql).fetchall()}


@pytest.mark.parametrize("sql", QUESTIONS)
def test_without_noise_the_numbers_are_those_of_sql(sql: str) -> None:
    plan = planned(sql)
    release = released(plan, exact_terms(plan))
    column = plan.columns[-1]
    found = {release.rows[at]: value for at, value in enumerate(release.values(column))}
    expected = plainly(sql)
    assert found.keys() == expected.keys()
    assert all(abs(float(found[key]) - float(expected[key])) < 1e-9 for key in expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_the_text_reads_back_the_same(sql: str) -> None:
    first = asked(sql, TABLE)
    assert asked(text(first.query), TABLE) == first


def misses(sql: str, releases: int) -> int:
    """How many of these releases have an interval of some fixed row that does not hold its exact number."""
    plan = planned(sql)
    true, column, terms = plainly(sql.split(" HAVING", maxsplit=1)[0]), plan.columns[-1], exact_terms(plan)
    with pytest.warns(NotPrivate):
        coins = TestCoins(11)
    noise = [each.noise for each in plan.noisy]
    missed = 0
    draws = [
        iter(one.release([row[place] for row in terms] * releases, coins=coins)) for place, one in enumerate(noise)
    ]
    for _ in range(releases):
        columns = [[next(draw) for _ in terms] for draw in draws]
        release = released(plan, list(zip(*columns, strict=True)))
        shown = release.estimates(column)
        key = ("C", "m") if ("C", "m") in release.rows else release.rows[0] if release.rows else None
        if key is None:
            continue
        one = shown[release.rows.index(key)]
        target = true[key] if "HAVING" not in sql else sum(EXACT[each] for each in release.rows)  # type: ignore[index, misc]
        missed += not one.low - Fraction(1, 10**9) <= target <= one.high + Fraction(1, 10**9)
    return missed


@pytest.mark.parametrize("sql", QUESTIONS)
def test_intervals_hold(sql: str) -> None:
    """A sound interval fails here with a probability of at most 10⁻⁷."""
    releases = 600
    assert misses(sql, releases) <= binom.isf(1e-7, releases, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUESTIONS)
def test_intervals_hold_in_ten_thousand_releases(sql: str) -> None:
    assert misses(sql, 10_000) <= binom.isf(1e-7, 10_000, 0.05)


def test_the_draws_of_a_total_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: the interval of a total that forgets all noises but one misses too often."""
    honest = Shown.estimates

    def forgetful(self: Any, granules: Any, *, confidence: Any, draws: int = 1) -> Any:
        assert draws > 0
        return honest(self, granules, confidence=confidence)

    monkeypatch.setattr(Shown, "estimates", forgetful)
    assert misses(TOTAL, 600) > binom.isf(1e-7, 600, 0.05)


def test_intervals_are_not_idly_wide() -> None:
    """The total of eight counts has an interval that is √8 times as wide as that of one, not eight times."""
    sql = "SELECT site, sex, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS x FROM t GROUP BY site, sex"
    plan = planned(sql)
    release = released(plan, exact_terms(plan))
    one, total = (release.estimates(column)[0].error for column in plan.columns)
    assert 2.5 < total / one < 3.2


def test_rows_can_be_sorted_and_cut_by_a_window() -> None:
    plan = planned(SHARE + " ORDER BY x DESC LIMIT 2")
    release = released(plan, exact_terms(plan))
    assert release.rows == (("D", "f"), ("D", "m"))


def test_python_calls_are_the_same_question() -> None:
    calls = {
        "SUM(COUNT(*)) OVER ()": sitr.count().over(),
        "SUM(COUNT(*)) OVER (PARTITION BY site)": sitr.count().over("site"),
        "RANK() OVER (PARTITION BY site ORDER BY SUM(cost) DESC)": sitr.sum("cost").rank("site", descending=True),
        "COUNT(*) / SUM(COUNT(*)) OVER ()": sitr.count() / sitr.count().over(),
    }
    for sql, call in calls.items():
        query = asked(f"SELECT site, {sql} AS x FROM t GROUP BY site", TABLE)
        assert spelled_sql(call) == query.query.aggregates[0].aggregate.sql()


def spelled_sql(call: Any) -> str:
    from sitr.questions.aggregate.expressions.expression import spelled

    return spelled(call.expression)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT site, SUM(cost) OVER () AS x FROM t GROUP BY site", "window function"),
        ("SELECT site, SUM(AVG(cost)) OVER () AS x FROM t GROUP BY site", "cannot be computed from released rows"),
        ("SELECT site, SUM(COUNT(*)) OVER (ORDER BY site) AS x FROM t GROUP BY site", "window function"),
        ("SELECT site, SUM(COUNT(*)) OVER (PARTITION BY sex) AS x FROM t GROUP BY site", "not among the keys"),
        ("SELECT site, LAG(COUNT(*)) OVER (ORDER BY site) AS x FROM t GROUP BY site", "window function"),
        ("SELECT site, SUM(SUM(COUNT(*)) OVER ()) OVER () AS x FROM t GROUP BY site", "cannot be computed"),
        ("SELECT site, COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM t GROUP BY site HAVING x > 1", "HAVING cannot use x"),
        ("SELECT site, NTILE(4) OVER (ORDER BY COUNT(*)) AS x FROM t GROUP BY site", "window function"),
    ],
)
def test_other_windows_are_refused(sql: str, message: str) -> None:
    with pytest.raises(SitrError, match=message):
        asked(sql, TABLE)


def test_the_row_for_other_keys_has_no_windows() -> None:
    query = asked("SELECT town, COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM t GROUP BY town", TABLE)
    with pytest.raises(QuestionError, match="follows from the rows of an answer"):
        with_other(query)


def test_an_answer_shows_them_everywhere(tmp_path: Any) -> None:
    data = sitr.protect(
        ROWS, name="t", unit="id", max_groups=1, max_rows_per_group=1, keys={"site": SITES, "sex": SEXES}
    )
    budget = data.budget(rho=10, ledger=tmp_path / "t.db")
    asked_again = budget.sql(SHARE)
    asked_again.preview(rho=1).to_dict()
    answer = asked_again.release(rho=1)
    assert abs(sum(answer.table["x"].to_pylist()) - 100) < 1e-6
    assert answer.intervals().column_names == ["site", "sex", "n", "n_low", "n_high", "x", "x_low", "x_high"]
    answer.certificate(tmp_path / "page.html")
    answer.certificate(tmp_path / "arabic.html", lang="ar")
    answer.plot(tmp_path / "chart.svg")
    assert "x" in str(answer)
    kept = budget.sql(SHARE).release(rho=1)
    assert kept.receipt.again
    assert kept.table == answer.table
