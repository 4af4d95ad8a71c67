"""Files of synthetic rows, written as the rows are drawn. Every file is marked as synthetic.

Parquet and Arrow files carry the mark in their metadata. A comment line would break readers of CSV, so that a CSV file
has a companion of the same name, `rows.csv.about.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sitr.cli.options import check_file, new_file
from sitr.cli.terminal import json_text

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session.synthetic import Synthetic

About: TypeAlias = "Callable[[int, pa.Schema], dict[str, Any]]"
"""What a file of rows is, by their number and their schema."""

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
    about = {path: lambda rows, schema: made.about(rows, schema=schema)}
    return write_several(about, ({path: batch} for batch in batches))[path]


def files_of(path: Path, names: Iterable[str]) -> dict[str, Path]:
    """The file of each table: rows-visits.parquet for rows.parquet."""
    safe = {name: re.sub(r"[^\w.-]", "_", name) for name in names}
    return {name: path.with_name(f"{path.stem}-{plain}{path.suffix}") for name, plain in safe.items()}


def write_several(abouts: Mapping[Path, About], batches: Iterable[Mapping[Path, pa.Table]]) -> dict[Path, int]:
    """Write rows to several files, and beside them what they are; the number of rows of each. No partial file is left.

    Each batch has rows for every file.
    """
    from pyarrow import feather

    rows = dict.fromkeys(abouts, 0)
    schemas: dict[Path, pa.Schema] = {}
    held: dict[Path, list[pa.Table]] = {}
    try:
        with ExitStack() as stack:
            writers: dict[Path, Any] = {}
            for batch in batches:
                for path, part in batch.items():
                    schemas.setdefault(path, part.schema)
                    rows[path] += part.num_rows
                    if path.suffix == ".arrow":
                        held.setdefault(path, []).append(part)
                        continue
                    if path not in writers:
                        writers[path] = stack.enter_context(_writer(path, part.schema))
                    plain = path.suffix == ".parquet"
                    writers[path].write_table(part if plain else part.cast(_without_categories(part.schema)))
        for path, parts in held.items():
            feather.write_feather(_whole(parts), path)
        for path, about in abouts.items():
            _say(path, about(rows[path], schemas[path]))
    except BaseException:
        for unfinished in (*abouts, *map(companion, abouts)):
            with suppress(OSError):
                if unfinished is not None:
                    unfinished.unlink(missing_ok=True)
        raise
    return rows


def _say(path: Path, about: dict[str, Any]) -> None:
    """Write what a file of rows is, if the file cannot say it."""
    if (beside := companion(path)) is not None:
        beside.write_text(json_text({"file": path.name} | about) + "\n", encoding="utf-8")


def _writer(path: Path, schema: pa.Schema) -> Any:
    from pyarrow import csv, parquet

    if path.suffix == ".parquet":
        return parquet.ParquetWriter(path, schema)
    return csv.CSVWriter(path, _without_categories(schema))


def _whole(parts: list[pa.Table]) -> pa.Table:
    """All parts as one table: categories must be the same in all parts of a file."""
    import pyarrow as pa

    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def _without_categories(schema: pa.Schema) -> pa.Schema:
    """The schema of a CSV file, which has no categories."""
    import pyarrow as pa

    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))
