"""The files that Sitr reads, by their endings. Nothing here opens a file, so that a wrong name is refused at once."""

from __future__ import annotations

from pathlib import Path

from sitr.errors import SourceError, no_source

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst")
DATABASE = (".duckdb", ".ddb", ".db")
"""Databases of DuckDB, in which a table is named."""


def is_database_file(source: object) -> bool:
    """Whether a source is a database of DuckDB by its name.

    >>> is_database_file("hospital.duckdb"), is_database_file(Path("visits.parquet"))
    (True, False)
    """
    return isinstance(source, str | Path) and str(source).lower().endswith(DATABASE)


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, or is not in a format that Sitr reads. A folder may hold Parquet files."""
    if path.is_dir():
        return
    if not path.is_file():
        raise no_source(path)
    if not path.name.lower().endswith(PARQUET + CSV + DATABASE):
        parquet = f"{path.stem}.parquet"
        reader = {".xlsx": "excel", ".xls": "excel", ".ods": "excel", ".json": "json"}.get(path.suffix.lower())
        how = f", for example with pandas.read_{reader}({path.name!r}).to_parquet({parquet!r})" if reader else ""
        raise SourceError(
            given=f"{path.name} is in a format that Sitr does not read; it reads Parquet ({', '.join(PARQUET)}), "
            f"CSV ({', '.join(CSV)}) and tables of DuckDB ({', '.join(DATABASE)}).",
            do=f"Convert it{how}." if how else "Convert it, or rename it if it is such a file.",
        )
