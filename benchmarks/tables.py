"""Many tables at once: `python -m benchmarks.tables [--rows 100000] [--columns 100] [--replace]`.

It plans and releases all pairs and triples of 10 columns with 10 values each, and all pairs of 100 such columns. Times
are CPU seconds: of the plan, and of everything after reading (counting, noise, and all tables with their intervals).
Errors are compared with equal shares, where every table gets its own Gaussian noise for its part of the price. With
`--replace`, rows are replaced instead of added or removed: then equal shares need √2 times the noise.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from rich.console import Console
from rich.table import Table

from sitr.dataset.schema import Column, Kind
from sitr.dataset.schema import Table as Described
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.residual_gaussian import normal_width
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import system_coins
from sitr.questions.tables.publication import release
from sitr.questions.tables.question import TablesQuestion, tables_question

RHO = 0.5
"""The price: μ = 1."""


def question(columns: int, values: int, orders: Sequence[int], *, replaced: bool = False) -> TablesQuestion:
    """All tables of so many of the columns."""
    keys = tuple(str(value) for value in range(values))
    names = [f"c{place}" for place in range(columns)]
    relation = Relation.REPLACE_ONE if replaced else Relation.ADD_REMOVE
    table = Described("rows", tuple(Column(name, Kind.TEXT, keys=keys) for name in names), Row(), relation, 1, 1)
    wanted = [each for order in orders for each in combinations(names, order)]
    return tables_question(table, wanted)


def measured(asked: TablesQuestion, rows: int) -> dict[str, float]:
    """Seconds and errors."""
    columns = len(asked.workload.ladders)
    codes = np.random.default_rng(1).integers(0, asked.workload.ladders[0].size(1), (rows, columns))
    start = time.process_time()
    plan = asked.plan(ZeroConcentratedDP(RHO))
    errors = asked.errors(plan)
    planned = time.process_time()
    made = release(plan, codes, coins=system_coins())
    released = time.process_time()
    cells = sum(len(made.one(node, confidence=0.95)) for node in plan.workload.tables)
    shown = time.process_time()
    cost = 2 if plan.records.query.changes is Relation.REPLACE_ONE else 1
    equal = normal_width(0.95) * math.sqrt(cost * len(plan.workload.tables))
    return {
        "tables": len(plan.workload.tables),
        "cells": cells,
        "plan, s": planned - start,
        "release, s": released - planned,
        "tables with intervals, s": shown - released,
        "largest error": max(errors.values()),
        "error of equal shares": equal,
        "above the optimum, %": 100 * plan.gap,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=100, help="of the second case; 0 leaves it out")
    parser.add_argument("--replace", action="store_true", help="rows are replaced, not added or removed")
    said = parser.parse_args()
    cases: dict[str, tuple[int, tuple[int, ...]]] = {"10 columns, pairs and triples": (10, (2, 3))}
    if said.columns:
        cases[f"{said.columns} columns, pairs"] = (said.columns, (2,))
    shown = Table("case", "figure", "found")
    for name, (columns, orders) in cases.items():
        for figure, value in measured(question(columns, 10, orders, replaced=said.replace), said.rows).items():
            shown.add_row(name, figure, f"{value:,.4g}")
    Console().print(shown)


if __name__ == "__main__":
    main()
