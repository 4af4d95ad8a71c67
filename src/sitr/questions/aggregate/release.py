"""A released answer: noisy integers and their meaning."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from sitr.dataset.schema import Key, Kind
from sitr.numbers import Number
from sitr.questions.aggregate.fit import AggregatePlan, Shown
from sitr.questions.aggregate.nodes import spell

_ARROW = {Kind.INTEGER: pa.int64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.date32()}


@dataclass(frozen=True, slots=True)
class Release:
    """Noisy granules by key and column, with the plan that made them."""

    plan: AggregatePlan
    keys: tuple[tuple[Key, ...], ...]
    granules: tuple[tuple[int, ...], ...]

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        query, width = self.plan.query, len(self.plan.columns)
        keys = all(type(key) is tuple and len(key) == len(query.keys) for key in self.keys)
        complete = query.cells is None or len(self.keys) == query.cells
        rows = len(self.granules) == len(self.keys) and all(len(row) == width for row in self.granules)
        return keys and complete and rows and all(type(number) is int for row in self.granules for number in row)

    def table(self) -> pa.Table:
        """The answer as Arrow; the 95% error of a column is in its field's metadata."""
        key_fields = [pa.field(key.name, _ARROW[key.kind]) for key in self.plan.query.keys]
        fields = [_field(column) for column in self.plan.columns]
        columns = zip(*self.granules, strict=True) if self.granules else [()] * len(fields)
        numbers = [
            [_number(value, column) for value in values]
            for column, values in zip(self.plan.columns, columns, strict=True)
        ]
        keys = list(zip(*self.keys, strict=True)) if self.keys else [()] * len(key_fields)
        arrays = [
            pa.array(values, field.type)
            for field, values in zip([*key_fields, *fields], [*keys, *numbers], strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema([*key_fields, *fields]))

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` next to every number.

        Each interval, taken alone, contains the exact value of the bounded question with probability `confidence`.
        """
        table = self.table()
        for column in self.plan.columns:
            width = column.noise.error(confidence=confidence)
            place, kind = table.schema.get_field_index(column.term.name), table.schema.field(column.term.name).type
            granules = [row[self.plan.columns.index(column)] for row in self.granules]
            for offset, (end, sign) in enumerate((("low", -1), ("high", 1)), start=1):
                ends = pa.array([_number(value + sign * width, column) for value in granules], kind)
                table = table.add_column(place + offset, f"{column.term.name}_{end}", ends)
        return table


def _field(column: Shown) -> pa.Field:
    metadata = {"sitr": json.dumps({"aggregate": spell(column.term.spelled), "error_95": column.error()})}
    return pa.field(column.term.name, pa.int64() if _whole(column) else pa.float64(), metadata=metadata)


def _number(granules: int | Fraction, column: Shown) -> int | float:
    """Granules in the column's unit, clamped to the range of 64-bit integers or of doubles."""
    largest = 2**63 - 1 if _whole(column) else sys.float_info.max
    value = max(-largest, min(largest, granules * column.granularity))
    return int(value) if _whole(column) else float(value)


def _whole(column: Shown) -> bool:
    """Whether the column holds whole numbers. A sum of reals stays real, however coarse its granularity."""
    real = column.term.column is not None and column.term.column.kind is Kind.REAL
    return column.granularity.denominator == 1 and (column.term.quantised is None or not real)
