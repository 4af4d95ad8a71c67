"""The table of other prices, in both languages, and what is marked in it."""

from __future__ import annotations

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
