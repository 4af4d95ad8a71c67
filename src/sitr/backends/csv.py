"""Rows in a CSV file: a row is a line, and no line can change how another line is read.

An open quote in one line must not swallow the next lines, which belong to other people. So the file is cut into lines
first, each line is split into fields by itself, and a field that does not fit its type becomes NULL. The format of the
file and the types of its columns are detected once, when the data set is protected, and kept in the description; later
questions detect nothing. Types that nobody declared are detected from the rows, where a single row can decide, so the
steward must confirm that they are public.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import connection, kind_of, only_this_file, refuse_twins
from sitr.dataset.csv_format import DECIMALS, QUOTE, CsvFormat
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import DescriptionError, SourceError
from sitr.namespace import Later
from sitr.questions.arrow import arrow_type

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
else:  # a preview reads no rows
    duckdb, pa = Later("duckdb"), Later("pyarrow")

identifier, literal = DUCKDB.identifier, DUCKDB.literal

_TYPES: Mapping[Kind, str] = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
POINT, COMMA = DECIMALS
_COMMA_NUMBER = r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][-+]?\d+)?\s*"
"""A number with a decimal comma, and with points only between thousands."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file in UTF-8 with a header. Invalid bytes are replaced, and fields that do not fit their type are NULL."""

    path: Path
    format: CsvFormat
    columns: tuple[tuple[str, Kind], ...]
    unmarked: tuple[str, ...] = field(default=(), compare=False)
    """Columns declared as numbers that do not show the decimal mark, where nobody declared it."""

    def kinds(self) -> dict[str, Kind]:
        """The declared types, if the header still names the same columns; reads the first line only."""
        found = self.header()
        refuse_twins(found)
        if found != [name for name, _ in self.columns]:
            raise SourceError(
                given=f"The header of {self.path.name} now names other columns, or the same in another order.",
                do="Protect the data set again if the change is intended; nothing was spent.",
            )
        return dict(self.columns)

    def header(self) -> list[str]:
        """The names in the first line."""
        with pa.input_stream(str(self.path), compression="detect") as stream:
            line = stream.read(1 << 20).decode("utf-8-sig", errors="replace").split("\n", 1)[0].rstrip("\r")
        fields = re.findall(self._field, self.format.delimiter + line)
        return [_unquoted(field, self.format.quote) for field in fields]

    def verify(self) -> None:
        """There is nothing to do: every line can be read, whatever it contains."""

    def types(self) -> dict[str, str]:
        return {name: _TYPES[kind] for name, kind in self.columns}

    def schema(self) -> pa.Schema:
        return pa.schema([(name, arrow_type(kind)) for name, kind in self.columns])

    @property
    def relation(self) -> str:
        """The lines as rows."""
        fields = ", ".join(f"{self._cast(place)} AS {identifier(name)}" for place, (name, _) in enumerate(self.columns))
        split = (
            f"regexp_extract_all({literal(self.format.delimiter)} || rtrim(line, chr(13)), {literal(self._field)}, 1)"
        )
        return f"(SELECT {fields} FROM (SELECT {split} AS fields FROM csv_lines WHERE line <> ''))"

    def tables(self) -> dict[str, pa.Table]:
        return {"csv_lines": lines_of(self.path)}

    @property
    def _field(self) -> str:
        """A field after its delimiter: in quotes that are closed in this line, or up to the next delimiter."""
        delimiter, quote = re.escape(self.format.delimiter), re.escape(self.format.quote)
        return f"{delimiter}({quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{delimiter}]*)"

    def _cast(self, place: int) -> str:
        """The field in the column's type; an empty field is NULL."""
        field, quote = f"fields[{place + 1}]", literal(self.format.quote)
        twice = literal(2 * self.format.quote)
        quoted = f"length({field}) > 1 AND starts_with({field}, {quote}) AND ends_with({field}, {quote})"
        inside = f"replace(substr({field}, 2, length({field}) - 2), {twice}, {quote})"
        text = f"nullif(CASE WHEN {quoted} THEN {inside} ELSE {field} END, '')"
        kind = self.columns[place][1]
        formats = {Kind.DATE: self.format.date_format, Kind.TIMESTAMP: self.format.timestamp_format}
        if given := formats.get(kind):
            return f"TRY_CAST(try_strptime({text}, {literal(given)}) AS {_TYPES[kind]})"
        if kind in NUMERIC and self.format.decimal == COMMA:
            pointed = f"replace(replace({text}, '.', ''), ',', '.')"
            text = f"CASE WHEN regexp_full_match({text}, {literal(_COMMA_NUMBER)}) THEN {pointed} END"
        return f"TRY_CAST({text} AS {_TYPES[kind]})"


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
    def of(cls, path: Path, *, decimal: str) -> _Sniffed | None:
        """None if the file is no CSV file."""
        options = "" if decimal == POINT else ", decimal_separator=',', thousands='.'"
        try:
            with connection({}) as engine:
                delimiter, quote, header, dates, timestamps, columns = engine.execute(
                    "SELECT Delimiter, Quote, HasHeader, DateFormat, TimestampFormat, Columns "
                    f"FROM sniff_csv({literal(only_this_file(path))}, sample_size=-1{options})"
                ).fetchall()[0]
        except (duckdb.Error, OSError):
            return None
        kinds = {column["name"]: _settled(kind_of(column["type"])) for column in columns}
        return cls(delimiter, quote, header, dates, timestamps, kinds)


def settle(path: Path, *, declared: Mapping[str, Kind], decimal: str | None = None) -> CsvFile:
    """Read the whole file to detect its format and types; `declared` types and a given `decimal` take precedence."""
    found = _Sniffed.of(path, decimal=decimal or POINT)
    lone = next(iter(found.kinds), "") if found and len(found.kinds) == 1 else ""
    if not found or not found.header or len(found.delimiter) != 1 or any(mark in lone for mark in ",;\t|"):
        raise SourceError(
            given=f"{path} cannot be read as a CSV file in UTF-8 with a header and the same fields in every line.",
            do="Export it again, preferably as Parquet.",
        )
    kinds, detected = (found.kinds, decimal) if decimal else _decimals(path, found, declared)
    unmarked = () if decimal or detected == COMMA else _unmarked(kinds, declared)
    mark = found.quote if len(found.quote) == 1 and found.quote != "\0" else QUOTE
    kinds = _without_words(CsvFile(path, CsvFormat(found.delimiter, mark), tuple(kinds.items())), declared)
    kinds.update((name, kind) for name, kind in declared.items() if name in kinds)
    format = CsvFormat(found.delimiter, mark, *_formats(kinds, found.dates, found.timestamps), detected)
    settled = CsvFile(path, format, tuple(kinds.items()), unmarked)
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


def confirm(file: CsvFile, *, declared: Mapping[str, Kind], decimal: str | None = None) -> None:
    """Refuse what was detected from the rows and not declared: types, formats of dates and numbers, an unusual quote.

    A single row can decide them, and the description is public.
    """
    if not unconfirmed(file, declared=declared, decimal=decimal):
        return
    if decimal is None and file.unmarked:
        raise DescriptionError(
            given=f"The decimal mark of {file.path.name} is not declared, and it cannot be detected because not all "
            f"values of {', '.join(file.unmarked)} are numbers.",
            do="Add --decimal . or --decimal , (in Python: decimal='.' or decimal=','); values that are not numbers "
            "with this mark count as missing.",
        )
    options = shlex.join(confirming(file))
    python = f"types={ ({name: kind.value for name, kind in file.columns}) }"
    python += f", decimal={COMMA!r}" if file.format.decimal == COMMA else ""
    python += ", accept_types=True" if formats(file) else ""
    raise DescriptionError(
        given="You must confirm the types that Sitr detected in the rows, because they become public and a single row "
        f"can change them: {proposal(file)}.",
        do=f"If all of this is public knowledge, add {options} (in Python: {python}), "
        "or just --accept-types (in Python: accept_types=True).",
    )


def unconfirmed(file: CsvFile, *, declared: Mapping[str, Kind], decimal: str | None) -> bool:
    """Whether anything about the file is known only from its rows."""
    mark = decimal is None and (file.format.decimal == COMMA or bool(file.unmarked))
    return mark or bool(formats(file)) or not all(name in declared for name, _ in file.columns)


def proposal(file: CsvFile) -> str:
    """What was detected, in words."""
    types = [f"{name} {kind.value}" for name, kind in file.columns]
    commas = ["with decimal commas"] if file.format.decimal == COMMA else []
    points = ["with decimal points unless you declare commas"] if file.unmarked else []
    return ", ".join((*types, *commas, *points, *formats(file)))


def confirming(file: CsvFile) -> list[str]:
    """The options that declare what was detected."""
    types = [word for name, kind in file.columns for word in ("--type", f"{name}={kind.value}")]
    mark = ["--decimal", file.format.decimal] if file.format.decimal == COMMA or file.unmarked else []
    return [*types, *mark, *(["--accept-types"] if formats(file) else [])]


def formats(file: CsvFile) -> list[str]:
    """The unusual formats that no option but --accept-types can declare, in words."""
    dates = [given for given in (file.format.date_format, file.format.timestamp_format) if given]
    written = [f"with dates written as {' and '.join(dates)}"] if dates else []
    return [*written, *([f"with {file.format.quote} as the quote"] if file.format.quote != QUOTE else [])]


def _decimals(path: Path, found: _Sniffed, declared: Mapping[str, Kind]) -> tuple[dict[str, Kind], str]:
    """The types and the decimal mark: a comma if it turns text into numbers that nobody declared as text."""
    texts = [name for name, kind in found.kinds.items() if kind is Kind.TEXT and declared.get(name) in (None, *NUMERIC)]
    other = _Sniffed.of(path, decimal=COMMA) if texts else None
    if other is None or (other.delimiter, [*other.kinds]) != (found.delimiter, [*found.kinds]):
        return found.kinds, POINT
    commas = any(other.kinds[name] in NUMERIC for name in texts)
    return (other.kinds, COMMA) if commas else (found.kinds, POINT)


def _unmarked(kinds: Mapping[str, Kind], declared: Mapping[str, Kind]) -> tuple[str, ...]:
    """The columns declared as numbers in which something else was detected: a single row is enough for that."""
    return tuple(name for name, kind in kinds.items() if declared.get(name) in NUMERIC and kind not in NUMERIC)


def _without_words(file: CsvFile, declared: Mapping[str, Kind]) -> dict[str, Kind]:
    """The types, with text instead of boolean for words other than true and false, such as yes and no."""
    kinds = dict(file.columns)
    truths = [name for name, kind in file.columns if kind is Kind.BOOLEAN and name not in declared]
    if not truths:
        return kinds
    texts = CsvFile(file.path, file.format, tuple((name, Kind.TEXT) for name in kinds))
    plain = ", ".join(f"bool_and(lower({identifier(name)}) IN ('true', 'false'))" for name in truths)
    with connection(texts.tables()) as engine:
        (found,) = engine.execute(f"SELECT {plain} FROM {texts.relation}").fetchall()
    return kinds | {name: Kind.TEXT for name, only in zip(truths, found, strict=True) if not only}


def _formats(kinds: Mapping[str, Kind], dates: str | None, timestamps: str | None) -> tuple[str, str]:
    """The date and timestamp formats that these columns need; empty for ISO 8601."""
    date = dates if Kind.DATE in kinds.values() and dates != "%Y-%m-%d" else None
    return date or "", (timestamps if Kind.TIMESTAMP in kinds.values() else None) or ""


def lines_of(path: Path) -> pa.Table:
    """The lines after the header, whatever bytes they contain."""
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = stream.read().decode("utf-8-sig", errors="replace").split("\n")[1:]
    return pa.table({"line": pa.array(lines, pa.large_string())})


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
    return kind if kind in _TYPES else Kind.TEXT


def _unquoted(field: str, quote: str) -> str:
    quoted = len(field) > 1 and field.startswith(quote) and field.endswith(quote)
    return field[1:-1].replace(2 * quote, quote) if quoted else field
