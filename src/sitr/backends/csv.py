"""Rows in a CSV file: a row is a line, and no line can change how another line is read.

An open quote in one line must not swallow the next lines, which belong to other people. So the file is cut into lines
first, each line is split into fields by itself, and a field that does not fit its type becomes NULL. The format of the
file and the types of its columns are fixed once, when the data set is protected, and kept in the description; later
questions detect nothing. What nobody declared is detected from the rows, where a single row can decide, so the steward
must confirm that it is public.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.engine import refuse_twins
from sitr.dataset.csv_format import DECIMALS, CsvFormat
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import SourceError
from sitr.namespace import Later
from sitr.questions.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview reads no rows
    pa = Later("pyarrow")

identifier, literal = DUCKDB.identifier, DUCKDB.literal

TYPES: Mapping[Kind, str] = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.ZONED: "TIMESTAMP WITH TIME ZONE",
}
POINT, COMMA = DECIMALS
COMMA_NUMBER = r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][-+]?\d+)?\s*"
"""A number with a decimal comma, and with points only between thousands."""
WITH_OFFSET = "%z"
"""What stands for the offset from UTC in a format. Only with it, a format is that of moments, too."""
OFFSET = r"\s*([zZ]|[-+](?:0\d|1[0-5])(?::?[0-5]\d)?)$"
"""The offset from UTC at the end of a time: less than 16 hours, which no zone ever had."""
LOCAL = r"\s*\d+[-/]\d\d?[-/]\d\d?([ T]\s*\d\d?:\d\d?(:\d\d?(\.\d*)?)?)?"
"""A time without its offset. DuckDB would also read one with the name of a zone or another offset, and ignore that."""
LONGEST = 1_000_000
"""Longer lines are cut, so that none of them makes every question slow: whatever comes after this many characters is
missing."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file in UTF-8. Invalid bytes are replaced, and fields that do not fit their type are NULL."""

    path: Path
    format: CsvFormat
    columns: tuple[tuple[str, Kind], ...]
    unmarked: tuple[str, ...] = field(default=(), compare=False)
    """Columns declared as numbers that do not show the decimal mark, where nobody declared it."""
    missing: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), compare=False)
    """Columns that would be text without these values in them, which mean no value, such as NA."""

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
        """The names in the first line; without a header, a name for each of its fields."""
        with pa.input_stream(str(self.path), compression="detect") as stream:
            line = stream.read(1 << 20).decode("utf-8-sig", errors="replace").split("\n", 1)[0].rstrip("\r")
        fields = re.findall(self._field, self.format.delimiter + line)
        if not self.format.header:
            return [f"column{place}" for place in range(1, len(fields) + 1)]
        return [_unquoted(field, self.format.quote) for field in fields]

    def verify(self) -> None:
        """There is nothing to do: every line can be read, whatever it contains."""

    def types(self) -> dict[str, str]:
        return {name: TYPES[kind] for name, kind in self.columns}

    def schema(self) -> pa.Schema:
        return pa.schema([(name, arrow_type(kind)) for name, kind in self.columns])

    @property
    def relation(self) -> str:
        """The lines as rows."""
        fields = ", ".join(f"{self._cast(place)} AS {identifier(name)}" for place, (name, _) in enumerate(self.columns))
        split = (
            f"regexp_extract_all({literal(self.format.delimiter)} || rtrim(line, chr(13)), {literal(self._field)}, 1)"
        )
        short = f"CASE WHEN strlen(line) > {LONGEST} THEN left(line, {LONGEST}) ELSE line END AS line"
        lines = f"(SELECT {short} FROM {identifier(self._lines)} WHERE line <> '')"
        return f"(SELECT {fields} FROM (SELECT {split} AS fields FROM {lines}))"

    def tables(self) -> dict[str, pa.Table]:
        return {self._lines: lines_of(self.path, header=self.format.header)}

    @property
    def _lines(self) -> str:
        """The name of the lines in statements, which may read several files."""
        return f"lines of {self.path}" if self.format.header else f"all lines of {self.path}"

    @property
    def _field(self) -> str:
        """A field after its delimiter: in quotes that are closed in this line, or up to the next delimiter."""
        delimiter, quote = re.escape(self.format.delimiter), re.escape(self.format.quote)
        return f"{delimiter}({quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{delimiter}]*)"

    def _cast(self, place: int) -> str:
        """The field in the column's type; an empty field is NULL, and so is one of the declared `nulls`."""
        field, quote = f"fields[{place + 1}]", literal(self.format.quote)
        twice = literal(2 * self.format.quote)
        quoted = f"length({field}) > 1 AND starts_with({field}, {quote}) AND ends_with({field}, {quote})"
        inside = f"replace(substr({field}, 2, length({field}) - 2), {twice}, {quote})"
        text = f"nullif(CASE WHEN {quoted} THEN {inside} ELSE {field} END, '')"
        if self.format.nulls:
            text = f"CASE WHEN {text} NOT IN ({', '.join(map(literal, self.format.nulls))}) THEN {text} END"
        kind = self.columns[place][1]
        times = self.format.timestamp_format
        if kind is Kind.ZONED and WITH_OFFSET not in times:
            return moment(text)
        formats = {Kind.DATE: self.format.date_format, Kind.TIMESTAMP: times, Kind.ZONED: times}
        if given := formats.get(kind):
            found = f"TRY_CAST(try_strptime({text}, {literal(given)}) AS {TYPES[kind]})"
            if kind is Kind.ZONED and given.endswith(WITH_OFFSET):  # DuckDB would also read +99:99
                return f"CASE WHEN regexp_matches({text}, {literal(OFFSET)}) THEN {found} END"
            return found
        if kind in NUMERIC and self.format.decimal == COMMA:
            pointed = f"replace(replace({text}, '.', ''), ',', '.')"
            text = f"CASE WHEN regexp_full_match({text}, {literal(COMMA_NUMBER)}) THEN {pointed} END"
        return f"TRY_CAST({text} AS {TYPES[kind]})"


def moment(text: str) -> str:
    """A time with its offset from UTC, or with Z; NULL without one. A cast would use the time zone of the session."""
    offset = f"regexp_extract({text}, {literal(OFFSET)}, 1)"
    written = f"regexp_replace({text}, {literal(OFFSET)}, '')"
    hours, minutes = (f"TRY_CAST(substr(replace({offset}, ':', ''), {at}, 2) AS BIGINT)" for at in (2, 4))
    seconds = f"(coalesce({hours}, 0) * 3600 + coalesce({minutes}, 0) * 60)"
    signed = f"CASE WHEN starts_with({offset}, '-') THEN {seconds} ELSE -{seconds} END"
    moved = f"TRY_CAST({written} AS TIMESTAMP) + to_seconds({signed})"
    # In UTC: epoch_us and back, because a cast between both types of time would use the time zone of the session.
    plain = f"regexp_full_match({written}, {literal(LOCAL)})"
    return f"CASE WHEN {offset} <> '' AND {plain} THEN TRY(make_timestamptz(epoch_us(TRY({moved})))) END"


def lines_of(path: Path, *, header: bool = True) -> pa.Table:
    """The lines after the header, whatever bytes they contain."""
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = stream.read().decode("utf-8-sig", errors="replace").split("\n")[1 if header else 0 :]
    return pa.table({"line": pa.array(lines, pa.large_string())})


def _unquoted(field: str, quote: str) -> str:
    quoted = len(field) > 1 and field.startswith(quote) and field.endswith(quote)
    return field[1:-1].replace(2 * quote, quote) if quoted else field
