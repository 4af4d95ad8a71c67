"""What one unit may add to the tables behind synthetic rows, and to the figures about their quality."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from sitr.dataset.cells import Granular
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.questions.synthetic.products import RESOLUTION
from sitr.questions.synthetic.sheet import Sheet
from sitr.report.evidence.adds import Adds, Counts, Moves

SUMS: Mapping[str, Callable[[int, int], int]] = {
    "distances": lambda columns, ordered: columns + math.comb(columns, 2) + ordered,
    "triples": lambda columns, _: math.comb(columns, 3),
    "subgroups": lambda columns, _: columns - 1,
}
"""The measurements of sums of differences: how many, by the columns and the ordered ones among them. Those of subgroups
are one for each other column, because a row is in one subgroup."""

PRODUCTS = "regression"
"""The measurement of sums of products: see `sitr.questions.synthetic.products.products`."""


def moves(plan: SynthesisPlan) -> list[Moves]:
    """For each measurement, in their order; those about quality come last."""
    people = () if plan.people is None else plan.people.measurements
    first = [] if plan.people is None else [_moves(each.name, plan.people.sheet) for each in people]
    return first + [_moves(each.name, plan.sheet) for each in plan.measurements[len(people) :]]


def _moves(name: str, sheet: Sheet) -> Moves:
    caps = {"max_groups": 1, "max_rows_per_group": sheet.most_rows, "max_rows": None}  # the whole table is one group
    counted = Adds(sheet.relation, Counts.ALL_ROWS, caps)
    columns, ordered = len(sheet.axes), sum(isinstance(axis, Granular) for axis in sheet.axes)
    if name == PRODUCTS:
        most = Fraction(RESOLUTION**2)
        return (replace(counted, bounds=(-most, most, Fraction(0)), times=(1 + columns) * (2 + columns) // 2),)
    return (replace(counted, sums=SUMS[name](columns, ordered)),) if name in SUMS else (counted,)
