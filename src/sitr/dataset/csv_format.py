"""The format of a CSV file, fixed when the data set is protected, so that later questions need not detect it."""

from __future__ import annotations

from dataclasses import dataclass

QUOTE = '"'
"""The usual quotation mark."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """Delimiter, quote, and formats of dates and timestamps as in strptime; an empty format means ISO 8601."""

    delimiter: str = ","
    quote: str = QUOTE
    date_format: str = ""
    timestamp_format: str = ""
