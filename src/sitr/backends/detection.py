"""Detect how a CSV file is written and which types its columns have. All its rows are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from sitr.backends.csv import COMMA, COMMA_NUMBER, POINT, TYPES, WITH_OFFSET, CsvFile, lines_of
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, kind_of, only_this_file, refuse_twins
from sitr.dataset.csv_format import MISSING, NOTHING, QUOTE, CsvFormat, DeclaredFormat
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import DescriptionError, SourceError
from sitr.namespace import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview reads no rows
    pa = Later("pyarrow")

identifier, literal = DUCKDB.identifier, DUCKDB.literal

_DATED = (Kind.DATE, Kind.TIMESTAMP, Kind.ZONED)
_DIGITS = 18
"""Whole numbers with more digits may not fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class _Sniffed:
    """What DuckDB detects in all rows of a file."""

    delimiter: str
    quote: str
    header: bool
    dates: str | None
    timestamps: str | None
    kinds: dict[str, Kind]

    @classmethod
    def of(cls, path: Path, written: DeclaredFormat) -> _Sniffed | None:
        """None if the file is no CSV file that is written like this.

        DuckDB refuses long lines unless it knows how long they are. They are looked for only where it refuses a file.
        """
        found = cls._of(path, written)
        if found is None and (longest := _longest(path)[1]) > _LONG:
            return cls._of(path, written, f", max_line_size={longest + 1}")
        return found

    @classmethod
    def _of(cls, path: Path, written: DeclaredFormat, more: str = "") -> _Sniffed | None:
        given = more + "".join(
            f", {_SNIFFED[name]}={literal(str(value))}" for name, value in written.items() if name in _SNIFFED
        )
        if nulls := written.get("nulls"):
            given += f", nullstr=[{', '.join(map(literal, ('', *nulls)))}]"
        try:
            with connection({}) as engine:
                delimiter, quote, header, dates, timestamps, columns = engine.execute(
                    "SELECT Delimiter, Quote, HasHeader, DateFormat, TimestampFormat, Columns "
                    f"FROM sniff_csv({literal(only_this_file(path))}, sample_size=-1{given})"
                ).fetchall()[0]
        except (duckdb.Error, OSError):
            return None
        kinds = {column["name"]: _settled(kind_of(column["type"])) for column in columns}
        return cls(delimiter, quote, header, dates, timestamps, kinds)


_LONG = 2_000_000
"""The most bytes of a line that DuckDB reads unasked."""


_PIECE = 2**24
"""How many bytes of a file are looked at at once: it may be larger than the memory, above all if it is compressed."""


def _longest(path: Path) -> tuple[int, int]:
    """The number of the first of the longest lines, from 1, and its bytes; zeros for a file that cannot be read."""
    line, longest, own = 1, (1, 0), 0
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            while piece := stream.read(_PIECE):
                first, *rest = piece.split(b"\n")
                own += len(first)
                for part in rest:
                    longest = (line, own) if own > longest[1] else longest
                    line, own = line + 1, len(part)
    except OSError:
        return 0, 0
    return (line, own) if own > longest[1] else longest


_SNIFFED = {
    "delimiter": "delim",
    "quote": "quote",
    "header": "header",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
}
"""DuckDB's names for what can be declared; the decimal mark is our own, and values that mean NULL are a list."""


def settle(path: Path, *, declared: Mapping[str, Kind], written: DeclaredFormat = NOTHING) -> CsvFile:
    """Read the whole file to detect its format and types; `declared` types and the declared format take precedence."""
    found = _Sniffed.of(path, written)
    lone = next(iter(found.kinds), "") if found and len(found.kinds) == 1 else ""
    named = found is not None and (found.header or "header" in written)
    if not found or not named or len(found.delimiter) != 1 or ("delimiter" not in written and set(lone) & set(",;\t|")):
        number, longest = _longest(path)
        if longest > _LONG:
            raise SourceError(
                given=f"{path} cannot be read as a CSV file. Its line {number:,} has {longest:,} bytes: it may be "
                "damaged and have other fields than the rest.",
                do="Look at that line, and correct it or leave it out.",
            )
        raise SourceError(
            given=f"{path} cannot be read as a CSV file in UTF-8 with a header and the same fields in every line.",
            do="Export it again, preferably as Parquet, or declare how it is written: --delimiter, --quote, --header "
            "or --no-header (in Python: delimiter=…, quote=…, header=…).",
        )
    mark = found.quote if len(found.quote) == 1 and found.quote != "\0" else QUOTE
    nulls = tuple(written.get("nulls", ()))
    plain = CsvFormat(found.delimiter, mark, header=found.header, nulls=nulls)
    names = list(found.kinds) if found.header else CsvFile(path, plain, ()).header()
    kinds = dict(zip(names, found.kinds.values(), strict=True))
    texts = CsvFile(path, plain, tuple((name, Kind.TEXT) for name in names))
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    if "nulls" not in written:
        kinds, missing, found = _missing(texts, kinds, declared, written, found)
        texts = replace(texts, format=replace(plain, nulls=MISSING))
    kinds, detected = _decimals(texts, kinds, declared, written.get("decimal"))
    unmarked = () if "decimal" in written or detected == COMMA else _unmarked(kinds, declared)
    kinds = _without_words(texts, kinds, declared)
    kinds.update((name, kind) for name, kind in declared.items() if name in kinds)
    dates, timestamps = _formats(kinds, written, found)
    format = CsvFormat(found.delimiter, mark, dates, timestamps, detected, found.header, nulls)
    missing = tuple(each for each in missing if kinds[each[0]] is not Kind.TEXT)
    settled = CsvFile(path, format, tuple(kinds.items()), unmarked, missing)
    refuse_twins(name for name in settled.header() if name)
    _refuse_odd_names(path, settled.header(), list(kinds))
    if unknown := [name for name in declared if name not in kinds]:
        raise DescriptionError(
            given=f"A type was declared for {unknown[0]!r}, but {path.name} has only the columns {', '.join(kinds)}.",
            do="Correct the name; upper and lower case matter here.",
        )
    settled.kinds()
    _refuse_open_quotes(path, mark)
    return settled


def _missing(
    texts: CsvFile, kinds: dict[str, Kind], declared: Mapping[str, Kind], written: DeclaredFormat, found: _Sniffed
) -> tuple[dict[str, Kind], tuple[tuple[str, tuple[str, ...]], ...], _Sniffed]:
    """The types if the values in `MISSING` mean no value, and which of them are in columns that are text otherwise.

    DuckDB detects types and formats of dates again, by the same rule. Columns of text stay as they are, and so do the
    values in them. Nothing changes if another column would get another type.
    """
    words = [name for name, kind in kinds.items() if kind is Kind.TEXT and declared.get(name) is not Kind.TEXT]
    format = texts.format
    same = DeclaredFormat(delimiter=format.delimiter, quote=format.quote, header=format.header)
    again = _Sniffed.of(texts.path, {**written, **same, "nulls": MISSING}) if words else None
    if again is None or len(again.kinds) != len(kinds):
        return kinds, (), found
    typed = dict(zip(kinds, again.kinds.values(), strict=True))
    if any(typed[name] is not kind for name, kind in kinds.items() if kind in _DATED):
        return kinds, (), found
    marks = ", ".join(map(literal, MISSING))
    looks = ", ".join(f"list(DISTINCT {column}) FILTER ({column} IN ({marks}))" for column in map(identifier, words))
    with connection(texts.tables()) as engine:
        (row,) = engine.execute(f"SELECT {looks} FROM {texts.relation}").fetchall()
    seen = [
        (name, tuple(mark for mark in MISSING if mark in (some or ()))) for name, some in zip(words, row, strict=True)
    ]
    changed = {name: typed[name] for name, some in seen if some and typed[name] in (*NUMERIC, *_DATED)}
    return kinds | changed, tuple(each for each in seen if each[1]), again


def _decimals(
    texts: CsvFile, kinds: dict[str, Kind], declared: Mapping[str, Kind], mark: str | None
) -> tuple[dict[str, Kind], str]:
    """The types and the decimal mark: a comma if it turns text into numbers that nobody declared as text.

    DuckDB detects the types with decimal points. With commas, every value of a column of numbers is looked at.
    """
    if mark == POINT:
        return kinds, POINT
    able = [name for name, kind in kinds.items() if kind in (*NUMERIC, Kind.TEXT)]
    odd = [name for name in able if kinds[name] is Kind.TEXT and declared.get(name) in (None, *NUMERIC)]
    if not able or not (odd or mark):
        return kinds, mark or POINT
    looks = ", ".join(
        f"coalesce(bool_and(regexp_full_match({column}, {literal(COMMA_NUMBER)}) AND {column} ~ '.*[0-9].*'), false), "
        f"coalesce(bool_or(regexp_matches({column}, '[,eE]')), false), "
        f"coalesce(max(length(regexp_replace({column}, '[^0-9]', '', 'g'))), 0)"
        for column in map(identifier, able)
    )
    with connection(texts.tables()) as engine:
        (row,) = engine.execute(f"SELECT {looks} FROM {texts.relation}").fetchall()
    seen = {
        name: Kind.TEXT if not numbers else Kind.REAL if parts or digits > _DIGITS else Kind.INTEGER
        for name, numbers, parts, digits in zip(able, row[::3], row[1::3], row[2::3], strict=True)
    }
    empty = [name for name, digits in zip(able, row[2::3], strict=True) if not digits and kinds[name] in NUMERIC]
    seen |= {name: kinds[name] for name in empty}
    commas = mark == COMMA or any(seen[name] in NUMERIC for name in odd)
    return (kinds | seen, COMMA) if commas else (kinds, POINT)


def _unmarked(kinds: Mapping[str, Kind], declared: Mapping[str, Kind]) -> tuple[str, ...]:
    """The columns declared as numbers in which something else was detected: a single row is enough for that."""
    return tuple(name for name, kind in kinds.items() if declared.get(name) in NUMERIC and kind not in NUMERIC)


def _without_words(texts: CsvFile, kinds: dict[str, Kind], declared: Mapping[str, Kind]) -> dict[str, Kind]:
    """The types, with text instead of boolean for words other than true and false, such as yes and no."""
    truths = [name for name, kind in kinds.items() if kind is Kind.BOOLEAN and name not in declared]
    if not truths:
        return kinds
    plain = ", ".join(f"bool_and(lower({identifier(name)}) IN ('true', 'false'))" for name in truths)
    with connection(texts.tables()) as engine:
        (found,) = engine.execute(f"SELECT {plain} FROM {texts.relation}").fetchall()
    return kinds | {name: Kind.TEXT for name, only in zip(truths, found, strict=True) if not only}


def _formats(kinds: Mapping[str, Kind], written: DeclaredFormat, found: _Sniffed) -> tuple[str, str]:
    """The date and timestamp formats that these columns need, declared or detected; empty for ISO 8601."""
    declared, present = written.get("timestamp_format"), set(kinds.values())
    dates, timestamps = written.get("date_format") or found.dates, declared or found.timestamps
    date = dates if Kind.DATE in present and dates != "%Y-%m-%d" else None
    moments = declared is not None and Kind.ZONED in present and WITH_OFFSET in declared
    if declared is not None and not moments and Kind.ZONED in present and Kind.TIMESTAMP not in present:
        raise DescriptionError(
            given=f"The timestamp format {declared!r} has no offset from UTC, which times of type {Kind.ZONED.value} "
            "have.",
            do=f"Write it with {WITH_OFFSET}, or leave it out if times are written like 2024-12-31 09:30:00+02:00.",
        )
    return date or "", (timestamps if moments or Kind.TIMESTAMP in present else None) or ""


def _refuse_odd_names(path: Path, header: list[str], found: list[str]) -> None:
    """Refuse a header in which DuckDB finds other names than we do: it invents missing names and strips spaces.

    Many programs write row numbers as a column without a name.
    """
    for place, name in enumerate(header):
        if not name.strip():
            raise SourceError(
                given=f"Column {place + 1} of {path.name} has no name in the header.",
                do="Name the column or leave it out; pandas leaves row numbers out with to_csv(…, index=False).",
            )
        if name not in found:
            raise SourceError(
                given=f"The name of column {place + 1} of {path.name}, {name!r}, has spaces around it.",
                do="Remove the spaces, preferably around values as well, where they are part of the text.",
            )


def _refuse_open_quotes(path: Path, quote: str) -> None:
    """Refuse values with a line break, because each of them would silently become two rows."""
    with connection({"csv_lines": lines_of(path)}) as engine:
        quotes = f"length(line) - length(replace(line, {literal(quote)}, ''))"
        broken = engine.execute(f"SELECT count(*) FROM csv_lines WHERE ({quotes}) % 2 = 1").fetchall()[0][0]
    if broken:
        raise SourceError(
            given=f"{path} has lines in which a quote is not closed: a value with a line break, or a damaged line.",
            do="Export it again without line breaks in values, or as Parquet.",
        )


def _settled(kind: Kind) -> Kind:
    """Everything but numbers, truth values, dates and timestamps is text."""
    return kind if kind in TYPES else Kind.TEXT
