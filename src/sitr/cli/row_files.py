"""Files of synthetic rows, written as the rows are drawn. Every file is marked as synthetic.

Parquet and Arrow files carry the mark in their metadata. A comment line would break readers of CSV, so that a CSV file
has a companion of the same name, `rows.csv.about.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitr.cli.options import check_file, new_file
from sitr.cli.terminal import json_text

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session.synthetic import Synthetic

TABLES = (".parquet", ".csv", ".arrow")
"""The endings of files of rows."""


def companion(path: Path) -> Path | None:
    """The file that says what a file of rows is; None if the file says so itself."""
    return path.with_name(f"{path.name}.about.json") if path.suffix == ".csv" else None


def check_rows_file(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, or whose companion cannot."""
    new_file(path, option, TABLES)
    if (beside := companion(path)) is not None:
        check_file(beside, option, (".json",))


def write_batches(made: Synthetic, batches: Iterable[pa.Table], path: Path) -> int:
    """Write rows to a file, and beside it what they are; the number of rows. No partial file is left."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    parts = iter(batches)
    first = next(parts)
    every, rows = chain((first,), parts), 0
    try:
        if path.suffix == ".arrow":  # categories must be the same in all parts of a file
            whole = pa.concat_tables(list(every)).unify_dictionaries().combine_chunks()
            feather.write_feather(whole, path)
            return int(whole.num_rows)
        plain = _without_categories(first.schema)
        with (
            parquet.ParquetWriter(path, first.schema)
            if path.suffix == ".parquet"
            else csv.CSVWriter(path, plain) as file
        ):
            for part in every:
                file.write_table(part if path.suffix == ".parquet" else part.cast(plain))
                rows += part.num_rows
        if (beside := companion(path)) is not None:
            about: dict[str, Any] = {"file": path.name} | made.about(rows, schema=first.schema)
            beside.write_text(json_text(about) + "\n", encoding="utf-8")
    except BaseException:
        for unfinished in (path, companion(path)):
            with suppress(OSError):
                if unfinished is not None:
                    unfinished.unlink(missing_ok=True)
        raise
    return rows


def _without_categories(schema: pa.Schema) -> pa.Schema:
    """The schema of a CSV file, which has no categories."""
    import pyarrow as pa

    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))
