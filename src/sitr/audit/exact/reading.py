"""Tables of probabilities from files, Arrow tables, arrays and lists."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.audit.exact.table import ROUNDING, Table
from sitr.errors import FileError, InvalidParameter
from sitr.namespace import Later
from sitr.numbers import Number

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet
else:
    np = Later("numpy")
    pa = Later("pyarrow")
    parquet = Later("pyarrow.parquet")

LARGE = re.compile(r"e[+-]?\d{5}", re.IGNORECASE)
"""Exponents of numbers that have too many digits to be written out, and are no probabilities."""


def read_table(source: object, /, *, rounding: Number = ROUNDING) -> Table:
    """A table from a CSV or Parquet file, an Arrow table (or anything with its interface), an array or lists.

    In a file, each row is an input and each column an outcome. The first column holds the names of the inputs if it is
    called `input`, or if it holds text. CSV files may hold fractions such as 1/3; their decimals are exact.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        return _parquet(path, rounding) if path.suffix == ".parquet" else _csv(path, rounding)
    if hasattr(source, "__arrow_c_stream__"):
        return _arrow(pa.table(source), rounding)
    return Table.of(source, rounding=rounding)


def _csv(path: Path, rounding: Number) -> Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)] or [[]]
    except OSError as failure:
        raise FileError(given=f"Cannot read {path}: {failure.strerror}.", do="Check the path.") from None
    except (UnicodeDecodeError, csv.Error):
        raise _no_table(path) from None
    if not rows or len(head) < 2 or any(len(row) != len(head) for row in rows):
        raise _no_table(path)
    named = head[0].lower() in ("", "input") or not all(_is_number(row[0]) for row in rows)
    start = 1 if named else 0
    cells = [row[start:] for row in rows]
    inputs = [row[0] for row in rows] if named else None
    values: list[list[Fraction | float]] = [[read_number(cell) for cell in row] for row in cells]
    if not all(sum(row) == 1 for row in values):  # then the decimals are rounded
        values = [[float(cell) if 0 <= cell <= 1 else cell for cell in row] for row in values]
    return Table.of(values, inputs=inputs, outcomes=head[start:], rounding=rounding)


def read_number(cell: str, /) -> Fraction:
    """A decimal or a fraction, exactly.

    >>> read_number("1/3"), read_number("0.1")
    (Fraction(1, 3), Fraction(1, 10))
    """
    try:
        top, slash, bottom = ("", "", "") if LARGE.search(cell) else cell.partition("/")
        return Fraction(top) / Fraction(bottom) if slash else Fraction(top)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(
            wanted="probabilities such as 0.25 or 1/3 in a table", given=repr(cell), do="Correct that number."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        read_number(cell)
    except InvalidParameter:
        return False
    return True


def _no_table(path: Path) -> FileError:
    return FileError(
        given=f"Cannot read {path} as a table of probabilities.",
        do="Write the outcomes on the first line, and on each other line an input and the probability of each outcome.",
    )


def _parquet(path: Path, rounding: Number) -> Table:
    try:
        table = parquet.read_table(path)
    except OSError as failure:
        raise FileError(given=f"Cannot read {path}: {failure.strerror or failure}.", do="Check the path.") from None
    except pa.ArrowInvalid:
        raise FileError(given=f"Cannot read {path}, because it is no Parquet file.", do="Check the file.") from None
    return _arrow(table, rounding)


def _arrow(table: Any, rounding: Number) -> Table:
    names = list(table.column_names)
    texts = pa.types.is_string(table.column(0).type) or pa.types.is_large_string(table.column(0).type)
    named = len(names) > 1 and (texts or names[0].lower() == "input")
    kept = names[1:] if named else names
    columns = [table.column(name).to_pylist() for name in kept]
    values: object = [*zip(*columns, strict=True)]
    if all(pa.types.is_float64(table.column(name).type) for name in kept) and not any(
        table.column(name).null_count for name in kept
    ):
        values = np.column_stack([table.column(name).to_numpy() for name in kept])
    inputs = list(map(str, table.column(0).to_pylist())) if named else None
    return Table.of(values, inputs=inputs, outcomes=kept, rounding=rounding)
