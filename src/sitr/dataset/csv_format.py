"""How a CSV file is written: fixed when the data set is protected, so that later questions detect nothing."""

from __future__ import annotations

from dataclasses import dataclass

QUOTE = '"'
"""The usual quotation mark."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """The marks of a CSV file. A date format is in the letters of strptime, or empty for ISO 8601."""

    delimiter: str = ","
    quote: str = QUOTE
    date_format: str = ""
    timestamp_format: str = ""
