"""Sitr, without a ledger: the rows are read once, and each answer adds new noise to the same exact integers.

Where the caps leave rows out, they are read again for each answer, because the rows are chosen at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.serve import Release, serve
from benchmarks.query_cases import (
    DELTA,
    EDGES,
    EPSILON,
    GROUPS,
    HIGH,
    LOW,
    PUBLIC,
    PURE,
    RHO,
    ROWS,
    SCALAR,
    ZERO_CONCENTRATED,
    Case,
    Data,
)
from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Kind, Table, describe
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.price import Price, price_of
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import system_coins
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.question import AggregateQuestion

KINDS = {"person": Kind.INTEGER, "grp": Kind.TEXT, "x": Kind.INTEGER}
SPELLED = {
    "COUNT": "COUNT(*)",
    "PEOPLE": "COUNT(DISTINCT person)",
    "SUM": "SUM(x)",
    "AVG": "AVG(x)",
    "VARIANCE": "VAR_POP(x)",
    "STDDEV": "STDDEV_POP(x)",
    "DISTINCT": "COUNT(DISTINCT x)",
    "HISTOGRAM": f"HISTOGRAM(x, [{', '.join(map(str, EDGES))}])",
    "MIN": "MIN(x)",
    "MEDIAN": "MEDIAN(x)",
    "QUANTILE 0.9": "QUANTILE(x, 0.9)",
    "MAX": "MAX(x)",
}


def described(data: Data, case: Case) -> Table:
    scalar = case.by == SCALAR
    return describe(
        data.name,
        kinds=KINDS,
        unit=Person("person"),
        relation=Relation.ADD_REMOVE,
        max_groups=1 if scalar else GROUPS,
        max_rows_per_group=ROWS if scalar else ROWS // GROUPS,
        bounds={"x": (LOW, HIGH)},
        granularity={},
        keys={"grp": data.keys} if case.by == PUBLIC else {},
    )


def price(case: Case) -> Price:
    if case.price == PURE:
        return PureDP(EPSILON)
    return ZeroConcentratedDP(RHO) if case.price == ZERO_CONCENTRATED else ApproximateDP(EPSILON, DELTA)


def prepare(path: Path, data: Data, case: Case) -> Release:
    key, by = ("", "") if case.by == SCALAR else ("grp, ", " GROUP BY grp")
    text = f"SELECT {key}{SPELLED[case.aggregate]} AS answer FROM {data.name}{by}"
    question = AggregateQuestion(asked(text, described(data, case)))
    plan, coins = question.plan(price_of(price(case))), system_coins()
    plan.check()
    source = open_source(path, types=KINDS)
    exact = source.read(question.reading(), salt=coins.bits(63))

    def release() -> Sequence[float]:
        cells = source.read(question.reading(), salt=coins.bits(63)) if data.cut else exact
        found = question.answer(plan, cells, coins=coins)
        if case.by == SCALAR:
            return [_number(found.values(column)[0]) for column in plan.columns]
        shown = dict(zip((one for (one,) in found.rows), found.values(plan.columns[0]), strict=True))
        return [_number(shown.get(key)) for key in data.keys]

    return release


def _number(value: object) -> float:
    return math.nan if value is None else float(value)  # type: ignore[arg-type]


if __name__ == "__main__":
    serve(prepare)
