"""A released answer: noisy integers and their meaning."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import pyarrow as pa

from sitr.dataset.schema import Key, Kind
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.typed import calendar
from sitr.questions.aggregate.fit import AggregatePlan, Shown
from sitr.questions.aggregate.functions.function import Estimate

_ARROW = {
    Kind.INTEGER: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


@dataclass(frozen=True, slots=True)
class Release:
    """Noisy integers by key and term, with the plan that made them; the columns follow from them."""

    plan: AggregatePlan
    keys: tuple[tuple[Key, ...], ...]
    measured: tuple[tuple[int, ...], ...]
    beyond: int | None = None
    """The noisy number of people who had rows in more groups than the cap, if it was measured."""

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        query, width = self.plan.query, len(self.plan.query.terms)
        keys = all(type(key) is tuple and len(key) == len(query.keys) for key in self.keys)
        complete = query.cells is None or len(self.keys) == query.cells
        rows = len(self.measured) == len(self.keys) and all(len(row) == width for row in self.measured)
        beyond = (type(self.beyond) is int) == (self.plan.beyond is not None)
        return (
            beyond
            and keys
            and complete
            and rows
            and all(type(number) is int for row in self.measured for number in row)
        )

    def estimates(
        self, column: Shown, *, confidence: Number = 0.95, rows: Sequence[int] | None = None
    ) -> list[Estimate]:
        """The numbers of a column with their intervals, in the order of the keys; of these rows only, if given."""
        return column.estimates(self._granules(column, rows), confidence=confidence)

    def values(self, column: Shown) -> list[Fraction]:
        """The numbers of a column, in the order of the keys."""
        return column.values(self._granules(column, None))

    def _granules(self, column: Shown, rows: Sequence[int] | None) -> Iterator[list[int]]:
        places = [self.plan.query.terms.index(each.term) for each in column.measured]
        measured = self.measured if rows is None else (self.measured[row] for row in rows)
        return ([row[place] for place in places] for row in measured)

    def table(self) -> pa.Table:
        """The answer as Arrow; the 95% error of a column is in its field's metadata."""
        parts = zip(*self.keys, strict=True) if self.keys else [()] * len(self.plan.query.keys)
        keys = [
            (pa.field(key.name, _ARROW[key.kind]), values)
            for key, values in zip(self.plan.query.keys, parts, strict=True)
        ]
        columns = [
            (_field(column), [_number(value, column) for value in self.values(column)]) for column in self.plan.columns
        ]
        fields = [field for field, _ in (*keys, *columns)]
        arrays = [pa.array(values, field.type) for field, values in (*keys, *columns)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` next to every number.

        Each interval, taken alone, contains the exact value of the bounded question with probability `confidence`.
        """
        table = self.table()
        for column in self.plan.columns:
            place, kind = table.schema.get_field_index(column.name), table.schema.field(column.name).type
            found = self.estimates(column, confidence=confidence)
            for offset, (end, values) in enumerate(
                (("low", [each.low for each in found]), ("high", [each.high for each in found])), start=1
            ):
                ends = pa.array([_number(value, column) for value in values], kind)
                table = table.add_column(place + offset, f"{column.name}_{end}", ends)
        return table


def _field(column: Shown) -> pa.Field:
    ranks = {"error_in": "ranks"} if column.aggregate.ranked else {}
    metadata = {"sitr": json.dumps({"aggregate": column.sql, "error_95": column.error(), **ranks})}
    kind, whole = column.aggregate.kind, column.aggregate.whole
    arrow = _ARROW[kind] if kind is not None else pa.int64() if whole else pa.float64()
    return pa.field(column.name, arrow, metadata=metadata)


def _number(value: Fraction, column: Shown) -> int | float | date:
    """The number, clamped to the range of 64-bit integers or of doubles; or the date that it stands for."""
    if column.aggregate.kind is not None:
        return calendar(value, column.aggregate.kind)
    whole = column.aggregate.whole
    largest = 2**63 - 1 if whole else sys.float_info.max
    inside = max(-largest, min(largest, value))
    return int(inside) if whole else float(inside)
