"""Whether rows are what was declared: types, public values, NULL and every rule, checked on the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import Enum
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sitr.dataclass import dataclass
from sitr.dataset.cells import Categories, Drawable, Rule
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.rules import broken
from sitr.questions.synthetic.structure import Structure


class Demand(Enum):
    """What is checked."""

    TYPE = "type"
    VALUES = "values"
    NULL = "null"
    DERIVED = "derived"
    ORDERED = "ordered"
    TOGETHER = "together"
    NEVER = "never"
    CONSTANT = "constant"
    CAPPED = "capped"
    IN_ORDER = "in order"
    AMONG = "among"


NOWHERE: Mapping[str, pa.ChunkedArray] = MappingProxyType({})
"""No other table."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How many rows do not meet a demand."""

    demand: Demand
    columns: tuple[str, ...]
    broken: int


def validity(portrait: Portrait, rows: pa.Table, again: pa.Table) -> tuple[Checked, ...]:
    """Every demand on these rows; `again` are the same rows with their derived columns computed again."""
    plan = portrait.plan
    return checked(
        plan.declared,
        plan.diary,
        schema=portrait.schema,
        structure=portrait.structure,
        never=portrait.never,
        rows=rows,
        again=again,
    )


def checked(
    axes: tuple[Drawable, ...],
    diary: Diary | None,
    *,
    schema: pa.Schema,
    structure: Structure,
    never: tuple[Expression, ...],
    rows: pa.Table,
    again: pa.Table,
    among: Mapping[str, pa.ChunkedArray] = NOWHERE,
) -> tuple[Checked, ...]:
    """The same for columns and rules by themselves. Everyone must be `among` these ids, by the name of their table."""
    found = [*_of_columns(axes, schema, rows), *_of_rules(structure, rows, again)]
    if diary is not None:
        found += _of_people(diary, rows)
        for name, ids in among.items():
            own = _plain(rows[diary.unit.column]).cast(pa.string())
            without = pc.invert(pc.is_in(own, value_set=_plain(ids).cast(pa.string()).combine_chunks()))
            found.append(Checked(Demand.AMONG, (diary.unit.column, name), _count(without)))
    if never:
        found.append(Checked(Demand.NEVER, (), int(broken(never, rows).sum())))
    return tuple(found)


def _of_columns(axes: tuple[Drawable, ...], schema: pa.Schema, rows: pa.Table) -> Iterator[Checked]:
    """What is demanded of single columns."""
    for field in schema:
        same = field.name in rows.schema.names and rows.schema.field(field.name).type == field.type
        yield Checked(Demand.TYPE, (field.name,), 0 if same else rows.num_rows)
    for axis in axes:
        column = _plain(rows[axis.column.name])
        yield Checked(Demand.VALUES, (axis.column.name,), _count(_outside(axis, column)))
        if axis.missing is not Rule.CELL:
            yield Checked(Demand.NULL, (axis.column.name,), column.null_count)


def _of_rules(structure: Structure, rows: pa.Table, again: pa.Table) -> Iterator[Checked]:
    """What is demanded of the columns of a row together."""
    for each in structure.derived:
        name = each.column.name
        one, other = _plain(rows[name]), _plain(again[name])
        differ = pc.fill_null(pc.not_equal(one, other), False)
        yield Checked(Demand.DERIVED, (name,), _count(pc.or_(differ, pc.xor(pc.is_null(one), pc.is_null(other)))))
    for pair in structure.ordered:
        lower, upper = _plain(rows[pair.lower]), _plain(rows[pair.upper])
        yield Checked(Demand.ORDERED, (pair.lower, pair.upper), _count(pc.greater(lower, upper)))
    for group in structure.together:
        nulls = np.column_stack([pc.is_null(rows[name]).to_numpy() for name in group])
        yield Checked(Demand.TOGETHER, group, int((nulls.any(axis=1) & ~nulls.all(axis=1)).sum()))


def _of_people(diary: Diary, rows: pa.Table) -> Iterator[Checked]:
    """What is demanded of the rows of one person: how many rows belong to a person who does not meet it."""
    _, whose, numbers = np.unique(
        _plain(rows[diary.unit.column]).to_numpy(zero_copy_only=False), return_inverse=True, return_counts=True
    )
    yield Checked(Demand.CAPPED, (diary.unit.column,), int(numbers[numbers > diary.most_rows].sum()))
    for place in diary.constant:
        name = diary.names[place]
        values = _dense(rows[name])
        low, high = np.full(len(numbers), len(rows)), np.full(len(numbers), -1)
        np.minimum.at(low, whose, values)
        np.maximum.at(high, whose, values)
        yield Checked(Demand.CONSTANT, (name,), int(numbers[low != high].sum()))
    if diary.order is not None:
        values = _dense(rows[diary.order.name])
        same, falls = whose[1:] == whose[:-1], values[1:] < values[:-1]
        yield Checked(Demand.IN_ORDER, (diary.order.name,), int((same & falls).sum()))


def _dense(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Numbers in the order of the values; NULL comes last."""
    return np.asarray(pc.rank(_plain(column), sort_keys="ascending", tiebreaker="dense"), dtype=np.int64)


def _outside(axis: Drawable, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Where a value is not one of the public ones."""
    if isinstance(axis, Categories):
        listed = pa.array(list(axis.keys)).cast(column.type) if axis.keys else pa.array([], column.type)
        return pc.and_(pc.invert(pc.is_in(column, value_set=listed)), pc.is_valid(column))
    ends = [end if isinstance(end, date) else float(end) for end in axis.ends]
    low, high = (pa.scalar(end).cast(column.type) for end in ends)
    return pc.or_(pc.less(column, low), pc.greater(column, high))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a type whose values compare: numbers as doubles, categories as what they stand for."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return column.cast(pa.float64()) if numbers else column


def _count(found: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.fill_null(found, False)).as_py() or 0)
