"""Columns that can be read whatever they hold: text that is not UTF-8, and times beyond the calendar.

DuckDB refuses a Parquet file if one value of a column cannot be converted: text with invalid bytes (unless they are to
be replaced), times of a day beyond 24 hours, and timestamps in milliseconds that have too many microseconds. Arrow
reads all of these as they are. Here, invalid bytes are replaced, and times that DuckDB does not know are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:  # a preview reads no rows
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOST_MICROSECONDS = 2**63 - 2
"""The next one means infinity."""
_DAY = 24 * 60 * 60


def has_odd_times(schema: pa.Schema) -> bool:
    """Whether some column has, or contains, times that DuckDB may be unable to read from a Parquet file."""
    return any(_is_odd(field.type) for field in schema)


def total(table: pa.Table) -> pa.Table:
    """The same table without values that a statement could stumble over."""
    for place, field in enumerate(table.schema):
        column = _column(table.column(place), field.type)
        table = table.set_column(place, pa.field(field.name, column.type), column)
    return table


def _is_odd(type: pa.DataType) -> bool:
    if pa.types.is_timestamp(type):
        return type.unit in ("s", "ms") or _is_fine_moment(type)
    if pa.types.is_dictionary(type):
        return _is_odd(type.value_type)
    inner = [type.field(place).type for place in range(type.num_fields)]
    return bool(pa.types.is_time(type)) or any(map(_is_odd, inner))


def _column(column: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(type):
        return _column(column.cast(type.value_type), type.value_type) if _is_text(type.value_type) else column
    if _is_text(type):
        return _texts(column)
    if pa.types.is_timestamp(type) and type.unit in ("s", "ms"):
        factor = 10**6 // _PER_SECOND[type.unit]
        most = _MOST_MICROSECONDS // factor
        return _within(column, pa.int64(), -most, most).cast(type).cast(pa.timestamp("us", type.tz))
    if _is_fine_moment(type):
        return column.cast(pa.timestamp("us", type.tz), safe=False)
    if (read := _as_read(type)) is not None:
        return column.cast(read)
    if pa.types.is_time(type):
        whole = pa.int32() if pa.types.is_time32(type) else pa.int64()
        return _within(column, whole, 0, _DAY * _PER_SECOND[type.unit]).cast(type)
    return column


def _is_fine_moment(type: pa.DataType) -> bool:
    """Whether it has nanoseconds and a time zone, which DuckDB forgets when it reads a Parquet file."""
    return bool(pa.types.is_timestamp(type)) and type.unit == "ns" and type.tz is not None


def with_zones(types: dict[str, str], schema: pa.Schema) -> dict[str, str]:
    """DuckDB's types of the columns of a Parquet file, as they are after Arrow has read it."""
    fine = [field.name for field in schema if _is_fine_moment(field.type)]
    return types | dict.fromkeys((name for name in fine if name in types), "TIMESTAMP WITH TIME ZONE")


def _as_read(type: pa.DataType) -> pa.DataType | None:
    """What DuckDB makes of a type of Arrow in a Parquet file, where it knows it there only, or as another type."""
    if pa.types.is_duration(type):
        return pa.int64()
    if pa.types.is_float16(type):
        return pa.float32()
    return pa.float64() if pa.types.is_decimal256(type) else None


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type))


def _within(column: pa.ChunkedArray, whole: pa.DataType, least: int, most: int) -> pa.ChunkedArray:
    """The whole numbers of a column of times; NULL outside of these."""
    numbers = pa.chunked_array([chunk.view(whole) for chunk in column.chunks], whole)
    inside = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, most))
    return pc.if_else(inside, numbers, pa.scalar(None, whole))


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts, with invalid bytes replaced."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return column
    found = column.cast(pa.large_binary()).to_pylist()
    return pa.chunked_array(
        [pa.array([None if each is None else each.decode(errors="replace") for each in found], pa.large_string())]
    )
