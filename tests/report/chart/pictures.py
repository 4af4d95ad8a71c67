"""Every kind of chart, with ordinary and with awkward contents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sitr.accounting.compare import THEOREMS, Comparison, TheoremResult
from sitr.accounting.filter import Filter
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.dataset.cells import Categories, Dates, Edges, Even, Grid, Rule, Step
from sitr.dataset.schema import Column, Kind, Table
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Account, Entry
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.noise.coins import TestCoins
from sitr.questions.arrow import arrow_type
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import fit
from sitr.questions.histogram.methods import Flat
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally
from sitr.questions.statistic.ways import Impossible, Outcome
from sitr.questions.synthetic.marginals import measure
from sitr.questions.synthetic.plan import plan as synthesis
from sitr.questions.synthetic.portrait import portrait
from sitr.questions.synthetic.sheet import Sheet
from sitr.report.chart import (
    account,
    aggregate,
    comparison,
    histogram,
    sensitivities,
    spending,
    statistic,
    synthetic,
    trade_off,
)
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.comparison import Family
from sitr.report.headline import Headline
from sitr.report.views import views
from sitr.report.words.english.english import ENGLISH
from tests.oracles.axes import granular, keyed
from tests.report.conftest import RELEASES, planned, released
from tests.report.test_statistic import made as statistics

ARABIC = tuple(f"مستشفى الملك عبد العزيز الجامعي للقلب والأوعية الدموية رقم {place}" for place in range(40))
LONG = "The department of paediatric cardiology and congenital heart disease, second floor"


def answered(name: str) -> str:
    return aggregate.chart(RELEASES[name]())


def keyed_counts(keys: tuple[str, ...], counts: list[int]) -> str:
    plan = planned(
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", ZeroConcentratedDP(0.05), keys={"ward": keys}
    )
    return aggregate.chart(released(plan, {(key,): (count,) for key, count in zip(keys, counts, strict=True)}))


def counted(axis: Any, counts: dict[int, int], *others: Any, noise: float = 1e6) -> Histogram:
    axes = (axis, *others)
    table = Table("t", tuple(one.column for one in axes), Row(), Relation.ADD_REMOVE, 1, 1)
    plan = fit(Tally.of(table, Grid(axes)), PureDP(noise), method=Flat())
    return release(plan, counts, coins=TestCoins(2))


AGE, COST, DAY = Column("age", Kind.INTEGER), Column("cost", Kind.REAL), Column("day", Kind.DATE)
WARD, CITY = Column("ward", Kind.TEXT), Column("city", Kind.TEXT)


def teeth() -> Histogram:
    """Ages from 0 to 100 in 30 cells of three or four whole numbers, with as many people of every age."""
    axis = Even(AGE, Fraction(0), Fraction(100), 30)
    counts = [0] * 30
    for age in range(101):
        counts[min(29, age * 30 // 100)] += 10
    return counted(axis, dict(enumerate(counts)))


def uneven() -> Histogram:
    edges = tuple(map(Fraction, (0, 18, 65, 120)))
    return counted(Edges(AGE, edges, Rule.CELL), {0: 900, 1: 4700, 2: 1300, 5: 40}, noise=0.1)


def dated(step: Step) -> str:
    axis = Dates(DAY, date(2023, 12, 15), date(2024, 5, 31), step, Rule.CELL)
    return histogram.chart(counted(axis, {1: 31, 2: 29}, noise=1.0))


def tiles(rows: tuple[str, ...], columns: tuple[str, ...]) -> Histogram:
    counts = {place: place % 90 for place in range((len(rows) + 1) * (len(columns) + 1))}
    return counted(Categories(WARD, rows), counts, Categories(CITY, columns))


def portrayed() -> str:
    axes = (
        granular("age", Kind.INTEGER, 0, 99, Fraction(1), 50, nulls=True),
        keyed("ward", Kind.TEXT, keys=(*ARABIC[:5], LONG)),
        keyed("a column with a very long name that goes on and on and on", Kind.TEXT, keys=("a", "b")),
    )
    sheet = Sheet(axes, Person("id"), Relation.ADD_REMOVE, 3)
    codes = np.column_stack([np.arange(600) % 51, np.arange(600) % 6, np.arange(600) % 4 // 2])
    schema = pa.schema([(axis.column.name, arrow_type(axis.column.kind)) for axis in axes])
    measured = measure(synthesis(sheet, ZeroConcentratedDP(0.5)), codes, coins=TestCoins(1))
    return synthetic.chart(portrait(measured, schema=schema, never=()), codes)


def theorems(spread: float) -> str:
    """All theorems, each by a factor of 1 + `spread` above the one before; at 0 they coincide."""
    schedule = Schedule((Part((PureDP(0.1),), times=100),))

    def made(delta: float, size: float) -> Comparison:
        totals = [Total(0.0, size * (1 + spread) ** place, two_sided=False) for place in range(len(THEOREMS))]
        rows = [TheoremResult(theorem, total) for theorem, total in zip(THEOREMS, totals, strict=True)]
        return Comparison(schedule, delta, tuple(rows), None)

    deltas, releases = tuple(10.0**power for power in range(-9, -2)), (100.0, 300.0, 1000.0, 3000.0, 10000.0)
    by_delta = tuple(made(delta, 4.0 - 0.3 * place) for place, delta in enumerate(deltas))
    by_releases = tuple(made(1e-6, 3.1 + place) for place in range(5))
    families = (
        Family("Total ε at each δ", "δ", deltas, by_delta, (1e-6, "δ = 10⁻⁶")),
        Family(ENGLISH.accounting.repeated(1e-6), "releases", releases, by_releases),
    )
    return comparison.drawn(by_delta[3], families)


def attack(epsilon: float) -> str:
    return trade_off.chart(views(Headline.of(PureDP(epsilon)), None))


def spent(*charges: ApproximateDP) -> str:
    budget = Filter(ApproximateDP(4.0, 1e-5))
    for charge in charges:
        budget = budget.consent(charge)
    return budget_bar(budget, charge=charges[-1] if charges else None)


WAYS = (
    Outcome("global", PureDP(1.0), Fraction(300)),
    Outcome("smooth, Laplace", ApproximateDP(1.0, 1e-6), Fraction(21, 10)),
    Outcome("propose-test-release", ApproximateDP(1.0, 1e-6), Fraction(3), refused=0.9999),
    Outcome("random, disjoint pairs", RandomDP(PureDP(1.0), 0.05, parts=(("newcomer", 0.04),)), Fraction(1, 3)),
    Impossible("random, all pairs", "Expected at least 1,000 people for γ = 0.05. Got 80 people in the sample."),
)


def ledger_spending(names: tuple[str, ...], charges: int) -> str:
    """Accounts with one charge each hour, at prices of two flavors; the clock goes back once."""
    opened = datetime(2026, 1, 1, tzinfo=UTC)
    promises: tuple[Any, ...] = (ZeroConcentratedDP(1.0), PureDP(2.0))
    accounts = [Account(name, promises[place % 2], "row", opened) for place, name in enumerate(names)]
    entries = [
        Entry(
            number + 1,
            account.dataset,
            price,
            "COUNT(*)",
            opened + timedelta(hours=number - 90 * (number == 3)),
            "",
            "",
        )
        for number in range(charges)
        for account in [accounts[number % len(accounts)]]
        for price in [ZeroConcentratedDP(0.01) if account.promise == promises[0] else PureDP(0.02)]
    ]
    return spending.chart(accounts, entries)


def ways(outcomes: tuple[Outcome | Impossible, ...]) -> str:
    return sensitivities.chart(outcomes, title="The median of age: what each promise costs in accuracy")


def values(*some: Any) -> str:
    return statistic.chart(statistics(*some)[0])


PICTURES: dict[str, Callable[[], str]] = {
    **{f"answer, {name}": partial(answered, name) for name in RELEASES},
    "answer, 40 long Arabic keys": lambda: keyed_counts(ARABIC, [100 * place for place in range(40)]),
    "answer, one bar": lambda: keyed_counts((LONG,), [12]),
    "answer, huge numbers": lambda: keyed_counts(("a", LONG, "c"), [10**14, 7, 123_456_789_012]),
    "histogram, teeth": lambda: histogram.chart(teeth()),
    "histogram, uneven edges": lambda: histogram.chart(uneven()),
    "histogram, hollow cells": lambda: histogram.chart(counted(Even(AGE, Fraction(0), Fraction(9), 18), {0: 5, 2: 7})),
    "histogram, tiny range": lambda: histogram.chart(
        counted(Even(COST, Fraction(0), Fraction(1, 10**9), 5, Rule.CELL), {0: 10**12, 3: 5}, noise=1e-9)
    ),
    "histogram, negative": lambda: histogram.chart(counted(Even(COST, Fraction(-9), Fraction(7), 8), {}, noise=0.01)),
    "histogram, one cell": lambda: histogram.chart(counted(Even(COST, Fraction(0), Fraction(1), 1), {0: 3})),
    "histogram, 1,000 cells": lambda: histogram.chart(
        counted(Even(COST, Fraction(0), Fraction(5000), 1000), {place: place for place in range(1000)})
    ),
    **{f"histogram, by {step.value}": partial(dated, step) for step in Step},
    "histogram, tiles": lambda: histogram.chart(tiles(("a", LONG), ("c", "d", "e"))),
    "histogram, many Arabic tiles": lambda: histogram.chart(tiles(ARABIC, ARABIC[:30])),
    "histogram, Arabic categories": lambda: histogram.chart(
        counted(Categories(WARD, ARABIC), {place: 10**place % 9999 for place in range(40)}, noise=0.1)
    ),
    "statistic": lambda: values(Fraction(5, 4), -0.3, 1e-9),
    "statistic, huge": lambda: values(1.5e300, None, (1.0, 2.0) * 40),
    "statistic, none": values,
    "synthetic": portrayed,
    "spending": lambda: ledger_spending(("visits", LONG), 40),
    "spending, 40 Arabic accounts": lambda: ledger_spending(ARABIC, 90),
    "spending, nothing yet": lambda: ledger_spending(("visits",), 0),
    "budget": lambda: spent(ApproximateDP(1.0, 1e-6), ApproximateDP(2.0, 1e-6)),
    "budget, unspent": spent,
    "theorems that nearly coincide": lambda: theorems(1e-3),
    "theorems that coincide": lambda: theorems(0.0),
    "theorems far apart": lambda: theorems(0.5),
    "loss": lambda: account.chart(Loss.of(PoissonLaw(GaussianLaw(1.0), 0.01), 1000), delta=1e-5),
    "loss, small δ": lambda: account.chart(Loss.of(GaussianLaw(1.0)), delta=3e-50),
    "loss, huge": lambda: account.chart(Loss.of(GaussianLaw(500.0)), delta=1e-5),
    "loss, nothing": lambda: account.chart(Loss(()), delta=1e-5),
    "ways": lambda: ways(WAYS),
    "ways, all refused": lambda: ways(WAYS[-1:]),
    "trade-off": lambda: attack(1.0),
    "trade-off, weak": lambda: attack(20.0),
}
"""A function that draws each of them."""
