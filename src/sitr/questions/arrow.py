"""The Arrow types of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.dataset.schema import Kind
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:  # only tables need it, not their descriptions
    pa = Later("pyarrow")

_NAMES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "double",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "bool",
    Kind.DATE: "date32",
    Kind.TIMESTAMP: "timestamp[us]",
    Kind.ZONED: "timestamp[us]",  # as it is read
}


def arrow_type(kind: Kind) -> pa.DataType:
    """The Arrow type of a kind of column, unless the data have another one.

    >>> arrow_type(Kind.TIMESTAMP)
    TimestampType(timestamp[us])
    """
    return pa.type_for_alias(_NAMES[kind])
