"""A released answer: noisy integers and their meaning."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from sitr.dataset.schema import Key
from sitr.namespace import Later
from sitr.numbers import Number, upward
from sitr.questions.aggregate import windows
from sitr.questions.aggregate.after import BoundAfter, Released, plain
from sitr.questions.aggregate.expressions.typed import calendar
from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.functions.over import windows_of
from sitr.questions.aggregate.keys import beside, selected
from sitr.questions.aggregate.other import OTHER, Rest, RowKey, other_keys
from sitr.questions.aggregate.plan import AggregatePlan, Shown
from sitr.questions.aggregate.quantity import Rank
from sitr.questions.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview has no table
    pa = Later("pyarrow")

Found = TypeVar("Found")

ONLY_BOUNDS = "the public bounds: it says nothing about the rows"
"""In the metadata of the ends of an interval that is known without the rows."""


@dataclass(frozen=True)
class Release:
    """Noisy integers by key and term, with the plan that made them; the columns follow from them.

    It holds all cells that were measured. HAVING, ORDER BY and LIMIT say which of them are shown, and in which order.
    """

    plan: AggregatePlan
    keys: tuple[RowKey, ...]
    """Rows for all keys that are not shown, if there are any, come last."""
    measured: tuple[tuple[int, ...], ...]
    beyond: int | None = None
    """The noisy number of people who had rows in more groups than the cap, if it was measured."""
    lost: int | None = None
    """The noisy number of rows that the caps left out, counted up to a second cap, if it was measured."""

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        query, width = self.plan.query, len(self.plan.query.terms)
        keys = all(type(key) is tuple and len(key) == len(query.keys) for key in self.keys)
        first = self._others
        shown = [cast("tuple[Key, ...]", key) for key in self.keys[:first]]
        complete = keys and set(shown) == set(beside(query, {selected(query, key) for key in shown}))
        complete = complete and query.cells in (None, len(self.keys)) and self.keys[first:] == other_keys(query)
        rows = len(self.measured) == len(self.keys) and all(len(row) == width for row in self.measured)
        beyond = (type(self.beyond) is int) == (self.plan.beyond is not None)
        beyond = beyond and (type(self.lost) is int) == (self.plan.lost is not None)
        whole = rows and all(type(number) is int for row in self.measured for number in row)
        return beyond and keys and complete and whole and self._passed()

    def _passed(self) -> bool:
        """Whether all numbers that a threshold shows have reached it."""
        if self.plan.counted is None:
            return True
        place, least = self.plan.query.terms.index(self.plan.counted), getattr(self.plan.threshold, "least", 0)
        return all(row[place] >= least for row in self.measured)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The places of the cells that are shown, in the order of the answer."""
        after, first = self.plan.query.after, self._others
        if after.idle:
            return tuple(range(len(self.keys)))
        rows = self._plain_rows
        for column in (*self.plan.columns, *self.plan.hidden):
            if windows_of(column.aggregate):
                found = windows.estimates(self, column, confidence=self._sure)
                for place, row in enumerate(rows):
                    row[column.name] = found[place].value if place in found else None
        return (*after.places(rows), *range(first, len(self.keys)))

    @property
    def _plain_rows(self) -> list[dict[str, Released]]:
        """All released rows, without the columns that have windows."""
        first, names = self._others, [key.name for key in self.plan.query.keys]
        rows: list[dict[str, Released]] = [dict(zip(names, map(plain, key), strict=True)) for key in self.keys[:first]]
        for column in (*self.plan.columns, *self.plan.hidden):
            if windows_of(column.aggregate):
                continue
            every = column.values(self.granules(column, range(first)), confidence=self._sure)
            for row, value in zip(rows, every, strict=True):
                row[column.name] = value
        return rows

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The places of the rows that HAVING leaves: windows see these."""
        having = self.plan.query.after.having
        return tuple(range(self._others)) if having is None else BoundAfter(having).places(self._plain_rows)

    @property
    def chosen_by_noise(self) -> bool:
        """Whether noisy numbers decided which rows HAVING leaves."""
        after = self.plan.query.after
        return after.having is not None and after.by_noise

    @cached_property
    def _others(self) -> int:
        """The place of the first row for other keys, after all rows with keys of their own."""
        return len(self.keys) - len(other_keys(self.plan.query))

    def draws(self, place: int) -> int:
        """How many draws of noise the numbers of a cell have."""
        return self.plan.other_draws if place >= self._others else 1

    @property
    def rows(self) -> tuple[RowKey, ...]:
        """The keys of the rows of the answer, in order."""
        return self.keys if self.plan.query.after.idle else tuple(self.keys[place] for place in self.places)

    def estimates(
        self,
        column: Shown,
        *,
        confidence: Number = 0.95,
        rows: Sequence[int] | None = None,
        simultaneous: bool = False,
    ) -> list[Estimate]:
        """The numbers of a column with their intervals, in the order of the answer; of these rows only, if given.

        Each interval, taken alone, holds with probability `confidence`. If the rows were chosen or sorted by noisy
        numbers, or with `simultaneous`, all intervals of all columns and of all cells that were measured hold together.
        """
        sure = self.plan.together(confidence, cells=len(self.keys), simultaneous=simultaneous)
        if windows_of(column.aggregate):
            found = windows.estimates(self, column, confidence=sure)
            return [found[place] for place in self._places(rows)]
        return self._each(
            column, rows, lambda granules, draws: column.estimates(granules, confidence=sure, draws=draws)
        )

    def values(self, column: Shown, rows: Sequence[int] | None = None) -> list[Fraction | None]:
        """The numbers of a column, in the order of the answer."""
        sure = self._sure
        if windows_of(column.aggregate):
            return [each.value for each in self.estimates(column, rows=rows)]
        return self._each(column, rows, lambda granules, draws: column.values(granules, confidence=sure, draws=draws))

    def _each(
        self, column: Shown, rows: Sequence[int] | None, found: Callable[[Iterator[list[int]], int], list[Found]]
    ) -> list[Found]:
        """What is found for each row, from its integers and how many draws of the noise these have."""
        places, first = self._places(rows), self._others
        shown = iter(found(self.granules(column, [at for at in places if at < first]), 1))
        if first == len(self.keys):
            return list(shown)
        rest = self.granules(column, [at for at in places if at >= first])
        others = iter(found(rest, self.plan.other_draws))
        return [next(shown if at < first else others) for at in places]

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of each column in this answer."""
        found, sure = {}, self.sure(confidence)
        for column in self.plan.columns:
            if column.aggregate.ranked:
                found[column.name] = column.error(confidence=sure)
                continue
            errors = [one.error for one in self.estimates(column, confidence=confidence)] or [Fraction(0)]
            largest = max(errors)
            found[column.name] = largest if isinstance(largest, float) else upward(largest)
        return found

    def sure(self, confidence: Number) -> Number:
        """The confidence of each interval and of each error in ranks, alone or so that all of them hold together."""
        return self.plan.together(confidence, cells=len(self.keys))

    @property
    def _sure(self) -> Number:
        return self.sure(0.95)

    def _places(self, rows: Sequence[int] | None) -> Sequence[int]:
        return self.places if rows is None else [self.places[row] for row in rows]

    def granules(self, column: Shown, cells: Sequence[int]) -> Iterator[list[int]]:
        """The noisy integers of a column in these cells."""
        places = [self.plan.query.terms.index(each.term) for each in column.measured]
        return ([self.measured[cell][place] for place in places] for cell in cells)

    def table(self) -> pa.Table:
        """The answer as Arrow; the 95% error of a column is in its field's metadata."""
        rows = self.rows
        own = [[None if part is Rest.OTHER else part for part in row] for row in rows]
        parts = zip(*own, strict=True) if own else [()] * len(self.plan.query.keys)
        keys = [
            (pa.field(key.name, arrow_type(key.kind)), values)
            for key, values in zip(self.plan.query.keys, parts, strict=True)
        ]
        if self.plan.query.other:
            keys.append((pa.field(OTHER, pa.bool_()), tuple(Rest.OTHER in row for row in rows)))
        columns = [
            (self._field(column), [_number(value, column) for value in self.values(column)])
            for column in self.plan.columns
        ]
        fields = [field for field, _ in (*keys, *columns)]
        arrays = [pa.array(values, field.type) for field, values in (*keys, *columns)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def intervals(self, *, confidence: Number = 0.95, simultaneous: bool = False) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` next to every number.

        Each interval, taken alone, contains the exact value of the bounded question with probability `confidence`; with
        `simultaneous`, or if the rows were chosen by noisy numbers, all of them do together. An end without a limit is
        infinite, or NULL beside whole numbers. Where an interval is the public bounds of a quantile, the metadata of
        its ends say so. A column of DP_INTERVAL_LOW or DP_INTERVAL_HIGH keeps its 95%, unless it has such a name: then
        it has these ends.
        """
        table = self.table()
        for column in self.plan.columns:
            if column.aggregate.end:
                continue
            place, kind = table.schema.get_field_index(column.name) + 1, table.schema.field(column.name).type
            found = self.estimates(column, confidence=confidence, simultaneous=simultaneous)
            said = {"sitr": json.dumps({"interval": ONLY_BOUNDS})} if _only_bounds(column, found) else None
            for end, values in (("low", [each.low for each in found]), ("high", [each.high for each in found])):
                ends = pa.array([_number(value, column) for value in values], kind)
                name = f"{column.name}_{end}"
                field = pa.field(name, kind, metadata=said)
                if name in table.column_names:  # the same end, at 95%
                    table = table.set_column(table.column_names.index(name), field, ends)
                else:
                    table = table.add_column(place, field, ends)
                    place += 1
        return table

    def _field(self, column: Shown) -> pa.Field:
        error = column.error(confidence=self._sure, draws=self.plan.other_draws)
        said = {"aggregate": column.sql, "error_95": error if math.isfinite(error) else None}
        said |= {"error_in": "ranks"} if column.aggregate.ranked else {}
        said |= {"bias": "not measured"} if self.plan.query.unmeasured else {}
        kind, whole = column.aggregate.kind, column.aggregate.whole
        arrow = arrow_type(kind) if kind is not None else pa.int64() if whole else pa.float64()
        return pa.field(column.name, arrow, metadata={"sitr": json.dumps(said)})


def _only_bounds(column: Shown, found: Sequence[Estimate]) -> bool:
    """Whether all intervals of a quantile are its public bounds, which are known without the rows."""
    ranks = [each.term for each in column.measured if isinstance(each.term, Rank) and each.term.shown]
    return len(ranks) == 1 and bool(found) and all((one.low, one.high) == ranks[0].quantised.ends for one in found)


def _number(value: End | None, column: Shown) -> int | float | date | None:
    """The number, clamped to the range of 64-bit integers or of doubles; or the date that it stands for."""
    if column.aggregate.kind is not None:
        return calendar(value, column.aggregate.kind) if isinstance(value, Fraction) else None
    whole = column.aggregate.whole
    if value is None or isinstance(value, float):
        return None if whole else value
    largest = 2**63 - 1 if whole else sys.float_info.max
    inside = max(-largest, min(largest, value))
    return int(inside) if whole else float(inside)
