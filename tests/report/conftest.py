"""Real answers for the reports: a description, a question, a plan, and noise from test coins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import NamedTuple

import pytest

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key, Kind, Table, describe
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import Cells, bound
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.nodes import Named, Query
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.sql import parse
from tests.oracles.expressions import keys

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single' <b>",
    "two\nlines\tand\x1b[31m\x00",
    "جناح القلب",
    "\u202eturned\u202c",
    "🏥👩‍⚕️",
    "[red]markup[/red]",
    "x" * 300,
    "",
    None,
)
"""Key values that try to be something else."""

WARDS = ("cardiology", "emergency", "maternity", "oncology", "جناح القلب", None)


def table(**changes: object) -> Table:
    """Hospital visits; some of it replaced."""
    description: dict[str, object] = {
        "kinds": {
            "patient": Kind.TEXT,
            "ward": Kind.TEXT,
            "day": Kind.DATE,
            "urgent": Kind.BOOLEAN,
            "cost": Kind.REAL,
            "change": Kind.INTEGER,
        },
        "unit": Person("patient"),
        "relation": Relation.ADD_REMOVE,
        "max_groups": 3,
        "max_rows_per_group": 2,
        "bounds": {"cost": (0, 5_000), "change": (-50, 20)},
        "granularity": {"cost": 0.01},
        "keys": {},
    }
    return describe("visits", **{**description, **changes})  # type: ignore[arg-type]


def planned(sql: str, price: Additive, **changes: object) -> AggregatePlan:
    return fit(bound(parse(sql), table(**changes)), price)


def released(plan: AggregatePlan, cells: Mapping[tuple[Key, ...], tuple[int, ...]]) -> Release:
    """Noise by test coins."""
    return AggregateQuestion(plan.query).answer(plan, Cells(cells), coins=TestCoins(11))


class Certified(NamedTuple):
    """An answer and its receipt."""

    release: Release
    receipt: Receipt


def certified(
    answer: Release, *, dataset: str = "City hospital, 2024", by: str = "noor", private: bool = True
) -> Certified:
    """Stamped as asked: no page can tell test coins but by the stamp."""
    wholes: tuple[Additive, ...] = (PureDP(2.0), ApproximateDP(4.0, 1e-5), ZeroConcentratedDP(2.0))
    budget = Filter(next(whole for whole in wholes if type(whole) is type(answer.plan.price)))
    at = datetime(2024, 11, 3, 9, 30, tzinfo=UTC)
    once = budget.consent(answer.plan.price)
    charged = once.consent(answer.plan.price)
    entry = Entry(17, dataset, answer.plan.price, answer.plan.text, at, by, "0.1.0")
    return Certified(answer, Receipt(dataset, "person (patient), add-remove", entry, charged, private))


KNOWN_SQL = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS cost FROM visits GROUP BY ward"
UNKNOWN_SQL = "SELECT ward, day, COUNT(DISTINCT patient) AS people FROM visits WHERE urgent = TRUE GROUP BY ward, day"


def known() -> Release:
    plan = planned(KNOWN_SQL, PureDP(0.5), keys={"ward": WARDS})
    return released(plan, {(ward,): (4_000 >> place, 900_000_000 >> place) for place, ward in enumerate(WARDS)})


def thresholded() -> Release:
    plan = planned(UNKNOWN_SQL, ApproximateDP(1.0, 1e-6))
    first = date(2024, 1, 1)
    cells: Cells = {(ward, first): (700 >> place, 700 >> place) for place, ward in enumerate(WARDS)}
    return released(plan, {**cells, ("rare", first): (1, 1)})


def ungrouped() -> Release:
    plan = planned("SELECT COUNT(*) AS n, SUM(change) AS change FROM visits", ZeroConcentratedDP(0.1))
    return released(plan, {(): (12_345, -98_765)})


def empty() -> Release:
    return released(planned(UNKNOWN_SQL, ApproximateDP(1.0, 1e-6)), {("rare", date(2024, 1, 1)): (1, 1)})


def gaussian_with_threshold() -> Release:
    plan = planned(
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ward",
        ApproximateDP(2.0, 1e-6),
        max_groups=60,
    )
    return released(plan, {(ward,): (90_000, 40_000_000, 30_000) for ward in WARDS})


def one_row() -> Release:
    sql = "SELECT urgent, COUNT(*) AS n FROM visits GROUP BY urgent"
    plan = planned(sql, PureDP(1.0), keys={"urgent": [True]}, unit=Row(), max_groups=None, max_rows_per_group=None)
    return released(plan, {(True,): (0,)})


def many(rows: int = 200) -> Release:
    keys = [f"ward {place:03}" for place in range(rows)]
    plan = planned(
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", ZeroConcentratedDP(0.05), keys={"ward": keys}
    )
    return released(plan, {(key,): (10 * place,) for place, key in enumerate(keys)})


def replaced() -> Release:
    plan = planned(KNOWN_SQL, ZeroConcentratedDP(0.5), keys={"ward": WARDS}, relation=Relation.REPLACE_ONE)
    return released(plan, {(WARDS[0],): (9_000, 1)})


def hostile() -> Release:
    """Every name is hostile: of the unit, of keys and of columns."""
    names = [name for name in HOSTILE if name]
    hospital = table(
        kinds={names[0]: Kind.TEXT, names[1]: Kind.TEXT},
        unit=Person(names[1]),
        bounds={},
        granularity={},
        keys={names[0]: HOSTILE},
    )
    query = Query("visits", tuple(Named(name, Count()) for name in names[1:]), keys(names[0]))
    plan = fit(bound(query, hospital), PureDP(0.5))
    return released(plan, {(HOSTILE[0],): (500,) * len(plan.columns)})


RELEASES: dict[str, Callable[[], Release]] = {
    "known": known,
    "thresholded": thresholded,
    "ungrouped": ungrouped,
    "empty": empty,
    "gaussian_with_threshold": gaussian_with_threshold,
    "one_row": one_row,
    "many": many,
    "replaced": replaced,
    "hostile": hostile,
}


@cache
def made(name: str) -> Release:
    return RELEASES[name]()


@pytest.fixture(params=RELEASES)
def answer(request: pytest.FixtureRequest) -> Release:
    """Each kind of release, one after another.

    Not for the whole session: that would order the tests of all modules by it, and each would start its browser anew.
    """
    return made(request.param)


@pytest.fixture
def certificate(answer: Release) -> Certified:
    return certified(answer, dataset=str(HOSTILE[0]) + str(HOSTILE[2]), by=str(HOSTILE[1]))


@pytest.fixture
def make() -> Callable[[str], Release]:
    """A release by its name."""
    return made


@pytest.fixture
def certify() -> Callable[..., Certified]:
    return certified
