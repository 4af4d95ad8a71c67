"""The files that Sitr reads, by their endings. Nothing here opens a file, so that a wrong name is refused at once."""

from __future__ import annotations

from pathlib import Path

from sitr.errors import SourceError, no_source

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst")


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, or is not in a format that Sitr reads. A folder may hold Parquet files."""
    if path.is_dir():
        return
    if not path.is_file():
        raise no_source(path)
    if not path.name.lower().endswith(PARQUET + CSV):
        parquet = f"{path.stem}.parquet"
        reader = {".xlsx": "excel", ".xls": "excel", ".ods": "excel", ".json": "json"}.get(path.suffix.lower())
        how = f", for example with pandas.read_{reader}({path.name!r}).to_parquet({parquet!r})" if reader else ""
        raise SourceError(
            given=f"{path.name} is in a format that Sitr does not read; it reads Parquet ({', '.join(PARQUET)}) and "
            f"CSV ({', '.join(CSV)}).",
            do=f"Convert it{how}." if how else "Convert it, or rename it if it is such a file.",
        )
