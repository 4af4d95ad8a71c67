"""The table of other prices, in both languages, and what is marked in it."""

from __future__ import annotations

from functools import partial
from typing import Any

from sitr.accounting.filter import Filter
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language, speaking
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.sql import parse
from sitr.report.papers import preview_paper
from tests.oracles.visits import visits_table

SQL = "SELECT COUNT(*) AS n, AVG(cost) AS mean FROM visits"
RHOS = (0.1, 0.2, 0.3)


def asked() -> BoundedQuery:
    return bound(parse(SQL), visits_table()).watching(None)


def paper(standing: Filter[Any], rhos: tuple[float, ...] = RHOS) -> Any:
    query = asked()
    plans = [fit(query, ZeroConcentratedDP(rho)) for rho in rhos]
    return preview_paper(plans[0], standing, lambda: plans)


def test_this_price_and_all_that_is_left_are_marked() -> None:
    table = paper(Filter(ZeroConcentratedDP(0.3))).prices()
    assert [row[0] for row in table.rows()] == ["ρ = 0.1 (this price)", "ρ = 0.2", "ρ = 0.3 (all that is left)"]
    assert [column.heading for column in table.columns][1:] == ["n (bias not measured)", "mean (bias not measured)"]
    assert all("at 1,000 rows" in row[2] for row in table.rows())
    with speaking(Language.ARABIC):
        first, _, last = paper(Filter(ZeroConcentratedDP(0.3))).prices().rows()
    assert "هذا الثمن" in first[0]
    assert "كل ما بقي" in last[0]


def test_one_price_alone_needs_no_table() -> None:
    assert paper(Filter(ZeroConcentratedDP(0.3)), (0.1,)).prices() is None


def test_other_prices_are_fitted_only_where_they_are_shown() -> None:
    fitted: list[str] = []

    def plans() -> list[Any]:
        fitted.append("fitted")
        return [fit(asked(), ZeroConcentratedDP(rho)) for rho in RHOS]

    plan, standing = fit(asked(), ZeroConcentratedDP(0.1)), Filter(ZeroConcentratedDP(0.3))
    found = preview_paper(plan, standing, plans)
    assert found.facts
    assert fitted == []
    found.prices()
    content = found.to_dict()
    assert fitted == ["fitted"]
    assert [one["price"]["rho"] for one in content["prices"]] == list(RHOS)
    assert [one["errors"][0]["name"] for one in content["prices"]] == ["n"] * 3


def test_many_errors_have_a_row_each() -> None:
    """Seven columns are more than fit beside each other; with six, each price keeps its row."""
    for count, long in ((6, False), (7, True)):
        listed = ", ".join(f"COUNT_IF(cost > {10 * place}) AS n{place}" for place in range(count))
        query = bound(parse(f"SELECT {listed} FROM visits"), visits_table()).watching(None)
        plans = [fit(query, ZeroConcentratedDP(rho)) for rho in RHOS]
        found = preview_paper(plans[0], Filter(ZeroConcentratedDP(0.3)), partial(list, plans))
        table = found.prices()
        assert table is not None
        names = [f"n{place} (bias not measured)" for place in range(count)]
        prices = ["ρ = 0.1 (this price)", "ρ = 0.2", "ρ = 0.3 (all that is left)"]
        rows = list(table.rows())
        assert [row[0] for row in rows] == (names if long else prices)
        assert [column.heading for column in table.columns][1:] == (prices if long else names)
        assert len({len(row) for row in rows} | {len(table.columns)}) == 1
        assert len(rows) == table.size
        errors = [one["error"] for one in found.to_dict()["prices"][2]["errors"]]
        assert len(errors) == len(names)
