"""Random plans of every kind, as the JSON that previews and answers show."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import sitr
from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.mechanisms.smooth import SmoothNoise
from sitr.questions import Buckets, Flat, Prefixes, Ranges, Sparse, Tree
from sitr.sensitivity import median, smooth
from sitr.session.budget import Budget

WARDS = ["a", "b", "c", "d", "e"]
ROWS = pa.table(
    {
        "ward": [WARDS[row % 5] for row in range(60)],
        "town": [f"t{row % 7}" for row in range(60)],
        "cost": [float(row % 50) for row in range(60)],
        "days": [row % 9 - 4 for row in range(60)],
        "patient": [row % 30 for row in range(60)],
    }
)
STAYS = ROWS.append_column(
    "seen", pa.array([datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=9 * row) for row in range(60)])
).append_column("day", pa.array([date(2024, 1, 1) + timedelta(days=6 * row) for row in range(60)]))
"""The same rows with a moment and a date."""
OTHER = pa.table({"patient": [row % 30 for row in range(40)], "dose": [row % 8 for row in range(40)]})

COLUMNS = (
    *("COUNT(*)", "COUNT(cost)", "COUNT(DISTINCT patient)", "COUNT(DISTINCT days)", "SUM(cost)", "SUM(days)"),
    *("AVG(cost)", "VAR(days)", "COUNT_IF(days > 2)", "SUM(cost) FILTER (WHERE days > 0)", "HISTOGRAM(days, 0, 2)"),
    *("SUM_PER_PERSON(cost, 0, 80)", "COVAR_SAMP(cost, days)", "MEDIAN(cost)", "QUANTILE(days, 0.2)", "MAX(cost)"),
)


class InMemory:
    """A ledger that remembers budgets only: enough for previews, and much quicker than a file."""

    def __init__(self) -> None:
        self.budgets: dict[str, Filter[Any]] = {}

    def open(self, account: str, *, promise: Kept, neighbors: str) -> None:
        del neighbors
        self.budgets[account] = Filter(promise)

    def standing(self, account: str) -> Filter[Any]:
        return self.budgets[account]

    def asked(self, account: str, *, question: str) -> tuple[()]:
        del account, question
        return ()

    def charge(self, account: str, **_: Any) -> Any:
        raise AssertionError(account)


def ledger(dice: random.Random, folder: Path | None) -> Any:
    name = f"{dice.getrandbits(60)}.db"  # in both cases, so that a seed stands for one plan
    return InMemory() if folder is None else folder / name


def opened(
    dice: random.Random,
    folder: Path | None,
    promise: Kept | str,
    *,
    rows: bool = False,
    table: pa.Table = ROWS,
    **more: Any,
) -> Budget:
    """A budget for a description with random caps, bounds and neighbours."""
    row, replace = rows or dice.random() < 0.2, rows or dice.random() < 0.4
    caps: dict[str, Any] = {"max_groups": dice.choice([1, 2, 3, 7]), "max_rows_per_group": dice.choice([1, 2, 5])}
    if dice.random() < 0.3:
        caps["max_rows"] = dice.randint(1, 12)
    data = sitr.protect(
        table,
        unit=sitr.Row() if row else "patient",
        relation=sitr.Relation.REPLACE_ONE if replace else sitr.Relation.ADD_REMOVE,
        bounds={"cost": (dice.choice([0, 1, -20]), dice.choice([30, 100])), "days": (-4, dice.randint(0, 9))},
        granularity={"cost": dice.choice([1, 0.25])},
        keys={"ward": WARDS},
        name="visits",
        **({} if row else caps),
        **more,
    )
    return data.budget(promise, ledger=ledger(dice, folder))


def amount(dice: random.Random, low: float = 0.02, high: float = 4.0) -> float:
    """A number with three digits, small and large ones equally often."""
    return float(f"{low * (high / low) ** dice.random():.3g}")


def price(dice: random.Random, flavors: str = "pazq") -> Kept:
    """A price: pure, approximate, zero-concentrated, or that with a δ."""
    delta = dice.choice([1e-5, 1e-6, 3e-9])
    match dice.choice(flavors):
        case "p":
            return PureDP(amount(dice))
        case "a":
            return sitr.ApproximateDP(amount(dice, 0.1), delta)
        case "z":
            return sitr.ZeroConcentratedDP(amount(dice, 0.005, 2.0))
    return sitr.ApproximateZeroConcentratedDP(amount(dice, 0.005, 2.0), delta)


def _aggregates(dice: random.Random, most: int = 3) -> str:
    picked = dice.sample(COLUMNS, dice.randint(1, most))
    return ", ".join(f"{column} AS c{place}" for place, column in enumerate(picked))


def _query(dice: random.Random, *, keys: bool = True) -> str:
    key = dice.choice(["", "", "ward", "ward", "town"]) if keys else dice.choice(["", "ward"])
    shown = _aggregates(dice)
    return f"SELECT {key}, {shown} FROM visits GROUP BY {key}" if key else f"SELECT {shown} FROM visits"


def aggregate(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice)
    budget = opened(dice, folder, cost * 3)
    keys = getattr(cost, "delta", 0) > 0
    return budget.sql(_query(dice, keys=keys), bias="off" if dice.random() < 0.5 else 0.05), cost


def selected(dice: random.Random, folder: Path | None) -> Any:
    """Keys that are not public."""
    cost = price(dice, "aq")
    shown = dice.choice(["town", f"town, {_aggregates(dice, 2)}"])
    return opened(dice, folder, cost * 2).sql(f"SELECT {shown} FROM visits GROUP BY town"), cost


def batch(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice, "paz")
    budget = opened(dice, folder, cost * 2)
    asked = {f"q{place}": budget.sql(_query(dice, keys=False)) for place in range(dice.randint(2, 4))}
    return budget.batch(asked), cost


def histogram(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice)
    budget = opened(dice, folder, cost * 2)
    methods: list[Flat | Tree | Buckets] = [Flat(), Tree(), Tree(branching=2, rooted=True), Buckets()]
    method = dice.choice(methods)
    match dice.randrange(4):
        case 0 if getattr(cost, "delta", 0) > 0:
            return budget.histogram("town"), cost
        case 1:
            return budget.histogram("ward", "days", bins={"days": 4}), cost
        case 2:
            return budget.histogram("cost", bins=(4, 8, 16)), cost
    return budget.histogram("cost", bins=dice.choice([1, 5, 8, 40]), method=method), cost


def ranges(dice: random.Random, folder: Path | None) -> Any:
    """Prefix sums of one column or two, with a cell for missing values beside each line."""
    cost = price(dice, "azq")
    columns = dice.choice([("cost",), ("cost",), ("cost", "days"), ("ward", "cost")])
    methods: list[Prefixes | Ranges] = [Prefixes(), Prefixes(("cost",)), Ranges()]
    bins = {"cost": dice.choice([1, 5, 40])} | ({"days": 3} if "days" in columns else {})
    return opened(dice, folder, cost * 2).histogram(*columns, bins=bins, method=dice.choice(methods)), cost


def sparse(dice: random.Random, folder: Path | None) -> Any:
    cost = sitr.RandomDP(PureDP(amount(dice)), dice.choice([0.02, 0.3, 0.5]))
    return opened(dice, folder, cost, rows=True).histogram("cost", bins=dice.choice([5, 40]), method=Sparse()), cost


def synthetic(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice, "paz")
    columns = dice.sample(["ward", "cost", "days"], dice.randint(1, 3))
    return opened(dice, folder, cost * 3).synthesize(columns=columns, bins=4), cost


def judged(dice: random.Random, folder: Path | None) -> Any:
    """Synthetic rows with figures about their quality."""
    request, cost = synthetic(dice, folder)
    return request, cost, {"quality": cost}


def together(dice: random.Random, folder: Path | None) -> Any:
    """Synthetic rows of two tables of the same people, of which one may have several rows of a person."""
    cost = price(dice, "paz")
    said: dict[str, Any] = {"unit": "patient", "max_groups": 1, "relation": dice.choice([*sitr.Relation])}
    few = dice.choice([1, 3])
    first = sitr.protect(
        ROWS, name="visits", keys={"ward": WARDS}, bounds={"cost": (0, 50)}, **said, max_rows_per_group=few
    )
    second = sitr.protect(OTHER, name="doses", bounds={"dose": (0, 8)}, **said, max_rows_per_group=2)
    budgets = [data.budget(cost * 2, ledger=ledger(dice, folder)) for data in (first, second)]
    asked = [
        budget.synthesize(columns=[name], bins=4, people=True)
        for budget, name in zip(budgets, ("ward", "dose"), strict=True)
    ]
    return sitr.synthesize_together(*asked), cost


def joined(dice: random.Random, folder: Path | None) -> Any:
    """Two protected tables."""
    cost = price(dice, "paz")
    said: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": dice.choice([1, 3])}
    first = sitr.protect(ROWS, name="visits", keys={"ward": WARDS}, bounds={"cost": (0, 50)}, **said)
    second = sitr.protect(OTHER, name="doses", bounds={"dose": (0, 8)}, **said)
    budgets = [data.budget(cost * 2, ledger=ledger(dice, folder)) for data in (first, second)]
    text = "SELECT ward, COUNT(*) AS n, SUM(dose) AS d FROM visits JOIN doses ON visits.patient = doses.patient "
    return budgets[0].beside(budgets[1]).sql(text + "GROUP BY ward"), cost


def suggested(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice, "paz")
    return opened(dice, folder, cost * 2).suggest("SELECT ward, SUM(cost) AS c FROM visits GROUP BY ward"), cost


def auto(dice: random.Random, folder: Path | None) -> Any:
    cost = price(dice)
    while True:
        budget = opened(dice, folder, cost * 2)
        if isinstance(budget.table.unit, sitr.Row) or budget.table.max_rows is not None:
            continue
        keys = getattr(cost, "delta", 0) > 0
        return budget.sql(_query(dice, keys=keys), caps="auto"), cost


def tables(dice: random.Random, folder: Path | None) -> Any:
    """Tables that add up, some of them by groups of wards."""
    cost = price(dice, "paz")
    groups = {"ward": {"region": {"north": ["a", "b"], "south": ["c", "d", "e"]}}} if dice.random() < 0.4 else None
    wanted = dice.sample([("ward", "days"), "ward", "days", ("cost", "ward"), ("cost", "days")], dice.randint(1, 3))
    wanted += [("region", "days")] if groups and not {("ward", "days"), "days"}.isdisjoint(wanted) else []
    used = {name for each in wanted for name in ([each] if isinstance(each, str) else each)}
    asked = opened(dice, folder, cost * 2).tables(
        wanted,
        bins={name: 3 for name in ("days", "cost") if name in used},
        measures=dice.choice([["count"], ["count", "sum(days)"], ["mean(cost)"]]),
        hierarchies=groups if used & {"ward", "region"} else None,
        objective=dice.choice(["largest", "sum"]),
    )
    return asked, cost


def groupings(dice: random.Random, folder: Path | None) -> Any:
    """CUBE, ROLLUP and GROUPING SETS, which are tables that add up."""
    cost = price(dice, "paz")
    sets = dice.choice(["CUBE (ward, days)", "ROLLUP (days, ward)", "GROUPING SETS ((ward), (days), ())"])
    shown = ", ".join(dice.sample(["COUNT(*) AS n", "SUM(cost) AS s", "AVG(cost) AS m"], dice.randint(1, 3)))
    where = dice.choice(["", " WHERE cost > 3"])
    asked = opened(dice, folder, cost * 2).sql(f"SELECT ward, days, {shown} FROM visits{where} GROUP BY {sets}")
    return asked, cost


def published(dice: random.Random, folder: Path | None) -> Any:
    """Tables in whole numbers, of people, by the calendar, or of some of the rows, also at a price in μ."""
    cost = sitr.GaussianDP(amount(dice, 0.1, 2.0)) if dice.random() < 0.3 else price(dice, "paz")
    measures = dice.choice([["count"], ["count", "sum(cost)"], ["mean(days)", "count"], ["people"]])
    budget = opened(dice, folder, cost * 2, table=STAYS)
    wanted = [*dice.sample(["ward", ("ward", "month"), "year", ("quarter", "ward"), ()], dice.randint(1, 3)), "day"]
    where, several = dice.choice([None, "days > 0"]), 1 if measures == ["people"] else dice.choice([None, 2])
    rows = isinstance(budget.table.unit, sitr.Row)
    return budget.tables(
        wanted,
        measures=["count"] if rows and several == 1 else measures,
        bounds={"day": (date(2024, 1, 1), date(2024, 12, 31))},
        hierarchies={"day": ["month", "quarter", "year"]},
        where=where,
        rows_per_person=None if rows else several,
        whole=dice.random() < 0.6,
    ), cost


def people(dice: random.Random, folder: Path | None) -> Any:
    """Synthetic people with several rows each."""
    cost = price(dice, "paz")
    more: dict[str, Any] = dice.choice([{}, {"constant": ["ward"]}, {"order": "days"}])
    while True:
        budget = opened(dice, folder, cost * 3)
        if isinstance(budget.table.unit, sitr.Row):
            continue
        several = dice.randint(2, 4)
        return budget.synthesize(columns=["ward", "days"], bins=3, people=True, rows_per_person=several, **more), cost


def shown(dice: random.Random, folder: Path | None) -> Any:
    """Columns that are computed from noisy numbers, and rows that noisy numbers choose or order."""
    cost = price(dice, "pazq")
    computed = ["COUNT(*) * 2", "RANK() OVER (ORDER BY COUNT(*) DESC)", "SUM(cost) / COUNT(*)", "ROUND(COUNT(*), -1)"]
    computed += ["SUM(COUNT(*)) OVER ()", "COALESCE(AVG(days), 0)", "CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END"]
    listed = ", ".join(f"{each} AS c{place}" for place, each in enumerate(dice.sample(computed, dice.randint(1, 3))))
    after = dice.choice(["", " HAVING COUNT(*) > 3", " ORDER BY c0 DESC", " ORDER BY ward LIMIT 2"])
    text = f"SELECT ward, {listed}, COUNT(*) AS n FROM visits GROUP BY ward{after}"
    return opened(dice, folder, cost * 2).sql(text), cost


def moments(dice: random.Random, folder: Path | None) -> Any:
    """Moments in the zone of their column, some of them in a budget for each month."""
    cost = price(dice)
    monthly, zones = dice.random() < 0.5, {"seen": dice.choice(["Asia/Tokyo", "Europe/Paris", "UTC"])}
    while True:
        budget = opened(dice, folder, cost * 2, table=STAYS, zones=zones)
        if not (monthly and isinstance(budget.table.unit, sitr.Row)):
            break
    key = dice.choice(["EXTRACT(HOUR FROM seen)", "DATE_TRUNC('month', seen)"])
    known = getattr(cost, "delta", 0) == 0
    chosen = "ward" if known else f"{key} AS k"
    return budget.sql(
        f"SELECT {chosen}, {_aggregates(dice, 2)} FROM visits WHERE EXTRACT(HOUR FROM seen) > 2 "
        f"GROUP BY {'ward' if known else 'k'}"
    ), cost


PAYS = {
    "pure": ["approximate(9, 1e-3)", "zcdp(9)", "gaussian(9)", "odometer(pure)", "random(pure(9), gamma=0.1)"],
    "approximate": ["zcdp(9, delta=1e-3)", "odometer(approximate, delta=1e-3)"],
    "zcdp": ["zcdp(9, delta=1e-3)", "odometer(zcdp, delta=1e-3)", "random(zcdp(9), gamma=0.1)"],
    "gaussian": ["gaussian(9)", "zcdp(9)"],
}
"""The budgets of other flavors that a price of each flavor is paid from, and odometers."""


def elsewhere(dice: random.Random, folder: Path | None) -> Any:
    """Prices in another flavor than that of the budget, prices in μ, odometers, and budgets with a γ."""
    flavor = dice.choice([*PAYS])
    cost = sitr.GaussianDP(amount(dice, 0.1, 2.0)) if flavor == "gaussian" else price(dice, flavor[0])
    promise = dice.choice(PAYS[flavor])
    budget = opened(dice, folder, promise, rows="random" in promise)
    if flavor == "gaussian":  # no choices and no thresholds
        return budget.sql(f"SELECT ward, {', '.join(dice.sample(COLUMNS[:9], 2))} FROM visits GROUP BY ward"), cost
    return budget.sql(_query(dice, keys=flavor == "approximate")), cost


def statistic(dice: random.Random, folder: Path | None) -> Any:
    cost = PureDP(amount(dice))
    middle = SmoothNoise.fitting(cost, sensitivity=smooth(median, bounds=(0, 100)))
    return opened(dice, folder, cost * 2, rows=True).statistic(middle, column="cost"), cost


Make = Callable[[random.Random, Path | None], Any]

KINDS: dict[str, Make] = {
    make.__name__: make
    for make in (
        *(aggregate, selected, batch, histogram, ranges, sparse, synthetic, judged, suggested, auto, joined, together),
        *(tables, groupings, published, people, shown, moments, elsewhere, statistic),
    )
}
"""How to ask a random question of each kind, and the price."""
